"""The load tools whose options and reports are supported, one module each.

To add one, write such a module and list it here.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from wirelab.loadtools.ab import ApacheBench
from wirelab.loadtools.ghz import Ghz
from wirelab.loadtools.h2load import H2load
from wirelab.loadtools.jmeter import JMeter
from wirelab.loadtools.k6 import K6
from wirelab.loadtools.tool_report import ToolAdapter
from wirelab.loadtools.wrk import Wrk

KNOWN: tuple[ToolAdapter, ...] = (ApacheBench(), Wrk(), H2load(), Ghz(), K6(), JMeter())

STARTERS = frozenset(
    {
        *("sh", "bash", "dash", "env", "exec", "ionice", "ip", "nice", "numactl", "prlimit"),
        *("setsid", "stdbuf", "strace", "sudo", "taskset", "time", "timeout", "unshare", "xargs"),
    }
)
"""Programs that start another program, whose name is among their arguments."""


def recognise(command: Sequence[str]) -> tuple[ToolAdapter, list[str]] | None:
    """The tool that a command runs, directly or through ``sh -c``, ``env``, ``timeout`` or similar,
    and the arguments after it; None if it is not a known tool."""
    if PurePath(command[0]).name not in STARTERS:
        return _first(command[:1], command[1:])
    return _first([part for word in command for part in _parts(word)], [])


def _first(words: Sequence[str], rest: Sequence[str]) -> tuple[ToolAdapter, list[str]] | None:
    """The first word that is a tool, and the words after it."""
    for place, word in enumerate(words):
        for reader in KNOWN:
            if PurePath(word).name == reader.name:
                return reader, [*words[place + 1 :], *rest]
    return None


def _parts(word: str) -> list[str]:
    """Splits a shell script into words; any other word is returned unchanged."""
    if not any(blank in word for blank in " \t\n"):
        return [word]
    try:
        parts = shlex.split(word)
    except ValueError:
        return [word]
    known = {reader.name for reader in KNOWN}
    return parts if any(PurePath(part).name in known for part in parts) else [word]
