"""Each call of a trial and its packets: whether calls are logged, and what is kept of it.

The engine logs every call of a trial that captures; ``wirelab-engine dissect --calls`` compares
the log with the packets (docs/reference/call-times.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.experiment.capture_ends import NO_CAPTURE
from wirelab.stack.axes import ENGINE

if TYPE_CHECKING:
    from wirelab.experiment.matrix import Cell
    from wirelab.experiment.model import Experiment

LOG = "calls.csv"
"""Name of the log in a trial's folder: about 120 B a call."""
CALLS_MAX = 2_000_000
"""Calls of a trial beyond which none is logged."""
RATE_MAX = 100_000.0
"""Calls per second that a closed load under capture makes at most, for want of a better
bound before it is run."""

CALLS_APART = 0.001
"""Share of the calls that one of two captures may lack, for both to speak of the same ones."""
STALLS_APART = 0.02
"""Of the mean response time: by more the stalls that two captures show must not differ, for
stalls are in no part, and a way that holds one would be reported too long."""

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
    # Models of experiments take 60 ms to import, and reading a capture needs none.
    from wirelab.experiment import loads

    rate = loads.rate_max(cell.load.point()) or RATE_MAX
    window = experiment.window_of(cell.message, cell.load)
    warming = rate * experiment.warmup_of(cell.load, cold=False).max
    if "calls" in window:
        return float(window["calls"]["calls"]) + warming
    return rate * float(window["duration_s"]) + warming


def log_of(capture: Path) -> Path | None:
    """The log next to a capture of a run, if there is one."""
    log = capture.parent / LOG
    return log if log.is_file() else None


def kept(documents: list[Json], log: CallLog) -> Json | None:
    """What a trial's record keeps, of the dissections of its captures, the client's first;
    None where nothing was captured. Of both ends, too, what each way and the server took."""
    if log.left_out:
        return {"left_out": log.left_out}
    found = [document.get("reconciliation") for document in documents]
    if not found or found[0] is None:
        return None
    other = found[1] if len(found) > 1 else None
    return dict(found[0]) if other is None else _with(found[0], other)


def joined(documents: list[Json]) -> list[Json]:
    """Dissections of a run's captures; where two are of one trial, what they tell together
    stands in that of the client's end."""
    servers = {
        file.parent: document
        for document in documents
        if (file := Path(document["file"])).stem.endswith("-server")
    }
    return [_joined(document, servers) for document in documents]


def _joined(document: Json, servers: dict[Path, Json]) -> Json:
    file = Path(document["file"])
    other = (servers.get(file.parent) or {}).get("reconciliation")
    if not file.stem.endswith("-client") or not document["reconciliation"] or not other:
        return document
    return {**document, "reconciliation": _with(document["reconciliation"], other)}


def _with(client: Json, server: Json) -> Json:
    """The reconciliation at the client's end, with what that at the server's end adds."""
    own = dict(client)
    own["at_server_us"] = mean_us(server.get("all"), "server")
    own["both_ends"] = _both_ends(client, server)
    return own


def _both_ends(client: Json, server: Json) -> Json | None:
    """The parts of which the server's part at the client's end consists: the way of the
    request's last packet, what the server took, the way of the reply's first; or why they
    cannot be distinguished. None where no call was laid beside its packets.

    Both captures are beside one log, and all stamps are of one clock, so that each way is the
    difference of two sums of means: when a packet passed the one end, and the other.
    """
    own, other = client.get("all"), server.get("all")
    if not own or not other:
        return None
    response = float(own["response"]["mean_us"])
    if abs(own["calls"] - other["calls"]) > CALLS_APART * own["calls"]:
        words = f"{own['calls']:,} at the client's end, {other['calls']:,} at the server's"
        return {"left_out": f"the two captures do not hold the same calls ({words})"}
    stalls = [mean_us(end, "stalls") or 0.0 for end in (own, other)]
    if abs(stalls[0] - stalls[1]) > STALLS_APART * response:
        words = f"{stalls[0]:,.0f} and {stalls[1]:,.0f} µs of a mean call"
        return {"left_out": f"the two captures show stalls of different length ({words})"}
    there, at_server, back = _ways(own, other)
    if min(there, back) < 0.0:
        return {"left_out": "by the stamps of the two captures packets came before they were sent"}
    taken = next(part for part in other["phases"] if part["phase"] == "server")
    means = (("request-way", there), ("reply-way", back))
    ways = [{"phase": phase, "mean_us": us, "share": us / response} for phase, us in means]
    return {"parts": [ways[0], {**taken, "share": at_server / response}, ways[1]]}


def _ways(own: Json, other: Json) -> tuple[float, float, float]:
    """From the client's end to the server's, there, and back: means, microseconds."""

    def request_us(end: Json) -> float:
        """From a call's first write until its request has passed."""
        return sum(mean_us(end, phase) or 0.0 for phase in ("client-write", "request-on-wire"))

    there = request_us(other) - request_us(own)
    at_client, at_server = (mean_us(end, "server") or 0.0 for end in (own, other))
    return there, at_server, at_client - at_server - there


def split(found: Json) -> Json | None:
    """All calls together; of captures at both ends with the ways told from the server."""
    whole, ends = found.get("all"), found.get("both_ends") or {}
    if not whole or "parts" not in ends:
        return whole
    phases: list[Json] = []
    for part in whole["phases"]:
        phases += ends["parts"] if part["phase"] == "server" else [part]
    return {**whole, "phases": phases}


def mean_us(operation: Json | None, phase: str) -> float | None:
    """The mean of a phase, microseconds; None where no call has it."""
    parts = (operation or {}).get("phases", ())
    return next((float(part["mean_us"]) for part in parts if part["phase"] == phase), None)
