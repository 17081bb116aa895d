"""Output of ``wirelab verify``: a matrix of services and sections, followed by its reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from wirelab import identity
from wirelab.cli.error_handling import err, fold, out
from wirelab.errors import EXIT_FAILED, EXIT_OK
from wirelab.format.console import Ticker, shorten
from wirelab.identity import Verdict

SECTIONS = ("operations", "errors", "limits", "vectors", "money", "concurrency", "outages")
STYLES = {"pass": "green", "gap": "yellow", "FAIL": "red", "none": "dim"}


def run(
    references: Sequence[str],
    contract: str | None,
    *,
    deep: bool,
    postgres: str = "",
    ready_timeout_s: float | None = None,
    as_json: bool,
) -> int:
    """Examines the named services, or all of them; returns the exit code. Raises
    :class:`WirelabError`."""
    chosen = identity.choose_points(references, contract)
    verdicts = list(
        identity.verify(
            chosen,
            deep=deep,
            postgres=postgres,
            ready_timeout_s=ready_timeout_s,
            on_verdict=show_progress,
            on_build=Ticker(err).show,
        )
    )
    if as_json:
        print(json.dumps([_json(verdict) for verdict in verdicts], indent=1))
    else:
        _show(verdicts)
    return EXIT_OK if all(verdict.passed for verdict in verdicts) else EXIT_FAILED


def show_progress(verdict: Verdict) -> None:
    """Prints one line when a service is done."""
    examination = verdict.examination
    word = "passes" if verdict.passed else "FAILS"
    end = f" {examination.contract}: {word} ({examination.seconds:.1f} s)"
    err.print(f"{shorten(examination.stack, err.width - len(end))}{end}")


def _show(verdicts: Sequence[Verdict]) -> None:
    stacks = ["service", *(verdict.examination.stack for verdict in verdicts)]
    contracts = ["contract", *(verdict.examination.contract for verdict in verdicts)]
    names, speaks = max(map(len, stacks)), max(map(len, contracts))
    sections = _list_examined(verdicts)
    heads = " ".join(sections)
    out.print(f"{stacks[0]:<{names}} {contracts[0]:<{speaks}} {heads}", "bold")
    for verdict in verdicts:
        examination = verdict.examination
        cells = {cell.section: cell.outcome for cell in verdict.cells}
        shown = " ".join(_cell(section, cells.get(section, "none")) for section in sections)
        out.print(f"{examination.stack:<{names}} {examination.contract:<{speaks}} {shown}")
    without = [section for section in SECTIONS if section not in sections]
    if without:
        out.print(fold(f"no calls for: {', '.join(without)}", out.width), "dim")
    for verdict in verdicts:
        _explain(verdict)
    for line in _list_omissions(verdicts):
        out.print(fold(line, out.width), "dim")


def _list_examined(verdicts: Sequence[Verdict]) -> list[str]:
    """Sections that have a call for any of the stacks; only these get a column."""
    found = {cell.section for one in verdicts for cell in one.cells if cell.outcome != "none"}
    return [section for section in SECTIONS if section in found]


def _list_omissions(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Sections that were not examined, each listed once for all services with the same reason."""
    services: dict[tuple[str, str, str], list[str]] = {}
    for verdict in verdicts:
        examination = verdict.examination
        for cell in verdict.cells:
            for reason in cell.left_out:
                key = examination.contract, cell.section, reason
                services.setdefault(key, []).append(examination.stack)
    for (contract, section, reason), stacks in services.items():
        more = f" and {len(stacks) - 1} more" if len(stacks) > 1 else ""
        yield f"left out: {contract} {section}: {reason} ({stacks[0]}{more})"


def _cell(section: str, outcome: str) -> str:
    """The cell, padded to the width of its heading."""
    text = "–" if outcome == "none" else outcome
    return out.style(f"{text:>{len(section)}}", STYLES[outcome])


def _explain(verdict: Verdict) -> None:
    """Prints the reasons for cells that did not pass."""
    title = f"{verdict.examination.stack} {verdict.examination.contract}"
    for reason in verdict.reasons():
        out.print(fold(f"{title}: {reason}", out.width), style="red")
    for cell in verdict.cells:
        for gap in cell.gaps:
            said = f"{title}: {cell.section}: known gap: {gap.finding}: {gap.reason}"
            out.print(fold(said, out.width))


def _json(verdict: Verdict) -> dict[str, object]:
    return {
        **asdict(verdict.examination),
        "passed": verdict.passed,
        "outcomes": {cell.section: cell.outcome for cell in verdict.cells},
        "problems": verdict.reasons(),
    }
