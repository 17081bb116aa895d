"""CHANGELOG.md from the fragments in ``changelog.d/``: ``make changelog VERSION=0.2.0``.

``python -m tools.changelog VERSION [--date YYYY-MM-DD]`` writes the version's section and removes
its fragments; ``--check`` validates them and changes nothing; ``--notes VERSION`` prints a section
that is already written. Exit code 1 and a reason where something is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "changelog.d"
PAGE = "CHANGELOG.md"
README = "README.md"
NAME = re.compile(r"(?P<number>[1-9]\d*)\.(?P<kind>[a-z]+)\.md")
VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?")
SECTION = re.compile(r"^## (?P<version>\S+)", re.MULTILINE)
MARKUP = re.compile(r"#|>|\||```|~~~|<!--|[*+] |\d+[.)] |\s|---$")
"""Begins a line that is more than a sentence or an item of a list."""
HEAD = """\
# Changelog

All changes that users notice, newest version first. The format is that of
[Keep a Changelog](https://keepachangelog.com/en/1.1.0/).
"""


class ChangelogError(ValueError):
    """A fragment or a request is wrong; the message names it and the remedy."""


class Kind(Enum):
    """A heading of Keep a Changelog, in the order of the page; the value is in file names."""

    ADDED = "added"
    CHANGED = "changed"
    FIXED = "fixed"
    REMOVED = "removed"


@dataclass(frozen=True)
class Fragment:
    """One file: the changes of one number and kind."""

    number: int
    kind: Kind
    lines: tuple[str, ...]
    """Sentences and items (``- …``), without empty lines."""
    path: Path

    def items(self) -> Iterator[str]:
        """As a list: a line that ends with a colon gets the items after it as its sublist."""
        indent = ""
        for line in self.lines:
            text = line.replace("](../", "](")
            if text.startswith("- "):
                yield indent + text
            else:
                indent = "  " if text.endswith(":") else ""
                yield f"- {text}"


def parse(path: Path) -> Fragment:
    """The fragment in that file. Raises :class:`ChangelogError`."""
    name = NAME.fullmatch(path.name)
    kinds = [kind.value for kind in Kind]
    if name is None or name["kind"] not in kinds:
        raise ChangelogError(
            f"{FOLDER}/{path.name} is not NUMBER.KIND.md: rename it, KIND is one of "
            f"{', '.join(kinds)}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ChangelogError(f"{FOLDER}/{path.name} is not UTF-8: save it as UTF-8") from None
    lines = tuple(line.rstrip() for line in text.splitlines() if line.strip())
    if not lines:
        raise ChangelogError(f"{FOLDER}/{path.name} is empty: describe the change or delete it")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and (MARKUP.match(line) or not line.removeprefix("- ").strip("- ")):
            raise ChangelogError(
                f"{FOLDER}/{path.name}:{number}: write sentences and items that begin with "
                f"'- ' only, one per line and not indented: {line[:60]!r}"
            )
    _check_sublists(path, lines)
    return Fragment(int(name["number"]), Kind(name["kind"]), lines, path)


def _check_sublists(path: Path, lines: Sequence[str]) -> None:
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        if not line.startswith("- ") and line.endswith(":") and not following.startswith("- "):
            raise ChangelogError(
                f"{FOLDER}/{path.name}: no items follow {line[:60]!r}: add them below it, each "
                "with '- '"
            )


def fragments(folder: Path) -> list[Fragment]:
    """All of them, by number. Raises :class:`ChangelogError` naming every wrong file."""
    found, wrong = [], []
    for path in sorted(folder.iterdir()):
        if path.name == README:
            continue
        try:
            found.append(parse(path))
        except ChangelogError as error:
            wrong.append(str(error))
    if wrong:
        raise ChangelogError("\n".join(wrong))
    return sorted(found, key=lambda fragment: fragment.number)


def section(version: str, date: datetime.date, found: Sequence[Fragment]) -> str:
    """The version's part of the page."""
    parts = [f"## {version} - {date.isoformat()}\n"]
    for kind in Kind:
        items = [item for one in found if one.kind is kind for item in one.items()]
        if items:
            parts.append("\n".join((f"### {kind.value.capitalize()}\n", *items, "")))
    return "\n".join(parts)


def insert_version(page: str, version: str, made: str) -> str:
    """The page with the new section above the earlier ones. Raises :class:`ChangelogError`."""
    earlier = list(SECTION.finditer(page))
    if version in (one["version"].strip("[]") for one in earlier):
        raise ChangelogError(f"{PAGE} already has version {version}: name a new one")
    start = earlier[0].start() if earlier else len(page)
    head, history = page[:start].rstrip("\n"), page[start:]
    return f"{head}\n\n{made}" + (f"\n{history}" if history else "")


def notes(page: str, version: str) -> str:
    """The section of a version without its heading. Raises :class:`ChangelogError`."""
    for one in re.split(r"^(?=## )", page, flags=re.MULTILINE):
        heading = SECTION.match(one)
        if heading and heading["version"].strip("[]") == version:
            return one.partition("\n")[2].strip() + "\n"
    raise ChangelogError(f"{PAGE} has no version {version}: run make changelog VERSION={version}")


def release(root: Path, version: str, date: datetime.date) -> None:
    """Writes the section, then removes its fragments. Raises :class:`ChangelogError`."""
    if not VERSION.fullmatch(version):
        raise ChangelogError(f"{version!r} is not a version: write it as 0.2.0")
    found = fragments(root / FOLDER)
    if not found:
        raise ChangelogError(f"{FOLDER} has no fragments: there is nothing to release")
    page = root / PAGE
    before = page.read_text(encoding="utf-8") if page.exists() else HEAD
    made = insert_version(before, version, section(version, date, found))
    written = page.with_name(f"{PAGE}.new")
    written.write_text(made, encoding="utf-8")
    written.replace(page)
    for fragment in found:
        fragment.path.unlink()


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.changelog")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("version", nargs="?", help="write this version's section")
    action.add_argument("--check", action="store_true", help="validate the fragments only")
    action.add_argument("--notes", metavar="VERSION", help="print a section of CHANGELOG.md")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=today)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """0, or 1 with the reason on standard error."""
    asked = _arguments(words)
    try:
        if asked.check:
            print(f"{len(fragments(root / FOLDER))} fragments are valid")
        elif asked.notes:
            page = root / PAGE
            print(notes(page.read_text(encoding="utf-8") if page.exists() else "", asked.notes))
        else:
            release(root, asked.version, asked.date)
    except ChangelogError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
