"""Uses a third-party tool as the caller of a trial."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wirelab.documents.event import Progress
from wirelab.loadtools import ghz, http_tools, jmeter
from wirelab.loadtools.ghz import ToolRequest
from wirelab.loadtools.tool import Tool
from wirelab.process.interruption import Interruption
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult

_BY_NAME = {"ghz": ghz.drive, "jmeter": jmeter.drive}
"""Tools that write a list of their calls."""


def drive(
    tool: Tool,
    request: ToolRequest,
    folder: Path,
    *,
    interruption: Interruption,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_tick: Callable[[], None] = lambda: None,
) -> tuple[GroupResult, CallerRecord]:
    """The measurements, and the identity of the tool. Raises :class:`TrialFailed`,
    :class:`Interrupted`."""
    by = _BY_NAME.get(tool.name, http_tools.drive)
    return by(
        tool, request, folder, interruption=interruption, on_progress=on_progress, on_tick=on_tick
    )
