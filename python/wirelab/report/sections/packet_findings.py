"""Findings in packets as they are reported: what a change has tested apart from what packets only
suggest, in a terminal of 80 columns and on a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.format import wrapping
from wirelab.format.numbers import NONE, quantity, sanitize
from wirelab.records.wire import FindingPlace, PacketFinding
from wirelab.report.section import Section, Table
from wirelab.report.sections import packet_advice
from wirelab.run import journal
from wirelab.run.adaptive import recorded

WIDTH = 80
TESTED = "What the packets suggest, and a change has tested"
UNTESTED = "What the packets suggest (not tested by a change)"
NOTHING = "No known cause of delay was found; where the time went is in the account."
PLACES = 3
"""Places of an occurrence that are named."""

_BY_FILE = (
    "Packets alone prove no cause. Measure the same exchange as an experiment of the lab with "
    "`capture: client`, then `wirelab dissect RUN --test` flips the switch that each finding "
    "blames and says whether the time went."
)
_BY_RUN = (
    "Packets alone prove no cause: `wirelab dissect {run} --test` flips the switch that each "
    "finding blames and says whether the time went."
)


@dataclass(frozen=True)
class Standing:
    """What changes have shown of the findings of one capture."""

    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Of the causes that were tested: ``holds``."""
    remedy: str = _BY_FILE
    """How to test the others."""
    of_lab: bool = False
    """The capture is of a run, whose switches test the findings."""


def of_run(capture: Path, run: Path) -> Standing:
    """Of a capture below ``run``, by the tests of that run, if any."""
    remedy = _BY_RUN.format(run=shlex.quote(str(run)))
    outcome = recorded.read(run)
    trials = journal.read(journal.file_in(run)).trials if outcome is not None else ()
    own = next((trial for trial in trials if trial.id == capture.parent.name), None)
    if outcome is None or own is None:
        return Standing({}, remedy, of_lab=True)
    causes = {one.planned.claim.cause for one in outcome.tested}
    found = {cause: outcome.of(own.point, cause) for cause in causes}
    verdicts = {cause: one.verdict for cause, one in found.items() if one}
    return Standing(verdicts, remedy, of_lab=True)


def lines(findings: Sequence[PacketFinding], standing: Standing) -> Iterator[str]:
    """Tested ones first, then the others with how to test them."""
    if not findings:
        yield NOTHING
        return
    tested = [finding for finding in findings if finding.cause in standing.verdicts]
    others = [finding for finding in findings if finding.cause not in standing.verdicts]
    if tested:
        yield TESTED
        for finding in tested:
            yield from _block(finding, standing, standing.verdicts[finding.cause])
    if others:
        yield UNTESTED
        for finding in others:
            yield from _block(finding, standing)
        yield from _wrap(standing.remedy, "")


def section(findings: Sequence[PacketFinding], exchanges: int, standing: Standing) -> Section:
    """The same for a page."""
    if not findings:
        return Section(UNTESTED, (NOTHING,))
    last = "test" if standing.of_lab else "change"
    columns = ["cause", "exchanges", "time of all", "median", "packets", last, "verdict"]
    rows = [
        [
            *(finding.cause, *figures(finding, exchanges), _places(finding) or NONE),
            (change(finding) if standing.of_lab else packet_advice.advice(finding)) or NONE,
            standing.verdicts.get(finding.cause, "not tested"),
        ]
        for finding in findings
    ]
    untested = any(finding.cause not in standing.verdicts for finding in findings)
    return Section(
        UNTESTED if untested else TESTED,
        (standing.remedy,) if untested else (),
        (Table(columns, rows, "Findings in the packets", (2, 3)),),
        points=[f"{finding.cause}: {finding.words}" for finding in findings],
    )


def figures(finding: PacketFinding, exchanges: int) -> tuple[str, str, str]:
    """Of how many exchanges it delays how many, the time of all occurrences, their median; no
    time where a pattern was found that cost none by itself."""
    times = (finding.ms_total, finding.ms_median)
    total, median = (quantity(ms * 1e6, "ns") if ms else NONE for ms in times)
    return f"{finding.exchanges:,} of {exchanges:,}", total, median


def change(finding: PacketFinding) -> str:
    """``server.nagle=off``; empty where no switch of the lab tests it."""
    return f"{finding.test.axis}={finding.test.value}" if finding.test else ""


def remedy(finding: PacketFinding, standing: Standing) -> str:
    """The switch of the lab that tests a finding, or what to change in another program; empty
    where neither is known."""
    if finding.test and standing.of_lab:
        return f"test: {change(finding)}; {finding.test.predict}"
    known = packet_advice.advice(finding)
    expected = f". Then {finding.test.predict}" if finding.test else ""
    return f"change: {known}{expected}" if known else ""


def _block(finding: PacketFinding, standing: Standing, verdict: str = "") -> Iterator[str]:
    tested = f", tested: {verdict}" if verdict else ""
    yield from _wrap(f"• {finding.cause}{tested}. {finding.words}", "  ")
    places = _places(finding)
    if places:
        yield from _wrap(f"  packets {places}", "  ")
    change_to_make = remedy(finding, standing)
    if change_to_make:
        yield from _wrap(f"  {change_to_make}", "  ")


def _places(finding: PacketFinding) -> str:
    """The longest ones, the longest first; a trial's record keeps none."""
    longest = sorted(finding.where, key=lambda place: -place.ms)
    return "; ".join(_place(place) for place in longest[:PLACES])


def _place(place: FindingPlace) -> str:
    numbers = ", ".join(str(number) for number in place.packets[:6])
    return f"{numbers} ({quantity(place.ms * 1e6, 'ns')})"


def _wrap(text: str, indent: str) -> list[str]:
    return wrapping.wrap(
        sanitize(text),
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
    )
