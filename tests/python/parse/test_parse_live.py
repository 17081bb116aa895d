"""`wirelab parse` with its programs: same content, failures shown, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from wirelab.cli import main
from wirelab.errors import TrialFailed
from wirelab.parse import catalogue, harness
from wirelab.process.interruption import Interruption

MESSAGES = Path(__file__).resolve().parents[3] / "python/wirelab/data/parse/messages.json"
MIXED = """<?xml version="1.0" encoding="UTF-8"?>
<!-- comment --><?target data?>
<a:root xmlns:a="urn:a" xmlns="urn:b" plain="1&amp;2" a:own="\u00e9">
  <child>text <![CDATA[<raw>]]> more &lt;&#x20AC;&gt;</child><child/>\u65e5\u672c\U0001f600
  <inner xmlns=""><leaf a:b="c" xmlnsfoo="d" xml:lang="en">  </leaf></inner>
</a:root>
"""

# The parsers are compiled for minutes on a machine where they never were.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def commands() -> harness.Commands:
    return harness.build(catalogue.LANGUAGES, Interruption())


@pytest.mark.parametrize("own", [False, True], ids=["messages", "file"])
def test_every_parser_sees_what_the_documents_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], own: bool
) -> None:
    file = tmp_path / "mixed.xml"
    file.write_text(MIXED, encoding="utf-8")
    code = main(["parse", "--quick", "--json", "--repeats", "2", *([str(file)] if own else [])])
    result = json.loads(capsys.readouterr().out)
    failures = {one["parser"]: one["failures"] for one in result["parsers"] if one["failures"]}
    assert (code, failures) == (0, {})
    for one in result["parsers"]:
        if one["missing"]:
            assert one["parse_ns"] is None
            continue
        assert one["processes"] == 2
        assert one["parse_ns"]["low"] <= one["parse_ns"]["estimate"] <= one["parse_ns"]["high"]
        assert one["first_ns"]["estimate"] > 0.0
        assert set(one["documents_ns"]) == set(result["documents"])
        assert (one["comparison"] is None) == (
            f"{one['parser']}@{one['language']}" == result["against"]
        )


def test_the_messages_are_those_that_the_libraries_write(commands: harness.Commands) -> None:
    for name, entry in json.loads(MESSAGES.read_text(encoding="utf-8")).items():
        fields = json.dumps(entry.pop("fields"))
        encode = [*commands["rust"], "encode", name, fields]
        written = subprocess.run(encode, capture_output=True, check=True).stdout
        assert json.loads(written) == entry


@pytest.mark.parametrize("language", catalogue.LANGUAGES)
def test_a_program_refuses_hostile_documents(
    commands: harness.Commands, language: str, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.xml"
    refused = r"document type|DTD"
    hostile = "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>"
    for content, words in (("<!DOCTYPE a><a/>", refused), (hostile, rf"{refused}|entity")):
        file.write_text(content)
        for parser in catalogue.choose_parsers([language], [], xml_only=True):
            command = [*commands[language], parser.name, "1", "1", "1", f"a={file}"]
            with pytest.raises(TrialFailed, match=words):
                harness.time_parser(command, tmp_path / "log", 30.0, Interruption())


@pytest.mark.parametrize("language", catalogue.LANGUAGES)
def test_a_program_refuses_wrong_arguments(
    commands: harness.Commands, language: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"id":2,"am":520}')
    right = ["json", "1", "1", "1", f"reserve={file}"]
    for at, wrong in [(0, "jsn"), (1, "x"), (2, "1.5"), (3, "0"), (3, "-1"), (4, str(file))]:
        command = [*commands[language], *right[:at], wrong, *right[at + 1 :]]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 2, wrong
    assert subprocess.run([*commands[language], *right], capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["sh", "-c", "kill -9 $$"], "SIGKILL"),
        (["sh", "-c", "echo out of memory >&2; exit 3"], "out of memory"),
        (["sleep", "60"], "no result within 1 s"),
        (["echo", "nonsense"], "printed no result"),
        (["true"], "printed no result"),
    ],
)
def test_a_program_that_fails_gives_a_reason(
    tmp_path: Path, command: list[str], words: str
) -> None:
    with pytest.raises(TrialFailed, match=words) as failed:
        harness.time_parser(command, tmp_path / "log", 1.0, Interruption())
    assert words in failed.value.reason


def test_interruption_ends_with_130_and_leaves_no_process(commands: harness.Commands) -> None:
    code = "import sys; from wirelab.cli import main; sys.exit(main())"
    arguments = ["parse", "--language", "go", "--parser", "encoding-xml"]
    started = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    own = None
    deadline = time.monotonic() + 60.0
    while own is None and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
        own = _child(started.pid, commands["go"][0])
    assert own is not None, started.poll()
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    assert started.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(own, 0)


def _child(pid: int, program: str) -> int | None:
    """A child that runs the program; None where none does, or all has ended meanwhile."""
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with suppress(OSError):
                if Path(f"/proc/{child}/cmdline").read_bytes().startswith(program.encode()):
                    return int(child)
    return None
