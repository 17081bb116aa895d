"""`wirelab drive` with the real engine, against our services and against others' servers."""

from __future__ import annotations

import http.server
import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wirelab import certificates, checkout, manifests, targets
from wirelab.cli import main
from wirelab.errors import UsageError
from wirelab.interruption import Interruption
from wirelab.services import Programs, Service, Settings
from wirelab.stacks import Stack
from wirelab.targets import Server

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]


class Handler(http.server.BaseHTTPRequestHandler):
    """Python's own server: a third party's HTTP/1.1."""

    protocol_version = "HTTP/1.1"
    bodies: list[tuple[str, str | None, bytes]]

    def do_GET(self) -> None:
        self._answer(404 if self.path == "/missing" else 200)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.bodies.append((self.command, self.headers.get("x-key"), self.rfile.read(length)))
        self._answer(201)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Handler.bodies = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def _drive(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Json]:
    code = main(["drive", *arguments, "--json"])
    said: Json = json.loads(capsys.readouterr().out)
    return code, said


def test_the_flat_result_has_what_was_promised(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    code, said = _drive(capsys, f"{server}/", "--calls", "500", "--connections", "2")
    assert code == 0
    assert (said["calls"], said["ok"], said["errors"]) == (500, 500, 0)
    assert said["rate_per_s"] == pytest.approx(500 / said["window_s"], rel=0.2)
    assert 0 < said["latency_ms"]["p50"] <= said["latency_ms"]["p90"]
    assert said["client_cpu_s"] > 0
    assert said["client_cpu_us_per_call"] == pytest.approx(said["client_cpu_s"] / 500 * 1e6)
    assert said["load"] == "closed"
    assert said["connections_opened"] == 2


def test_method_headers_and_body_reach_the_server(
    capsys: pytest.CaptureFixture[str], server: str, tmp_path: Path
) -> None:
    (tmp_path / "body").write_bytes(b"\x00\xff")
    body = ["--body", str(tmp_path / "body"), "--header", "X-Key: secret"]
    assert _drive(capsys, f"{server}/", "--calls", "1", *body)[0] == 0
    assert Handler.bodies == [("POST", "secret", b"\x00\xff")]


def test_a_status_that_is_no_success_is_an_error(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    code, said = _drive(capsys, f"{server}/missing", "--calls", "20")
    assert code == 1
    assert said["errors"] == 20
    assert said["ok"] == 0


def test_an_open_load_keeps_its_rate(capsys: pytest.CaptureFixture[str], server: str) -> None:
    _, said = _drive(
        capsys, f"{server}/", "--rate", "200", "--duration", "1s", "--connections", "4"
    )
    assert said["load"] == "open"
    assert said["calls"] == pytest.approx(200, abs=2)
    assert said["rate_planned_per_s"] == 200


def test_refused_connections_are_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        code, said = _drive(capsys, url, "--calls", "5")
    assert code == 1
    assert said["errors_by_kind"]["refused"] == said["errors"] > 0


@pytest.mark.parametrize(
    "reference", ["rest@rust", "rest@rust?codec=text", "grpc@rust", "rest@rust?connection=close"]
)
def test_services_of_the_lab_are_started_and_driven(
    capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    code, said = _drive(capsys, reference, "--calls", "200", "--size", "1 kB")
    assert (code, said["ok"]) == (0, 200)
    assert said["connections_opened"] == (200 if "close" in reference else 1)


@pytest.mark.parametrize(
    "reference",
    [
        "rest@rust?security=tls",
        "grpc@rust?security=mtls",
        "rest@rust?security=mtls&connection=close",
        "rest@rust?socket=unix",
        "grpc@rust?socket=unix&security=tls",
        "iiop@rust",
        "iiop@rust?byte_order=big&security=tls",
    ],
)
def test_tls_unix_sockets_and_objects_are_found_by_both_ends(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reference: str,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, said = _drive(capsys, reference, "--calls", "50")
    assert (code, said["ok"]) == (0, 50), said["error_examples"]
    assert list(tmp_path.iterdir()) == [], "sockets and certificates are left behind"


@pytest.mark.parametrize("reference", ["rest@rust", "grpc@rust", "iiop@rust"])
def test_sequences_carry_numbers_of_replies(
    capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    code, said = _drive(capsys, reference, "--sequence", "ReservationDebit", "--calls", "25")
    assert (code, said["ok"]) == (0, 100), said["error_examples"]
    assert (said["sequences"]["count"], said["sequences"]["errors"]) == (25, 0)
    assert said["sequences"]["latency_ms"]["p50"] > said["latency_ms"]["p50"]


def test_a_server_with_tls_is_driven_where_its_authority_is_trusted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = certificates.make(tmp_path / "tls")
    files = made.of_service("tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["certificate"], files["key"])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.socket = context.wrap_socket(running.socket, server_side=True)
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        url = f"https://127.0.0.1:{running.server_port}/"
        code, said = _drive(capsys, url, "--calls", "20", "--ca", made.of_client("tls")["ca"])
        untrusted, refused = _drive(capsys, url, "--calls", "1", "--ca", _stranger(tmp_path))
        running.shutdown()
        thread.join()
    assert (code, said["ok"]) == (0, 20), said["error_examples"]
    assert (untrusted, refused["ok"]) == (1, 0)


def _stranger(folder: Path) -> str:
    """An authority that has signed nothing."""
    ca: str = certificates.make(folder / "stranger").of_client("tls")["ca"]
    return ca


@pytest.mark.parametrize(
    "operation", ["HelloBytes", "Submit", "Upload", "UploadStream", "Download"]
)
def test_every_operation_can_be_driven(capsys: pytest.CaptureFixture[str], operation: str) -> None:
    code, said = _drive(
        capsys, "grpc@rust", "--operation", operation, "--calls", "20", "--size", "100 kB"
    )
    assert (code, said["ok"]) == (0, 20), said["error_examples"]


def test_a_grpc_method_is_called_from_its_proto_and_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stack = Stack.parse("grpc@rust")
    with Interruption() as interruption:
        program = Programs(manifests.load()).program(stack, interruption)
        log = tmp_path / "service.log"
        settings = Settings().configuration(stack)
        with Service(program, settings, log=log, interruption=interruption) as service:
            target = f"grpc://{service.ready.address}/wirelab.transfer.v1.Transfer/Submit"
            proto = ["--proto", str(checkout.root() / "contracts" / "transfer.proto")]
            good = '{"batch": "b", "records": [{"id": "1", "quantity": 2, "item": "x"}]}'
            many = ["--calls", "50", "--connections", "2", "--in-flight", "3"]
            code, said = _drive(capsys, target, *proto, "--data", good, *many)
            assert (code, said["ok"]) == (0, 50), said["error_examples"]
            code, said = _drive(capsys, target, *proto, "--data", "{}", "--calls", "5")
            assert code == 1
            assert said["errors_by_kind"] == {"application": 5}
            (tmp_path / "body").write_bytes(b"\x0a\x01b")
            body = ["--body", str(tmp_path / "body"), "--calls", "5"]
            assert _drive(capsys, target, *body)[1]["ok"] == 5
            unknown = [*proto, "--data", '{"bach": "b"}']
            assert main(["drive", target, *unknown]) == 2
            assert "bach" in capsys.readouterr().err


def test_people_get_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drive", "rest@rust", "--rate", "500", "--duration", "300ms"]) == 0
    said = capsys.readouterr().out
    assert "open load" in said
    assert "response time" in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rest@rust", "--calls", "5", "--duration", "1s"], "contradict"),
        (["rest@rust", "--poisson"], "--poisson needs --rate"),
        (["rest@rust", "--rate", "0"], "not above 0"),
        (["rest@rust", "--rate", "5", "--users", "2"], "open one"),
        (["rest@rust", "--duration", "3"], "has no unit"),
        (["rest@rust?codek=text"], "Did you mean 'codec'"),
        (["rest@rsut"], "Did you mean 'rust'"),
        (["rest@rust", "--operation", "Download"], "does not exist over rest"),
        (["rest@rust", "--operation", "Helo"], "Did you mean 'Hello'"),
        (["rest@rust", "--work", "sleep"], "decode or frame"),
        (["127.0.0.1:80"], "neither a URL nor a stack"),
        (["https://127.0.0.1:1/", "--ca", "nothing.pem"], "is not a file"),
        (["http://127.0.0.1:1/", "--ca", __file__], "--ca belongs to TLS"),
        (["https://127.0.0.1:1/", "--ca", __file__], "no certificate"),
        (["rest@rust", "--operation", "Credit", "--size", "1 kB"], "Credit has one size"),
        (["rest@rust", "--sequence", "Debit"], "Did you mean 'DirectDebit'"),
        (["rest@rust", "--sequence", "Credit", "--operation", "Hello"], "either operation"),
        (["rest@rust", "--operation", "ConfirmAction"], "within sequences only"),
        (["ftp://127.0.0.1/"], "unknown scheme"),
        (["http://127.0.0.1:99999/"], "is not a URL"),
        (["http:///x"], "names no host"),
        (["http://192.0.2.1/"], "--any-target"),
        (["grpc://127.0.0.1:1/"], "names no method"),
        (["grpc://127.0.0.1:1/a.B/C"], "needs its message"),
        (["grpc://127.0.0.1:1/a.B/C", "--proto", "nothing.proto"], "is not a file"),
        (["http://127.0.0.1:1/", "--header", "nonsense"], "write 'Name: value'"),
        (["http://127.0.0.1:1/", "--body", "/nonexistent"], "cannot be read"),
    ],
)
def test_a_wrong_option_is_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["drive", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_proto_that_does_not_parse_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    proto = tmp_path / "bad.proto"
    proto.write_text('syntax = "proto3";\nmessage A { strin name = 1; }\nservice {\n')
    target = "grpc://127.0.0.1:1/a.B/C"
    assert main(["drive", target, "--proto", str(proto), "--data", "{}"]) == 2
    assert "bad.proto" in capsys.readouterr().err
    assert main(["drive", target, "--proto", str(proto), "--data", "{"]) == 2
    assert "--data is not JSON" in capsys.readouterr().err


def test_targets_are_resolved() -> None:
    server = targets.parse("grpc://localhost:7000/a.b.C/D")
    assert isinstance(server, Server)
    assert server.local
    assert server.authority == "localhost:7000"
    assert server.path == "/a.b.C/D"
    assert isinstance(found := targets.parse("http://[::1]:80/a?b=c"), Server)
    assert (found.address, found.path) == ("[::1]:80", "/a?b=c")
    for host, local in (("198.18.0.2", True), ("198.20.0.0", False), ("192.0.2.1", False)):
        assert isinstance(found := targets.parse(f"http://{host}/"), Server)
        assert found.local is local, host
    with pytest.raises(UsageError, match="cannot be resolved"):
        targets.parse("http://nowhere.invalid/")
