"""``wirelab browse``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import PATH

PORT = 7717
"""Not registered for another service."""


@click.command()
@click.argument(
    "directory",
    type=PATH,
    default=Path("runs"),
    metavar="[DIR]",
    help="Folder that contains run directories. [default: runs]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="PORT",
    help="Port on 127.0.0.1; 0: any free port.",
)
@click.option(
    "--once",
    type=PATH,
    metavar="FILE",
    help="Write the list of runs to an HTML file and exit, without a server.",
)
@exit_with_code
def browse(directory: Path, port: int, once: Path | None) -> int:
    """Show the runs below a folder in a browser, also while they run."""
    from wirelab.cli.output.browse import run

    return run(directory, port, once)
