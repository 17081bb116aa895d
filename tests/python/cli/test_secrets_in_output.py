"""`wirelab drive` and `wirelab wrap` do not repeat the secrets of their command lines."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab.cli import main
from wirelab.errors import UsageError
from wirelab.stack import targets

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")


class Echo(http.server.BaseHTTPRequestHandler):
    """Refuses, and repeats what it was asked."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        Echo.seen.append((self.path, self.headers.get("authorization", "")))
        body = f"refused {self.path} {self.headers.get('authorization')}".encode()
        self.send_response(401 if "ok" not in self.path else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Echo.seen = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()
        thread.join()


def test_a_drive_sends_the_secrets_and_prints_none(
    server: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"{server}/orders?access_token=CANARY-token&page=2"
    page = tmp_path / "page.html"
    words = ["--calls", "20", "--header", "Authorization: Bearer CANARY-header", "--users", "1"]
    junit = ["--fail-if", "errors>0", "--junit", str(tmp_path / "junit.xml")]
    main(["drive", url, *words, "--report", str(page), *junit])
    main(["drive", url, *words, "--json"])
    printed = capfd.readouterr()
    document = json.loads(printed.out[printed.out.index("{\n") :])
    assert document["target"] == f"{server}/orders?access_token=‹secret access_token›&page=2"
    everything = printed.out + printed.err + page.read_text() + (tmp_path / "junit.xml").read_text()
    assert "CANARY" not in everything
    assert "‹secret access_token›&amp;page=2" in page.read_text()
    assert set(Echo.seen) == {("/orders?access_token=CANARY-token&page=2", "Bearer CANARY-header")}


def test_an_ordinary_target_is_printed_as_it_is(
    server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"{server}/ok/7f9c?state=CA&code=404&key=name&page=2"
    assert main(["drive", url, "--calls", "5", "--users", "1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["target"] == url


@pytest.mark.parametrize(
    "url",
    [
        "http://ada:CANARY-password@127.0.0.1/",
        "ftp://127.0.0.1/?token=CANARY-token",
        "grpc://127.0.0.1/?password=CANARY-password",
        "http://127.0.0.1:x/?token=CANARY-token",
    ],
)
def test_a_refusal_does_not_repeat_the_secrets_of_a_url(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        targets.parse(url)
    assert "CANARY" not in str(refused.value)
    assert "‹secret " in str(refused.value)


def test_a_wrapped_command_is_shown_and_kept_without_its_secrets(
    server: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() != 0 or shutil.which("curl") is None:
        pytest.skip("packets cannot be captured: not root, or curl is missing")
    out, page = tmp_path / "kept", tmp_path / "page.html"
    command = [
        *("curl", "-s", "-u", "ada:CANARY-user", "--oauth2-bearer", "CANARY-bearer"),
        f"{server}/ok?api_key=CANARY-key",
    ]
    main(["wrap", "--json", "--out", str(out), "--report", str(page), "--", *command])
    document = json.loads(capfd.readouterr().out)
    assert document["command"][1:] == [
        *("-s", "-u", "‹secret u›", "--oauth2-bearer", "‹secret oauth2-bearer›"),
        f"{server}/ok?api_key=‹secret api_key›",
    ]
    assert "CANARY" not in json.dumps(document) + page.read_text()
    kept = [path for path in out.rglob("*") if path.suffix != ".pcapng"]
    assert {"wrap.json", "report.html", "tool-stdout.txt"} <= {path.name for path in kept}
    assert not [path.name for path in kept if b"CANARY" in path.read_bytes()]
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert any("CANARY-key" in path for path, _ in Echo.seen)


def test_a_wrapped_command_that_is_refused_does_not_show_its_secrets(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = [sys.executable, "--token", "CANARY-token", "{port}"]
    assert main(["wrap", "--", *words]) == 2
    printed = capfd.readouterr()
    assert "CANARY" not in printed.out + printed.err
