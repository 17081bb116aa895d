"""`wirelab verify` of a service with a database: what it must find, and that services pass."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from wirelab.errors import BuildError, LabError
from wirelab.identity import outages
from wirelab.identity.finding import Exam
from wirelab.identity.outages import Load, Scenario, judge
from wirelab.identity.subject import Subject
from wirelab.process.databases import Installation, Store, Stores
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs
from wirelab.process.sessions import Session, SqliteSession
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

BUILD_S_MAX = 900
"""Maven fetches and builds for minutes on a machine where nothing was built before."""
UNAVAILABLE = "application: HTTP status 503: database unavailable"
GOOD = Load(sent=100, ok=90, kinds=Counter(application=10), examples=(UNAVAILABLE,))
"""Of 100 calls that were sent, 90 were acknowledged."""


def _cause_no_fault(session: Session) -> None:
    """No fault."""


OUTAGE = Scenario("an outage", _cause_no_fault)


def _describe_findings(
    load: Load, added: int, scenario: Scenario = OUTAGE, recovered: bool = True
) -> str:
    findings = judge(scenario, load, added, recovered=recovered)
    return "; ".join(f"expected {one.expected}, found {one.found}" for one in findings)


@pytest.mark.parametrize("added", [90, 100])
def test_a_call_that_failed_may_have_stored_its_row_once(added: int) -> None:
    assert _describe_findings(GOOD, added) == ""


def test_an_acknowledged_row_that_is_lost_is_found() -> None:
    assert "expected 90 acknowledged rows, plus at most 10 of failed calls" in _describe_findings(
        GOOD, 89
    )


def test_a_row_that_is_stored_twice_is_found() -> None:
    assert "found 101 rows" in _describe_findings(GOOD, 101)
    without = Load(sent=90, ok=90)
    assert "found 91 rows" in _describe_findings(without, 91)


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        ("timeout", "timeout: no complete reply within 2.7 s"),
        ("closed", "closed: connection closed before the reply"),
        ("application", "application: HTTP status 500: Internal Server Error"),
    ],
)
def test_an_unclear_error_is_found(kind: str, example: str) -> None:
    load = replace(
        GOOD, kinds=Counter({"application": 9, kind: 1}), examples=(UNAVAILABLE, example)
    )
    assert example in _describe_findings(load, 95)
    killed = replace(OUTAGE, is_of_service=True)
    assert _describe_findings(load, 95, killed) == "", "whose service was killed gets no reply"


def test_an_error_without_a_text_is_clear_where_the_binding_has_none() -> None:
    transient = replace(GOOD, examples=("application: GIOP system exception: TRANSIENT",))
    assert "expected only" in _describe_findings(transient, 95)
    assert _describe_findings(transient, 95, replace(OUTAGE, error=outages.TRANSIENT)) == ""


def test_a_service_that_does_not_recover_is_found() -> None:
    assert "expected recovery" in _describe_findings(GOOD, 95, recovered=False)


def test_a_dropped_connection_may_fail_its_own_call_alone() -> None:
    dropped = replace(OUTAGE, failures_max=1)
    assert "expected at most 1 failed call, found 10 application" in _describe_findings(
        GOOD, 95, dropped
    )
    one = Load(sent=91, ok=90, kinds=Counter(application=1), examples=(UNAVAILABLE,))
    assert _describe_findings(one, 90, dropped) == ""


def test_calls_that_pass_a_locked_table_are_found() -> None:
    """They stored nothing, or not in the table."""
    full = replace(OUTAGE, failures_min=8)
    assert "expected at least 8 failed calls, found none" in _describe_findings(
        Load(sent=9, ok=9), 9, full
    )


@pytest.fixture
def examined(real_engine: object) -> Iterator[Callable[[str], Exam]]:
    """Examines a stack on a database of its own."""
    with Interruption() as interruption, Scratch() as scratch, Stores(interruption) as stores:
        programs = Programs(manifests.load())

        def exam(reference: str) -> Exam:
            stack = Stack.parse(reference)
            try:
                if stack.axes.store == "postgres":
                    Installation.find()
                program = programs.program(stack, interruption, outages.CONTRACT)
            except (LabError, BuildError) as error:
                # What is not installed is a reason to skip, but not in CI.
                if os.environ.get("CI") or "not in PATH" not in str(error) + error.remedy:
                    raise
                pytest.skip(str(error))
            with stores.open(stack, scratch.folder) as store:
                subject = Subject(program, stack, outages.CONTRACT, store, scratch, interruption)
                return outages.exam(subject)

        yield exam


@pytest.mark.usefixtures("no_orphans")
@pytest.mark.timeout(BUILD_S_MAX)
@pytest.mark.parametrize(
    "reference",
    [
        "rest@go?store=postgres",
        "soap@java?store=postgres",
        "grpc@rust?store=postgres",
        "rest@java?store=sqlite",
        "soap@go?store=sqlite",
    ],
)
def test_services_bear_outages(examined: Callable[[str], Exam], reference: str) -> None:
    """A dropped connection, a restart of the database, their own end, a full pool."""
    exam = examined(reference)
    assert exam.findings == ()
    assert exam.left_out == ()
    assert exam.calls > 2 * outages.BEFORE


@pytest.mark.usefixtures("no_orphans")
def test_rows_that_vanish_are_found(
    examined: Callable[[str], Exam], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examination itself: what is acknowledged and not in the file is a finding."""

    def delete_rows(session: Session) -> None:
        assert isinstance(session, SqliteSession)
        session._ask("DELETE FROM allocations WHERE groupid > 879253")

    monkeypatch.setattr(outages, "_keep_locked", delete_rows)
    found = {one.found for one in examined("rest@rust?store=sqlite").findings}
    assert any("rows" in one for one in found), found


@pytest.mark.parametrize("kind", ["h2", "hsqldb"])
def test_a_store_that_cannot_be_reached_is_left_out_with_the_reason(kind: str) -> None:
    exam = outages.exam(_of_java(Store(kind)))
    assert (exam.calls, exam.findings) == (0, ())
    assert exam.left_out == (
        f"{kind} is in the memory of the service, where no other session can access it",
    )


def test_a_server_of_the_users_own_is_not_restarted() -> None:
    (said,) = outages.list_omissions(_of_java(Store("postgres", url="postgres://u@h/d")))
    assert said.startswith("a restart of the database: wirelab restarts only servers")


def _of_java(store: Store) -> Subject:
    """Of a service that is never started."""
    stack = Stack.parse(f"rest@java?store={store.kind}")
    nothing: Any = None
    return Subject(nothing, stack, outages.CONTRACT, store, nothing, nothing)
