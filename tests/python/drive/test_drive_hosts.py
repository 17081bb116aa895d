"""Host, server name, address, status and content of `wirelab drive`, and `host` of a service."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from wirelab.cli import main
from wirelab.cli.drive import _read_stdin
from wirelab.errors import ExperimentError
from wirelab.experiment import loading
from wirelab.experiment.external import ExternalService
from wirelab.trial.plans import _authority

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
REPLIES_MAX = 5


class Server:
    """Records each request, answers 304 for /cached, and ends connections silently."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            for _ in range(REPLIES_MAX):
                raw = b""
                while b"\r\n\r\n" not in raw or (b"POST" in raw and not raw.endswith(b"END")):
                    if not (part := connection.recv(65536)):
                        return
                    raw += part
                self.requests.append(raw)
                status = b"304 Not Modified" if b"/cached" in raw else b"200 OK"
                connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


def _drive(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = main(["drive", *words, "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if printed.out else {}, printed.err


def test_the_host_of_a_request_can_be_set(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{server.port}/"
    code, _, error = _drive(capsys, url, "--calls", "1", "--header", "Host: api.test:81")
    assert code == 0, error
    assert server.requests[0].startswith(b"GET / HTTP/1.1\r\nHost: api.test:81\r\n")
    assert server.requests[0].lower().count(b"\r\nhost:") == 1


def test_a_name_can_have_an_address(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    url, resolve = f"http://api.test:{server.port}/", f"api.test:{server.port}:127.0.0.1"
    code, _, error = _drive(capsys, url, "--calls", "1", "--resolve", resolve)
    assert code == 0, error
    assert f"Host: api.test:{server.port}\r\n".encode() in server.requests[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--resolve", "other.test:1:127.0.0.1"), "does not name the host and port"),
        (("--resolve", "api.test:80:x"), "does not name the host and port"),
        (("--resolve", "api.test:80:1.2.3"), "--resolve api.test:80:1.2.3"),
        (("--resolve", "api.test:80:192.0.2.1"), "is not on this machine"),
        (("--resolve", "api.test:80:127.0.0.1", "--follow"), "excludes --follow"),
        (("--resolve", "api.test:80:127.0.0.1", "--sni", "a.test"), "--sni needs TLS"),
        (("--resolve", "api.test:80:127.0.0.1", "--expect-status", "99"), "--expect-status"),
    ],
)
def test_a_wrong_address_or_name_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], part: str
) -> None:
    code, _, error = _drive(capsys, "http://api.test/", "--calls", "1", *words)
    assert code == 2
    assert part in " ".join(error.split())


def test_a_status_can_be_the_right_one(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{server.port}/cached"
    assert _drive(capsys, url, "--calls", "1")[0] == 1
    code, result, _ = _drive(capsys, url, "--calls", "1", "--expect-status", "304")
    assert (code, result["ok"]) == (0, 1)


def test_content_comes_from_standard_input(
    server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _read_stdin.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x00piped END")))
    url = f"http://127.0.0.1:{server.port}/"
    code, _, error = _drive(capsys, url, "--calls", "1", "--body", "-")
    _read_stdin.cache_clear()
    assert code == 0, error
    assert server.requests[0].endswith(b"\r\n\r\n\x00piped END")


def test_a_url_may_have_any_letter(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{server.port}/ü x?q=€&r=%20"
    code, _, error = _drive(capsys, url, "--calls", "1")
    assert code == 0, error
    assert server.requests[0].startswith(b"GET /%C3%BC%20x?q=%E2%82%AC&r=%20 HTTP/1.1\r\n")


def test_a_server_that_closes_after_some_replies_is_advice(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{server.port}/"
    _, result, _ = _drive(capsys, url, "--calls", "60")
    (hint,) = [one for one in result["hints"] if "limit the reuse of connections" in one]
    assert re.search(r"after about [5-7] calls on each", hint), hint


SERVICE = """name: a
services: [{name: a, url: "http://api.test:9/x", host: other.test, address: 127.0.0.1}]
loads: [{closed: {users: 1}}]
window: {duration: 1 s}
"""


def test_a_service_has_its_host_and_address() -> None:
    (service,) = loading.parse(SERVICE).services
    assert isinstance(service, ExternalService)
    assert service.is_local
    assert service.server is not None
    assert service.server.address == "127.0.0.1:9"
    assert _authority(service) == {"authority": "other.test"}


@pytest.mark.parametrize(
    "changed",
    [
        SERVICE.replace("address: 127.0.0.1", "address: 127.0.0.1, http: {headers: {Host: x}}"),
        f"{SERVICE}messages: [{{name: m, headers: {{hOST: x}}}}]\n",
    ],
)
def test_a_host_in_the_headers_is_refused_when_the_file_is_read(changed: str) -> None:
    with pytest.raises(ExperimentError, match="write `host:` next to `url` or `command`"):
        loading.parse(changed)
