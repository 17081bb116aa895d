"""Prepared requests of a service of one's own: each is sent, each reply is judged by its own line.

The service keeps a log of the bodies that it got, which is the truth.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path

import pytest

from wirelab.errors import ExperimentError
from wirelab.experiment import loading, request_list
from wirelab.run import runner

SERVICE = """
import gzip, http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        coding = self.headers.get("content-encoding", "none")
        plain = gzip.decompress(body) if coding == "gzip" else body
        with open("log", "a") as log:
            print(plain.hex(), coding, file=log)
        reply = plain[::-1]
        if len(sys.argv) > 2 and plain.endswith(b"3"):
            reply = b"x" + reply[1:]
        if self.headers.get("accept-encoding") == "gzip":
            reply = gzip.compress(reply)
        self.send_response(200)
        if self.headers.get("accept-encoding") == "gzip":
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *ignored):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

FILE = """\
name: own
services:
  - name: reverse
    command: [{python}, service.py, "{{port}}"{fault}]
    http: {{path: /call{compression}}}
    requests: requests.jsonl
loads: [{{closed: {{users: 1, iterations: 40}}}}]
window: {{duration: 1 s}}
warmup: {{min: 50 ms, max: 100 ms}}
repeats: 1
"""
BODIES = [b"\x00\xff not a text %d" % number for number in range(8)]


def write_files(folder: Path, fault: str = "", compression: str = "") -> Path:
    (folder / "service.py").write_text(SERVICE)
    lines = []
    for body in BODIES:
        digest = hashlib.sha256(body[::-1]).hexdigest()
        line = {"body": base64.b64encode(body).decode(), "expect": {"sha256": digest}}
        lines.append(json.dumps(line))
    (folder / "requests.jsonl").write_text("\n".join(lines))
    file = folder / "own.yaml"
    file.write_text(FILE.format(python=sys.executable, fault=fault, compression=compression))
    return file


def measure(file: Path) -> tuple[int, int, list[tuple[bytes, str]]]:
    """Good calls, wrong ones, and what the service got: bodies and their coding."""
    experiment = loading.load(file)
    found = runner.run(experiment, file.parent / "out", source=file.read_text(), share=True)
    [trial] = found.trials
    logged = [line.split() for line in (file.parent / "log").read_text().splitlines()]
    got = [(bytes.fromhex(body), coding) for body, coding in logged]
    return trial.result.ok, trial.result.errors, got


def test_every_prepared_request_is_sent_and_judged(tmp_path: Path) -> None:
    ok, errors, got = measure(write_files(tmp_path))
    assert (ok, errors) == (40, 0)
    assert {body for body, _ in got} == set(BODIES)
    assert {coding for _, coding in got} == {"none"}


def test_warm_calls_come_before_the_trial_and_are_not_measured(tmp_path: Path) -> None:
    file = write_files(tmp_path)
    text = file.read_text()
    key = "    requests: requests.jsonl\n"
    file.write_text(text.replace(key, f"{key}    warm_calls: 400\n"))
    ok, errors, got = measure(file)
    assert (ok, errors) == (40, 0)
    assert len(got) >= 440


def test_a_wrong_reply_to_one_request_fails_its_calls_only(tmp_path: Path) -> None:
    ok, errors, got = measure(write_files(tmp_path, fault=", faulty"))
    assert errors > 0
    assert ok > errors
    assert ok + errors == 40
    assert {body for body, _ in got} == set(BODIES)


def test_requests_and_replies_are_compressed(tmp_path: Path) -> None:
    ok, errors, got = measure(write_files(tmp_path, compression=", compression: gzip"))
    assert (ok, errors) == (40, 0)
    assert {coding for _, coding in got} == {"gzip"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 lines"),
        ('{"body": "AA=="}\n{"body": 1}', "line 2"),
        ('{"body": "AA==", "reply": 1}', "line 1"),
        ('{"body": "AA==", "expect": {"sha256": "no"}}', "expect.sha256"),
        ('{"body": "AA==", "expect": {"grpc_status": 0}}', "grpc_status"),
        ("\n".join(['{"body": "AA=="}'] * 1_001), "1,001 lines"),
    ],
)
def test_bad_lists_are_refused_before_the_run(tmp_path: Path, text: str, words: str) -> None:
    file = write_files(tmp_path)
    (tmp_path / "requests.jsonl").write_text(text)
    with pytest.raises(ExperimentError, match=words):
        runner.run(loading.load(file), tmp_path / "out", source=file.read_text(), share=True)
    assert not (tmp_path / "out").exists()


def test_a_list_that_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises((OSError, request_list.BadRequestList)):
        request_list.read(tmp_path)
