"""A server as readers of the pages have it: ``page_server.py --port N [--delay-ms N]``.

``/orders`` is JSON, ``/report`` text that is compressed for those who accept gzip, and
``/openapi.json`` describes both. ``/events``, ``/rows`` and chat completions are streams.
"""

from __future__ import annotations

import argparse
import gzip
import http.server
import json
import time

ORDERS = json.dumps([{"number": number, "total": 12.5} for number in range(20)]).encode()
REPORT = b"".join(b"day %d: 17 orders, 3 of them late\n" % day for day in range(400))
DESCRIPTION = json.dumps(
    {
        "openapi": "3.0.3",
        "info": {"title": "orders", "version": "1"},
        "paths": {
            path: {"get": {"operationId": path[1:], "responses": {"200": {"description": "all"}}}}
            for path in ("/orders", "/report")
        },
    }
).encode()
EVENTS = b"".join(b"data: %d\n\n" % number for number in range(8))
ROWS = b"".join(b'{"row": %d}\n' % number for number in range(8))
COMPLETION = b"".join(
    b"data: %b\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": word}}]}).encode()
    for word in ("1 ", "2 ", "3 ")
)
REPLIES = {
    "/": ("text/plain", b"orders and their report\n"),
    "/orders": ("application/json", ORDERS),
    "/report": ("text/plain", REPORT),
    "/openapi.json": ("application/json", DESCRIPTION),
    "/events": ("text/event-stream", EVENTS),
    "/rows": ("application/x-ndjson", ROWS),
    "/v1/chat/completions": ("text/event-stream", COMPLETION + b"data: [DONE]\n\n"),
}


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    options = parser.parse_args()
    Handler.delay_s = options.delay_ms / 1e3
    Server(("127.0.0.1", options.port), Handler).serve_forever()


class Server(http.server.ThreadingHTTPServer):
    """A thread for each connection."""

    request_queue_size = 1024
    """Of the 5 of http.server, a burst of random arrivals loses connections for seconds."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    delay_s = 0.0

    def do_GET(self) -> None:
        """Replies after the delay."""
        time.sleep(self.delay_s)
        kind, body = REPLIES.get(self.path, ("text/plain", b""))
        self.send_response(200 if body else 404)
        if "gzip" in self.headers.get("accept-encoding", "") and self.path == "/report":
            body = gzip.compress(body)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Reads the content, then replies in the same way."""
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing: a line per call would fill the log."""


if __name__ == "__main__":
    main()
