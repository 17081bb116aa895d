"""Contract records on a database that fails: nothing that was answered is lost, nothing is stored
twice, errors are clear, and the service recovers.

In each scenario the engine makes calls of Allocate while something fails. Then the rows are
counted in the database itself: at least as many were added as calls were answered well, and at
most as many as calls were made. A call that failed may have stored its row, once: its answer may
be what was lost.
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
"""The error of a call that the database did not answer (contracts/README.md, records)."""
TRANSIENT = "TRANSIENT"
"""The same of IIOP, whose system exceptions have no text."""

OUTSIDE = ("sqlite", "postgres")
"""Stores that other sessions can reach, and that outlive the service."""
CALLERS = 8
POOL = 4
"""Connections of the service: fewer than callers, so that some wait for a connection and some for
the database."""
TIMEOUT_MS = 2_000
"""Of the store, the default (docs/reference/process.md)."""
FULL_TIMEOUT_MS = 1_000
FULL_S = 2.5
"""So long nobody can write: beyond twice the timeout, so that one who waits for a connection and
then for the database, each as long as may be, is found out."""
MARGIN_S = 0.7
"""From the timeout of the store to that of the caller, for the service's own work."""
BEFORE, AFTER = 100, 40
"""Calls that must go well before something fails, and after it."""
AFTER_S = 0.3
"""Calls go on for so long after the fault before they are counted."""
RECOVERY_S_MAX = 15.0
KILLED_S_MAX = 5.0
LOAD_S_MAX = 60.0
THINK_S = 0.002
"""Between two calls of a caller, for a service that refuses at once."""


@dataclass(frozen=True)
class Load:
    """Calls of Allocate, summed over several runs of the engine."""

    sent: int = 0
    """May have stored a row each."""
    ok: int = 0
    """Answered well: acknowledged."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Failed calls by kind, also those that could not be sent."""
    examples: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        return self.kinds.total()

    def plus(self, group: GroupOutcome) -> Load:
        """With the calls of one more run."""
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
    """The service itself ends: calls fail in whatever way."""
    error: str = UNAVAILABLE
    """In every failure."""


def exam(subject: Subject) -> Exam:
    """Examines services of its own on the subject's store. Raises :class:`TrialFailed`,
    :class:`Interrupted`."""
    psql = sessions.find_psql()
    reason = _unreachable(subject.store.kind, psql is not None)
    if reason:
        return Exam(SECTION, 0, (), (reason,))
    examiner = _Examiner(
        subject, lambda: sessions.opened(subject.store, psql, subject.folder / "psql.log")
    )
    examiner.examine()
    return Exam(SECTION, examiner.calls, tuple(examiner.findings), tuple(left_out(subject)))


def _unreachable(kind: str, has_psql: bool) -> str:
    if kind not in OUTSIDE:
        return f"{kind} is in the memory of the service, where no other session reaches it"
    if kind == "postgres" and not has_psql:
        return "no psql is installed, by which the lab counts and locks rows"
    return ""


def left_out(subject: Subject) -> Iterator[str]:
    """Scenarios that belong to the store and are not gone through, with the reason."""
    if subject.store.kind == "postgres" and subject.store.database is None:
        yield "a restart of the database: the lab restarts no server that it has not started"


class _Examiner:
    """Goes through the scenarios, one after the other."""

    def __init__(self, subject: Subject, session: Callable[[], Session]) -> None:
        self._subject, self._session = subject, session
        self.calls = 0
        self.findings: list[Finding] = []

    def examine(self) -> None:
        """On a service with a pool, which is killed at last, and on one with one connection,
        which takes up what the first one has left."""
        with self._subject.started(pool=POOL, timeout_ms=TIMEOUT_MS) as (service, endpoint):
            for scenario in self._scenarios(service):
                self._go_through(scenario, endpoint, TIMEOUT_MS)
        with self._subject.started(pool=1, timeout_ms=FULL_TIMEOUT_MS) as (service, endpoint):
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
        if self._subject.stack.axes["binding"] == "iiop":
            scenario = replace(scenario, error=TRANSIENT)
        caller = _Caller(self._subject, endpoint, timeout_ms / 1000.0 + MARGIN_S)
        with self._session() as session:
            before = session.rows()
            load = Load().plus(caller.during(lambda: scenario.fault(session)))
        recovered = True
        if not scenario.is_of_service:
            load, recovered = caller.after(load)
        with self._session() as session:
            added = session.rows() - before
        self.calls += load.sent
        self.findings += judged(scenario, load, added, recovered=recovered)


def judged(scenario: Scenario, load: Load, added: int, *, recovered: bool) -> Iterator[Finding]:
    """What went wrong, when that many rows were ``added``."""

    def finding(expected: str, found: str) -> Finding:
        return Finding(scenario.name, CALL, expected, found)

    if not load.ok <= added <= load.sent:
        yield finding(
            f"{load.ok:,} acknowledged rows, and at most {load.sent - load.ok:,} of failed calls",
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
        yield finding(f"{least} failed calls or more", _failures(load))
    if most is not None and load.failed > most:
        yield finding(f"{most} failed call at most", _failures(load))


def _failures(load: Load) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(load.kinds.items()))
    return f"{kinds or 'none'}: {'; '.join(load.examples)}" if load.examples else kinds or "none"


class _Caller:
    """Makes calls by the engine."""

    def __init__(self, subject: Subject, endpoint: Endpoint, timeout_s: float) -> None:
        self._subject, self._endpoint, self._timeout_s = subject, endpoint, timeout_s

    def during(self, fault: Callable[[], None]) -> GroupOutcome:
        """Calls until a while after the fault, which comes when the first ones have been
        answered. Raises :class:`TrialFailed` when none are."""
        happened = _Once(fault)
        drive = self._drive({"duration_s": LOAD_S_MAX}, happened)
        happened.stop = drive.stop
        group = drive.outcome().groups[0]
        self._subject.interruption.check()
        if happened.at is None:
            raise TrialFailed(f"{group.ok} calls of {CALL} went well: {group.error_examples}")
        return group

    def after(self, load: Load) -> tuple[Load, bool]:
        """Calls until they go well again; false where they do not in time. Their failures up
        to then are of the outage."""
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
    """Lets something happen once calls go well, and stops them a while later."""

    def __init__(self, fault: Callable[[], None]) -> None:
        self._fault = fault
        self.stop: Callable[[], None] = lambda: None
        self.at: float | None = None
        """When it had happened."""

    def progress(self, progress: Progress) -> None:
        if self.at is None and progress.calls - progress.errors >= BEFORE:
            self._fault()
            self.at = time.monotonic()

    def tick(self) -> None:
        if self.at is not None and time.monotonic() - self.at > AFTER_S:
            self.stop()


def _drop_connection(session: Session) -> None:
    """In mid-call: that of an INSERT that waits for our lock, which alone fails."""
    assert isinstance(session, PostgresSession)
    with session.locked():
        if not session.end_one_that_waits():
            raise TrialFailed(f"no {CALL} waited for the lock on the table")


def _keep_locked(session: Session) -> None:
    """An INSERT waits and keeps its connection, so that all others wait for one."""
    with session.locked():
        time.sleep(FULL_S)


def _restart(database: Database) -> None:
    database.stop()
    database.restart()


def _kill(service: Service) -> None:
    service.child.signal(signal.SIGKILL)
    service.child.wait(KILLED_S_MAX)
