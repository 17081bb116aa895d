"""Third-party load tools, run unmodified as processes: as callers, or wrapped under capture.

A tool's figures are its own. wirelab starts it, pins it to the cores of the engine, measures its
cost with the kernel, and reads its report. Values that a tool does not report are absent from the
result.

- :mod:`wirelab.loadtools.tool` finds or installs a tool and identifies it;
- :mod:`wirelab.loadtools.tool_run` runs it once and measures its cost;
- :mod:`wirelab.loadtools.driving` makes one the caller of a trial, ``ghz`` and ``jmeter`` from
  their lists of calls, the HTTP tools (:mod:`wirelab.loadtools.http_tools`) from their summaries;
- one module per tool (``ab``, ``ghz``, ``h2load``, ``jmeter_report``, ``k6``, ``wrk``) reads its
  options and its report, and :mod:`wirelab.loadtools.adapters` recognises it in a command line.
"""

from __future__ import annotations

from wirelab.loadtools.driving import drive
from wirelab.loadtools.ghz import ToolRequest
from wirelab.loadtools.tool import Tool, Tools

__all__ = ["Tool", "ToolRequest", "Tools", "drive"]
