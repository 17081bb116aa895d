"""Every contender asks for the same, so that the service has the same to read."""

from __future__ import annotations

import json
import socket
import subprocess
import threading

from bench.engine import COMMAND, Load, plan
from bench.peers import HELLO_REST, SAME_REQUEST
from bench.servers import REST_SMALL


def _listen(listener: socket.socket) -> str:
    """The head of the first request that comes in; then nobody is there any more."""
    caller, _ = listener.accept()
    with listener, caller:
        caller.settimeout(10)
        return caller.recv(65_536).decode("ascii")


def test_peers_send_the_headers_that_the_engine_sends() -> None:
    """Names are compared as HTTP does (RFC 9110, 5.1); host every client sends itself."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        expected = plan(REST_SMALL, address, Load(1), "frame", {"duration_s": 0.05})
        heads: list[str] = []
        thread = threading.Thread(target=lambda: heads.append(_listen(listener)))
        thread.start()
        subprocess.run(COMMAND, input=json.dumps(expected) + "\n", text=True, capture_output=True)
        thread.join(15)
    request, *fields = heads[0].rstrip("\r\n").split("\r\n")
    assert request == f"GET {HELLO_REST} HTTP/1.1"
    pairs = dict(field.split(": ", 1) for field in fields)
    sent = {name.lower(): value for name, value in pairs.items()}
    assert sent.pop("host") == address
    assert sent == dict(field.split(": ", 1) for field in SAME_REQUEST[1::2])
