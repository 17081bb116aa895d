"""Callers other than the engine: load tools of other people, run unmodified as processes.

A tool's figures are its own. The lab starts it, pins it where the engine would run, takes
what it cost from the kernel, reads its report, and says which of the engine's stamps and
checks it does not have. What a tool cannot tell is absent from the result.

- :mod:`wirelab.loadtools.tool` finds or installs a tool and says which one it is;
- :mod:`wirelab.loadtools.tool_run` runs it once and watches what it costs;
- :mod:`wirelab.loadtools.ghz` knows ghz: its options and its report.
"""

from __future__ import annotations

from wirelab.loadtools.ghz import ToolRequest, drive
from wirelab.loadtools.tool import Tool, Tools

__all__ = ["Tool", "ToolRequest", "Tools", "drive"]
