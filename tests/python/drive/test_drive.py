"""`wirelab drive` with the real engine, against our services and against others' servers."""

from __future__ import annotations

import http.server
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from wirelab import checkout
from wirelab.cli import main
from wirelab.errors import UsageError
from wirelab.process import open_files, scratch
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests, targets
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]


class Handler(http.server.BaseHTTPRequestHandler):
    """Python's own server: a third party's HTTP/1.1."""

    # Otherwise a reply waits 40 ms for the ACK of its header.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    bodies: list[tuple[str, str | None, bytes]]
    tags: list[str]
    answered = False

    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(0.1)
        self._answer(404 if self.path == "/missing" else 200)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        Handler.tags = self.headers.get_all("x-tag", [])
        self.bodies.append((self.command, self.headers.get("x-key"), self.rfile.read(length)))
        self._answer(201)

    def _answer(self, status: int) -> None:
        Handler.answered = True
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Handler.bodies, Handler.answered = [], False
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
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
    assert 0 <= said["client_spin_s"] <= said["client_cpu_s"] + 1e-9
    for_calls_s = said["client_cpu_s"] - said["client_spin_s"]
    assert said["client_cpu_us_per_call"] == pytest.approx(for_calls_s / 500 * 1e6)
    assert said["load"] == "closed"
    assert said["connections_opened"] == 2


def test_method_headers_and_body_reach_the_server(
    capsys: pytest.CaptureFixture[str], server: str, tmp_path: Path
) -> None:
    (tmp_path / "body").write_bytes(b"\x00\xff")
    body = ["--body", str(tmp_path / "body"), "--header", "X-Key: secret"]
    assert _drive(capsys, f"{server}/", "--calls", "1", *body)[0] == 0
    assert Handler.bodies == [("POST", "secret", b"\x00\xff")]


def test_repeated_headers_reach_the_server_in_order(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    headers = [word for value in ("2", "1", "3") for word in ("--header", f"X-Tag: {value}")]
    assert _drive(capsys, f"{server}/tags", "--calls", "1", "--data", "x", *headers)[0] == 0
    assert Handler.tags == ["2", "1", "3"]


def test_a_status_other_than_success_is_an_error(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    code, said = _drive(capsys, f"{server}/missing", "--calls", "20")
    assert code == 1
    assert said["errors"] == 20
    assert said["ok"] == 0


@contextmanager
def faulty(tmp_path: Path, faults: Json) -> Iterator[str]:
    """An embedded service with these fault switches; where it answers Hello."""
    stack = Stack.parse("rest@rust?codec=text")
    settings = Settings(faults={"delay_us": 2000, **faults}).configuration(stack)
    with Interruption() as interruption:
        program = Programs(manifests.load()).program(stack, interruption)
        log = tmp_path / "service.log"
        with Service(
            program, settings, ProcessOptions(log=log), interruption=interruption
        ) as service:
            yield f"http://{service.ready.address}/transfer/hello"


@pytest.mark.parametrize(
    ("faults", "kind", "share", "how"),
    [
        ({"wrong": {"every": 5, "what": "status"}}, "application", 5, "answered with an error"),
        ({"hang": {"every": 50}}, "timeout", 50, "timed out after 400 ms"),
        (
            {"close_mid_reply": {"every": 4}},
            "closed",
            4,
            "with the connection closed before the reply was complete",
        ),
    ],
)
def test_failed_calls_are_named_by_what_happened_and_left_out_of_good_times(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    faults: Json,
    kind: str,
    share: int,
    how: str,
) -> None:
    """A known share of failed calls, each of which took the service 2 ms at least."""
    amount = ("--calls", "1200", "--connections", "4", "--timeout", "400ms")
    with faulty(tmp_path, faults) as url:
        code, said = _drive(capsys, url, *amount)
        assert main(["drive", url, *amount]) == 0
    failed = 1200 // share
    assert (code, said["errors_by_kind"]) == (0, {kind: failed})
    good, every_call = said["latency_good_ms"], said["latency_ms"]
    assert good["min"] >= 2.0
    assert good["max"] <= 400.0
    mean_failed = (every_call["mean"] * 1200 - good["mean"] * (1200 - failed)) / failed
    if kind == "timeout":
        assert mean_failed >= 399.0
        assert every_call["p99"] >= 400.0 > good["p99"]
    else:
        assert 2.0 <= mean_failed < 400.0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{kind}: {failed} {how}" in shown
    assert shown.index("response time, good calls:") < shown.index("response time, all calls:")
    assert "given up" not in shown


def test_one_distribution_is_shown_where_nothing_failed(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    _, said = _drive(capsys, f"{server}/", "--calls", "50")
    assert said["latency_good_ms"] == said["latency_ms"]
    assert main(["drive", f"{server}/", "--calls", "50"]) == 0
    shown = capsys.readouterr().out
    assert shown.replace("response times", "").count("response time") == 1
    assert "all calls" not in shown


def test_an_open_load_keeps_its_rate(capsys: pytest.CaptureFixture[str], server: str) -> None:
    _, said = _drive(
        capsys, f"{server}/", "--rate", "200", "--duration", "1s", "--connections", "4"
    )
    assert said["load"] == "open"
    assert said["calls"] == pytest.approx(200, abs=2)
    assert said["rate_planned_per_s"] == 200
    assert 0 <= said["schedule_lag_ms"]["p50"] <= said["latency_ms"]["p50"]


def test_refused_connections_are_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        code, said = _drive(capsys, url, "--calls", "5")
        assert main(["drive", url, "--duration", "200ms", "--connections", "2"]) == 1
    assert code == 1
    assert said["errors_by_kind"]["refused"] == said["errors"] > 0
    assert said["error_examples"] == ["refused: Connection refused (os error 111)"]
    assert said["latency_ms"] == {}, "the time of a failure is not a response time"
    shown = capsys.readouterr().out
    assert shown.count("Connection refused") == 1
    assert "no call succeeded" in shown
    assert "response time" not in shown.replace("response times", "")
    assert "nobody listens at 127.0.0.1" in shown


def test_tls_on_one_side_only_is_reported_with_the_right_scheme(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    secure = server.replace("http://", "https://")
    assert main(["drive", f"{secure}/", "--duration", "200ms", "--timeout", "2s"]) == 1
    shown = capsys.readouterr().out
    assert "the server speaks without TLS: write http:// in place of https://" in shown


def test_a_server_that_requires_tls_is_reported_with_the_right_scheme(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A service of the lab, by the address that it gave."""
    stack = Stack.parse("rest@rust?security=tls")
    with Interruption() as interruption, Scratch(tmp_path) as scratch:
        program = Programs(manifests.load()).program(stack, interruption)
        listen = ListenSpec.of(stack, scratch)
        configuration = Settings().configuration(stack, listen=listen)
        log = tmp_path / "service.log"
        with Service(
            program, configuration, ProcessOptions(log=log), interruption=interruption
        ) as service:
            code = main(["drive", f"http://{service.ready.address}/", "--duration", "200ms"])
    assert code == 1
    assert "write https:// in place of http://" in " ".join(capsys.readouterr().out.split())


def test_the_rate_is_that_of_calls_that_ended_within_the_window(
    capsys: pytest.CaptureFixture[str], server: str
) -> None:
    """Forty calls of 100 ms, one at a time, are asked for within a second."""
    code, said = _drive(capsys, f"{server}/slow", "--rate", "40", "--duration", "1s")
    assert code == 0
    assert said["calls"] == pytest.approx(40, abs=1)
    assert 5 <= said["ended_in_window"] <= 10
    assert said["rate_per_s"] == pytest.approx(said["ended_in_window"] / said["window_s"])
    per_call_us = (said["client_cpu_s"] - said["client_spin_s"]) / said["ended_in_window"] * 1e6
    assert said["client_cpu_us_per_call"] == pytest.approx(per_call_us)
    assert 0.8 <= said["concurrency"] <= 1.0
    assert "the rate was not kept" in said["hints"][0]


@pytest.mark.parametrize("how", [["--json"], []])
def test_an_interrupted_drive_is_reported_with_its_results(server: str, how: list[str]) -> None:
    running = subprocess.Popen(
        [*COMMAND, "drive", f"{server}/", "--duration", "60s", *how],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    deadline = time.monotonic() + 60
    while not Handler.answered and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)  # so that the window is open, which the first answer opens
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    if how:
        printed = json.loads(said)
        assert printed["interrupted"] is True
        assert 0 < printed["window_s"] < 60
        assert printed["calls"] > 0
    else:
        assert "  interrupted after " in said


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
    made = scratch.make_certificates(tmp_path / "tls")
    files = made.of_service("tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["certificate"], files["key"])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.socket = context.wrap_socket(running.socket, server_side=True)
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        url = f"https://127.0.0.1:{running.server_port}/"
        code, said = _drive(capsys, url, "--calls", "20", "--ca", made.of_client("tls")["ca"])
        untrusted, refused = _drive(
            capsys, url, "--calls", "1", "--ca", _unknown_authority(tmp_path)
        )
        running.shutdown()
        thread.join()
    assert (code, said["ok"]) == (0, 20), said["error_examples"]
    assert (untrusted, refused["ok"]) == (1, 0)


def _unknown_authority(folder: Path) -> str:
    """An authority that has signed nothing."""
    ca: str = scratch.make_certificates(folder / "unknown").of_client("tls")["ca"]
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
        with Service(
            program, settings, ProcessOptions(log=log), interruption=interruption
        ) as service:
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
        (["rest@rust", "--calls", "5", "--duration", "1s"], "exclude each other"),
        (["rest@rust", "--poisson"], "--poisson needs --rate"),
        (["rest@rust", "--rate", "0"], "--rate 0 is not a rate"),
        (["rest@rust", "--rate", "-1"], "--rate -1 is not a rate"),
        (["rest@rust", "--rate", "nan"], "--rate nan is not a rate"),
        (["rest@rust", "--rate", "inf"], "--rate inf is not a rate"),
        (["rest@rust", "--duration", "inf"], "--duration: 'inf' is not a time"),
        (["rest@rust", "--duration", f"{'9' * 400}s"], "too large a number"),
        (["rest@rust", "--warmup", "-1s"], "--warmup: '-1s' is not a time"),
        (["rest@rust", "--seed", "3"], "--seed needs --poisson"),
        (["rest@rust", "--max-time", "3s"], "--max-time needs --calls"),
        (["rest@rust", "--in-flight", "3", "--close"], "give only one of them"),
        (["rest@rust", "--method", "PUT"], "--method applies to URLs only"),
        (["rest@rust", "--header", "a: b"], "--header applies to URLs only"),
        (["rest@rust", "--data", ""], "--data applies to URLs only"),
        (["rest@rust", "--body", __file__], "--body applies to URLs only"),
        (["rest@rust", "--proto", __file__], "--proto applies to URLs only"),
        (["rest@rust", "--http2"], "e.g. rest@rust?transport=http/2"),
        (["rest@rust", "--ca", __file__], "write ?security=tls"),
        (["rest@rust", "--any-target"], "--any-target applies to URLs only"),
        (["http://127.0.0.1:1/", "--size", "1 kB"], "--size applies only to services of wirelab"),
        (["http://127.0.0.1:1/", "--operation", "Hello"], "--operation applies only to services"),
        (["http://127.0.0.1:1/", "--sequence", "Credit"], "--sequence applies only to services"),
        (["http://127.0.0.1:1/", "--import", "."], "--import needs --proto"),
        (["http://127.0.0.1:1/", "--body", __file__, "--data", "x"], "exclude each other"),
        (["rest@rust", "--rate", "5", "--users", "2"], "an open load"),
        (["rest@rust", "--duration", "3"], "has no unit"),
        (["rest@rust?codek=text"], "Did you mean 'codec'"),
        (["rest@rsut"], "Did you mean 'rust'"),
        (["rest@rust", "--operation", "Download"], "is not available with rest"),
        (["rest@rust", "--operation", "Helo"], "Did you mean 'Hello'"),
        (["rest@rust", "--work", "sleep"], "decode or frame"),
        (["127.0.0.1:80"], "neither a URL nor a stack"),
        (["https://127.0.0.1:1/", "--ca", "nothing.pem"], "is not a file"),
        (["http://127.0.0.1:1/", "--ca", __file__], "--ca needs TLS"),
        (["https://127.0.0.1:1/", "--ca", __file__], "no certificate"),
        (["rest@rust", "--operation", "Credit", "--size", "1 kB"], "Credit has a fixed size"),
        (["rest@rust", "--sequence", "Debit"], "Did you mean 'DirectDebit'"),
        (["rest@rust", "--sequence", "Credit", "--operation", "Hello"], "either operation"),
        (["rest@rust", "--operation", "ConfirmAction"], "within sequences only"),
        (["ftp://127.0.0.1/"], "unknown scheme"),
        (["http://127.0.0.1:99999/"], "is not a URL"),
        (["http:///x"], "names no host"),
        (["http://127.0.0.1:1/\r\nx: y"], "contains a control character"),
        (["http://192.0.2.1/"], "--any-target"),
        (["grpc://127.0.0.1:1/"], "names no method"),
        (["grpc://127.0.0.1:1/a.B/C"], "needs its message"),
        (["grpc://127.0.0.1:1/a.B/C", "--proto", "nothing.proto"], "is not a file"),
        (["http://127.0.0.1:1/", "--header", "nonsense"], "write it as 'Name: value'"),
        (["http://127.0.0.1:1/", "--body", "/nonexistent"], "cannot be read"),
    ],
)
def test_a_wrong_option_is_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["drive", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_fewer_connections_are_not_advised_where_none_would_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "limit", lambda: 100)
    assert main(["drive", "rest@rust"]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert "raise the limit (ulimit -n 257)" in printed
    assert "fewer" not in printed


@pytest.mark.parametrize(
    "load", [["--connections", "900"], ["--users", "900"], ["--users", "900", "--close"]]
)
def test_a_load_beyond_the_open_files_is_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, load: list[str]
) -> None:
    """Of a service that the lab starts, and that holds every connection."""
    monkeypatch.setattr(open_files, "limit", lambda: 1000)
    assert main(["drive", "rest@rust", *load]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert "900 concurrent connections and 256 other files" in printed
    assert "the limit of 1,000 open files" in printed
    assert "use fewer users or connections, or raise the limit (ulimit -n 1156)" in printed


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


def test_data_may_be_nested_deeply(capsys: pytest.CaptureFixture[str]) -> None:
    """It is text for a URL, and not JSON for gRPC."""
    deep = "[" * 100_000
    assert main(["drive", "http://127.0.0.1:1/", "--calls", "1", "--data", deep]) == 1
    assert "refused" in capsys.readouterr().out
    assert main(["drive", "grpc://127.0.0.1:1/a.B/C", "--data", deep]) == 2
    assert "--data is not JSON: it is nested too deeply" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('syntax = "proto3";\nmessage M {\n  string y = ;\n}\n', "bad.proto, line 3: expected"),
        ('syntax = "proto3";\n\nimport "nowhere.proto";\n', "bad.proto, line 3: import"),
        ('syntax = "proto3";\nmessage M { Nothing x = 1; }\n', "bad.proto, line 2: "),
    ],
)
def test_an_error_in_a_proto_is_reported_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str
) -> None:
    bad = tmp_path / "bad.proto"
    bad.write_text(text)
    given = ["--proto", str(bad), "--data", "{}", "--calls", "1"]
    assert main(["drive", "grpc://127.0.0.1:1/a.S/Go", *given]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("real_engine")
def test_a_p99_of_too_few_calls_names_the_window_that_has_them(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["drive", f"{server}/", "--connections", "1", "--calls"]
    assert main([*command, "200"]) == 0
    shown = capsys.readouterr().out
    (line,) = (one for one in shown.splitlines() if one.startswith("  p99:"))
    found = re.fullmatch(
        r"  p99: 200 of 1,000 calls; `--duration ([\d.]+)(ms|s)` or `--calls 1000`", line
    )
    assert found is not None, line
    assert main([*command, "1500"]) == 0
    # A line may end before the value.
    shown = " ".join(capsys.readouterr().out.split())
    assert "p99 " in shown
    assert " of 1,000 calls" not in shown
