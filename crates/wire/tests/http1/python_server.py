"""The standard library's HTTP server: a third-party peer."""

from __future__ import annotations

import http.server
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by path, with every way to end a body."""

    protocol_version = f"HTTP/{sys.argv[1]}"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Ends the body as the path demands."""
        body = f"you asked for {self.path}".encode()
        if self.path == "/length":
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 5):
                piece = body[at : at + 5]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path == "/until-close":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Sends the body back."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the test's output clean."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
# The end of standard input is the end of the test, however it ended.
sys.stdin.read()
