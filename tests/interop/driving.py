"""Our client, the engine, pointed at servers that other people wrote."""

from __future__ import annotations

import hashlib
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.interop.golden import CONTRACTS
from tests.interop.hosting import engine
from wirelab import checkout
from wirelab.documents import to_json
from wirelab.documents.plan import Plan
from wirelab.errors import BuildError
from wirelab.process import builds
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.engine import Drive
from wirelab.process.interruption import Interruption
from wirelab.stack.manifests import Manifest
from wirelab.stack.reference import Stack

Json = dict[str, Any]
CALLS = 1_000
READY_S_MAX = 60.0
"""Seconds that a server may take to listen on a busy machine."""
POLL_S = 0.02
"""Interval at which a port is tried while a server starts, seconds."""
HERE = Path(__file__).parent
UNREACHABLE = ("Could not transfer", "Unknown host", "dial tcp", "proxyconnect", "Forbidden")
"""What Maven and Go say when a registry cannot be reached."""


class Engine:
    """Makes calls, by default of one user, and returns what the engine counted."""

    def __init__(self, log: Path) -> None:
        engine()
        self._log = log

    def drive(
        self, stack: str, workload: Json, calls: int = CALLS, users: int = 1, **endpoint: Any
    ) -> Json:
        """The group's outcome. ``endpoint``: ``target``, ``object``, ``tls``."""
        group = {
            "name": "main",
            **endpoint,
            "stack": Stack.parse(stack).engine_stack(),
            "workload": workload,
            "load": {"kind": "closed", "users": users},
            "window": {"calls": {"calls": calls, "max_s": 60.0}},
            "warmup": {"min_s": 0.0, "max_s": 0.0},
            "timeout_s": 30.0,
        }
        outcome = Drive(
            msgspec.convert({"groups": [group]}, Plan),
            ProcessOptions(log=self._log),
            interruption=Interruption(),
        ).outcome()
        return to_json(outcome.groups[0])


def all_good(outcome: Json, calls: int = CALLS) -> None:
    """Every call ended well, all on one connection."""
    assert outcome["error_examples"] == []
    assert (outcome["calls"], outcome["ok"], outcome["errors"]) == (calls, calls, 0)
    assert outcome["connections_opened"] == 1


def all_failed(outcome: Json, kind: str, words: str) -> None:
    """Every call was counted as an error of that kind, and the engine says why."""
    assert outcome["errors_by_kind"] == {kind: outcome["calls"]}
    assert outcome["ok"] == 0
    assert words in outcome["error_examples"][0]


def some_failed(outcome: Json, words: str) -> None:
    """Some calls ended well; the others were refused by the application and are reported."""
    assert outcome["ok"] > 0
    assert outcome["errors_by_kind"] == {"application": outcome["calls"] - outcome["ok"]}
    assert words in outcome["error_examples"][0]


def require(program: str, package: str) -> str:
    """The program's path; skips the test, with the reason, where it is not installed."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed (Debian: {package})")
    return found


def build_program(language: str, requires: Sequence[str], build: Sequence[str]) -> Path:
    """What the folder of that language makes, once per state of it and of the contracts.
    Skips the test, with the reason, without the tools or the registry."""
    sources = sorted((CONTRACTS / "wsdl").glob("*.wsdl"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    manifest = Manifest(
        language=f"interop-{language}",
        requires=tuple(requires),
        # Maven says on standard output what went wrong; the log has standard error.
        build=("env", f"WSDL_SHA256={state}", "sh", "-c", 'exec "$@" >&2', "sh", *build),
        start=(),
        serves=(),
    )
    folder = HERE / language
    try:
        return builds.build(manifest, folder, Interruption())
    except BuildError as error:
        if "which is not in PATH" not in str(error) and not _unreachable(manifest, folder):
            raise
        pytest.skip(str(error))


def _unreachable(manifest: Manifest, folder: Path) -> bool:
    """Whether the build's log says that a registry could not be reached."""
    name = f"{manifest.language}-{builds.digest(folder, manifest)[:16]}.log"
    log = (checkout.root() / ".cache" / "services" / name).read_text(errors="replace")
    return any(words in log for words in UNREACHABLE)


def free_port() -> int:
    """A port that nothing listens on; for servers that cannot be asked for any."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def run_server(
    command: Sequence[str], log: Path, port: int, ready_s_max: float = READY_S_MAX
) -> Iterator[Child]:
    """A server, from the moment that it listens to the end of the block."""
    child = Child(command, ProcessOptions(log=log))
    try:
        deadline = time.monotonic() + ready_s_max
        while not _listens(port):
            assert child.wait(POLL_S) is None, f"{command[0]} ended: {child.log_tail()}"
            assert time.monotonic() < deadline, f"{command[0]} does not listen: {child.log_tail()}"
        yield child
    finally:
        child.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def build_java() -> Path:
    """The folder with ``classes`` and ``lib`` of the Java servers; Maven builds it."""
    build = ["mvn", "-q", "-B", "prepare-package", "-Dinterop.out={out}"]
    return build_program("java", ["mvn", "javac"], [*build, f"-Dwsdl={CONTRACTS / 'wsdl'}"])
