"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)

OUT = click.option(
    "--out",
    "directory",
    type=PATH,
    metavar="DIR",
    help="Run directory; an unfinished run in it goes on.",
)
UNVERIFIED = click.option(
    "--unverified",
    is_flag=True,
    help="Measure services too that did not pass `verify`; marks the results.",
)
RETRY_FAILED = click.option(
    "--retry-failed", is_flag=True, help="Measure the trials again that failed in --out."
)
VERBOSE = click.option("--verbose", is_flag=True, help="Print the study's winners and causes too.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
