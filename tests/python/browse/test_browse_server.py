"""The server of `wirelab browse` against raw requests: only for reading, only for this machine."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.hostile_runs import SECRET, SMALL, write_hostile, write_run
from tests.python.synthetic_run import trials
from wirelab.browse import server as serving
from wirelab.browse import tree
from wirelab.browse.server import BrowseServer, listen
from wirelab.browse.site import Site
from wirelab.cli import main

ANSWER_S = 120.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowseServer]:
    """A server of a hostile folder, next to a folder with a secret."""
    root = tmp_path_factory.mktemp("browse") / "runs"
    write_hostile(root)
    with listen(Site(root), 0) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def exchange(server: BrowseServer, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, header fields and body of the answer to these bytes; status 0 for none."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=ANSWER_S) as peer:
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # Refused before everything was sent.
        received = bytearray()
        try:
            while block := peer.recv(1 << 16):
                received += block
        except ConnectionResetError:
            pass
    if not received:
        return 0, {}, b""
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), fields, body


def request(target: str, *fields: str, method: str = "GET", host: str = "127.0.0.1") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *fields, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")


def test_every_answer_has_the_fields_that_keep_other_pages_out(server: BrowseServer) -> None:
    for target in ("/", "/runs.json", "/browse.css", "/browse.js", "/nosuch", "/compare?run=1"):
        _, fields, _ = exchange(server, request(target))
        assert "default-src 'none'" in fields["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in fields["Content-Security-Policy"]
        assert "unsafe" not in fields["Content-Security-Policy"]
        assert fields["X-Content-Type-Options"] == "nosniff"
        assert fields["Cross-Origin-Resource-Policy"] == "same-origin"
        assert fields["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in fields


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:7717", "[::1]", "[::1]:7717"],
)
def test_names_of_this_machine_are_answered(server: BrowseServer, host: str) -> None:
    assert exchange(server, request("/browse.css", host=host))[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:7717"),
        *("", "127.0.0.1:7717:1", "user@localhost", "localhost/", "127.0.0.2", "0.0.0.0", "[::]"),
        *("localhost, evil.example", "localhost:123456", "loc\u0430lhost", "localhost\x00"),
    ],
)
def test_other_names_are_refused(server: BrowseServer, host: str) -> None:
    """A page elsewhere whose name leads to this machine (DNS rebinding)."""
    status, _, body = exchange(server, request("/", host=host))
    assert status == 421
    assert b"/run/" not in body


def test_a_request_without_a_host_or_with_two_is_refused(server: BrowseServer) -> None:
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET /\r\n\r\n",
        request("/", "Host: evil.example"),
        request("/", "Host: localhost"),
    ):
        status, _, body = exchange(server, data)
        assert status == 421
        assert b"/run/" not in body
    for target in ("http://evil.example/", "*", "runs.json"):
        assert exchange(server, request(target))[0] == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"])
def test_all_but_reading_is_refused(server: BrowseServer, method: str) -> None:
    status, fields, _ = exchange(server, request("/", method=method))
    assert status == 405
    assert fields["Allow"] == "GET, HEAD"


def test_head_is_the_answer_without_its_body(server: BrowseServer) -> None:
    for target in ("/browse.css", "/nosuch"):
        status, fields, body = exchange(server, request(target, method="HEAD"))
        whole = exchange(server, request(target))
        assert (status, body) == (whole[0], b"")
        assert int(fields["Content-Length"]) == len(whole[2])


def _traversals() -> list[str]:
    steps = ["..", "%2e%2e", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "..\\", "....//"]
    up = [f"{'/'.join([step] * 3)}/outside/secret" for step in steps]
    files = [*up, "/etc/passwd", "//etc/passwd", "good/manifest.json", "good/trials.jsonl"]
    prefixes = ("", "run/", "report/", "state/", "dissection/", "good/", "static/")
    return [f"/{prefix}{file}" for prefix in prefixes for file in files]


def test_no_path_leads_to_a_file(server: BrowseServer) -> None:
    """Neither out of the folder nor to a file in it: requests contain ids, no paths."""
    known = next(iter(tree.scan(server.site._root).entries))
    targets = [
        *_traversals(),
        *(f"/report/{known}{rest}" for rest in ("/", "/..", "/../../good", "%00", "?x", "#x")),
        *(f"/dissection/{known}/{number}" for number in ("-1", "../0", "00000", "x", "1e1", "²")),
        *(f"/{kind}/{known[:-1]}" for kind in ("run", "report", "state")),
        f"/report/{known.upper()}g",
    ]
    for target in targets:
        status, _, body = exchange(server, request(target))
        assert status == 404, target
        assert SECRET.encode() not in body
        assert b"root:" not in body


def test_heads_that_are_too_large_or_malformed_are_refused(server: BrowseServer) -> None:
    size = serving.HEAD_BYTES_MAX
    attacks = {
        "target": request("/" + "x" * size),
        "endless line": b"GET /" + b"x" * 10_000_000,
        "field": request("/", "X: " + "x" * size),
        "fields": request("/", *(f"X-{number}: {'x' * 900}" for number in range(1000))),
        "many fields": request("/", *("X: x" for _ in range(1000))),
        "no line": b"\r\n\r\n",
        "NUL": b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "noise": bytes(range(256)) * 10,
        "version": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "three words": b"GET / / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "markup": b"<script>alert(1)</script> / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "injection": b"GET /%0d%0aX-Evil:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "nothing": b"",
    }
    for name, data in attacks.items():
        status, fields, body = exchange(server, data)
        assert status == 0 or status >= 400, name
        assert b"<script>alert" not in body
        assert "X-Evil" not in fields
    assert exchange(server, request("/browse.css"))[0] == 200


def test_a_slow_or_silent_peer_is_cut_off_and_others_are_answered(
    server: BrowseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 1.0)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=ANSWER_S) as peer:
        peer.sendall(b"GET / HT")
        assert exchange(server, request("/browse.css"))[0] == 200
        assert peer.recv(1) == b""


def test_more_connections_than_allowed_are_closed(server: BrowseServer) -> None:
    address = ("127.0.0.1", server.server_port)
    idle = [socket.create_connection(address, timeout=ANSWER_S) for _ in range(60)]
    try:
        closed = 0
        for peer in idle:
            peer.settimeout(1.0)
            try:
                closed += peer.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionResetError:
                closed += 1
        assert closed >= len(idle) - serving.CONNECTIONS_MAX
    finally:
        for peer in idle:
            peer.close()
    deadline = time.monotonic() + ANSWER_S
    while exchange(server, request("/browse.css"))[0] != 200:
        assert time.monotonic() < deadline


def test_a_port_in_use_is_a_usage_error(
    server: BrowseServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["browse", str(tmp_path), "--port", str(server.server_port)]) == 2
    shown = capsys.readouterr().err
    assert f"--port {server.server_port}: cannot listen on 127.0.0.1" in shown
    assert "Address already in use" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_serves_this_machine_and_ends(
    number: signal.Signals, tmp_path: Path
) -> None:
    """The exit code of an interrupted command is 130."""
    write_run(tmp_path / "run", trials(SMALL)[:4])
    before = sorted(tmp_path.rglob("*"))
    with subprocess.Popen(
        [
            *(sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"),
            *("browse", str(tmp_path), "--port", "0"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())
        assert found
        port = int(found[1])
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S) as peer:
            peer.sendall(request("/runs.json"))
            body = b"".join(iter(lambda: peer.recv(1 << 16), b"")).partition(b"\r\n\r\n")[2]
        assert len(json.loads(body)["runs"]) == 1
        process.send_signal(number)
        _, shown = process.communicate(timeout=ANSWER_S)
    assert process.returncode == 130
    assert shown.endswith("wirelab: interrupted\n")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_request_is_answered_while_many_peers_drip(server: BrowseServer) -> None:
    address = ("127.0.0.1", server.server_port)
    peers = [socket.create_connection(address, timeout=ANSWER_S) for _ in range(60)]
    try:
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.sendall(b"G")
        for _ in range(55):
            assert exchange(server, request("/browse.css"))[0] == 200
    finally:
        for peer in peers:
            peer.close()
