"""One stack against another: a ratio, its interval, and what may be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import exp, inf, log, log1p

import numpy as np

from wirelab.format.counting import format_count
from wirelab.statistics import linear_contrasts, sequential
from wirelab.statistics.blocks import Blocks
from wirelab.statistics.distributions import student_t_tail
from wirelab.statistics.interval import (
    Interval,
    OutOfRange,
    TooFewValues,
    UnequalLengths,
    confidence_checked,
)
from wirelab.statistics.linear_contrasts import Term
from wirelab.statistics.repeats import Room, Spread, further_repeats, suggest_repeats
from wirelab.statistics.sample import Floats, finite, logarithms
from wirelab.statistics.slices import Levels, levels
from wirelab.statistics.verdict import THRESHOLD, Verdict, explain_undecided, verdict

ALPHA = 0.05
"""Chance of any false difference in a family."""
TRIALS_MIN = 3
"""Trials of a cell from which on an interval is of use; two have one, 12.7 standard errors wide."""


@dataclass(frozen=True)
class Comparison:
    """The ratio a / b of two figures, and the verdict on it."""

    ratio: Interval
    verdict: Verdict
    """That of :func:`wirelab.statistics.verdict.verdict`, withdrawn where Holm's method does not
    confirm a difference in its family."""
    reason: str
    """Why."""
    threshold: float
    """Declared: a difference counts only when the interval lies beyond ``1 + threshold``
    or below ``1 / (1 + threshold)``."""
    p_value: float | None
    """Two-sided p of "the ratio lies within the threshold"; None without an interval."""
    repeats_for_interval: int | None = None
    """Without an interval: how many more trials of each cell give one."""
    ranked: bool = True
    """False: the figures are bounds, so no number of trials decides."""
    level: float = ALPHA
    """The p below which its family confirms a difference."""
    levels: Levels | None = field(default=None, repr=False)
    """Of services that took turns in slices, where it is known how these varied."""
    p_holm: float | None = None
    """``p_value`` adjusted within the family; None outside of one."""
    spread: Spread | None = field(default=None, repr=False)
    """Of the logarithms; None without an interval, and of pairs that were looked at one by one."""
    further_pairs: int | None = None
    """Of such pairs: how many more may decide it."""

    @cached_property
    def further_repeats(self) -> int | None:
        """Of an undecided one: how many more trials of each cell may decide it
        (:func:`wirelab.statistics.repeats.further_repeats`); None where no sensible number does.

        Computed when it is read: it takes a hundred times as long as the comparison, and a run
        has as many comparisons as pairs of its cells."""
        if self.verdict != "undecided" or not self.ranked:
            return None
        if self.spread is None:
            return self.further_pairs if self.is_of_pairs else self.repeats_for_interval
        size, border = abs(log(self.ratio.estimate)), log1p(self.threshold)
        if size > border:
            return further_repeats(self.spread, Room(size - border), 1.0 - self.level)
        room = Room(border + size, border - size)
        return further_repeats(self.spread, room, 1.0 - ALPHA)

    @cached_property
    def further_s(self) -> float | None:
        """Of an undecided one of services that took turns: how many more seconds of each service
        in each trial may decide it; None if it is not known, or no number does."""
        if self.verdict != "undecided" or not self.ranked or self.levels is None:
            return None
        distance = abs(abs(log(self.ratio.estimate)) - log1p(self.threshold))
        return self.levels.further_s(distance, 1.0 - self.level)

    @property
    def decided_by(self) -> str:
        """Of an undecided one: what may decide it."""
        if self.verdict != "undecided" or not self.ranked:
            return ""
        if self.spread is not None or self.is_of_pairs:
            return f"{suggest_repeats(self.further_repeats)}{self._longer_text()}"
        if self.repeats_for_interval is None:
            return "more repeats"
        return f"{format_count(self.repeats_for_interval, 'more repeat')} would give one"

    def _longer_text(self) -> str:
        if self.levels is None:
            return ""
        if self.further_s is None:
            return "; longer trials would not: their processes differ"
        return f", or {max(self.further_s, 0.1):.2g} s more of each service in each trial"

    @property
    def explanation(self) -> str:
        """The reason, and what may decide an undecided one."""
        return "; ".join(filter(None, (self.reason, self.decided_by)))

    @property
    def is_of_pairs(self) -> bool:
        """True for pairs that were looked at one by one (:func:`of_pairs`)."""
        has_interval = self.ratio.bounds is not None and self.repeats_for_interval is None
        return self.spread is None and has_interval

    @property
    def found(self) -> bool:
        """True when a difference was found."""
        return self.verdict in ("higher", "lower")

    @property
    def withdrawn(self) -> bool:
        """True for a difference by its own interval that its family does not confirm."""
        return self.verdict == "undecided" and self.p_value is not None and self.p_value < ALPHA

    def invert(self) -> Comparison:
        """The same comparison from the other side: b / a."""
        turned: dict[Verdict, Verdict] = {"higher": "lower", "lower": "higher"}
        low, high = self.ratio.bounds or (None, None)
        return replace(
            self,
            ratio=replace(
                self.ratio,
                estimate=1.0 / self.ratio.estimate,
                low=None if high is None else _reciprocal(high),
                high=None if low is None else _reciprocal(low),
            ),
            verdict=turned.get(self.verdict, self.verdict),
        )

    def leave_undecided(self, why: str, level: float = ALPHA) -> Comparison:
        """The same comparison as an undecided one. ``level`` is the p below which its family
        would confirm a difference."""
        return replace(self, verdict="undecided", reason=why, level=level)

    def not_ranked(self, why: str) -> Comparison:
        """The same comparison as one of mere bounds."""
        return replace(self, verdict="undecided", reason=why, ranked=False)

    def to_json(self) -> dict[str, object]:
        """For exports."""
        return {
            "ratio": asdict(self.ratio),
            "verdict": self.verdict,
            "reason": self.explanation,
            "threshold": self.threshold,
            "p_value": self.p_value,
            "p_value_holm": self.p_holm,
            "further_repeats": self.further_repeats,
            "further_s": self.further_s,
        }


def ratio(
    a_values: Sequence[float] | Floats,
    b_values: Sequence[float] | Floats,
    threshold: float = THRESHOLD,
    *,
    paired: bool = False,
    confidence: float = 0.95,
) -> Comparison:
    """Ratio of the geometric means of two sets of trials, ``a / b``.

    Welch's t on logarithms: ``d = mean(ln a) - mean(ln b)``, standard error
    ``sqrt(s_a^2/n_a + s_b^2/n_b)``, degrees of freedom by Welch 1947 (Biometrika 34,
    equation 28) and Satterthwaite 1946 (Biometrics Bulletin 2(6), equation 17);
    the limits are those of d, exponentiated. ``paired``: the i-th values come from
    one block, and Student's t is taken of the differences ``ln a_i - ln b_i``.

    The verdict is a difference only when the interval excludes 1 by more than
    ``threshold`` (0.05 means 5 %), which is the minimum-effect test of Murphy & Myors
    1999 (Journal of Applied Psychology 84(2)) with the bounds of :attr:`Comparison.threshold`.
    It is "equivalent" when the interval lies within these bounds: two one-sided tests at half
    of ``1 - confidence`` each (Schuirmann 1987, Journal of Pharmacokinetics and
    Biopharmaceutics 15(6)).

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`,
    :class:`UnequalLengths` (paired), :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    if not 0.0 <= threshold < inf:
        raise OutOfRange(f"threshold: {threshold:g} is not zero or more; 0.05 means 5 %")
    a_logs, b_logs = logarithms(a_values, "first"), logarithms(b_values, "second")
    if paired and a_logs.size != b_logs.size:
        raise UnequalLengths(
            f"paired: {a_logs.size} values against {b_logs.size}; give both of every block"
        )
    value = float(np.mean(a_logs) - np.mean(b_logs))
    if min(a_logs.size, b_logs.size) < 2:
        return _compare_without_interval(value, (a_logs.size, b_logs.size), threshold)
    samples = [a_logs - b_logs] if paired else [a_logs, b_logs]
    spread = Spread(tuple((float(np.var(logs, ddof=1)), logs.size) for logs in samples))
    method = "paired t on logarithms" if paired else "Welch t on logarithms"
    interval = _interval(value, spread.reach(confidence), a_logs.size + b_logs.size, method)
    return _judge(interval, _p_value(value, spread, threshold), spread, threshold, confidence)


def contrast(terms: Sequence[Term], threshold: float = THRESHOLD) -> Comparison:
    """A :func:`wirelab.statistics.linear_contrasts.product` of cells, judged like :func:`ratio`:
    ``[(1, c), (-1, d), (-1, a), (1, b)]`` is the ratio c / d over the ratio a / b.

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`.
    """
    product = linear_contrasts.product(terms)
    spread = linear_contrasts.log_spread(terms)
    if spread is None:
        counts = min(len(values) for _, values in terms)
        further = max(TRIALS_MIN - counts, 1)
        return Comparison(product, "undecided", product.reason, threshold, None, further)
    p = _p_value(log(product.estimate), spread, threshold)
    return _judge(product, p, spread, threshold)


def of_blocks(
    found: Blocks, first: int, second: int, trials: int, threshold: float = THRESHOLD
) -> Comparison:
    """:func:`ratio` of two cells that were measured in blocks; ``trials`` are those of both."""
    value, spread = found.difference(first, second)
    method = "blocks, moderated t on logarithms"
    interval = _interval(value, spread.reach(linear_contrasts.CONFIDENCE), trials, method)
    p = _p_value(value, spread, threshold)
    return _judge(interval, p, spread, threshold)


def of_pairs(
    a_values: Sequence[float],
    b_values: Sequence[float],
    threshold: float = THRESHOLD,
    confidence: float = 0.95,
) -> Comparison:
    """:func:`ratio` of pairs that were looked at one by one until something was known: interval
    and p-value hold at all looks together (:mod:`wirelab.statistics.sequential`). Raises the
    same."""
    found = sequential.judge(b_values, a_values, threshold, confidence)
    further = None
    if found.outcome == "undecided":
        further = sequential.further_pairs(b_values, a_values, threshold, confidence)
    if found.ratio.bounds is None:
        why = found.ratio.reason
        return Comparison(found.ratio, "undecided", why, threshold, None, further)
    logs = [log(a / b) for a, b in zip(a_values, b_values, strict=True)]
    p = sequential.p_value(logs, log1p(threshold))
    reason = _reason(found.ratio, found.outcome, threshold, confidence)
    return Comparison(found.ratio, found.outcome, reason, threshold, p, further_pairs=further)


def of_slices(
    a_values: Sequence[float],
    b_values: Sequence[float],
    slices: Sequence[tuple[Sequence[float], Sequence[float]]],
    trial_s: float,
    threshold: float = THRESHOLD,
) -> Comparison:
    """:func:`ratio` of two services that took turns in the same trials. The trials are the unit:
    fewer than :data:`TRIALS_MIN` give no verdict. ``slices``: the calls of both in the slices of
    each trial of ``trial_s`` seconds each, as far as they are known; they show what would decide.

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`, :class:`UnequalLengths`.
    """
    made = ratio(a_values, b_values, threshold, paired=True)
    interval = replace(made.ratio, n=len(a_values))
    if made.spread is not None:
        interval = replace(interval, method="t over trials shared in slices, on logarithms")
    made = replace(made, ratio=interval)
    if len(a_values) < TRIALS_MIN:
        further = TRIALS_MIN - len(a_values)
        why = f"{format_count(len(a_values), 'trial')}, and a verdict needs {TRIALS_MIN}"
        # Without a spread and a p, so that no family counts it.
        return replace(
            made.leave_undecided(why), p_value=None, spread=None, repeats_for_interval=further
        )
    known = levels(a_values, b_values, slices, trial_s) if slices else None
    return replace(made, levels=known)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of a family of tests, in the given order.

    Step-down: with p sorted upwards, ``p_adj(i) = max over j <= i of min(1, (m - j + 1) p(j))``,
    which bounds the chance of any false finding in the family (Holm 1979, Scandinavian
    Journal of Statistics 6(2)). Raises :class:`OutOfRange` for a p outside [0, 1].
    """
    for p in p_values:
        if not 0.0 <= p <= 1.0:
            raise OutOfRange(f"p-value: {p:g} is not between 0 and 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def family(comparisons: Sequence[Comparison], alpha: float = ALPHA) -> list[Comparison]:
    """The comparisons of one claim, judged together.

    Each verdict rests on its own 95 % interval, so of many comparisons without a difference
    a few find one by chance. Differences that Holm's method does not confirm become undecided,
    with the reason; their intervals stay, being their own. Comparisons without an interval
    are not counted in the family, and equivalences need no such care: they claim no difference.
    """
    adjusted = iter(holm([c.p_value for c in comparisons if c.p_value is not None]))
    members = [c if c.p_value is None else replace(c, p_holm=next(adjusted)) for c in comparisons]
    tested = sum(1 for c in members if c.p_holm is not None)
    kept = sum(1 for c in members if c.p_holm is not None and c.found and c.p_holm < alpha)
    # What the next difference must pass, by Holm's procedure.
    level = alpha / max(1, tested - kept)
    return [_judge_in_family(c, tested, alpha, level) for c in members]


def _judge_in_family(comparison: Comparison, tested: int, alpha: float, level: float) -> Comparison:
    if comparison.p_holm is None or comparison.verdict == "equivalent":
        return comparison
    if not comparison.found:
        return comparison.leave_undecided(
            explain_undecided(comparison.ratio, comparison.threshold), level
        )
    if comparison.p_holm < alpha:
        return comparison
    why = f"a difference by its own interval, not confirmed among {tested} comparisons (Holm)"
    return comparison.leave_undecided(why, level)


def _reciprocal(value: float) -> float:
    return inf if value == 0.0 else 1.0 / value


def _compare_without_interval(
    value: float, counts: tuple[int, int], threshold: float
) -> Comparison:
    further = max(TRIALS_MIN - min(counts), 1)
    why = f"{counts[0]} and {counts[1]} trials give no interval"
    interval = Interval(exp(value), None, None, sum(counts), "none", why)
    return Comparison(interval, "undecided", why, threshold, None, further)


def _interval(value: float, reach: float, n: int, method: str) -> Interval:
    # A huge spread between two trials can pass what a float holds: that is "anything".
    low = exp(max(value - reach, -700.0))
    high = exp(value + reach) if value + reach < 700.0 else inf
    return Interval(exp(value), low, high, n, method)


def _judge(
    interval: Interval, p: float, spread: Spread, threshold: float, confidence: float = 0.95
) -> Comparison:
    found = verdict(interval, threshold)
    reason = _reason(interval, found, threshold, confidence)
    return Comparison(interval, found, reason, threshold, p, spread=spread)


def _reason(interval: Interval, found: Verdict, threshold: float, confidence: float) -> str:
    if found == "undecided":
        return explain_undecided(interval, threshold)
    place = "within" if found == "equivalent" else "beyond"
    share = f"{100 * confidence:g} %"
    return f"the {share} interval lies {place} the threshold of {100 * threshold:g} %"


def _p_value(value: float, spread: Spread, threshold: float) -> float:
    beyond = abs(value) - log1p(threshold)
    if beyond <= 0.0:
        return 1.0
    error, freedom = spread.error()
    if error == 0.0:
        return 0.0
    return min(1.0, 2.0 * student_t_tail(beyond / error, freedom))


TRIALS_PER_DRAW = 10
"""Trials that each side needs per trial of a draw."""


def resample_aa(
    values_a: Sequence[float] | Floats,
    values_b: Sequence[float] | Floats,
    comparisons: int = 400,
    size: int = 4,
    seed: int = 1,
    *,
    threshold: float = 0.0,
) -> int:
    """Number of comparisons that find a difference between two sides.

    Each draws ``size`` trials of either side without replacement and compares them as
    any experiment would. Two equal services give 5 % of ``comparisons`` on average; at
    most 35 of 400 is the binomial bound at the 0.1 % level. The sides are never pooled:
    a real difference between them shows. Draws share trials, so the count varies more
    than a binomial one: with 40 trials a side it passed 35 in 3 of 400 simulated worlds,
    with 60 in 1 of 400, with 20 in 2 of 60.

    Raises :class:`TooFewValues` unless each side has at least ``10 * size`` trials.
    """
    a, b = finite(values_a, "first"), finite(values_b, "second")
    if min(a.size, b.size) < TRIALS_PER_DRAW * size:
        raise TooFewValues(
            f"{a.size} and {b.size} trials; draws of {size} need "
            f"at least {TRIALS_PER_DRAW * size} a side"
        )
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(comparisons):
        a_draw = random.choice(a, size, replace=False)
        b_draw = random.choice(b, size, replace=False)
        found += ratio(a_draw, b_draw, threshold).found
    return found
