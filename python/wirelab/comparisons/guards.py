"""Guards of a comparison: what must not become clearly worse while its figure is judged.

A gate on a median passes a service whose tail is five times as long, and one on times a service
whose calls fail. The chance of a false *worse* is shared: the figure has four fifths of it, the
guards divide the rest among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from wirelab.explain.effect import choose_wording, effect, noun
from wirelab.format.counting import of_all
from wirelab.format.units import format_seconds
from wirelab.records.trial import Trial
from wirelab.statistics.calls_needed import calls_needed, window_for
from wirelab.statistics.comparison import ALPHA
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval
from wirelab.statistics.sequential import judge

ERRORS = "errors"
"""The guard of failed calls; the others are figures."""
GUARDED = ("response_p99", ERRORS)
"""Guards unless others are named."""
SHARE = 0.2
"""Of the chance of a false *worse*: that of all guards together."""
MARGIN = 0.5
"""A guarded figure may be worse by this share: what users notice of a tail. A finer one would need
many more pairs than the question."""
ERRORS_MARGIN = 0.01
"""Share of all calls by which more may fail, as far as is known."""
LACKING_MAX = 3
"""Pairs without the figure from which on nobody waits for it."""

Outcome = Literal["holds", "worse", "undecided", "lacking"]


@dataclass(frozen=True)
class Calls:
    """Calls of all measured trials of a service."""

    made: int = 0
    failed: int = 0

    def share(self, confidence: float = 0.95) -> Interval:
        """Share of failed calls with its interval; without calls it is unknown."""
        if not self.made:
            return Interval(0.0, 0.0, 1.0, 0, "none", "no calls")
        return binomial_interval(self.failed, self.made, confidence)


@dataclass(frozen=True)
class Guard:
    """One guard after the pairs so far."""

    name: str
    """:data:`ERRORS`, or that of a figure."""
    outcome: Outcome
    reason: str
    """What is known of it, in words."""
    ratio: Interval | None = None
    """Of b over a."""

    @property
    def settled(self) -> bool:
        """Whether further pairs change nothing."""
        return self.outcome != "undecided"

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return asdict(self)


def confidence_of_figure(guards: Sequence[str]) -> float:
    """That of the compared figure's interval."""
    return 1.0 - ALPHA * (1.0 - SHARE if guards else 1.0)


def confidence_of_guard(guards: Sequence[str]) -> float:
    """That of each guard's interval."""
    return 1.0 - ALPHA * SHARE / len(guards)


def fails_more(calls: tuple[Calls, Calls], confidence: float, looks: int) -> bool:
    """True if calls of b fail more often than those of a: their intervals do not overlap. The n-th
    look has ``1 / (n (n + 1))`` of the error, which is 1 over all looks."""
    level = 1.0 - (1.0 - confidence) / (looks * (looks + 1)) if looks else confidence
    a, b = (one.share(level).bounds or (0.0, 1.0) for one in calls)
    return b[0] > a[1]


def errors_guard(calls: tuple[Calls, Calls], confidence: float, looks: int) -> Guard:
    """Whether b may fail :data:`ERRORS_MARGIN` more often than a."""
    a, b = (of_all(one.failed, one.made, "call") for one in calls)
    words = f"{b} failed, compared with {a}"
    if fails_more(calls, confidence, looks):
        return Guard(ERRORS, "worse", words)
    most = calls[1].share(confidence).high
    limit = calls[0].share(confidence).estimate + ERRORS_MARGIN
    if most is not None and most <= limit:
        return Guard(ERRORS, "holds", words)
    return Guard(ERRORS, "undecided", f"failed calls, {words}, too few to know")


def figure_guard(
    figure: Figure, pairs: Sequence[tuple[Trial, Trial]], threshold: float, confidence: float
) -> Guard:
    """Whether b is worse than a in a figure, beyond the greater of :data:`MARGIN` and
    ``threshold``."""
    values = [(figure.of(a), figure.of(b)) for a, b in pairs]
    known = [(a, b) for a, b in values if a and b]
    lacking = len(values) - len(known)
    if lacking >= LACKING_MAX or (lacking and not known):
        return Guard(figure.name, "lacking", _describe_missing_calls(figure, pairs))
    if not known:
        return Guard(figure.name, "undecided", f"{noun(figure)} of no pair is known")
    margin = max(MARGIN, threshold)
    a_values, b_values = zip(*known, strict=True)
    decision = judge(a_values, b_values, margin, confidence)
    words = f"{noun(figure)} {effect(decision.ratio, choose_wording(figure))}"
    if decision.outcome in ("higher", "lower"):
        is_better = decision.outcome == figure.better
        return Guard(figure.name, "holds" if is_better else "worse", words, decision.ratio)
    if decision.outcome == "equivalent" or _is_no_worse(decision.ratio, figure, margin):
        return Guard(figure.name, "holds", words, decision.ratio)
    return Guard(figure.name, "undecided", f"{words} is not decided", decision.ratio)


def _is_no_worse(ratio: Interval, figure: Figure, margin: float) -> bool:
    if ratio.bounds is None:
        return False
    low, high = ratio.bounds
    return high <= 1.0 + margin if figure.better == "lower" else low >= 1.0 / (1.0 + margin)


def _describe_missing_calls(figure: Figure, pairs: Sequence[tuple[Trial, Trial]]) -> str:
    """``p99 response time: 958 of 1,000 calls in a trial; `--duration 2.4s` ``."""
    which = figure.name.removeprefix("response_").removesuffix("_good")
    needed = calls_needed(which)
    fewest = min((t for pair in pairs for t in pair), key=lambda t: t.result.calls)
    calls = fewest.result.calls
    if needed is None or calls >= needed or not calls:
        return f"{noun(figure)} is not known of all trials"
    seconds = window_for(calls, fewest.result.window_s, needed)
    duration = format_seconds(seconds).replace(" ", "")
    return (
        f"{noun(figure)}: {calls:,} of {needed:,} calls in a trial; `--duration {duration}` or more"
    )
