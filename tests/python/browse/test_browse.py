"""The pages of `wirelab browse` on folders that are harmless, damaged or hostile."""

from __future__ import annotations

import fcntl
import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from tests.python.hostile_runs import (
    SECRET,
    SLOWER,
    SMALL,
    sessions_of_day,
    write_hostile,
    write_run,
)
from tests.python.synthetic_packets import capture_trial, make_dissection
from tests.python.synthetic_run import GRPC, REST, fail_trial, remove_histograms, trials
from tests.python.synthetic_run import write_reproduction as write_study
from wirelab.browse import locks, summary, tree
from wirelab.browse.site import FILE_POLICY, OWN_POLICY, Site
from wirelab.browse.tree import Entry, Tree
from wirelab.cli import main
from wirelab.records.line import to_line
from wirelab.run.directory import LOCK
from wirelab.run.journal import Follower
from wirelab.trial import dissected as document


def entry(found: Tree, name: str) -> Entry:
    """The entry with that display name."""
    return next(one for one in found.entries.values() if one.name == name)


def summaries(root: Path) -> dict[str, summary.Summary]:
    """By display name."""
    found = summary.Reader().all(tree.scan(root))
    return {one.entry.name: one for one in found.values() if one is not None}


def page(site: Site, target: str) -> str:
    """The text of a page that must exist."""
    response = site.respond(target)
    assert response.status == HTTPStatus.OK, response.body.decode()
    return response.body.decode()


def message(site: Site, target: str) -> str:
    """The text of a page that states why there is no other one."""
    response = site.respond(target)
    assert response.status != HTTPStatus.OK
    return html.unescape(response.body.decode().replace("<wbr>", ""))


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Holds the lock of a run, as the command that executes it does."""
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)


def append(folder: Path, every: list[Any]) -> None:
    """Adds trials to a journal."""
    with (folder / "trials.jsonl").open("a", encoding="utf-8") as journal:
        for one in every:
            journal.write(json.dumps(to_line([remove_histograms(one)])) + "\n")


def test_runs_are_listed_newest_first_with_status_and_result(tmp_path: Path) -> None:
    every = trials(SMALL)
    write_run(tmp_path / "old", every, sessions=sessions_of_day(1))
    broken = [fail_trial(every[0], "the service exited"), *every[1:]]
    write_run(tmp_path / "new", broken, sessions=sessions_of_day(3))
    write_run(tmp_path / "cut", every[:4], sessions=sessions_of_day(2), trials_planned=12)
    found = summaries(tmp_path)
    assert [found[name].status for name in ("old", "new", "cut")] == [
        *("finished", "finished", "interrupted"),
    ]
    assert found["cut"].trials == "4 of 12"
    assert found["new"].failed == 1
    assert "more calls per second than" in found["old"].result
    shown = page(Site(tmp_path), "/")
    places = [shown.index(f">{name}</a>") for name in ("new", "cut", "old")]
    assert places == sorted(places)
    assert "3 run directories, newest first" in shown


def test_limits_reproductions_explanations_and_wrapped_tools_are_listed_with_their_runs(
    tmp_path: Path,
) -> None:
    every = trials(SMALL)
    write_study(tmp_path / "study", every)
    (tmp_path / "study" / "findings.json").write_text(
        json.dumps({"findings": [{"outcome": "holds"}, {"outcome": "undecided"}]})
    )
    write_run(tmp_path / "limit" / "closed", every)
    (tmp_path / "limit" / "limit.json").write_text(
        json.dumps({"objective": "p99<50ms", "limit_per_s": 12_000.0, "low_per_s": 11e3})
    )
    for name, content in {
        "explanation": {"names": ["a", "b"], "sentences": ["b is slower."]},
        "wrap": {"command": ["ab", "-n"], "verdict": {"trusted": True, "words": "trusted"}},
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps(content))
    found = summaries(tmp_path)
    assert found["study"].result == "2 findings: 1 holds, 1 undecided."
    assert found["limit"].result == "Highest rate: 12.0 k/s at p99<50ms."
    assert (found["explanation"].experiment, found["explanation"].result) == (
        *("a and b", "b is slower."),
    )
    assert (found["wrap"].experiment, found["wrap"].result) == ("ab -n", "trusted")
    site = Site(tmp_path)
    scanned = tree.scan(tmp_path)
    limit = entry(scanned, "limit")
    part = entry(scanned, "limit/closed")
    assert part.parent == limit.id
    assert f'href="/run/{part.id}"' in page(site, f"/run/{limit.id}")
    assert "Limit" not in message(site, f"/report/{limit.id}")
    study = page(site, f"/report/{entry(scanned, 'study').id}")
    assert "hamo2023" in study
    assert not (tmp_path / "study" / "report.html").exists()


def test_a_report_is_made_if_there_is_none_or_an_older_one(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", trials(SMALL))
    key = entry(tree.scan(tmp_path), "run").id
    site = Site(tmp_path)
    assert "Which stack is faster?" in page(site, f"/report/{key}")
    assert sorted(path.name for path in folder.iterdir()) == [
        *("manifest.json", "trials", "trials.jsonl"),
    ]
    report = folder / "report.html"
    report.write_text("written before")
    assert page(site, f"/report/{key}") == "written before"
    os.utime(report, (1.0, 1.0))
    assert "Which stack is faster?" in page(site, f"/report/{key}")
    assert site.respond(f"/report/{key}").policy == FILE_POLICY
    assert site.respond("/").policy == OWN_POLICY


def test_dissections_of_a_run_have_pages(tmp_path: Path) -> None:
    every = [capture_trial(stack, order) for order in range(2) for stack in (REST, GRPC)]
    folder = write_run(tmp_path / "run", every)
    for one in every[:2]:
        file = folder / "trials" / one.id / "dissection-client.json"
        file.write_text(document.text(make_dissection()), encoding="utf-8")
    (folder / "trials" / every[2].id / "dissection-client.json").write_text("{}")
    key = entry(tree.scan(tmp_path), "run").id
    site = Site(tmp_path)
    shown = page(site, f"/run/{key}")
    assert shown.count(f'href="/dissection/{key}/') == 3
    pages = [site.respond(f"/dissection/{key}/{number}") for number in range(4)]
    assert [one.status for one in pages].count(HTTPStatus.OK) == 2
    assert "is not a dissection" in "".join(
        html.unescape(one.body.decode()) for one in pages if one.status != HTTPStatus.OK
    )
    assert pages[3].status == HTTPStatus.NOT_FOUND


def test_comparisons_are_those_of_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures on the page are the ones that `wirelab diff` prints."""
    folders = [
        write_run(tmp_path / name, trials(world), sessions=sessions_of_day(day))
        for name, world, day in (("newer", SLOWER, 2), ("older", SMALL, 1), ("third", SMALL, 3))
    ]
    assert main(["diff", str(folders[1]), str(folders[0]), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["cells"]
    found = tree.scan(tmp_path)
    older, newer, third = (entry(found, name).id for name in ("older", "newer", "third"))
    shown = page(Site(tmp_path), f"/compare?run={newer}&run={older}")
    assert "newer over older" in shown
    verdicts = re.findall(r'data-verdict="(\w+)"', shown)
    assert verdicts == [one["comparison"]["verdict"] for one in expected]
    assert "higher" in verdicts
    ratios = re.findall(r'data-head="ratio"><div>([\d.]+)<', shown)
    assert [float(one) for one in ratios] == pytest.approx(
        [one["comparison"]["ratio"]["estimate"] for one in expected], rel=0.006
    )
    swapped = page(Site(tmp_path), f"/compare?run={newer}&run={older}&base={newer}")
    assert "older over newer" in swapped
    three = page(Site(tmp_path), f"/compare?run={newer}&run={older}&run={third}")
    assert "newer over older" in three
    assert "third over older" in three


def test_a_comparison_needs_two_runs(tmp_path: Path) -> None:
    write_run(tmp_path / "one", trials(SMALL))
    write_study(tmp_path / "study", trials(SMALL))
    found = tree.scan(tmp_path)
    key, study = entry(found, "one").id, entry(found, "study").id
    site = Site(tmp_path)
    for query in ("", f"run={key}", f"run={key}&run={key}", "&".join([f"run={key}"] * 50)):
        assert "Choose at least two" in message(site, f"/compare?{query}")
    many = "&".join(f"run={number:020x}" for number in range(9))
    assert "at most 8" in message(site, f"/compare?{many}")
    assert "no longer exists" in message(site, f"/compare?run={key}&run={'0' * 20}")
    assert "Only runs can be compared" in message(site, f"/compare?run={key}&run={study}")


def test_a_run_under_way_shows_its_progress_and_then_its_end(tmp_path: Path) -> None:
    every = trials(SMALL)
    folder = write_run(tmp_path / "run", every[:2], trials_planned=len(every))
    site = Site(tmp_path)
    key = entry(tree.scan(tmp_path), "run").id

    def state() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(page(site, f"/state/{key}"))
        return found

    assert state()["status"] == "interrupted"
    with hold_lock(folder):
        (folder / "trials" / "next-one").mkdir()
        now = state()
        assert (now["status"], now["progress"]) == ("under way", "2 of 12 trials")
        assert now["current"] == "next-one"
        assert now["left"].endswith("left")
        append(folder, every[2:9])
        with (folder / "trials.jsonl").open("a") as journal:
            journal.write('{"id": "half')
        now = state()
        assert now["progress"] == "9 of 12 trials"
        assert len(now["cells"]) == 4
        assert all(one["trials"].endswith(" of 3") for one in now["cells"])
        assert now["notes"] == []
        rows = json.loads(page(site, "/runs.json"))["runs"]
        assert [(one["status"], one["trials"]) for one in rows] == [("under way", "9 of 12")]
        os.truncate(folder / "trials.jsonl", (folder / "trials.jsonl").stat().st_size - 12)
        append(folder, every[9:])
    assert state()["status"] == "finished"
    rows = json.loads(page(site, "/runs.json"))["runs"]
    assert [(one["status"], one["trials"]) for one in rows] == [("finished", "12")]


def test_a_run_inside_makes_its_directory_one_under_way(tmp_path: Path) -> None:
    write_study(tmp_path / "study", trials(SMALL))
    part = next(path.parent for path in (tmp_path / "study").glob("*/manifest.json"))
    assert summaries(tmp_path)["study"].status == "interrupted"
    with hold_lock(part):
        assert summaries(tmp_path)["study"].status == "under way"


def test_a_lock_on_another_file_is_not_the_lock_of_a_run(tmp_path: Path) -> None:
    """Also not one that is shared, or a lock file that names a process."""
    folder, other = (write_run(tmp_path / name, trials(SMALL)) for name in ("a", "b"))
    with hold_lock(other):
        (folder / LOCK).write_text(f"{os.getpid()}\n")
        assert locks.is_locked(other, locks.list_held())
        assert not locks.is_locked(folder, locks.list_held())
    with (folder / LOCK).open() as shared:
        fcntl.flock(shared, fcntl.LOCK_SH)
        assert not locks.is_locked(folder, locks.list_held())
    assert not locks.is_locked(other, locks.list_held())


def test_following_a_journal_reads_each_line_once_and_a_replaced_one_again(
    tmp_path: Path,
) -> None:
    every = trials(SMALL)
    path = tmp_path / "trials.jsonl"
    follower = Follower(path)
    assert follower.read().lines == ()
    append(tmp_path, every[:3])
    first = follower.read().lines
    append(tmp_path, every[3:5])
    second = follower.read().lines
    assert [one.id for (one,) in second] == [one.id for one in every[:5]]
    assert all(a is b for a, b in zip(first, second, strict=False))
    with path.open("a") as journal:
        journal.write("{}\n{")
    with pytest.raises(Exception, match=r"trials\.jsonl:6 is not a trial record"):
        follower.read()
    path.unlink()
    append(tmp_path, every[7:8])
    assert [one.id for (one,) in follower.read().lines] == [every[7].id]


def test_the_list_is_written_once_without_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_hostile(tmp_path / "runs")
    (tmp_path / "runs" / "good" / "report.html").write_text("a report")
    file = tmp_path / "lists" / "index.html"
    file.parent.mkdir()
    assert main(["browse", str(tmp_path / "runs"), "--once", str(file)]) == 0
    assert capsys.readouterr().out == f"list of runs: {file}\n"
    text = file.read_text(encoding="utf-8")
    assert "<script" not in text
    assert 'href="/' not in text
    links = re.findall(r'<a href="([^"]+)">report', text)
    assert "../runs/good/report.html" in links
    assert all((file.parent / link).is_file() for link in links)
    assert "default-src 'none'" in text
    assert SECRET not in text


def test_a_folder_or_file_that_cannot_be_used_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["browse", str(tmp_path / "missing")]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "missing cannot be read: No such file or directory" in shown
    (tmp_path / "file").touch()
    assert main(["browse", str(tmp_path / "file")]) == 2
    assert main(["browse", str(tmp_path), "--once", str(tmp_path / "no" / "index.html")]) == 2
    assert "--once" in capsys.readouterr().err
    assert main(["browse", str(tmp_path), "--port", "70000"]) == 2


def test_an_empty_folder_states_how_to_get_runs(tmp_path: Path) -> None:
    assert "No run directory was found here" in page(Site(tmp_path), "/")
