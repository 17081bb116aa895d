"""``wirelab reproduce`` and ``wirelab studies``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wirelab.cli import results
from wirelab.cli.edges import err, folded, out, told
from wirelab.cli.run import AsJson, Out, RetryFailed, Verbose, accept_retry, default_directory
from wirelab.counting import counted
from wirelab.errors import EXIT_FAILED, EXIT_OK
from wirelab.progress import OnConsole

if TYPE_CHECKING:
    from wirelab.reproduction import Reproduction


@told
def reproduce(
    study: Annotated[str, typer.Argument(help="Its name, e.g. hamo2023.", metavar="STUDY")],
    scale: Annotated[
        float | None,
        typer.Option(min=0.0, help="Share of the published counts; 1 is all. [default: minutes]"),
    ] = None,
    directory: Out = None,
    retry_failed: RetryFailed = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> int:
    """Run a published study again, and report which of its findings hold."""
    from wirelab import reproduction
    from wirelab import studies as published

    accept_retry(retry_failed, directory)
    published.load(study)
    folder: Path = directory or default_directory(study)
    err.print(f"directory: {folder}", markup=False, soft_wrap=True)
    made = reproduction.reproduce(
        study, folder, scale=scale, progress=OnConsole(err), retry_failed=retry_failed
    )
    return show(made, as_json=as_json, verbose=verbose)


def show(made: Reproduction, *, as_json: bool, verbose: bool = False) -> int:
    """Prints what came out and writes the page; returns the exit code."""
    from wirelab import study_page

    page = study_page.write(made)
    if as_json:
        print(json.dumps({**made.to_json(), "report": str(page)}, indent=1))
    else:
        _print(made, page, verbose)
    return EXIT_FAILED if made.failed else EXIT_OK


def _print(made: Reproduction, page: Path, verbose: bool) -> None:
    """The claims with what came of them; the rest is in the report."""
    from wirelab import study_page

    for why in made.incomplete:
        results.point(why, "!", style="yellow")
    out.print(study_page.count(made), markup=False)
    for outcome, claims in study_page.claims(made).items():
        if claims:
            out.print(f"\n{outcome}:", style="bold")
        for claim in claims:
            results.point(claim)
    rest = study_page.sentences(made)
    if verbose:
        out.print()
        for sentence in rest:
            results.point(sentence)
    if made.failed:
        out.print(results.RETRY)
    out.print()
    if not verbose:
        more = counted(len(rest), "sentence")
        told = f"--verbose tells {more} more, on winners and causes; the report has them all."
        out.print(folded(told, out.width), soft_wrap=True)
    out.print(f"Report: {page}", markup=False, soft_wrap=True)


@told
def studies() -> int:
    """List the published studies that can be run again."""
    from wirelab import studies as published

    for name, title in published.listing():
        out.print(f"{name:<20} {title}", markup=False)
    return EXIT_OK
