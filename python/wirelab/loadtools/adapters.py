"""The load tools whose options and reports are supported: one module each, or one file each in
``wirelab/data/tools`` (:mod:`wirelab.loadtools.described`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from wirelab.loadtools import shell
from wirelab.loadtools.ab import ApacheBench
from wirelab.loadtools.described import DescribedTool, load_tools
from wirelab.loadtools.ghz import Ghz
from wirelab.loadtools.h2load import H2load
from wirelab.loadtools.jmeter_report import JMeter
from wirelab.loadtools.k6 import K6
from wirelab.loadtools.parsing import EXPANDED
from wirelab.loadtools.tool_report import ALL_CHECKS, ToolAdapter, ToolOptions, ToolReport, Unread
from wirelab.loadtools.wrk import Wrk

KNOWN: tuple[ToolAdapter, ...] = (
    *(ApacheBench(), Wrk(), H2load(), Ghz(), K6(), JMeter()),
    *load_tools(),
)

STARTERS = frozenset(
    {
        *(*shell.SHELLS, "env", "exec", "ionice", "ip", "nice", "numactl", "prlimit"),
        *("setsid", "stdbuf", "strace", "sudo", "taskset", "time", "timeout", "unshare", "xargs"),
    }
)
"""Programs that start another program, whose name is among their arguments."""
KEYWORDS = frozenset({"do", "then", "else", "!", "{", "if", "while", "until"})
"""Words of a shell before a command."""


@dataclass(frozen=True)
class Reading:
    """How a command is understood, and what its tool printed."""

    name: str | None
    """The tool; None if it is not known, or not the only one."""
    options: ToolOptions | None = None
    report: ToolReport | None = None
    reason: str | None = None
    """Why figures are not compared, if the tool is known."""


def read(command: Sequence[str], output: str) -> Reading:
    """The load that a command requests, and the figures in its output. ``output`` is empty if it is
    not complete."""
    found = _find(command)
    names = sorted({reader.name for reader, _ in found.tools})
    if len(names) > 1:
        return Reading(None, reason=f"COMMAND runs several tools ({', '.join(names)})")
    if not found.tools:
        return Reading(None)
    if len(found.tools) > 1 or found.is_repeating:
        return Reading(names[0], reason=f"COMMAND may run {names[0]} more than once")
    reader, words = found.tools[0]
    options = reader.read_options(words, _as_text(output))
    expanded = [word for word in words if word.startswith(EXPANDED) and "://" not in word]
    of_shell = tuple(Unread(word, ALL_CHECKS) for word in expanded if found.is_shell)
    known = {part.text.rpartition(" ")[2] for part in options.unread}
    new = tuple(part for part in of_shell if part.text not in known and not _is_target(part.text))
    report = reader.read_report(_as_text(output)) if output else None
    if report is not None and isinstance(reader, JMeter):
        report = reader.read_files(words, report)
    return Reading(
        reader.name, _remove_unread(replace(options, unread=(*options.unread, *new))), report
    )


_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""A control sequence of a terminal (ECMA-48)."""


def _as_text(output: str) -> str:
    """What a tool printed on a terminal, as it prints it to a file."""
    return _ESCAPE.sub("", output).replace("\r\n", "\n")


def _remove_unread(options: ToolOptions) -> ToolOptions:
    """Without values of which a part is not understood."""
    left_out = {check for part in options.unread for check in part.checks}
    return replace(
        options,
        connections=None if "connections" in left_out else options.connections,
        reuse=None if "connections" in left_out else options.reuse,
        in_flight=None if "in flight" in left_out else options.in_flight,
        users=None if "concurrency" in left_out else options.users,
        rate=None if "arrivals" in left_out else options.rate,
        requests=None if "requests" in left_out else options.requests,
    )


def _is_target(word: str) -> bool:
    """Whether a variable holds the target by its name."""
    name = word.strip("$`{}").lower()
    return any(part in name for part in ("url", "target", "host", "addr"))


@dataclass(frozen=True)
class _Found:
    tools: list[tuple[ToolAdapter, list[str]]]
    is_shell: bool = False
    is_repeating: bool = False


def recognise(command: Sequence[str]) -> tuple[ToolAdapter, list[str]] | None:
    """The only tool that a command runs, directly or through ``sh -c``, ``env``, ``timeout`` or
    similar, and the arguments after it; None if it is not known, or not the only one."""
    found = _find(command)
    return found.tools[0] if len(found.tools) == 1 else None


def _find(command: Sequence[str]) -> _Found:
    script = shell.find_script(command) if PurePath(command[0]).name in STARTERS else None
    if script is None:
        tool = _first(command)
        return _Found([tool] if tool else [], is_repeating="xargs" in command[:1])
    parts = shell.split(script)
    if parts is None:
        return _Found([])
    tools = [tool for part in parts.commands if (tool := _first(part)) is not None]
    return _Found(tools, is_shell=True, is_repeating=parts.is_repeating)


def _first(words: Sequence[str]) -> tuple[ToolAdapter, list[str]] | None:
    """The tool that a command without operators runs, and the words after it."""
    for place, word in enumerate(words):
        name = PurePath(word).name
        for reader in KNOWN:
            if name == reader.name:
                rest = list(words[place + 1 :])
                ignored = reader.ignored if isinstance(reader, DescribedTool) else ()
                return None if rest[:1] and rest[0] in ignored else (reader, rest)
        is_starting = name in STARTERS or name in KEYWORDS or "=" in word or word.startswith("-")
        is_argument = place > 0 and PurePath(words[place - 1]).name not in KEYWORDS
        if not is_starting and not (is_argument and PurePath(words[0]).name in STARTERS):
            return None
    return None
