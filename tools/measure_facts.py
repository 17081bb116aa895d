"""Measures what `wirelab facts` shows as measured: `make facts`.

Writes python/wirelab/data/facts_measured.json. Every stack's service is started and asked; code is
counted in what the builds have made, so `make test` must have run before.

``python -m tools.measure_facts STACK…`` measures these stacks alone. The rows of the others stay,
with the day and the revision of their own run.
"""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import grpc

from tools.stack_table import Offer, offers
from wirelab import checkout
from wirelab.process import machine
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

OUT = "python/wirelab/data/facts_measured.json"
NAMESPACE = "urn:wirelab:transfer:v1"
TIMEOUT_S = 20.0
BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
    "--dump-dom",
)

Row = dict[str, str]
Fields = Mapping[str, Any]

# A request of Submit, and what is wrong with the others.
RECORD = {"id": 1, "quantity": 1, "item": "i", "remark": "r"}
REQUESTS: Mapping[str, Fields] = {
    "valid": {"batch": "b", "records": [RECORD]},
    "unknown field": {"batch": "b", "records": [RECORD], "extra": "x"},
    "missing field": {"batch": "b", "records": [{"id": 1, "quantity": 1, "item": "i"}]},
    "wrong type": {"batch": "b", "records": [{**RECORD, "quantity": "x"}]},
}


def cbor(value: Any) -> bytes:
    """RFC 8949, sections 3.1 and 3.2; values below 24 alone."""
    match value:
        case int():
            return bytes([value])
        case str():
            return bytes([0x60 + len(value)]) + value.encode()
        case list():
            return bytes([0x80 + len(value)]) + b"".join(map(cbor, value))
        case dict():
            pairs = (cbor(name) + cbor(one) for name, one in value.items())
            return bytes([0xA0 + len(value)]) + b"".join(pairs)
    raise TypeError(type(value))


def msgpack(value: Any) -> bytes:
    """The MessagePack specification, fix formats alone."""
    match value:
        case int():
            return bytes([value])
        case str():
            return bytes([0xA0 + len(value)]) + value.encode()
        case list():
            return bytes([0x90 + len(value)]) + b"".join(map(msgpack, value))
        case dict():
            pairs = (msgpack(name) + msgpack(one) for name, one in value.items())
            return bytes([0x80 + len(value)]) + b"".join(pairs)
    raise TypeError(type(value))


def protobuf(request: Fields) -> bytes:
    """The encoding of proto3, of a SubmitRequest; an unknown field has the number 15."""
    body = _field(1, request["batch"])
    for record in request["records"]:
        numbered = enumerate(("id", "quantity", "item", "remark"), start=1)
        inside = b"".join(_field(n, record[name]) for n, name in numbered if name in record)
        body += _field(2, inside)
    return body + (_field(15, request["extra"]) if "extra" in request else b"")


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, int):
        return bytes([number << 3, value])
    content = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(content)]) + content


def xml(request: Fields) -> str:
    """The mapping of contracts/README.md."""
    inside = "".join(_elements(name, value) for name, value in request.items())
    return f'<SubmitRequest xmlns="{NAMESPACE}">{inside}</SubmitRequest>'


def _elements(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "".join(_elements(name, one) for one in value)
    if isinstance(value, dict):
        return f"<{name}>{''.join(_elements(*one) for one in value.items())}</{name}>"
    return f"<{name}>{value}</{name}>"


def envelope(request: Fields) -> str:
    """SOAP 1.1, document/literal."""
    space = "http://schemas.xmlsoap.org/soap/envelope/"
    return f'<s:Envelope xmlns:s="{space}"><s:Body>{xml(request)}</s:Body></s:Envelope>'


BODIES: Mapping[str, tuple[str, Callable[[Fields], str | bytes]]] = {
    "json": ("application/json", json.dumps),
    "cbor": ("application/cbor", cbor),
    "msgpack": ("application/vnd.msgpack", msgpack),
    "protobuf": ("application/x-protobuf", protobuf),
    "xml": ("application/xml", xml),
    "soap-literal": ("text/xml", envelope),
}
"""By codec: the media type and the body."""
GRPC_PATH = "/wirelab.transfer.v1.Transfer/Submit"
PATHS = {"rest": "/transfer/submit", "soap": "/transfer/soap", "connect": GRPC_PATH}
CONNECT_TYPES = {"json": "application/json", "protobuf": "application/proto"}


@dataclass(frozen=True)
class Answer:
    """Of a service."""

    outcome: str
    """``accepted``, or why not."""
    body: bytes = b""


def answers(stack: Stack, address: str) -> Iterator[Row]:
    """The form of a reply, and what becomes of each wrong request; nothing where this tool cannot
    write the codec."""
    codec = stack.axes.codec
    if stack.axes.binding not in ("rest", "soap", "connect", "grpc") or codec not in BODIES:
        return
    ask = _ask_grpc if stack.axes.binding == "grpc" else _ask_http
    found = {name: ask(stack, address, request) for name, request in REQUESTS.items()}
    valid = found.pop("valid")
    if valid.outcome != "accepted":
        raise SystemExit(f"{stack}: a valid request was not accepted")
    yield {"feature": "form", "value": "text" if _is_text(valid.body) else "binary"}
    for name, answer in found.items():
        yield {"feature": name, "value": answer.outcome}


def _is_text(body: bytes) -> bool:
    """UTF-8 without control characters but white space."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(one.isprintable() or one.isspace() for one in text)


def _ask_http(stack: Stack, address: str, request: Fields) -> Answer:
    media, body = BODIES[stack.axes.codec]
    path = PATHS[stack.axes.binding]
    headers = {"Content-Type": media, "Accept": media}
    if stack.axes.binding == "soap":
        headers["SOAPAction"] = f'"{NAMESPACE}#Submit"'
    if stack.axes.binding == "connect":
        headers |= {
            "Content-Type": CONNECT_TYPES[stack.axes.codec],
            "Connect-Protocol-Version": "1",
        }
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT_S)
    try:
        connection.request("POST", path, body(request), headers)
        reply = connection.getresponse()
        content = reply.read()
    finally:
        connection.close()
    outcome = "accepted" if reply.status == 200 else f"refused, status {reply.status}"
    return Answer(outcome, content)


def _ask_grpc(stack: Stack, address: str, request: Fields) -> Answer:
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(GRPC_PATH)
        try:
            return Answer("accepted", call(protobuf(request), timeout=TIMEOUT_S))
        except grpc.RpcError as error:
            return Answer(f"refused, {error.code().name}")


class _Page(BaseHTTPRequestHandler):
    """A page whose script asks a service."""

    script = ""

    def do_GET(self) -> None:
        body = f"<!DOCTYPE html><pre id=out></pre><script>{self.script}</script>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def browser(chromium: str, address: str, folder: Path) -> str:
    """Whether a page in Chromium gets a response from the service, readable or not."""
    script = (
        f"fetch('http://{address}/transfer/hello', "
        "{method: 'POST', mode: 'no-cors', body: '{}'})"
        ".then(() => 'answered', () => 'no answer')"
        ".then(text => document.getElementById('out').textContent = text)"
    )
    handler = type("Page", (_Page,), {"script": script})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        done = subprocess.run(
            [chromium, *BROWSER_FLAGS, f"--user-data-dir={folder}", url],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        server.shutdown()
    for outcome in ("no answer", "answered"):
        if f">{outcome}<" in done.stdout:
            return outcome
    raise SystemExit(f"the browser did not run the page: {done.stderr[-500:]}")


_JAVA = ".cache/java-target/wirelab-java-"
_PROST = "crates/contract/src/generated/wirelab.transfer.v1.rs"
# Of the contract transfer: what generators made, by stack.
GENERATED: Mapping[str, Sequence[str]] = {
    "grpc@go": ("services/go/transferpb/*.go",),
    "rest@go": ("services/go/transferpb/transfer.pb.go",),
    "soap@go": ("services/go/transferpb/transfer.pb.go",),
    "connect@go": ("services/go/transferpb/transfer.pb.go",),
    "grpc@java": (
        f"{_JAVA}protobuf/generated-sources/protobuf/wirelab/transfer/v1/*",
        f"{_JAVA}grpc/generated-sources/protobuf/wirelab/transfer/v1/*",
    ),
    "rest@java?codec=protobuf": (
        f"{_JAVA}protobuf/generated-sources/protobuf/wirelab/transfer/v1/*",
    ),
    "iiop@java": (f"{_JAVA}iiop/generated-sources/idl/wirelab/transfer_v1/*",),
    "grpc@rust": (
        _PROST,
        "services/rust/clients/src/generated/wirelab.transfer.v1.rs",
    ),
    # Every codec of the Rust services reads and writes the types that prost made.
    "rest@rust": (_PROST,),
    "soap@rust": (_PROST,),
    "connect@rust": (_PROST,),
    "iiop@rust": (_PROST,),
    "raw@rust": (_PROST,),
}
CONTRACTS: Mapping[str, str] = {
    "grpc": "contracts/transfer.proto",
    "connect": "contracts/transfer.proto",
    "soap": "contracts/wsdl/transfer.wsdl",
    "iiop": "contracts/idl/transfer.idl",
    "rest": "contracts/openapi/transfer.json",
}
# What this lab wrote for a binding, tests aside; it serves all contracts and every axis.
WRITTEN: Mapping[str, Sequence[str]] = {
    "rest@go": ("services/go/internal/service/rest.go", "services/go/internal/codec/*.go"),
    "soap@go": ("services/go/internal/service/soap.go", "services/go/internal/soap/*.go"),
    "connect@go": ("services/go/internal/service/connect.go",),
    "grpc@go": ("services/go/internal/service/grpc.go",),
    "rest@rust": ("services/rust/src/binding/rest/*.rs",),
    "soap@rust": ("services/rust/src/binding/soap/*.rs",),
    "connect@rust": ("services/rust/src/binding/connect.rs",),
    "grpc@rust": ("services/rust/src/binding/grpc.rs",),
    "iiop@rust": ("services/rust/src/binding/iiop.rs", "crates/wire-own/src/giop/**/*.rs"),
    "raw@rust": ("services/rust/src/binding/raw/*.rs",),
    "rest@java": ("services/java/rest/src/main/**/*.java",),
    "soap@java": ("services/java/soap/src/main/**/*.java",),
    "grpc@java": ("services/java/grpc/src/main/**/*.java",),
    "iiop@java": ("services/java/iiop/src/main/**/*.java",),
}


def lines(patterns: Sequence[str]) -> int | None:
    """Lines of code: neither empty nor a comment alone. None where a pattern finds nothing."""
    root = checkout.root()
    total = 0
    for pattern in patterns:
        files = [path for path in root.glob(pattern) if path.is_file() and not _is_test(path)]
        if not files:
            return None
        # Builds of several profiles leave several copies; the newest counts.
        newest = {path.name: path for path in sorted(files, key=lambda path: path.stat().st_mtime)}
        chosen = newest.values() if "build/" in pattern else files
        total += sum(map(_lines, chosen))
    return total


def _is_test(path: Path) -> bool:
    return path.stem.endswith("_test") or path.stem == "tests" or path.stem.endswith("_tests")


def _lines(path: Path) -> int:
    texts = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(bool(text) and not text.startswith(("//", "*", "/*", "#")) for text in texts)


def count_parts(stack: Stack) -> Iterator[Row]:
    """Lines of the contract, of generated code and of the lab's own."""
    axes = stack.axes
    short = f"{axes.binding}@{axes.language}"
    if (name := CONTRACTS.get(axes.binding)) is not None:
        yield {"feature": "contract lines", "value": str(_lines(checkout.root() / name))}
    patterns = GENERATED.get(f"{short}?codec={axes.codec}", GENERATED.get(short, ()))
    if (found := lines(patterns)) is not None:
        yield {"feature": "generated lines", "value": str(found)}
    if (written := lines(WRITTEN.get(short, ("nothing",)))) is not None:
        yield {"feature": "service lines", "value": str(written)}


def list_stacks() -> list[str]:
    """Every stack that is measured."""
    return [str(offer.stack) for offer in _list_offers()]


def _list_offers() -> list[Offer]:
    every = offers(manifests.load())
    return [offer for offer in every if "transfer" in offer.served.contracts]


def measure(stacks: Collection[str]) -> Iterator[Row]:
    """All rows of these stacks."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no chromium in PATH: a page's reach is measured in it")
    programs = Programs(manifests.load())
    with Interruption() as interruption, Scratch() as scratch:
        for offer in _list_offers():
            stack = offer.stack
            if str(stack) not in stacks:
                continue
            program = programs.program(stack, interruption)
            configuration = Settings().configuration(stack, listen=ListenSpec.of(stack, scratch))
            options = ProcessOptions(log=scratch.folder / "service.log")
            with Service(program, configuration, options, interruption=interruption) as service:
                rows = list(count_parts(stack))
                address = service.ready.address
                rows.append({"feature": "security", "value": ", ".join(offer.served.security)})
                rows += answers(stack, address)
                answer = browser(chromium, address, scratch.folder / "profile")
                rows.append({"feature": "browser", "value": answer})
            print(stack, len(rows), file=sys.stderr)
            yield from ({"stack": str(stack), **row} for row in rows)


def join_runs(earlier: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> list[Any]:
    """The runs with what was measured again taken out of the earlier ones."""
    again = {row["stack"] for row in run["rows"]}
    left = [
        {**one, "rows": [row for row in one["rows"] if row["stack"] not in again]}
        for one in earlier
    ]
    return [*(one for one in left if one["rows"]), run]


def main(words: Sequence[str]) -> None:
    """Writes the file."""
    every = list_stacks()
    if unknown := [word for word in words if word not in every]:
        raise SystemExit(f"no stack {', '.join(unknown)}; there are {', '.join(every)}")
    out = checkout.root() / OUT
    run = {
        "date": datetime.now(UTC).date().isoformat(),
        "revision": (machine.git_revision() or "unknown")[:7],
        "rows": list(measure(words or every)),
    }
    earlier = json.loads(out.read_text(encoding="utf-8"))["runs"] if words else []
    document = {"command": "make facts", "runs": join_runs(earlier, run)}
    out.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
