"""``wirelab import curl`` against the installed curl: the same requests, byte for byte."""

from __future__ import annotations

import re
import selectors
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from wirelab.errors import UsageError
from wirelab.experiment import loading
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.imports import curl
from wirelab.imports.curl_options import LONG, SHORT
from wirelab.imports.experiment_text import write

COMMANDS = Path(__file__).parents[1] / "curl_commands.txt"
PROCESSES = 8
ENVIRONMENT = {
    "USER_ID": "7",
    "FOO": "bar",
    "HOME": "/nowhere",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
}
FILES = {
    "data.txt": b"a=1\r\nb=2\n",
    "one.txt": b"a=1",
    "empty.txt": b"",
    "body.json": b'{"a": 1}\n',
    "bin.dat": b"\x00\xff\r\nx\n",
    "pic.png": b"\x89PNG",
    "a b.txt": b"spaced",
    "headers.txt": b"X-File: 1\nX-File: 2\n",
    "big.txt": b"x" * (1024 * 1024 + 1),
}
BOUNDARY = re.compile(rb"-{24}[0-9a-f]{16}")


@dataclass
class Sent:
    """A request."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def of(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for one, value in self.headers if one.lower() == name]

    @property
    def names(self) -> set[str]:
        """Names of the headers."""
        return {name.lower() for name, _ in self.headers}

    @classmethod
    def parse(cls, raw: bytes) -> Sent:
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
        method, target, _ = first.split(" ")
        pairs = [line.partition(":")[::2] for line in lines]
        return cls(method, target, [(name, value.strip()) for name, value in pairs], body)


@dataclass
class Recorder:
    """A server for each command, and what each was sent."""

    listeners: list[socket.socket] = field(default_factory=list)
    received: dict[int, list[Sent]] = field(default_factory=dict)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _is_over: bool = False

    def listen(self) -> int:
        """Returns the port of a new server."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=20)
        port = int(listener.getsockname()[1])
        self.received[port] = []
        self.listeners.append(listener)
        self._selector.register(listener, selectors.EVENT_READ, port)
        return port

    def serve(self) -> None:
        while not self._is_over:
            for key, _ in self._selector.select(0.05):
                connection, _ = key.fileobj.accept()  # type: ignore[union-attr]
                connection.settimeout(20)
                answer = threading.Thread(target=self._answer, args=(connection, key.data))
                answer.start()

    def _answer(self, connection: socket.socket, port: int) -> None:
        raw = b""
        with connection:
            while not _is_whole(raw):
                if not (part := connection.recv(1 << 20)):
                    return
                raw += part
                if b"Expect: 100-continue" in part:
                    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.received[port].append(Sent.parse(raw))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self) -> None:
        self._is_over = True
        for listener in self.listeners:
            listener.close()


def _is_whole(raw: bytes) -> bool:
    head, end, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return bool(end) and len(body) >= int(length[1] if length else 0)


@contextmanager
def _recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    thread = threading.Thread(target=recorder.serve)
    ports_first = recorder.listen()  # the selector needs one before it begins
    assert ports_first
    thread.start()
    try:
        yield recorder
    finally:
        recorder._is_over = True
        thread.join()
        recorder.close()


def _commands() -> list[str]:
    lines = COMMANDS.read_text(encoding="utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if not line.startswith("#")]


def _run_all(commands: dict[int, str], folder: Path) -> None:
    """With curl itself, a few at a time."""
    scripts = []
    for port, command in commands.items():
        script = folder / f"{port}.sh"
        script.write_text(command.replace("curl", "curl --disable", 1) + "\n", encoding="utf-8")
        scripts.append(str(script))
    subprocess.run(
        ["xargs", "-P", str(PROCESSES), "-n", "1", "bash"],
        input="\n".join(scripts).encode(),
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=100,
    )


@dataclass
class Written:
    """What an import makes of a command."""

    sent: list[Sent]
    authority: str
    notes: str


def _import(command: str, folder: Path, number: int) -> Written:
    """As the engine sends it."""
    imported = curl.read(command).choose(None)
    path = folder / f"{number}.yaml"
    write(imported, path, force=False, any_target=False)
    experiment = loading.load(path)
    (service,) = experiment.secrets.reveal(experiment.services)
    assert isinstance(service, ExternalService)
    sent = []
    for message in experiment.secrets.reveal(experiment.messages):
        assert isinstance(message, ExternalMessage)
        plan: dict[str, Any] = service.workload(message)
        headers = [tuple(pair) for pair in plan["headers"]]
        sent.append(Sent(plan["method"], plan["path"], headers, message.content))
    notes = [note for one in imported.operations for note in (*one.notes, *one.secrets)]
    return Written(sent, service.host or "", "\n".join(notes))


_STATED = {
    "user-agent": "User-Agent",
    "authorization": "header authorization",
    "cookie": "header cookie",
    "accept-encoding": "Accept-Encoding",
    "expect": "Expect: 100-continue",
    "content-length": "the engine writes it",
}
"""Headers that the import may leave out, and what states it."""


def _differences(real: Sent, ours: Sent, written: Written) -> Iterator[str]:
    if real.method != ours.method:
        yield f"method {real.method} and {ours.method}"
    # A brace that the experiment file would fill is the one character that is encoded.
    if written.authority and real.of("host") != [written.authority]:
        yield f"host {real.of('host')} and {written.authority}"
    if not written.authority and not real.of("host")[0].startswith("127.0.0.1:"):
        yield f"host {real.of('host')} is not imported"
    target = ours.target.replace("%24{", "${")
    if "the query is percent-encoded" in written.notes:
        path, _, query = target.partition("?")
        target = f"{path}?{unquote(query)}"
    if real.target != target:
        yield f"target {real.target} and {target}"
    written_by_engine = {"host", "connection"} | ({"content-length"} if real.body else set())
    for name in (real.names | ours.names) - written_by_engine:
        theirs, own = [_plain(one) for one in real.of(name)], [_plain(o) for o in ours.of(name)]
        is_stated = not own and name in _STATED and _STATED[name] in written.notes
        is_empty = name == "content-length" and theirs == ["0"]
        if theirs != own and not is_stated and not is_empty:
            yield f"header {name}: {theirs} and {own}"
    if _plain_bytes(real.body) != _plain_bytes(ours.body):
        yield f"body {real.body[:200]!r} and {ours.body[:200]!r}"


def _plain(text: str) -> str:
    return re.sub(BOUNDARY.pattern.decode(), "BOUNDARY", text)


def _plain_bytes(content: bytes) -> bytes:
    return BOUNDARY.sub(b"BOUNDARY", content)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_a_command_becomes_the_requests_that_curl_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with _recorder() as recorder:
        commands = {}
        for command in _commands():
            port = recorder.listen()
            commands[port] = command.replace("URL", f"http://127.0.0.1:{port}")
        assert len(commands) > 200
        _run_all(commands, tmp_path)
    wrong = []
    for port, command in commands.items():
        try:
            written = _import(command, tmp_path, port)
        except UsageError as error:
            wrong.append(f"{command}\n    {error}")
            continue
        real = recorder.received[port]
        assert real, f"curl sent nothing: {command}"
        found = [
            difference
            for one, ours in zip(real, written.sent, strict=False)
            for difference in _differences(one, ours, written)
        ]
        if len(real) != len(written.sent):
            found.append(f"{len(real)} requests and {len(written.sent)}")
        wrong += [f"{command}\n    {difference}" for difference in found]
    version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
    assert not wrong, f"{version.stdout.split(' (')[0]}\n" + "\n".join(wrong)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_option_of_the_installed_curl_is_known() -> None:
    done = subprocess.run(["curl", "--help", "all"], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines()[1:]:
        found = re.match(r"\s*(?:-(.), )?\s*--(\S+)( [<\[])?", line)
        assert found is not None
        letter, name, value = found.groups()
        if name == "next":
            continue
        assert name in LONG, name
        assert not value or LONG[name].has_value, name
        assert not letter or SHORT[letter] is LONG[name], letter
