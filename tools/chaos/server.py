"""The measured server: each reply takes a known time, and is noted on the disk before it is sent.

``python -m tools.chaos.server FOLDER``, with HOST and PORT in the environment. The note is one byte
in a file that is named by the process, so that it survives a kill.
"""

from __future__ import annotations

import http.server
import os
import sys
import time
from pathlib import Path

DELAY_S = 0.005
"""Time that each reply takes at least, seconds."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Waits, notes, replies."""

    protocol_version = "HTTP/1.1"
    note: int

    def do_GET(self) -> None:
        """Any path."""
        time.sleep(DELAY_S)
        os.write(self.note, b".")
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def main() -> None:
    """Serves until it is ended."""
    path = Path(sys.argv[1], f"served-{os.getpid()}")
    Handler.note = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    address = (os.environ["HOST"], int(os.environ["PORT"]))
    http.server.ThreadingHTTPServer(address, Handler).serve_forever()


if __name__ == "__main__":
    main()
