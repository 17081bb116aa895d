"""The messages of the golden vectors in Avro are those of fastavro, by the generated schemas."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import fastavro
import pytest

from tests.python.prose import ROOT

ENCODINGS = json.loads((ROOT / "contracts/vectors/encodings.json").read_text(encoding="utf-8"))
CONTRACTS = ("transfer", "charging", "calendar", "records")


def _read_records() -> dict[tuple[str, str], Any]:
    """Each record by its contract and name, with what it refers to."""
    records = {}
    for contract in CONTRACTS:
        text = (ROOT / f"contracts/avro/{contract}.avsc").read_text(encoding="utf-8")
        known: dict[str, Any] = {}
        for schema in json.loads(text):
            parsed = fastavro.parse_schema(schema, named_schemas=known)
            records[contract, schema["name"]] = (parsed, known)
    return records


RECORDS = _read_records()
VECTORS = [one for one in ENCODINGS["accepted"] if (one["contract"], one["message"]) in RECORDS]


def _value(value: Any, schema: Any, known: dict[str, Any]) -> Any:
    """A value of JSON as fastavro takes it: bytes are base64 in JSON."""
    if schema == "bytes":
        return base64.b64decode(value)
    if isinstance(schema, str):
        return _value(value, known[schema], known) if schema in known else value
    if schema["type"] == "array":
        return [_value(one, schema["items"], known) for one in value]
    return {one["name"]: _value(value[one["name"]], one["type"], known) for one in schema["fields"]}


def test_every_message_of_an_operation_has_a_record() -> None:
    without = {one["message"] for one in ENCODINGS["accepted"]} - {
        one["message"] for one in VECTORS
    }
    assert without == {"UploadChunk", "DownloadRequest", "DownloadChunk"}
    assert {name for _, name in RECORDS} >= {one["message"] for one in VECTORS}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: f"{one['message']} {one['name']}")
def test_fastavro_reads_and_writes_the_same_bytes(vector: dict[str, str]) -> None:
    schema, known = RECORDS[vector["contract"], vector["message"]]
    value = _value(json.loads(vector["json"]), schema, known)
    content = io.BytesIO(bytes.fromhex(vector["avro"]))
    assert fastavro.schemaless_reader(content, schema) == value
    assert content.read() == b""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, schema, value)
    assert written.getvalue().hex() == vector["avro"]
