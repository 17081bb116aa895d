"""A ladder that was climbed, as a section of a page."""

from __future__ import annotations

from wirelab.explain import figures
from wirelab.explain.explanation import Explanation
from wirelab.explain.rung_effects import Climbed
from wirelab.format.numbers import NONE, format_range
from wirelab.report.charts.intervals import Row, interval_picture
from wirelab.report.charts.stack_style import look
from wirelab.report.section import Section, Table
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.interval import Interval


def section(explanation: Explanation) -> Section:
    """Its rungs in a table and a picture, and what may be concluded."""
    ladder = explanation.ladder
    title = figures.require_figure(ladder.figure).title
    also = [f"× {figures.require_figure(name).title}" for name in ladder.also]
    columns = ("Rung", "Hypothesis", "Changed", f"× {title}", "Share of the gap", *also, "Verdict")
    rows = [_rung(explanation, step) for step in explanation.climbed]
    shown = [step for step in explanation.climbed if step.effect is not None]
    pictures = [
        interval_picture(
            [Row(step.rung.label, step.effect.ratio, look(0)) for step in shown if step.effect],
            f"What each rung changes, {ladder.id}",
            f"ratio of {title}",
            "After over before, with 95 % intervals; below 1 the figure falls, above 1 it rises.",
            reference=1.0,
        )
    ]
    text = (
        "Each rung changes one thing. A rung is a cause only where its interval excludes 1 by more "
        f"than {100 * ladder.threshold:g} % and Holm's method confirms it among all rungs. Shares "
        "are on a logarithmic scale, on which the effects of rungs add up."
    )
    return Section(
        f"{ladder.question} ({ladder.id})",
        [text],
        [Table(columns, rows)],
        pictures if shown else (),
        points=explanation.sentences,
    )


def _rung(explanation: Explanation, step: Climbed) -> tuple[str, ...]:
    changed = "; ".join(f"{name}: {a} → {b}" for name, (a, b) in step.rung.changes.items())
    also = (_ratio(step.also.get(name)) for name in explanation.ladder.also)
    return (
        step.rung.label,
        step.rung.hypothesis,
        changed,
        _ratio(step.effect),
        _share(step.share),
        *also,
        step.outcome,
    )


def _ratio(comparison: Comparison | None) -> str:
    return NONE if comparison is None else format_range(comparison.ratio)


def _share(share: Interval | None) -> str:
    if share is None or share.bounds is None:
        return NONE
    low, high = share.bounds
    return f"{100 * share.estimate:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)"
