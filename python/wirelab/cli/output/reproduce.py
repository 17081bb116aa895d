"""Output at the end of a reproduction."""

from __future__ import annotations

import json
from pathlib import Path

from wirelab.cli.error_handling import fold, out
from wirelab.cli.output import run as results
from wirelab.errors import EXIT_FAILED, EXIT_OK
from wirelab.format.counting import format_count
from wirelab.run import keeping
from wirelab.study import sections as study_page
from wirelab.study.reproduction import Reproduction


def show(made: Reproduction, *, as_json: bool, verbose: bool = False) -> int:
    """Prints the outcome and writes the page; returns the exit code."""
    page = study_page.write(made)
    if as_json:
        print(json.dumps({**made.to_json(), "report": str(page)}, indent=1))
    else:
        _print(made, page, verbose)
    return EXIT_FAILED if made.failed else EXIT_OK


def _print(made: Reproduction, page: Path, verbose: bool) -> None:
    """Prints the claims with their outcomes; the report contains the rest."""
    if made.is_quick:
        out.print(fold(study_page.first_look(made), out.width), style="bold")
    for why in made.incomplete:
        results.point(why, "!", style="yellow")
    if made.is_kept:
        results.point(keeping.LEFT_OUT)
    out.print(fold(study_page.count(made), out.width))
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
        out.print(fold(results.RETRY, out.width))
    out.print()
    if not verbose:
        more = format_count(len(rest), "sentence")
        note = f"--verbose prints {more} more about winners and causes; the report contains all."
        out.print(fold(note, out.width))
    out.print(f"Report: {page}")
