"""An HTTP service that notes what it was given in a file, prints it, and returns it."""

from __future__ import annotations

import http.server
import json
import os
import sys
from pathlib import Path


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes each request."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        note(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}, body=body)
        answer = f"{self.path} {self.headers.get('authorization')} {body}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Prints nothing itself."""


def note(**received: object) -> None:
    """Adds a line to the file, and prints it."""
    line = json.dumps(received)
    print(line, flush=True)
    with Path(os.environ["RECEIVED"]).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


if __name__ == "__main__":
    note(environment=dict(os.environ), words=sys.argv)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
