"""The HTTP server of `wirelab browse`: on the loopback interface, for reading only."""

from __future__ import annotations

import re
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any, BinaryIO

from wirelab.browse.site import Response, Site, refuse
from wirelab.errors import UsageError
from wirelab.format.sanitize import sanitize
from wirelab.process.interruption import Interruption

LOOPBACK = "127.0.0.1"
HOST = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
"""Host fields that are answered. Any other one is of a page elsewhere whose name leads here (DNS
rebinding)."""
HEAD_BYTES_MAX = 32_768
"""Maximum size of request line and header fields."""
HEAD_S = 10.0
"""Maximum time until they have arrived."""
IDLE_S = 20.0
"""Maximum time for which the peer may neither send nor receive."""
CONNECTIONS_MAX = 32
ROOM_S = 1.0
"""Maximum time for a connection to end that was hung up."""
CHECK_S = 0.3
"""Time between checks for Ctrl-C."""
METHODS = ("GET", "HEAD")


class HeadTooLarge(Exception):
    """Request line and header fields exceed :data:`HEAD_BYTES_MAX`."""


class _Head:
    """A stream that ends with an error after a number of bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = HEAD_BYTES_MAX

    def readline(self, limit: int = -1) -> bytes:
        most = self._left + 1 if limit < 0 else min(limit, self._left + 1)
        line = self._stream.readline(most)
        self._left -= len(line)
        if self._left < 0:
            raise HeadTooLarge
        return line

    def close(self) -> None:
        self._stream.close()

    @property
    def closed(self) -> bool:
        return self._stream.closed


class Handler(BaseHTTPRequestHandler):
    """Answers one request per connection."""

    server: BrowseServer
    timeout = IDLE_S
    server_version, sys_version = "wirelab", ""

    def setup(self) -> None:
        """Limits the size and the time of the request's head."""
        super().setup()
        # For errors before the request line was read.
        self.requestline, self.command, self.request_version = "", "GET", "HTTP/1.0"
        self.rfile: Any = _Head(self.rfile)
        self.server.expect_head(self.connection)
        self._alarm = threading.Timer(HEAD_S, _hang_up, (self.connection,))
        self._alarm.daemon = True
        self._alarm.start()

    def handle(self) -> None:
        """One request."""
        try:
            super().handle()
        except HeadTooLarge:
            self.close_connection = True
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        finally:
            self._alarm.cancel()
            self.server.take_head(self.connection)

    def parse_request(self) -> bool:
        """Refuses all but GET and HEAD from this machine."""
        if not super().parse_request():
            return False
        self._alarm.cancel()
        self.server.take_head(self.connection)
        self.close_connection = True
        hosts = self.headers.get_all("Host", [])
        if self.command not in METHODS:
            self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)
        elif len(hosts) != 1 or not HOST.fullmatch(hosts[0].strip()):
            self.send_error(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server answers requests from this machine only.",
            )
        elif not self.path.startswith("/"):
            self.send_error(HTTPStatus.BAD_REQUEST, "The request target is not a path.")
        else:
            return True
        return False

    def do_GET(self) -> None:
        """Sends the page."""
        self._send(self.server.site.respond(self.path))

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A page with the reason. Messages of the base class repeat parts of the request; they are
        not shown."""
        status = HTTPStatus(code)
        ours = message if message and message.endswith(".") else f"{status.description}."
        self._send(refuse(status, ours))

    def _send(self, response: Response) -> None:
        # Not send_response, which leaves the head out for HTTP/0.9.
        self.request_version = "HTTP/1.0"
        self.send_response(response.status)
        fields = {
            "Content-Type": response.kind,
            "Content-Length": str(len(response.body)),
            "Content-Security-Policy": response.policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Connection": "close",
        }
        if response.status == HTTPStatus.METHOD_NOT_ALLOWED:
            fields["Allow"] = ", ".join(METHODS)
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


class BrowseServer(ThreadingHTTPServer):
    """A bounded number of connections, each in a thread."""

    daemon_threads = True
    timeout = CHECK_S

    def __init__(self, site: Site, port: int) -> None:
        """Raises :class:`OSError`."""
        self.site = site
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._silent: dict[socket, None] = {}
        """Connections whose head has not arrived, the oldest first."""
        self._lock = threading.Lock()
        super().__init__((LOOPBACK, port), Handler)

    @property
    def url(self) -> str:
        """Address of the list of runs."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """If there are too many connections, hangs up the one that has not sent its request for
        the longest time, or this one where all are being answered."""
        if not self._free.acquire(blocking=False) and not self._make_room():
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def expect_head(self, connection: socket) -> None:
        """A connection begins."""
        with self._lock:
            self._silent[connection] = None

    def take_head(self, connection: socket) -> None:
        """The head of its request has arrived, or it has ended."""
        with self._lock:
            self._silent.pop(connection, None)

    def _make_room(self) -> bool:
        with self._lock:
            oldest = next(iter(self._silent), None)
        if oldest is None:
            return False
        self.take_head(oldest)
        _hang_up(oldest)
        return self._free.acquire(timeout=ROOM_S)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handles a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line; none for a peer that has gone."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"wirelab browse: {type(error).__name__}: {sanitize(error)}", file=sys.stderr)


def listen(site: Site, port: int) -> BrowseServer:
    """A server on the loopback interface; the kernel chooses the port if it is 0. Raises
    :class:`UsageError` if the port cannot be used."""
    try:
        return BrowseServer(site, port)
    except OSError as error:
        raise UsageError(
            f"--port {port}: cannot listen on {LOOPBACK}:{port}: {error.strerror}",
            "give another port, or 0 for any free port",
        ) from error


def serve(server: BrowseServer, interruption: Interruption) -> None:
    """Answers requests until Ctrl-C. Raises :class:`Interrupted`."""
    with server:
        while True:
            server.handle_request()
            interruption.check()


def _hang_up(connection: socket) -> None:
    try:
        connection.shutdown(SHUT_RDWR)
    except OSError:
        return
