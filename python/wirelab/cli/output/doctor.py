"""Output of ``wirelab doctor``: each finding as soon as it is available."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import err, fold, out
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, TrialFailed
from wirelab.format import wrapping
from wirelab.process.interruption import Interruption
from wirelab.selftest import doctor
from wirelab.selftest.doctor import Finding

if TYPE_CHECKING:
    from wirelab.selftest import SelfTestResult, Test

STYLES = {"yes": "green", "limited": "yellow", "no": "red"}
ABILITY = max(map(len, STYLES))
"""Width of the ability column."""


def run(*, self_test: bool, as_json: bool) -> int:
    """Returns the exit code."""
    found = []
    for finding in doctor.examine():
        found.append(finding)
        if not as_json:
            _show(finding)
    results = list(_results(as_json)) if self_test else []
    if as_json:
        _print_json(found, results)
    broken = any(finding.name == "engine" and finding.ability == "no" for finding in found)
    if broken or any(map(_fails, results)):
        return EXIT_FAILED
    return EXIT_OK if all(result.passed for result in results) else EXIT_UNDECIDED


def _print_json(found: list[Finding], results: list[SelfTestResult]) -> None:
    from wirelab.process import machine

    document = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "findings": [finding.to_json() for finding in found],
        "self_tests": [result.to_json() for result in results],
    }
    print(json.dumps(document, indent=1))


def _show(finding: Finding) -> None:
    """Prints name, ability and finding; below them its consequence."""
    margin = " " * (doctor.NAME_WIDTH + 1 + ABILITY + 1)
    room = max(20, out.width - len(margin))
    lines = _wrap(finding.found, room)
    lines += _wrap(f"→ {finding.means}", room) if finding.means else []
    ability = out.style(f"{finding.ability:<{ABILITY}}", STYLES[finding.ability])
    out.print(f"{finding.name:<{doctor.NAME_WIDTH}} {ability} {lines[0]}")
    for line in lines[1:]:
        out.print(margin + line)


def _wrap(text: str, width: int) -> list[str]:
    """Wraps the text to the width, without breaking paths where possible."""
    return wrapping.wrap(text, width) or [""]


def _results(as_json: bool) -> Iterator[SelfTestResult]:
    from wirelab import selftest

    with Interruption() as interruption, selftest.open_testbed(interruption) as testbed:
        for test in selftest.self_tests(testbed):
            interruption.check()
            result = _one(test)
            console = err if as_json else out
            word, style = ("FAILS", "red") if _fails(result) else ("undecided", "yellow")
            if result.passed:
                word, style = "holds", "green"
            text = fold(f"{word} {result.name}: {result.reason}", console.width)
            console.print(f"{console.style(word, style)}{text.removeprefix(word)}")
            yield result


def _fails(result: SelfTestResult) -> bool:
    return result.measurable and not result.passed


def _one(test: Test) -> SelfTestResult:
    from wirelab import selftest

    try:
        return test()
    except TrialFailed as failure:
        return selftest.SelfTestResult(selftest.name(test), False, failure.reason, {})
