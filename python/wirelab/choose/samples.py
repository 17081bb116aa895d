"""What the stacks are sent: varied requests, and what their replies must be."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wirelab.choose.candidates import Candidate
from wirelab.contracts import rules
from wirelab.contracts.codecs import Codec, encode
from wirelab.contracts.schema import Contract
from wirelab.contracts.values import Value, complete
from wirelab.contracts.vary import scale_lists, vary_sample
from wirelab.errors import UsageError
from wirelab.run.directory import write_whole


@dataclass
class Seen:
    """The right replies to one request."""

    contents: set[bytes] = field(default_factory=set)
    is_ordered: bool = True
    """False: the reply has a map of several entries, which a library may write in any order."""

    @property
    def content(self) -> bytes | None:
        """Its bytes, where they are always the same; else None."""
        return next(iter(self.contents)) if self.is_ordered and len(self.contents) == 1 else None

    @property
    def sizes(self) -> tuple[int, int]:
        """The least and the most bytes."""
        lengths = sorted(map(len, self.contents))
        return lengths[0], lengths[-1]


REQUESTS = 32
"""Varied requests; calls take one at random."""
MEDIA_TYPES = {
    Codec.JSON: "application/json",
    Codec.PROTOBUF: "application/x-protobuf",
    Codec.XML: "application/xml",
    Codec.CBOR: "application/cbor",
    Codec.MSGPACK: "application/vnd.msgpack",
    Codec.AVRO: "application/avro",
    Codec.SOAP_LITERAL: "text/xml; charset=utf-8",
}


@dataclass(frozen=True)
class Sample:
    """The user's message."""

    contract: Contract
    proto: str
    """Text of the .proto."""
    request: Value
    reply: Value


def scale(sample: Sample, factor: int) -> Sample:
    """The same message with every list repeated that many times."""
    contract = sample.contract
    return replace(
        sample,
        request=scale_lists(contract, contract.request, sample.request, factor),
        reply=scale_lists(contract, contract.reply, sample.reply, factor),
    )


@dataclass(frozen=True)
class Exchange:
    """A request and the only right reply to it."""

    request: Value
    reply: Value


def exchanges(sample: Sample, seed: int, count: int = REQUESTS) -> tuple[Exchange, ...]:
    """Requests whose values differ by ``seed``, each with its reply. Raises :class:`UsageError`
    for a message that cannot differ."""
    contract = sample.contract
    made = []
    for request in vary_sample(contract, sample.request, seed, count):
        right = rules.reply(contract, sample.reply, rules.number(contract, request))
        made.append(Exchange(request, complete(contract, contract.reply, right)))
    if len({str(one.reply) for one in made}) == 1:
        raise UsageError(
            f"{contract.request}: requests cannot differ, so a stored reply would be right",
            "give a sample of the request with at least one value",
        )
    return tuple(made)


def codec_of(candidate: Candidate) -> Codec:
    """The codec of its messages."""
    return Codec(candidate.codec)


def request_bytes(sample: Sample, exchange: Exchange, candidate: Candidate) -> bytes:
    """The content of a request; of gRPC without its frame."""
    return encode(sample.contract, sample.contract.request, exchange.request, codec_of(candidate))


def headers(sample: Sample, candidate: Candidate) -> dict[str, str]:
    """Header fields of its requests over HTTP."""
    fields = {"content-type": MEDIA_TYPES[codec_of(candidate)]}
    if candidate.binding == "soap":
        fields["soapaction"] = f'"{sample.contract.xml_namespace}#{sample.contract.method}"'
    return fields


def path(candidate: Candidate) -> str:
    """Path of its requests over HTTP."""
    return "/soap" if candidate.binding == "soap" else "/call"


def write_reply(sample: Sample, candidate: Candidate, file: Path) -> None:
    """The sample reply as the service reads it at its start. Raises :class:`OSError`."""
    codec = codec_of(candidate)
    bare = Codec.XML if codec is Codec.SOAP_LITERAL else codec
    write_whole(file, encode(sample.contract, sample.contract.reply, sample.reply, bare))


def write_requests(
    sample: Sample,
    candidate: Candidate,
    every: Sequence[Exchange],
    seen: Sequence[Seen],
    file: Path,
) -> None:
    """The request list of an experiment file. ``seen`` are replies that were decoded and found
    right: others must have the same bytes, or the same size where their bytes may vary. Raises
    :class:`OSError`."""
    lines = []
    for number, exchange in enumerate(every):
        line: dict[str, object] = {
            "body": base64.b64encode(request_bytes(sample, exchange, candidate)).decode()
        }
        expect = _expectation(sample, candidate, exchange, seen[number] if seen else None)
        if expect:
            line["expect"] = expect
        lines.append(json.dumps(line, separators=(",", ":")))
    write_whole(file, "\n".join(lines) + "\n")


def _expectation(
    sample: Sample, candidate: Candidate, exchange: Exchange, seen: Seen | None
) -> dict[str, object]:
    if candidate.binding == "grpc":
        from wirelab.contracts.codecs import protobuf

        return {"message": protobuf.to_json(sample.contract, sample.contract.reply, exchange.reply)}
    if codec_of(candidate) is Codec.JSON:
        content = encode(sample.contract, sample.contract.reply, exchange.reply, Codec.JSON)
        return {"json": json.loads(content)}
    if seen is None:
        return {}
    if seen.content is not None:
        return {"sha256": hashlib.sha256(seen.content).hexdigest()}
    least, most = seen.sizes
    return {"bytes": {"min": f"{least} B", "max": f"{most} B"}}
