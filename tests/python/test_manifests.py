"""What services say they can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wirelab import manifests
from wirelab.errors import LabError, StackError
from wirelab.stacks import Stack


def test_the_committed_manifests_serve_what_the_lab_knows() -> None:
    catalogue = manifests.load()
    assert {"go", "rust"} <= set(catalogue.by_language)
    for reference in ("rest@go?codec=text", "grpc@go", "rest@rust", "grpc@rust?compression=gzip"):
        assert catalogue.manifest(Stack.parse(reference)).language in reference


def test_an_unknown_language_is_refused_with_a_guess() -> None:
    with pytest.raises(StackError, match="Did you mean 'rust'"):
        manifests.load().manifest(Stack.parse("rest@rsut"))


def test_a_switch_that_the_service_lacks_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, {})
    with pytest.raises(StackError, match=r"no switch for server\.nagle(.|\n)*is rest@tiny"):
        manifests.load(tmp_path).manifest(Stack.parse("rest@tiny?server.nagle=on"))
    with pytest.raises(StackError, match=r"serves codec json, not text"):
        manifests.load(tmp_path).manifest(Stack.parse("rest@tiny?codec=text"))
    with pytest.raises(StackError, match="tiny serves rest, not grpc"):
        manifests.load(tmp_path).manifest(Stack.parse("grpc@tiny"))


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    _write(tmp_path, {"sirves": []})
    with pytest.raises(LabError, match=r"service\.json(.|\n)*sirves"):
        manifests.load(tmp_path)


def _write(folder: Path, extra: dict[str, object]) -> None:
    serves = [{"binding": "rest", "codecs": ["json"], "transports": ["http/1.1"]}]
    content = {"language": "tiny", "start": ["{out}"], "serves": serves, **extra}
    (folder / "tiny").mkdir()
    (folder / "tiny" / "service.json").write_text(json.dumps(content))
