"""What each rung of a ladder bought, and whether the rungs add up to the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import Literal

from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.ladders import Ladder, Rung, select_counted
from wirelab.statistics import shared_trials
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison, family
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval, StatisticsError

Outcome = Literal["cause", "against", "effect", "no effect", "undecided", "not measured"]
"""``cause``: moves the start towards the goal. ``against``: moves it away. ``effect``: an
effect, but there is no gap that it could explain. ``no effect``: with and without it is
equivalent."""

Cells = Mapping[CellSelector, Cell]


@dataclass(frozen=True)
class Climbed:
    """What one rung bought."""

    rung: Rung
    outcome: Outcome
    reason: str
    effect: Comparison | None
    """after / before, of the ladder's figure; None when not measured."""
    share: Interval | None
    """Part of the whole gap on the scale of logarithms; None without a gap."""
    also: Mapping[str, Comparison]
    """after / before of the further figures."""


@dataclass(frozen=True)
class Balance:
    """The sum of the counted rungs against the whole; all are ratios."""

    rungs: Interval
    """Product of the counted rungs."""
    interaction: Interval
    """What the near rungs do together beyond what each does alone."""
    unexplained: Interval
    """What is left of the whole."""


def compare(
    cells: Cells,
    before: CellSelector,
    after: CellSelector | None,
    figure: Figure,
    threshold: float,
) -> Comparison | None:
    """after / before; None where one of them has no figure."""
    if after is None or before not in cells or after not in cells:
        return None
    try:
        return shared_trials.compare(cells[after], cells[before], figure, threshold)
    except StatisticsError:
        return None


def climb(
    cells: Cells, ladder: Ladder, figure: Figure, whole: Comparison | None
) -> tuple[Climbed, ...]:
    effects = {
        rung.id: effect
        for rung in ladder.rungs
        if (effect := compare(cells, rung.before, rung.after, figure, ladder.threshold))
    }
    judged = dict(zip(effects, family(list(effects.values())), strict=True))
    towards = _direction(ladder, figure, whole)
    return tuple(
        _measure_rung(cells, ladder, rung, judged.get(rung.id), towards, whole)
        for rung in ladder.rungs
    )


def _direction(ladder: Ladder, figure: Figure, whole: Comparison | None) -> str | None:
    """``higher`` or ``lower``: where the goal lies. None when there is no gap to explain."""
    if ladder.goal is None:
        return figure.better
    return whole.verdict if whole is not None and whole.found else None


def _measure_rung(
    cells: Cells,
    ladder: Ladder,
    rung: Rung,
    effect: Comparison | None,
    towards: str | None,
    whole: Comparison | None,
) -> Climbed:
    further = {
        name: comparison
        for name in ladder.also
        if (
            comparison := compare(
                cells, rung.before, rung.after, figures.require_figure(name), ladder.threshold
            )
        )
    }
    if effect is None:
        missing = [str(end) for end in (rung.before, rung.after) if not _usable(cells, end, ladder)]
        return Climbed(
            rung, "not measured", f"no figure of {' and '.join(missing)}", None, None, further
        )
    outcome = _outcome(effect, towards)
    share = _share(effect, whole) if towards and rung.counted else None
    return Climbed(rung, outcome, effect.explanation, effect, share, further)


def _usable(cells: Cells, selector: CellSelector, ladder: Ladder) -> bool:
    return selector in cells and bool(cells[selector].values(figures.require_figure(ladder.figure)))


def _outcome(effect: Comparison, towards: str | None) -> Outcome:
    if effect.found:
        if towards is None:
            return "effect"
        return "cause" if effect.verdict == towards else "against"
    return "no effect" if effect.verdict == "equivalent" else "undecided"


def _share(effect: Comparison, whole: Comparison | None) -> Interval | None:
    """``ln effect / ln whole``; the whole's own error is left out and printed next to it."""
    if whole is None or effect.ratio.bounds is None:
        return None
    gap = log(whole.ratio.estimate)
    ends = sorted(log(bound) / gap for bound in effect.ratio.bounds if bound > 0)
    if len(ends) < 2:
        return None
    value = log(effect.ratio.estimate) / gap
    return Interval(value, ends[0], ends[1], effect.ratio.n, "share of the logarithm")


def balance(cells: Cells, ladder: Ladder, figure: Figure) -> Balance | None:
    """None unless goal, together and every counted rung were measured."""
    if ladder.goal is None or ladder.together is None:
        return None
    near, far = select_counted(ladder.rungs, near=True), select_counted(ladder.rungs, near=False)
    rungs = _steps((rung.before, rung.after) for rung in (*near, *far))
    alone = _steps((rung.before, rung.after) for rung in near)
    interaction = _steps([(ladder.start, ladder.together)]) + _negative(alone)
    rest = _steps([(ladder.start, ladder.goal)]) + _negative(rungs) + _negative(interaction)
    try:
        parts = [_product(cells, steps, figure) for steps in (rungs, interaction, rest)]
    except (KeyError, StatisticsError):
        return None
    return Balance(*parts)


Weighted = tuple[float, CellSelector]


def _steps(pairs: Iterable[tuple[CellSelector, CellSelector]]) -> list[Weighted]:
    return [end for before, after in pairs for end in ((1.0, after), (-1.0, before))]


def _negative(steps: list[Weighted]) -> list[Weighted]:
    return [(-weight, selector) for weight, selector in steps]


def _product(cells: Cells, steps: list[Weighted], figure: Figure) -> Interval:
    weighted = [(weight, cells[selector]) for weight, selector in steps]
    return shared_trials.product(weighted, figure)
