"""Avro of generated services in every language: what they write is read by fastavro with the schema
that is next to them, and bodies that would use up memory or stack are refused."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import fastavro
import psutil
import pytest

from tests.python.contracts.test_contracts_avro import HUGE, TREE, read_union
from tests.python.generated_projects import build, describe_hostile
from tests.python.generated_services import (
    Service,
    Vectors,
    find_differences,
    load_vectors,
    refuses,
    run_service,
)
from wirelab.contracts import rules
from wirelab.contracts.codecs import Codec, avro_schema, decode, encode
from wirelab.contracts.descriptors import descriptor_set
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import Value, complete
from wirelab.generate.project import Project

pytestmark = pytest.mark.timeout(900)
LANGUAGES = ("go", "java", "rust")
MEMORY_MAX = 400 << 20
"""Growth while bodies of a few bytes are refused."""
EXTREMES = Contract(
    "extremes.v1", "S", "Call", "Extremes", "Extremes",
    (
        Message("Extremes", (
            Field("int64", "i", 1, Kind.INT64, Label.REPEATED),
            Field("uint64", "u", 2, Kind.UINT64, Label.REPEATED),
            Field("uint32", "u32", 3, Kind.FIXED32, Label.OPTIONAL),
            Field("float", "f", 4, Kind.FLOAT, Label.REPEATED),
            Field("double", "d", 5, Kind.DOUBLE, Label.REPEATED),
            Field("keys", "k", 6, Kind.UINT64, Label.MAP, map_key=Kind.UINT64),
            Field("signed", "s", 7, Kind.DURATION, Label.MAP, map_key=Kind.SFIXED64),
            Field("bools", "b", 8, Kind.TIMESTAMP, Label.MAP, map_key=Kind.BOOL),
            Field("empty", "e", 9, Kind.MESSAGE, Label.REPEATED, "Empty"),
            Field("empties", "es", 10, Kind.MESSAGE, Label.MAP, "Empty", Kind.STRING),
            Field("none", "n", 11, Kind.MESSAGE, type_name="Empty"),
        )),
        Message("Empty", ()),
    ),
)  # fmt: skip
EXTREME: Value = {
    "int64": [-(2**63), 2**63 - 1, 0],
    "uint64": [2**64 - 1, 2**63, 0],
    "uint32": 2**32 - 1,
    "float": [math.inf, -math.inf, math.nan, -0.0, 1e-45],
    "double": [math.inf, -math.inf, math.nan, -0.0, 5e-324],
    "keys": {2**64 - 1: 2**64 - 1, 0: 0},
    "signed": {-(2**63): (-315_576_000_000, -999_999_999), 1: (0, -1)},
    "bools": {True: (-62_135_596_800, 0), False: (253_402_300_799, 999_999_999)},
    "empty": [{}, {}],
    "empties": {"": {}},
    "none": {},
}


def make_vectors(contract: Contract, sample: Value) -> Vectors:
    """Those of Avro alone: JSON has no NaN."""
    content = {
        "proto": write_proto(contract),
        "descriptors": descriptor_set(contract).hex(),
        "numbered": rules.choose_numbered(contract, sample),
        "sample_reply": {Codec.AVRO: encode(contract, contract.reply, sample, Codec.AVRO).hex()},
        "calls": [],
    }
    return Vectors(contract, content)


def find_generator(language: str) -> Any:
    return import_module(f"wirelab.generate.{language}")


@lru_cache
def find_project(language: str, make: Callable[[], Vectors]) -> Project:
    return build(find_generator(language), make())


def read_written(project: Project, message: str, content: bytes) -> Any:
    """What fastavro reads by the schema of the project, with nothing left."""
    schema = (project.folder / avro_schema.FILE).read_text(encoding="utf-8")
    return read_union(schema, message, content)


def as_text(value: Value) -> str:
    """For comparing, because NaN is not equal to itself. Maps may be in any order."""
    return str(
        {
            name: sorted(map(str, one.items())) if isinstance(one, dict) else one
            for name, one in value.items()
        }
    )


def describe_every_kind() -> Vectors:
    return load_vectors("every_kind")


def describe_extremes() -> Vectors:
    sample = EXTREME | {
        "int64": [-(2**63), 2**63 - 1000],
        "uint64": [2**64 - 1000],
        "uint32": 2**32 - 1000,
        "keys": {2**64 - 1: 2**64 - 1000},
    }
    return make_vectors(EXTREMES, sample)


def describe_tree() -> Vectors:
    return make_vectors(TREE, {"next": {"marks": [{}]}, "texts": ["a"], "small": 5})


@pytest.mark.parametrize("describe", [describe_every_kind, describe_hostile])
@pytest.mark.parametrize("language", LANGUAGES)
def test_fastavro_reads_every_reply_by_the_schema_of_the_project(
    language: str, describe: Callable[[], Vectors], tmp_path: Path
) -> None:
    vectors = describe()
    contract, project = vectors.contract, find_project(language, describe)
    name = avro_schema.full_name(contract, contract.reply)
    with run_service(project, vectors, "rest", Codec.AVRO, tmp_path) as service:
        for index in range(len(vectors.content["calls"])):
            reply = service.call(vectors.request(index, Codec.AVRO))
            own = encode(contract, contract.reply, vectors.reply(index), Codec.AVRO)
            assert read_written(project, name, reply) == read_written(project, name, own)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_ends_of_all_ranges_are_carried(language: str, tmp_path: Path) -> None:
    vectors = describe_extremes()
    project = find_project(language, describe_extremes)
    sample = vectors.content["sample_reply"][Codec.AVRO]
    copied = decode(EXTREMES, "Extremes", bytes.fromhex(sample), Codec.AVRO)
    with run_service(project, vectors, "rest", Codec.AVRO, tmp_path) as service:
        for request in (EXTREME, {}, {name: EXTREME[name] for name in ("uint64", "float")}):
            body = encode(EXTREMES, "Extremes", request, Codec.AVRO)
            reply = service.call(body)
            expected = rules.reply(EXTREMES, copied, rules.number(EXTREMES, request))
            found = decode(EXTREMES, "Extremes", reply, Codec.AVRO)
            assert as_text(found) == as_text(complete(EXTREMES, "Extremes", expected))
            read_written(project, "extremes.v1.Extremes", reply)


def long(number: int) -> bytes:
    """By fastavro."""
    into = io.BytesIO()
    fastavro.schemaless_writer(into, "long", number)
    return into.getvalue()


HOSTILE = {
    "a length of a text beyond the end": f"00 00 02 {HUGE}",
    "a negative length": "00 00 02 01",
    "texts without end": f"00 00 {HUGE}",
    "texts of a block whose length is wrong": "00 00 01" + HUGE,
    "the least number of texts": "00 00" + " ff" * 9 + " 01 00",
    "items without bytes without end": f"00 {HUGE}",
    "too many items without bytes": "00" + long(1_000_001).hex() + "00" * 8,
    "entries without end": f"00 00 00 {HUGE}",
    "deep recursion": "02" * 200_000,
    "a branch that does not exist": "04",
    "a symbol that does not exist": "00 00 00 00 00 00 04 00 00",
    "a negative symbol": "00 00 00 00 00 00 01 00 00",
    "a boolean of 2": "00 00 00 00 00 02 00 00 00",
    "a text that is not UTF-8": "00 00 02 02 ff 00 00 00 00 00 00 00",
    "an overlong form of UTF-8": "00 00 02 04 c0 80 00 00 00 00 00 00 00",
    "a surrogate": "00 00 02 06 ed a0 80 00 00 00 00 00 00 00",
    "a key that is not a number": "00 00 00 02 02 78 00 00 00 00 00 00 00",
    "a key beyond 32 bits": "00 00 00 02 14" + b"2147483648".hex() + "00 00 00 00 00 00 00",
    "a value below its field": "00 00 00 02 02 31 01 00 00 00 00 00 00",
    "a number beyond 32 bits": "00 00 00 00 80 80 80 80 10 00 00 00 00",
    "a number beyond 64 bits": "00 00 00 00 00 00 00 02" + " ff" * 9 + " 02 00",
    "a number of 11 bytes": "00 00 00 00 00 00 00 02" + " 80" * 10 + " 00 00",
    "nothing": "",
}
"""Bodies that are not a Node."""


@pytest.fixture(scope="module", params=LANGUAGES)
def tree_service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The service of a recursive message, of each language."""
    folder = tmp_path_factory.mktemp(request.param)
    project = find_project(request.param, describe_tree)
    with run_service(project, describe_tree(), "rest", Codec.AVRO, folder) as service:
        assert call_tree(service, {"small": 1})
        yield service


def call_tree(service: Service, request: Value) -> bool:
    """Whether the reply to a request is right."""
    sample = bytes.fromhex(service.vectors.content["sample_reply"][Codec.AVRO])
    copied = decode(TREE, "Node", sample, Codec.AVRO)
    reply = service.call(encode(TREE, "Node", request, Codec.AVRO))
    expected = rules.reply(TREE, copied, rules.number(TREE, request))
    return decode(TREE, "Node", reply, Codec.AVRO) == complete(TREE, "Node", expected)


@pytest.mark.parametrize("name", HOSTILE)
def test_bodies_of_other_content_are_refused_in_bounded_memory(
    tree_service: Service, name: str
) -> None:
    process = psutil.Process(tree_service.process.pid)
    before = process.memory_info().rss
    assert refuses(tree_service, bytes.fromhex(HOSTILE[name]))
    assert process.memory_info().rss - before < MEMORY_MAX
    assert call_tree(tree_service, {"small": 7, "weights": {-1: 2**32 - 1}})


def test_every_truncation_and_a_byte_after_the_message_are_refused(tree_service: Service) -> None:
    value = {"next": {"marks": [{}, {}], "texts": ["é"]}, "weights": {-5: 7}, "small": -9, "b": 2}
    content = encode(TREE, "Node", value, Codec.AVRO)
    assert call_tree(tree_service, value)
    for end in range(len(content)):
        assert refuses(tree_service, content[:end]), end
    assert refuses(tree_service, content + b"\0")


def test_recursion_and_blocks_of_every_form_are_read(tree_service: Service) -> None:
    deep: Value = {}
    for _ in range(30):
        deep = {"next": deep, "texts": ["x"]}
    assert call_tree(tree_service, deep)
    one = encode(TREE, "Node", {"texts": ["a", "b"], "weights": {1: 2}}, Codec.AVRO)
    # Blocks with their lengths in bytes, each with one item.
    other = bytes.fromhex("00 00 01 04 02 61 01 04 02 62 00 01 06 02 31 04 00 00 00 00 00 00")
    assert tree_service.call(other) == tree_service.call(one)


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_names_are_the_fields_of_the_schema(language: str, tmp_path: Path) -> None:
    vectors = describe_hostile()
    project = find_project(language, describe_hostile)
    with run_service(project, vectors, "rest", Codec.AVRO, tmp_path) as service:
        assert not find_differences(service)
