"""`wirelab drive` and wrk in turns on servers that others run: `make next-to-wrk`, 20 minutes.

nginx, Node, uvicorn and Go's net/http, each with 8 connections, without other work on the machine
and next to two processes that are always busy. Writes its part of docs/reference/peers.md.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.bounds import Ratio
from tools.gate_trials import BUSY, other_work
from tools.marked_part import replace_part
from wirelab.process import machine

PAGE = Path("docs/reference/peers.md")
WIRELAB = Path(sys.executable).with_name("wirelab")
PAIRS, SECONDS, CONNECTIONS = 20, 2, 8
AT_LEAST = 0.95
READY_S_MAX = 60.0

NODE = """
require("http").createServer((request, reply) => {
  reply.setHeader("Content-Type", "application/json");
  reply.end('{"hello":"world"}');
}).listen(Number(process.argv[2]), "127.0.0.1");
"""
GO = """package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"hello":"world"}`))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
"""
UVICORN = """
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"application/json"), (b"content-length", b"17")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"hello":"world"}'})
"""
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
  access_log off; keepalive_requests 1000000000;
  server {{ listen 127.0.0.1:{port};
    location / {{ default_type application/json; return 200 '{{"hello":"world"}}'; }} }}
}}
"""


def _write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def _command_of_nginx(folder: Path, port: int) -> list[str]:
    text = NGINX.format(folder=folder, port=port)
    return ["nginx", "-p", str(folder), "-c", _write(folder, "nginx.conf", text)]


def _command_of_node(folder: Path, port: int) -> list[str]:
    return ["node", _write(folder, "server.js", NODE), str(port)]


def _command_of_uvicorn(folder: Path, port: int) -> list[str]:
    _write(folder, "served.py", UVICORN)
    options = ["--port", str(port), "--no-access-log", "--log-level", "error"]
    return [sys.executable, "-m", "uvicorn", "served:app", "--app-dir", str(folder), *options]


def _command_of_go(folder: Path, port: int) -> list[str]:
    program = folder / "server"
    build = ["go", "build", "-o", str(program), _write(folder, "server.go", GO)]
    subprocess.run(build, cwd=folder, check=True)
    return [str(program), str(port)]


SERVERS: dict[str, Callable[[Path, int], list[str]]] = {
    "nginx": _command_of_nginx,
    "Node, http": _command_of_node,
    "uvicorn": _command_of_uvicorn,
    "Go, net/http": _command_of_go,
}


@dataclass(frozen=True)
class Compared:
    """Rates of one server in one state of the machine, pair by pair, per second."""

    ours: tuple[float, ...]
    wrks: tuple[float, ...]

    @property
    def ratio(self) -> Ratio:
        """Ours over wrk's."""
        values = tuple(a / b for a, b in zip(self.ours, self.wrks, strict=True))
        return Ratio("requests/s", "wrk", values, at_least=AT_LEAST)

    @property
    def is_met(self) -> bool:
        """Whether the interval reaches the bound."""
        return self.ratio.interval[1] >= AT_LEAST


@contextmanager
def run_server(name: str) -> Iterator[str]:
    """A server, which is ready; its URL. Raises :class:`TimeoutError`."""
    with tempfile.TemporaryDirectory() as scratch:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(SERVERS[name](Path(scratch), port))
        try:
            _wait_until_ready(port)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait()


def _wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + READY_S_MAX
    while time.monotonic() < deadline:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"the server was not ready after {READY_S_MAX:g} s")


def rate_of_wrk(url: str) -> float:
    """Requests per second that wrk reports."""
    words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    if found is None or "Non-2xx" in printed or "Socket errors" in printed:
        raise ValueError(f"wrk: {printed}")
    return float(found[1])


def rate_of_drive(url: str) -> float:
    """Calls per second of `wirelab drive`, which warms up as it does by default."""
    words = [str(WIRELAB), "drive", url, "--users", str(CONNECTIONS)]
    words += ["--duration", f"{SECONDS}s", "--json"]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    result = json.loads(printed)
    if result["errors"]:
        raise ValueError(f"drive: {result['errors_by_kind']}")
    return float(result["rate_per_s"])


def compare_on(url: str, pairs: int = PAIRS) -> Compared:
    """Both in turns; every second pair begins with wrk."""
    ours, wrks = [], []
    for number in range(pairs):
        if number % 2:
            wrks.append(rate_of_wrk(url))
        ours.append(rate_of_drive(url))
        if not number % 2:
            wrks.append(rate_of_wrk(url))
    return Compared(tuple(ours), tuple(wrks))


def main() -> int:
    """Measures every server and writes the page's part."""
    rows, is_right = [], True
    for name in SERVERS:
        for busy in (0, BUSY):
            with run_server(name) as url, other_work(busy):
                found = compare_on(url)
            low, high = found.ratio.interval
            wrks = sorted(found.wrks)[PAIRS // 2]
            rows.append(
                f"| {name} | {busy or 'none'} | {wrks:,.0f} | {found.ratio.median:.2f} "
                f"[{low:.2f} … {high:.2f}] | {'yes' if found.is_met else '**no**'} |"
            )
            is_right &= found.is_met
            print(rows[-1], flush=True)
    facts = machine.describe()
    about = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores: "
        f"{PAIRS} pairs of {SECONDS} s, {CONNECTIONS} connections."
    )
    head = (
        about,
        "",
        f"| server | busy processes | wrk, 1/s | drive / wrk | reaches {AT_LEAST:g} |",
        "|---|---|---|---|---|",
    )
    replace_part(PAGE, "next to wrk", [*head, *rows])
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
