"""Output of ``wirelab history``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wirelab.cli.error_handling import folded, out
from wirelab.cli.output.diff import figure_named
from wirelab.comparisons.history import RUNS_MIN, Series, folders, history, ordered
from wirelab.errors import EXIT_OK, UsageError
from wirelab.format.console import Line
from wirelab.format.counting import counted
from wirelab.format.numbers import quantity, step
from wirelab.run import directory, finished
from wirelab.trial.labels import Names


def run(
    runs: Sequence[Path],
    figures: Sequence[str],
    alpha: float,
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
    found = folders(runs)
    past = ordered([(finished.read(one), directory.read_manifest(one)) for one in found])
    if len(past) < RUNS_MIN:
        raise UsageError(
            f"{counted(len(past), 'run')}: at least {RUNS_MIN} runs are needed to find a change",
            "give more run directories, or the folder that contains them",
        )
    series = history(past, chosen, alpha)
    if not series:
        raise UsageError("no run has a measured trial", "`wirelab report RUN` prints the reasons")
    if picture is not None:
        _draw(series, picture)
    if as_json:
        print(json.dumps([_json(one) for one in series], indent=1))
        return EXIT_OK
    for line in _lines(series, len(past)):
        out.print(line.text if line.style else folded(line.text, out.width), style=line.style)
    return EXIT_OK


def _lines(series: Sequence[Series], runs: int) -> Iterator[Line]:
    names = Names.of(one.point for one in series)
    changed = [one for one in series if one.changes]
    yield Line(f"{counted(runs, 'run')}, {len(series):,} series.")
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
    few = [one for one in series if len(one.values) < RUNS_MIN]
    calm = len(series) - len(changed) - len(few)
    yield Line("")
    yield Line(f"{calm:,} series without a change.", "dim")
    if few:
        yield Line(f"{len(few):,} series in fewer than {RUNS_MIN} runs.", "dim")


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
        "changes": msgspec.to_builtins(one.changes),
    }
