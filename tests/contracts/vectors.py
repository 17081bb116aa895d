"""Writes the golden vectors next to this file: ``python -m tests.contracts.vectors``.

README.md describes them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.contracts import every_kind, everyday
from wirelab.contracts.codecs import Codec, encode
from wirelab.contracts.descriptors import descriptor_set
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.rules import choose_numbered, digest, number, reply
from wirelab.contracts.schema import Contract

FOLDER = Path(__file__).parent
CASES: dict[str, tuple[Contract, dict[str, Any], Any]] = {
    "every_kind": (every_kind.CONTRACT, every_kind.VALUES, every_kind.SAMPLE_REPLY),
    "order": (everyday.ORDER, everyday.ORDERS, everyday.ORDER_REPLY),
    "note": (everyday.NOTE, everyday.NOTES, everyday.NOTE_REPLY),
}
"""Name of the file -> contract, requests by name, sample of the reply."""
AS_TEXT = (Codec.JSON, Codec.XML, Codec.SOAP_LITERAL)


def make_vectors(contract: Contract, requests: dict[str, Any], sample: Any) -> dict[str, Any]:
    """The content of one file."""
    return {
        "contract": msgspec.to_builtins(contract),
        "proto": write_proto(contract),
        "descriptors": descriptor_set(contract).hex(),
        "numbered": choose_numbered(contract, sample),
        "sample_reply": _encodings(contract, contract.reply, sample),
        "calls": [
            {
                "name": name,
                "digest": str(digest(contract, contract.request, request)),
                "n": number(contract, request),
                "request": _encodings(contract, contract.request, request),
                "reply": _write_json(contract, sample, number(contract, request)),
            }
            for name, request in requests.items()
        ],
        "replies": [
            {"n": n, "reply": _encodings(contract, contract.reply, reply(contract, sample, n))}
            for n in (0, 999)
        ],
    }


def _write_json(contract: Contract, sample: Any, n: int) -> str:
    value = reply(contract, sample, n)
    return encode(contract, contract.reply, value, Codec.JSON).decode()


def _encodings(contract: Contract, message: str, value: Any) -> dict[str, str]:
    """Text, or hexadecimal digits of a binary codec."""
    made = {codec: encode(contract, message, value, codec) for codec in Codec}
    return {
        codec: content.decode() if codec in AS_TEXT else content.hex()
        for codec, content in made.items()
    }


def write_text(name: str) -> str:
    """The file's text."""
    return json.dumps(make_vectors(*CASES[name]), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in CASES:
        (FOLDER / f"{one}.json").write_text(write_text(one), encoding="utf-8")
