"""Imports between the files and the folders of Rust crates go one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.rust_cycles import check_crate, main


def make_crate(folder: Path, files: dict[str, str], layers: str = "") -> Path:
    """A crate of these files in src; ``lib.rs`` declares the folders that are not given."""
    metadata = f"[package.metadata.wirelab]\nlayers = [{layers}]\n" if layers else ""
    (folder / "Cargo.toml").write_text(f'[package]\nname = "made"\n{metadata}')
    names = sorted({Path(file).parts[0].removesuffix(".rs") for file in files} - {"lib"})
    declared = "".join(f"mod {name};\n" for name in names)
    for file, text in {**files, "lib.rs": declared + files.get("lib.rs", "")}.items():
        path = folder / "src" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def are_circular(folder: Path, text: str) -> bool:
    """Whether ``text`` in folder ``low`` imports folder ``high``, which imports ``low``."""
    crate = make_crate(
        folder,
        {
            "low/mod.rs": "mod inner;\npub struct Low;\n",
            "low/inner.rs": text,
            "high.rs": "use crate::low::Low;\npub struct High;\n",
        },
    )
    return any("high and low import each other" in message for message in check_crate(crate))


@pytest.mark.parametrize(
    "text",
    [
        "use crate::high::High;",
        "pub(crate) use crate::high::High;",
        "pub use crate::high::High as Other;",
        "use crate::{low::Low, high::{self as above, High}};",
        "use crate::high::*;",
        "use super::super::high::High;",
        "fn build() { let made = crate::high::High; }",
        "fn take(_: &crate::high::High) {}",
        "fn convert() { crate::high::convert::<u8>() }",
        "macro_rules! make { () => { $crate::high::High } }",
        'fn print() { println!("{}", crate::high::NAME) }',
        "#[derive(crate::high::Make)] struct One;",
        "mod own { pub use super::super::super::high::High; }",
        "fn f() -> char { '\"' }\nuse crate::high::High; // \"",
        "fn f<'a>(_: &'a str) {}\nuse crate::high::High;",
        "#[cfg(test)]\nmod tests { fn f() { { } } }\nuse crate::high::High;",
        "#[cfg(test)]\nuse std::fmt::{self, Debug};\nuse crate::high::High;",
        "#[cfg(test)]\nfn f<A, B>() -> [u8; 2] { [1, 2] }\nuse crate::high::High;",
        "#[cfg(not(test))]\nuse crate::high::High;",
        "/* a /* b */ c */ use crate::high::High;",
    ],
)
def test_every_path_to_another_folder_is_an_import(tmp_path: Path, text: str) -> None:
    assert are_circular(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "// use crate::high::High;",
        "//! As crate::high::High.",
        "/* a /* b */ use crate::high::High; */",
        'const TEXT: &str = "use crate::high::High;";',
        'const TEXT: &str = "a \\" use crate::high::High;";',
        'const TEXT: &str = r#"a " use crate::high::High;"#;',
        'const TEXT: &[u8] = br"use crate::high::High;";',
        "#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}",
        "#[cfg(test)]\n#[allow(unused)]\nmod tests { fn f() { crate::high::f() } }",
        "#[cfg(all(test, unix))]\nuse crate::high::{High, Other};",
        "struct One { #[cfg(test)] seen: crate::high::High, kept: u8 }",
        "use high::High;",
        "use crate::low::high::High;",
        "fn take<T>(one: T) -> impl Sized + use<T> { one }",
    ],
)
def test_comments_strings_tests_and_other_crates_are_not_imports(tmp_path: Path, text: str) -> None:
    assert not are_circular(tmp_path, text)


def test_a_file_that_only_tests_declare_is_not_an_import_whatever_its_name(tmp_path: Path) -> None:
    files = {
        "low/mod.rs": '#[cfg(test)]\nmod harness;\n#[cfg(test)]\n#[path = "other.rs"]\nmod more;\n',
        "low/harness.rs": "use crate::high::High;",
        "low/other.rs": "use crate::high::High;",
        "high.rs": "use crate::low::Low;",
    }
    assert check_crate(make_crate(tmp_path, files)) == []
    (tmp_path / "src/low/mod.rs").write_text("mod harness;\n")
    assert len(check_crate(tmp_path)) == 1


def test_both_imports_of_a_pair_are_shown_with_their_places(tmp_path: Path) -> None:
    files = {"low.rs": "\nuse crate::high::High;", "high.rs": "use crate::low::{Low, Lower};"}
    [of_files, of_folders] = check_crate(make_crate(tmp_path, files))
    assert of_files.endswith("these files import each other: high, low")
    title, upwards, downwards = of_folders.splitlines()
    assert title == f"{tmp_path}: high and low import each other"
    places = [f"{tmp_path}/src/high.rs:1 names crate::low::{name}" for name in ("Low", "Lower")]
    assert upwards == f"  high -> low: {'; '.join(places)}"
    assert downwards == f"  low -> high: {tmp_path}/src/low.rs:2 names crate::high::High"


def test_a_longer_circle_of_folders_is_found_where_no_file_is_in_a_circle(tmp_path: Path) -> None:
    files = {f"{name}/mod.rs": "mod one;\nmod other;" for name in "abc"}
    for name, following in ("ab", "bc", "ca"):
        files[f"{name}/one.rs"] = f"use crate::{following}::other::Thing;"
        files[f"{name}/other.rs"] = "pub struct Thing;"
    [message] = check_crate(make_crate(tmp_path, files))
    assert "a longer circle of folders: a, b, c" in message
    assert "c -> a:" in message


def test_folders_within_a_folder_are_compared_too(tmp_path: Path) -> None:
    files = {
        "top/mod.rs": "mod left;\nmod right;",
        "top/left/mod.rs": "mod one;\nmod other;",
        "top/left/one.rs": "use crate::top::right::Right;",
        "top/left/other.rs": "",
        "top/right.rs": "use super::left::other::Other;",
    }
    [message] = check_crate(make_crate(tmp_path, files))
    assert "top::left and top::right import each other" in message


def test_names_that_the_root_shows_are_those_of_their_folder(tmp_path: Path) -> None:
    files = {
        "lib.rs": "use high as above;\npub use above::High;\nuse std::fmt;\nuse log::log;\n",
        "low.rs": "use crate::High;\nuse crate::{fmt, log};",
        "high.rs": "use std::io;",
    }
    assert check_crate(make_crate(tmp_path, files)) == []
    (tmp_path / "src/high.rs").write_text("use crate::low::Low;")
    assert any("high and low import each other" in text for text in check_crate(tmp_path))


def test_no_folder_may_use_what_the_root_defines(tmp_path: Path) -> None:
    files = {"lib.rs": "pub struct Top;\n", "low.rs": "use crate::Top;"}
    assert "low and (root) import each other" in check_crate(make_crate(tmp_path, files))[-1]


def test_layers_name_every_folder_and_imports_go_to_those_before(tmp_path: Path) -> None:
    files = {"low.rs": "", "high.rs": "use crate::low::Low;", "other.rs": ""}
    assert check_crate(make_crate(tmp_path, files, '"low", "high", "other"')) == []
    make_crate(tmp_path, files, '"high", "low", "gone"')
    unknown, missing, upwards = check_crate(tmp_path)
    assert unknown.endswith("gone is not a folder of the crate")
    assert missing.endswith("other is missing")
    assert f"high -> low: {tmp_path}/src/high.rs:1 names crate::low::Low" in upwards


def test_the_crates_of_this_project_have_no_circles_and_load_keeps_its_layers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main() == 0, capsys.readouterr().out
    manifest = Path("crates/load/Cargo.toml").read_text()
    assert "[package.metadata.wirelab]\nlayers = [" in manifest
