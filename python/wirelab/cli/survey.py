"""``wirelab survey``: the kit for a usability survey, and the evaluation of its answers."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code, out
from wirelab.cli.options.common import AS_JSON, PATH
from wirelab.errors import EXIT_OK


@click.group()
def survey() -> None:
    """Run a usability survey on two libraries and evaluate the answers."""


@survey.command()
@click.argument("folder", type=PATH, metavar="DIR", help="New or empty folder.")
@click.option(
    "--participants",
    type=int,
    default=20,
    show_default=True,
    help="Number of participants to draw a task order for.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed for orders and codes.")
@exit_with_code
def init(folder: Path, participants: int, seed: int) -> int:
    """Write the tasks, the checks and the questionnaire into DIR."""
    from wirelab.survey.kit import Kit, write_kit

    kit = Kit.draw(participants, seed)
    write_kit(folder, kit)
    out.print(f"{folder}: tasks in http/ and grpc/, questionnaire in index.html")
    out.print(f"next: read {folder}/README.md")
    return EXIT_OK


@survey.command()
@click.argument(
    "files",
    type=PATH,
    nargs=-1,
    required=True,
    metavar="FILE…",
    help="CSV file that the page saved.",
)
@AS_JSON
@exit_with_code
def score(files: tuple[Path, ...], as_json: bool) -> int:
    """Compute the scale (0 to 36), its intervals, and the paired comparison."""
    from wirelab.cli.output.survey import run

    return run(files, as_json=as_json)
