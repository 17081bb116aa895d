"""What the packets of a cell predict: milliseconds per call, cause by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from wirelab.run.adaptive.record import Claim
from wirelab.statistics.cell import Cell
from wirelab.trial.record import Trial

Json = dict[str, Any]
Switch = tuple[str, str]
"""An axis, and the value that a finding asks for."""


def captured(cell: Cell) -> list[Trial]:
    """Its trials whose packets show exchanges."""
    return [trial for trial in cell.measured if trial.wire.get("exchanges")]


def call_ns(trial: Trial) -> float | None:
    """Mean time of a call as packets can show it, nanoseconds: service time, and the opening
    of connections divided among the calls. None where it was not recorded.

    Not the response time: waiting for a free connection lies in that, so that a millisecond
    less in every exchange can take several from it."""
    times = trial.result.get("times", {})
    service, connect = times.get("service") or {}, times.get("connect") or {}
    if not service.get("count"):
        return None
    opening = connect["mean_ns"] * connect["count"] if connect.get("count") else 0.0
    return float(service["mean_ns"]) + opening / float(service["count"])


def occurrences_per_call(trial: Trial, cause: str) -> float:
    """Occurrences over exchanges, everything captured."""
    finding = _finding(trial, cause)
    return finding["occurrences"] / trial.wire["exchanges"] if finding else 0.0


def ms_per_call(trial: Trial, cause: str) -> float:
    """Milliseconds charged to the cause over exchanges, everything captured."""
    finding = _finding(trial, cause)
    return finding["ms_total"] / trial.wire["exchanges"] if finding else 0.0


def claims(cell: Cell) -> list[Claim]:
    """One claim per cause that any trial of the cell shows, the costliest first."""
    trials = captured(cell)
    causes = dict.fromkeys(f["cause"] for trial in trials for f in trial.wire["findings"])
    found = [_claim(trials, cause) for cause in causes]
    return sorted(found, key=lambda claim: -claim.ms_per_call)


def switch(cell: Cell, cause: str) -> Switch | None:
    """What the cell's findings of that cause blame, the most of them where they differ."""
    blamed: Counter[Switch] = Counter()
    for trial in captured(cell):
        test = (_finding(trial, cause) or {}).get("test")
        if test:
            blamed[str(test["axis"]), str(test["value"])] += 1
    return blamed.most_common(1)[0][0] if blamed else None


def _claim(trials: Sequence[Trial], cause: str) -> Claim:
    ms = _mean([ms_per_call(trial, cause) for trial in trials])
    times = [time for trial in trials if (time := call_ns(trial)) is not None]
    return Claim(
        cause=cause,
        ms_per_call=ms,
        occurrences_per_call=_mean([occurrences_per_call(trial, cause) for trial in trials]),
        share=ms * 1e6 / _mean(times) if times else 0.0,
        trials=len(trials),
    )


def _finding(trial: Trial, cause: str) -> Json | None:
    return next((f for f in trial.wire.get("findings", ()) if f["cause"] == cause), None)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
