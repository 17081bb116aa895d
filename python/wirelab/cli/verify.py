"""``wirelab verify``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wirelab.cli.edges import err, out, told
from wirelab.errors import EXIT_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from wirelab.identity import Verdict

SECTIONS = ("operations", "errors", "limits", "vectors", "money")
STYLES = {"pass": "green", "gap": "yellow", "FAIL": "red", "none": "dim"}


@told
def verify(
    references: Annotated[
        list[str] | None, typer.Argument(help="Services, e.g. rest@go.", metavar="REF…")
    ] = None,
    all_of_them: Annotated[
        bool, typer.Option("--all", help="Every service, codec, transport … of every manifest.")
    ] = False,
    contract: Annotated[
        str | None, typer.Option(help="Only this contract.", metavar="NAME")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also what takes long: limits of a million things.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> int:
    """Examine services beside the canonical model: do they all do the same?"""
    from wirelab import identity

    if bool(references) == all_of_them:
        raise UsageError("name services, or --all", "for example `wirelab verify rest@go`")
    chosen = identity.chosen(references or [], contract)
    verdicts = list(identity.verify(chosen, deep=deep, on_verdict=_told))
    if as_json:
        print(json.dumps([_json(verdict) for verdict in verdicts], indent=1))
    else:
        _show(verdicts)
    return EXIT_OK if all(verdict.passed for verdict in verdicts) else EXIT_FAILED


def _told(verdict: Verdict) -> None:
    """One line as each service is done, for people who wait."""
    examination = verdict.examination
    word = "passes" if verdict.passed else "FAILS"
    err.print(
        f"{examination.stack} {examination.contract}: {word} ({examination.seconds:.1f} s)",
        markup=False,
        soft_wrap=True,
    )


def _show(verdicts: list[Verdict]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("service", overflow="fold")
    table.add_column("contract")
    for section in SECTIONS:
        table.add_column(section, justify="right")
    for verdict in verdicts:
        cells = {cell.section: cell.outcome for cell in verdict.cells}
        outcomes = [cells.get(section, "none") for section in SECTIONS]
        row = [f"[{STYLES[word]}]{'–' if word == 'none' else word}[/]" for word in outcomes]
        table.add_row(verdict.examination.stack, verdict.examination.contract, *row)
    out.print(table)
    for verdict in verdicts:
        _explain(verdict)


def _explain(verdict: Verdict) -> None:
    """What stands behind a cell that is not a pass."""
    title = f"{verdict.examination.stack} {verdict.examination.contract}"
    for reason in verdict.reasons():
        out.print(f"{title}: {reason}", style="red", markup=False)
    for cell in verdict.cells:
        for gap in cell.gaps:
            out.print(
                f"{title}: {cell.section}: known gap: {gap.finding}: {gap.reason}", markup=False
            )


def _json(verdict: Verdict) -> dict[str, object]:
    return {
        **verdict.examination.model_dump(mode="json"),
        "passed": verdict.passed,
        "outcomes": {cell.section: cell.outcome for cell in verdict.cells},
        "problems": verdict.reasons(),
    }
