"""What the pages take for granted: a folder like a checkout with a reader's own files, and servers
at the addresses of the commands."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.python import survey_answers
from tests.python.drive.test_slowest import write_calls

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(__file__).parent
SERVER = PYTHON / "page_server.py"
GRPC_SERVER = "tests.python.page_grpc_server"
WEBSOCKET_SERVER = "tests.python.page_websocket_server"
CALLER = PYTHON / "page_caller.py"
ADDRESS = re.compile(r"(?<=127\.0\.0\.1:)\d+")
RAY = re.compile(r"ray:10\.0\.0\.1:6379")
PORT = re.compile(r"(?<=--port )\d+")
WATCHES = re.compile(r"\b(?:(?P<waits>dissect --live|wirelab-engine capture)|wrap --port)\b")
"""Commands whose ``--port`` is that of a server that runs; some wait for calls of others."""
GRPC_PORT, WEBSOCKET_PORT = "50051", "8765"
"""At these ports the pages have servers of gRPC and WebSocket; at any other one one of HTTP."""
DELAYS_MS = {"orders": 0, "old": 0, "new": 3}
QUESTION = """\
name: question
services: ["rest@rust", "rest@rust?connection=close"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [{closed: {users: 1}}]
window: {duration: 500 ms}
warmup: {min: 200 ms, max: 200 ms}
"""
NOT_LINKED = {".git", ".venv", "build", "dist", "runs", "services", "target"}
"""Entries of a checkout that the folder of a page lacks, or has of its own."""
START_S_MAX = 30.0
Environment = dict[str, str]


def make_folder(folder: Path, engine: Path) -> Environment:
    """Makes it like a checkout after ``make setup``, in which a reader may write, with the files
    of that reader. Gives the environment of its commands."""
    for entry in ROOT.iterdir():
        if entry.name not in NOT_LINKED:
            (folder / entry.name).symlink_to(entry)
    (folder / "services").mkdir()
    for entry in (ROOT / "services").iterdir():
        (folder / "services" / entry.name).symlink_to(entry)
    _write_commands(folder / ".venv/bin", engine)
    _write_files(folder)
    return {
        **os.environ,
        "PATH": f"{folder / '.venv/bin'}:{os.environ['PATH']}",
        "WIRELAB_ENGINE": str(engine),
    }


def find_checkout(folder: Path) -> Path:
    """What wirelab takes as its checkout: the folder if it has a service of the reader's own, whose
    build would otherwise be in the real one. In the folder, cargo would build everything again."""
    own = (entry for entry in (folder / "services").iterdir() if not entry.is_symlink())
    return ROOT if next(own, None) is None else folder


def _write_commands(bin_folder: Path, engine: Path) -> None:
    bin_folder.mkdir(parents=True)
    (bin_folder / "wirelab-engine").symlink_to(engine)
    _write_program(bin_folder / "python", f'exec {sys.executable} "$@"')
    front = ROOT / "wirelab.data/scripts/wirelab"
    _write_program(bin_folder / "wirelab", f'exec {sys.executable} {front} "$@"')


def _write_files(folder: Path) -> None:
    """Those of a reader: programs, an experiment, recordings, answers of participants."""
    for name, delay_ms in DELAYS_MS.items():
        command = f'exec {sys.executable} {SERVER} --delay-ms {delay_ms} "$@"'
        _write_program(folder / name, command)
    (folder / "question.yaml").write_text(QUESTION, encoding="utf-8")
    tests = f"{sys.executable} {CALLER} --calls 20 --grpc $PORT_{GRPC_PORT}"
    _write_program(folder / "our-tests.sh", tests)
    imported = PYTHON / "imported"
    shutil.copy(imported / "chromium.har", folder / "recorded.har")
    shutil.copy(
        imported / "collection.postman_collection.json", folder / "shop.postman_collection.json"
    )
    for name in ("shop.jmx", "shop.js", "books.csv"):
        shutil.copy(imported / name, folder)
    write_calls(folder / "x.pcapng", calls=20)
    rows = survey_answers.simulate(12, {"http": 0.6, "grpc": 0.4})
    survey_answers.write(folder / "answers-1.csv", rows[:12])
    survey_answers.write(folder / "answers-2.csv", rows[12:])


def _write_program(file: Path, command: str) -> None:
    file.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    file.chmod(0o755)


class Servers:
    """A server for each address that is named, at a free port."""

    def __init__(self, started: ExitStack) -> None:
        self._started = started
        self._ports: dict[str, int] = {}
        self._cluster = self._token = ""

    @property
    def environment(self) -> Environment:
        """``PORT_50051``: the port of the server for 50051, if one runs. Nodes of a cluster share
        the cores of this machine."""
        ports = {f"PORT_{named}": str(port) for named, port in self._ports.items()}
        if not self._token:
            return ports
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": self._token}
        return {**ports, **token, "RAY_USAGE_STATS_ENABLED": "0", "WIRELAB_SHARE": "1"}

    def replace_addresses(self, text: str) -> str:
        """The text with the addresses of servers that run."""
        text = RAY.sub(lambda match: f"ray:{self._find_cluster()}", text)
        text = ADDRESS.sub(lambda match: str(self._port(match[0])), text)
        watches = WATCHES.search(text)
        if watches is None:
            return text
        find_port = self._start_called_server if watches["waits"] else self._port
        return PORT.sub(lambda match: str(find_port(match[0])), text)

    def start_in_background(self, command: str, folder: Path, environment: Environment) -> str:
        """Starts a command that serves until the page ends. Waits until it listens, if it names a
        port; otherwise for the first line that it prints, which is returned."""
        named = PORT.search(command)
        if named is None:
            process = self._start(_shell(command), folder, environment, subprocess.PIPE)
            assert process.stdout is not None
            return str(process.stdout.readline())
        port = self._ports[named[0]] = _free_port()
        words = _shell(PORT.sub(str(port), command))
        self._start(words, folder, environment, subprocess.DEVNULL)
        _await(port)
        return ""

    def _port(self, named: str) -> int:
        if named not in self._ports:
            self._ports[named] = _free_port()
            port = str(self._ports[named])
            modules = {GRPC_PORT: GRPC_SERVER, WEBSOCKET_PORT: WEBSOCKET_SERVER}
            server = ["-m", modules[named]] if named in modules else [str(SERVER)]
            self._start([sys.executable, *server, "--port", port])
            _await(self._ports[named])
        return self._ports[named]

    def _find_cluster(self) -> str:
        """The address of a Ray cluster of two nodes with a token, on this machine."""
        if not self._cluster:
            self._token = secrets.token_hex(16)
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.python.two_ray_nodes", "0"],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._started.callback(process.communicate)
            assert process.stdout is not None
            self._cluster = process.stdout.readline().strip()
        return self._cluster

    def _start_called_server(self, named: str) -> int:
        """The port of a server that is called until the page ends."""
        port = self._port(named)
        options = ["--grpc"] if named == GRPC_PORT else []
        self._start([sys.executable, str(CALLER), *options, str(port)])
        return port

    def _start(
        self,
        words: list[str],
        folder: Path = ROOT,
        environment: Environment | None = None,
        stdout: int | None = None,
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=stdout, text=True)
        self._started.callback(_end, process)
        return process


def _shell(command: str) -> list[str]:
    return ["bash", "-c", f"exec {command}"]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.terminate()


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
