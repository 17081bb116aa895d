"""The engine calls nginx and nghttpd: HTTP/1.1 and HTTP/2, plain and with TLS."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop import driving, golden, hosting
from tests.interop.driving import Engine, all_failed, all_good
from wirelab.process.scratch import Scratch

Json = dict[str, Any]
SMALL = b"Hello, wirelab"
LARGE_BYTES = 3_000_000
STACKS = {
    "h1": "rest@rust",
    "h2": "rest@rust?transport=http/2",
    "h1-tls": "rest@rust?security=mtls",
    "h2-tls": "rest@rust?transport=http/2&security=mtls",
}
NGINX = """
daemon off; master_process off; error_log stderr; pid {folder}/nginx.pid;
events {{ }}
http {{
  access_log off; keepalive_requests 100000; root {folder}/www; default_type text/plain;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  ssl_certificate {certificate}; ssl_certificate_key {key};
  ssl_client_certificate {client_ca}; ssl_verify_client on;
  server {{
    listen 127.0.0.1:{h1}; listen 127.0.0.1:{h2} http2;
    listen 127.0.0.1:{h1_tls} ssl; listen 127.0.0.1:{h2_tls} ssl http2;
    location /broken {{ return 503; }}
  }}
}}
"""


@dataclass(frozen=True)
class Web:
    """A running web server."""

    endpoints: dict[str, Json]
    """How to reach it, by the names of :data:`STACKS`."""
    broken: tuple[str, int]
    """A path that it has no good reply for, and the status that it answers with."""


@pytest.fixture(scope="module")
def scratch() -> Iterator[Scratch]:
    hosting.engine()
    with Scratch() as made:
        yield made


@pytest.fixture(scope="module")
def www(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a small and a large file in ``www``."""
    folder = tmp_path_factory.mktemp("web")
    root = folder / "www"
    root.mkdir()
    (root / "small").write_bytes(SMALL)
    (root / "large").write_bytes(golden.pattern(LARGE_BYTES))
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)  # nginx may give its rights away
    return folder


@pytest.fixture(scope="module")
def nginx(www: Path, scratch: Scratch) -> Iterator[Web]:
    program = driving.require("nginx", "nginx-light")
    ports = {name: driving.free_port() for name in STACKS}
    files = scratch.certificates().of_service("mtls")
    named = {name.replace("-", "_"): port for name, port in ports.items()}
    config = www / "nginx.conf"
    config.write_text(NGINX.format(folder=www, **files, **named))
    command = [program, "-c", str(config), "-p", str(www)]
    with driving.run_server(command, www / "nginx.log", ports["h2-tls"]):
        tls = scratch.certificates().of_client("mtls")
        endpoints = {
            name: _endpoint(port, tls if "tls" in name else {}) for name, port in ports.items()
        }
        yield Web(endpoints, ("/broken", 503))


@pytest.fixture(scope="module")
def nghttpd(www: Path, scratch: Scratch) -> Iterator[Web]:
    program = driving.require("nghttpd", "nghttp2-server")
    plain, secure = driving.free_port(), driving.free_port()
    common = [program, "--address=127.0.0.1", f"--htdocs={www / 'www'}"]
    files = scratch.certificates().of_service("tls")
    tls = scratch.certificates().of_client("tls")
    with ExitStack() as stack:
        log = www / "nghttpd.log"
        stack.enter_context(driving.run_server([*common, "--no-tls", str(plain)], log, plain))
        with_tls = [*common, str(secure), files["key"], files["certificate"]]
        stack.enter_context(driving.run_server(with_tls, log, secure))
        endpoints = {"h2": _endpoint(plain, {}), "h2-tls": _endpoint(secure, tls)}
        yield Web(endpoints, ("/missing", 404))


def _endpoint(port: int, tls: Json) -> Json:
    return {"target": f"127.0.0.1:{port}", **({"tls": tls} if tls else {})}


def _get(path: str, **expected: Any) -> Json:
    return {"kind": "http", "method": "GET", "path": path, "expect": expected}


def _exactly(size: int) -> Json:
    return {"min": size, "max": size}


CASES = [*(("nginx", name) for name in STACKS), ("nghttpd", "h2"), ("nghttpd", "h2-tls")]


@pytest.fixture(params=CASES, ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[Web, str, Json]:
    """A server, and the stack and the endpoint to reach it by."""
    server, name = request.param
    web: Web = request.getfixturevalue(server)
    stack = STACKS[name]
    if server == "nghttpd":
        stack = stack.replace("mtls", "tls")
    return web, stack, web.endpoints[name]


def test_a_thousand_good_calls_on_one_connection(
    case: tuple[Web, str, Json], tmp_path: Path
) -> None:
    """Status and length of every reply."""
    _, stack, endpoint = case
    wish = _get("/small", status=200, bytes=_exactly(len(SMALL)))
    outcome = Engine(tmp_path / "log").drive(stack, wish, **endpoint)
    all_good(outcome)


def test_large_replies(case: tuple[Web, str, Json], tmp_path: Path) -> None:
    """3 MB each, in HTTP/2 through its windows."""
    _, stack, endpoint = case
    wish = _get("/large", bytes=_exactly(LARGE_BYTES))
    outcome = Engine(tmp_path / "log").drive(stack, wish, 20, **endpoint)
    all_good(outcome, 20)
    assert outcome["bytes_received"] > 20 * LARGE_BYTES


def test_error_statuses(case: tuple[Web, str, Json], tmp_path: Path) -> None:
    """Expected ones are successes; others are counted and reported."""
    web, stack, endpoint = case
    path, status = web.broken
    driver = Engine(tmp_path / "log")
    all_good(driver.drive(stack, _get(path, status=status), **endpoint))
    all_failed(driver.drive(stack, _get(path), 3, **endpoint), "application", str(status))


def test_a_wrong_length_is_not_a_success(case: tuple[Web, str, Json], tmp_path: Path) -> None:
    """The engine does not take any reply for a good one."""
    _, stack, endpoint = case
    wish = _get("/small", bytes=_exactly(len(SMALL) + 1))
    outcome = Engine(tmp_path / "log").drive(stack, wish, 3, **endpoint)
    all_failed(outcome, "wrong", "15")


def test_what_is_called_is_another_server(nginx: Web, tmp_path: Path) -> None:
    """nginx says its name: these tests do not talk to ourselves."""
    host, _, port = nginx.endpoints["h1"]["target"].rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request("GET", "/small")
    assert (connection.getresponse().headers["Server"] or "").startswith("nginx/")
    connection.close()
