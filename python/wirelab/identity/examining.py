"""One examination: starts a service, lets the engine call it, and returns the differences."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from wirelab.errors import EngineRefused, TrialFailed
from wirelab.identity import outages
from wirelab.identity.finding import Exam, Examination
from wirelab.identity.subject import HELLO_BYTES, Subject
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.databases import MEMORY, Store, Stores
from wirelab.process.endpoint import Endpoint
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Service
from wirelab.stack.reference import Stack

EXAMINATION_S_MAX = 900.0
"""Time limit of an examination; a deep one makes millions of calls."""
SEED = 0
"""Seed of the calls: every examination makes the same ones, so findings are reproducible."""
ACCOUNTS, BALANCE = 1_000, 1_000_000_000
"""Store that is examined (contracts/README.md, defaults)."""

STORE_TIMEOUT_MS = 50_000
"""Shorter than the engine's timeout for a call of the examination."""


def examine(
    program: Program,
    stack: Stack,
    contract: str,
    *,
    interruption: Interruption,
    engine_sha256: str,
    deep: bool = False,
    faults: Mapping[str, object] | None = None,
    url: str = "",
    ready_timeout_s: float | None = None,
) -> Examination:
    """Examines a separate service, which ends afterwards, with a separate store; ``url`` is that of
    a running PostgreSQL, and ``ready_timeout_s`` that of the service's process. A service that
    fails is an examination with a failure. Raises :class:`Interrupted`, :class:`EngineRefused`,
    :class:`LabError`."""
    began = time.monotonic()
    exams: tuple[Exam, ...] = ()
    failure = ""
    with Scratch() as scratch:
        try:
            with (
                Stores(interruption, url) as stores,
                stores.open(stack, scratch.folder) as store,
            ):
                subject = Subject(
                    program,
                    stack,
                    contract,
                    store,
                    scratch,
                    interruption,
                    faults or {},
                    ready_timeout_s,
                )
                exams = _exams(subject, deep)
        except TrialFailed as failed:
            failure = failed.reason
    return Examination(
        stack=str(stack),
        contract=contract,
        sha256=program.sha256,
        engine_sha256=engine_sha256,
        deep=deep,
        seed=SEED,
        seconds=round(time.monotonic() - began, 3),
        exams=exams,
        failure=failure,
    )


def _exams(subject: Subject, deep: bool) -> tuple[Exam, ...]:
    """Sections of the engine; with a database also that of its outages."""
    with subject.start(**_patience(subject.store)) as (service, endpoint):
        document = _document(subject.stack, subject.contract, endpoint, deep)
        log = subject.folder / "engine.log"
        exams = _ask_engine(document, log, service, subject.interruption)
    if subject.contract == outages.CONTRACT and subject.store.kind != MEMORY:
        return (*exams, outages.exam(subject))
    return exams


def _patience(store: Store) -> dict[str, int]:
    """Hundreds of callers may wait for a slow disk, which is not a difference."""
    return {} if store.kind == MEMORY else {"timeout_ms": STORE_TIMEOUT_MS}


def _document(stack: Stack, contract: str, endpoint: Endpoint, deep: bool) -> dict[str, object]:
    """Input of `wirelab-engine verify` (contracts/process/verify.schema.json)."""
    called = {key: value for key, value in endpoint.group().items() if key != "report"}
    return {
        **called,
        "stack": stack.engine_stack(),
        "contract": contract,
        "store": {"hello_bytes": HELLO_BYTES, "accounts": ACCOUNTS, "balance": BALANCE},
        "seed": SEED,
        "deep": deep,
    }


def _ask_engine(
    document: dict[str, object], log: Path, service: Service, interruption: Interruption
) -> tuple[Exam, ...]:
    child = Child([str(engine_binary.find()), "verify"], ProcessOptions(log=log))
    try:
        child.say(json.dumps(document).encode() + b"\n")
        child.close_input()
        said = _answer(child, interruption)
    finally:
        child.kill()
    if said.event == "error":
        if said.kind == "plan":
            message = f"the engine refused the examination: {said.message}"
            raise EngineRefused(message, said.remedy)
        raise TrialFailed(service.death() or said.message)
    try:
        return msgspec.json.decode(said.exams, type=tuple[Exam, ...])
    except msgspec.ValidationError as error:
        raise EngineRefused(
            f"the engine's output is not an examination: {error}",
            "run `make setup`, so that engine and Python package have the same version",
        ) from error


class _Answer(msgspec.Struct):
    """The engine's one line: an examination, or an error."""

    event: str = ""
    kind: str = ""
    message: str = ""
    remedy: str = ""
    exams: msgspec.Raw = msgspec.Raw(b"null")


def _answer(child: Child, interruption: Interruption) -> _Answer:
    deadline = time.monotonic() + EXAMINATION_S_MAX
    while (line := child.line(POLL_S)) is None:
        interruption.check()
        if time.monotonic() > deadline:
            raise TrialFailed(f"the examination took more than {EXAMINATION_S_MAX:.0f} s")
    try:
        return msgspec.json.decode(line, type=_Answer)
    except ValueError as error:
        code = child.end(1.0)
        ended = f"the engine ended with {describe_exit(code)}: {child.log_tail()}"
        raise TrialFailed(ended) from error
