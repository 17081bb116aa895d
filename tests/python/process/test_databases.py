"""PostgreSQL for a run: started, used, killed, restarted and removed, with nothing left."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from wirelab.cli import main
from wirelab.errors import EXIT_OK, EXIT_USAGE, LabError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.process.databases import Cluster, Database, Installation, Stores
from wirelab.process.interruption import Interruption
from wirelab.run import runner as running
from wirelab.stack.reference import Stack


@pytest.fixture(scope="module")
def installation() -> Installation:
    """The server of this machine; in CI its absence is a failure."""
    try:
        return Installation.find()
    except LabError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no PostgreSQL server: {error}")


@pytest.fixture(scope="module")
def cluster(installation: Installation) -> Iterator[Cluster]:
    """A data directory for all tests of this module."""
    with (
        Interruption() as interruption,
        Cluster(installation, interruption=interruption) as made,
    ):
        yield made


def _psql(database: Database, statement: str) -> str:
    command = ["psql", database.url, "--no-psqlrc", "--tuples-only", "--no-align"]
    done = subprocess.run(
        [*command, "--command", statement], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_server_accepts_its_password_and_no_other(cluster: Cluster, tmp_path: Path) -> None:
    with Database(cluster, log=tmp_path / "postgres.log", max_connections=20) as database:
        assert _psql(database, "SELECT 1 + 1") == "2"
        assert _psql(database, "SHOW max_connections") == "20"
        wrong = database.url.replace(cluster.password, "wrong")
        command = ["psql", wrong, "--command", "SELECT 1"]
        refused = subprocess.run(command, capture_output=True, timeout=30, check=False)
        assert refused.returncode != 0
    assert _nobody_listens(database.port)


def test_a_server_does_not_run_as_root(cluster: Cluster, tmp_path: Path) -> None:
    with Database(cluster, log=tmp_path / "postgres.log") as database:
        assert psutil.Process(database.child.pid).uids().real != 0


def test_committed_rows_survive_a_kill(cluster: Cluster, tmp_path: Path) -> None:
    with Database(cluster, log=tmp_path / "postgres.log") as database:
        _psql(database, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        database.kill()
        assert _nobody_listens(database.port)
        database.restart()
        assert _psql(database, "SELECT count(*) FROM kept") == "1000"


def test_usage_grows_with_work_and_outlives_a_restart(cluster: Cluster, tmp_path: Path) -> None:
    with Database(cluster, log=tmp_path / "postgres.log") as database:
        before = database.usage()
        _psql(database, "SELECT sum(sqrt(n)) FROM generate_series(1, 2000000) AS n")
        after = _usage_above(database, before.cpu_user_s + 0.05)
        assert after > before.cpu_user_s + 0.05
        database.kill()
        database.restart()
        assert database.usage().cpu_user_s >= after
        assert database.usage().memory_bytes > 1_000_000


def _usage_above(database: Database, least: float) -> float:
    """A backend's times count with its parent once it was waited for."""
    deadline = time.monotonic() + 5
    while (used := database.usage().cpu_user_s) <= least and time.monotonic() < deadline:
        time.sleep(0.05)
    return used


def test_nothing_is_left_behind(installation: Installation, tmp_path: Path) -> None:
    with Interruption() as interruption:
        with Cluster(installation, interruption=interruption) as made:
            folder = made.folder
            with Database(made, log=tmp_path / "postgres.log") as database:
                pids = [process.pid for process in database._processes()]
        assert not folder.exists()
        assert not any(psutil.pid_exists(pid) for pid in pids)


def test_the_data_is_where_the_servers_user_can_be(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root's folder for temporary files may be closed to others."""
    if os.geteuid() != 0:
        pytest.skip("only root runs the server as another user")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    with Interruption() as interruption, Cluster(installation, interruption=interruption) as made:
        assert not made.folder.is_relative_to(closed)
        with Database(made, log=tmp_path / "postgres.log") as database:
            assert _psql(database, "SELECT 1 + 1") == "2"


def test_each_store_has_its_configuration(installation: Installation, tmp_path: Path) -> None:
    with Interruption() as interruption, Stores(interruption) as stores:
        with stores.open(Stack.parse("rest@go"), tmp_path) as store:
            assert store.configuration() == {}
        pooled = Stack.parse("rest@go?store=sqlite&store_pool=4")
        with stores.open(pooled, tmp_path) as store:
            path = Path(store.url)
            assert store.configuration() == {"kind": "sqlite", "url": str(path), "pool": 4}
            assert path.parent.is_dir()
        assert not path.parent.exists()
        capped = Stack.parse("rest@go?store=postgres&max_connections=30")
        with stores.open(capped, tmp_path) as store:
            assert store.configuration() == {"kind": "postgres", "url": store.url}
            assert store.version == installation.version
            assert store.database is not None
            assert _psql(store.database, "SHOW max_connections") == "30"
    foreign = Stack.parse("rest@go?store=postgres")
    with (
        Interruption() as interruption,
        Stores(interruption, "postgres://u@h/d") as stores,
        stores.open(foreign, tmp_path) as store,
    ):
        assert store.configuration()["url"] == "postgres://u@h/d"
        assert store.usage() is None


def test_a_server_that_already_runs_is_used(
    installation: Installation, cluster: Cluster, real_engine: Path, tmp_path: Path
) -> None:
    """`wirelab drive --postgres URL` writes its rows there, and leaves the server alone."""
    with Database(cluster, log=tmp_path / "postgres.log") as database:
        arguments = ["drive", "rest@rust?store=postgres", "--operation", "Allocate", "--json"]
        assert main([*arguments, "--calls", "20", "--postgres", database.url]) == EXIT_OK
        tables = "SELECT count(*) FROM pg_stat_user_tables WHERE n_tup_ins >= 20"
        assert int(_psql(database, tables)) >= 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["drive", "rest@rust", "--postgres", "postgres://u@h/d"], "needs store=postgres"),
        (["drive", "http://127.0.0.1:1/", "--postgres", "postgres://u@h/d"], "needs store="),
        (["verify", "rest@rust", "--postgres", "mysql://h/d"], "not a PostgreSQL URL"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == EXIT_USAGE
    assert problem in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("stack", "link", "problem"),
    [
        ("rest@go?store=postgres", "lan", "its network namespace has no route"),
        ("rest@go?store=sqlite", "loopback", "no service here has store=postgres"),
        (
            "rest@go?store=postgres&max_connections=30",
            "loopback",
            "max_connections can be set only if",
        ),
    ],
)
def test_a_run_is_refused_where_a_running_server_cannot_serve(
    stack: str, link: str, problem: str, real_engine: Path, tmp_path: Path
) -> None:
    source = yaml.safe_dump(
        {
            "name": "external",
            "services": [stack],
            "messages": [{"operation": "Allocate"}],
            "loads": [{"closed": {"users": 1}}],
            "links": [link],
            "window": {"duration": "200 ms"},
        }
    )
    experiment = experiment_file.parse(source, "external")
    with pytest.raises(UsageError, match=problem):
        running.run(experiment, tmp_path / "run", source=source, postgres="postgres://u@h/d")


def test_a_missing_server_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="none is installed") as caught:
        Installation.find(tmp_path)
    assert "apt install postgresql" in str(caught.value)


def _nobody_listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
