"""``wirelab history``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import AS_JSON, PATH, FiniteRange
from wirelab.cli.options.completion import complete_figure


@click.command()
@click.argument(
    "runs",
    type=PATH,
    nargs=-1,
    required=True,
    metavar="RUN…",
    help="Run directories of one experiment, or folders that contain them.",
)
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_figure,
    help="Figure to follow, e.g. rate or service_cpu. May be repeated. [default: rate]",
)
@click.option(
    "--alpha",
    "false_rate",
    type=FiniteRange(0.001, 0.5),
    default=0.05,
    show_default=True,
    metavar="P",
    help="Share of false changes among those found in all series (Benjamini-Hochberg).",
)
@click.option(
    "--calibrate",
    type=PATH,
    multiple=True,
    metavar="RUN",
    help="Runs between which nothing changed, or a folder of them: they show how much equal runs "
    "vary. May be repeated.",
)
@click.option(
    "--picture", type=PATH, metavar="FILE", help="Draw the series with the most changes (SVG)."
)
@AS_JSON
@exit_with_code
def history(
    runs: tuple[Path, ...],
    figures: tuple[str, ...],
    false_rate: float,
    calibrate: tuple[Path, ...],
    picture: Path | None,
    as_json: bool,
) -> int:
    """Find where the figures of many runs changed.

    The runs must be of one experiment, each measured again: a series has the cells that all of
    them share, and at least four runs are needed.
    """
    from wirelab.cli.output.history import run

    return run(runs, figures, false_rate, calibrate, picture, as_json=as_json)
