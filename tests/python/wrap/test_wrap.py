"""``wirelab wrap``: foreign tools under capture, with the real binaries."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from wirelab import checkout
from wirelab import wrap as wrapping
from wirelab.loadtools.tool import GHZ, find
from wirelab.process import namespaces
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests
from wirelab.stack.reference import Stack
from wirelab.wrap import Order, process, session, target

Json = dict[str, Any]

URL = "http://{address}/transfer/hello"
SERVE = ("--serve", "rest@rust?codec=text")


pytestmark = pytest.mark.usefixtures("no_orphans")


@pytest.fixture(autouse=True)
def privileged(real_engine: Path) -> Iterator[None]:
    """Skips without root; fails where a link's namespace of ours is there at the end."""
    if os.geteuid() != 0:
        pytest.skip("packets cannot be captured: not root")
    before = set(namespaces.FOLDER.glob("wl-*"))
    yield
    deadline = time.monotonic() + 10.0
    while left := _dead(set(namespaces.FOLDER.glob("wl-*")) - before):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _dead(links: set[Path]) -> set[Path]:
    """Those of no living process: the others belong to other tests."""
    return {path for path in links if not Path("/proc", path.name.split("-")[1]).exists()}


def _tool(name: str) -> str:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


def _wrap(*words: str) -> tuple[int, Json, str]:
    """Exit code, the document on standard output, and all other words."""
    command = [str(Path(sys.executable).with_name("wirelab")), "wrap", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    start = done.stdout.find("{\n")
    document = json.loads(done.stdout[start:]) if start >= 0 else {}
    said = done.stdout[:start] if document else done.stdout
    return done.returncode, document, done.stderr + said


def test_ab_opens_a_connection_per_request_unless_keep_alive_is_set() -> None:
    ab = _tool("ab")
    for words, connections in (((), 200), (("-k",), 5)):
        code, document, _ = _wrap(
            "--json", *SERVE, "--", ab, "-q", *words, "-n", "200", "-c", "5", URL
        )
        assert code in (0, 1)
        wire = document["wire"]
        assert wire["exchanges"] == 200
        assert wire["connections"]["used"] == connections


def test_nothing_of_a_short_tools_output_is_lost(tmp_path: Path) -> None:
    """A tool that prints much and ends at once: its last output is still in the pipe."""
    program = "import sys; sys.stdout.write('x' * 60000 + 'end'); sys.stderr.write('said')"
    for round_ in range(5):
        folder = tmp_path / str(round_)
        folder.mkdir()
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            ran = process.run(
                [sys.executable, "-S", "-c", program],
                namespace=None,
                folder=folder,
                out=out,
                err=err,
                seconds_max=20.0,
                interruption=Interruption(),
                on_tick=lambda _: None,
            )
        assert (folder / "out").read_text(encoding="utf-8").endswith("xend")
        assert "said" in ran.output
        assert ran.ended.code == 0


TERMINAL = """
import os, sys, time
width = os.get_terminal_size(1).columns if sys.stdout.isatty() else 0
print(sys.stdout.isatty(), sys.stderr.isatty(), width)
time.sleep(float(sys.argv[1]))
print('end')
"""


def _run_to(out: Any, folder: Path, seconds: str) -> process.Ran:
    with (folder / "err").open("wb") as err:
        return process.run(
            [sys.executable, "-S", "-c", TERMINAL, seconds],
            namespace=None,
            folder=folder,
            out=out,
            err=err,
            seconds_max=20.0,
            interruption=Interruption(),
            on_tick=lambda _: None,
        )


def test_a_tool_prints_to_a_terminal_where_wirelab_does(tmp_path: Path) -> None:
    """Line by line, with its width, and unchanged; only for the output that is one."""
    own, other = os.openpty()
    termios.tcsetwinsize(other, (24, 77))
    attributes = termios.tcgetattr(other)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(other, termios.TCSANOW, attributes)
    seen: list[tuple[float, bytes]] = []

    def read() -> None:
        # The end of a terminal is an error (EIO), once its last writer has closed it.
        with suppress(OSError):
            while chunk := os.read(own, 4096):
                seen.append((time.monotonic(), chunk))

    reader = threading.Thread(target=read)
    reader.start()
    with open(other, "wb", buffering=0) as out:  # noqa: PTH123 - of a descriptor
        ran = _run_to(out, tmp_path, "1.0")
        ended = time.monotonic()
    reader.join()
    os.close(own)
    assert b"".join(chunk for _, chunk in seen) == b"True False 77\nend\n"
    assert ended - seen[0][0] > 0.5
    assert ran.output.startswith("True False 77\nend\n")


def test_a_tool_prints_to_a_pipe_where_wirelab_does(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        ran = _run_to(out, tmp_path, "0")
    assert ran.output.startswith("False False 0\nend\n")
    assert (tmp_path / "out").read_bytes() == b"False False 0\nend\n"


def test_a_tool_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = "import subprocess, sys, time; subprocess.Popen(['sleep', '1000']); time.sleep(1000)"
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        ran = process.run(
            [sys.executable, "-S", "-c", program],
            namespace=None,
            folder=tmp_path,
            out=out,
            err=err,
            seconds_max=0.5,
            interruption=Interruption(),
            on_tick=lambda _: None,
        )
    assert ran.how == "timeout"
    assert ran.seconds < 20.0


def test_a_tool_that_cannot_be_started_is_refused_by_name() -> None:
    code, _, said = _wrap(*SERVE, "--", "/no/such/tool", URL)
    assert code == 2
    assert "/no/such/tool" in said


def test_without_a_port_the_remedy_is_named() -> None:
    code, _, said = _wrap("--", "true")
    assert code == 2
    assert "--port" in said


def _checks(document: Json) -> dict[str, str]:
    return {check["name"]: check["outcome"] for check in document["checks"]}


@pytest.mark.parametrize(
    ("words", "used", "in_flight"),
    [
        ("wrk -t1 -c3 -d1 URL", 3, 1),
        ("h2load --h1 -n 300 -c 3 URL", 3, 1),
        ("ab -q -k -n 300 -c 3 URL", 3, 1),
    ],
)
def test_known_tools_are_compared_with_their_options(words: str, used: int, in_flight: int) -> None:
    command = words.replace("URL", URL).split()
    _tool(command[0])
    code, document, _ = _wrap("--json", *SERVE, "--", *command)
    assert code == (0 if document["verdict"]["trusted"] else 1)
    connections = document["wire"]["connections"]
    assert (connections["used"], connections["in_flight_max"]) == (used, in_flight)
    outcomes = _checks(document)
    for name in ("end", "capture", "requests", "errors", "connections", "in flight"):
        assert outcomes[name] == "ok", document["checks"]
    assert document["load"]["kind"] == "closed"
    assert document["load"]["concurrency"]["max"] <= 3


def test_streams_of_one_connection_are_counted() -> None:
    h2load = _tool("h2load")
    url = "http://{address}/wirelab.transfer.v1.Transfer/Hello"
    words = (h2load, "-n", "300", "-c", "2", "-m", "5", url)
    _, document, _ = _wrap("--json", "--serve", "grpc@rust", "--", *words)
    assert document["wire"]["connections"]["used"] == 2
    assert 1 < document["wire"]["connections"]["in_flight_max"] <= 5
    # A GET is not a gRPC call. The status of HTTP is 200, that of gRPC is in the trailers, which
    # h2load does not read: it counts 300 successes.
    assert (document["wire"]["bad_replies"], document["tool_report"]["failed"]) == (300, 0)
    assert _checks(document)["errors"] == "marked"


def test_over_a_link_latency_is_at_least_its_round_trip() -> None:
    curl = _tool("curl")
    if not Path("/dev/net/tun").exists() or not shutil.which("ip"):
        pytest.skip("links need iproute2 and /dev/net/tun")
    command = (curl, "-s", "-o", "/dev/null", URL, URL)
    code, document, said = _wrap("--json", *SERVE, "--link", "wlan", "--", *command)
    assert code == 0, said
    assert document["wire"]["exchanges"] == 2
    assert document["wire"]["connections"]["used"] == 1
    assert document["load"]["latency_mean_us"] >= 2400.0
    assert document["link"]["name"] == "wlan"
    assert document["verdict"]["trusted"] is None


def test_a_rate_that_a_frozen_server_stops_is_coordinated_omission(tmp_path: Path) -> None:
    """ghz has two workers: while both wait, no call begins, however many are due."""
    ghz = find(GHZ)
    if ghz is None:
        pytest.skip("ghz is not installed")
    stack, interruption = Stack.parse("grpc@rust"), Interruption()
    program = Programs(manifests.load()).program(stack, interruption)
    settings = Settings(faults={"freeze": {"at_call": 200, "ms": 700}})
    with Service(
        program,
        settings.configuration(stack),
        ProcessOptions(log=tmp_path / "service.log"),
        interruption=interruption,
    ) as service:
        address = service.ready.address
        proto = str(checkout.root() / checkout.MARK)
        call = ("--call", "wirelab.transfer.v1.Transfer.Hello", "-d", "{}")
        load = ("--rps", "200", "-c", "2", "--connections", "2", "-n", "500")
        words = (str(ghz), "--insecure", "--proto", proto, *call, *load, address)
        code, document, said = _wrap("--json", "--", *words)
    assert code == 1, said
    (arrivals,) = [check for check in document["checks"] if check["name"] == "arrivals"]
    assert arrivals["outcome"] == "marked"
    assert "coordinated omission" in arrivals["reason"]
    assert document["load"]["pause_waiting"]["us"] >= 600_000.0


HOSTILE = {
    "exits 7": (["sh", "-c", "curl -s {url}; exit 7"], 1, 7),
    "kills itself": (["sh", "-c", "curl -s {url}; kill -9 $$"], 1, -9),
    "makes no connection": (["true", "{url}"], 1, 0),
    "makes a connection and says nothing": (
        [sys.executable, "-c", "import socket; socket.create_connection(('{host}', {port}))"],
        1,
        0,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tools_are_reported(name: str) -> None:
    command, code_wanted, tool_code = HOSTILE[name]
    _tool("curl")
    code, document, said = _wrap("--json", *SERVE, "--", *command)
    assert code == code_wanted, said
    assert document["tool"]["exit_code"] == tool_code
    assert document["verdict"]["trusted"] is not True


def test_escape_sequences_reach_the_terminal_but_not_the_report() -> None:
    """In its own output they are the tool's business; in our words they are not."""
    code, _, said = _wrap(*SERVE, "--", "printf", "%b%b", r"\033[31mred{port}", "\x1b]0;title\x07")
    assert code == 1
    own, _, report = said.partition("wrapped:")
    assert "\x1b[31mred" in own
    assert "\x1b" not in report
    assert "\x07" not in report
    assert max(map(len, report.splitlines())) <= 80


def test_a_port_of_nobody_is_reported() -> None:
    curl = _tool("curl")
    code, document, _ = _wrap("--json", "--", curl, "-s", "http://127.0.0.1:1/")
    assert code == 1
    assert document["tool"]["exit_code"] == 7
    reason = document["checks"][-1]["reason"]
    assert "refused" in reason
    assert "nothing listens on port 1 there" in reason


def test_the_interface_of_a_remote_target_is_named() -> None:
    """On loopback nothing is seen of packets through another interface."""
    curl = _tool("curl")
    remote = "192.0.2.1"  # for documentation (RFC 5737)
    interface = target.interface_to(remote)
    if interface in (None, "lo"):
        pytest.skip("this machine has no route but loopback")
    words = (curl, "-s", "--max-time", "0.3", f"http://{remote}/")
    _, document, _ = _wrap("--json", "--", *words)
    reason = document["checks"][-1]["reason"]
    assert f"give --interface {interface}" in reason


def test_processes_that_a_tool_leaves_behind_are_ended_and_reported() -> None:
    command = "setsid sleep 1000 >/dev/null 2>&1 & curl -s {url}; sleep 0.3"
    _tool("curl")
    code, document, _ = _wrap("--json", *SERVE, "--", "sh", "-c", command)
    assert document["tool"]["processes_left"] == 1
    assert _checks(document)["end"] == "marked"
    assert document["wire"]["exchanges"] == 1
    assert code in (0, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_tool_and_keeps_what_was_seen(
    tmp_path: Path, number: signal.Signals
) -> None:
    _tool("curl")
    out = tmp_path / "out"
    script = f"while true; do curl -s {URL}; touch {tmp_path}/called; sleep 0.05; done"
    words = ["--json", "--out", str(out), *SERVE, "--", "sh", "-c", script]
    command = [str(Path(sys.executable).with_name("wirelab")), "wrap", *words]
    lab = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60.0
    while not (tmp_path / "called").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    lab.send_signal(number)
    printed, _ = lab.communicate(timeout=60)
    assert lab.returncode == 130
    document = json.loads(printed)
    assert document["tool"]["how"] == "interrupted"
    assert document["wire"]["exchanges"] >= 1
    assert {path.name for path in out.iterdir()} >= {"wrap.json", "capture.pcapng"}


def test_the_page_is_written_where_it_is_asked_for_and_where_all_is_kept(tmp_path: Path) -> None:
    """With the tool's figures and its words."""
    ab = _tool("ab")
    file, out = tmp_path / "page.html", tmp_path / "out"
    words = ("--report", str(file), "--out", str(out), *SERVE)
    code, _, said = _wrap(*words, "--", ab, "-q", "-k", "-n", "200", "-c", "5", URL)
    assert code in (0, 1), said
    assert f"report: {file}" in said.replace("\n", " ")
    text = file.read_text(encoding="utf-8")
    assert text == (out / "report.html").read_text(encoding="utf-8")
    for part in ("can-it-be-trusted", "connections", "latency", "one-exchange"):
        assert f'<section id="{part}"' in text
    assert "ApacheBench" in text
    assert text.count("<script") == 1, "the page's own, which its content policy names"


@pytest.mark.parametrize("name", ["", "missing/page.html"])
def test_a_page_that_cannot_be_written_is_refused_before_the_tool_runs(
    tmp_path: Path, name: str
) -> None:
    ran = tmp_path / "ran"
    code, _, said = _wrap(
        "--report", str(tmp_path / name), *SERVE, "--", "touch", str(ran), "{url}"
    )
    assert code == 2
    assert "--report" in said
    assert not ran.exists()


def test_a_page_that_finds_no_room_loses_nothing_that_was_measured() -> None:
    words = ("--json", "--report", "/proc/page.html", *SERVE, "--", "curl", "-s", URL)
    code, shown, said = _wrap(*words)
    assert code == 4, said
    assert "--report /proc/page.html cannot be written" in " ".join(said.split())
    assert shown["wire"]["exchanges"] == 1


def test_a_folder_that_holds_something_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    code, _, said = _wrap("--out", str(tmp_path), *SERVE, "--", "true", "{url}")
    assert code == 2
    assert "--out" in said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--link", "wlan", "--port", "80", "--", "true"), "--serve"),
        ((*SERVE, "--", "true"), "{url}"),
        ((*SERVE, "--port", "80", "--", "true", "{url}"), "--port"),
        (("--link", "wlam", "--", "true"), "wlan"),
        (("--timeout", "0s", "--port", "80", "--", "true"), "--timeout"),
        (("--serve", "rest@rust?socket=unix", "--", "true", "{url}"), "socket"),
        (("--port", "80", "--interface", "nowhere", "--", "true"), "nowhere"),
    ],
)
def test_impossible_options_are_refused_by_name(words: tuple[str, ...], named: str) -> None:
    code, _, said = _wrap(*words)
    assert code in (2, 3)
    assert named in said


@pytest.mark.parametrize(
    ("bound", "value", "words"),
    [("CAPTURE_BYTES_MAX", 1000, "the capture reached"), ("FREE_BYTES_MIN", 2**62, "MB left")],
)
def test_a_capture_that_may_not_grow_ends_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int, words: str
) -> None:
    _tool("curl")
    monkeypatch.setattr(session, bound, value)
    order = Order(
        ("sh", "-c", f"while true; do curl -s {URL}; sleep 0.01; done"),
        serve=Stack.parse("rest@rust?codec=text"),
        seconds_max=60.0,
    )
    with (tmp_path / "out").open("wb") as out:
        measured = wrapping.wrap(
            order, tmp_path, out=out, err=out, note=print, interruption=Interruption()
        )
    assert measured.ran.how == "stopped"
    record = wrapping.result(measured)
    assert words in (record.tool.stopped or "")
    assert any(words in check.reason for check in record.checks)
