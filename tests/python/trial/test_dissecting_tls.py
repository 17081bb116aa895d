"""TLS of another implementation: Python's ssl, which is OpenSSL, captured and decrypted."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirelab.cli import app
from wirelab.documents.dissection import Dissection
from wirelab.errors import UsageError
from wirelab.process.interruption import Interruption
from wirelab.trial.dissection import Look, dissect
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="captures need root"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
    pytest.mark.usefixtures("no_orphans", "real_engine"),
]

THINK_S = 0.05
QUICK, SLOW = 24, 4
REQUEST = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20_000
SETTLE_S = 0.2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of RSA, which every key exchange of TLS 1.2 can use, with its key in one file."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(file), "-subj", "/CN=localhost"]
    made = subprocess.run(["openssl", "req", "-x509", *key], capture_output=True, check=True)
    file.write_bytes(file.read_bytes() + made.stdout)
    return file


@dataclass
class Peers:
    """A server under way, and contexts for both sides."""

    folder: Path
    client: ssl.SSLContext
    server: ssl.SSLContext

    @property
    def keylog(self) -> Path:
        return self.folder / "keys.log"

    @property
    def file(self) -> Path:
        return self.folder / "capture.pcapng"

    def capture(self, talk: Callable[[socket.socket], None]) -> None:
        """The packets of what the client says to the server."""
        with socket.create_server(("127.0.0.1", 0)) as listener, Interruption() as interruption:
            serving = threading.Thread(target=self._serve, args=(listener,), daemon=True)
            serving.start()
            spec = CaptureSpec("client", End(), self.file, port=listener.getsockname()[1])
            log = self.folder / "capture.log"
            with Capture(spec, cores=(), log=log, interruption=interruption) as capture:
                talk(listener)
                time.sleep(SETTLE_S)
                assert not capture.finish().drops

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with self.server.wrap_socket(connection, server_side=True) as stream:
            while request := stream.recv(4_096):
                time.sleep(THINK_S if b"/slow" in request else 0)
                stream.sendall(REPLY)

    def connect(
        self, listener: socket.socket, session: ssl.SSLSession | None = None
    ) -> ssl.SSLSocket:
        connection = socket.create_connection(listener.getsockname())
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.client.wrap_socket(connection, session=session)

    def document(self, look: Look) -> Dissection:
        with Interruption() as interruption:
            log = self.folder / "dissect.log"
            return dissect(self.file, look, log=log, interruption=interruption)


def _call(stream: ssl.SSLSocket, path: bytes) -> None:
    stream.sendall(REQUEST % path)
    left = len(REPLY)
    while left:
        left -= len(stream.recv(left))


@pytest.fixture
def peers(tmp_path: Path, certificate: Path) -> Peers:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    return Peers(tmp_path, client, server)


def _of_version(peers: Peers, version: ssl.TLSVersion, ciphers: str | None) -> None:
    for context in (peers.client, peers.server):
        context.minimum_version = context.maximum_version = version
        if ciphers is not None:
            context.set_ciphers(ciphers)
    peers.client.keylog_filename = str(peers.keylog)


SUITES = [
    (ssl.TLSVersion.TLSv1_3, None, "TLS_AES_256_GCM_SHA384"),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-RSA-AES128-GCM-SHA256", None),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-RSA-CHACHA20-POLY1305", None),
    (ssl.TLSVersion.TLSv1_2, "AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"),
]


@pytest.mark.parametrize(("version", "ciphers", "suite"), SUITES)
def test_the_think_time_of_a_server_is_found_within_tls(
    peers: Peers, version: ssl.TLSVersion, ciphers: str | None, suite: str | None
) -> None:
    _of_version(peers, version, ciphers)

    def talk(listener: socket.socket) -> None:
        with peers.connect(listener) as stream:
            for number in range(QUICK + SLOW):
                _call(stream, b"slow" if number % 7 == 6 else b"quick")

    peers.capture(talk)
    document = peers.document(Look(keylog=peers.keylog))
    tls = document.tls
    assert (tls.connections, tls.decrypted) == (1, 1), tls
    assert suite is None or tls.suites == {suite: 1}
    assert document.accounting.total.payload.encrypted_bytes == 0
    counts = {named.name: named.count for named in document.exchanges.by_name}
    assert counts == {"GET /quick": QUICK, "GET /slow": SLOW}
    slow = next(named for named in document.exchanges.by_name if named.name == "GET /slow")
    assert slow.reply_message_bytes == 20_000
    assert slow.latency_us is not None
    assert slow.latency_us.min >= 1e6 * THINK_S
    found = {finding.cause: finding for finding in document.findings}
    think = found["server-think-time"]
    assert think.ms_total == pytest.approx(1e3 * SLOW * THINK_S, rel=0.2)
    assert document.waits.exchanges.parts_ms["server"] >= 1e3 * SLOW * THINK_S


def test_a_session_that_is_resumed_is_counted(peers: Peers) -> None:
    _of_version(peers, ssl.TLSVersion.TLSv1_3, None)

    def talk(listener: socket.socket) -> None:
        session = None
        for _ in range(3):
            with peers.connect(listener, session) as stream:
                _call(stream, b"quick")
                session = stream.session

    peers.capture(talk)
    tls = peers.document(Look(keylog=peers.keylog)).tls
    assert (tls.decrypted, tls.full, tls.resumed) == (3, 1, 2)


def test_without_keys_one_sentence_states_what_is_known_and_how_to_get_them(peers: Peers) -> None:
    _of_version(peers, ssl.TLSVersion.TLSv1_3, None)

    def talk(listener: socket.socket) -> None:
        with peers.connect(listener) as stream:
            _call(stream, b"quick")

    peers.capture(talk)
    shown = _dissect(peers.file)
    assert "1 of 1 connection is TLS: records, sizes and turns are known" in shown
    assert "SSLKEYLOGFILE=FILE" in shown
    assert "--keylog FILE" in shown
    shown = _dissect(peers.file, "--keylog", str(peers.keylog))
    assert "1 of 1 connection decrypted; TLS 1.3 (1); TLS_AES_256_GCM_SHA384 (1)" in shown
    assert "1 full handshake, 0 resumed" in shown
    assert "SSLKEYLOGFILE" not in shown
    peers.keylog.write_text(f"CLIENT_RANDOM {'00' * 32} {'00' * 48}\n")
    shown = _dissect(peers.file, "--keylog", str(peers.keylog))
    assert "1 connection not decrypted: no secrets in the key log (1)" in shown


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed")
def test_a_capture_may_hold_its_own_secrets(peers: Peers) -> None:
    _of_version(peers, ssl.TLSVersion.TLSv1_2, None)

    def talk(listener: socket.socket) -> None:
        with peers.connect(listener) as stream:
            _call(stream, b"quick")

    peers.capture(talk)
    secrets = ["--inject-secrets", f"tls,{peers.keylog}"]
    whole = peers.folder / "with-secrets.pcapng"
    subprocess.run(["editcap", *secrets, str(peers.file), str(whole)], check=True)
    shown = _dissect(whole)
    assert "1 of 1 connection decrypted; TLS 1.2 (1)" in shown
    assert "GET /quick" in shown


def test_a_file_that_is_not_a_key_log_is_refused(peers: Peers) -> None:
    peers.capture(lambda _: None)
    peers.keylog.write_text("not a key log\n")
    with pytest.raises(UsageError, match="none of its lines is one") as refused:
        peers.document(Look(keylog=peers.keylog))
    assert "SSLKEYLOGFILE" in refused.value.remedy


def _dissect(file: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["dissect", str(file), *options])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())
