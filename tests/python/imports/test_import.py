"""``wirelab import openapi``: operations, examples, references, what is refused; and the run of
a file as it was written."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.python.importing import FILES, Importer
from tests.python.importing import importer as importer
from wirelab.cli import main

ROOT = Path(__file__).parents[3]
FORGE = FILES / "forge.yaml"


def _document(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(content, indent=1))
    return path


def _of_schema(tmp_path: Path, schema: object, **schemas: object) -> Path:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return _document(
        tmp_path,
        {
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "paths": {"/a": {"post": {"operationId": "a", "requestBody": body}}},
            "components": {"schemas": schemas},
        },
    )


def test_a_document_with_recursive_schemas_becomes_one_message_per_operation(
    importer: Importer,
) -> None:
    done = importer("openapi", FORGE)
    assert done.code == 0
    assert list(done.messages) == [
        *("list-repos", "create-repo", "get-repo", "delete-repo", "update-repo"),
        *("repo-exists", "open-issue", "write-tree", "exchange-token", "search"),
    ]
    assert done.messages["list-repos"]["path"] == "/api/v2/repos?page=1&topic=a+b&topic=c"
    assert done.messages["get-repo"]["path"] == "/api/v2/repos/a%2Fb/wire%20lab"
    issue = done.messages["open-issue"]["json"]
    assert issue["title"] == "It does not start"
    assert issue["author"] == {"login": "textte", "email": "user@example.com", "follows": []}
    assert issue["labels"] == ["text", "text"]
    assert done.messages["write-tree"]["json"] == {"path": "text", "entries": [{"path": "text"}]}
    assert (
        done.messages["exchange-token"]["body"] == "grant_type=client_credentials&scope=repo+user"
    )
    assert done.messages["search"]["json"] == {"query": "language:rust", "limit": 5}
    change = done.messages["update-repo"]
    assert change["headers"] == {"content-type": "application/merge-patch+json"}
    assert "id" not in change["json"]  # it is readOnly
    assert (change["json"]["name"], change["json"]["stars"]) == ("tex", 2.5)


def test_secrets_and_what_cannot_be_made_are_named_and_left_out(importer: Importer) -> None:
    done = importer("openapi", FORGE)
    assert "open-issue: header authorization (scheme bearer)" in done.out
    assert "get-repo: header X-Api-Key" in done.out
    assert "exchange-token: " not in done.out  # security: []
    assert set(done.messages["get-repo"]["headers"]) == {"x-request-id"}
    assert "forge.yaml:65: PUT /repos/{owner}/{repo}/avatar: no example of image/png" in done.out
    assert "# of is required and left out: its schema contains itself" in done.text


def test_another_machine_is_not_a_target_unless_requested(importer: Importer) -> None:
    done = importer("openapi", FORGE)
    assert done.content["services"][0]["url"] == "https://127.0.0.1:8443"
    assert "The document's server is https://eu.forge.example" in done.text


def test_another_machine_that_is_asked_for_is_bounded(importer: Importer, tmp_path: Path) -> None:
    document = _document(
        tmp_path,
        {
            "openapi": "3.0.3",
            "servers": [{"url": "http://192.0.2.1:81/v1/"}],
            "paths": {"/a": {"get": {}}},
        },
    )
    done = importer("openapi", document, "--any-target")
    assert done.content["allow_targets"] == ["192.0.2.1"]
    assert done.content["services"][0]["url"] == "http://192.0.2.1:81"
    assert done.messages["get-a"]["path"] == "/v1/a"
    assert "constant" in done.content["loads"][0]
    assert "next: wirelab run api.yaml --any-target" in done.out


@pytest.mark.parametrize("name", ["calendar", "charging", "petclinic", "records", "transfer"])
def test_the_documents_of_the_lab_can_be_imported(importer: Importer, name: str) -> None:
    document = ROOT / "contracts" / "openapi" / f"{name}.json"
    operations = [
        method for item in json.loads(document.read_text())["paths"].values() for method in item
    ]
    done = importer("openapi", document)
    assert done.code == 0
    assert len(done.messages) + done.out.count("no example of") == len(operations)


def test_swagger_2_has_bodies_forms_and_a_base_path(importer: Importer, tmp_path: Path) -> None:
    reference = {"$ref": "#/definitions/Pet"}
    path = {"name": "id", "in": "path", "required": True, "type": "integer", "minimum": 7}
    field = {"name": "size", "in": "formData", "required": True, "type": "string", "enum": ["xl"]}
    file = {"name": "file", "in": "formData", "required": True, "type": "file"}
    body = {"name": "pet", "in": "body", "schema": reference}
    document = _document(
        tmp_path,
        {
            "swagger": "2.0",
            "host": "localhost:8099",
            "basePath": "/v2",
            "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
            "paths": {
                "/pets/{id}": {
                    "parameters": [path],
                    "put": {"parameters": [body], "security": [{"key": []}]},
                    "post": {"parameters": [field]},
                    "patch": {"parameters": [file]},
                }
            },
            "definitions": {
                "Pet": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "of": reference},
                }
            },
        },
    )
    done = importer("openapi", document)
    assert done.content["services"][0]["url"] == "http://localhost:8099"
    assert done.messages["put-pets-id"]["path"] == "/v2/pets/7"
    assert done.messages["put-pets-id"]["json"] == {"name": "text"}
    assert done.messages["post-pets-id"]["body"] == "size=xl"
    assert "put-pets-id: header X-Key (scheme key)" in done.out
    form = done.messages["patch-pets-id"]
    assert form["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'filename="' in form["body"]


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"type": "integer", "minimum": 5, "exclusiveMinimum": True}, 6),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "minimum": 7, "multipleOf": 5}, 10),
        ({"type": "string", "minLength": 9}, "texttextt"),
        ({"type": "string", "format": "date"}, "2024-01-01"),
        ({"type": ["null", "boolean"]}, True),
        ({"allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"default": 2}}}]},
         {"a": 1, "b": 2}),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "text"),
        ({"type": "array", "items": {"type": "number"}, "minItems": 3}, [1.5, 1.5, 1.5]),
        ({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
         {"key": "text"}),
        ({"properties": {"on": {"type": "string", "example": "no"}}}, {"on": "no"}),
        ({"type": "string", "example": "a\u2028# b: \x07 c"}, "a\u2028# b: \x07 c"),
    ],
)  # fmt: skip
def test_examples_are_of_their_schema(
    importer: Importer, tmp_path: Path, schema: object, example: object
) -> None:
    importer("openapi", _of_schema(tmp_path, schema))
    (message,) = importer("openapi", _of_schema(tmp_path, schema), "--force").experiment.messages
    assert json.loads(message.content) == example  # type: ignore[union-attr]


def test_files_next_to_the_document_are_read(importer: Importer, tmp_path: Path) -> None:
    (tmp_path / "parts.yaml").write_text(
        "Pet: {type: object, properties: {tag: {$ref: '#/Tag'}}}\nTag: {const: t}\n"
    )
    done = importer("openapi", _of_schema(tmp_path, {"$ref": "parts.yaml#/Pet"}))
    assert done.messages["a"]["json"] == {"tag": "t"}


@pytest.mark.parametrize(
    ("reference", "schemas", "parts"),
    [
        (
            "#/components/schemas/A",
            {
                "A": {"$ref": "#/components/schemas/B"},
                "B": {"$ref": "#/components/schemas/A"},
            },
            ("leads back to itself", "give one of the references a schema"),
        ),
        ("#/components/schemas/None", {}, ("there is no such place", "correct it")),
        ("nosuch.yaml#/A", {}, ("nosuch.yaml: cannot be read: No such file",)),
        ("http://127.0.0.1:1/a.json#/A", {}, ("nothing is fetched", "put it next to the document")),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_with_its_line(
    importer: Importer, tmp_path: Path, reference: str, schemas: dict[str, Any], parts: tuple[str]
) -> None:
    document = _of_schema(tmp_path, {"$ref": reference}, **schemas)
    lines = document.read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if reference in text)
    importer("openapi", document).check_refusal(f"api.json:{line}: $ref {reference}", *parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{\n"openapi": \n}', ("api.json:3: not JSON",)),
        ("openapi: 3.0.0\npaths: [", ("api.json:3: not YAML",)),
        ("openapi: 4.0.0\n", ("it is of version 4.0.0", "name an OpenAPI 3 or Swagger 2")),
        ("just words", ("neither openapi nor swagger",)),
        ('{"openapi": "3.0.0", "paths": {}}', ("no operation that can be imported",)),
        ("{" * 100_000, ("not JSON",)),
        ("- " * 100_000, ("api.json:1: the file is too deeply nested",)),
    ],
)
def test_an_invalid_document_is_refused(
    importer: Importer, tmp_path: Path, text: str, parts: tuple[str]
) -> None:
    path = tmp_path / "api.json"
    path.write_text(text)
    importer("openapi", path).check_refusal(*parts)


def test_a_file_that_is_not_there_or_no_text_is_refused(importer: Importer, tmp_path: Path) -> None:
    importer("openapi", "nosuch.json").check_refusal("nosuch.json: cannot be read: No such file")
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe\x00")
    importer("openapi", path).check_refusal("it is not UTF-8 text")
    importer("opneapi", path).check_refusal("Did you mean 'openapi'?")


def test_nothing_is_overwritten_without_force(importer: Importer) -> None:
    path = importer.folder / "mine.yaml"
    path.write_text("mine")
    done = importer("openapi", FORGE, "--out", path)
    assert done.code == 2
    assert "mine.yaml exists and is kept" in done.err
    assert path.read_text() == "mine"
    assert importer("openapi", FORGE, "--out", path, "--force").code == 0
    assert done.files == ["mine.yaml"]
    assert len(done.messages) == 10


def test_the_option_only_selects_matching_operations(importer: Importer) -> None:
    done = importer("openapi", FORGE, "--only", "GET /api/v2/repos*")
    assert list(done.messages) == ["list-repos", "get-repo"]
    done = importer("openapi", FORGE, "--only", "nosuch", "--out", "other.yaml")
    assert done.code == 2
    assert "no operation matches 'nosuch'; it has list-repos" in done.err


def test_an_import_that_cannot_write_leaves_nothing_behind(importer: Importer) -> None:
    # Not even root can write there. In a process of its own, which closes its output.
    command = f"from wirelab.cli import main; exit(main({['import', 'openapi', str(FORGE)]}"
    done = subprocess.run(
        [sys.executable, "-c", f"{command} + ['--out', '/proc/nosuch.yaml']))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "/proc/nosuch.yaml cannot be read or written" in done.stderr
    assert list(importer.folder.iterdir()) == []
    (importer.folder / "blocked.yaml").mkdir()
    refused = importer("openapi", FORGE, "--out", "blocked.yaml")
    assert refused.code == 2
    assert refused.files == ["blocked.yaml"]


def test_a_megabyte_is_imported_in_five_seconds_of_cpu(importer: Importer, tmp_path: Path) -> None:
    """The bound is of the processor's time: the machine may have other work."""

    def schema(number: int) -> dict[str, Any]:
        next_one = {"$ref": f"#/components/schemas/S{(number + 1) % 350}"}
        text = {"type": "string", "description": "What it is, in a sentence of some length. " * 8}
        fields = {f"field{n}": text for n in range(6)}
        properties = {**fields, "next": next_one, "all": {"type": "array", "items": next_one}}
        return {"type": "object", "required": ["next"], "properties": properties}

    body = [{"application/json": {"schema": {"$ref": f"#/components/schemas/S{n}"}}}
            for n in range(350)]  # fmt: skip
    content = {
        "openapi": "3.0.0",
        "paths": {f"/p{n}": {"post": {"requestBody": {"content": body[n]}}} for n in range(350)},
        "components": {"schemas": {f"S{n}": schema(n) for n in range(350)}},
    }
    document = _document(tmp_path, content)
    assert document.stat().st_size > 1_000_000
    begun = time.process_time()
    done = importer("openapi", document)
    assert time.process_time() - begun < 5.0
    assert len(done.messages) == 350


API = {
    "openapi": "3.1.0",
    "info": {"title": "Items", "version": "1"},
    "paths": {
        "/items": {
            "get": {
                "operationId": "listItems",
                "parameters": [
                    {"name": "limit", "in": "query", "required": True, "schema": {"const": 3}}
                ],
            },
            "post": {
                "operationId": "addItem",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"name": {"type": "string", "example": "näme"}},
                            }
                        }
                    }
                },
            },
        },
    },
}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        if self.path == "/openapi.json":
            self._answer(200, json.dumps(API).encode())
        elif self.path == "/moved":
            self._answer(302, b"", ("location", "http://192.0.2.1/openapi.json"))
        else:
            self._answer(200 if self.path == "/items?limit=3" else 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        is_json = self.headers["content-type"] == "application/json"
        right = is_json and json.loads(body) == {"name": "näme"} and self.path == "/items"
        self._answer(201 if right else 422)

    def _answer(self, status: int, body: bytes = b"{}", *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_document_of_a_running_server_is_measured_as_imported(
    importer: Importer, server: str
) -> None:
    done = importer("openapi", f"{server}/openapi.json")
    assert done.code == 0
    assert "next: wirelab run items.yaml" in done.out
    assert main(["run", "items.yaml", "--out", "results"]) == 0
    lines = (importer.folder / "results" / "trials.jsonl").read_text().splitlines()
    trials = [{**line, **cell} for line in map(json.loads, lines) for cell in line["cells"]]
    assert {trial["point"]["operation"] for trial in trials} == {"list-items", "add-item"}
    for trial in trials:
        assert trial["status"] == "measured"
        assert trial["result"]["ok"] > 0
        assert trial["result"]["errors"] == 0


def test_urls_are_of_this_machine(importer: Importer, server: str) -> None:
    importer("openapi", "http://192.0.2.1/openapi.json").check_refusal("is not on this machine",
                                                                "--any-target")  # fmt: skip
    importer("openapi", f"{server}/moved").check_refusal(
        "status 302, to http://192.0.2.1/openapi.json"
    )
    importer("openapi", f"{server}/nosuch").check_refusal("status 404", "/v3/api-docs")


def test_a_form_with_files_has_a_part_for_each_field(importer: Importer, tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "example": "Emma"},
            "cover": {"type": "string", "format": "binary"},
            "pages": {"type": "array", "items": {"type": "integer"}, "example": [1, 2]},
            "author": {"type": "object", "properties": {"id": {"type": "integer"}}},
        },
    }
    media = {"schema": schema, "encoding": {"cover": {"contentType": "image/png, image/jpeg"}}}
    operation = {"requestBody": {"content": {"multipart/form-data": media}}, "responses": {}}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {"/a": {"post": operation}},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    message = importer("openapi", path).messages["post-a"]
    boundary = message["headers"]["content-type"].partition("boundary=")[2]
    heads = [
        ('name="title"', "Emma"),
        ('name="cover"; filename="cover.bin"\r\nContent-Type: image/png', "text"),
        ('name="pages"', "1"),
        ('name="pages"', "2"),
        ('name="author"\r\nContent-Type: application/json', '{"id": 1}'),
    ]
    parts = [
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n"
        for head, content in heads
    ]
    assert message["body"] == f"{''.join(parts)}--{boundary}--\r\n"
