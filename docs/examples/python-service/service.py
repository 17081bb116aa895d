"""charging over REST with JSON, on http.server of the standard library.

docs/reference/process.md says how a service is configured, started, watched and
stopped, contracts/README.md what paths and bodies are. docs/add-a-language.md goes
through this file part by part.
"""

from __future__ import annotations

import ipaddress
import json
import os
import platform
import re
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn

from accounts import INT32_MAX, Accounts, ApplicationError

BODY_BYTES_MAX = 1 << 20
DRAIN_S = 1.0
"""What calls in flight get once the service is to stop."""

Json = dict[str, Any]


Method = Callable[..., Json]
OPERATIONS: dict[str, tuple[str, Method, tuple[str, ...]]] = {
    "/charging/credit": ("Credit", Accounts.credit, ("id", "am")),
    "/charging/direct-debit": ("DirectDebit", Accounts.direct_debit, ("id", "am")),
    "/charging/reserve": ("Reserve", Accounts.reserve, ("id", "am")),
    "/charging/debit-reservation": (
        *("DebitReservation", Accounts.debit_reservation),
        ("id", "am", "res"),
    ),
    "/charging/release-res": ("ReleaseRes", Accounts.release_res, ("res",)),
    "/charging/credit-control": ("CreditControl", Accounts.credit_control, ("id",)),
    "/charging/confirm-action": ("ConfirmAction", Accounts.confirm_action, ("cn",)),
}
"""Path -> operation, its method, the fields of its request."""


# -- the JSON mapping --------------------------------------------------------


def read(body: bytes, fields: tuple[str, ...]) -> list[int]:
    """The fields of a request: absent is 0, unknown is ignored. Raises :class:`ValueError`, or
    :class:`RecursionError` for what is nested too deeply."""
    message = json.loads(body.decode("utf-8"))
    if not isinstance(message, dict):
        raise ValueError("a message is an object")
    values = {name: message.get(name, 0) for name in fields}
    for name, value in values.items():
        # bool is a kind of int in Python, and not in JSON.
        if type(value) is not int or not -INT32_MAX - 1 <= value <= INT32_MAX:
            raise ValueError(f"{name} is not a 32-bit integer")
    return list(values.values())


def accepts_json(accept: str | None) -> bool:
    """Whether `Accept` allows JSON (RFC 9110 section 12.5.1): the closest range decides."""
    quality = {}
    for media in (accept or "*/*").lower().split(","):
        name, *parameters = (part.strip() for part in media.split(";"))
        weights = [part[2:] for part in parameters if part.startswith("q=")]
        quality[name] = weights[0].strip("0.") != "" if weights else True
    closest = ("application/json", "application/*", "*/*")
    return next((quality[name] for name in closest if name in quality), False)


# -- what is counted ---------------------------------------------------------


class Figures:
    """Counts for the metrics address, and what is still in flight."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._in_flight = 0
        self._seconds = 0.0
        self._connections = 0

    def count_connection(self) -> None:
        with self._lock:
            self._connections += 1

    @contextmanager
    def request(self) -> Iterator[None]:
        """In flight until its reply has been written."""
        with self._lock:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1

    def count_call(self, operation: str, call: Callable[[], Json]) -> Json:
        """Makes the call, counted and timed."""
        began, refused = time.perf_counter(), False
        try:
            return call()
        except ApplicationError:
            refused = True
            raise
        finally:
            with self._lock:
                self._calls[operation] += 1
                self._errors[operation] += refused
                self._seconds += time.perf_counter() - began

    def is_idle(self) -> bool:
        return self._in_flight == 0

    def text(self, money: int) -> str:
        """Prometheus text format 0.0.4."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        with self._lock:
            lines = [
                *(f'wirelab_calls_total{{operation="{o}"}} {n}' for o, n in self._calls.items()),
                *(f'wirelab_errors_total{{operation="{o}"}} {n}' for o, n in self._errors.items()),
                f"wirelab_calls_in_flight {self._in_flight}",
                f"wirelab_call_seconds_total {self._seconds:.9f}",
                f"wirelab_connections_total {self._connections}",
                f"wirelab_money_total {money}",
                f"process_cpu_seconds_total {used.ru_utime + used.ru_stime:.6f}",
                f"process_resident_memory_bytes {resident}",
                f"python_threads {threading.active_count()}",
            ]
        return "\n".join(lines) + "\n"


# -- HTTP --------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """A thread per connection, none of which keeps the process alive."""

    daemon_threads = True
    # The default of 5 makes the kernel drop connections when fifty users come at once.
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def name(self) -> str:
        return f"{self.server_address[0]}:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """What both ports share: keep-alive, one send per reply, no log line per call."""

    protocol_version = "HTTP/1.1"
    # Unbuffered, as by default, head and body would leave in two sends.
    wbufsize = 1 << 16

    def reply(self, status: int, media: str, body: bytes, **fields: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: Any, **__: Any) -> None:
        pass


def make_handler(accounts: Accounts, figures: Figures, nagle: bool) -> type[Handler]:
    """The handler of the service's own port."""

    class Charging(Handler):
        disable_nagle_algorithm = not nagle

        def setup(self) -> None:
            figures.count_connection()
            super().setup()

        def do_POST(self) -> None:
            with figures.request():
                body = self._body()
                if body is not None:
                    self._answer(body)

        def other_method(self) -> None:
            if self._body() is None:
                return
            if self.path in OPERATIONS:
                self._refuse(405, "operations are called by POST", Allow="POST")
            else:
                self._refuse(404, "no such path")

        do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = other_method

        def _body(self) -> bytes | None:
            """The body, always read: what follows it on the connection is the next request."""
            length = self.headers.get("Content-Length", "0")
            if "Transfer-Encoding" in self.headers:
                refused = 411, "this service needs a Content-Length"
            elif not re.fullmatch("[0-9]{1,9}", length) or int(length) > BODY_BYTES_MAX:
                refused = 413, f"Content-Length must be 0 to {BODY_BYTES_MAX}"
            elif len(body := self.rfile.read(int(length))) == int(length):
                return body
            else:
                refused = 400, "the body ended before its end"
            self.close_connection = True
            self._refuse(*refused)
            return None

        def _answer(self, body: bytes) -> None:
            found = OPERATIONS.get(self.path)
            media = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if found is None:
                self._refuse(404, "no such path")
            elif not accepts_json(self.headers.get("Accept")):
                self._refuse(406, "this service writes application/json")
            elif media != "application/json":
                self._refuse(415, "this service reads application/json")
            else:
                self._call(body, *found)

        def _call(
            self, body: bytes, operation: str, method: Method, fields: tuple[str, ...]
        ) -> None:
            try:
                request = read(body, fields)
                said = figures.count_call(operation, lambda: method(accounts, *request))
            except (ValueError, RecursionError, ApplicationError) as error:
                self._refuse(400, str(error))
            else:
                self._say(200, said)

        def _say(self, status: int, message: Json, **fields: str) -> None:
            body = json.dumps(message, separators=(",", ":")).encode()
            self.reply(status, "application/json", body, **fields)

        def _refuse(self, status: int, text: str, **fields: str) -> None:
            self._say(status, {"error": text}, **fields)

    return Charging


def metrics_handler(accounts: Accounts, figures: Figures) -> type[Handler]:
    """The handler of the metrics port."""

    class Metrics(Handler):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                text = figures.text(accounts.money())
                self.reply(200, "text/plain; version=0.0.4", text.encode())
            else:
                self.reply(404, "text/plain", b"metrics are at /metrics\n")

    return Metrics


# -- the process -------------------------------------------------------------

HONOURED: dict[str, tuple[Any, ...]] = {
    "contract": ("charging",),
    "stack.binding": ("rest",),
    "stack.codec": ("json",),
    "stack.transport": ("http/1.1",),
    "stack.compression": ("none",),
    "stack.security": ("none",),
    "stack.end_of_message": ("content-length",),
    "stack.close_delay_ms": (0,),
    "stack.reply": ("two-way",),
    "socket.nagle": (False, True),
    "socket.writes": ("joined",),
    "socket.quickack": (None,),
    "socket.tcp_window": (None,),
    "socket.h2_window": (None,),
    "collector": ({},),
    "faults": ({},),
}
"""Option -> values that are honoured; the first is the default."""
COUNTED = {
    "store.accounts": (1_000, 1, 10_000_000),
    "store.balance": (1_000_000_000, 0, INT32_MAX),
    # CPython runs one thread of Python code at a time, however many it has: what it makes of
    # this is said in the ready line.
    "processors": (1, 1, 256),
    # Of the contract transfer, and sent to every service.
    "store.hello_bytes": (14, 0, 2**63 - 1),
}
"""Option -> default, least and most."""
ADDRESSES = {"listen": "127.0.0.1:0", "metrics_listen": "127.0.0.1:0"}


def refuse(option: str, message: str, remedy: str) -> NoReturn:
    """Refused: one line on standard output, exit code 2."""
    said = {"refused": {"option": option, "message": message, "remedy": remedy}}
    print(json.dumps(said), flush=True)
    raise SystemExit(2)


def flat(configuration: Json) -> Json:
    """The options by their full names: ``stack.codec`` and so on."""
    options: Json = {}
    for key, value in configuration.items():
        if key in ("stack", "store", "socket") and isinstance(value, dict):
            options.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            options[key] = value
    return options


def check_options(options: Json) -> Json:
    """All options with their defaults. Refuses what cannot be honoured, and what is unknown."""
    defaults = {
        **{name: values[0] for name, values in HONOURED.items()},
        **{name: default for name, (default, _, _) in COUNTED.items()},
        **ADDRESSES,
    }
    for name, value in options.items():
        if name not in defaults:
            refuse(name, "this service knows no such option", "leave it out")
        able = [json.dumps(one) for one in HONOURED.get(name, (value,))]
        if json.dumps(value) not in able:
            words = ", ".join(able)
            refuse(name, f"rest@python does {words}, not {json.dumps(value)}", f"use {words}")
        if name in COUNTED:
            _, least, most = COUNTED[name]
            if type(value) is not int or not least <= value <= most:
                remedy = f"use a whole number from {least} to {most}"
                refuse(name, f"{json.dumps(value)} is out of range", remedy)
    return {**defaults, **options}


def open_server(option: str, text: Any, handler: type[Handler]) -> Server:
    """A server at ``127.0.0.1:PORT``, or on a link of the lab; nothing else is listened on."""
    host, _, port = str(text).rpartition(":")
    local = host == "127.0.0.1" or (option == "listen" and of_link(host))
    if not local or not port.isdigit() or int(port) > 65535:
        refuse(option, f"{text} is not a port of this machine's loopback", "use 127.0.0.1:0")
    try:
        return Server((host, int(port)), handler)
    except OSError as error:
        refuse(option, f"{text}: {error.strerror}", "use port 0, or one that is free")


def of_link(host: str) -> bool:
    """Whether it is in 198.18.0.0/15, which nothing routes (RFC 2544, RFC 6890)."""
    try:
        return ipaddress.IPv4Address(host) in ipaddress.IPv4Network("198.18.0.0/15")
    except ValueError:
        return False


def read_configuration() -> Json:
    """The configuration: one line of standard input."""
    try:
        configuration = json.loads(sys.stdin.buffer.readline())
    except (ValueError, RecursionError):
        configuration = None
    if not isinstance(configuration, dict):
        refuse("", "the configuration is not a JSON object", "send one JSON object in one line")
    return check_options(flat(configuration))


def wait_for_stop() -> None:
    """Returns with the end of standard input, SIGTERM or SIGINT."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())

    def read_on() -> None:
        while os.read(sys.stdin.fileno(), 1 << 16):
            pass
        stopping.set()

    threading.Thread(target=read_on, daemon=True).start()
    stopping.wait()


def main() -> None:
    """All of the service, from its configuration to its end."""
    options = read_configuration()
    accounts = Accounts(options["store.accounts"], options["store.balance"])
    figures = Figures()
    nagle = options["socket.nagle"]
    server = open_server("listen", options["listen"], make_handler(accounts, figures, nagle))
    watch = metrics_handler(accounts, figures)
    metrics = open_server("metrics_listen", options["metrics_listen"], watch)
    ready = {
        "ready": True,
        "address": server.name(),
        "metrics": metrics.name(),
        "pid": os.getpid(),
        "language": "python",
        "runtime": f"{platform.python_implementation().lower()}{platform.python_version()}",
        "libraries": [
            {"role": "server", "name": "http.server", "version": platform.python_version()},
            {"role": "codec", "name": "json", "version": platform.python_version()},
        ],
        "set": {"nagle": nagle, "writes": "joined", "processors": 1},
    }
    print(json.dumps(ready), flush=True)
    wait_for_stop()
    server.shutdown()
    deadline = time.monotonic() + DRAIN_S
    while not figures.is_idle() and time.monotonic() < deadline:
        time.sleep(0.01)
