"""Generated services examined before they are timed: every reply is decoded and compared."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from wirelab.choose import samples
from wirelab.choose.candidates import Candidate
from wirelab.choose.samples import Exchange, Sample, Seen
from wirelab.contracts.codecs import decode
from wirelab.contracts.values import complete, has_many_entries
from wirelab.errors import LabError, TrialFailed, UsageError
from wirelab.experiment.external import ExternalService
from wirelab.process.children import ProcessOptions
from wirelab.process.external import ExternalProcess, ListenHost
from wirelab.process.interruption import Interruption

CALL_S = 10.0
ROUNDS = 3
"""Times that each request is sent."""


class WrongService(LabError):
    """A generated service gave a wrong reply; nothing of it is measured."""


def examine(
    sample: Sample,
    candidate: Candidate,
    service: ExternalService,
    every: Sequence[Exchange],
    folder: Path,
    interruption: Interruption,
) -> tuple[Seen, ...]:
    """Sends every request over HTTP/1.1 and compares the replies. Returns what was seen of each
    exchange. Raises :class:`WrongService`."""
    contract = sample.contract
    found = tuple(
        Seen(is_ordered=not has_many_entries(contract, contract.reply, one.reply)) for one in every
    )
    with (
        _start_service(service, folder, interruption) as (host, port),
        closing(http.client.HTTPConnection(host, port, timeout=CALL_S)) as connection,
    ):
        # Rounds, so that a service that keeps its last reply gives it to another request.
        for _ in range(ROUNDS):
            interruption.check()
            for number, exchange in enumerate(every):
                content = _call(connection, sample, candidate, exchange)
                _compare(sample, candidate, number, exchange, content)
                found[number].contents.add(content)
    return found


@contextmanager
def _start_service(
    service: ExternalService, folder: Path, interruption: Interruption
) -> Iterator[tuple[str, int]]:
    """Host and port of the service; it is ended afterwards. Raises :class:`WrongService`."""
    log = folder / f"{service.name}.examination.log"
    try:
        with ExternalProcess(
            service, ListenHost(), ProcessOptions(log), interruption=interruption
        ) as process:
            host, _, port = process.address.rpartition(":")
            yield host, int(port)
    except TrialFailed as failure:
        raise WrongService(
            f"the generated service {service.name} {failure.reason}", f"its output is in {log}"
        ) from failure


def _call(
    connection: http.client.HTTPConnection, sample: Sample, candidate: Candidate, exchange: Exchange
) -> bytes:
    body = samples.request_bytes(sample, exchange, candidate)
    try:
        connection.request(
            "POST", samples.path(candidate), body, samples.headers(sample, candidate)
        )
        reply = connection.getresponse()
        content = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise WrongService(
            f"{candidate.reference}: no reply to a request: {error}",
            "its output is next to the answer",
        ) from error
    if reply.status != 200:
        text = content[:200].decode(errors="replace")
        raise WrongService(
            f"{candidate.reference}: status {reply.status} to a right request: {text}",
            "this is a fault of the generated service",
        )
    return content


def _compare(
    sample: Sample, candidate: Candidate, number: int, exchange: Exchange, content: bytes
) -> None:
    contract = sample.contract
    try:
        got = decode(contract, contract.reply, content, samples.codec_of(candidate))
    except UsageError as error:
        raise WrongService(
            f"{candidate.reference}: the reply to request {number + 1} cannot be read: "
            f"{error.message}",
            "this is a fault of the generated service",
        ) from error
    right = complete(contract, contract.reply, exchange.reply)
    if complete(contract, contract.reply, got) != right:
        raise WrongService(
            f"{candidate.reference}: the reply to request {number + 1} is wrong: "
            f"{_difference(got, right)}",
            "this is a fault of the generated service",
        )


def _difference(got: object, right: object, path: str = "") -> str:
    """The first place where two values differ."""
    if isinstance(got, dict) and isinstance(right, dict):
        for key in right | got:
            if got.get(key) != right.get(key):
                return _difference(got.get(key), right.get(key), f"{path}.{key}".lstrip("."))
    if isinstance(got, list) and isinstance(right, list) and len(got) == len(right):
        for at, (one, other) in enumerate(zip(got, right, strict=True)):
            if one != other:
                return _difference(one, other, f"{path}[{at}]")
    return f"{path or 'the message'} is {got!r:.80}, not {right!r:.80}"
