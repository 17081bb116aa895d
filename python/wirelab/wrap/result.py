"""The result of a wrapped command: the record that is shown, kept and printed as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from wirelab.loadtools import adapters
from wirelab.loadtools.tool_report import ToolOptions, ToolReport
from wirelab.process import metrics
from wirelab.records.trial import Check
from wirelab.records.wire import WireRecord
from wirelab.secrets.finding import replace_in_words
from wirelab.trial import dissected
from wirelab.wrap import checks as judgement
from wirelab.wrap import comparison
from wirelab.wrap.checks import Case, Verdict
from wirelab.wrap.comparison import Pair
from wirelab.wrap.kind import Kind
from wirelab.wrap.load_kind import find_kind
from wirelab.wrap.process import How
from wirelab.wrap.session import Measured

VERSION = 3


@dataclass(frozen=True)
class WrappedTool:
    """The wrapped command."""

    name: str | None
    """None: the options and reports of the tool are not supported."""
    how: How
    """How it ended."""
    stopped: str | None
    """Why wirelab ended it, apart from interruption and time limit."""
    exit_code: int
    seconds: float
    cpu_s: float
    cpu_cores: float | None
    """Mean number of cores that it used while it sent requests."""
    threads_max: int
    processes_max: int
    processes_left: int
    switches_involuntary: int
    output_cut: bool


@dataclass(frozen=True)
class Result:
    """The command, the figures from packets and from the tool's report, and the checks that compare
    them."""

    measured: Measured
    tool: WrappedTool
    options: ToolOptions | None
    report: ToolReport | None
    wire: WireRecord
    kind: Kind
    compared: tuple[Pair, ...]
    checks: tuple[Check, ...]
    verdict: Verdict
    server_cpu_cores: float | None
    kept: Path | None = None
    """The folder that contains capture and output."""
    page: Path | None = None

    @property
    def tool_name(self) -> str:
        """Name for headings."""
        return self.tool.name or "the tool"

    @property
    def keylog(self) -> Literal["off", "unused", "honoured", "ignored"]:
        """Whether the tool wrote the secrets of its TLS connections, as it was asked to.
        ``unused``: it had no such connection."""
        measured, tls = self.measured, self.measured.document.tls
        if measured.keylog is None:
            return "off"
        if tls.connections == 0:
            return "unused"
        # The user's own key log may hold secrets of other connections only.
        is_known = measured.secrets > 0 and tls.encrypted.no_secrets < tls.connections
        return "honoured" if is_known else "ignored"

    def statuses(self) -> str:
        """``replies 200: 1,000``."""
        counts: dict[str, int] = {}
        for named in self.measured.document.exchanges.by_name:
            for status, count in named.status.items():
                counts[status] = counts.get(status, 0) + count
        replies = ", ".join(f"{_name_status(status)}: {n:,}" for status, n in counts.items())
        return f"replies {replies}" if replies else "no reply"

    def to_json(self) -> dict[str, object]:
        """The document that ``--json`` prints and ``wrap.json`` contains; names of times include
        the unit."""
        measured, document = self.measured, self.measured.document
        wire = self.wire.to_json()
        for name in (
            "reconciliation",
            "not_reconciled",
        ):  # calls of third-party tools are not logged
            wire.pop(name)
        line: dict[str, object] = msgspec.to_builtins(
            {
                "wrap": VERSION,
                "command": replace_in_words(measured.command),
                "port": measured.port,
                "tool": self.tool,
                "service": measured.service
                and {
                    **msgspec.to_builtins(measured.service),
                    "proof": measured.service.proof.to_json(),
                    "cpu_cores": self.server_cpu_cores,
                },
                "server_cpu_cores": self.server_cpu_cores,
                "link": measured.link,
                "capture": measured.capture,
                "others": measured.others,
                "tls": {
                    "connections": document.tls.connections,
                    "decrypted": document.tls.decrypted,
                    "keylog": self.keylog,
                    "secrets_of": measured.secrets,
                },
                "tool_options": self.options,
                "tool_report": self.report,
                "wire": {
                    **wire,
                    "by_name": document.exchanges.by_name,
                    "endings": document.exchanges.endings,
                    "bad_replies": judgement.bad_replies(document, self.options),
                },
                "load": {
                    "kind": self.kind.name,
                    "reason": self.kind.reason,
                    **msgspec.to_builtins(msgspec.structs.replace(document.load, sample=None)),
                },
                "compared": [
                    {**msgspec.to_builtins(pair), "ratio": pair.ratio} for pair in self.compared
                ],
                "checks": self.checks,
                "verdict": self.verdict,
                "kept": self.kept and str(self.kept),
                "report": self.page and str(self.page),
            }
        )
        hidden: dict[str, object] = measured.known_secrets.hide_json(line)
        return hidden


def _name_status(status: str) -> str:
    """``200/14`` is a status of HTTP and, behind it, that of gRPC."""
    http, slash, grpc = status.partition("/")
    return f"{http} with grpc-status {grpc}" if slash else status


def result(measured: Measured) -> Result:
    """The complete record of a command that has ended."""
    case = case_of(measured)
    checks = judgement.judge(case)
    return Result(
        measured=measured,
        tool=_tool(measured),
        options=case.options,
        report=case.report,
        wire=dissected.brief(measured.document),
        kind=case.kind,
        compared=tuple(case.pairs),
        checks=tuple(checks),
        verdict=judgement.verdict(case, checks),
        server_cpu_cores=_server_cores(measured),
    )


def case_of(measured: Measured) -> Case:
    """Input of the checks: options and report of a known tool, and the packets."""
    ran = measured.ran
    reading = adapters.read(measured.command, "" if ran.cut else ran.output)
    report, options = reading.report, reading.options
    return Case(
        measured,
        options,
        report,
        find_kind(measured.document.load, options),
        comparison.pairs(report, measured.document, measured.late_s) if report else [],
        reading.reason,
    )


def _tool(measured: Measured) -> WrappedTool:
    ran = measured.ran
    return WrappedTool(
        name=adapters.read(measured.command, "").name,
        how=ran.how,
        stopped=measured.stopped,
        exit_code=ran.ended.code,
        seconds=ran.seconds,
        cpu_s=max(ran.ended.cpu_user_s + ran.ended.cpu_system_s, ran.cpu[-1].value),
        cpu_cores=judgement.tool_cores(measured),
        threads_max=ran.threads_max(),
        processes_max=ran.processes_max,
        processes_left=len(ran.left),
        switches_involuntary=ran.ended.switches_involuntary,
        output_cut=ran.cut,
    )


def _server_cores(measured: Measured) -> float | None:
    """Mean number of cores that the server used while requests arrived."""
    window = measured.window_ns()
    if window is None or window[1] <= window[0]:
        return None
    grown = metrics.growth(measured.service_cpu, *window)
    return None if grown is None else grown / ((window[1] - window[0]) / 1e9)
