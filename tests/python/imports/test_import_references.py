"""Files that an imported document names: only regular files beneath the document's folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.python.importing import Importer
from tests.python.importing import importer as importer
from wirelab.errors import UsageError
from wirelab.imports.beneath import BYTES_MAX, LINKS_MAX, read_beneath

SECRET = "example: LEAKED\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The document's folder, next to a file that it may not read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.yaml").write_text(SECRET)
    folder = tmp_path / "specs"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "pet.yaml").write_text("type: object\nproperties: {name: {const: Rex}}")
    return folder


def _document(folder: Path, reference: str) -> Path:
    content = {"application/json": {"schema": {"$ref": reference}}}
    body = {"required": True, "content": content}
    paths = {"/a": {"put": {"operationId": "a", "requestBody": body}}}
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.3", "paths": paths}))
    return path


@pytest.mark.parametrize(
    "reference",
    [
        "../outside/secret.yaml",
        "%2e%2e/outside/secret.yaml",
        "parts/..%2f../outside/secret.yaml",
        "file://{outside}/secret.yaml",
        "{outside}/secret.yaml#/example",
        "file:///etc/hostname",
        "file:///proc/kmsg",
        "file:///dev/zero",
        "//localhost{outside}/secret.yaml",
        "file://elsewhere{folder}/parts/pet.yaml",
    ],
)
def test_a_reference_beyond_the_folder_is_refused(
    importer: Importer, folder: Path, reference: str
) -> None:
    reference = reference.format(outside=folder.parent / "outside", folder=folder)
    done = importer("openapi", _document(folder, reference))
    done.check_refusal(f"$ref {reference}", f"it leads outside {folder}", "copy the file into")
    assert "LEAKED" not in done.err


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("secret.yaml", "../outside/secret.yaml"),
        ("secret.yaml", "{outside}/secret.yaml"),
        ("secret.yaml", "parts/../../outside/secret.yaml"),
        ("there", "../outside"),
        ("there", "{outside}"),
    ],
)
def test_a_symbolic_link_out_of_the_folder_is_refused(
    importer: Importer, folder: Path, link: str, target: str
) -> None:
    (folder / link).symlink_to(target.format(outside=folder.parent / "outside"))
    reference = link if link.endswith(".yaml") else f"{link}/secret.yaml"
    done = importer("openapi", _document(folder, reference))
    done.check_refusal(f"$ref {reference}", f"it leads outside {folder}")
    assert "LEAKED" not in done.err


@pytest.mark.parametrize(
    "reference",
    [
        "parts/pet.yaml",
        "./parts/../parts/pet.yaml",
        "../specs/parts/pet.yaml",
        "file://{folder}/parts/pet.yaml",
        "parts%2Fpet.yaml",
        "linked/pet.yaml",
        "nested/pet.yaml",
        "parts/alias.yaml",
        "parts/sibling.yaml",
    ],
)
def test_a_file_in_the_folder_is_read_also_behind_links(
    importer: Importer, folder: Path, reference: str
) -> None:
    (folder / "linked").symlink_to("parts")
    (folder / "nested").symlink_to("linked/../linked")
    (folder / "parts" / "alias.yaml").symlink_to("../parts/pet.yaml")
    (folder / "parts" / "sibling.yaml").write_text("$ref: pet.yaml")
    done = importer("openapi", _document(folder, reference.format(folder=folder)))
    assert done.code == 0, done.err
    assert done.messages["a"]["json"] == {"name": "Rex"}


def test_a_document_in_a_linked_folder_finds_its_files(importer: Importer, folder: Path) -> None:
    _document(folder, "parts/pet.yaml")
    (folder.parent / "current").symlink_to("specs")
    assert importer("openapi", folder.parent / "current" / "api.json").code == 0


@pytest.mark.parametrize(("kind", "reason"), [("pipe", "not a regular file"),
                                              ("folder", "not a regular file"),
                                              ("large", "larger than 16,777,216 B"),
                                              ("loop", "Too many levels of symbolic links"),
                                              ("null%00", "null")])  # fmt: skip
def test_references_to_other_than_small_regular_files_are_refused(
    importer: Importer, folder: Path, kind: str, reason: str
) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    with (folder / "large").open("wb") as large:
        large.truncate(BYTES_MAX + 1)
    (folder / "loop").symlink_to("loop")
    importer("openapi", _document(folder, kind)).check_refusal(f"$ref {kind}", reason)


def test_a_pipe_that_the_user_names_is_refused_at_once(importer: Importer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for kind in ("openapi", "har", "postman"):
        importer(kind, tmp_path / "pipe.json").check_refusal("not a regular file")
    os.mkfifo(tmp_path / "pipe.binpb")
    importer("grpc", tmp_path / "pipe.binpb").check_refusal("not a regular file")


def test_a_chain_of_links_is_followed_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / "l0").write_text("end")
    for number in range(1, LINKS_MAX + 2):
        (tmp_path / f"l{number}").symlink_to(f"l{number - 1}")
    assert read_beneath(tmp_path, f"l{LINKS_MAX}") == b"end"
    with pytest.raises(OSError, match="symbolic links"):
        read_beneath(tmp_path, f"l{LINKS_MAX + 1}")


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * BYTES_MAX)
    assert len(read_beneath(tmp_path, "a")) == BYTES_MAX


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("c")
    before = len(list(Path("/proc/self/fd").iterdir()))
    read_beneath(tmp_path, "a/b/../b/c")
    with pytest.raises(UsageError):
        read_beneath(tmp_path, "a/b/../../../c")
    with pytest.raises(UsageError):
        read_beneath(tmp_path, "a/b")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


PROTO = 'syntax = "proto3";\npackage p;\n{imports}\nservice S {{ rpc M (M) returns (M); }}\n'
MESSAGE = 'syntax = "proto3";\npackage p;\nmessage M {{ string {field} = 1; }}\n'


def _protos(folder: Path, name: str) -> Path:
    (folder / "here.proto").write_text(MESSAGE.format(field="inside"))
    (folder.parent / "outside" / "m.proto").write_text(MESSAGE.format(field="leaked"))
    path = folder / "service.proto"
    comment = '// import "../outside/m.proto";\n/* import "nosuch.proto"; */'
    path.write_text(PROTO.format(imports=f'{comment}\nimport "{name}";'))
    return path


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize(
    "name", ["../outside/m.proto", "{outside}/m.proto", "link.proto", "there/m.proto"]
)
def test_an_import_of_a_proto_beyond_its_folder_is_refused(
    importer: Importer, folder: Path, name: str
) -> None:
    (folder / "link.proto").symlink_to("../outside/m.proto")
    (folder / "there").symlink_to(folder.parent / "outside")
    name = name.format(outside=folder.parent / "outside")
    done = importer("grpc", _protos(folder, name))
    done.check_refusal(f"import {name}: it leads outside {folder}", "--import")
    assert "leaked" not in done.err


@pytest.mark.usefixtures("real_engine")
def test_an_import_of_a_pipe_is_refused_at_once(importer: Importer, folder: Path) -> None:
    os.mkfifo(folder / "pipe.proto")
    importer("grpc", _protos(folder, "pipe.proto")).check_refusal(
        "import pipe.proto", "not a regular"
    )


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("name", ["here.proto", "parts/link.proto", "m.proto"])
def test_imports_of_a_proto_in_its_folders_are_read(
    importer: Importer, folder: Path, name: str
) -> None:
    (folder / "parts" / "link.proto").symlink_to("../here.proto")
    done = importer("grpc", _protos(folder, name), "--import", folder.parent / "outside")
    assert done.code == 0, done.err
    (message,) = done.messages.values()
    assert message["json"] == {"leaked" if name == "m.proto" else "inside": "text"}


def test_a_collection_names_a_file_that_is_not_read(importer: Importer, tmp_path: Path) -> None:
    body = {"mode": "file", "file": {"src": "/etc/hostname"}}
    item = {"name": "r", "request": {"method": "POST", "url": "http://127.0.0.1/", "body": body}}
    path = tmp_path / "c.json"
    schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    path.write_text(json.dumps({"info": {"name": "c", "schema": schema}, "item": [item]}))
    importer("postman", path).check_refusal("its content is a file: /etc/hostname", "--any-file")


def test_a_file_of_a_curl_command_is_named_and_not_copied(importer: Importer, folder: Path) -> None:
    command = f"curl --data-binary @{folder.parent}/outside/secret.yaml http://127.0.0.1/"
    done = importer("curl", command, "--out", "a.yaml", "--any-file")
    assert done.code == 0, done.err
    assert "secret.yaml" in done.text
    assert "LEAKED" not in done.text


@pytest.mark.parametrize(
    "place",
    [
        {"requestBody": {"$ref": "#/components/requestBodies/Gone"}},
        {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/x/Gone"}}}}},
        {"parameters": [{"$ref": "#/components/parameters/Gone"}]},
        {"parameters": [{"name": "a", "in": "query", "required": True,
                         "schema": {"$ref": "gone.json"}}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [(), ("--only", "GET /ok")])
def test_only_the_operation_with_a_dangling_reference_is_left_out(
    importer: Importer, folder: Path, place: dict[str, object], words: tuple[str, ...]
) -> None:
    paths = {
        "/bad": {"post": {"responses": {}, **place}},
        "/ok": {"get": {"responses": {}}},
        "/gone": {"$ref": "#/paths/nowhere"},
    }
    scheme = {"securitySchemes": {"key": {"$ref": "#/components/securitySchemes/Gone"}}}
    path = folder / "api.json"
    document = {"openapi": "3.0.3", "info": {}, "paths": paths, "components": scheme}
    path.write_text(json.dumps(document))
    done = importer("openapi", path, *words)
    assert done.code == 0, done.err
    assert list(done.messages) == ["get-ok"]
    assert ("POST /bad: " in done.out) == (not words)
    assert "/gone: " in done.out
    assert "there is no such" in done.out
