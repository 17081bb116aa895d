"""``wirelab doctor``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wirelab import doctor as findings
from wirelab import machine
from wirelab.cli.edges import err, out, told
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, TrialFailed
from wirelab.interruption import Interruption

if TYPE_CHECKING:
    from wirelab.selftest import Test, Truth

STYLES = {"yes": "green", "limited": "yellow", "no": "red"}


@told
def doctor(
    self_test: Annotated[
        bool,
        typer.Option(
            "--self-test",
            help="Run the tests of truth too (about 6 minutes). Exit code 0: "
            "all hold, 1: one fails, 5: one is undecided.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> int:
    """Say what this machine can and cannot measure."""
    found = findings.examine()
    if not as_json:
        _show(found)
    truths = _truths(as_json) if self_test else []
    if as_json:
        document = {
            "machine": machine.describe(),
            "versions": machine.versions(),
            "findings": [finding.to_json() for finding in found],
            "truths": [truth.to_json() for truth in truths],
        }
        print(json.dumps(document, indent=1))
    broken = any(finding.name == "engine" and finding.ability == "no" for finding in found)
    if broken or any(map(_fails, truths)):
        return EXIT_FAILED
    return EXIT_OK if all(truth.passed for truth in truths) else EXIT_UNDECIDED


def _show(found: list[findings.Finding]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        said = finding.found + (f"\n→ {finding.means}" if finding.means else "")
        ability = f"[{STYLES[finding.ability]}]{finding.ability}[/]"
        table.add_row(finding.name, ability, Text(said))
    out.print(table)


def _truths(as_json: bool) -> list[Truth]:
    from wirelab import selftest

    done: list[Truth] = []
    with Interruption() as interruption, selftest.bed(interruption) as bed:
        for test in selftest.truths(bed):
            interruption.check()
            truth = _one(test)
            done.append(truth)
            console = err if as_json else out
            word = "[red]FAILS[/]" if _fails(truth) else "[yellow]undecided[/]"
            word = "[green]holds[/]" if truth.passed else word
            console.print(f"{word} {escape(truth.name)}: {escape(truth.reason)}")
    return done


def _fails(truth: Truth) -> bool:
    return truth.measurable and not truth.passed


def _one(test: Test) -> Truth:
    from wirelab import selftest

    try:
        return test()
    except TrialFailed as failure:
        return selftest.Truth(selftest.name(test), False, failure.reason, {})
