"""The service that both sides of a race call: one embedded service on its own core."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.process import BenchError, cpu_seconds, enter_place

ENGINE = Path(__file__).resolve().parent.parent / ".venv/bin/wirelab-engine"
RUST_SERVICE = ENGINE.with_name("wirelab-rust-service")


@dataclass(frozen=True)
class Service:
    """What is served: one stack and the size of the text that Hello answers, in bytes."""

    binding: str
    codec: str
    transport: str
    hello_bytes: int
    address: str = "127.0.0.1"

    def configuration(self) -> dict[str, Any]:
        """The process contract's configuration (docs/reference/process.md)."""
        return {
            "contract": "transfer",
            "stack": {
                "binding": self.binding,
                "codec": self.codec,
                "compression": "none",
                "transport": self.transport,
                "security": "none",
            },
            "listen": f"{self.address}:0",
            "metrics_listen": "127.0.0.1:0",
            "store": {"hello_bytes": self.hello_bytes},
            "socket": {"nagle": False, "writes": "joined"},
            "processors": 1,
        }


REST_SMALL = Service("rest", "text", "http/1.1", 14)
REST_LARGE = Service("rest", "text", "http/1.1", 3_000_000)
GRPC_SMALL = Service("grpc", "protobuf", "http/2", 14)
GRPC_LARGE = Service("grpc", "protobuf", "http/2", 3_000_000)


class Configured(Protocol):
    """Whatever knows the configuration of its service."""

    def configuration(self) -> dict[str, Any]:
        """The process contract's configuration (docs/reference/process.md)."""


@dataclass(frozen=True)
class Running:
    """A service that answers calls."""

    address: str
    pid: int
    ior: str | None = None
    """The reference of its object, with binding iiop."""

    def cpu_s(self) -> float:
        """CPU seconds that it has used so far."""
        return cpu_seconds(self.pid)


@contextmanager
def run_service(service: Configured, core: int, namespace: str | None = None) -> Iterator[Running]:
    """Starts `service` on `core`, in the network namespace of that name; the end of its
    standard input stops it.

    Raises:
        BenchError: it refused its configuration or died before it was ready.
    """
    with enter_place(core, namespace) as place:
        process = subprocess.Popen(
            [str(RUST_SERVICE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=place,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(service.configuration()) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        ready = json.loads(line) if line else {}
        if not ready.get("ready"):
            raise BenchError(f"{RUST_SERVICE.name} was not ready: {line.strip() or 'no answer'}")
        yield Running(ready["address"], process.pid, ready.get("ior"))
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
