"""Published findings, put to the test on measured trials.

A finding is data: a product of cells' figures, each to the power 1 or -1, and
what is claimed of it, at every one of its levels. Absolute figures of another
machine are never "reproduced"; ratios, orders and shapes are what is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from wirelab import contrast, figures
from wirelab.axes import ENGINE
from wirelab.expectations import Expectation, Outcome
from wirelab.levels import Level, level_words
from wirelab.report.quantity import quantity
from wirelab.statistics import Cell, Figure, Interval, StatisticsError
from wirelab.statistics.figure import Unit
from wirelab.trial import Trial
from wirelab.wanted import Wanted


@dataclass(frozen=True)
class Finding:
    """One claim in one sentence, with its source."""

    id: str
    claim: str
    source: str
    """Table or section of the study."""
    figure: str
    over: tuple[Wanted, ...]
    """Cells in the numerator."""
    under: tuple[Wanted, ...]
    """Cells in the denominator; empty: the claim is about a figure, not about a ratio."""
    levels: tuple[Level, ...]
    """The claim must hold at every one of them."""
    expect: Expectation
    growth: tuple[Level, Level] | None = None
    """Every cell stands for its figure at the second level over that at the first."""

    @property
    def unit(self) -> Unit:
        """That of the figure, where the claim is about one and not about a ratio."""
        alone = len(self.over) == 1 and not self.under and self.growth is None
        return figures.named(self.figure).unit if alone else ""


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

    @property
    def where(self) -> str:
        """``150 kB, 10 users``."""
        return level_words(self.level)


@dataclass(frozen=True)
class Judgement:
    """What the lab says of a finding."""

    finding: Finding
    outcome: Outcome
    reason: str
    parts: tuple[Part, ...]

    def to_json(self) -> dict[str, Any]:
        """For exports."""
        return {
            "id": self.finding.id,
            "claim": self.finding.claim,
            "source": self.finding.source,
            "expected": self.finding.expect.words(self.finding.unit),
            "outcome": self.outcome,
            "reason": self.reason,
            "parts": [_part(part) for part in self.parts],
        }


def evaluate(trials: Iterable[Trial], finding: Finding) -> Judgement:
    """Judges a finding. It stands when it stands at every level, at 95 % each (an
    intersection of tests, Berger 1982, Technometrics 24(4)); it does not stand when one
    level denies it at ``1 - 0.05 / levels`` (Bonferroni); otherwise it cannot be told."""
    listed = list(trials)
    return gather(finding, tuple(at(listed, finding, level) for level in finding.levels))


def gather(finding: Finding, parts: tuple[Part, ...]) -> Judgement:
    """The judgement from its parts."""
    denied = [part for part in parts if part.outcome == "does not stand"]
    open_parts = [part for part in parts if part.outcome == "cannot be told"]
    if denied:
        return Judgement(finding, "does not stand", _named(denied, len(parts)), parts)
    if open_parts:
        return Judgement(finding, "cannot be told", _named(open_parts, len(parts)), parts)
    return Judgement(finding, "stands", _named(parts, len(parts)), parts)


Powered = tuple[float, Wanted, Cell]


def at(trials: Sequence[Trial], finding: Finding, level: Level) -> Part:
    """The claim at one level."""
    figure = figures.named(finding.figure)
    cells = [(power, wanted, wanted.find(trials)) for power, wanted in _terms(finding, level)]
    missing = [str(wanted) for _, wanted, cell in cells if not (cell and cell.values(figure))]
    if missing:
        return Part(level, None, "cannot be told", f"not measured: {'; '.join(missing)}")
    powered: list[Powered] = [(p, w, c) for p, w, c in cells if c is not None]
    try:
        usual = _interval(powered, figure, contrast.CONFIDENCE)
        strict = _interval(powered, figure, 1 - (1 - contrast.CONFIDENCE) / len(finding.levels))
    except StatisticsError as error:
        return Part(level, None, "cannot be told", str(error))
    outcome = finding.expect.judge(usual)
    if outcome == "does not stand" and finding.expect.judge(strict) != "does not stand":
        among = f"not surely so among {len(finding.levels)} levels"
        reason = f"{_beside_claim(usual, finding)}: outside, but {among}"
        return Part(level, usual, "cannot be told", reason)
    return Part(level, usual, outcome, _reason(finding, usual, outcome, powered, figure))


def _terms(finding: Finding, level: Level) -> list[tuple[float, Wanted]]:
    terms = [(1.0, cell) for cell in finding.over] + [(-1.0, cell) for cell in finding.under]
    terms = [(power, cell.changed(level)) for power, cell in terms]
    if finding.growth is None:
        return terms
    first, last = finding.growth
    return [
        end
        for power, cell in terms
        for end in ((power, cell.changed(last)), (-power, cell.changed(first)))
    ]


def _interval(powered: Sequence[Powered], figure: Figure, confidence: float) -> Interval:
    terms = [(power, str(wanted), cell.values(figure)) for power, wanted, cell in powered]
    return opened(contrast.product(contrast.gathered(terms), confidence), powered, figure)


def opened(interval: Interval, powered: Sequence[Powered], figure: Figure) -> Interval:
    """A client that was the limit makes a rate a lower bound and a time an upper bound of
    what the service can do, so the interval has no end on that side."""
    if interval.bounds is None:
        return interval
    low, high = interval.bounds
    for power, _, cell in powered:
        if not _only_a_bound(figure, cell, powered):
            continue
        if (power > 0) == (figure.better == "higher"):
            high = inf
        else:
            low = 0.0
    return replace(interval, low=low, high=high)


def _only_a_bound(figure: Figure, cell: Cell, powered: Sequence[Powered]) -> bool:
    """Where callers are compared, a foreign tool's figure is what the tool attained, and
    whether the tool was the limit is the question: then it bounds nothing else."""
    callers = {other.point.axes.get("caller", ENGINE) for _, _, other in powered}
    if len(callers) > 1 and cell.point.axes.get("caller", ENGINE) != ENGINE:
        return False
    return figures.only_a_bound(figure, cell)


def _reason(
    finding: Finding,
    interval: Interval,
    outcome: Outcome,
    powered: Sequence[Powered],
    figure: Figure,
) -> str:
    said = _beside_claim(interval, finding)
    bound = [str(wanted) for _, wanted, cell in powered if _only_a_bound(figure, cell, powered)]
    if bound:
        said += f"; the client was the limit in {'; '.join(bound)}, so this is a bound"
    if outcome == "cannot be told" and interval.bounds is None:
        said += f"; {interval.reason}"
    return said


def _beside_claim(interval: Interval, finding: Finding) -> str:
    said = range_words(interval, finding.unit)
    return f"{said}, claimed {finding.expect.words(finding.unit)}"


def range_words(interval: Interval, unit: Unit = "") -> str:
    """``1.52 (1.44 to 1.61)``; of a figure: ``44.1 ms (44.0 ms to 44.1 ms)``."""
    if interval.bounds is None:
        return f"{quantity(interval.estimate, unit)} without an interval"
    low, high = interval.bounds
    most = "any" if high == inf else quantity(high, unit)
    return f"{quantity(interval.estimate, unit)} ({quantity(low, unit)} to {most})"


def _named(parts: Sequence[Part], count: int) -> str:
    if count == 1:
        return parts[0].reason
    if len(parts) == count:
        return "at every level: " + "; ".join(f"{part.where}: {part.reason}" for part in parts)
    listed = "; ".join(f"{part.where}: {part.reason}" for part in parts)
    return f"at {len(parts)} of {count} levels: {listed}"


def _part(part: Part) -> dict[str, Any]:
    low, high = (part.interval.bounds if part.interval else None) or (None, None)
    return {
        "level": dict(part.level),
        "estimate": part.interval.estimate if part.interval else None,
        "low": low,
        "high": None if high == inf else high,
        "outcome": part.outcome,
        "reason": part.reason,
        "steps": [_part(step) for step in part.steps],
    }
