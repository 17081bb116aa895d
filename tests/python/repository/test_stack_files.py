"""A codec and a binding are in a bounded number of files, which the page for them counts."""

from __future__ import annotations

import pytest

from tests.python.prose import ROOT
from tools import marked_part, stack_files
from tools.stack_files import code_of, count_lists, find

NAMES = ("json", "cbor", "soap-rpc", "iiop")


@pytest.mark.parametrize("codec", ["avro", "cbor"])
def test_a_codec_of_rest_in_three_languages_is_in_8_files_and_4_lists(codec: str) -> None:
    found = list(find(codec, stack_files.list_tracked()))
    assert {one.area for one in found} >= {f"service in {name}" for name in ("Rust", "Go", "Java")}
    assert len(found) <= 8
    assert sum(one.lists for one in found) <= 4


def test_a_binding_on_libraries_of_its_own_is_in_25_files() -> None:
    found = list(find("connect", stack_files.list_tracked()))
    assert {one.area for one in found} >= {"engine", "service in Rust", "service in Go"}
    assert len(found) <= 25


def test_the_page_has_the_counts_of_today() -> None:
    page = (ROOT / stack_files.PAGE).read_text(encoding="utf-8")
    marks = (f"<!-- {stack_files.PART} -->", f"<!-- end of {stack_files.PART} -->")
    assert marked_part.replace(page, *marks, stack_files.table()) == page


@pytest.mark.parametrize(
    ("path", "text", "is_found"),
    [
        ("services/go/internal/codec/codec.go", "x = cbor.Marshal", True),
        ("services/go/internal/codec/codec.go", "x() // as in CBOR", False),
        ("services/go/internal/codec/codec_test.go", "x = cbor.Marshal", False),
        ("services/go/service.json", '{"codecs": ["cbor"]}', True),
        ("services/go/go.mod", "github.com/fxamacker/cbor/v2", False),
        ("python/wirelab/stack/rules.py", '"""As in cbor."""\nx = 1  # cbor', False),
        ("python/wirelab/stack/rules.py", 'x = "cbor"', True),
        ("crates/wire/src/codec/cbor.rs", "fn read() {}", True),
        ("crates/wire/src/codec/mod.rs", "#[cfg(test)]\nmod tests {\n    cbor();\n}", False),
        ("crates/trace/src/protocol/layer.rs", "cbor()", False),
        ("docs/guide.md", "cbor", False),
        ("services/go/cmd/parse/parsers.go", "cbor", False),
    ],
)
def test_code_counts_and_nothing_else(path: str, text: str, is_found: bool) -> None:
    assert bool(list(find("cbor", [(path, text.encode())]))) == is_found


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("Binding::Connect => 1", True),
        ("Frames::Connect", True),
        ('&[is("binding", &["connect"])]', True),
        ("TcpStream::connect(address)", False),
        ("Time::Connect", False),
        ('("connect", "response")', False),
    ],
)
def test_connecting_is_not_the_binding_connect(code: str, is_found: bool) -> None:
    assert bool(list(find("connect", [("crates/load/src/x.rs", code.encode())]))) == is_found


@pytest.mark.parametrize(
    ("code", "lists"),
    [
        ('["json", "cbor"]', 1),
        ("&[\n    Codec::Json,\n    Codec::Cbor,\n]", 1),
        ('["cbor"]', 0),
        ('["cbor", "cbor"]', 0),
        ('["json", "soap-rpc"]', 0),
        ("Codec::Json | Codec::Cbor => 1", 0),
        ("[Cbor, SoapRpc] [Cbor, Json]", 2),
    ],
)
def test_a_list_has_the_name_and_another_one(code: str, lists: int) -> None:
    assert count_lists("cbor", code, NAMES) == lists


def test_tests_of_rust_are_cut_off() -> None:
    text = b"fn f() {}\n#[cfg(test)]\nmod tests {\n}\n"
    assert code_of("crates/wire/src/x.rs", text).strip() == "fn f() {}"
