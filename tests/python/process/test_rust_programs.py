"""Programs in Rust next to the engine: which one a stack and a plan need, and where it is found."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from wirelab import checkout, installation
from wirelab.documents.plan import Plan
from wirelab.errors import BuildError, NotInstalled
from wirelab.process import rust_programs
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

SERVICE, DATABASES = "wirelab-rust-service", "wirelab-rust-service-databases"


def _write_program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine with nothing next to it."""
    path = _write_program(tmp_path / "bin" / "wirelab-engine", "exit 0")
    monkeypatch.setenv("WIRELAB_ENGINE", str(path))
    return path


@pytest.fixture
def cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of programs that a scripted cargo builds."""
    target = tmp_path / "target"
    script = (
        'echo "   Compiling sqlx v0.9.0" >&2; sleep 1; '
        'while [ $# -gt 1 ]; do [ "$1" = --bin ] && name=$2; shift; done; '
        f'mkdir -p {target}/release; printf "#!/bin/sh" > {target}/release/$name; '
        f"chmod +x {target}/release/$name"
    )
    cargo = _write_program(tmp_path / "path" / "cargo", script)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(target))
    monkeypatch.setattr(installation, "cache", lambda: tmp_path / "cache")
    return target / "release"


@pytest.mark.parametrize(
    ("reference", "contract", "name"),
    [
        ("rest@rust", "transfer", SERVICE),
        ("rest@rust?store=sqlite", "records", DATABASES),
        ("grpc@rust?store=postgres", "records", DATABASES),
        ("grpc@rust", "records", SERVICE),
    ],
)
def test_only_stacks_with_a_database_start_the_service_with_drivers(
    reference: str, contract: str, name: str, engine: Path
) -> None:
    for program in (SERVICE, DATABASES):
        _write_program(engine.with_name(program), "exit 0")
    with Interruption() as interruption:
        found = Programs(manifests.load()).program(Stack.parse(reference), interruption, contract)
    assert found.command == (str(engine.with_name(name)),)


def test_cargo_builds_a_missing_program_and_says_what_it_does(engine: Path, cargo: Path) -> None:
    lines: list[str] = []
    with Interruption() as interruption:
        found = rust_programs.program(DATABASES, interruption, lines.append)
    assert found == cargo / DATABASES
    assert not engine.with_name(DATABASES).exists()
    assert any(
        line.startswith("building the service with databases: ") and "now sqlx" in line
        for line in lines
    ), lines


def test_a_failed_build_names_its_log(engine: Path, cargo: Path, tmp_path: Path) -> None:
    del engine, cargo
    _write_program(tmp_path / "path" / "cargo", "echo 'error: no space left' >&2; exit 101")
    with Interruption() as interruption, pytest.raises(BuildError, match="no space left"):
        rust_programs.program(DATABASES, interruption)


def test_without_cargo_the_remedy_is_rust(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del engine
    monkeypatch.setenv("PATH", str(tmp_path))
    with Interruption() as interruption, pytest.raises(BuildError, match="needs cargo"):
        rust_programs.program(DATABASES, interruption)


def test_without_a_checkout_the_program_is_not_installed(
    engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del engine
    monkeypatch.setattr(checkout, "find", lambda: None)
    with Interruption() as interruption, pytest.raises(NotInstalled, match="is not installed"):
        rust_programs.program(DATABASES, interruption)


@pytest.mark.parametrize(
    ("expect", "name"),
    [({"status": 200}, "wirelab-engine"), ({"json_schema": {}}, rust_programs.JSON_ENGINE)],
)
def test_only_plans_with_a_schema_need_the_engine_with_a_validator(
    expect: dict[str, object], name: str, engine: Path
) -> None:
    _write_program(engine.with_name(rust_programs.JSON_ENGINE), "exit 0")
    group = {
        "name": "main",
        "target": "127.0.0.1:1",
        "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"},
        "workload": {"kind": "http", "method": "GET", "path": "/", "expect": expect},
        "load": {"kind": "closed", "users": 1},
        "window": {"duration_s": 1.0},
    }
    plan = msgspec.convert({"groups": [group]}, Plan)
    with Interruption() as interruption:
        assert rust_programs.engine_for(plan, interruption) == engine.with_name(name)
