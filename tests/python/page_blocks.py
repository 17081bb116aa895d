"""Blocks of the pages, and the marks above them.

Every block of commands has a mark:

- ``<!-- run -->``: :mod:`tests.python.repository.test_page_commands` runs its commands.
- ``<!-- run as root -->``: they need root.
- ``<!-- run, exit code 1 or 5 -->``: other exit codes than 0. 5 is the right one where a busy
  machine leaves a question undecided.
- ``<!-- run in the background -->``: its command serves until the page ends.
- ``<!-- not run: REASON -->``: nothing runs it, for that reason.

``<!-- file: NAME -->`` marks a block that a reader saves. Lines below a command are its output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMANDS = "console"
"""The language of blocks of commands."""
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
MARK_LINE = re.compile(r"^<!-- (?P<mark>(?:run(?! of )|not run|file)\b[^\n]*) -->$", re.MULTILINE)
"""A line that is meant as a mark. ``run of STUDY`` begins a part of a page of a study."""
MARK = re.compile(
    r"file: (?P<file>[\w.-]+)"
    r"|not run: (?P<reason>\S.*)"
    r"|run(?P<background> in the background)?(?P<root> as root)?"
    r"(?:, exit code (?P<codes>\d+(?: or \d+)*))?"
)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n?)*)", re.MULTILINE)
WORDS_MIN = 3
LAZY = frozenset(("fixme", "later", "soon", "skip", "skipped", "tbd", "todo", "yet"))
"""Words of a reason that only puts the work off."""


class MarkError(Exception):
    """A block without a mark that it needs, or a mark without its block."""


@dataclass(frozen=True)
class Run:
    """How the commands of a block run."""

    exit_codes: tuple[int, ...] = (0,)
    needs_root: bool = False
    in_background: bool = False


@dataclass(frozen=True)
class Block:
    """Commands, or a file."""

    text: str
    run: Run | None = None
    """None: the commands are not run, or it is a file."""
    reason: str = ""
    """Why the commands are not run."""
    file: str = ""
    """Under which name a reader saves it."""

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """Each command and the output that the page shows of it, empty where it shows none."""
        found = COMMAND.findall(self.text)
        return tuple((command.replace("\\\n", " "), shown.strip()) for command, shown in found)


def read_blocks(page: str) -> list[Block]:
    """Every block of commands and every file of a page, in order. Raises :class:`MarkError`."""
    found = [match for match in BLOCK.finditer(page) if _has_mark(match) or _is_commands(match)]
    places = {match.start("mark") for match in found}
    for line in MARK_LINE.finditer(page):
        if line.start("mark") not in places:
            raise MarkError(f"no block follows <!-- {line['mark']} -->")
    return [_read_block(match) for match in found]


def _has_mark(match: re.Match[str]) -> bool:
    return match["mark"] is not None and MARK_LINE.match(match[0]) is not None


def _is_commands(match: re.Match[str]) -> bool:
    return match["language"] == COMMANDS


def _read_block(match: re.Match[str]) -> Block:
    first = match["text"].partition("\n")[0]
    if match["mark"] is None:
        raise MarkError(f"{first!r} has no mark")
    mark = MARK.fullmatch(match["mark"])
    if mark is None:
        raise MarkError(f"<!-- {match['mark']} --> above {first!r} is not a mark")
    if (mark["file"] is None) != _is_commands(match):
        raise MarkError(f"<!-- {match['mark']} --> does not fit the block of {first!r}")
    if mark["file"]:
        return Block(match["text"], file=mark["file"])
    if mark["reason"]:
        _check_reason(mark["reason"])
        return Block(match["text"], reason=mark["reason"])
    codes = tuple(map(int, (mark["codes"] or "0").split(" or ")))
    run = Run(codes, mark["root"] is not None, mark["background"] is not None)
    block = Block(match["text"], run)
    if not block.commands or not match["text"].startswith("$ "):
        raise MarkError(f"{first!r} does not begin with a command: write $ before it")
    return block


def _check_reason(reason: str) -> None:
    words = re.findall(r"[\w'-]+", reason.lower())
    if len(set(words)) < WORDS_MIN or LAZY.intersection(words):
        raise MarkError(f"{reason!r} is not a reason: say what would be needed, or what runs it")
