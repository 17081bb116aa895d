"""Published findings, tested on measured trials.

A finding is data: a product of cells' figures, each to the power 1 or -1, and
what is claimed of it, at every one of its levels. Absolute figures of another
machine are never "reproduced"; ratios, orders and shapes are what is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Literal

from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector, Level, level_words
from wirelab.format.counting import of_all
from wirelab.format.numbers import format_range, quantity
from wirelab.format.units import Unit
from wirelab.records.trial import Trial
from wirelab.stack.axes import ENGINE
from wirelab.statistics import linear_contrasts, shared_trials
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.statistics.repeats import Room, further_repeats, suggest_repeats
from wirelab.study.evidence import Evidence

NOT_MEASURED = "not measured"
"""How the reason of a claim begins whose cells are missing."""


@dataclass(frozen=True)
class Finding:
    """One claim in one sentence, with its source."""

    id: str
    claim: str
    source: str
    """Table or section of the study."""
    figure: str
    over: tuple[CellSelector, ...]
    """Cells in the numerator."""
    under: tuple[CellSelector, ...]
    """Cells in the denominator; empty: the claim is about a figure, not about a ratio."""
    levels: tuple[Level, ...]
    """The claim must hold at every one of them, or at one where ``is_somewhere``."""
    expect: Expectation
    is_difference: bool = False
    """The claim is about the sum of the numerator's figures less the sum of the denominator's."""
    order: tuple[str, ...] = ()
    """Of what packets carry, in place of a figure: it must occur in this order."""
    growth: tuple[Level, Level] | None = None
    """Every cell stands for its figure at the second level over that at the first."""
    is_somewhere: bool = False
    """The claim is that at least one level is so: *up to 20 times as fast*."""

    @property
    def unit(self) -> Unit:
        """That of the figure, where the claim is about one and not about a ratio."""
        alone = len(self.over) == 1 and not self.under and self.growth is None
        return figures.require_figure(self.figure).unit if alone or self.is_difference else ""

    @property
    def expected(self) -> str:
        """What is claimed, in words."""
        if self.order:
            return f"in order: {', '.join(self.order)}"
        return self.expect.words(self.unit) + (" at some level" if self.is_somewhere else "")

    @property
    def deciding(self) -> Outcome:
        """The outcome that one level gives to the whole claim."""
        return "holds" if self.is_somewhere else "does not hold"


@dataclass(frozen=True)
class Part:
    """The claim at one of its levels."""

    level: Level
    interval: Interval | None
    """At 95 %, opened where the client was the limit; None where nothing was measured."""
    outcome: Outcome
    reason: str
    steps: tuple[Part, ...] = ()
    """Of a crossing: the ratio along its way."""
    decided_by: str = ""
    """What may decide an undecided one; in the reason, too."""

    @property
    def is_measured(self) -> bool:
        """False if a cell that it needs was not measured."""
        if self.steps:
            return all(step.is_measured for step in self.steps)
        return not self.reason.startswith(NOT_MEASURED)

    @property
    def where(self) -> str:
        """``150 kB, 10 users``."""
        return level_words(self.level)


@dataclass(frozen=True)
class Judgement:
    """A finding and its outcome."""

    finding: Finding
    outcome: Outcome
    reason: str
    parts: tuple[Part, ...]

    @property
    def is_measured(self) -> bool:
        """False if it is undecided for want of cells alone."""
        open_parts = [part for part in self.parts if part.outcome == "undecided"]
        return self.outcome != "undecided" or any(part.is_measured for part in open_parts)

    def to_json(self) -> dict[str, object]:
        """For exports."""
        return {
            "id": self.finding.id,
            "claim": self.finding.claim,
            "source": self.finding.source,
            "expected": self.finding.expected,
            "outcome": self.outcome,
            "measured": self.is_measured,
            "reason": self.reason,
            "parts": [_part(part) for part in self.parts],
        }


def evaluate(trials: Iterable[Trial], finding: Finding) -> Judgement:
    """Judges a finding. It holds when it holds at every level, at 95 % each (an
    intersection of tests, Berger 1982, Technometrics 24(4)); it does not hold when one
    level denies it at ``1 - 0.05 / levels`` (Bonferroni); otherwise it is undecided. Of a claim
    about some level the two are the other way round."""
    evidence = Evidence.of(trials)
    return gather(
        finding, tuple(evaluate_level(evidence, finding, level) for level in finding.levels)
    )


def gather(finding: Finding, parts: tuple[Part, ...]) -> Judgement:
    """The judgement from its parts."""
    for outcome in (finding.deciding, UNDECIDED):
        named = [part for part in parts if part.outcome == outcome]
        if named:
            return Judgement(finding, outcome, _join_reasons(named, len(parts)), parts)
    agreed: Outcome = "does not hold" if finding.is_somewhere else "holds"
    return Judgement(finding, agreed, _join_reasons(parts, len(parts)), parts)


Powered = tuple[float, CellSelector, Cell]


def evaluate_level(evidence: Evidence, finding: Finding, level: Level) -> Part:
    """The claim at one level."""
    if finding.order:
        return _judge_order(evidence, finding, level)
    figure = figures.require_figure(finding.figure)
    found = [(power, cell, evidence.find(cell)) for power, cell in _terms(finding, level)]
    missing = [str(selector) for _, selector, cell in found if not (cell and cell.values(figure))]
    if missing:
        return Part(level, None, "undecided", f"{NOT_MEASURED}: {'; '.join(missing)}")
    powered: list[Powered] = [(p, w, c) for p, w, c in found if c is not None]
    strict_level = 1 - (1 - linear_contrasts.CONFIDENCE) / len(finding.levels)
    try:
        usual = _interval(evidence, finding, powered, linear_contrasts.CONFIDENCE)
        strict = _interval(evidence, finding, powered, strict_level)
    except StatisticsError as error:
        return Part(level, None, "undecided", str(error))
    outcome = finding.expect.judge(usual)
    reason = _reason(finding, usual, powered, figure)
    confidence = linear_contrasts.CONFIDENCE
    if outcome == finding.deciding and finding.expect.judge(strict) != outcome:
        side = "inside" if finding.is_somewhere else "outside"
        outcome, confidence = UNDECIDED, strict_level
        reason += f": {side} at this level, but not at 95 % for all {len(finding.levels)} levels"
    if outcome != "undecided":
        return Part(level, usual, outcome, reason)
    more = _suggest_decision(evidence, finding, usual, powered, confidence)
    return Part(level, usual, outcome, f"{reason}; {more}", decided_by=more)


def cells(finding: Finding, level: Level) -> list[CellSelector]:
    """Every cell that the claim needs at one level."""
    return [selector for _, selector in _terms(finding, level)]


def _terms(finding: Finding, level: Level) -> list[tuple[float, CellSelector]]:
    terms = [(1.0, cell) for cell in finding.over] + [(-1.0, cell) for cell in finding.under]
    terms = [(power, cell.change(level)) for power, cell in terms]
    if finding.growth is None:
        return terms
    first, last = finding.growth
    return [
        end
        for power, cell in terms
        for end in ((power, cell.change(last)), (-power, cell.change(first)))
    ]


def _judge_order(evidence: Evidence, finding: Finding, level: Level) -> Part:
    """Holds where every trial shows the order, does not hold where none does."""
    found = [evidence.find(selector.change(level)) for selector in finding.over]
    measured = [trial for cell in found if cell is not None for trial in cell.measured]
    orders = [trial.wire.order for trial in measured if trial.wire and trial.wire.order]
    if None in found or not orders:
        missing = "; ".join(str(selector.change(level)) for selector in finding.over)
        return Part(level, None, "undecided", f"{NOT_MEASURED}: {missing}")
    shown = sum(_has_in_order(order, finding.order) for order in orders)
    outcome: Outcome = (
        "holds" if shown == len(orders) else "undecided" if shown else "does not hold"
    )
    return Part(level, None, outcome, f"in {of_all(shown, len(orders), 'trial')}")


def _has_in_order(packets: Sequence[str], expected: Sequence[str]) -> bool:
    """True where all that is expected is there in its order, whatever is between."""
    remaining = iter(packets)
    return all(packet in remaining for packet in expected)


def _interval(
    evidence: Evidence, finding: Finding, powered: Sequence[Powered], confidence: float
) -> Interval:
    figure, weighted = figures.require_figure(finding.figure), _weigh(powered)
    if finding.is_difference:
        whole = shared_trials.total(weighted, figure, confidence)
        return open_limits(whole, powered, figure, least=-inf)
    return open_limits(evidence.product(weighted, figure, confidence), powered, figure)


def _weigh(powered: Sequence[Powered]) -> list[shared_trials.Weighted]:
    return [(power, cell) for power, _, cell in powered]


def open_limits(
    interval: Interval, powered: Sequence[Powered], figure: Figure, least: float = 0.0
) -> Interval:
    """A client that was the limit makes a rate a lower bound and a time an upper bound of
    what the service can do, so the interval has no end on that side: it begins at ``least``
    there."""
    if interval.bounds is None:
        return interval
    low, high = interval.bounds
    for power, _, cell in powered:
        if not _only_a_bound(figure, cell, powered):
            continue
        if (power > 0) == (figure.better == "higher"):
            high = inf
        else:
            low = least
    return replace(interval, low=low, high=high)


def _only_a_bound(figure: Figure, cell: Cell, powered: Sequence[Powered]) -> bool:
    """Where callers are compared, a foreign tool's figure is what the tool attained, and
    whether the tool was the limit is the question: then it bounds nothing else."""
    callers = {other.point.axes.caller for _, _, other in powered}
    if len(callers) > 1 and cell.point.axes.caller != ENGINE:
        return False
    return figures.only_a_bound(figure, cell)


def _reason(
    finding: Finding, interval: Interval, powered: Sequence[Powered], figure: Figure
) -> str:
    reason = _with_claim(interval, finding)
    bound = [str(selector) for _, selector, cell in powered if _only_a_bound(figure, cell, powered)]
    if bound:
        reason += f"; the client was the limit in {'; '.join(bound)}, so this is a bound"
    return reason


def _suggest_decision(
    evidence: Evidence,
    finding: Finding,
    interval: Interval,
    powered: Sequence[Powered],
    confidence: float,
) -> str:
    """What may decide the claim at one level."""
    if interval.bounds is None:
        return f"{interval.reason}: more repeats give an interval"
    if finding.is_difference:
        return "more repeats may decide"
    figure, weighted = figures.require_figure(finding.figure), _weigh(powered)
    whole = evidence.product(weighted, figure, confidence)
    if finding.expect.judge(whole) != "undecided":
        return "a client with more cores, or fewer users, may decide"
    spread = evidence.log_spread(weighted, figure)
    if spread is None:
        return "more repeats may decide"
    further = further_repeats(spread, finding.expect.room(interval.estimate), confidence)
    return suggest_repeats(further, "limit of the claim")


def _with_claim(interval: Interval, finding: Finding) -> str:
    return f"{format_range(interval, finding.unit)}, claimed {finding.expect.words(finding.unit)}"


def _join_reasons(parts: Sequence[Part], count: int) -> str:
    if count == 1:
        return parts[0].reason
    if len(parts) == count:
        return "at every level: " + "; ".join(f"{part.where}: {part.reason}" for part in parts)
    listed = "; ".join(f"{part.where}: {part.reason}" for part in parts)
    return f"at {len(parts)} of {count} levels: {listed}"


def _part(part: Part) -> dict[str, object]:
    low, high = (part.interval.bounds if part.interval else None) or (None, None)
    return {
        "level": dict(part.level),
        "estimate": part.interval.estimate if part.interval else None,
        "low": low,
        "high": None if high == inf else high,
        "outcome": part.outcome,
        "reason": part.reason,
        "decided_by": part.decided_by,
        "steps": [_part(step) for step in part.steps],
    }


Outcome = Literal["holds", "does not hold", "undecided"]
UNDECIDED: Outcome = "undecided"


@dataclass(frozen=True)
class Expectation:
    """Exactly one of the three is given."""

    above: float | None = None
    below: float | None = None
    within: tuple[float, float] | None = None
    margin: float = 0.0
    """A difference of no interest, as ratio minus 1: ``above 1`` begins at ``1 + margin``."""

    def region(self) -> tuple[float, float]:
        """The allowed region."""
        if self.above is not None:
            return self.above * (1.0 + self.margin), inf
        if self.below is not None:
            return 0.0, self.below / (1.0 + self.margin)
        if self.within is not None:
            return self.within
        raise ValueError("an expectation has one of above, below, within")

    def judge(self, interval: Interval) -> Outcome:
        """Where the interval lies."""
        if interval.bounds is None:
            return "undecided"
        (low, high), (least, most) = interval.bounds, self.region()
        if low >= least and high <= most:
            return "holds"
        return "does not hold" if high < least or low > most else "undecided"

    def room(self, estimate: float) -> Room:
        """How far, on the scale of logarithms, a positive estimate lies from the borders of
        the region, inside or outside of which it is."""
        least, most = self.region()
        below = log(estimate / least) if least > 0.0 else inf
        above = log(most / estimate) if most < inf else inf
        if below >= 0.0 and above >= 0.0:
            return Room(below, above)
        return Room(-min(below, above))

    def words(self, unit: Unit = "") -> str:
        """``above 1 by more than 5 %``; of a figure, its limits in its unit: ``within 35.0 ms
        to 50.0 ms``."""
        by = f" by more than {100 * self.margin:g} %" if self.margin else ""
        if self.above is not None:
            return f"above {_limit(self.above, unit)}{by}"
        if self.below is not None:
            return f"below {_limit(self.below, unit)}{by}"
        least, most = self.region()
        return f"within {_limit(least, unit)} to {_limit(most, unit)}"


def _limit(value: float, unit: Unit) -> str:
    return quantity(value, unit) if unit else f"{value:g}"
