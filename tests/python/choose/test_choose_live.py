"""`choose` from a document to an answer: generated services, examined and measured."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.python.chromium import Browser, needs_chromium
from tests.python.report.test_report_browser import PROBE
from wirelab.generate.project import STACKS

ORDER = Path(__file__).parents[3] / "examples/order.json"
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="no go in PATH")


QUESTION = (
    *("--language", "go", "--stacks", "rest@go", "--stacks", "*codec=xml"),
    *("--today", "rest@go?codec=xml", "--share"),
)


def run(*words: str, within_s: float = 170.0) -> subprocess.CompletedProcess[str]:
    program = "import sys; from wirelab.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "choose", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=within_s)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The answer for two codecs of one language, and its folder."""
    folder = tmp_path_factory.mktemp("choose") / "out"
    options = ("--budget", "20s", "--json", "--out", str(folder))
    done = run(str(ORDER), *QUESTION, *options, "--price", "core_hour=0.04,gb=0.05")
    assert done.returncode in (0, 5), done.stderr
    return folder, json.loads(done.stdout)


@needs_go
def test_json_is_found_ahead_of_xml(answered: tuple[Path, dict[str, Any]]) -> None:
    """encoding/xml takes several times the CPU of encoding/json; a benchmark of the libraries
    alone shows the same."""
    _, found = answered
    assert found["recommended"] == "rest@go"
    behind = found["behind"]["rest@go?codec=xml"]
    assert behind["ratio"]["high"] < 1.0
    assert [step["to"] for step in found["ladder"]] == ["rest@go"]


@needs_go
def test_the_table_has_every_figure_of_each_stack(answered: tuple[Path, dict[str, Any]]) -> None:
    _, found = answered
    assert set(found["stacks"]) == {"rest@go", "rest@go?codec=xml"}
    for row in found["stacks"].values():
        assert row["wrong_replies"] == 0
        assert row["trials"] >= 3  # no verdict without
        for name in ("closed_rate_per_s", "service_cpu_s", "bytes_per_call", "response_p50_ns"):
            assert row[name]["estimate"] > 0
        assert row["cost_per_million_calls"] > 0


@needs_go
def test_the_folder_has_what_repeats_the_answer(answered: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = answered
    assert "message Order {" in (folder / "contract.proto").read_text()
    assert '"name": "Order"' in (folder / "contract.avsc").read_text()
    assert (folder / "services/go/go.mod").is_file()
    names = ("screening.yaml", "closed.yaml", "choice.json", "report.html")
    assert all((folder / name).is_file() for name in names)
    requests = (folder / "data/xml/rest.go.jsonl").read_text().splitlines()
    assert all(json.loads(line)["expect"]["sha256"] for line in requests)


@needs_go
@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_window(
    answered: tuple[Path, dict[str, Any]], width: int, tmp_path: Path
) -> None:
    folder, found = answered
    with Browser(tmp_path) as browser:
        tab = browser.open((folder / "report.html").as_uri(), width=width)
        seen = tab.evaluate(PROBE)
        assert seen["over"] <= 0
        assert tab.evaluate("document.querySelector('h2').textContent") == "Which stack to take"
        assert found["sentences"][0] in tab.evaluate("document.body.textContent")
        assert tab.logged == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--language", "cobol"), "--language cobol: unknown"),
        (("--compression", "brotli"), "--compression brotli: unknown"),
        (("--only", "x"), "--only goes with --from"),
        (("--price", "core=1"), "core_hour=0.04"),
        (("--by", "beauty"), "--by"),
        (("--vary", "-1"), "--vary"),
        (("--budget", "0s"), "--budget"),
    ],
)
def test_bad_options_are_refused_by_name(words: tuple[str, ...], message: str) -> None:
    done = run(str(ORDER), *words)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1"),
        ("[1, 2]", "object"),
        ('{"a": [1, "x"]}', "a"),
        ('{"a": NaN}', "NaN"),
    ],
)
def test_documents_that_are_not_messages_are_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "document.json"
    file.write_text(text)
    done = run(str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--stacks", "thrift"), "--stacks thrift: no such stack"),
        (("--today", "rest@cobol"), "--today rest@cobol: no such stack"),
        (("--link", "moon"), "--link moon: unknown"),
    ],
)
def test_wrong_names_are_refused_before_anything_is_built(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run(str(ORDER), "--out", str(out), *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not out.exists()


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@needs_go
def test_the_answer_for_another_message_is_not_overwritten(
    answered: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    folder, _ = answered
    before = files_of(folder)
    other = tmp_path / "other.json"
    other.write_text('{"other": 1}')
    done = run(str(other), "--language", "go", "--out", str(folder))
    assert done.returncode == 2
    assert "has the answer to another question" in " ".join(done.stderr.split())
    assert files_of(folder) == before


@needs_go
def test_another_load_is_another_question(answered: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = answered
    before = files_of(folder)
    done = run(str(ORDER), *QUESTION, "--users", "3", "--out", str(folder))
    assert done.returncode == 2
    assert "only --budget, --price, --map and --limit may change" in " ".join(done.stderr.split())
    assert files_of(folder) == before


@needs_go
def test_the_same_question_is_answered_again_from_its_trials(
    answered: tuple[Path, dict[str, Any]],
) -> None:
    folder, found = answered
    done = run(str(ORDER), *QUESTION, "--budget", "1s", "--json", "--out", str(folder))
    again = json.loads(done.stdout)
    assert again["stacks"] == {
        name: row | {"cost_per_million_calls": None} for name, row in found["stacks"].items()
    }


@needs_go
def test_http_2_alone_is_examined_and_measured_at_a_rate(tmp_path: Path) -> None:
    """The highest rate decides, which is that of the closed load, though there is a rate too."""
    stacks = ("--http2", "--stacks", "rest@go?transport=http/2", "--stacks", "grpc@go")
    load = ("--rate", "500", "--by", "rate", "--budget", "1s", "--share", "--json")
    done = run(str(ORDER), "--language", "go", *stacks, *load, "--out", str(tmp_path / "out"))
    assert done.returncode in (0, 5), done.stderr
    found = json.loads(done.stdout)
    assert found["figure"] == "rate"
    assert not found["at_rate"]
    assert set(found["stacks"]) == {"rest@go?transport=http/2", "grpc@go"}
    for row in found["stacks"].values():
        assert row["wrong_replies"] == 0
        assert row["response_p50_ns"]["estimate"] > 0
        assert row["closed_rate_per_s"]["estimate"] > 0


@needs_go
def test_maps_are_measured_in_every_codec(tmp_path: Path) -> None:
    proto = tmp_path / "maps.proto"
    proto.write_text(
        'syntax = "proto3"; package shop.v1; service S { rpc Do(M) returns (M); }'
        "message M { int64 id = 1; map<string, int64> a = 2; map<int32, string> b = 3; }"
    )
    options = ("--language", "go", "--budget", "1s", "--share", "--json")
    done = run(str(proto), *options, "--out", str(tmp_path / "out"))
    assert done.returncode in (0, 5), done.stderr
    found = json.loads(done.stdout)
    assert all(row["wrong_replies"] == 0 for row in found["stacks"].values())
    assert len(found["stacks"]) + len(found["left_out"]) == len(STACKS)
    assert set(found["left_out"].values()) == {"not among the best of a first look"}


def test_a_size_cannot_be_mapped_without_lists(tmp_path: Path) -> None:
    file = tmp_path / "flat.json"
    file.write_text('{"amount": 3}')
    done = run(str(file), "--map", "size", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "no list" in done.stderr


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    done = run(str(tmp_path / "no.json"))
    assert done.returncode == 2
    assert "no.json" in done.stderr
