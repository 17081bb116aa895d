"""What wrapping a command gave, as one JSON object."""

from __future__ import annotations

from typing import Any

from wirelab.loadtools import adapters
from wirelab.process import metrics
from wirelab.trial import dissection
from wirelab.trial.record import Check
from wirelab.wrap import arrivals, comparison
from wirelab.wrap import checks as judgement
from wirelab.wrap.checks import Case
from wirelab.wrap.session import Measured

VERSION = 2

Json = dict[str, Any]


def result(measured: Measured) -> Json:
    """The whole record: what was run, what the packets say, what the tool says, and the
    checks of the one by the other. Times carry their unit in their names."""
    case = case_of(measured)
    checks = judgement.judge(case)
    trusted, words = judgement.verdict(case, checks)
    document = measured.document
    wire = dissection.brief(document).to_json()
    wire.pop("reconciliation")  # no call of a foreign tool is logged
    return {
        "wrap": VERSION,
        "command": list(measured.command),
        "port": measured.port,
        "tool": _tool(measured),
        "service": measured.service and {**measured.service, "cpu_cores": _service_cores(measured)},
        "server_cpu_cores": _service_cores(measured),
        "link": measured.link,
        "capture": measured.capture,
        "tool_options": case.options and case.options.to_json(),
        "tool_report": case.report and case.report.to_json(),
        "wire": {
            **wire,
            "by_name": document["exchanges"]["by_name"],
            "endings": document["exchanges"]["endings"],
            "bad_replies": judgement.bad_replies(document),
        },
        "load": {"kind": case.kind.name, "reason": case.kind.reason, **document["load"]},
        "compared": [pair.to_json() for pair in case.pairs],
        "checks": [_check(check) for check in checks],
        "verdict": {"trusted": trusted, "words": words},
    }


def case_of(measured: Measured) -> Case:
    """What is judged: options and report of a known tool beside the packets."""
    known = adapters.recognise(measured.command)
    options = report = None
    if known is not None:
        reader, words = known
        options = reader.read_options(words, measured.ran.output)
        report = None if measured.ran.cut else reader.read_report(measured.ran.output)
    return Case(
        measured,
        options,
        report,
        arrivals.kind(measured.document["load"], options),
        comparison.pairs(report, measured.document) if report else [],
    )


def _tool(measured: Measured) -> Json:
    ran = measured.ran
    known = adapters.recognise(measured.command)
    return {
        "name": known[0].name if known else None,
        "how": ran.how,
        "stopped": measured.stopped,
        "exit_code": ran.ended.code,
        "seconds": ran.seconds,
        "cpu_s": max(ran.ended.cpu_user_s + ran.ended.cpu_system_s, ran.cpu[-1].value),
        "cpu_cores": judgement.tool_cores(measured),
        "threads_max": ran.threads_max(),
        "processes_max": ran.processes_max,
        "processes_left": ran.left,
        "switches_involuntary": ran.ended.switches_involuntary,
        "output_cut": ran.cut,
    }


def _service_cores(measured: Measured) -> float | None:
    """Cores that the server kept busy while requests came."""
    window = measured.window_ns()
    if window is None or window[1] <= window[0]:
        return None
    grown = metrics.growth(measured.service_cpu, *window)
    return None if grown is None else grown / ((window[1] - window[0]) / 1e9)


def _check(check: Check) -> Json:
    return {"name": check.name, "outcome": check.outcome, "reason": check.reason}
