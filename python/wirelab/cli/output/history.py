"""Output of ``wirelab history``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from wirelab.cli.error_handling import fold, out
from wirelab.cli.output.diff import figure_named
from wirelab.comparisons.history import (
    CHANGE,
    RUNS_MIN,
    Past,
    Series,
    folders,
    history,
    sort_by_start,
)
from wirelab.errors import EXIT_OK, UsageError
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.format.numbers import percent, quantity, step
from wirelab.run import directory, finished
from wirelab.statistics.figure import Figure
from wirelab.trial.labels import Names


def run(
    runs: Sequence[Path],
    figures: Sequence[str],
    false_rate: float,
    calibrate: Sequence[Path],
    picture: Path | None,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    if picture is not None and picture.suffix != ".svg":
        raise UsageError(
            f"--picture {picture} is not an SVG file", "give a file name that ends in .svg"
        )
    chosen = [figure_named(name) for name in figures or ("rate",)]
    past = _read(runs)
    if len(past) < RUNS_MIN:
        raise UsageError(
            f"{format_count(len(past), 'run')}: at least {RUNS_MIN} runs are needed to find a "
            "change",
            "give more run directories, or the folder that contains them",
        )
    series = history(past, chosen, false_rate, _read(calibrate))
    if not series:
        raise _nothing(past, chosen)
    if picture is not None:
        _draw(series, picture)
    if as_json:
        print(json.dumps([_json(one) for one in series], indent=1))
        return EXIT_OK
    for line in lines(series, len(past)):
        out.print(line.text if line.style else fold(line.text, out.width), style=line.style)
    return EXIT_OK


def _read(runs: Sequence[Path]) -> list[Past]:
    found = folders(runs)
    return sort_by_start([(finished.read(one), directory.read_manifest(one)) for one in found])


def _nothing(past: Sequence[Past], chosen: Sequence[Figure]) -> UsageError:
    """Why there is no series."""
    measured = [trial for one in past for trial in one.run.trials if trial.status == "measured"]
    if not measured:
        return UsageError("no run has a measured trial", "`wirelab report RUN` prints the reasons")
    names = " or ".join(figure.name for figure in chosen)
    return UsageError(
        f"no trial of these runs has {names}: a percentile needs 10 calls above it",
        "give another --figure, such as rate or response_p50, or measure longer windows",
    )


def lines(series: Sequence[Series], runs: int) -> Iterator[Line]:
    """The changes, and what the other series could have shown."""
    names = Names.of(one.point for one in series)
    changed = [one for one in series if one.changes]
    yield Line(f"{format_count(runs, 'run')}, {len(series):,} series.")
    for one in changed:
        yield Line("")
        yield Line(_title(one, names), "bold")
        for change in one.changes:
            word = "better" if change.better else "worse"
            text = (
                f"  {change.factor - 1.0:+.1%} ({word}) from run {change.at + 1} on: "
                f"{change.name}, p = {change.p_value:.3f}"
            )
            yield Line(text, "green" if change.better else "yellow")
        yield Line(f"  {_span(one)}", "dim")
    yield Line("")
    calm = [one for one in series if not one.changes]
    yield Line(f"{len(calm):,} series without a change that these runs show.", "dim")
    for figure, group in groupby(calm, key=lambda one: one.figure):
        for text in _sensitivity(figure, list(group)):
            yield Line(text)


def _sensitivity(figure: Figure, series: Sequence[Series]) -> Iterator[str]:
    """What the series without a change could have shown."""
    if series[0].run_to_run is None:
        yield f"{figure.title}: too few runs to know how runs vary; give more, or --calibrate."
        return
    text = f"{figure.title}: equal runs vary by {percent(series[0].run_to_run, 1)}"
    visible = [one.visible_change for one in series if one.runs_needed == 0]
    shown = max((one for one in visible if one is not None), default=None)
    if shown is not None:
        text += f"; in {len(visible):,} series a change of {percent(shown, 1)} would be found in "
        text += "80 % of cases"
    yield f"{text}."
    blind = [one for one in series if one.runs_needed != 0]
    for needed, group in groupby(
        sorted(blind, key=lambda one: one.runs_needed or 0), key=lambda one: one.runs_needed
    ):
        count = len(list(group))
        verb = "needs" if count == 1 else "need"
        more = "more than 100 more runs" if needed is None else format_count(needed, "more run")
        yield f"{count:,} series {verb} {more} to see a change of {percent(CHANGE)}."


def _title(one: Series, names: Names) -> str:
    return f"{one.figure.title}, {names.stacks[one.point.stack]}: {names.setting(one.point)}"


def _span(one: Series) -> str:
    first, last = (quantity(value, one.figure.unit) for value in (one.values[0], one.values[-1]))
    return f"first run {first}, last run {last}"


def _draw(series: Sequence[Series], file: Path) -> None:
    from wirelab.report.charts.history import history_picture

    one = max(series, key=lambda found: len(found.changes))
    names = Names.of(found.point for found in series)
    divisor, unit = step(max(one.values), one.figure.unit)
    drawn = history_picture(
        [value / divisor for value in one.values],
        unit,
        [(change.at, change.better) for change in one.changes],
        _title(one, names),
    )
    try:
        directory.write_whole(file, drawn.svg)
    except OSError as error:
        raise UsageError(f"--picture {file} cannot be written: {error.strerror}") from error


def _json(one: Series) -> dict[str, object]:
    return {
        "point": msgspec.to_builtins(one.point),
        "figure": one.figure.name,
        "unit": one.figure.unit,
        "runs": one.runs,
        "values": one.values,
        "run_to_run": one.run_to_run,
        "visible_change": one.visible_change,
        "runs_needed": one.runs_needed,
        "changes": msgspec.to_builtins(one.changes),
    }
