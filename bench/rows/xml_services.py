"""What XML costs: the Rust services' decoding next to a short program on quick-xml's serde
support, and the engine's decoding of what every service that speaks XML writes."""

from __future__ import annotations

import http.client
import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bounds import Ratio
from bench.process import BenchError, build_example, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE
from tools.stack_table import TITLES, offers
from wirelab.errors import WirelabError
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

AT_LEAST, AT_MOST = 0.8, 1.5
"""The service over the program: a shortcut of its own would fall below."""
CODECS = ("xml", "soap-literal", "soap-encoded")
"""Those whose documents have different forms: rpc/literal differs by one element."""
STACKS = tuple(
    offer.stack.reference
    for codec in CODECS
    for language in TITLES
    for offer in offers(manifests.load())
    if offer.codec == codec and offer.language == language and offer.served.binding != "raw"
)
"""Services that write XML; the libraries that do it are in their ready lines."""
REFUSALS = (1, 100)
"""Records of a batch that is refused: what a reply repeats."""
TIMEOUT_S = 30.0
NAMESPACE = "urn:wirelab:transfer:v1"
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
ENCODING = "http://schemas.xmlsoap.org/soap/encoding/"

Json = dict[str, Any]


@dataclass(frozen=True)
class Decoded:
    """The service's decoding of one document, and the program's: microseconds, one a round."""

    codec: str
    message: str
    bytes: int
    service_us: tuple[float, ...]
    program_us: tuple[float, ...]

    @property
    def ratio(self) -> Ratio:
        """Service over program."""
        pairs = zip(self.service_us, self.program_us, strict=True)
        values = tuple(service / program for service, program in pairs)
        label = f"{self.codec}, {self.message}"
        return Ratio(label, "30 lines on quick-xml", values, AT_MOST, AT_LEAST)


@dataclass(frozen=True)
class Written:
    """The engine's decoding of one service's reply: microseconds, one a round."""

    stack: str
    writer: str
    """The libraries that made the document, with versions."""
    refusals: int
    bytes: int
    engine_us: tuple[float, ...]


def services(quick: bool = False) -> list[Decoded]:
    """Times the Rust services' decoding.

    Raises:
        BenchError: the program cannot be built, or did not end well.
    """
    command = [build_example("wirelab-services", "xml_decoding"), *(["--quick"] if quick else [])]
    return [
        Decoded(
            case["codec"],
            case["message"],
            case["bytes"],
            tuple(ns / 1e3 for ns in case["service_ns"]),
            tuple(ns / 1e3 for ns in case["program_ns"]),
        )
        for case in _run(command)["cases"]
    ]


def writers(quick: bool = False) -> list[Written]:
    """Asks every service that writes XML for the same replies, and times the engine's decoding
    of them; documents of one size take turns.

    Raises:
        BenchError: a service cannot be built or started, or answers something else.
    """
    program = build_example("wirelab-wire", "reply_decoding")
    with tempfile.TemporaryDirectory() as scratch:
        replies = list(_replies(Path(scratch)))
        found = []
        for refusals in REFUSALS:
            of_size = [reply for reply in replies if reply.refusals == refusals]
            files = [f"{reply.codec}={reply.file}" for reply in of_size]
            command = [program, *(["--quick"] if quick else []), "Submit", *files]
            cases = _run(command)["cases"]
            found += [
                Written(
                    reply.stack,
                    reply.writer,
                    refusals,
                    case["bytes"],
                    tuple(ns / 1e3 for ns in case["ns"]),
                )
                for reply, case in zip(of_size, cases, strict=True)
            ]
        return found


def _run(command: list[str]) -> Json:
    finished = run_on_core(CLIENT_CORE, command)
    if finished.exit_code != 0:
        output = finished.errors.strip() or "nothing"
        raise BenchError(f"{Path(command[0]).name} ended with {finished.exit_code}: {output}")
    answer: Json = json.loads(finished.output)
    return answer


@dataclass(frozen=True)
class _Reply:
    """A service's reply in a file."""

    stack: str
    codec: str
    writer: str
    refusals: int
    file: Path


def _replies(folder: Path) -> Iterator[_Reply]:
    try:
        with Interruption() as interruption:
            programs = Programs(manifests.load())
            for number, reference in enumerate(STACKS):
                stack = Stack.parse(reference)
                program = programs.program(stack, interruption)
                with ExitStack() as running:
                    service = running.enter_context(
                        Service(
                            program,
                            Settings().configuration(stack),
                            ProcessOptions(log=folder / f"{number}.log", cores=(SERVER_CORE,)),
                            interruption=interruption,
                        )
                    )
                    for refusals in REFUSALS:
                        file = folder / f"{number}-{refusals}.xml"
                        file.write_bytes(_call(service.ready.address, stack, refusals))
                        yield _Reply(reference, stack.axes.codec, _writer(service), refusals, file)
    except WirelabError as error:
        raise BenchError(f"a service that writes XML: {error}") from error


def _writer(service: Service) -> str:
    """The libraries that make a body of a message, by the service's own ready line."""
    codecs = (library for library in service.ready.libraries if library.role == "codec")
    return ", ".join(f"{library.name} {library.version}" for library in codecs)


def _call(address: str, stack: Stack, refusals: int) -> bytes:
    """The body of the reply to a Submit of that many records, all of them refused."""
    codec = stack.axes.codec
    if codec == "xml":
        path, fields = "/transfer/submit", {"content-type": "application/xml"}
    else:
        path = "/transfer/soap"
        fields = {"content-type": "text/xml; charset=utf-8", "soapaction": f'"{NAMESPACE}#Submit"'}
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT_S)
    try:
        connection.request("POST", path, request(codec, refusals).encode(), fields)
        reply = connection.getresponse()
        body = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise BenchError(f"{stack}: {error}") from error
    finally:
        connection.close()
    if reply.status != http.HTTPStatus.OK:
        raise BenchError(f"{stack}: status {reply.status}: {body[:200]!r}")
    return body


def request(codec: str, records: int) -> str:
    """A Submit of that many records without a quantity, by the mapping of contracts/README.md."""
    if codec == "soap-encoded":
        item = (
            '<item xsi:type="ns:Record"><id xsi:type="xsd:long">{id}</id>'
            '<quantity xsi:type="xsd:int">0</quantity><item xsi:type="xsd:string">bolt</item>'
            '<remark xsi:type="xsd:string">none</remark></item>'
        )
        items = "".join(item.format(id=number) for number in range(records))
        return (
            f'<e:Envelope xmlns:e="{ENVELOPE}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            f'xmlns:enc="{ENCODING}" e:encodingStyle="{ENCODING}"><e:Body>'
            '<submit><batch xsi:type="xsd:string">b</batch>'
            f'<records xsi:type="enc:Array" xmlns:ns="{NAMESPACE}" '
            f'enc:arrayType="ns:Record[{records}]">{items}</records></submit>'
            "</e:Body></e:Envelope>"
        )
    record = (
        "<records><id>{id}</id><quantity>0</quantity><item>bolt</item>"
        "<remark>none</remark></records>"
    )
    batch = "".join(record.format(id=number) for number in range(records))
    document = f'<SubmitRequest xmlns="{NAMESPACE}"><batch>b</batch>{batch}</SubmitRequest>'
    if codec == "xml":
        return document
    return f'<e:Envelope xmlns:e="{ENVELOPE}"><e:Body>{document}</e:Body></e:Envelope>'
