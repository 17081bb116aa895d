"""One examination: a service is started, the engine gives it calls and says what differed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from wirelab.errors import EngineRefused, TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.databases import Store, Stores
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Service, Settings
from wirelab.stack.reference import Stack

EXAMINATION_S_MAX = 900.0
"""An examination that takes longer is ended; a deep one makes millions of calls."""
SEED = 0
"""The same calls in every examination, so that what one found can be found again."""
ACCOUNTS, BALANCE, HELLO_BYTES = 1_000, 1_000_000_000, 14
"""The store that is examined (contracts/README.md, defaults)."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One difference between service and model."""

    name: str
    call: str
    expected: str
    found: str


@dataclass(frozen=True)
class Exam:
    """One section: ``operations``, ``errors``, ``limits``, ``vectors`` or ``money``."""

    section: str
    calls: int
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Examination:
    """All sections of one service, contract and stack."""

    stack: str
    """Reference of the identity point."""
    contract: str
    sha256: str
    """Of the service's binary."""
    engine_sha256: str
    deep: bool
    seed: int
    seconds: float
    exams: tuple[Exam, ...] = ()
    failure: str = ""
    """Why there are no sections, or not all: the service did not start, or fell silent."""


def examine(
    program: Program,
    stack: Stack,
    contract: str,
    *,
    interruption: Interruption,
    engine_sha256: str,
    deep: bool = False,
    faults: Json | None = None,
    url: str = "",
) -> Examination:
    """Examines a service of its own, which ends afterwards, on a store of its own; ``url``
    names a PostgreSQL that already runs. A service that fails is an examination with a
    failure. Raises :class:`Interrupted`, :class:`EngineRefused`, :class:`LabError`."""
    began = time.monotonic()
    exams: tuple[Exam, ...] = ()
    failure = ""
    with Scratch() as scratch:
        try:
            listen = ListenSpec.of(stack, scratch)
            with (
                Stores(interruption, url) as stores,
                stores.opened(stack, scratch.folder) as store,
            ):
                subject = Subject(program, stack, contract, listen, faults or {}, store)
                exams = subject.exams(scratch.folder, interruption, deep)
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


@dataclass(frozen=True)
class Subject:
    """What is examined."""

    program: Program
    stack: Stack
    contract: str
    listen: ListenSpec
    faults: Json
    store: Store

    def exams(self, folder: Path, interruption: Interruption, deep: bool) -> tuple[Exam, ...]:
        """Starts the service and has the engine examine it. Raises :class:`TrialFailed`."""
        settings = Settings(
            hello_bytes=HELLO_BYTES,
            processors=2,
            collector=self.program.manifest.collector,
            faults=self.faults,
            store=self.store.configuration(),
        )
        configuration = settings.configuration(self.stack, self.contract, self.listen)
        log = folder / "service.log"
        with Service(
            self.program, configuration, ProcessOptions(log=log), interruption=interruption
        ) as service:
            document = self.document(service.endpoint(self.listen), deep)
            return _asked(document, folder / "engine.log", service, interruption)

    def document(self, endpoint: Endpoint, deep: bool) -> Json:
        """What `wirelab-engine verify` reads (contracts/process/verify.schema.json)."""
        called = {key: value for key, value in endpoint.group().items() if key != "report"}
        return {
            **called,
            "stack": self.stack.engine_stack(),
            "contract": self.contract,
            "store": {"hello_bytes": HELLO_BYTES, "accounts": ACCOUNTS, "balance": BALANCE},
            "seed": SEED,
            "deep": deep,
        }


def _asked(
    document: Json, log: Path, service: Service, interruption: Interruption
) -> tuple[Exam, ...]:
    child = Child([str(engine_binary.find()), "verify"], ProcessOptions(log=log))
    try:
        child.say(json.dumps(document).encode() + b"\n")
        child.close_input()
        said = _answer(child, interruption)
    finally:
        child.kill()
    if said.get("event") == "error":
        message, remedy = str(said.get("message")), str(said.get("remedy", ""))
        if said.get("kind") == "plan":
            raise EngineRefused(f"the engine refused to examine: {message}", remedy)
        raise TrialFailed(service.death() or message)
    try:
        return msgspec.convert(said["exams"], tuple[Exam, ...])
    except (KeyError, msgspec.ValidationError) as error:
        raise EngineRefused(
            f"the engine's answer is no examination: {error}",
            "are the engine and the front of one version? run `make setup`",
        ) from error


def _answer(child: Child, interruption: Interruption) -> Json:
    deadline = time.monotonic() + EXAMINATION_S_MAX
    while (line := child.line(POLL_S)) is None:
        interruption.check()
        if time.monotonic() > deadline:
            raise TrialFailed(f"the examination took over {EXAMINATION_S_MAX:.0f} s")
    try:
        said = json.loads(line) if line else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        code = child.end(1.0)
        raise TrialFailed(f"the engine ended with {describe_exit(code)}: {child.log_tail()}")
    return said
