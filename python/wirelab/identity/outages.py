"""Contract records with a failing database: no acknowledged row is lost, no row is stored twice,
errors are clear, and the service recovers.

In each scenario the engine makes calls of Allocate while something fails. Then the rows are counted
in the database itself. At least as many rows must have been added as calls succeeded, and at most
as many as calls were made. A failed call may have stored its row once, because only its reply may
have been lost.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import msgspec

from wirelab.documents.event import GroupOutcome, Progress
from wirelab.documents.plan import Plan
from wirelab.errors import TrialFailed
from wirelab.identity.finding import Exam, Finding
from wirelab.identity.subject import Subject
from wirelab.process import sessions
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import Database
from wirelab.process.endpoint import Endpoint
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.services import Service
from wirelab.process.sessions import PostgresSession, Session
from wirelab.stack.operations import Message

SECTION = "outages"
CONTRACT = "records"
CALL = "Allocate"
UNAVAILABLE = "database unavailable"
"""Error of a call that the database did not answer (contracts/README.md, records)."""
TRANSIENT = "TRANSIENT"
"""The same in IIOP, whose system exceptions have no text."""

OUTSIDE = ("sqlite", "postgres")
"""Stores that other sessions can access, and that outlive the service."""
CALLERS = 8
POOL = 4
"""Connections of the service: fewer than callers, so that some wait for a connection and some for
the database."""
TIMEOUT_MS = 2_000
"""Default timeout of the store (docs/reference/process.md)."""
FULL_TIMEOUT_MS = 1_000
FULL_S = 2.5
"""Time during which no one can write. It exceeds twice the timeout, to detect a caller that waits
for a connection and then for the database, each for the maximum time."""
MARGIN_S = 0.7
"""Difference between the timeouts of store and caller, for the service's own work."""
BEFORE, AFTER = 100, 40
"""Calls that must succeed before something fails, and after it."""
AFTER_S = 0.3
"""Time for which calls continue after the fault before they are counted."""
RECOVERY_S_MAX = 15.0
KILLED_S_MAX = 5.0
LOAD_S_MAX = 60.0
THINK_S = 0.002
"""Pause between two calls of a caller, in case the service refuses immediately."""


@dataclass(frozen=True)
class Load:
    """Calls of Allocate, summed over several runs of the engine."""

    sent: int = 0
    """Calls made; each may have stored a row."""
    ok: int = 0
    """Successful calls: acknowledged rows."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Failed calls by kind, including those that could not be sent."""
    examples: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        return self.kinds.total()

    def plus(self, group: GroupOutcome) -> Load:
        """Adds the calls of one more run."""
        return Load(
            self.sent + group.calls_whole_run,
            self.ok + group.ok,
            self.kinds + Counter(group.errors_by_kind),
            (*self.examples, *group.error_examples),
        )


@dataclass(frozen=True)
class Scenario:
    """Something that fails while calls are made."""

    name: str
    fault: Callable[[Session], None]
    failures_min: int = 0
    failures_max: int | None = None
    is_of_service: bool = False
    """The service itself ends, so calls may fail in any way."""
    error: str = UNAVAILABLE
    """Text that every failure must contain."""


def exam(subject: Subject) -> Exam:
    """Examines separate services on the subject's store. Raises :class:`TrialFailed`,
    :class:`Interrupted`."""
    psql = sessions.find_psql()
    reason = _unreachable(subject.store.kind, psql is not None)
    if reason:
        return Exam(SECTION, 0, (), (reason,))
    examiner = _Examiner(
        subject, lambda: sessions.open_session(subject.store, psql, subject.folder / "psql.log")
    )
    examiner.examine()
    return Exam(SECTION, examiner.calls, tuple(examiner.findings), tuple(list_omissions(subject)))


def _unreachable(kind: str, has_psql: bool) -> str:
    if kind not in OUTSIDE:
        return f"{kind} is in the memory of the service, where no other session can access it"
    if kind == "postgres" and not has_psql:
        return "psql is not installed, which wirelab needs to count and lock rows"
    return ""


def list_omissions(subject: Subject) -> Iterator[str]:
    """Scenarios of the store that are not run, with the reason."""
    if subject.store.kind == "postgres" and subject.store.database is None:
        yield "a restart of the database: wirelab restarts only servers that it has started"


class _Examiner:
    """Runs the scenarios, one after the other."""

    def __init__(self, subject: Subject, session: Callable[[], Session]) -> None:
        self._subject, self._session = subject, session
        self.calls = 0
        self.findings: list[Finding] = []

    def examine(self) -> None:
        """First on a service with a pool, which is killed at the end, then on one with a single
        connection, which takes over what the first one left."""
        with self._subject.start(pool=POOL, timeout_ms=TIMEOUT_MS) as (service, endpoint):
            for scenario in self._scenarios(service):
                self._go_through(scenario, endpoint, TIMEOUT_MS)
        with self._subject.start(pool=1, timeout_ms=FULL_TIMEOUT_MS) as (service, endpoint):
            full = Scenario("a full pool", _keep_locked, failures_min=CALLERS)
            self._go_through(full, endpoint, FULL_TIMEOUT_MS)

    def _scenarios(self, service: Service) -> Iterator[Scenario]:
        if self._subject.store.kind == "postgres":
            yield Scenario("a dropped connection", _drop_connection, failures_max=1)
        database = self._subject.store.database
        if database is not None:
            yield Scenario("a restart of the database", lambda _: _restart(database))
        yield Scenario("a killed service", lambda _: _kill(service), is_of_service=True)

    def _go_through(self, scenario: Scenario, endpoint: Endpoint, timeout_ms: int) -> None:
        if self._subject.stack.axes.binding == "iiop":
            scenario = replace(scenario, error=TRANSIENT)
        caller = _Caller(self._subject, endpoint, timeout_ms / 1000.0 + MARGIN_S)
        with self._session() as session:
            before = session.rows()
            load = Load().plus(caller.call_during(lambda: scenario.fault(session)))
        recovered = True
        if not scenario.is_of_service:
            load, recovered = caller.call_until_recovery(load)
        with self._session() as session:
            added = session.rows() - before
        self.calls += load.sent
        self.findings += judge(scenario, load, added, recovered=recovered)


def judge(scenario: Scenario, load: Load, added: int, *, recovered: bool) -> Iterator[Finding]:
    """Findings, if that number of rows was ``added``."""

    def finding(expected: str, found: str) -> Finding:
        return Finding(scenario.name, CALL, expected, found)

    if not load.ok <= added <= load.sent:
        yield finding(
            f"{load.ok:,} acknowledged rows, plus at most {load.sent - load.ok:,} of failed calls",
            f"{added:,} rows",
        )
    if not recovered:
        yield finding(f"recovery within {RECOVERY_S_MAX:.0f} s", _failures(load))
    if scenario.is_of_service:
        return
    unclear = [example for example in load.examples if scenario.error not in example]
    if unclear or set(load.kinds) - {"application"}:
        yield finding(f'only "{scenario.error}", within the timeout', _failures(load))
    least, most = scenario.failures_min, scenario.failures_max
    if load.failed < least:
        yield finding(f"at least {least} failed calls", _failures(load))
    if most is not None and load.failed > most:
        yield finding(f"at most {most} failed call", _failures(load))


def _failures(load: Load) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(load.kinds.items()))
    return f"{kinds or 'none'}: {'; '.join(load.examples)}" if load.examples else kinds or "none"


class _Caller:
    """Makes calls with the engine."""

    def __init__(self, subject: Subject, endpoint: Endpoint, timeout_s: float) -> None:
        self._subject, self._endpoint, self._timeout_s = subject, endpoint, timeout_s

    def call_during(self, fault: Callable[[], None]) -> GroupOutcome:
        """Makes calls until some time after the fault, which occurs once the first calls have
        succeeded. Raises :class:`TrialFailed` if none do."""
        happened = _Once(fault)
        drive = self._drive({"duration_s": LOAD_S_MAX}, happened)
        happened.stop = drive.stop
        group = drive.outcome().groups[0]
        self._subject.interruption.check()
        if happened.at is None:
            raise TrialFailed(f"only {group.ok} calls of {CALL} succeeded: {group.error_examples}")
        return group

    def call_until_recovery(self, load: Load) -> tuple[Load, bool]:
        """Makes calls until they succeed again; False if they do not in time. Failures until then
        are part of the outage."""
        deadline = time.monotonic() + RECOVERY_S_MAX
        while time.monotonic() < deadline:
            window = {"calls": {"calls": AFTER, "max_s": RECOVERY_S_MAX}}
            group = self._drive(window).outcome().groups[0]
            self._subject.interruption.check()
            load = load.plus(group)
            if group.ok >= AFTER and not group.errors:
                return load, True
        return load, False

    def _drive(self, window: object, observer: _Once | None = None) -> Drive:
        group = {
            "name": SECTION,
            **self._endpoint.group(),
            "stack": self._subject.stack.engine_stack(),
            "workload": Message(operation=CALL).workload(),
            "load": {"kind": "closed", "users": CALLERS, "think_s": THINK_S},
            "window": window,
            "warmup": {"min_s": 0.0, "max_s": 0.0},
            "timeout_s": self._timeout_s,
            "drain_s": self._timeout_s,
        }
        return Drive(
            msgspec.convert({"threads": 1, "progress_ms": 50, "groups": [group]}, Plan),
            ProcessOptions(log=self._subject.folder / "engine.log"),
            interruption=self._subject.interruption,
            observer=RunObserver(observer.progress, observer.tick) if observer else None,
        )


class _Once:
    """Triggers an event once calls succeed, and stops the calls some time later."""

    def __init__(self, fault: Callable[[], None]) -> None:
        self._fault = fault
        self.stop: Callable[[], None] = lambda: None
        self.at: float | None = None
        """Time of the event."""

    def progress(self, progress: Progress) -> None:
        if self.at is None and progress.calls - progress.errors >= BEFORE:
            self._fault()
            self.at = time.monotonic()

    def tick(self) -> None:
        if self.at is not None and time.monotonic() - self.at > AFTER_S:
            self.stop()


def _drop_connection(session: Session) -> None:
    """During a call: terminates the connection of an INSERT that waits for our lock."""
    assert isinstance(session, PostgresSession)
    with session.lock():
        if not session.end_one_that_waits():
            raise TrialFailed(f"no {CALL} waited for the lock on the table")


def _keep_locked(session: Session) -> None:
    """An INSERT waits and keeps its connection, so that all others wait for one."""
    with session.lock():
        time.sleep(FULL_S)


def _restart(database: Database) -> None:
    database.stop()
    database.restart()


def _kill(service: Service) -> None:
    service.child.signal(signal.SIGKILL)
    service.child.wait(KILLED_S_MAX)
