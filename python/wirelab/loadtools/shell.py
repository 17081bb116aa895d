"""Splits the script of ``sh -c`` into its commands, as far as they can be known without running
it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
REPEATING = frozenset({"for", "while", "until", "xargs", "parallel", "watch"})
"""Words that run a command any number of times."""
_OPERATORS = frozenset("();<>|&")


@dataclass(frozen=True)
class Script:
    """The commands of a script; of each its words."""

    commands: tuple[tuple[str, ...], ...]
    is_repeating: bool = False
    """Whether one of them may run more than once."""


def find_script(command: Sequence[str]) -> str | None:
    """The script of a shell that the command runs, also through ``env``, ``timeout`` or similar;
    None if there is none."""
    for place, word in enumerate(command):
        if PurePath(word).name not in SHELLS:
            continue
        for option, value in zip(command[place + 1 :], command[place + 2 :], strict=False):
            if not option.startswith("-"):
                break
            if option.endswith("c") and not option.startswith("--"):
                return value
    return None


def split(script: str) -> Script | None:
    """None if its quotes do not match."""
    lexer = shlex.shlex(script.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    commands = tuple(_commands(words))
    is_repeating = any(word in REPEATING for command in commands for word in command)
    return Script(commands, is_repeating)


def _commands(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Without redirections."""
    command: list[str] = []
    is_target = False
    for word in words:
        if is_target:
            is_target = False
        elif not set(word) <= _OPERATORS:
            command.append(word)
        elif "<" in word or ">" in word:
            is_target = True
            if command and command[-1] in ("1", "2"):  # the descriptor of `2>file`
                command.pop()
        elif command:
            yield tuple(command)
            command = []
    if command:
        yield tuple(command)
