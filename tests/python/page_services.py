"""What the pages take for granted: programs named ``orders``, ``old`` and ``new`` in the folder,
the file ``question.yaml``, and servers at the addresses of the commands."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

SERVER = Path(__file__).with_name("page_server.py")
ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)")
DELAYS_MS = {"orders": 0, "old": 0, "new": 3}
QUESTION = """\
name: question
services: ["rest@rust", "rest@rust?connection=close"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [{closed: {users: 1}}]
window: {duration: 500 ms}
warmup: {min: 200 ms, max: 200 ms}
"""
START_S_MAX = 10.0


def write_programs(folder: Path) -> None:
    """The programs and the file."""
    for name, delay_ms in DELAYS_MS.items():
        program = folder / name
        program.write_text(
            f'#!/bin/sh\nexec {sys.executable} {SERVER} --delay-ms {delay_ms} "$@"\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
    (folder / "question.yaml").write_text(QUESTION, encoding="utf-8")


class Servers:
    """A server for each address that is named, at a free port."""

    def __init__(self, started: ExitStack) -> None:
        self._started = started
        self._ports: dict[str, int] = {}

    def replace_addresses(self, text: str) -> str:
        """The text with the addresses of servers that run."""
        return ADDRESS.sub(lambda match: f"127.0.0.1:{self._port(match[1])}", text)

    def _port(self, named: str) -> int:
        if named not in self._ports:
            self._ports[named] = self._started.enter_context(start_server())
        return self._ports[named]


@contextmanager
def start_server() -> Iterator[int]:
    """A server of the pages; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, SERVER, "--port", str(port)])
    try:
        _await(port)
        yield port
    finally:
        process.kill()
        process.wait()


def _await(port: int) -> None:
    """Raises :class:`OSError` if nobody listens in time."""
    until = time.monotonic() + START_S_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
