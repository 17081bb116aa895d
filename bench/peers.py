"""The tools that people use today: how each is called, and how its answer is read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from bench.engine import Load
from bench.process import BenchError, Count, Finished
from wirelab.loadtools import tool
from wirelab.loadtools.tool_report import ToolAdapter
from wirelab.loadtools.wrk import Wrk

CONTRACTS = Path(__file__).resolve().parent.parent / "contracts"
HELLO_REST = "/transfer/hello"
HELLO_GRPC = "/wirelab.transfer.v1.Transfer/Hello"
USER_AGENT = f"wirelab/{metadata.version('wirelab')}"
SAME_REQUEST = ("-H", "accept: text/plain", "-H", f"user-agent: {USER_AGENT}")
"""What our request carries, so that the service has the same to read from everybody."""
EMPTY_MESSAGE = b"\0\0\0\0\0"
"""A gRPC message of no bytes: compressed flag 0, length 0 (gRPC over HTTP2, Requests)."""


@dataclass(frozen=True)
class Peer:
    """One tool, called one way."""

    name: str
    program: str
    version: tuple[str, ...]
    """Arguments that print its version."""
    command: Callable[[str, Load, int], list[str]]
    """Arguments for an address, a load and a number of seconds."""
    count: Callable[[Finished], Count]


def wrk_command(address: str, load: Load, seconds: int) -> list[str]:
    """One thread: all contenders have one core."""
    options = ["-t1", f"-c{load.connections}", f"-d{seconds}s", *SAME_REQUEST]
    return [*options, f"http://{address}{HELLO_REST}"]


def wrk_count(finished: Finished) -> Count:
    """Its requests, both of its kinds of error, and its rate."""
    return _count(Wrk(), finished)


def ab_command(address: str, load: Load, seconds: int) -> list[str]:
    """-t sets -n to 50,000, so that -n must come after it."""
    return [
        *("-q", "-k", "-c", str(load.connections), "-t", str(seconds), "-n", "10000000"),
        *SAME_REQUEST,
        f"http://{address}{HELLO_REST}",
    ]


def ab_count(finished: Finished) -> Count:
    """Reads `Complete requests`, `Failed requests`, `Requests per second`."""
    calls = int(_search(r"Complete requests:\s+(\d+)", finished))
    bad = int(_search(r"Failed requests:\s+(\d+)", finished))
    bad += sum(map(int, re.findall(r"Non-2xx responses:\s+(\d+)", finished.output)))
    return Count(calls, bad, float(_search(r"Requests per second:\s+([\d.]+)", finished)))


def h2load_h1_command(address: str, load: Load, seconds: int) -> list[str]:
    """HTTP/1.1 instead of its default."""
    return [
        "--h1",
        "-c",
        str(load.connections),
        "-D",
        str(seconds),
        *SAME_REQUEST,
        f"http://{address}{HELLO_REST}",
    ]


def h2load_grpc_command(body: Path) -> Callable[[str, Load, int], list[str]]:
    """The same bytes that a gRPC client sends; `body` holds the framed message."""

    def command(address: str, load: Load, seconds: int) -> list[str]:
        return [
            *("-c", str(load.connections), "-m", str(load.in_flight), "-D", str(seconds)),
            *("-d", str(body), "-H", "content-type: application/grpc", "-H", "te: trailers"),
            f"http://{address}{HELLO_GRPC}",
        ]

    return command


def h2load_count(finished: Finished) -> Count:
    """Reads its line `requests: …`. The HTTP status is all that it checks."""
    words = r"requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout"
    match = re.search(words, finished.output)
    if match is None:
        raise _unread(finished)
    succeeded, *bad = map(int, match.groups())
    return Count(succeeded, sum(bad), float(_search(r"([\d.]+) req/s,", finished)))


def ghz_command(address: str, load: Load, seconds: int) -> list[str]:
    """-c counts calls in flight over all connections."""
    return [
        *("--insecure", "--proto", str(CONTRACTS / "transfer.proto")),
        *("--call", "wirelab.transfer.v1.Transfer.Hello", "-d", "{}"),
        *("-c", str(load.connections * load.in_flight), "--connections", str(load.connections)),
        *("-z", f"{seconds}s", "-O", "json", address),
    ]


def ghz_count(finished: Finished) -> Count:
    """Calls that its end cut off (Canceled, Unavailable) are not errors of the service."""
    try:
        report = json.loads(finished.output)
    except ValueError as error:
        raise _unread(finished) from error
    statuses = {str(name): int(n) for name, n in report["statusCodeDistribution"].items()}
    good = statuses.pop("OK", 0)
    cut = statuses.pop("Canceled", 0) + statuses.pop("Unavailable", 0)
    if good == 0:
        raise _unread(finished)
    return Count(good, sum(statuses.values()), float(report["rps"]) * good / (good + cut))


def rest_peers() -> dict[str, Peer]:
    """The peers that call Hello over HTTP/1.1."""
    return {
        "wrk": Peer("wrk", "wrk", ("-v",), wrk_command, wrk_count),
        "h2load --h1": Peer(
            "h2load --h1", "h2load", ("--version",), h2load_h1_command, h2load_count
        ),
        "ab -k": Peer("ab -k", "ab", ("-V",), ab_command, ab_count),
    }


def grpc_peers(body: Path) -> dict[str, Peer]:
    """The peers that call Hello over gRPC; `body` is written here."""
    body.write_bytes(EMPTY_MESSAGE)
    h2load = h2load_grpc_command(body)
    return {
        "h2load": Peer("h2load", "h2load", ("--version",), h2load, h2load_count),
        "ghz": Peer("ghz", "ghz", ("--version",), ghz_command, ghz_count),
    }


def _count(tool: ToolAdapter, finished: Finished) -> Count:
    """By the adapter that `wirelab wrap` uses."""
    report = tool.read_report(finished.output)
    if report is None or report.requests is None or report.rate_per_s is None:
        raise _unread(finished)
    return Count(report.requests, report.failed or 0, report.rate_per_s)


def _search(pattern: str, finished: Finished) -> str:
    match = re.search(pattern, finished.output)
    if match is None:
        raise _unread(finished)
    return match[1]


def _unread(finished: Finished) -> BenchError:
    said = (finished.errors.strip() or finished.output.strip() or "nothing").splitlines()[-1]
    return BenchError(f"{finished.command[0]} ended with {finished.exit_code} and said: {said}")


ROOT = Path(__file__).resolve().parent.parent
GO_BIN = ROOT / ".cache/bin"
GHZ = tool.GHZ.pin
DEBIAN = {
    "wrk": "wrk",
    "h2load": "nghttp2-client",
    "ab": "apache2-utils",
    "tshark": "tshark",
    "curl": "curl",
    "hyperfine": "hyperfine",
}


def find_peer(program: str) -> str | None:
    """Path of a peer, installing it where that is possible; None with the reason printed."""
    path = shutil.which(program) or shutil.which(program, path=str(GO_BIN))
    if path:
        return path
    reason = _from_debian(DEBIAN[program]) if program in DEBIAN else _from_go()
    path = shutil.which(program) or shutil.which(program, path=str(GO_BIN))
    if path is None:
        print(f"{program} cannot be had: {reason}. Its rows are left out.", flush=True)
    return path


def _from_debian(package: str) -> str:
    if shutil.which("apt-get") is None:
        return f"install {package} by your system's package manager"
    if os.geteuid() != 0:
        return f"not root; sudo apt-get install {package}"
    print(f"installing {package} …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    return _last_line(
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", package], environment
    )


def _from_go() -> str:
    if shutil.which("go") is None:
        return "Go is not installed"
    print(f"building {GHZ} …", flush=True)
    GO_BIN.mkdir(parents=True, exist_ok=True)
    return _last_line(["go", "install", GHZ], {**os.environ, "GOBIN": str(GO_BIN)})


def _last_line(command: list[str], environment: dict[str, str]) -> str:
    """Runs an installer and returns the last thing that it said."""
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"
