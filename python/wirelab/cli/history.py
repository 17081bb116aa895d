"""``wirelab history``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import AS_JSON, PATH, FiniteRange


@click.command()
@click.argument(
    "runs",
    type=PATH,
    nargs=-1,
    required=True,
    metavar="RUN…",
    help="Run directories, or folders that contain run directories.",
)
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="NAME",
    help="Figure to follow, e.g. rate or service_cpu. May be repeated. [default: rate]",
)
@click.option(
    "--alpha",
    type=FiniteRange(0.002, 0.5),
    default=0.01,
    show_default=True,
    metavar="P",
    help="Probability of a false alarm per series.",
)
@click.option(
    "--picture", type=PATH, metavar="FILE", help="Draw the series with the most changes (SVG)."
)
@AS_JSON
@exit_with_code
def history(
    runs: tuple[Path, ...],
    figures: tuple[str, ...],
    alpha: float,
    picture: Path | None,
    as_json: bool,
) -> int:
    """Find where the figures of many runs changed."""
    from wirelab.cli.output.history import run

    return run(runs, figures, alpha, picture, as_json=as_json)
