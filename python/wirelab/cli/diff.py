"""``wirelab diff``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import AS_JSON, PATH, FiniteRange
from wirelab.cli.options.completion import complete_figure


@click.command()
@click.argument("first", type=PATH, metavar="RUN", help="Run directory.")
@click.argument("second", type=PATH, metavar="RUN", help="Run directory to compare with the first.")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_figure,
    help="Figure to compare, e.g. rate or service_cpu. May be repeated. [default: rate, "
    "response_p50, response_p99, service_cpu]",
)
@click.option(
    "--threshold",
    type=FiniteRange(0.0, 10.0),
    metavar="SHARE",
    help="Differences up to this share are ignored, e.g. 0.05. [default: the first run's]",
)
@click.option("--all", "everything", is_flag=True, help="Also show figures without a difference.")
@AS_JSON
@exit_with_code
def diff(
    first: Path,
    second: Path,
    figures: tuple[str, ...],
    threshold: float | None,
    everything: bool,
    as_json: bool,
) -> int:
    """Compare two finished runs, cell by cell."""
    from wirelab.cli.output.diff import run

    return run(first, second, figures, threshold, everything=everything, as_json=as_json)
