"""Turns the options of ``wirelab drive`` into a target, a call and an amount, and runs them."""

from __future__ import annotations

import ipaddress
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from wirelab.cli.drive_contradictions import refuse_contradictions
from wirelab.cli.drive_live import LiveChart, LiveLine
from wirelab.cli.error_handling import err, out
from wirelab.cli.options.drive import (
    ConnectionOptions,
    ContractOptions,
    MessageOptions,
    Options,
    OutputOptions,
)
from wirelab.cli.output import drive as drive_output
from wirelab.cli.thresholds import (
    accept_folder,
    exit_code,
    sentence,
    show_verdicts,
    write_junit,
)
from wirelab.documents.event import Outcome
from wirelab.drive import load_values, request
from wirelab.drive.advice import hints, noise
from wirelab.drive.amount import Amount, Spread
from wirelab.drive.request import Data, Request
from wirelab.drive.session import Call, OnProgress, drive_server, drive_stack, read_message
from wirelab.drive.summary import summary
from wirelab.errors import EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from wirelab.format.console import Ticker
from wirelab.process.interruption import Interruption
from wirelab.records.group import GroupResult
from wirelab.secrets import given
from wirelab.secrets.finding import hide_target
from wirelab.secrets.known import KnownSecrets
from wirelab.stack import targets
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Condition, Judged


Json = dict[str, Any]


def make_amount(options: Options) -> Amount:
    """How many calls to make, and how fast. Raises :class:`UsageError`."""
    load, pattern = options.load, options.pattern
    positive = load_values.positive
    start_rate = load_values.rate("--start-rate", pattern.start_rate or 0.0, zero=True)
    stages = load_values.stages("--stage", tuple(pattern.stages), start_rate)
    users = [int(stage.to) for stage in stages if not stage.of_rate]
    return Amount(
        connections=options.connection.connections,
        in_flight=options.connection.in_flight,
        users=max(users) if users else load.users,
        think=load_values.spread("--think", pattern.think) if pattern.think else Spread(0.0),
        calls_per_pause=pattern.calls_per_pause or 1,
        iterations=pattern.iterations,
        rate=None if load.rate is None else load_values.rate("--rate", load.rate),
        poisson=load.poisson,
        stages=stages,
        start_rate=start_rate,
        bursts=load_values.bursts(pattern.burst, pattern.gap or "", load.rate)
        if pattern.burst is not None
        else None,
        seed=options.seed,
        duration_s=None if load.duration is None else positive("--duration", load.duration),
        calls=load.calls,
        max_s=positive("--max-time", load.max_time or "10min"),
        warmup_s=load_values.seconds("--warmup", load.warmup),
        timeout_s=positive("--timeout", load.timeout),
    )


def make_call(options: Options, target: Stack | Server) -> Call:
    """What to call. Raises :class:`UsageError`."""
    connection, message = options.connection, options.message
    data, is_grpc = message.data, _is_grpc(target)
    headers = _headers(message, is_grpc=is_grpc)
    return Call(
        method=message.method,
        headers=tuple(pair for pair in headers if pair[0] != "host"),
        host=next((value for name, value in headers if name == "host"), ""),
        sni=connection.sni or "",
        status=message.expect_status,
        body=_body(data if not is_grpc else None, message.body),
        message=read_message(data) if data is not None and is_grpc else None,
        proto=_existing("--proto", message.proto),
        imports=tuple(message.imports),
        http2=connection.http2,
        close=connection.close,
        ca=_existing("--ca", connection.ca),
        insecure=connection.insecure,
        request=_request(options.contract, options.seed),
        work=_work(connection.work),
    )


@dataclass(frozen=True)
class Measured:
    """Result of a drive."""

    target: str
    result: Json
    outcome: Outcome
    judged: Sequence[Judged]
    """Verdicts on the thresholds."""

    def document(self) -> Json:
        """What ``--json`` prints."""
        conditions = [one.to_json() for one in self.judged]
        return {"target": self.target, **self.result, "conditions": conditions}

    @property
    def exit_code(self) -> int:
        if self.outcome.interrupted:
            return EXIT_INTERRUPTED
        return exit_code(self.judged) if self.result["ok"] else EXIT_FAILED


Display = Callable[[], AbstractContextManager[OnProgress]]
"""Returns what shows the progress while the calls are made."""


def run(options: Options) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    output = options.output
    made = measured(options, lambda: _live(output))
    if output.as_json:
        print(json.dumps(made.document(), indent=1))
    else:
        drive_output.show(made.target, made.result)
        show_verdicts(made.judged, min(out.width, drive_output.WIDTH))
    # Written after the result is printed, so that a full disk does not lose the result.
    if output.report is not None:
        _write_report(made, output.report)
    write_junit(made.target, made.judged, options.thresholds.junit)
    return made.exit_code


def measured(options: Options, display: Display) -> Measured:
    """Makes the calls. The result has no secrets of the options. Raises :class:`WirelabError`,
    also without them."""
    known = _secrets(options)
    with known.hiding_errors():
        return _measured(options, display, known)


def _secrets(options: Options) -> KnownSecrets:
    """What the target, the headers and the content hold."""
    message = options.message
    pairs = (header.partition(":") for header in message.headers)
    headers = [(name.strip(), value.strip()) for name, _, value in pairs]
    content = message.data or ""
    if str(message.body) == "-":
        content = _stdin().decode("utf-8", "replace")
    elif message.body is not None and message.body.is_file():
        content = message.body.read_bytes().decode("utf-8", "replace")
    return given.of_request(options.target, headers, content)


def _measured(options: Options, display: Display, known: KnownSecrets) -> Measured:
    refuse_contradictions(options)
    conditions = options.thresholds.conditions()
    if options.output.report is not None:
        accept_folder("--report", options.output.report)
    target = targets.parse(options.target, _address(options))
    _refuse_foreign(target, options)
    amount, call = make_amount(options), make_call(options, target)
    target, call, followed = _looked_ahead(target, call, options)
    with Interruption() as interruption, display() as on_progress:
        outcome = _drive(target, call, amount, options.connection, interruption, on_progress)
    notes = hints(
        target,
        GroupResult.of(outcome.groups[0]),
        amount,
        interrupted=outcome.interrupted,
        keeps=_keeps(target, call),
        authority=options.connection.ca,
    )
    result = {
        **msgspec.to_builtins(summary(outcome, amount)),
        "hints": [*followed, *notes],
        "noise": noise(GroupResult.of(outcome.groups[0]), outcome.process),
    }
    named = hide_target(options.target)
    judged = _judged(conditions, named, outcome)
    return Measured(named, known.hide_json(result), outcome, judged)


def _looked_ahead(
    target: Stack | Server, call: Call, options: Options
) -> tuple[Stack | Server, Call, tuple[str, ...]]:
    """Target and call after redirects and cookies have been resolved, and notes about them."""
    message = options.message
    if isinstance(target, Stack) or not (message.follow or message.cookies):
        return target, call, ()
    from wirelab.drive.preflight import look_ahead  # loads an HTTP client that few runs need

    found = look_ahead(
        options.target,
        call,
        follow=message.follow,
        cookies=message.cookies,
        any_target=options.connection.any_target,
    )
    return found.server, found.call, found.notes


@contextmanager
def _live(output: OutputOptions) -> Iterator[OnProgress]:
    """The live display; does nothing if standard error is not a terminal."""
    if not output.tui and not err.is_terminal:
        yield None
        return
    with LiveChart(err) if output.tui else LiveLine(err) as live:
        yield live.show


def _write_report(made: Measured, file: Path) -> None:
    from wirelab.report.drive_page import drive_page
    from wirelab.run.directory import write_whole

    sentences = list(map(sentence, made.judged))
    page = drive_page(made.target, made.result, made.outcome.groups[0], sentences)
    try:
        write_whole(file, page)
    except OSError as error:
        raise UsageError(f"--report {file} cannot be written: {error.strerror}") from error


def _judged(conditions: Sequence[Condition], target: str, outcome: Outcome) -> list[Judged]:
    if not conditions:
        return []
    from wirelab.records.caller import CallerRecord
    from wirelab.records.load import LoadRecord
    from wirelab.records.trial import Point, Trial

    group = GroupResult.of(outcome.groups[0])
    trial = Trial(
        id="drive",
        point=Point(target, {}, "", 0, LoadRecord(kind=group.load)),
        repeat=0,
        order=0,
        status="measured",
        result=group,
        engine=CallerRecord.of(outcome.process),
    )
    return [condition.judge_run(target, trial) for condition in conditions]


def _drive(
    target: Stack | Server,
    call: Call,
    amount: Amount,
    connection: ConnectionOptions,
    interruption: Interruption,
    on_progress: OnProgress,
) -> Outcome:
    if isinstance(target, Stack):
        return drive_stack(
            target,
            call,
            amount,
            interruption=interruption,
            on_progress=on_progress,
            postgres=connection.postgres,
            ready_timeout_s=connection.ready_timeout_s,
            on_build=Ticker(err).show,
        )
    return drive_server(
        target,
        call,
        amount,
        any_target=connection.any_target,
        interruption=interruption,
        on_progress=on_progress,
    )


OF_URLS = {
    "expect-status": "the contract defines the replies",
    "method": "the contract defines how operations are called",
    "header": "the contract defines the headers of calls",
    "data": "the contract defines the message: use --operation and --size",
    "body": "the contract defines the message: use --operation and --size",
    "proto": "the contract is known: use --operation",
    "follow": "it never redirects",
    "cookies": "it sets no cookies",
    "http2": "write the axis, e.g. rest@rust?transport=http/2",
    "ca": "wirelab creates its certificate: write ?security=tls",
    "insecure": "wirelab creates its certificate: write ?security=tls",
    "sni": "wirelab creates its certificate: write ?security=tls",
    "resolve": "wirelab starts it on this machine",
    "any-target": "wirelab starts it on this machine",
}
"""Options that do not apply to wirelab's own services, with the reason."""
OF_STACKS = {"ready-timeout": "leave it out: a server at a URL is running already"}
"""What to do about options that do not apply to URLs, if it is not about the content."""


def _refuse_foreign(target: Stack | Server, options: Options) -> None:
    """Refuses, by name, options that do not apply to the target."""
    connection, message, contract = options.connection, options.message, options.contract
    of_urls = {
        "expect-status": message.expect_status,
        "method": message.method,
        "header": message.headers,
        "data": message.data,
        "body": message.body,
        "proto": message.proto,
        "follow": message.follow,
        "cookies": message.cookies,
        "http2": connection.http2,
        "ca": connection.ca,
        "insecure": connection.insecure,
        "sni": connection.sni,
        "resolve": connection.resolve,
        "any-target": connection.any_target,
    }
    of_stacks = {
        "operation": contract.operation,
        "sequence": contract.sequence,
        "size": contract.size,
        "mix": contract.mix,
        "step": contract.steps,
        "data-file": contract.data_file,
        "data-random": contract.data_random,
        "ready-timeout": connection.ready_timeout_s,
    }
    if connection.postgres and not _is_on_postgres(target):
        raise UsageError(
            f"--postgres needs store=postgres, but {hide_target(options.target)} has another store",
            "use a stack such as rest@rust?store=postgres, or leave --postgres out",
        )
    for option in _present(of_urls) if isinstance(target, Stack) else ():
        raise UsageError(
            f"--{option} applies to URLs only, and {target} is a service of wirelab",
            OF_URLS[option],
        )
    for option in _present(of_stacks) if isinstance(target, Server) else ():
        raise UsageError(
            f"--{option} applies only to services of wirelab, such as rest@rust",
            OF_STACKS.get(option, "use --data or --body to send content to a URL"),
        )


def _address(options: Options) -> str:
    """IP address of the target by ``--resolve``; empty without it. Raises :class:`UsageError`."""
    given = options.connection.resolve
    if given is None or "://" not in options.target:
        return ""
    if options.message.follow or options.message.cookies:
        raise UsageError("--resolve excludes --follow and --cookies", "name the final URL")
    found = re.fullmatch(r"([^:]+):(\d+):\[?([0-9A-Fa-f.:]+)\]?", given)
    try:
        url = urlsplit(options.target)
        named = (url.hostname, url.port or targets.PORTS.get(url.scheme))
        address = str(ipaddress.ip_address(found[3])) if found else ""
    except ValueError as error:
        raise UsageError(f"--resolve {given}: {error}", "write HOST:PORT:ADDRESS") from None
    if found is None or (found[1].lower(), int(found[2])) != named:
        raise UsageError(
            f"--resolve {given} does not name the host and port of the URL",
            "write HOST:PORT:ADDRESS, e.g. api.test:80:127.0.0.1",
        )
    return address


def _is_on_postgres(target: Stack | Server) -> bool:
    return isinstance(target, Stack) and target.axes["store"] == "postgres"


def _present(values: Mapping[str, object]) -> list[str]:
    """Names of the options that were given; an empty text counts as given."""
    return [name for name, value in values.items() if value not in (None, False, ())]


def _headers(message: MessageOptions, *, is_grpc: bool) -> tuple[tuple[str, str], ...]:
    """The given headers, plus a content-type if ``--data`` is JSON."""
    headers = tuple(map(_header, message.headers))
    if message.data is None or is_grpc or any(name == "content-type" for name, _ in headers):
        return headers
    try:
        json.loads(message.data)
    except (ValueError, RecursionError):
        return headers
    return (*headers, ("content-type", "application/json"))


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(
            f"--header {hide_target(text)!r} is not a header", "write it as 'Name: value'"
        )
    return name.strip().lower(), value.strip()


def _request(contract: ContractOptions, seed: int) -> Request:
    """The request to one of wirelab's services. Raises :class:`UsageError`."""
    data = Data(
        _existing("--data-file", contract.data_file),
        tuple(contract.data_random),
        contract.data_rows,
        contract.data_per,
    ).described()
    if contract.mix:
        return request.mix(contract.mix, seed)
    if contract.steps:
        return request.steps(contract.steps, data, seed)
    message = request.single(contract.operation, contract.sequence, contract.size)
    return request.with_data(message, data, seed) if data else Request.of(message)


def _is_grpc(target: Stack | Server) -> bool:
    return isinstance(target, Server) and target.kind == "grpc"


def _body(data: str | None, body: Path | None) -> bytes | None:
    if body is not None:
        try:
            return _stdin() if str(body) == "-" else body.read_bytes()
        except OSError as error:
            raise UsageError(f"--body {body} cannot be read: {error.strerror}") from None
    return data.encode() if data is not None else None


@cache
def _stdin() -> bytes:
    """Standard input, which can be read once."""
    return sys.stdin.buffer.read()


def _existing(option: str, path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"{option} {path} is not a file", "check the path")
    return path


def _work(work: str | None) -> str | None:
    if work not in (None, "decode", "frame"):
        raise UsageError(f"--work {work} is unknown", "give decode or frame")
    return work


def _keeps(target: Stack | Server, call: Call) -> bool:
    """Whether connections are kept open between calls."""
    if isinstance(target, Stack):
        return target.axes["connection"] != "close"
    return not call.close
