"""10,000 users who think between their calls, against every service of the lab.

A trial that fails is the lab's error; calls that fail are the service's, and its row shows them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wirelab.experiment import loading as experiment_file
from wirelab.process import open_files
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.stack import manifests

pytestmark = [
    pytest.mark.usefixtures("real_engine", "no_orphans"),
    # Both trials of a stack whose service takes long to start and to answer.
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        "WIRELAB_MANY_USERS" not in os.environ,
        reason="ten minutes for all services: `make many-users` runs it",
    ),
]

FEW, MANY = 100, 10_000
BYTES_MAX = 6_000
"""Memory of the engine for one user with its connection: 1,000 to 1,700 B were measured, with
HTTP/2 up to 3,600."""
LIMITS = {
    "iiop@java": "JacORB reads each connection in a thread of its own, and has 1,000 by default "
    "(jacorb.connection.max_receptor_threads): it closes the others",
}
"""Services that cannot have that number of connections, and why."""
TEXT = """\
name: many-users
services: ["{stack}"]
messages: [{{operation: Hello, bytes: 14 B}}]
loads:
  - closed: {{users: {few}, think: {{mean: 5 s, distribution: exponential}}}}
  - closed: {{users: {many}, think: {{mean: 5 s, distribution: exponential}}}}
window: {{duration: 10 s}}
timeout: 60 s
drain: 60 s
repeats: 1
"""


def _stacks() -> list[str]:
    """One of each binding in each language, and the second server of SOAP in Java. Cold: the
    window begins with the first call of every user."""
    every = manifests.load().by_language.values()
    stacks = {f"{part.binding}@{one.language}?start=cold" for one in every for part in one.serves}
    return sorted({*stacks, "soap@java?codec=soap-encoded&start=cold"})


@pytest.mark.parametrize("stack", _stacks())
def test_a_service_hears_ten_thousand_users(
    stack: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if refused := open_files.refusal(MANY):
        pytest.skip(refused)
    text = TEXT.format(stack=stack, few=FEW, many=MANY)
    run = running.run(experiment_file.parse(text), tmp_path / "run", source=text, unverified=True)
    few, many = sorted(run.trials, key=_users)
    per_user = _bytes(many, few)
    result, service = many.result, many.service
    with capsys.disabled():
        print(
            f"\n{stack}: {many.status} {many.reason}, {result.calls} calls, {result.errors} failed "
            f"{result.errors_by_kind}, {service.connections_seen} connections and "
            f"{service.calls_seen} calls seen, {per_user:,.0f} B of the engine per user"
        )
    assert not run.failed, "the lab"
    if known := LIMITS.get(stack.partition("?")[0]):
        assert result.errors, f"no longer so: {known}"
        pytest.xfail(known)
    assert result.errors == 0, f"the service: {result.errors_by_kind} {result.error_examples}"
    # The first call of every user belongs to the window: without an error all were answered. A
    # service that is slow to accept has fewer connections, which its users share.
    assert result.ok >= MANY
    assert service.calls_seen == result.calls_whole_run
    assert per_user < BYTES_MAX


def _users(trial: Trial) -> int:
    return trial.point.load.users or 0


def _bytes(many: Trial, few: Trial) -> float:
    """Memory of the engine for each further user."""
    most, least = many.engine.rss_max_bytes, few.engine.rss_max_bytes
    return (most - least) / (MANY - FEW) if most and least else float("nan")
