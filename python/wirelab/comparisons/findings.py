"""What the pairs of a comparison show of figures that it did not ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log, log1p

from wirelab.explain.effect import (
    article,
    choose_conjunction,
    choose_wording,
    effect,
    noun,
    priority,
    verb,
)
from wirelab.explain.figures import is_bounded
from wirelab.format.sanitize import sanitize
from wirelab.records.trial import Trial
from wirelab.statistics.comparison import ALPHA, holm
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    MEMORY,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.statistics.interval import Interval
from wirelab.statistics.sequential import judge, p_value
from wirelab.statistics.verdict import Verdict

DESCRIBED = (RATE, RESPONSE_P50, RESPONSE_P99, SERVICE_CPU, CLIENT_CPU, BYTES, MEMORY)
"""Figures in which a difference is worth a sentence."""


@dataclass(frozen=True)
class FigureFinding:
    """One figure that the comparison did not ask for."""

    figure: Figure
    verdict: Verdict
    """Withdrawn where Holm's method does not confirm a difference among these figures."""
    ratio: Interval
    """Of b over a, which holds at all looks together."""
    p_holm: float
    """Of no difference, at any moment; adjusted among these figures."""

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        ratio = asdict(self.ratio)
        return {
            "figure": self.figure.name,
            "verdict": self.verdict,
            "ratio": {name: ratio[name] for name in ("estimate", "low", "high")},
            "p_value_holm": self.p_holm,
        }

    @property
    def found(self) -> bool:
        """True for a difference."""
        return self.verdict in ("higher", "lower")

    def sentence(self, names: tuple[str, str]) -> str:
        """``grpc used 1.8 times as much service CPU per call (1.6 to 2.0) as rest.``"""
        first, second = map(sanitize, names)
        size = effect(self.ratio, choose_wording(self.figure), noun(self.figure))
        what = f"{article(self.figure)}{size}"
        return f"{second} {verb(self.figure)} {what} {choose_conjunction(self.ratio)} {first}."


def findings(
    pairs: Sequence[tuple[Trial, Trial]], asked: Figure, threshold: float
) -> tuple[FigureFinding, ...]:
    """Of every figure besides ``asked`` that pairs have and whose values are not mere bounds, the
    most useful difference first.

    The family of Holm's method are these figures. The p-values hold at any moment, so that a
    comparison which ends by its own figure loses nothing.
    """
    trials = [trial for pair in pairs for trial in pair]
    values = {
        figure: [(figure.of(a), figure.of(b)) for a, b in pairs]
        for figure in DESCRIBED
        if figure is not asked and not is_bounded(figure, trials)
    }
    rows = {figure: [(a, b) for a, b in row if a and b] for figure, row in values.items()}
    known = {figure: row for figure, row in rows.items() if row}
    p_values = [p_value([log(b / a) for a, b in row], log1p(threshold)) for row in known.values()]
    adjusted = holm(p_values)
    found = [
        _finding(figure, row, threshold, p)
        for (figure, row), p in zip(known.items(), adjusted, strict=True)
    ]
    return tuple(sorted(found, key=_usefulness))


def _finding(
    figure: Figure, row: Sequence[tuple[float, float]], threshold: float, p: float
) -> FigureFinding:
    decision = judge([a for a, _ in row], [b for _, b in row], threshold)
    confirmed = decision.outcome == "equivalent" or p < ALPHA
    return FigureFinding(figure, decision.outcome if confirmed else "undecided", decision.ratio, p)


def _usefulness(one: FigureFinding) -> tuple[bool, int, float]:
    return not one.found, priority(one.figure), -abs(log(one.ratio.estimate))
