"""A service whose accept queue is full for a while, so that the kernel drops SYNs (listen(2)).

No fault switch of a service can do that: the kernel answers SYNs for it. Its
configuration on standard input is that of a service; it speaks REST's Hello in text.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
import threading
import time
from importlib import metadata

CONTENT = b"Hello, wirelab"
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
    % (len(CONTENT), CONTENT)
)
CLOSED_MS_MAX = 10_000


def main() -> None:
    """Serves until standard input ends."""
    host, _, port = json.loads(sys.stdin.readline())["listen"].rpartition(":")
    accept_after_s = min(int(sys.argv[1]), CLOSED_MS_MAX) / 1e3
    with socket.create_server((host, int(port)), backlog=0) as listener:
        address = "{}:{}".format(*listener.getsockname())
        # One connection is all that fits into a queue of length 0.
        with socket.create_connection(listener.getsockname()):
            threading.Thread(target=_serve, args=(listener, accept_after_s), daemon=True).start()
            print(json.dumps(_ready(address)), flush=True)
            sys.stdin.read()


def _ready(address: str) -> dict[str, object]:
    return {
        "ready": True,
        "address": address,
        "metrics": address,
        "pid": os.getpid(),
        "set": {},
        "language": "python",
        "runtime": f"cpython{platform.python_version()}",
        "libraries": [
            {"role": "server", "name": "socket", "version": platform.python_version()},
            {"role": "codec", "name": "lab's own", "version": metadata.version("wirelab")},
        ],
    }


def _serve(listener: socket.socket, accept_after_s: float) -> None:
    time.sleep(accept_after_s)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    """Replies to each head that ends."""
    unread = b""
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while given := connection.recv(65_536):
            unread += given
            while b"\r\n\r\n" in unread:
                unread = unread.partition(b"\r\n\r\n")[2]
                connection.sendall(REPLY)


if __name__ == "__main__":
    main()
