"""An HTTP server in a thread that notes each request that it was sent."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Received:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    """By names in lower case."""
    content: bytes

    @property
    def body(self) -> str:
        """The content as text."""
        return self.content.decode()


@dataclass
class Log:
    """What was sent to the server."""

    port: int
    requests: list[Received] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[Log]:
    """The server at a free port of 127.0.0.1; it replies 200 to everything."""
    log = Log(0)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """Every method."""
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            content = self.rfile.read(length)
            log.requests.append(Received(self.command, self.path, headers, content))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(b"ok")

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    log.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield log
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
