"""Secrets of TLS: tools under `wirelab wrap` write them, and captures of trials hold them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wirelab.experiment import loading as experiment_file
from wirelab.process.interruption import Interruption
from wirelab.run import runner as running
from wirelab.trial import secrets
from wirelab.trial.dissection import Look, dissect

Json = dict[str, Any]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
pytestmark = pytest.mark.usefixtures("no_orphans", "real_engine")

SERVE = ("--serve", "rest@rust?security=tls")
CLIENT = """
import ssl, sys, urllib.request
bare = lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context = {"honours": ssl.create_default_context, "ignores": bare}[sys.argv[2]]()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
for _ in range(3):
    urllib.request.urlopen(sys.argv[1], context=context).read()
"""


def _wrap(*words: str) -> Json:
    """The document of `wrap`."""
    command = [str(Path(sys.executable).with_name("wirelab")), "wrap", "--json", *words]
    environment = {name: word for name, word in os.environ.items() if name != secrets.VARIABLE}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.stdout.startswith("{"), done.stderr
    document: Json = json.loads(done.stdout)
    return document


def _python(kind: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", CLIENT, "{url}", kind)


@needs_root
def test_a_tool_that_honours_the_variable_is_decrypted() -> None:
    document = _wrap(*SERVE, *_python("honours"))
    expected = {"connections": 3, "decrypted": 3, "keylog": "honoured", "secrets_of": 3}
    assert document["tls"] == expected
    assert document["wire"]["exchanges"] == 3


NODE_CLIENT = """
const https = require('https')
const ask = n => n && https.get(process.argv[1], {rejectUnauthorized: false},
                                reply => reply.resume().on('end', () => ask(n - 1)))
ask(3)
"""


@needs_root
def test_node_is_asked_by_its_own_option() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    document = _wrap(*SERVE, "--", node, "-e", NODE_CLIENT, "{url}")
    assert document["tls"]["keylog"] == "honoured"
    assert document["wire"]["exchanges"] == 3


def test_options_of_node_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    given = secrets.environment(tmp_path / "a b")
    assert given[secrets.VARIABLE] == str(tmp_path / "a b")
    assert given["NODE_OPTIONS"] == f'--no-warnings --tls-keylog="{tmp_path / "a b"}"'


@needs_root
def test_encrypted_requests_end_with_advice_and_no_failure() -> None:
    """Connections are compared with the options, and the exit code is that of no comparison."""
    if shutil.which("ab") is None:
        pytest.skip("ab is not installed")
    words = ("wrap", *SERVE, "--no-keylog", "--", "ab", "-q", "-n", "60", "-c", "2", "{url}")
    command = [str(Path(sys.executable).with_name("wirelab")), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    text = " ".join(done.stdout.split())
    assert "No request can be read without the secrets of TLS" in text
    # ab may open one more for each of its two users when the last replies come.
    assert re.search(r"\b6[0-2] connections opened for 60 requests of its report", text)
    assert "KeyLogWriter" in text
    # A busy machine is marked, and nothing else may be.
    named = re.search(r"Marked: ([^.]*)\.", text)
    assert named is None or named[1] == "machine", text
    assert done.returncode == (0 if named is None else 1), text


@needs_root
@pytest.mark.parametrize(
    ("options", "kind", "keylog"),
    [((), "ignores", "ignored"), (("--no-keylog",), "honours", "off")],
)
def test_without_secrets_the_connections_stay_encrypted(
    options: tuple[str, ...], kind: str, keylog: str
) -> None:
    document = _wrap(*options, *SERVE, *_python(kind))
    expected = {"connections": 3, "decrypted": 0, "keylog": keylog, "secrets_of": 0}
    assert document["tls"] == expected


@needs_root
def test_a_kept_capture_holds_the_secrets_and_is_private(tmp_path: Path) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed")
    out = tmp_path / "kept"
    keep = ("--out", str(out), "--keep-capture")
    document = _wrap(*keep, *SERVE, "--", curl, "-sk", "{url}", "{url}")
    assert document["tls"]["keylog"] == "honoured"
    assert "keys.log" not in {file.name for file in out.iterdir()}
    capture = out / "capture.pcapng"
    assert capture.stat().st_mode & 0o777 == 0o600
    with Interruption() as interruption:
        log = tmp_path / "dissect.log"
        tls = dissect(capture, Look(), log=log, interruption=interruption).tls
    assert (tls.connections, tls.decrypted) == (1, 1)


EXPERIMENT = """\
name: encrypted
services: ["rest@rust?security=tls"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
capture: client
window: {duration: 200 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""


@needs_root
def test_the_capture_of_a_trial_holds_the_engines_secrets(tmp_path: Path) -> None:
    run = running.run(
        experiment_file.parse(EXPERIMENT), tmp_path / "run", source=EXPERIMENT, unverified=True
    )
    (trial,) = run.trials
    assert trial.wire is not None
    assert trial.wire.exchanges >= trial.result.calls > 0
    (capture,) = (tmp_path / "run").rglob("capture-client.pcapng")
    assert secrets.DECRYPTION_SECRETS in _blocks(capture)
    assert not list((tmp_path / "run").rglob("keys.log"))


def _blocks(capture: Path) -> list[int]:
    """The types of its blocks."""
    content, place, found = capture.read_bytes(), 0, []
    while place < len(content):
        found.append(int.from_bytes(content[place : place + 4], "little"))
        place += int.from_bytes(content[place + 4 : place + 8], "little")
    return found


RANDOM, SECRET = "ab" * 32, "cd" * 48
LINE = f"CLIENT_RANDOM {RANDOM} {SECRET}\n"


def _block(kind: int, body: bytes) -> bytes:
    length = (12 + len(body)).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + length + body + length


HEADERS = _block(secrets.SECTION, bytes.fromhex("4d3c2b1a01000000") + b"\xff" * 8) + _block(
    secrets.INTERFACE, bytes(8)
)
PACKET = _block(6, bytes(24))


def test_secrets_come_before_the_first_packet_in_blocks_of_whole_lines(tmp_path: Path) -> None:
    capture, keylog = tmp_path / "c.pcapng", secrets.create(tmp_path / "keys.log")
    assert keylog.stat().st_mode & 0o777 == 0o600
    capture.write_bytes(HEADERS + PACKET)
    lines = [LINE.replace(RANDOM, f"{number:064x}") for number in range(3_000)]
    keylog.write_text("# comment\n" + "".join(lines))
    assert secrets.connections(keylog) == 3_000
    assert secrets.embed(capture, keylog)
    blocks = _blocks(capture)
    assert blocks[:2] == [secrets.SECTION, secrets.INTERFACE]
    assert blocks[-1] == 6
    assert set(blocks[2:-1]) == {secrets.DECRYPTION_SECRETS}
    assert len(blocks[2:-1]) > 1
    written = capture.read_bytes()
    assert all(line.encode() in written for line in lines)


@pytest.mark.parametrize("text", ["", "not a key log\n", f"CLIENT_RANDOM {RANDOM[:-2]} {SECRET}\n"])
def test_a_file_without_secrets_changes_nothing(tmp_path: Path, text: str) -> None:
    capture, keylog = tmp_path / "c.pcapng", tmp_path / "keys.log"
    capture.write_bytes(HEADERS + PACKET)
    keylog.write_text(text)
    assert secrets.connections(keylog) == 0
    assert not secrets.embed(capture, keylog)
    assert capture.read_bytes() == HEADERS + PACKET


def test_an_invalid_capture_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    capture, keylog = tmp_path / "c.pcapng", tmp_path / "keys.log"
    keylog.write_text(LINE)
    capture.write_bytes(b"something else, longer than a head")
    with pytest.raises(ValueError, match="pcapng"):
        secrets.embed(capture, keylog)
    assert capture.read_bytes().startswith(b"something")
    assert not list(tmp_path.glob("*.partial"))
