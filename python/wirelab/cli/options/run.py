"""Options of `wirelab run`, `demo` and `report`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from wirelab.cli.options.common import (
    METRICS_PORT_OPTION,
    PATH,
    POSTGRES_HELP,
    AcceptOptions,
    option,
    postgres_url,
)

EXPORT = click.option(
    "--export",
    type=PATH,
    metavar="FILE",
    multiple=True,
    help="Also write every figure, per cell, operation, group, stage and burst. The extension "
    "sets the format: .csv, .parquet, .json, .jsonl or .openmetrics; .hlog writes the histograms. "
    "May be repeated.",
)


@dataclass(frozen=True)
class RunOptions(AcceptOptions):
    """How services are started, which may be measured, and what runs afterwards."""

    test_findings: bool = option(
        "--test-findings",
        is_flag=True,
        help="Then test the packet findings, like `dissect --test`; sets its exit code.",
    )
    postgres: str = option(
        "--postgres",
        metavar="URL",
        callback=postgres_url,
        default="",
        help=f"{POSTGRES_HELP} Needs store=postgres.",
    )
    metrics_port: int | None = option("--metrics-port", **METRICS_PORT_OPTION)
    repeats: int | None = option(
        "--repeats",
        type=click.IntRange(1, 1000),
        help="Trials per cell, in place of the file's. With the --out of a run, more of them "
        "continue it.",
    )
    plan: bool = option(
        "--plan", is_flag=True, help="Print cells, trials, builds and time, and start nothing."
    )
