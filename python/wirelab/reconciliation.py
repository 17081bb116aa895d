"""Each call of a trial beside its packets: whether calls are logged, and what is kept of it.

The engine logs every call of a trial that captures; ``wirelab-engine dissect --calls`` lays
the log beside the packets (docs/reference/call-times.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirelab.axes import ENGINE
from wirelab.experiment import NO_CAPTURE, Experiment
from wirelab.planning import Cell

LOG = "calls.csv"
"""Name of the log in a trial's folder: about 120 B a call."""
CALLS_MAX = 2_000_000
"""Calls of a trial beyond which none is logged."""
RATE_MAX = 100_000.0
"""Calls per second that a closed load under capture makes at most, for want of a better
bound before it is run."""

Json = dict[str, Any]


@dataclass(frozen=True)
class CallLog:
    """The log of a trial's calls, or why there is none."""

    path: Path | None
    left_out: str = ""
    """Why calls are not logged though packets are captured; empty where they are."""


def call_log(experiment: Experiment, cell: Cell, folder: Path) -> CallLog:
    """Of a trial of ``cell`` in ``folder``."""
    if cell.capture == NO_CAPTURE:
        return CallLog(None)
    caller = cell.stack.axes["caller"]
    if caller != ENGINE:
        return CallLog(None, f"{caller} logs no calls")
    calls = _calls_max(experiment, cell)
    if calls > CALLS_MAX:
        return CallLog(
            None,
            f"the trial may make {calls:,.0f} calls, and at most {CALLS_MAX:,} are logged; "
            "a shorter window, or one of fewer calls, has a log",
        )
    return CallLog((folder / LOG).absolute())


def _calls_max(experiment: Experiment, cell: Cell) -> float:
    """How many calls the trial makes at most, warm-up included."""
    load = cell.load.point()
    rate = float(load.get("rate") or RATE_MAX)
    window = experiment.window.for_size(cell.message.bytes)
    warming = rate * experiment.warmup.max
    if "calls" in window:
        return float(window["calls"]["calls"]) + warming
    return rate * float(window["duration_s"]) + warming


def beside(capture: Path) -> Path | None:
    """The log beside a capture of a run, if there is one."""
    log = capture.parent / LOG
    return log if log.is_file() else None


def kept(documents: list[Json], log: CallLog) -> Json | None:
    """What a trial's record keeps, of the dissections of its captures, the client's first;
    None where nothing was captured. Of the server's end the mean time between request and
    reply is kept, which tells the network's part of it."""
    if log.left_out:
        return {"left_out": log.left_out}
    found = [document.get("reconciliation") for document in documents]
    if not found or found[0] is None:
        return None
    own = dict(found[0])
    if len(found) > 1 and found[1] is not None:
        own["at_server_us"] = mean_us(found[1].get("all"), "server")
    return own


def mean_us(operation: Json | None, phase: str) -> float | None:
    """The mean of a phase, microseconds; None where no call has it."""
    parts = (operation or {}).get("phases", ())
    return next((float(part["mean_us"]) for part in parts if part["phase"] == phase), None)
