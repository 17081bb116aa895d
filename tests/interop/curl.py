"""curl, https://curl.se: one process for one or many requests."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop.golden import Refused
from tests.interop.hosting import Hosted

Json = dict[str, Any]
SECONDS_MAX = 60
"""A bound against hanging, for everything that one process does."""
WRITE_OUT = '{"status":%{http_code},"version":"%{http_version}","connects":%{num_connects}}\n'


def require(feature: str = "") -> None:
    """Skips the test, with the reason, where curl is not there or lacks the feature."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed (Debian: curl)")
    said = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
    if feature and feature not in said.stdout.split():
        pytest.skip(f"this curl was built without {feature}")


@dataclass(frozen=True)
class Answer:
    """What curl said of one request."""

    status: int
    version: str
    connects: int
    """Connections that it opened for this request."""
    body: bytes


def url(hosted: Hosted, path: str) -> str:
    """The URL of a path; the name is the one that our certificates are for."""
    scheme = "http" if hosted.tls is None else "https"
    port = hosted.address.rpartition(":")[2]
    if hosted.address.startswith("unix:"):
        return f"{scheme}://localhost{path}"
    return f"{scheme}://localhost:{port}{path}"


def _way(hosted: Hosted) -> list[str]:
    """Options by which curl finds the service and speaks as it does."""
    way = ["--silent", "--show-error", "--max-time", str(SECONDS_MAX), "--noproxy", "*"]
    axes = hosted.stack.axes
    if hosted.address.startswith("unix:"):
        way += ["--unix-socket", hosted.address.removeprefix("unix:")]
    else:
        way += ["--ipv4"]
    if hosted.tls is not None:
        files = hosted.tls.of_client(axes.security)
        way += ["--cacert", files["ca"]]
        if "key" in files:
            way += ["--cert", files["certificate"], "--key", files["key"]]
    if axes.transport == "http/2":
        way += ["--http2-prior-knowledge"] if hosted.tls is None else ["--http2"]
    return way


def run(hosted: Hosted, path: str, *options: str, data: bytes | None = None) -> Answer:
    """One request. Fails the test where curl does."""
    with tempfile.TemporaryDirectory(prefix="wirelab-curl-") as folder:
        body = Path(folder) / "body"
        sent = [] if data is None else ["--data-binary", "@-", "-H", "Expect:"]
        command = ["curl", *_way(hosted), *sent, *options, "-o", str(body), "-w", WRITE_OUT]
        done = subprocess.run(
            [*command, url(hosted, path)], input=data or b"", capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        # curl makes no file for a reply without content.
        content = body.read_bytes() if body.exists() else b""
        return Answer(**json.loads(done.stdout), body=content)


def exit_code(*options: str) -> int:
    """The exit code (curl(1)) of a curl that is expected to fail."""
    command = ["curl", "--silent", "--max-time", str(SECONDS_MAX), "--noproxy", "*", *options]
    return subprocess.run(command, capture_output=True, check=False).returncode


def repeat(
    hosted: Hosted, path: str, count: int, *options: str, data: bytes | None = None
) -> list[Answer]:
    """The same request many times in one process, which keeps its connection."""
    with tempfile.TemporaryDirectory(prefix="wirelab-curl-") as folder:
        names = [Path(folder) / str(number) for number in range(count)]
        lines = [f'url = "{url(hosted, path)}"\noutput = "{name}"\n' for name in names]
        config = Path(folder) / "config"
        config.write_text("".join(lines))
        sent = [] if data is None else ["--data-binary", "@-"]
        done = subprocess.run(
            ["curl", *_way(hosted), *sent, *options, "-w", WRITE_OUT, "--config", str(config)],
            input=data or b"",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        shown = [json.loads(line) for line in done.stdout.splitlines()]
        return [
            Answer(**one, body=name.read_bytes()) for one, name in zip(shown, names, strict=True)
        ]


def path_of(contract: str, operation: str) -> str:
    """``/charging/direct-debit`` (contracts/README.md, REST)."""
    hyphened = re.sub(r"(?<!^)(?=[A-Z])", "-", operation).lower()
    return f"/{contract}/{hyphened}"


class JsonClient:
    """curl as a client of rest with json; a process a call."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted

    def call(self, operation: str, request: Json) -> Json:
        """See :class:`~tests.interop.golden.Client`."""
        path = path_of(self._hosted.contract, operation)
        data = None if operation.startswith("Hello") else json.dumps(request).encode()
        answer = run(self._hosted, path, "-H", "Content-Type: application/json", data=data)
        said: Json = json.loads(answer.body)
        if answer.status == 400:
            raise Refused(said["error"])
        assert answer.status == 200, answer
        return said
