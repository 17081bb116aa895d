"""What ``wirelab doctor`` shows of this machine, each finding as soon as it is there."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import err, out
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, TrialFailed
from wirelab.process.interruption import Interruption
from wirelab.selftest import doctor
from wirelab.selftest.doctor import Finding

if TYPE_CHECKING:
    from wirelab.selftest import Test, Truth

STYLES = {"yes": "green", "limited": "yellow", "no": "red"}
ABILITY = max(map(len, STYLES))
"""Columns of the word."""


def run(*, self_test: bool, as_json: bool) -> int:
    """Returns the exit code."""
    found = []
    for finding in doctor.examine():
        found.append(finding)
        if not as_json:
            _show(finding)
    truths = list(_truths(as_json)) if self_test else []
    if as_json:
        _print_json(found, truths)
    broken = any(finding.name == "engine" and finding.ability == "no" for finding in found)
    if broken or any(map(_fails, truths)):
        return EXIT_FAILED
    return EXIT_OK if all(truth.passed for truth in truths) else EXIT_UNDECIDED


def _print_json(found: list[Finding], truths: list[Truth]) -> None:
    from wirelab.process import machine

    document = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "findings": [finding.to_json() for finding in found],
        "truths": [truth.to_json() for truth in truths],
    }
    print(json.dumps(document, indent=1))


def _show(finding: Finding) -> None:
    """Its name, what was found, and below that what follows."""
    margin = " " * (doctor.NAME_WIDTH + 1 + ABILITY + 1)
    room = max(20, out.width - len(margin))
    lines = _wrapped(finding.found, room)
    lines += _wrapped(f"→ {finding.means}", room) if finding.means else []
    ability = out.styled(f"{finding.ability:<{ABILITY}}", STYLES[finding.ability])
    out.print(f"{finding.name:<{doctor.NAME_WIDTH}} {ability} {lines[0]}")
    for line in lines[1:]:
        out.print(margin + line)


def _wrapped(text: str, width: int) -> list[str]:
    """No line is longer, and paths are not broken where that can be helped."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _truths(as_json: bool) -> Iterator[Truth]:
    from wirelab import selftest

    with Interruption() as interruption, selftest.bed(interruption) as bed:
        for test in selftest.truths(bed):
            interruption.check()
            truth = _one(test)
            console = err if as_json else out
            word, style = ("FAILS", "red") if _fails(truth) else ("undecided", "yellow")
            if truth.passed:
                word, style = "holds", "green"
            console.print(f"{console.styled(word, style)} {truth.name}: {truth.reason}")
            yield truth


def _fails(truth: Truth) -> bool:
    return truth.measurable and not truth.passed


def _one(test: Test) -> Truth:
    from wirelab import selftest

    try:
        return test()
    except TrialFailed as failure:
        return selftest.Truth(selftest.name(test), False, failure.reason, {})
