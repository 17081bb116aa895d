"""`wirelab drive` of a URL as users of other load tools expect it: redirections, cookies, types,
conditions, a page, a live line."""

from __future__ import annotations

import http.server
import json
import os
import pty
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import jsonschema
import pytest

from wirelab.cli import main
from wirelab.cli.output.drive import sparkline
from wirelab.documents.event import Progress
from wirelab.drive.progress import Seconds

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]


class Handler(http.server.BaseHTTPRequestHandler):
    """Redirects, wants a cookie, refuses, answers half."""

    # Otherwise a reply waits 40 ms for the ACK of its header.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str, Json]]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        Handler.seen.append((self.command, self.path, headers | {"body": body.decode()}))
        port = self.connection.getsockname()[1]
        where = {
            "/moved": "/here",
            "/chain": "/moved",
            "/loop": "/loop",
            "/away": "http://192.0.2.1/",
            "/other-name": f"http://localhost:{port}/here",
            "/mail": "mailto:a@b.c",
        }
        if self.path in where:
            self._answer(302, location=where[self.path])
        elif self.path == "/login":
            self._answer(302, location="/member", cookie="sid=abc; Path=/; HttpOnly")
        elif self.path == "/member":
            self._answer(200 if headers.get("cookie") == "sid=abc" else 401)
        elif self.path == "/refuses":
            self._answer(400, body=b'{"error": "no \\u00e9", "said": "\xc3\xa9"}\n\xff')
        elif self.path == "/half":
            self.send_response(200)
            self.send_header("content-length", "100")
            self.end_headers()
            self.wfile.write(b"x" * 50)
            time.sleep(1.0)
            self.close_connection = True
        else:
            self._answer(200)

    do_POST = do_GET

    def _answer(
        self, status: int, body: bytes = b"ok", location: str = "", cookie: str = ""
    ) -> None:
        self.send_response(status)
        for name, value in (("location", location), ("set-cookie", cookie)):
            if value:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Handler.seen = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def _drive(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["drive", *words])
    captured = capsys.readouterr()
    return code, captured.out, " ".join(captured.err.split())


def test_a_redirection_is_an_error_with_its_target(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _drive(capsys, f"{url}/moved", "--calls", "3")
    assert code == 1
    assert "HTTP status 302, Location: /here" in out


def test_redirections_are_followed_once_before_the_load(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _drive(capsys, f"{url}/chain", "--calls", "3", "--follow", "--json")
    result = json.loads(out)
    assert (code, result["ok"], result["errors"]) == (0, 3, 0)
    assert [note.rpartition("/")[2] for note in result["hints"][:2]] == ["moved", "here"]
    paths = [path for _, path, _ in Handler.seen]
    assert paths == ["/chain", "/moved", "/here", "/here", "/here", "/here"]


def test_a_redirection_to_another_host_drops_the_authorization(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--calls", "2", "--follow", "--header", "Authorization: Bearer secret")
    assert _drive(capsys, f"{url}/other-name", *words)[0] == 0
    first, *others = Handler.seen
    assert first[2]["authorization"] == "Bearer secret"
    assert len(others) == 3
    assert not any("authorization" in headers for _, _, headers in others)


@pytest.mark.parametrize(
    ("path", "words", "message"),
    [
        ("/away", ("--follow",), "192.0.2.1 is not on this machine"),
        ("/mail", ("--follow",), "'mailto:a@b.c' is not HTTP"),
        ("/loop", ("--follow",), None),
        ("/", ("--cookies",), "the server set none for this URL"),
    ],
)
def test_a_redirection_that_cannot_be_followed_is_refused(
    url: str, path: str, words: tuple[str, ...], message: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    code, out, err = _drive(capsys, url + path, "--calls", "2", *words)
    if message is None:  # the last redirection is the reply
        assert code == 1
        assert "HTTP status 302, Location: /loop" in out
    else:
        assert code == 2
        assert message in err


def test_cookies_of_one_request_go_with_every_call(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _drive(capsys, f"{url}/login", "--calls", "3", "--follow", "--cookies")
    assert code == 0
    assert "cookies that the server set: sid" in out
    assert "abc" not in out
    assert _drive(capsys, f"{url}/member", "--calls", "1")[0] == 1


def test_json_has_its_type_which_a_header_replaces(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for data, header, expected in (
        ('{"a": 1}', (), "application/json"),
        ('{"a": 1}', ("--header", "Content-Type: text/plain"), "text/plain"),
        ("a=1", (), None),
    ):
        Handler.seen = []
        assert _drive(capsys, url, "--calls", "1", "--data", data, *header)[0] == 0
        (method, _, headers), *_ = Handler.seen
        assert (method, headers["body"], headers.get("content-type")) == ("POST", data, expected)


def test_a_reply_in_an_error_reads_as_it_came(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _drive(capsys, f"{url}/refuses", "--calls", "1", "--json")
    assert code == 1
    (example,) = json.loads(out)["error_examples"]
    assert example == ('application: HTTP status 400: {"error": "no \\u00e9", "said": "é"}\\n\\xff')


def test_a_drive_that_only_times_out_reports_the_bytes_received(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _drive(capsys, f"{url}/half", "--calls", "1", "--timeout", "300ms")
    assert code == 1
    (received,) = [line for line in out.splitlines() if "received meanwhile" in line]
    assert int(received.split()[-2]) > 50


@pytest.mark.parametrize(
    ("condition", "code"),
    [("p50>10s", 0), ("errors>0", 0), ("rate<1", 0), ("p50>1us", 1), ("p99.99>1ms", 5)],
)
def test_a_condition_decides_the_exit_code(
    condition: str, code: int, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "junit.xml"
    words = (url, "--calls", "50", "--fail-if", condition, "--junit", str(file), "--json")
    found, out, _ = _drive(capsys, *words)
    assert found == code
    (condition_result,) = json.loads(out)["conditions"]
    assert condition_result["condition"] == condition
    suite = xml.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", str(int(code == 1)))


def test_a_failed_call_meets_a_condition_on_errors(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _drive(capsys, f"{url}/moved", "--calls", "5", "--fail-if", "errors>0")
    assert code == 1
    assert "Fail if errors>0: met" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fail-if", "service_cpu>1us"), "a drive measures calls"),
        (("--fail-if", "p99"), "is not a condition"),
        (("--junit", "x.xml"), "has nothing to write"),
        (("--fail-if", "p99>1s", "--junit", "nowhere/x.xml"), "the folder nowhere does not exist"),
        (("--report", "nowhere/x.html"), "the folder nowhere does not exist"),
        (("--tui",), "--tui needs a terminal"),
    ],
)
def test_options_that_cannot_be_met_are_refused_before_the_load(
    words: tuple[str, ...], message: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = _drive(capsys, url, *words)
    assert code == 2
    assert message in err
    assert Handler.seen == []


def test_the_result_is_what_its_schema_says(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "drive"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    for words in ((url,), (f"{url}/moved",), (url, "--stage", "300ms:3"), (url, "--rate", "50")):
        limit = () if "--stage" in words else ("--duration", "300ms")
        _, out, _ = _drive(capsys, *words, *limit, "--json", "--fail-if", "p50>1s")
        result = json.loads(out)
        jsonschema.validate(result, schema)
        assert set(result) == set(schema["$defs"]["PrintedResult"]["properties"])


def test_the_page_shows_the_run_and_escapes_what_came(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    words = ("--duration", "1s", "--report", str(file), "--fail-if", "p50>1us")
    assert _drive(capsys, f"{url}/?q=<script>", *words)[0] == 1
    page = file.read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert page.count("<script") == 1, "the page's own"
    assert "Fail if p50&gt;1us: met" in page
    assert _drive(capsys, f"{url}/refuses", "--calls", "3", "--report", str(file))[0] == 1
    assert "HTTP status 400" in file.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_costs_no_result(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # /proc takes no files, not even root's.
    code, out, err = _drive(capsys, url, "--calls", "5", "--report", "/proc/page.html")
    assert code == 2
    assert "5 calls" in out
    assert "--report /proc/page.html cannot be written" in " ".join(err.split())


def test_a_folder_as_page_is_refused_before_the_calls(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = _drive(capsys, url, "--calls", "5", "--report", str(tmp_path))
    assert code == 2
    assert out == ""
    assert "is a folder" in " ".join(err.split())


def test_a_terminal_sees_a_line_per_second_and_a_pipe_none(url: str) -> None:
    shown = _run_on_terminal([*COMMAND, "drive", url, "--duration", "2500ms"])
    assert "measure 1 s: " in shown
    assert "calls/s, p50 " in shown
    assert ", 0 failed, 1 in flight" in shown
    piped = subprocess.run(
        [*COMMAND, "drive", url, "--duration", "1500ms"], capture_output=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert piped.stderr == b""
    assert b"\x1b" not in piped.stdout


def test_a_chart_is_drawn_on_a_terminal(url: str) -> None:
    shown = _run_on_terminal([*COMMAND, "drive", url, "--duration", "2500ms", "--tui"])
    assert "calls/s" in shown
    assert "█" in shown
    assert "good calls/s" in shown


def _run_on_terminal(command: list[str]) -> str:
    """What a command prints on a terminal of 80 columns."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        shown, deadline = b"", time.monotonic() + 60
        while time.monotonic() < deadline:
            ready, _, _ = select.select([master], [], [], 0.2)
            try:
                read = os.read(master, 65536) if ready else b""
            except OSError:  # the terminal's other side is closed
                break
            shown += read
            if not read and process.poll() is not None:
                break
        assert process.wait(timeout=10) == 0
    os.close(master)
    return shown.decode(errors="replace")


def test_seconds_are_what_happened_between_two_lines() -> None:
    seconds = Seconds()
    lines = [
        Progress(phase="warmup", elapsed_s=1.0, calls=100, errors=0, in_flight=2),
        Progress(phase="measure", elapsed_s=1.0, calls=50, errors=1, in_flight=2, p50_ns=1_000_000),
        Progress(phase="measure", elapsed_s=3.0, calls=250, errors=1, in_flight=3),
    ]
    warmup, first, second = map(seconds.next, lines)
    assert (warmup.rate, first.rate, second.rate) == (100, 50, 100)
    assert (first.errors, second.errors) == (1, 0)
    assert first.text == "measure 1 s: 50 calls/s, p50 1 ms, 1 failed, 2 in flight"


def test_bars_are_as_high_as_their_values() -> None:
    assert sparkline([0.0, 5.0, 10.0, None]) == "▁▅█ "
    assert sparkline([0.0, 0.0]) == "▁▁"


def test_no_proxy_of_the_environment_is_asked(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.settimeout(0.1)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        assert _drive(capsys, f"{url}/moved", "--calls", "1", "--follow")[0] == 0
        with pytest.raises(TimeoutError):
            proxy.accept()
