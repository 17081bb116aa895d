"""``wirelab facts``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import AS_JSON, PATH
from wirelab.cli.options.completion import complete_stack


@click.command()
@click.argument(
    "stacks",
    nargs=-1,
    metavar="[STACK]…",
    shell_complete=complete_stack,
    help="Bindings or stacks, e.g. grpc or rest@go?codec=json. [default: all]",
)
@click.option("--list", "listed", is_flag=True, help="List the stacks and exit.")
@click.option(
    "--csv", type=PATH, metavar="FILE", help="Write every fact with its source and date as CSV."
)
@click.option("--page", type=PATH, metavar="FILE", help="Write an HTML page that opens offline.")
@AS_JSON
@exit_with_code
def facts(
    stacks: tuple[str, ...], listed: bool, csv: Path | None, page: Path | None, as_json: bool
) -> int:
    """Show properties of stacks other than speed, such as security and streaming."""
    from wirelab.cli.output.facts import run

    return run(stacks, listed=listed, csv_file=csv, page_file=page, as_json=as_json)
