"""`wirelab browse` on folders that somebody wrote to mislead, block or break it."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from tests.python.browse.test_browse import entry, message, page, summaries
from tests.python.hostile_runs import DAMAGED, NAMES, SECRET, SMALL, write_hostile, write_run
from tests.python.synthetic_run import World, trials
from wirelab.browse import contents, tree
from wirelab.browse.site import FILE_POLICY, Site

CPU_S_MAX = 60.0
"""Ten times what all pages of the hostile folder take."""


def test_every_page_of_a_hostile_folder_is_escaped_and_ends(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    write_hostile(root)
    began = time.process_time()
    site = Site(root)
    found = tree.scan(root)
    shown = {"/": page(site, "/")}
    for key in found.entries:
        for kind in ("run", "state", "report"):
            shown[f"/{kind}/{key}"] = site.respond(f"/{kind}/{key}").body.decode()
    assert time.process_time() - began < CPU_S_MAX
    for target, text in shown.items():
        assert SECRET not in text, target
        assert "Traceback" not in text
        if target.startswith("/report/"):
            continue
        assert not re.search(r"<img|<script>|onerror=[\"']|\x1b|\u202e", text), target
    assert all("<wbr>" not in text.partition("</title>")[0] for text in shown.values())
    assert "{{ 7 * 7 }}" in shown["/"]
    hostile = entry(found, "hostile-values").id
    assert site.respond(f"/report/{hostile}").policy == FILE_POLICY
    assert "sandbox" in FILE_POLICY
    scripts = re.search(r"script-src ([^;]*)", FILE_POLICY)
    assert scripts
    assert all(re.fullmatch(r"'sha256-[\w+/=]{44}'", one) for one in scripts[1].split())
    assert site.respond("/").body.count(b"/run/") >= len(NAMES)


def test_hostile_names_are_usable_as_ids(tmp_path: Path) -> None:
    write_hostile(tmp_path / "runs")
    found = tree.scan(tmp_path / "runs")
    named = {os.fsencode(one.folder.name): one for one in found.entries.values()}
    site = Site(tmp_path / "runs")
    good = entry(found, "good").id
    for name in NAMES:
        one = named[name]
        assert re.fullmatch("[0-9a-f]{20}", one.id)
        assert len(one.name) <= tree.NAME_MAX
        assert not re.search(r"[\n\t\x00-\x1f\u202e\udc80-\udcff]", one.name)
        assert "12 trials" in page(site, f"/run/{one.id}")
        assert "<h1>" in page(site, f"/report/{one.id}")
        assert "compared" in page(site, f"/compare?run={one.id}&run={good}")


@pytest.mark.parametrize("name", list(DAMAGED))
def test_a_damaged_journal_is_shown_as_damaged_with_the_reason(name: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", trials(SMALL)[:1])
    content = DAMAGED[name]
    data = content if isinstance(content, bytes) else content.encode()
    (folder / "trials.jsonl").write_bytes(data)
    found = summaries(tmp_path)["run"]
    site = Site(tmp_path)
    assert found.status == "damaged"
    assert found.result
    key = found.entry.id
    assert json.loads(page(site, f"/state/{key}"))["problem"]
    assert page(site, f"/run/{key}").count("Reason") == 1
    assert "This cannot be shown: " in message(site, f"/report/{key}")
    # A comparison leaves out figures that are not finite, like `wirelab diff`.
    if name != "infinite":
        target = f"/compare?run={key}&run={_other(tmp_path)}"
        assert "This cannot be shown: " in message(site, target)


def _other(root: Path) -> str:
    write_run(root / "other", trials(SMALL)[:1])
    return entry(tree.scan(root), "other").id


def test_a_journal_cut_in_its_last_line_is_not_damaged(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", trials(SMALL)[:3], trials_planned=12)
    with (folder / "trials.jsonl").open("a") as journal:
        journal.write('{"id": "half')
    found = summaries(tmp_path)["run"]
    assert (found.status, found.trials) == ("interrupted", "3 of 12")
    assert "last line of the journal is incomplete" in page(
        Site(tmp_path), f"/run/{found.entry.id}"
    )


def test_files_that_are_too_large_are_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run(tmp_path / "run", trials(SMALL)[:1])
    os.truncate(folder / "trials.jsonl", contents.JOURNAL_BYTES_MAX + 1)
    assert "bytes, more than" in summaries(tmp_path)["run"].result
    os.truncate(folder / "manifest.json", contents.DOCUMENT_BYTES_MAX + 1)
    assert "manifest.json has" in summaries(tmp_path)["run"].result
    monkeypatch.setattr(contents, "TRIALS_MAX", 2)
    write_run(tmp_path / "many", trials(SMALL)[:3])
    assert summaries(tmp_path)["many"].result == "it has 3 trials, more than 2"


@pytest.mark.parametrize("name", ["stack", "operation", "link", "load"])
def test_a_name_that_makes_a_report_slow_is_refused(name: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", trials(SMALL)[:2])
    journal = folder / "trials.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        long = "x" * (contents.TEXT_MAX + 1)
        point = line["cells"][0]["point"]
        point[name] = {**point["load"], "kind": long} if name == "load" else long
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert summaries(tmp_path)["run"].result == "it has a name of 4,001 characters, more than 4,000"


def test_a_report_of_many_settings_is_left_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "run", trials(World(sizes=(14, 15), repeats=2)))
    (key,) = tree.scan(tmp_path).entries
    monkeypatch.setattr(contents, "SETTINGS_MAX", 1)
    site = Site(tmp_path)
    assert "settings, more than 1" in message(site, f"/report/{key}")
    assert "Figures so far" in page(site, f"/run/{key}")


def test_the_search_is_bounded_and_states_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = trials(SMALL)[:1]
    for number in range(6):
        write_run(tmp_path / f"run-{number}", every)
    write_run(tmp_path.joinpath(*"abcdefgh") / "deep", every)
    assert any("levels down" in note for note in tree.scan(tmp_path).notes)
    monkeypatch.setattr(tree, "RUNS_MAX", 4)
    found = tree.scan(tmp_path)
    assert len(found.entries) == 4
    assert "Only the first 4 run directories are listed." in found.notes
    monkeypatch.setattr(tree, "FOLDERS_MAX", 3)
    assert "Only the first 3 folders were searched." in tree.scan(tmp_path).notes
    monkeypatch.setattr(tree, "NAMES_MAX", 2)
    assert any("only 2 names were read" in note for note in tree.scan(tmp_path).notes)


def test_symbolic_links_and_special_files_are_refused(tmp_path: Path) -> None:
    write_hostile(tmp_path / "runs")
    found = summaries(tmp_path / "runs")
    assert "linked-folder" not in found
    assert not [name for name in found if name.startswith("loop")]
    for kind in ("linked", "pipe"):
        for name in ("manifest.json", "trials.jsonl"):
            one = found[f"{kind}-{name}"]
            assert (one.status, one.result) == ("not shown", f"{name} is not a regular file")
    site = Site(tmp_path / "runs")
    for name in ("linked-report.html", "pipe-report.html"):
        response = site.respond(f"/report/{found[name].entry.id}")
        assert b"is not a regular file" in response.body.replace(b"<wbr>", b"")
    linked = message(site, f"/report/{found['linked-trials'].entry.id}")
    assert "histograms.hlog is a symbolic link" in linked
