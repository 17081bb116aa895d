"""What the pages point at is there: links, files, commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wirelab.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        # A changelog names files that later versions no longer have.
        *(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"),
        ROOT / "llms.txt",
        *(ROOT / folder / "README.md" for folder in ("action", "bench", "experiments", "studies")),
        *(ROOT / "changelog.d").glob("*.md"),
        *(ROOT / "contracts").rglob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
    ]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(
    r"`((?:\.ci|bench|changelog\.d|contracts|crates|docs|experiments|fuzz|python|services|studies"
    r"|tests)/[\w./-]+)`"
)
PLACEHOLDER = re.compile(r"[A-Z]{3,}|NNNN")
"""In a path: a word for something else, as in `services/LANGUAGE`."""
COMMAND = re.compile(r"(?:\.venv/bin/)?wirelab +(\S.*)")

MAKE = re.compile(r"(?:`|^\$ )make ([a-z][a-z-]*)", re.MULTILINE)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    headings = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file, and to a heading of it where one is named."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{_name(page)} links to {target}"
        if anchor:
            assert anchor in _anchors(file), f"{_name(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    """Paths from the root of the checkout, in the text of a page."""
    for path in NAMED.findall(page.read_text(encoding="utf-8")):
        if not PLACEHOLDER.search(path):
            assert (ROOT / path).exists(), f"{_name(page)} names {path}"


def _commands(page: Path) -> Iterator[list[str]]:
    """The words after `wirelab` of every command in a block of the page."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in re.findall(r"^\$ ((?:.*\\\n)*.*)", block, re.MULTILINE):
            found = COMMAND.match(line.replace("\\\n", " "))
            if found and "[OPTIONS]" not in found[1]:
                yield shlex.split(found[1], comments=True)


def _find_command(words: list[str]) -> click.Command | None:
    """The command of the first words, such as ``drive`` or ``import har``, if there is one."""
    command: click.Command | None = app
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
    return command


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_command_is_one(page: Path) -> None:
    """With the options that it has; options behind ``--`` belong to another command."""
    for words in _commands(page):
        command = _find_command(words)
        assert command is not None, f"{_name(page)}: wirelab {' '.join(words)}"
        known = {option for parameter in command.params for option in parameter.opts}
        own = words[: words.index("--")] if "--" in words else words
        used = {word.partition("=")[0] for word in own[1:] if word.startswith("--")}
        assert used <= known, f"{_name(page)}: wirelab {' '.join(words)}"


def test_the_pages_have_commands() -> None:
    """The test above is not about nothing."""
    assert sum(1 for page in PAGES for _ in _commands(page)) > 10


def test_the_first_page_is_short() -> None:
    """Two sentences and commands, a result with its picture, the table of commands, pointers."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 140
    assert text.count("![") == 2


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_target_of_make_is_one(page: Path) -> None:
    """In blocks, and as code in the text."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert "docs" in known
    used = MAKE.findall(page.read_text(encoding="utf-8"))
    assert set(used) <= known, _name(page)


@pytest.mark.parametrize("name", ["commands", "experiment"])
def test_a_generated_page_is_fresh(name: str) -> None:
    """`make generate` writes them from the commands, and from the models of the file."""
    made = subprocess.run(
        [sys.executable, ROOT / ".ci" / name], capture_output=True, text=True, check=True
    )
    assert (ROOT / f"docs/reference/{name}.md").read_text(encoding="utf-8") == made.stdout
