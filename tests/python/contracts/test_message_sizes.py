"""What the size of a message is in each codec, and messages of a size in a codec."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.cli import main
from wirelab.contracts import message_sizes
from wirelab.contracts.codecs import Codec, encode
from wirelab.contracts.large_messages import (
    TRANSFER,
    LargeMessage,
    large_message,
    submit_request,
)
from wirelab.contracts.message_sizes import CODECS, describe, describe_choice, measure, resolve
from wirelab.errors import UsageError
from wirelab.experiment.messages import Message

VECTORS = Path(__file__).parents[3] / "contracts" / "vectors"
SIZES = (100, 127, 128, 200, 999, 2_000, 16_500, 20_000)


def vectors(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def read_vectors() -> list[dict[str, Any]]:
    """Golden vectors of the messages that have a size."""
    names = {message.name for message in TRANSFER.messages}
    every = vectors("encodings.json")["accepted"]
    return [one for one in every if one["contract"] == "transfer" and one["message"] in names]


def value_of(vector: dict[str, Any]) -> dict[str, Any]:
    """Of its JSON, in which bytes are base64."""
    value: dict[str, Any] = json.loads(vector["json"])
    is_bytes = vector["message"] in ("HelloBytesReply", "UploadRequest")
    return {k: base64.b64decode(v) for k, v in value.items()} if is_bytes else value


def test_the_vectors_have_every_message() -> None:
    assert {one["message"] for one in read_vectors()} == {
        message.name for message in TRANSFER.messages
    }


@pytest.mark.parametrize(
    "vector", read_vectors(), ids=lambda one: f"{one['message']} {one['name']}"
)
def test_encodings_are_those_of_the_golden_vectors(vector: dict[str, Any]) -> None:
    value = value_of(vector)
    made = LargeMessage(TRANSFER, vector["message"], value)
    binary = {name: bytes.fromhex(vector[name]) for name in ("protobuf", "cbor", "msgpack", "avro")}
    texts = {name: vector[name].encode() for name in ("json", "xml")}
    for codec, expected in (binary | texts).items():
        assert encode(TRANSFER, made.name, value, Codec(codec)) == expected, codec
    assert message_sizes._encode_cdr(made) == bytes.fromhex(vector["cdr_big"])


def test_the_request_of_submit_is_the_engine_s() -> None:
    """That of 2,000 B with seed 1 is a golden vector."""
    (golden,) = [one for one in vectors("operations.json") if "2000 bytes" in one["name"]]
    assert submit_request(2_000, 1) == golden["request"]


@pytest.mark.parametrize("size", SIZES)
def test_submit_has_its_size_in_protobuf(size: int) -> None:
    assert measure("Submit", size, "protobuf") == size


def test_a_text_has_its_size_in_text() -> None:
    assert measure("Hello", 14, "text") == 14
    assert measure("Hello", 14, "json") == len(b'{"text":"Hello, wirelab"}')
    assert measure("Upload", 3, "json") == len(b'{"data":"AAAA"}')


def test_what_has_no_size_is_not_measured() -> None:
    assert large_message("CreditControl", 0) is None
    assert measure("CreditControl", 0, "json") is None
    assert measure("Hello", 14, "soap-encoded") is None
    assert describe("CreditControl", 0, ["json"]) == ""


def test_the_sizes_of_codecs_are_in_one_sentence() -> None:
    json_size = measure("Submit", 2_000, "json")
    found = describe("Submit", 2_000, ["protobuf", "json", "soap-encoded", "json"])
    assert found == (
        f"Submit 2 kB is 2,000 B of protobuf and {json_size:,} B of json; of soap-encoded only a "
        "run shows it"
    )


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "text"])
def test_no_message_is_nearer_to_a_size_of_a_codec(codec: str) -> None:
    size = resolve("Submit", f"2 kB of {codec}")
    found = abs((measure("Submit", size, codec) or 0) - 2_000)
    around = range(max(100, size - 300), size + 300)
    assert found == min(abs((measure("Submit", one, codec) or 0) - 2_000) for one in around)


def test_a_text_has_exactly_the_size_of_a_codec() -> None:
    size = resolve("Hello", "2 kB of json")
    assert measure("Hello", size, "json") == 2_000
    assert describe_choice("Hello", "2 kB of json", size) == (
        f"2 kB of json: it is Hello {size} B, with 2,000 B"
    )
    odd = resolve("Upload", "2001 B of json")
    assert "the nearest is" in describe_choice("Upload", "2001 B of json", odd)
    assert describe_choice("Hello", "2 kB", 2_000) == ""
    assert resolve("Hello", "2 kB") == 2_000


@pytest.mark.parametrize(
    ("operation", "text", "reason"),
    [
        ("Hello", "2 kB of yaml", "yaml is not one of text, json"),
        ("Submit", "2 kB of text", "Submit has no message of text whose size can be chosen"),
        ("CreditControl", "2 kB of json", "CreditControl has no message of json"),
        ("Hello", "2 apples of json", "2 apples"),
    ],
)
def test_a_size_that_cannot_be_had_is_refused(operation: str, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        resolve(operation, text)


def test_a_message_of_an_experiment_may_have_a_size_of_a_codec() -> None:
    made = Message.model_validate({"operation": "Submit", "bytes": "2 kB of json"})
    assert made.bytes == resolve("Submit", "2 kB of json")
    choice, sizes = made.describe_size(["json", "cdr"])
    assert choice.startswith("2 kB of json: ")
    assert f"{measure('Submit', made.bytes, 'cdr'):,} B of cdr" in sizes
    steps = Message.model_validate(
        {"name": "x", "steps": [{"operation": "Submit", "bytes": "2 kB of json"}]}
    )
    assert steps.steps[0].bytes == made.bytes
    with pytest.raises(ValueError, match="yaml is not one of"):
        Message.model_validate({"operation": "Submit", "bytes": "2 kB of yaml"})


def test_a_plan_prints_the_sizes_in_the_codecs_of_its_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    content = {
        "name": "x",
        "services": ["rest@rust", "iiop@rust"],
        "messages": [{"operation": "Submit", "bytes": "2 kB of json"}],
        "loads": [{"closed": {"users": 1}}],
        "window": {"duration": "1 s"},
    }
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    size = resolve("Submit", "2 kB of json")
    assert main(["run", str(file), "--plan"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"size: 2 kB of json: the nearest is Submit {size} B" in printed or (
        f"size: 2 kB of json: it is Submit {size} B" in printed
    )
    assert f"size: Submit {size} B is" in printed
    assert "B of json and" in printed
    assert "B of cdr" in printed
