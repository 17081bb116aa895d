"""``wirelab dissect``."""

from __future__ import annotations

from typing import Any

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import PATH


@click.command()
@click.argument(
    "what", type=PATH, metavar="FILE|RUN", help="A capture (pcap, pcapng), or a run's folder."
)
@click.option("--port", type=click.IntRange(1, 65535), help="Only connections of that TCP port.")
@click.option(
    "--timeline",
    type=click.IntRange(1),
    help="The exchange to show packet by packet, from 1.",
)
@click.option(
    "--calls",
    type=PATH,
    metavar="LOG",
    help="The engine's log of calls, to be laid beside the packets of a FILE; a RUN has its own.",
)
@click.option("--svg", type=PATH, metavar="FILE", help="Write that exchange as a drawing.")
@click.option(
    "--test",
    is_flag=True,
    help="Flip the switch that each finding of a RUN blames, and run again. Exit code 0: "
    "all hold, 1: one does not, 5: undecided.",
)
@click.option(
    "--repeats",
    type=click.IntRange(2, 1000),
    help="With --test: trials per cell. [default: 4]",
)
@click.option(
    "--cause",
    "causes",
    multiple=True,
    help="With --test: only that finding, however small. May be repeated.",
)
@click.option(
    "--out",
    "directory",
    type=PATH,
    metavar="DIR",
    help="With --test: its run directory; an unfinished test in it goes on. [default: RUN/tests]",
)
@click.option(
    "--unverified",
    is_flag=True,
    help="With --test: run services too that did not pass `verify`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole document.")
@exit_with_code
def dissect(**options: Any) -> int:
    """Say of a capture what its packets cost, and what they waited for."""
    from wirelab.cli.dissect_output import Options, run

    return run(Options(**options))
