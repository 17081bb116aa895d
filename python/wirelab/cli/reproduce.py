"""``wirelab reproduce`` and ``wirelab studies``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import err, exit_with_code, out
from wirelab.cli.monitoring import METRICS_PORT_OPTION, monitored
from wirelab.cli.options import (
    AS_JSON,
    DIRECTORY,
    POSTGRES,
    READY_TIMEOUT,
    VERBOSE,
    DirectoryOptions,
    FiniteRange,
    GroupedCommand,
)
from wirelab.errors import EXIT_OK


@click.command(cls=GroupedCommand)
@click.argument("study", help="Name of the study, e.g. hamo2023.")
@click.option(
    "--scale",
    type=FiniteRange(min=0.0),
    help="Share of the published call counts; 1 is all of them. [default: a few minutes]",
)
@click.option(
    "--quick", is_flag=True, help="Measure fewer cells and repeats, for a first result in minutes."
)
@DIRECTORY
@POSTGRES
@READY_TIMEOUT
@click.option("--metrics-port", **METRICS_PORT_OPTION)
@VERBOSE
@AS_JSON
@exit_with_code
def reproduce(
    study: str,
    scale: float | None,
    quick: bool,
    directory: DirectoryOptions,
    postgres: str,
    ready_timeout_s: float | None,
    metrics_port: int | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Run a published study again, and report which of its findings hold."""
    from wirelab.study import catalogue as studies

    directory.check()
    studies.load(study)
    folder = directory.folder(study)
    err.print(f"directory: {folder}")

    from wirelab.cli.output import reproduce as reproduced
    from wirelab.run.progress import OnConsole
    from wirelab.study import reproduction

    with monitored(OnConsole(err), metrics_port) as watched:
        made = reproduction.reproduce(
            study,
            folder,
            scale=scale,
            quick=quick,
            progress=watched,
            retry_failed=directory.retry_failed,
            postgres=postgres,
            ready_timeout_s=ready_timeout_s,
        )
    return reproduced.show(made, as_json=as_json, verbose=verbose)


@click.command("studies")
@exit_with_code
def studies() -> int:
    """List the published studies that can be run again."""
    from wirelab.study import catalogue as published

    for name, title in published.listing():
        out.print(f"{name:<20} {title}")
    return EXIT_OK
