"""`wirelab mcp` with the official client library over standard input and output, and without it
where a client does what the library never would."""

from __future__ import annotations

import http.server
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest

from tests.python.synthetic_run import World, trials, users, write_run
from wirelab.cli.mcp_server.calls import WAITING_MAX
from wirelab.drive.summary import PrintedResult

mcp = pytest.importorskip("mcp", reason="the SDK of MCP is not installed: wirelab[mcp]")

COMMAND = (
    *(sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"),
    "mcp",
)
CAPTURE = Path(__file__).parents[3] / "crates/trace/corpus/capture/snapped.pcapng"
OUTPUT_BYTES_MAX = 20_000
LONG = {"target": "rest@rust", "duration_s": 30.0}
"""A call that must be ended."""
QUICK = {"target": "rest@rust", "duration_s": 0.2}

pytestmark = pytest.mark.usefixtures("no_orphans")


def talk(
    root: Path,
    conversation: Callable[[Any], Awaitable[None]],
    *options: str,
    mode: str = "auto",
) -> None:
    """Runs a conversation with a server of its own, by the official client."""

    async def connect() -> None:
        parameters = mcp.StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "--root", str(root), *options],
            env=dict(os.environ),
        )
        async with mcp.Client(parameters, mode=mode) as client:
            await conversation(client)

    anyio.run(connect)


def text(result: Any) -> str:
    (content,) = result.content
    assert "Traceback" not in content.text
    return str(content.text)


def workers(server: psutil.Process) -> list[psutil.Process]:
    return server.children(recursive=True)


def own_server() -> psutil.Process:
    (server,) = (
        child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE
    )
    return server


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_the_tools_are_listed_with_the_limits_of_the_server(tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        listed = await client.list_tools()
        tools = {tool.name: tool for tool in listed.tools}
        assert list(tools) == ["drive", "compare", "dissect", "report"]
        drive = tools["drive"].input_schema["properties"]
        assert drive["users"]["anyOf"][0]["maximum"] == 7
        assert drive["duration_s"]["anyOf"][0]["maximum"] == 1.5
        assert drive["target"]["description"].startswith("URL")
        assert tools["dissect"].annotations.read_only_hint
        assert client.server_info.name == "wirelab"
        assert str(tmp_path) in client.instructions

    talk(tmp_path, conversation, "--users", "7", "--duration", "1500ms")


@pytest.mark.usefixtures("real_engine")
def test_drive_measures_reports_progress_and_returns_the_document(tmp_path: Path) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    async def conversation(client: Any) -> None:
        asked = {"target": "rest@rust", "duration_s": 1.5, "users": 2}
        result = await client.call_tool("drive", asked, progress_callback=progress)
        assert not result.is_error, text(result)
        structured = result.structured_content
        assert structured["exit_code"] == 0
        document = msgspec.convert(structured["document"], PrintedResult)
        assert document.target == "rest@rust"
        assert document.ok > 0  # a busy machine makes few calls
        assert document.window_s == pytest.approx(1.5)
        assert "good calls/s" in text(result)

    talk(tmp_path, conversation)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][0] >= 1.0
    assert seen[-1][1] == 1.5
    assert "calls/s" in str(seen[-1][2])


@pytest.mark.usefixtures("real_engine")
def test_two_stacks_are_compared_and_the_run_is_reported(tmp_path: Path) -> None:
    asked = {"a": "rest@rust", "b": "grpc@rust", "duration_s": 0.2, "users": 2, "directory": "r"}

    async def conversation(client: Any) -> None:
        compared = await client.call_tool("compare", {**asked, "pairs_max": 2})
        assert not compared.is_error, text(compared)
        document = compared.structured_content["document"]
        assert document["directory"] == "r"
        assert document["pairs"] + len(document["failed"]) == 2
        assert "report: r/report.html" in text(compared)
        reported = await client.call_tool("report", {"directory": "r"})
        assert not reported.is_error, text(reported)
        assert reported.structured_content["document"]["trials"] == 4
        assert "Report: r/report.html" in text(reported)
        assert (tmp_path / "r" / "report.html").is_file()
        other = await client.call_tool("compare", {**asked, "pairs_max": 2, "operation": "Nothing"})
        assert other.is_error
        assert "Nothing" in text(other)

    talk(tmp_path, conversation)


@pytest.mark.usefixtures("real_engine")
def test_a_capture_is_dissected(tmp_path: Path) -> None:
    shutil.copy(CAPTURE, tmp_path / "some.pcapng")

    async def conversation(client: Any) -> None:
        result = await client.call_tool("dissect", {"source": "some.pcapng", "exchange": 1})
        assert not result.is_error, text(result)
        document = result.structured_content["document"]
        assert document["capture"]["packets"] == 7
        assert "7 packets" in text(result)

    talk(tmp_path, conversation)


class _Answer(http.server.BaseHTTPRequestHandler):
    # Otherwise a reply waits 40 ms for the ACK of its header.
    disable_nagle_algorithm = True
    seen: list[tuple[str, str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.seen.append((self.headers["x-name"], body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@contextmanager
def url(host: str, seen: list[tuple[str, str]]) -> Iterator[str]:
    answer = type("Answer", (_Answer,), {"seen": seen})
    with http.server.ThreadingHTTPServer((host, 0), answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.usefixtures("real_engine")
def test_a_url_gets_the_given_body_and_headers(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    with url("127.0.0.1", seen) as target:

        async def conversation(client: Any) -> None:
            asked = {"target": target, "calls": 5, "body": "{}", "headers": {"X-Name": "a: b"}}
            result = await client.call_tool("drive", asked)
            assert not result.is_error, text(result)
            assert result.structured_content["document"]["ok"] == 5

        talk(tmp_path, conversation)
    assert set(seen) == {("a: b", "{}")}


def _own_address() -> str:
    """An address of this machine that is not on loopback."""
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family == socket.AF_INET and not one.address.startswith("127."):
                return one.address
    pytest.skip("this machine has no address besides loopback")


@pytest.mark.usefixtures("real_engine")
def test_a_host_is_loaded_only_if_the_user_allowed_it(tmp_path: Path) -> None:
    address, seen = _own_address(), []  # type: str, list[tuple[str, str]]
    with url(address, seen) as target:
        asked = {"target": target, "calls": 3, "body": "x"}

        async def check_refusal(client: Any) -> None:
            for tool, arguments in (("drive", asked), ("compare", {"a": target, "b": "rest@rust"})):
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                assert f"--allow-host {address}" in text(result)

        async def check_permission(client: Any) -> None:
            result = await client.call_tool("drive", asked)
            assert not result.is_error, text(result)
            pair = await client.call_tool("compare", {"a": target, "b": target, "users": 1})
            assert "give `rate`" in text(pair)

        talk(tmp_path, check_refusal)
        assert not seen
        talk(tmp_path, check_permission, "--allow-host", address)
        assert len(seen) == 3


LONG_NAME = "x" * 100_000
HOSTILE: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("drive", {}),
    ("drive", {"target": "http://127.0.0.1:1/", "users": 10**400}),
    ("drive", {"target": "http://127.0.0.1:99999/"}),
    ("drive", {"target": "http://127.0.0.1:1/", "headers": {"a": "b\r\nc: d"}}),
    ("drive", {"target": "http://127.0.0.1:1/", "method": "GET / HTTP/1.1\r\n\r\nGET"}),
    ("drive", {"target": "http://127.0.0.1:1/\r\nx: y"}),
    ("drive", {"target": "file:///etc/passwd"}),
    ("drive", {"target": "grpc://127.0.0.1:1/a.B/C", "body": "[" * 100_000}),
    ("drive", {"target": "rest@nowhere"}),
    ("drive", {"target": "rest@rust?codec=../../etc"}),
    ("drive", {"target": "http://127.0.0.1:1/", "rate": 5, "users": 2}),
    ("drive", {"target": "rest@rust", "operation": "x\n- y: z"}),
    ("compare", {"a": "rest@rust", "b": "rest@rust\nrepeats: 1000"}),
    ("compare", {"a": "/bin/sh", "b": "rest@rust"}),
    ("compare", {"a": "rest@rust", "b": "grpc@rust", "figure": "../x"}),
    ("compare", {"a": "rest@rust", "b": "grpc@rust", "directory": "capture.pcap"}),
    ("dissect", {"source": "capture.pcap"}),
    ("dissect", {"source": "nothing"}),
    ("dissect", {"source": "-"}),
    ("dissect", {"source": "a\u0000b"}),
    ("dissect", {"source": "x" * 4_096}),
    ("dissect", {"source": "link"}),
    ("dissect", {"source": "run"}),
    ("report", {"directory": "capture.pcap"}),
    ("report", {"directory": "run"}),
    ("report", {"directory": "other"}),
    ("report", {"directory": "."}),
    (LONG_NAME, {}),
    ("drive", {"target": [[[[[[[[]]]]]]]]}),
)


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize(
    "names",
    [["drive"], ["compare"], ["dissect"], ["report", LONG_NAME]],
    ids=lambda names: names[0],
)
def test_hostile_calls_are_tool_errors_and_the_server_goes_on(
    tmp_path: Path, names: list[str]
) -> None:
    (tmp_path / "capture.pcap").write_bytes(os.urandom(10_000))
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "run" / "trials" / "x").mkdir(parents=True)
    (tmp_path / "run" / "manifest.json").write_text("[" * 10_000)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text(r'{"format": "\u001b[2J"}')
    (tmp_path / "run" / "trials" / "x" / "capture-client.pcapng").symlink_to("/etc/passwd")

    async def conversation(client: Any) -> None:
        for tool, arguments in (case for case in HOSTILE if case[0] in names):
            with anyio.fail_after(60):
                result = await client.call_tool(tool, dict(arguments))
            assert result.is_error, (tool[:20], arguments)
            said = text(result)
            assert 10 < len(said) < OUTPUT_BYTES_MAX
            assert "internally" not in said, (tool[:20], arguments, said)
            assert "\x1b" not in said
        assert not (await client.call_tool("drive", QUICK)).is_error

    talk(tmp_path, conversation)


@pytest.mark.usefixtures("real_engine")
def test_no_call_reads_or_writes_through_links_out_of_the_root(tmp_path: Path) -> None:
    """A folder from elsewhere, such as a checkout, can contain links to the user's files."""
    precious = tmp_path / "precious"
    precious.write_text("keep")
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    (root / "locked").mkdir(parents=True)
    (root / "locked" / ".lock").symlink_to(precious)
    (root / "runs").symlink_to(tmp_path / "outside")
    write_run(root / "run", trials(World(("rest@rust",), (14,), (users(1),), repeats=2)))
    (root / "run" / ".report.html.unfinished").symlink_to(precious)
    pair = {"a": "rest@rust", "b": "grpc@rust", "pairs_max": 2, "duration_s": 0.1}

    async def conversation(client: Any) -> None:
        for tool, arguments in (
            ("compare", {**pair, "directory": "locked"}),
            ("compare", pair),
            ("report", {"directory": "run"}),
            ("dissect", {"source": "run"}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert "is outside" in text(result), (tool, text(result))

    talk(root, conversation)
    assert precious.read_text() == "keep"
    assert not list((tmp_path / "outside").iterdir())


def test_a_large_result_is_cut_and_kept_whole(tmp_path: Path) -> None:
    world = World(sizes=(14, 150, 1_500, 15_000), loads=(users(1), users(8)), repeats=2)
    write_run(tmp_path / "run", trials(world))

    async def conversation(client: Any) -> None:
        result = await client.call_tool("report", {"directory": "run"})
        assert not result.is_error, text(result)
        assert len(result.model_dump_json(by_alias=True).encode()) < OUTPUT_BYTES_MAX
        structured = result.structured_content
        assert any(note.startswith("cells: ") for note in structured["cut"])
        assert structured["whole"] in text(result)
        whole = json.loads((tmp_path / structured["whole"]).read_text())
        assert len(whole["cells"]) == 16
        assert len(structured["document"]["cells"]) < 16

    talk(tmp_path, conversation)


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_cancelled_call_ends_its_processes_and_the_next_one_runs(
    tmp_path: Path, mode: str
) -> None:
    """In the protocol of 2026 and in that with a handshake before it."""

    async def conversation(client: Any) -> None:
        started = anyio.Event()

        async def progress(*_: object) -> None:
            started.set()

        async def call() -> None:
            await client.call_tool("drive", LONG, progress_callback=progress)
            pytest.fail("it was cancelled")

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await started.wait()
            assert len(workers(own_server())) >= 3  # worker, engine, service
            group.cancel_scope.cancel()
        with anyio.fail_after(30):
            while workers(own_server()):
                await anyio.sleep(0.05)
        assert not (await client.call_tool("drive", QUICK)).is_error

    talk(tmp_path, conversation, mode=mode)


@pytest.mark.usefixtures("real_engine")
def test_a_call_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        result = await client.call_tool("drive", LONG)
        assert result.is_error
        assert "was ended after 2 s, the limit of this server" in text(result)
        assert not workers(own_server())

    talk(tmp_path, conversation, "--time", "2s")


@pytest.mark.usefixtures("real_engine")
def test_calls_run_one_at_a_time_and_few_wait(tmp_path: Path) -> None:
    ended: list[float] = []
    said: list[str] = []
    refused: list[str] = []

    async def progress(_: float, total: float | None, message: str | None) -> None:
        said.append(str(message))

    async def conversation(client: Any) -> None:
        async def call() -> None:
            result = await client.call_tool(
                "drive", {**QUICK, "duration_s": 0.5}, progress_callback=progress
            )
            if result.is_error:
                refused.append(text(result))
            else:
                ended.append(time.monotonic())

        async with anyio.create_task_group() as group:
            for _ in range(WAITING_MAX + 3):
                group.start_soon(call)

    talk(tmp_path, conversation)
    assert len(refused) == 2
    assert all("parallel measurements disturb each other" in one for one in refused)
    assert said.count("waiting for the end of the call before this one") == WAITING_MAX
    assert len(ended) == WAITING_MAX + 1
    gaps = [later - sooner for sooner, later in pairwise(ended)]
    assert min(gaps) > 0.5


class Raw:
    """A client that writes what it likes."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--root", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._numbers = iter(range(1, 1_000))
        self._rest = b""
        self.received: list[dict[str, Any]] = []

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def write(self, content: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(content)
        while view:
            view = view[self.process.stdin.write(view) :]

    def send(self, method: str, **parameters: Any) -> int:
        """Sends a request and returns its id."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        self.write(json.dumps(message).encode() + b"\n")
        return number

    def answer(self, number: int) -> dict[str, Any]:
        """Waits for the answer to a request. Every line must be a message."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + 60
        while True:
            for message in self.received:
                if message.get("id") == number:
                    return message
            left = deadline - time.monotonic()
            assert left > 0, "no answer"
            assert select.select([self.process.stdout], [], [], left)[0], "no answer"
            content = self.process.stdout.read(65_536)
            assert content, "the server has closed its standard output"
            *lines, self._rest = (self._rest + content).split(b"\n")
            self.received += map(json.loads, lines)

    def shake_hands(self) -> None:
        """Opens the session."""
        number = self.send(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "0"},
        )
        assert self.answer(number)["result"]["serverInfo"]["name"] == "wirelab"
        self.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def long_call(self) -> list[psutil.Process]:
        """Starts a call that must be ended, and returns its processes."""
        self.send("tools/call", name="drive", arguments=LONG)
        server = psutil.Process(self.process.pid)
        wait_until(lambda: len(workers(server)) >= 3)
        return workers(server)


def test_garbage_on_standard_input_does_not_end_the_server(tmp_path: Path) -> None:
    with Raw(tmp_path) as client:
        client.write(b"\xff\xfe\x00garbage\n{}\n[]\nnull\n\n" + b"[" * 100_000 + b"\n")
        client.write(b'{"jsonrpc": "2.0", "id": {}, "method": 5}\n{"jsonrpc"\n')
        client.shake_hands()
        client.write(b"\x00" * 100_000 + b"\n" + b"x" * 20_000_000 + b"\n")
        client.write(b'{"jsonrpc": "2.0", "id": 77, "method": "nothing/here"}\n')
        assert "error" in client.answer(77)
        listed = client.answer(client.send("tools/list"))
        assert len(listed["result"]["tools"]) == 4
        wrong = client.answer(client.send("tools/call", name=5, arguments="x"))
        assert "error" in wrong
        memory = psutil.Process(client.process.pid).memory_info().rss
        assert memory < 200e6
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.process.wait(30) == 0
        assert client.process.stderr is not None
        assert len(client.process.stderr.read()) < 100_000


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("end", ["stdin", "SIGTERM", "SIGINT", "SIGKILL"])
def test_the_end_of_the_server_leaves_nothing_behind(tmp_path: Path, end: str) -> None:
    with Raw(tmp_path) as client:
        client.shake_hands()
        left = client.long_call()
        if end.startswith("SIG"):
            client.process.send_signal(signal.Signals[end])
        else:
            client.process.stdin.close()  # type: ignore[union-attr]
        code = client.process.wait(30)
        assert code == (-signal.SIGKILL if end == "SIGKILL" else 0)
        psutil.wait_procs(left, timeout=30)
        assert not [process for process in left if process.is_running()]


def test_a_client_that_no_longer_reads_ends_the_server(tmp_path: Path) -> None:
    with Raw(tmp_path) as client:
        client.shake_hands()
        assert client.process.stdout is not None
        assert client.process.stderr is not None
        client.process.stdout.close()
        client.send("tools/list")
        assert client.process.wait(30) == 0
        assert b"Traceback" not in client.process.stderr.read()


def test_standard_input_that_is_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    number = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    parameters = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "file", "version": "0"},
    }
    (tmp_path / "requests").write_text(json.dumps({**number, "params": parameters}) + "\n")
    with (tmp_path / "requests").open() as requests:
        done = subprocess.run(
            COMMAND, stdin=requests, capture_output=True, timeout=30, cwd=tmp_path, check=False
        )
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] in ([1], [])
