"""``wirelab reproduce`` and ``wirelab studies``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from wirelab.cli.error_handling import err, exit_with_code, out
from wirelab.cli.options.common import (
    AS_JSON,
    DIRECTORY,
    METRICS_PORT_OPTION,
    POSTGRES,
    READY_TIMEOUT,
    SHARE,
    VERBOSE,
    DirectoryOptions,
    FiniteRange,
    GroupedCommand,
)
from wirelab.cli.options.completion import complete_study
from wirelab.errors import EXIT_OK, WirelabError

if TYPE_CHECKING:
    from wirelab.study.catalogue import Listed


class ReproduceCommand(GroupedCommand):
    """Help with the studies and how long each takes."""

    def tables(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """The studies; nothing where an installation has none."""
        from wirelab.study import catalogue

        try:
            rows = [(one.name, _times(one)) for one in catalogue.listing()]
        except WirelabError:
            return
        yield f"Studies ({TIMES})", rows


TIMES = "time on two cores, once services are built and verified"


def _times(listed: Listed) -> str:
    """``33 min; --quick: 1 min``."""
    return f"{listed.default}; --quick: {listed.quick}" if listed.quick else listed.default


@click.command(cls=ReproduceCommand)
@click.argument("study", shell_complete=complete_study, help="Name of the study, e.g. hamo2023.")
@click.option(
    "--scale",
    type=FiniteRange(min=0.0),
    help="Share of the published call counts; 1 is all of them. [default: that of the study]",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Measure fewer cells and repeats, for a first result within four minutes; prints first "
    "which findings it cannot judge.",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    metavar="PART",
    help="Measure this part only; can be repeated. Parts beyond the study are measured only so; "
    "the study's README names them.",
)
@DIRECTORY
@POSTGRES
@READY_TIMEOUT
@SHARE
@click.option("--metrics-port", **METRICS_PORT_OPTION)
@VERBOSE
@AS_JSON
@exit_with_code
def reproduce(
    study: str,
    scale: float | None,
    quick: bool,
    parts: tuple[str, ...],
    directory: DirectoryOptions,
    postgres: str,
    ready_timeout_s: float | None,
    share: bool,
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
    from wirelab.cli.output.monitoring import serve_metrics
    from wirelab.run.progress import OnConsole
    from wirelab.study import reproduction

    with serve_metrics(OnConsole(err), metrics_port) as watched:
        made = reproduction.reproduce(
            study,
            folder,
            scale=scale,
            quick=quick,
            parts=parts,
            progress=watched,
            retry_failed=directory.retry_failed,
            postgres=postgres,
            ready_timeout_s=ready_timeout_s,
            share=share,
        )
    return reproduced.show(made, as_json=as_json, verbose=verbose)


@click.command("studies")
@exit_with_code
def studies() -> int:
    """List the published studies that can be run again."""
    from wirelab.study import catalogue as published

    rows = [("study", "time", "--quick", "title")]
    rows += [(one.name, one.default, one.quick, one.title) for one in published.listing()]
    name, default, quick = (max(len(row[at]) for row in rows) for at in range(3))
    for row in rows:
        out.print(f"{row[0]:<{name}}  {row[1]:>{default}} {row[2]:>{quick}}  {row[3]}")
    out.print(f"({TIMES})", "dim")
    return EXIT_OK
