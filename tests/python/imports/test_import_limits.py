"""Short documents that describe much: each is refused by the name of a limit, in bounded time and
memory. Large documents that describe what they contain are imported."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.python.importing import CPU_S_MAX, MEMORY_MIB_MAX, Importer, measure_cost
from tests.python.importing import importer as importer
from wirelab.experiment import yaml_source
from wirelab.imports.budget import NODES_MAX, OPERATIONS_MAX, STEPS_MAX, VALUES_MAX, measure
from wirelab.imports.left_out import PLACEHOLDER, text_without_secrets
from wirelab.imports.source import count_values
from wirelab.secrets.names import is_secret_name

YAML_HEAD = "openapi: 3.0.0\nk0: &k0 [a, b]\n"
COLLECTION = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


def _ref(number: int) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/S{number}"}


def _chain(link: Callable[[int], Any], end: Any, length: int = 20) -> dict[str, Any]:
    return {f"S{n}": link(n + 1) for n in range(length)} | {f"S{length}": end}


def _document(schemas: dict[str, Any], schema: Any = None, paths: int = 1) -> str:
    body = {"required": True, "content": {"application/json": {"schema": schema or _ref(0)}}}
    operations = {f"/p{n}": {"post": {"requestBody": body}} for n in range(paths)}
    content = {"openapi": "3.1.0", "paths": operations, "components": {"schemas": schemas}}
    return json.dumps(content)


def _lists(levels: int, inner: Any) -> Any:
    return {"minItems": 10**5, "items": _lists(levels - 1, inner)} if levels else inner


def _levels(number: int, line: str, last: str) -> str:
    lines = "".join(line.format(n=n, m=n - 1) for n in range(1, number + 1))
    return f"{YAML_HEAD}{lines}paths: {{/a: {{get: {{{last.format(n=number)}}}}}}}\n"


def _of_shared_item(item: dict[str, Any], **document: Any) -> str:
    paths = {f"/p{n}": {"$ref": "#/x"} for n in range(5_000)}
    return json.dumps({"openapi": "3.0.0", "paths": paths, "x": item, **document})


def _request(url: str = "http://127.0.0.1/x", body: str = "") -> dict[str, Any]:
    data = {"postData": {"mimeType": "application/json", "text": body}} if body else {}
    return {"request": {"method": "POST", "url": url, "headers": [], **data}}


def _make_recording(*entries: dict[str, Any]) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def _collection(body: str, variables: dict[str, str]) -> str:
    raw = {"mode": "raw", "raw": body}
    item = {"name": "r", "request": {"method": "POST", "url": "http://127.0.0.1/", "body": raw}}
    listed = [{"key": key, "value": value} for key, value in variables.items()]
    return json.dumps(
        {"info": {"name": "c", "schema": COLLECTION}, "item": [item], "variable": listed}
    )


TEXT = {"type": "string", "minLength": 10**9, "maxLength": 10**9, "pattern": "^(a+)+$"}
PARAMETERS = [
    {"name": f"q{n}", "in": "query", "required": True, "schema": {}} for n in range(2_000)
]
REFUSED: dict[str, tuple[str, str, str]] = {
    "every schema is all of every schema": (
        "openapi",
        "limit steps",
        _document({f"S{n}": {"allOf": [_ref(m) for m in range(24)]} for n in range(24)}),
    ),
    "every schema requires every schema": (
        "openapi",
        "limit steps",
        _document(
            {
                f"S{n}": {"required": [f"f{m}" for m in range(24)],
                          "properties": {f"f{m}": _ref(m) for m in range(24)}}
                for n in range(24)
            }
        ),
    ),
    "lists of lists": ("openapi", "limit values", _document({}, _lists(6, {"const": 1}))),
    "lists of long texts": ("openapi", "limit bytes", _document({}, _lists(2, TEXT))),
    "ten required fields at each level": (
        "openapi",
        "limit values",
        _document(_chain(lambda n: {"required": list("abcdefghij"),
                                    "properties": dict.fromkeys("abcdefghij", _ref(n))}, TEXT)),
    ),
    "a schema with many long texts": (
        "openapi",
        "limit bytes",
        _document({}, {"required": [f"f{n}" for n in range(3_000)],
                       "properties": {f"f{n}": TEXT for n in range(3_000)}}),
    ),
    "one large example of many operations": (
        "openapi",
        "limit values",
        _document({"S0": {"example": list(range(1_000))}}, paths=200),
    ),
    "a path item of many paths": (
        "openapi", "limit steps", _of_shared_item({"parameters": PARAMETERS, "get": {}})),
    "a long server of many paths": (
        "openapi",
        "limit bytes",
        _of_shared_item({"get": {}}, servers=[{"url": f"http://127.0.0.1/{'a' * 50_000}"}]),
    ),
    "an example of many levels": (
        "openapi", "limit levels", _document({"S0": {"example": [1]}}).replace(
            "[1]", "[" * 400 + "]" * 400)),
    "a parameter of many levels": (
        "openapi",
        "limit levels",
        _of_shared_item({"get": {"parameters": [PARAMETERS[0] | {"example": [1]}]}}).replace(
            "[1]", "[" * 400 + "]" * 400
        ),
    ),
    "aliases in sequences": (
        "openapi", "too large", _levels(12, "k{n}: &k{n}\n" + "- *k{m}\n" * 9, "x-a: *k{n}")),
    "aliases in mappings": (
        "openapi",
        "too large",
        _levels(12, "k{n}: &k{n} {{a: *k{m}, b: *k{m}, c: [*k{m}, *k{m}]}}\n", "x-a: *k{n}"),
    ),
    "aliases within each other": (
        "openapi", "too deeply nested", _levels(500, "k{n}: &k{n} [*k{m}]\n", "x-a: 1")),
    "aliases that are parameters": (
        "openapi",
        "limit values",
        _levels(4, "k{n}: &k{n} [" + "*k{m}, " * 15 + "]\n",
                "parameters: [{{name: p, in: query, required: true, example: *k{n}}}]"),
    ),
    "many lists": (
        "openapi", "limit nodes", f'{{"openapi": "3.0.0", "x": [{"[]," * NODES_MAX}[]]}}'),
    "many lists in a path": (
        "openapi", "limit nodes",
        f'{{"openapi": "3.0.0", "paths": {{"/a": {{"x": [{"{}," * NODES_MAX}1]}}}}}}'),
    "many levels of JSON": ("openapi", "too deep", '{"openapi":' + "[" * 10**5),
    "many lists in a recording": ("har", "limit nodes", f'{{"log": [{"[]," * NODES_MAX}[]]}}'),
    "many levels in a recording": ("har", "too deep", '{"log": ' + "[" * 10**5 + "]" * 10**5 + "}"),
    "a recorded body of many levels": (
        "har", "more than 90 levels", _make_recording(_request(body="[" * 500 + "]" * 500))),
    "a recorded body of many lists": (
        "har", "more than 99,000 values", _make_recording(_request(body=f"[{'[],' * 10**6}1]"))),
    "many different requests": (
        "har", "limit values",
        _make_recording(*(_request(f"http://127.0.0.1/{n}") for n in range(OPERATIONS_MAX + 1)))),
    "variables within variables": (
        "postman", "limit steps",
        _collection("{{v0}}", {f"v{n}": f"{{{{v{n + 1}}}}}" * 200 for n in range(8)})),
    "a long variable many times": (
        "postman", "limit steps", _collection("{{v}}" * 30_000, {"v": "x" * 50_000})),
}  # fmt: skip
"""Kind, the limit that is named, and the document."""


@pytest.mark.parametrize("case", REFUSED)
def test_a_document_beyond_a_limit_is_refused_by_its_name(
    importer: Importer, tmp_path: Path, case: str
) -> None:
    kind, limit, text = REFUSED[case]
    path = tmp_path / "a.txt"
    path.write_text(text)
    importer(kind, path).check_refusal("a.txt", limit)


IN_PROPORTION = ["many different requests"]
"""Each of 24,750 entries is read, which takes longer: the document has 2 MB."""


@pytest.mark.parametrize("case", sorted(set(REFUSED).difference(IN_PROPORTION)))
def test_a_refusal_takes_two_seconds_and_200_mib_at_most(tmp_path: Path, case: str) -> None:
    """The bound is of the processor's time: the machine may have other work."""
    kind, _, text = REFUSED[case]
    (tmp_path / "a.txt").write_text(text)
    code, cpu_s, memory_mib = measure_cost(tmp_path, kind, "a.txt")
    assert code == 2
    assert cpu_s < CPU_S_MAX
    assert memory_mib < MEMORY_MIB_MAX


CHAINS = {
    "anyOf": lambda n: {"anyOf": [_ref(n)] * 3},
    "oneOf without an example": lambda n: {"oneOf": [{"not": {}, "allOf": [False]}, _ref(n)]},
    "allOf": lambda n: {"allOf": [_ref(n)] * 3},
    "allOf of a circle": lambda n: {"allOf": [_ref(n), _ref(n), _ref(0)]},
    "additionalProperties": lambda n: {
        "type": "object", "minProperties": 1,
        "additionalProperties": {"allOf": [_ref(n), _ref(n)]}},
    "properties": lambda n: {"properties": {"a": _ref(n), "b": _ref(n), "c": _ref(n)}},
}  # fmt: skip


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_that_doubles_at_each_level_is_resolved_once(
    importer: Importer, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(_document(_chain(CHAINS[kind], {"type": "string", "maxLength": 2})))
    done = importer("openapi", path)
    assert done.code == 0, done.err
    assert "te" in json.dumps(done.messages) or kind == "properties"


def _large(operations: int) -> dict[str, Any]:
    """As services have it: shared components, which refer to each other in circles."""

    def schema(number: int) -> dict[str, Any]:
        fields = {f"field{n}": {"type": "string", "description": "Of some length. " * 4}
                  for n in range(2)}  # fmt: skip
        parent = _ref((number * 7 + 1) % 300)
        links = {"parent": parent, "children": {"type": "array", "items": _ref(number)},
                 "either": {"oneOf": [_ref((number + 1) % 300), {"type": "null"}]}}  # fmt: skip
        own = {"type": "object", "required": ["field0"], "properties": fields | links}
        return {"allOf": [{"$ref": "#/components/schemas/Base"}, own]} if number % 3 == 0 else own

    base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    identity = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths = {}
    for number in range(operations):
        body = {"required": True, "content": {"application/json": {"schema": _ref(number % 300)}}}
        operation = {"operationId": f"op{number}", "requestBody": body,
                     "parameters": [{"$ref": "#/components/parameters/Id"}],
                     "responses": {"200": {"description": "It is done."}}}  # fmt: skip
        paths[f"/r{number}/{{id}}"] = {"put": operation}
    schemas = {f"S{n}": schema(n) for n in range(300)} | {"Base": base}
    components = {"schemas": schemas, "parameters": {"Id": identity}}
    return {"openapi": "3.0.3", "paths": paths, "components": components}


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_two_thousand_operations_are_imported(
    importer: Importer, tmp_path: Path, form: str
) -> None:
    content = _large(2_000)
    path = tmp_path / f"a.{form}"
    path.write_text(json.dumps(content) if form == "json" else yaml.safe_dump(content))
    done = importer("openapi", path)
    assert done.code == 0, done.err
    assert len(done.messages) == 2_000


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_too_many_operations_are_refused_and_one_of_them_is_selected(
    importer: Importer, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"a.{form}"
    head = "openapi: 3.0.0\npaths:\n"
    lines = (f"  /p{n}:\n    get:\n      operationId: o{n}\n" for n in range(30_000))
    if form == "json":
        path.write_text(json.dumps(_large(30_000)))
    else:
        path.write_text(head + "".join(lines))
    importer("openapi", path).check_refusal("limit operations", "--only PATTERN")
    pattern, name = ("PUT /r77/*", "op77") if form == "json" else ("o77", "o77")
    done = importer("openapi", path, "--only", pattern)
    assert done.code == 0, done.err
    assert list(done.messages) == [name]


def test_an_operation_that_is_not_selected_costs_nothing(
    importer: Importer, tmp_path: Path
) -> None:
    content = json.loads(_document({}, _lists(6, {"const": 1})))
    content["paths"]["/healthy"] = {"get": {}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    importer("openapi", path).check_refusal("POST /p0", "limit values")
    assert list(importer("openapi", path, "--only", "GET *").messages) == ["get-healthy"]


@pytest.mark.parametrize(
    "pattern", ["GET /v1/a/7?x=1", "*/a/7*", "/v1/a/?[?]x=1", "http://127.0.0.1:81/v1/a*", "get-a*"]
)
def test_a_pattern_may_match_what_the_parameters_add(
    importer: Importer, tmp_path: Path, pattern: str
) -> None:
    parameters = [{"name": "b", "in": "path", "required": True, "example": 7},
                  {"name": "x", "in": "query", "required": True, "example": 1}]  # fmt: skip
    paths = {"/a/{b}": {"get": {"parameters": parameters}}, "/c": {"get": {}}}
    servers = [{"url": "http://127.0.0.1:81/v1"}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"openapi": "3.0.0", "servers": servers, "paths": paths}))
    done = importer("openapi", path, "--only", pattern)
    assert done.code == 0, done.err
    assert list(done.messages) == ["get-a-b"]


def test_the_same_request_counts_once_towards_the_limit(importer: Importer, tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    path.write_text(_make_recording(*(_request() for _ in range(OPERATIONS_MAX + 1))))
    done = importer("har", path)
    assert done.code == 0, done.err
    assert f"recorded {OPERATIONS_MAX + 1} times" in done.text


def test_aliases_within_the_limits_are_copies(importer: Importer, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "openapi: 3.0.0\nx: &x {a: &a [1, two], b: *a}\npaths:\n"
        "  /a: {post: {requestBody: {content: {application/json: {example: [*x, *x]}}}}}\n"
    )
    (message,) = importer("openapi", path, "--out", "b.yaml").messages.values()
    assert message["json"] == [{"a": [1, "two"], "b": [1, "two"]}] * 2


def test_values_of_shared_parts_are_read_as_without_sharing() -> None:
    text = "a: &a {on: yes, n: [1, 2.5, 0x1f, null, true]}\nb: [*a, {c: *a}]\nd: *a\n"
    values, count = yaml_source.read_values(text, "a.yaml", 100)
    assert values == yaml_source.read(text, "a.yaml").values
    assert count > 30  # each alias counts like its target


@pytest.mark.parametrize("value", [1, "ab", [], [[], {"a": [1, "b"]}], {"k": {"l": (1, 2)}}])
def test_a_size_is_of_each_use_of_a_shared_part(value: Any) -> None:
    copies = json.loads(json.dumps([value] * 3))
    assert measure([value] * 3) == measure(copies)


def test_values_in_strings_are_not_counted_near_the_limit() -> None:
    text = json.dumps(["[,{" * 10, {"a": '\\"['}])
    assert count_values(text, 1_000) > 30
    assert count_values(text, 4) == 3


def test_limits_are_above_what_experiments_have() -> None:
    assert VALUES_MAX < yaml_source.NODES_MAX
    assert OPERATIONS_MAX > 10_000
    assert STEPS_MAX >= 250_000


TOKEN = "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl"


@pytest.mark.parametrize("before", ["", " ", "%22", "x=", "a.b", "word-", "eyJ", "eyJeyJ."])
def test_a_token_is_found_behind_any_text(before: str) -> None:
    found: list[str] = []
    text = text_without_secrets(f"{before}{TOKEN} after", "body", found)
    assert "c2lnbmF0dXJl" not in text
    assert text.endswith(f"{PLACEHOLDER} after")
    assert found == ["body"]


def test_long_text_of_many_beginnings_is_searched_once() -> None:
    text = "eyJ" * 300_000
    assert text_without_secrets(text, "body", []) == text
    assert is_secret_name("_" * 100_000)


def test_numbers_to_the_base_60_are_words() -> None:
    """YAML 1.2 has none, and a long one would take time by the square of its length."""
    long = ":".join(["59"] * 400_000)
    began = time.process_time()
    document = yaml_source.read(f"short: 1:30\nlong: {long}\nnumber: 0x10\n", "a.yaml")
    assert document.values == {"short": "1:30", "long": long, "number": 16}
    assert time.process_time() - began < 5.0
