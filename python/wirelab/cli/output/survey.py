"""Output of ``wirelab survey score``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wirelab.cli.error_handling import fold, out
from wirelab.errors import EXIT_OK, UsageError
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.format.numbers import percent
from wirelab.format.units import format_seconds
from wirelab.statistics.interval import Interval
from wirelab.survey.answers import read_answers
from wirelab.survey.published import PublishedSums, read_published
from wirelab.survey.questionnaire import questionnaire
from wirelab.survey.score import Contrast, Outcome, Score, score

PARTICIPANTS_MIN = 2
P_MIN = 0.001
ALPHA = 0.05
TITLES = {"http": "HTTP", "grpc": "gRPC"}
NAME_WIDTH = 26


def run(files: Sequence[Path], *, as_json: bool) -> int:
    """Reads and evaluates answers and prints the result. Raises :class:`WirelabError`."""
    answers = read_answers(files)
    if len(answers.complete) < PARTICIPANTS_MIN:
        raise UsageError(
            f"{format_count(len(answers.complete), 'participant')} completed both tasks",
            f"collect answers of at least {PARTICIPANTS_MIN}",
        )
    found, published = score(answers), read_published()
    if as_json:
        document = {**msgspec.to_builtins(found), "published": msgspec.to_builtins(published)}
        print(json.dumps(document, indent=1))
        return EXIT_OK
    for line in _lines(found, published):
        out.print(fold(line.text, out.width) if not line.style else line.text, style=line.style)
    return EXIT_OK


def _lines(found: Score, published: PublishedSums) -> Iterator[Line]:
    began = ", ".join(f"{count} began with {TITLES[name]}" for name, count in found.began.items())
    yield Line(f"{format_count(found.participants, 'participant')}: {began}.")
    if found.left_out:
        yield Line(
            f"{format_count(found.left_out, 'participant')} did only one task and are left out."
        )
    yield Line("")
    yield Line(_verdict(found.total))
    yield Line("")
    yield from _table(found, published)
    yield Line("")
    yield Line(_describe(published))
    yield Line("")
    yield from (Line(text) for text in _order(found))
    yield Line("")
    for outcome in found.outcomes:
        yield Line(_outcome(outcome))
    if found.time_ratio is not None:
        yield Line(f"Ratio of times, gRPC to HTTP, per participant: {_ratio(found.time_ratio)}.")


def _verdict(total: Contrast) -> str:
    """The result in one sentence."""
    difference = total.difference
    if total.p_value >= ALPHA:
        return (
            "The sums do not differ significantly: HTTP minus gRPC "
            f"{_format_interval(difference)} of "
            f"{questionnaire().sum_max} points, p = {_p(total.p_value)}."
        )
    better, worse = ("HTTP", "gRPC") if difference.estimate > 0 else ("gRPC", "HTTP")
    return (
        f"{better} is rated more usable than {worse}: HTTP minus gRPC "
        f"{_format_interval(difference)} of "
        f"{questionnaire().sum_max} points, p = {_p(total.p_value)}."
    )


def _table(found: Score, published: PublishedSums) -> Iterator[Line]:
    """Sum and items: means, difference with its 95 % interval, p; below the sum the published
    one."""
    head = (
        f"{'points, higher is better':<{NAME_WIDTH}}   HTTP   gRPC  difference, 95 %            p"
    )
    yield Line(head, "bold")
    for contrast in (found.total, *found.items):
        http, grpc = contrast.means
        name = contrast.name if contrast is not found.total else "sum of all items, 0 to 36"
        yield Line(
            f"{name:<{NAME_WIDTH}} {http.estimate:6.2f} {grpc.estimate:6.2f}"
            f"  {_bounds(contrast.difference):<21} {_p(contrast.p_value):>7}",
            "none",
        )
        if contrast is found.total:
            yield Line(
                f"{'the same, published':<{NAME_WIDTH}} {published.http:6.2f} {published.grpc:6.2f}"
                f"  {published.http - published.grpc:+.2f}",
                "none",
            )
    yield Line("p: sign permutation test; adjusted for all items (Holm).", "dim")


def _describe(published: PublishedSums) -> str:
    """What the published sums are, so that nobody takes them for a target."""
    return (
        f"Published: means of {published.participants} participants of Hamo and Saberian (2023, "
        f"{published.source}), without intervals. The tasks were numbered HTTP first, and no "
        "change of the order is described, so that their difference may be an effect of the order."
    )


def _order(found: Score) -> Iterator[str]:
    effects = found.without_order
    if effects is None:
        yield (
            "The effect of the order cannot be separated: at least two participants are needed for "
            "each order."
        )
        return
    yield (
        f"Corrected for the order effect, HTTP minus gRPC is {_format_interval(effects.treatment)}."
    )
    yield f"The second position changes the sum by {_format_interval(effects.period)}."
    if effects.carry_over_p < ALPHA:
        yield (
            f"The sums depend on which task came first (p = {_p(effects.carry_over_p)}). Only the "
            "first task of each participant can be used for the comparison."
        )


def _outcome(outcome: Outcome) -> str:
    parts = ", ".join(
        f"{percent(share.estimate)} ({_percent(share)}) solved part {place}"
        for place, share in enumerate(outcome.solved, start=1)
    )
    if outcome.seconds_median is None:
        return f"{TITLES[outcome.task]}: {parts}; no one solved both."
    return (
        f"{TITLES[outcome.task]}: {parts}; median time of participants who solved both: "
        f"{format_seconds(outcome.seconds_median)}."
    )


def _bounds(interval: Interval) -> str:
    if interval.bounds is None:
        return f"{interval.estimate:+.2f}"
    return f"{interval.estimate:+.2f} [{interval.bounds[0]:+.1f}, {interval.bounds[1]:+.1f}]"


def _format_interval(interval: Interval) -> str:
    if interval.bounds is None:
        return f"{interval.estimate:+.1f}"
    low, high = interval.bounds
    return f"{interval.estimate:+.1f} (95 % interval {low:+.1f} to {high:+.1f})"


def _ratio(interval: Interval) -> str:
    if interval.bounds is None:
        return f"{interval.estimate:.2f}"
    low, high = interval.bounds
    return f"{interval.estimate:.2f} (95 % interval {low:.2f} to {high:.2f})"


def _percent(share: Interval) -> str:
    low, high = share.bounds or (0.0, 1.0)
    return f"{percent(low)} to {percent(high)}"


def _p(value: float) -> str:
    return "<0.001" if value < P_MIN else f"{value:.3f}"
