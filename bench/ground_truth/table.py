"""The score as a table."""

from __future__ import annotations

from collections.abc import Iterator

from bench.ground_truth.scoring import Score, Tally
from wirelab.format.counting import counted
from wirelab.statistics.interval import Interval

AIM = 0.95
"""Least precision and recall of each cause."""
ALARMS_MAX = 0.01
"""Most false alarms per exchange of clean captures."""


def rows(total: Score) -> Iterator[tuple[str, ...]]:
    """One row for each cause: its name, captures, occurrences, findings that are right and
    false, precision, recall."""
    for cause, tally in total.tallies.items():
        yield (
            cause,
            str(tally.captures),
            str(tally.right + tally.missed),
            str(tally.right),
            str(tally.false),
            str(tally.missed),
            str(tally.either),
            share(tally.precision),
            share(tally.recall),
        )


HEAD = (
    "cause",
    "captures",
    "occurrences",
    "found",
    "false",
    "missed",
    "either",
    "precision",
    "recall",
)


def share(interval: Interval | None) -> str:
    """``0.987 [0.961, 0.998]``."""
    if interval is None:
        return "–"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def text(total: Score) -> str:
    """For a terminal."""
    lines = [HEAD, *rows(total)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    table = "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, 7, 8) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return f"{table}\n\n{clean(total)}"


def clean(total: Score) -> str:
    """False alarms on clean captures, in one sentence."""
    return (
        f"clean: {total.clean_captures} captures, {total.clean_exchanges} exchanges,"
        f" {total.clean_alarms} of them with a false alarm"
        f" ({share(total.alarms)}), in {counted(total.clean_captures_alarmed, 'capture')}"
    )


def short_of_aim(total: Score) -> list[str]:
    """What is below its aim, in words."""
    found = [
        f"{cause}: {name} {interval.estimate:.3f}, at least {AIM} is asked for"
        for cause, tally in total.tallies.items()
        for name, interval in _shares(tally)
        if interval is not None and interval.estimate < AIM
    ]
    found += [f"{cause}: no occurrence" for cause, one in total.tallies.items() if not one.captures]
    if total.alarms is not None and total.alarms.estimate > ALARMS_MAX:
        found.append(f"false alarms on clean captures: {total.alarms.estimate:.3f}")
    return found


def _shares(tally: Tally) -> Iterator[tuple[str, Interval | None]]:
    yield "precision", tally.precision
    yield "recall", tally.recall
