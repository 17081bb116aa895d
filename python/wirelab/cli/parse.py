"""``wirelab parse``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import AS_JSON, PATH, FiniteRange


@click.command()
@click.argument("files", type=PATH, nargs=-1, metavar="[FILE]…")
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="NAME",
    help="Language: java, go or rust. May be repeated. [default: all]",
)
@click.option(
    "--parser",
    "parsers",
    multiple=True,
    metavar="NAME",
    help="Parser, e.g. woodstox or json@go. May be repeated. [default: all]",
)
@click.option(
    "--against",
    metavar="NAME",
    help="Reference parser for the comparison. [default: xerces-sax@java]",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Fresh processes per parser. [default: 5; 3 with --quick]",
)
@click.option(
    "--threshold",
    type=FiniteRange(0.0, 10.0),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Differences up to this share count as equivalent.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed for the order of trials."
)
@click.option("--quick", is_flag=True, help="Use shorter warm-up and windows for a first result.")
@click.option("--documents", is_flag=True, help="Also print the time of each document.")
@click.option("--list", "listed", is_flag=True, help="List the parsers and exit.")
@AS_JSON
@exit_with_code
def parse(
    files: tuple[Path, ...],
    languages: tuple[str, ...],
    parsers: tuple[str, ...],
    against: str | None,
    repeats: int | None,
    threshold: float,
    seed: int,
    quick: bool,
    documents: bool,
    listed: bool,
    as_json: bool,
) -> int:
    """Compare the speed of parsers for XML and other formats.

    Without FILE: the seven SOAP requests of elfwing2002, appendix C, and the same content as
    JSON, Protobuf, CBOR and CDR. With FILE: your own XML files, up to 64 MiB each.
    """
    from wirelab.cli.output.parse import Request, run

    request = Request(files, languages, parsers, against, repeats, threshold, seed, quick)
    return run(request, documents=documents, listed=listed, as_json=as_json)
