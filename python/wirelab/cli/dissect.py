"""``wirelab dissect``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import (
    PATH,
    GroupedCommand,
    option_group,
)
from wirelab.cli.options.dissect import LiveOptions, TestOptions, ViewOptions


@click.command(cls=GroupedCommand)
@click.argument(
    "source",
    type=PATH,
    metavar="[FILE|RUN]",
    required=False,
    help="A capture (pcap, pcapng), or a run's folder.",
)
@option_group("view", ViewOptions, "Options")
@option_group("live", LiveOptions, "Live")
@option_group("test", TestOptions, "Test of findings")
@exit_with_code
def dissect(source: Path | None, view: ViewOptions, live: LiveOptions, test: TestOptions) -> int:
    """Report where the time of a capture went, and what its packets cost."""
    from wirelab.cli.output import dissect as output

    return output.dissect(source, view, live, test)
