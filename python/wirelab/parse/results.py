"""Figures with intervals: the sample consists of the processes of a parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from wirelab.parse.catalogue import Parser
from wirelab.parse.harness import Timed
from wirelab.parse.trials import Trials
from wirelab.statistics.comparison import Comparison, family, ratio
from wirelab.statistics.interval import Interval
from wirelab.statistics.mean import mean_interval


@dataclass(frozen=True)
class Row:
    """Results of one parser; times in ns."""

    parser: Parser
    failures: tuple[str, ...] = ()
    """Reasons of failed trials."""
    processes: int = 0
    library: str = ""
    implementation: str = ""
    runtime: str = ""
    parse: Interval | None = None
    """Mean over the documents, as geometric mean over processes; None without
    measurements."""
    mean: float | None = None
    """The same as arithmetic mean over processes, to which the deviation refers."""
    std: float | None = None
    """Standard deviation over the processes; None for one process."""
    first: Interval | None = None
    """Time of the first parse of a process, including creation of the parser."""
    documents: tuple[tuple[str, Interval], ...] = ()
    not_calm: int = 0
    """Processes whose warm-up reached its time limit before parse times were stable."""
    restless: int = 0
    """Processes whose last block differs from the first one (:attr:`Timed.restless`)."""
    comparison: Comparison | None = None
    """Comparison with the reference; None for the reference itself."""


def rows(
    parsers: Sequence[Parser], trials: Trials, against: Parser | None, threshold: float
) -> list[Row]:
    """One row per parser, including those without figures."""
    found = [_row(parser, trials) for parser in parsers]
    reference = [process_mean(one) for one in trials.timed.get(against, [])] if against else []
    compared = [
        row for row in found if reference and row.parse is not None and row.parser != against
    ]
    comparisons = family(
        [
            ratio([process_mean(one) for one in trials.timed[row.parser]], reference, threshold)
            for row in compared
        ]
    )
    by_parser = {row.parser: verdict for row, verdict in zip(compared, comparisons, strict=True)}
    return [replace(row, comparison=by_parser.get(row.parser)) for row in found]


def process_mean(timed: Timed) -> float:
    """Mean of the documents' means, in ns: each document has the same weight."""
    return fmean(one.mean_ns for one in timed.documents)


def _row(parser: Parser, trials: Trials) -> Row:
    failures = tuple(trials.failures.get(parser, ()))
    timed = trials.timed.get(parser, [])
    if not timed:
        return Row(parser, failures)
    means = [process_mean(one) for one in timed]
    names = sorted(one.name for one in timed[0].documents)
    return Row(
        parser,
        failures,
        len(timed),
        timed[0].library,
        timed[0].implementation,
        timed[0].runtime,
        mean_interval(means),
        fmean(means),
        stdev(means) if len(means) > 1 else None,
        mean_interval([float(one.first_ns) for one in timed]),
        tuple((name, mean_interval([_of(one, name) for one in timed])) for name in names),
        sum(not one.calm for one in timed),
        sum(one.restless for one in timed),
    )


def _of(timed: Timed, name: str) -> float:
    return next(one.mean_ns for one in timed.documents if one.name == name)
