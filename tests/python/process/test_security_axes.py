"""TLS sessions that are resumed, by the log of a server of the test's own, and UsernameTokens."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from wirelab.cli import main
from wirelab.errors import EXIT_OK, StackError
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

CALLS = 40
USERS = 2
REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


@dataclass
class Server:
    """What a TLS server of Python's own library saw."""

    port: int
    reused: list[bool] = field(default_factory=list)
    """By connection: whether OpenSSL resumed a session."""

    def answer(self, raw: socket.socket, context: ssl.SSLContext) -> None:
        with contextlib.suppress(OSError), context.wrap_socket(raw, server_side=True) as secure:
            while b"\r\n\r\n" not in (head := secure.recv(4096)) and head:
                pass
            self.reused.append(bool(secure.session_reused))
            secure.sendall(REPLY)
            secure.unwrap()


@contextlib.contextmanager
def _serve(folder: Path) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Server(listener.getsockname()[1])

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    raw, _ = listener.accept()
                    threading.Thread(target=made.answer, args=(raw, context), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)


def _drive(engine: Path, folder: Path, port: int, resumption: str) -> dict[str, Any]:
    group = {
        "name": "main",
        "target": f"127.0.0.1:{port}",
        "authority": "localhost",
        "stack": {
            "binding": "rest",
            "codec": "text",
            "transport": "http/1.1",
            "connection": "close",
            "security": "tls",
            "client.tls_resumption": resumption,
        },
        "tls": {"ca": str(folder / "ca.pem")},
        "workload": {"kind": "http", "method": "GET", "path": "/"},
        "load": {"kind": "closed", "users": USERS},
        "window": {"calls": {"calls": CALLS, "max_s": 20.0}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
        "timeout_s": 5.0,
        "drain_s": 5.0,
    }
    done = subprocess.run(
        [str(engine), "drive"],
        input=json.dumps({"groups": [group], "threads": 1}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout.splitlines()[-1])["groups"]
    assert (result["ok"], result["errors"]) == (CALLS, 0), result["error_examples"]
    return dict(result)


def test_handshakes_resume_where_the_stack_has_it(real_engine: Path, tmp_path: Path) -> None:
    subprocess.run([str(real_engine), "certificates", str(tmp_path)], check=True)
    with _serve(tmp_path) as server:
        result = _drive(real_engine, tmp_path, server.port, "on")
        # The first connection of each user has no session yet.
        assert CALLS - USERS <= sum(server.reused) < CALLS
        assert result["connections_resumed"] == sum(server.reused)
    with _serve(tmp_path) as server:
        result = _drive(real_engine, tmp_path, server.port, "off")
        assert len(server.reused) == CALLS
        assert result["connections_resumed"] == sum(server.reused) == 0


def _measure(reference: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    words = ("--users", str(USERS), "--calls", str(CALLS), "--json")
    assert main(["drive", reference, *words]) == EXIT_OK
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (result["ok"], result["errors"]) == (CALLS, 0), result["error_examples"]
    return result


@pytest.mark.parametrize("language", ["rust", "go", "java"])
@pytest.mark.parametrize("security", ["tls", "mtls"])
def test_services_resume_sessions(
    language: str, security: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = f"rest@{language}?connection=close&security={security}&client.tls_resumption=on"
    result = _measure(stack, capsys)
    assert CALLS - USERS <= result["connections_resumed"] < result["connections_opened"]


@pytest.mark.parametrize(
    "stack",
    ["soap@rust", "soap@rust?soap=1.2", "soap@go", "soap@java", "soap@java?codec=soap-encoded"],
)
def test_messages_of_soap_have_a_username_token(
    stack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = _measure(stack, capsys)
    separator = "&" if "?" in stack else "?"
    named = _measure(f"{stack}{separator}ws_security=username-token", capsys)
    more = named["bytes_sent"] - plain["bytes_sent"]
    # The block's names and namespace are about 400 bytes.
    assert 300 * CALLS < more < 600 * CALLS


@pytest.mark.parametrize(
    ("stack", "reason"),
    [
        ("rest@rust?ws_security=username-token", "only messages of soap"),
        ("rest@rust?client.tls_resumption=on", "no TLS session to resume"),
        ("soap@java?codec=soap-encoded&ws_security=username-token&caller=java", "Axis 1.4 has no"),
        ("soap@java?codec=soap-encoded&ws_security=signature&caller=java", "Axis 1.4 has no"),
        ("soap@java?ws_security=signature", "engine neither signs nor encrypts.*\n.*caller=java"),
        ("rest@java?ws_security=encryption&caller=java", "only messages of soap"),
    ],
)
def test_security_without_its_place_is_refused(stack: str, reason: str) -> None:
    with pytest.raises(StackError, match=reason):
        Stack.parse(stack)


@pytest.mark.parametrize("value", ["signature", "encryption", "signature-encryption"])
@pytest.mark.parametrize("language", ["rust", "go"])
def test_services_without_ws_security_name_the_reason(language: str, value: str) -> None:
    stack = Stack.parse(f"soap@{language}?ws_security={value}&caller=java")
    with pytest.raises(StackError, match=r"no maintained library in (Rust|Go) signs"):
        manifests.load().manifest(stack)
