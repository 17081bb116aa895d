"""How long slices must be: long enough that what happens at their ends does not show.

A call that is under way when a slice ends is counted in its times and not in its rate; as many
calls are under way when the measured part begins. Both ends are alike only if calls take less than
the part at the beginning that is not measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from statistics import median

from wirelab.documents.event import GroupOutcome, Outcome, SliceEdges
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.model import SLICE_S_MAX

SKIP_SHARE = 0.1
"""Part of a slice's measured length that comes before it and is not measured: caches hold the other
service, and calls under way do not yet end as often as others begin."""
DRAIN_S = 0.25
"""Seconds after a slice for calls under way. Longer calls would be measured together with the next
slice."""
CALLS_MIN = 20
"""Calls of a slice, at least."""
SLICES_MIN = 5
"""Slices of a service, at least."""
MARGIN = 1.5
"""By which slices are made longer than those that were too short should have been."""
STEP_S = 0.01


class SliceTooShort(Exception):
    """Calls take too long for slices of that length. Its text is the reason."""

    def __init__(self, reason: str, longer_s: float | None, is_chance: bool = False) -> None:
        super().__init__(reason)
        self.longer_s = longer_s
        """A length that is long enough; None: no length is."""
        self.is_chance = is_chance
        """Whether another trial of the same length may succeed: one call was too long."""


class SliceLengths:
    """The length for each setting, once trials have shown it; None: no length is right."""

    def __init__(self, first_s: float) -> None:
        self._first_s = first_s
        self._known: dict[str, float | None] = {}
        self._reasons: dict[str, str] = {}
        self._excused: set[str] = set()

    def of(self, planned: PlannedTrial) -> float | None:
        """The length to try for a trial, in seconds."""
        return self._known.get(_key(planned), self._first_s)

    def reason(self, planned: PlannedTrial) -> str:
        """Why the last length was too short."""
        return self._reasons[_key(planned)]

    def note(self, planned: PlannedTrial, short: SliceTooShort) -> None:
        """Takes a longer one from now on, or none; after the first chance, the same again."""
        key = _key(planned)
        self._reasons[key] = str(short)
        if short.is_chance and key not in self._excused:
            self._excused.add(key)
            return
        self._known[key] = short.longer_s


def _key(planned: PlannedTrial) -> str:
    return json.dumps([cell.point.to_json() for cell in planned.cells], sort_keys=True)


def check_length(planned: PlannedTrial, outcome: Outcome) -> None:
    """Raises :class:`SliceTooShort` if the slices of a trial were."""
    made = outcome.slices
    if made is None or made.overrun:
        limit = f"{DRAIN_S * 1000:g} ms"
        reason = f"calls were still under way {limit} after a slice had ended"
        raise SliceTooShort(reason, None, is_chance=True)
    of_groups = [
        [edges for edges in made.slices if edges.group == number]
        for number in range(len(outcome.groups))
    ]
    shortfalls = [
        shortfall
        for own, group in zip(of_groups, outcome.groups, strict=True)
        if own and (shortfall := find_shortfall(own, group.ended, _typical_call_s(group)))
    ]
    if shortfalls:
        needed_s, reason = max(shortfalls)
        raise SliceTooShort(reason, _lengthen(planned, outcome, needed_s))


def _typical_call_s(group: GroupOutcome) -> float:
    """Median of the times from the first byte sent to the reply, in seconds."""
    times = group.times.get("service")
    if times is None or not times.count:
        return 0.0
    return times.percentiles_ns.get("p50", times.mean_ns) / 1e9


def find_shortfall(
    own: Sequence[SliceEdges], calls: int, call_s: float = 0.0
) -> tuple[float, str] | None:
    """The length in seconds that the slices of one service need, and the reason; None if they have
    it. ``calls`` ended in them; a typical one took ``call_s``. Users who all wait for calls that
    take the same time move in step, so that slices may happen to end when nearly all have their
    replies: the drain alone does not show how long calls are."""
    length_s = (own[0].end_ns - own[0].start_ns) / 1e9
    drain_s = median(edges.drained_ns - edges.end_ns for edges in own) / 1e9
    each = calls / len(own)
    drain_ms = drain_s * 1000
    needs = [
        (drain_s / SKIP_SHARE, f"calls take {drain_ms:.3g} ms at the end of a slice"),
        (call_s / SKIP_SHARE, f"calls take {call_s * 1000:.3g} ms"),
        (length_s * CALLS_MIN / max(each, 1.0), f"a slice has {each:.3g} calls"),
    ]
    needed_s, reason = max(needs)
    return (needed_s, reason) if needed_s > length_s else None


def _lengthen(planned: PlannedTrial, outcome: Outcome, needed: float) -> float | None:
    """A length with a margin, if trials of that length have enough slices."""
    longer_s = ceil(MARGIN * needed / STEP_S) * STEP_S
    window_s = min(group.window_s for group in outcome.groups)
    pause_s = longer_s * (len(planned.cells) - 1)
    is_refused = any(cell.fitness.refusal_for(pause_s) for cell in planned.cells)
    is_allowed = longer_s <= min(SLICE_S_MAX, window_s / SLICES_MIN) and not is_refused
    return longer_s if is_allowed else None
