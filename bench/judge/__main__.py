"""``make judge``: runs every tool against every server and writes the table of the results."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.judge import table, truth
from bench.judge.server import DEFECTS
from bench.judge.tools import TOOLS, USERS, Tool

Json = dict[str, Any]

OUT = Path("bench/out/judge")
MINUTES_MAX = 20.0
RUN_S_MAX = 60.0
"""A tool that hangs is ended."""
SERVERS = {
    **{defect: ("http", defect) for defect in DEFECTS},
    "tls": ("https", "fixed"),
    "h2c": ("h2c", "fixed"),
}
"""Protocol and defect by name."""


def main() -> int:
    """1 if no tool could run, or time was over before everything was measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.judge", description=__doc__)
    parser.add_argument("--again", action="store_true", help="Measure again what was kept.")
    parser.add_argument("--page", type=Path, default=Path("docs/reference/wrap.md"))
    given = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    absent = {tool.name: why for tool in TOOLS if (why := tool.absence())}
    results: dict[tuple[str, str], Json] = {}
    is_complete = True
    for tool, name in _cases(absent):
        kept = OUT / f"{tool.name.replace(' ', '')}-{name}.json"
        if given.again or not kept.exists():
            if time.monotonic() - began > 60.0 * MINUTES_MAX - RUN_S_MAX:
                is_complete = False
                continue
            print(f"{tool.name}: {name}", file=sys.stderr, flush=True)
            kept.write_text(json.dumps(_measure(tool, name)), encoding="utf-8")
        results[tool.name, name] = json.loads(kept.read_text(encoding="utf-8"))
    text = table.text(results, absent, tuple(SERVERS))
    print(text)
    table.write(given.page, text)
    return 0 if results and is_complete else 1


def _cases(absent: Json) -> Iterator[tuple[Tool, str]]:
    for tool in TOOLS:
        for name, (protocol, _) in SERVERS.items():
            if tool.name not in absent and protocol in tool.protocols:
                yield tool, name


def _measure(tool: Tool, name: str) -> Json:
    """Checks of `wirelab wrap`, and what the server's log says about the tool's report."""
    protocol, defect = SERVERS[name]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        with serve(protocol, defect, log) as port:
            scheme = "https" if protocol == "https" else "http"
            url = f"{scheme}://127.0.0.1:{port}/"
            command = [word.replace("URL", url) for word in tool.command]
            document = _wrap(command, port)
        found = truth.read(log)
    checks = {check["name"]: check["outcome"] for check in document["checks"]}
    right = truth.judge(document["tool_report"], found, 2 * USERS)
    return {"checks": checks, "right": right, "requests": found.requests, "bad": found.bad}


def _wrap(command: list[str], port: int) -> Json:
    wirelab = str(Path(sys.executable).with_name("wirelab"))
    words = ["wrap", "--json", "--port", str(port), "--timeout", f"{RUN_S_MAX - 10.0:.0f}s", "--"]
    done = subprocess.run(
        [wirelab, *words, *command], capture_output=True, text=True, timeout=RUN_S_MAX, check=False
    )
    start = done.stdout.find("{\n")
    if start < 0:
        raise RuntimeError(f"wirelab wrap printed no document: {done.stderr[-2000:]}")
    document: Json = json.loads(done.stdout[start:])
    return document


@contextmanager
def serve(protocol: str, defect: str, log: Path) -> Iterator[int]:
    """A server until the end of the block; its log is complete then."""
    if protocol == "h2c":
        command = ["node", str(Path(__file__).with_name("h2c.js")), str(log)]
    else:
        secure = _make_certificate(log.parent) if protocol == "https" else []
        command = [sys.executable, "-m", "bench.judge.server", defect, str(log), *secure]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None  # pipes
    assert server.stdout is not None
    try:
        yield int(server.stdout.readline())
        server.stdin.close()
        server.wait(10.0)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def _make_certificate(folder: Path) -> list[str]:
    certificate, key = folder / "self.pem", folder / "self.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
    command += ["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return [str(certificate), str(key)]


if __name__ == "__main__":
    sys.exit(main())
