"""Commands of the pages do what the page says.

A comment ``<!-- run -->`` marks a block whose commands are run here, in order, in an empty folder.
Programs and addresses that pages take for granted are those of ``page_services.py``.
``<!-- run, exit code 1 or 5 -->`` names other exit codes than 0 of its commands: 5 is the right one
where a busy machine leaves a question undecided. ``<!-- run as root -->`` marks a block that needs
root. ``<!-- file: NAME -->`` marks a block that a reader saves. Lines below a command are its
output: what is printed has the same words, with any numbers; a line ``…`` is any text.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python import page_services

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^<!-- (?:file: (?P<file>[\w.-]+)|(?P<run>run)(?P<root> as root)?"
    r"(?:, exit code (?P<codes>\d+(?: or \d+)*))?) -->\n```(?:yaml|console)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
MARK = re.compile(r"^<!-- (?:run|file)\b", re.MULTILINE)
PROGRAM = ".venv/bin/wirelab"
ALWAYS = [ROOT / "docs/start.md", *sorted((ROOT / "docs/questions").glob("*.md"))]
"""Pages for newcomers, each of which has commands that run."""
OTHERS = [ROOT / "docs/guide.md", *sorted((ROOT / "docs/reference").glob("*.md"))]
PAGES = [*ALWAYS, *(page for page in OTHERS if MARK.search(page.read_text(encoding="utf-8")))]
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Block:
    """A file to write, or commands to run."""

    file: str | None
    commands: tuple[str, ...]
    outputs: tuple[str, ...]
    """What the page shows of each command; empty where it shows nothing."""
    needs_root: bool
    exit_codes: tuple[int, ...]
    text: str


def blocks(page: str) -> list[Block]:
    """Every marked block of a page, in order."""
    return [
        Block(
            match["file"],
            *(_commands(match["text"]) if match["run"] else ((), ())),
            match["root"] is not None,
            tuple(map(int, (match["codes"] or "0").split(" or "))),
            match["text"],
        )
        for match in BLOCK.finditer(page)
    ]


def _commands(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands and their outputs."""
    found = re.findall(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n?)*)", text, re.MULTILINE)
    commands = tuple(command.replace("\\\n", " ") for command, _ in found)
    return commands, tuple(output.strip() for _, output in found)


def has_shape(printed: str, shown: str) -> bool:
    """Whether a text has the words of another one, with any numbers and line ends."""
    parts = [" ".join(NUMBER.sub("0", part).split()) for part in shown.split("…\n")]
    pattern = ".*".join(map(re.escape, parts))
    return re.fullmatch(pattern, " ".join(NUMBER.sub("0", printed).split())) is not None


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_run(page: Path, real_engine: Path, tmp_path: Path) -> None:
    found = blocks(page.read_text(encoding="utf-8"))
    assert any(block.commands for block in found)
    page_services.write_programs(tmp_path)
    with ExitStack() as started:
        servers = page_services.Servers(started)
        for block in found:
            if block.file:
                text = servers.replace_addresses(block.text)
                (tmp_path / block.file).write_text(text, encoding="utf-8")
            elif block.needs_root and os.geteuid() != 0:
                pytest.skip(f"{block.commands[0]} captures packets: run the tests as root")
            else:
                _run(block, real_engine, tmp_path, servers)


def _run(block: Block, engine: Path, folder: Path, servers: page_services.Servers) -> None:
    environment = {**os.environ, "WIRELAB_ROOT": str(ROOT), "WIRELAB_ENGINE": str(engine)}
    for command, shown in zip(block.commands, block.outputs, strict=True):
        words = shlex.split(servers.replace_addresses(command), comments=True)
        assert words[0] == PROGRAM, f"{command} is not run: it does not begin with {PROGRAM}"
        done = subprocess.run(
            [sys.executable, ROOT / "wirelab.data/scripts/wirelab", *words[1:]],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in block.exit_codes, f"{command}\n{done.stdout}\n{done.stderr}"
        if shown:
            assert has_shape(done.stdout, shown), f"{command}\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_mark_has_a_block(page: Path) -> None:
    """A mark that is written wrongly would run nothing."""
    text = page.read_text(encoding="utf-8")
    assert len(MARK.findall(text)) == len(blocks(text))


def test_marks_are_read() -> None:
    page = (
        "<!-- file: a.yaml -->\n```yaml\nname: a\n```\n\n<!-- run as root, exit code 1 or 5 -->\n"
        "```console\n$ .venv/bin/wirelab run \\\n    a.yaml\nan output\n$ second\n```\n"
        "```console\n$ not marked\n```\n"
    )
    file, run = blocks(page)
    assert (file.file, file.text) == ("a.yaml", "name: a\n")
    assert run.commands == (".venv/bin/wirelab run      a.yaml", "second")
    assert run.outputs == ("an output", "")
    assert (run.needs_root, run.exit_codes) == (True, (1, 5))


def test_an_output_has_the_words_of_the_page() -> None:
    shown = "service  calls\nrest@rust 1,000\n…\nin 2.5 s"
    assert has_shape("service calls\nrest@rust 7\nmore\n\nin 31 s\n", shown)
    assert not has_shape("service calls\ngrpc@rust 7\nin 31 s\n", shown)
    assert not has_shape("service calls\nrest@rust 7\nin 31 s\nand more\n", shown)


def test_reference_pages_and_the_guide_have_commands_that_run() -> None:
    assert {page.stem for page in PAGES if page in OTHERS} >= {"guide"}
