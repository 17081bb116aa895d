"""ARCHITECTURE.md and the READMEs of crates agree with what tools check: layers, members, code."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.python.prose import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml"))
NO_PACKAGES = {"data", "experiments", "schemas"}
"""Folders of python/wirelab that hold no code."""
LINES_MIN, LINES_MAX = 10, 40


def read_table(heading: str, page: str = PAGE) -> list[list[str]]:
    """The names in code of the first column, row by row, of the table with this first heading."""
    rows = page.split(f"| {heading} | ", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in rows]


def read_layers() -> list[list[str]]:
    """The packages of import-linter's layers, from the lowest, as it checks them."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = tables["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [layer.replace("wirelab.", "").split(" | ") for layer in reversed(layers)]


def order_error(rows: list[list[str]], layers: list[list[str]]) -> str:
    """Where a table of packages differs from the layers; empty if they agree."""
    level = {name: at for at, layer in enumerate(layers) for name in layer}
    named = [name for row in rows for name in row]
    if sorted(named) != sorted(level):
        return f"named once: {sorted(set(named) ^ set(level))}"
    for before, after in pairwise(named):
        if level[before] > level[after]:
            return f"{before} is above {after}"
    return ""


def test_the_table_of_packages_has_the_layers_in_their_order() -> None:
    assert order_error(read_table("package"), read_layers()) == ""


def test_every_package_is_in_a_layer() -> None:
    entries = (ROOT / "python/wirelab").iterdir()
    found = {
        path.stem
        for path in entries
        if path.suffix == ".py" or (path.is_dir() and (path / "__init__.py").is_file())
    }
    layers = {name for layer in read_layers() for name in layer}
    assert found - NO_PACKAGES - {"__init__"} == layers


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([["a"], ["b", "c"]], ""),
        ([["a"], ["c", "b"]], ""),
        ([["b", "c"], ["a"]], "c is above a"),
        ([["a"], ["b"]], "named once: ['c']"),
        ([["a"], ["b", "c"], ["d"]], "named once: ['d']"),
    ],
)
def test_a_table_that_differs_from_the_layers_is_found(rows: list[list[str]], error: str) -> None:
    assert order_error(rows, [["a"], ["c", "b"]]) == error


@cache
def members() -> dict[str, str]:
    """Cargo's members: path -> name."""
    listed = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["members"]
    manifests = {path: (ROOT / path / "Cargo.toml").read_text("utf-8") for path in listed}
    return {path: tomllib.loads(text)["package"]["name"] for path, text in manifests.items()}


def test_the_table_of_folders_has_every_member_of_the_workspace() -> None:
    table = PAGE.split("| folder | content |", 1)[1].split("\n\n", 1)[0]
    named = {
        path for path in re.findall(r"`([^`]+)`", table) if (ROOT / path / "Cargo.toml").exists()
    }
    assert named == set(members())


def test_the_folders_of_load_are_those_of_its_manifest() -> None:
    manifest = tomllib.loads((ROOT / "crates/load/Cargo.toml").read_text("utf-8"))
    layers = manifest["package"]["metadata"]["wirelab"]["layers"]
    assert read_table("folder of `crates/load`") == [[layer] for layer in layers]


def test_crates_depend_on_each_other_in_the_order_of_the_page() -> None:
    chain = re.search(r"Rust: (engine → .+? stack);", PAGE)
    assert chain is not None
    groups = [part.split(", ") for part in chain[1].split(" → ")]
    level = {f"wirelab-{name}": at for at, group in enumerate(groups) for name in group}
    for path, name in members().items():
        manifest = tomllib.loads((ROOT / path / "Cargo.toml").read_text("utf-8"))
        for other in set(manifest["dependencies"]) & set(level):
            assert level.get(name, -1) < level[other], f"{name} depends on {other}"
            if path.startswith("services/"):
                assert level[other] >= level["wirelab-wire-own"], f"{name} depends on {other}"


@cache
def sources(crate: Path) -> str:
    """All hand-written Rust of a crate."""
    files = sorted(path for path in crate.rglob("*.rs") if "generated" not in path.parts)
    return "\n".join(path.read_text("utf-8") for path in files)


def is_defined(name: str, crate: Path) -> bool:
    """Whether the crate or one that it re-exports from defines this public name."""
    manifest = tomllib.loads((crate / "Cargo.toml").read_text("utf-8"))
    own = [other for other in CRATES if f"wirelab-{other.name}" in manifest["dependencies"]]
    pattern = re.compile(rf"\b(?:struct|enum|trait|mod|type|fn) {name}\b|\bpub use [^;]*\b{name}\b")
    return any(pattern.search(sources(path)) for path in (crate, *own))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_a_readme_has_purpose_types_example_and_limits(crate: Path) -> None:
    text = (crate / "README.md").read_text(encoding="utf-8")
    assert LINES_MIN <= text.count("\n") <= LINES_MAX
    assert text.startswith(f"# {members()[f'crates/{crate.name}']}\n\n")
    purpose, example = text.split("\n## Example\n")
    example, limits = example.split("\n## What it never does\n")
    assert len(purpose.split("\n\n")[1]) > 40
    assert " never " in limits
    assert example.count("```") >= 2


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_types_of_a_readme_exist(crate: Path) -> None:
    text = (crate / "README.md").read_text(encoding="utf-8")
    names = [
        part for name in re.findall(r"`([A-Za-z_:]+)`", text) for part in name.split("::")[-1:]
    ]
    types = {name for name in names if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name)} - {"Cargo"}
    missing = [name for name in sorted(types) if not is_defined(name, crate)]
    assert not missing, missing
    assert types or crate.name == "features"


def squeeze(text: str) -> list[str]:
    """Lines without their indentation."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_an_example_is_an_excerpt_of_code_that_is_compiled(crate: Path) -> None:
    text = (crate / "README.md").read_text(encoding="utf-8")
    example = text.split("\n## Example\n")[1]
    if "```console" in example:
        return
    named = re.search(r"From `([^`]+)`", example)
    block = re.search(r"```\w+\n(.*?)```", example, re.S)
    assert named is not None
    assert block is not None
    source = "\n".join(squeeze((crate / named[1]).read_text("utf-8")))
    assert "\n".join(squeeze(block[1])) in source
