"""More users than one process may open files, against a service that may open enough."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab.cli.output import drive as output
from wirelab.process import metrics
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.records.caller import FileTables
from wirelab.report.sections import machine
from wirelab.report.source import Source
from wirelab.run.finished import read
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]
FILES = 1_024
USERS = 3_000
CALLS = 9_000
TEXT = f"""\
name: many
services:
  - name: elsewhere
    url: http://{{address}}
    http: {{{{path: /transfer/hello}}}}
loads: [closed: {{{{users: {USERS}}}}}]
warmup: {{{{min: 0 s, max: 0 s}}}}
window: {{{{calls: {CALLS}}}}}
timeout: 60 s
repeats: 1
"""
STATE = (
    "connections over 4 engine threads with separate open file tables, because the limit of open "
    "files is 1,024"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with open files of its own, as one that somebody else started."""
    stack = Stack.parse("rest@rust")
    with Interruption() as interruption, Scratch(tmp_path) as scratch:
        program = Programs(manifests.load()).program(stack, interruption)
        configuration = Settings().configuration(stack, listen=ListenSpec.of(stack, scratch))
        options = ProcessOptions(log=tmp_path / "service.log")
        with Service(program, configuration, options, interruption=interruption) as running:
            _, hard = resource.prlimit(running.ready.pid, resource.RLIMIT_NOFILE)
            if hard != resource.RLIM_INFINITY and hard < USERS + FILES:
                pytest.skip(f"a service may open {hard} files here, fewer than the users need")
            yield running


def test_users_beyond_the_limit_of_open_files_are_all_connected(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://{service.ready.address}/transfer/hello"
    amount = ["--users", str(USERS), "--calls", str(CALLS), "--timeout", "60s"]
    result = json.loads(_run_limited("drive", url, *amount, "--json"))
    assert (result["ok"], result["errors"], result["connections_opened"]) == (CALLS, 0, USERS)
    assert result["client_file_tables"] == {"threads": 4, "limit": FILES}
    _heard(service)
    output.show(url, result)
    assert STATE in " ".join(capsys.readouterr().out.split())


def test_a_run_and_its_report_state_why_the_engine_took_more_threads(
    service: Service, tmp_path: Path
) -> None:
    experiment = tmp_path / "many.yaml"
    experiment.write_text(TEXT.format(address=service.ready.address))
    _run_limited("run", str(experiment), "--out", str(tmp_path / "run"))
    (trial,) = read(tmp_path / "run").trials
    assert (trial.status, trial.result.ok, trial.result.errors) == ("measured", CALLS, 0)
    assert trial.engine.file_tables == FileTables(4, FILES)
    _heard(service, more_connections=1)  # by which the lab saw that it listens
    (state,) = machine.placement_section(Source.read(tmp_path / "run")).paragraphs
    assert state == f"C{STATE[1:]} (1 trial)."


def _heard(service: Service, more_connections: int = 0) -> None:
    """Every user has its connection, and the service counts the calls that the engine counts."""
    seen = metrics.parse(service.scrape())
    names = ("wirelab_connections_total", 'wirelab_calls_total{operation="Hello"}')
    assert [seen[name] for name in names] == [USERS + more_connections, CALLS]


def _run_limited(*words: str) -> str:
    """What a command prints that may open few files, as may the engine that it starts."""
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=150,
        env={**os.environ, **paths},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
