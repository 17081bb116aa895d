"""Commands of the pages do what the page says.

The commands of a page run in order, in a folder that is like a checkout. Programs, files and
addresses that pages take for granted are those of ``page_services.py``. What a command prints has
the same words as the output on the page, with any numbers; a line ``…`` is any text. The marks of
blocks are described in ``page_blocks.py``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python import page_blocks, page_services
from tests.python.page_blocks import Block, MarkError, Run, read_blocks

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
TESTED_ELSEWHERE = {
    "docs/reference/commands.md": (
        "usage without arguments, compared with the commands",
        "tests/test_pages.py::test_a_generated_page_is_fresh",
    )
}
"""Pages without marks: the reason, and the test."""
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if f"```{page_blocks.COMMANDS}" in page.read_text(encoding="utf-8")
    and str(page.relative_to(ROOT)) not in TESTED_ELSEWHERE
]
WIRELAB = (".venv/bin/wirelab", "wirelab", ".venv/bin/wirelab-engine")
PROGRAMS = frozenset((*WIRELAB, "./service.pyz", "cp", "echo", "python3", "sed"))
"""What the pages may run: the programs of wirelab, and quick ones that stay in the folder."""
EXAMPLES = "docs/examples/"
"""``.venv/bin/python`` runs programs below it."""
NEWCOMERS = {DOCS / "start.md", *(DOCS / "questions").glob("*.md"), DOCS / "guide.md"}
"""Pages that have commands that run."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _name(page: Path) -> str:
    return page.stem


def _blocks(page: Path) -> list[Block]:
    return read_blocks(page.read_text(encoding="utf-8"))


def has_shape(printed: str, shown: str) -> bool:
    """Whether a text has the words of another one, with any numbers and line ends."""
    parts = [
        " ".join(NUMBER.sub("0", part).split())
        for part in re.split(r"^…$", shown, flags=re.MULTILINE)
    ]
    pattern = ".*".join(map(re.escape, parts))
    return re.fullmatch(pattern, " ".join(NUMBER.sub("0", printed).split())) is not None


RUNNING = [page for page in PAGES if any(block.run for block in _blocks(page))]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", RUNNING, ids=_name)
def test_commands_of_a_page_run(page: Path, real_engine: Path, tmp_path: Path) -> None:
    environment = page_services.make_folder(tmp_path, real_engine)
    with ExitStack() as started:
        reader = Reader(tmp_path, environment, page_services.Servers(started))
        for block in _blocks(page):
            reader.follow(block)


@dataclass(frozen=True)
class Reader:
    """Does what a page says, in a folder."""

    folder: Path
    environment: dict[str, str]
    servers: page_services.Servers

    def follow(self, block: Block) -> None:
        """Saves a file, or runs commands and compares what they print."""
        if block.file:
            text = self.servers.replace_addresses(block.text)
            (self.folder / block.file).write_text(text, encoding="utf-8")
        elif block.run:
            if block.run.needs_root and os.geteuid() != 0:
                pytest.skip(f"{block.commands[0][0]} needs root: run the tests as root")
            for command, shown in block.commands:
                self._run(command, shown, block.run)

    def _run(self, command: str, shown: str, run: Run) -> None:
        if run.in_background:
            printed = self.servers.start_in_background(command, self.folder, self._environment())
        else:
            printed = self._run_to_the_end(command, run.exit_codes)
        if shown:
            assert has_shape(printed, shown), f"{command}\n{printed}"

    def _run_to_the_end(self, command: str, exit_codes: tuple[int, ...]) -> str:
        replaced = self.servers.replace_addresses(command)
        done = subprocess.run(
            ["bash", "-c", replaced],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in exit_codes, f"{replaced}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _environment(self) -> dict[str, str]:
        checkout = page_services.find_checkout(self.folder)
        return {**self.environment, **self.servers.environment, "WIRELAB_ROOT": str(checkout)}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_of_commands_has_a_mark(page: Path) -> None:
    assert _blocks(page)


@pytest.mark.parametrize("page", RUNNING, ids=_name)
def test_pages_run_known_programs_only(page: Path) -> None:
    for block in _blocks(page):
        for command, _ in block.commands if block.run else ():
            assert _unknown_programs(command) == [], command


def _unknown_programs(command: str) -> list[str]:
    """Those that the tests do not run."""
    found = []
    words = shlex.split(command, comments=True)
    starts = [0, *(place + 1 for place, word in enumerate(words) if word in ("&&", "|"))]
    for place in starts:
        is_example = words[place] == ".venv/bin/python" and words[place + 1].startswith(EXAMPLES)
        if words[place] not in PROGRAMS and not is_example:
            found.append(words[place])
    return found


def test_an_unknown_program_is_found() -> None:
    assert _unknown_programs("cp a b && .venv/bin/wirelab wrap -- ab -n 1 | rm -r '$HOME'") == [
        "rm"
    ]
    assert _unknown_programs(".venv/bin/python -m bench.run") == [".venv/bin/python"]
    assert _unknown_programs(".venv/bin/python docs/examples/a.py  # && rm") == []


@pytest.mark.parametrize("page", TESTED_ELSEWHERE)
def test_a_page_without_marks_is_tested_elsewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    file, _, test = TESTED_ELSEWHERE[page][1].partition("::")
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
    with pytest.raises(MarkError):
        read_blocks(text)


def test_pages_for_newcomers_have_commands_that_run() -> None:
    assert set(RUNNING) >= NEWCOMERS


def test_marks_are_read() -> None:
    page = (
        "<!-- file: a.yaml -->\n```yaml\nname: a\n```\n\n<!-- run as root, exit code 1 or 5 -->\n"
        "```console\n$ .venv/bin/wirelab run \\\n    a.yaml\nan output\n$ second\n```\n"
        "<!-- not run: it needs a cluster -->\n```console\n$ third\n```\n"
        "<!-- run in the background -->\n```console\n$ server\n```\n```json\n{}\n```\n"
    )
    file, run, not_run, background = read_blocks(page)
    assert (file.file, file.text, file.run) == ("a.yaml", "name: a\n", None)
    assert run.commands == ((".venv/bin/wirelab run      a.yaml", "an output"), ("second", ""))
    assert run.run == Run(exit_codes=(1, 5), needs_root=True)
    assert (not_run.run, not_run.reason) == (None, "it needs a cluster")
    assert background.run == Run(in_background=True)


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ a\n```\n",
        "<!-- end of figures -->\n```console\n$ a\n```\n",
        "<!-- run as roof -->\n```console\n$ a\n```\n",
        "<!-- run -->\n\n```console\n$ a\n```\n",
        "<!-- run -->\nText.\n",
        "<!-- run -->\n```json\n{}\n```\n",
        "<!-- run -->\n```console\na\n```\n",
        "<!-- file: a.yaml -->\n```console\n$ a\n```\n",
        "<!-- file: a.yaml -->\n",
        "<!-- not run -->\n```console\n$ a\n```\n",
        "<!-- not run: -->\n```console\n$ a\n```\n",
        "<!-- not run: later -->\n```console\n$ a\n```\n",
        "<!-- not run: slow slow slow -->\n```console\n$ a\n```\n",
        "<!-- not run: is to be done later -->\n```console\n$ a\n```\n",
    ],
)
def test_a_block_without_a_good_mark_is_refused(page: str) -> None:
    with pytest.raises(MarkError):
        read_blocks(page)


def test_an_output_has_the_words_of_the_page() -> None:
    shown = "service  calls\nrest@rust 1,000\n…\nin 2.5 s"
    assert has_shape("service calls\nrest@rust 7\nmore\n\nin 31 s\n", shown)
    assert not has_shape("service calls\ngrpc@rust 7\nin 31 s\n", shown)
    assert not has_shape("service calls\nrest@rust 7\nin 31 s\nand more\n", shown)
    assert has_shape("service calls\nrest@rust 7\nin 31 s\nand more\n", f"{shown}\n…")
