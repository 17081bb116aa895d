"""Fragments in changelog.d become CHANGELOG.md, and those of the checkout are valid."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tools import changelog
from tools.changelog import ChangelogError

ROOT = Path(__file__).resolve().parents[3]
DATE = datetime.date(2026, 12, 1)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A root with three fragments; each test adds what it needs."""
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "README.md").write_text("# Unreleased changes\n")
    (folder / "10.added.md").write_text("A command `wirelab ten`.\n")
    (folder / "9.added.md").write_text(
        "Faster commands:\n\n- `run` starts at once.\n- `drive` too.\n\n"
        "[Figures](../docs/startup.md) are new.\n"
    )
    (folder / "2.fixed.md").write_text("- No leak.\n- No crash.\n")
    return tmp_path


def add(checkout: Path, name: str, content: str) -> None:
    (checkout / "changelog.d" / name).write_text(content, encoding="utf-8")


def names(checkout: Path) -> set[str]:
    return {path.name for path in (checkout / "changelog.d").iterdir()}


def test_the_fragments_of_the_checkout_are_valid() -> None:
    """Right after a release there are none."""
    assert changelog.fragments(ROOT / "changelog.d") or (ROOT / changelog.PAGE).is_file()


def test_a_release_groups_by_kind_orders_by_number_and_removes_the_fragments(
    checkout: Path,
) -> None:
    assert changelog.main(["0.2.0", "--date", "2026-12-01"], checkout) == 0
    page = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert page == changelog.HEAD + (
        "\n## 0.2.0 - 2026-12-01\n"
        "\n### Added\n\n"
        "- Faster commands:\n"
        "  - `run` starts at once.\n"
        "  - `drive` too.\n"
        "- [Figures](docs/startup.md) are new.\n"
        "- A command `wirelab ten`.\n"
        "\n### Fixed\n\n"
        "- No leak.\n"
        "- No crash.\n"
    )
    assert names(checkout) == {"README.md"}


def test_a_second_release_keeps_the_history_below(checkout: Path) -> None:
    changelog.release(checkout, "0.2.0", DATE)
    first = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    add(checkout, "11.removed.md", "The option `--old`.\n")
    changelog.release(checkout, "0.3.0", DATE)
    page = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert page.startswith(f"{changelog.HEAD}\n## 0.3.0 - 2026-12-01\n\n### Removed\n")
    assert page.endswith("- The option `--old`.\n\n" + first[first.index("## 0.2.0") :])


def test_a_page_without_versions_keeps_its_text(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changes\n\nText.\n")
    changelog.release(checkout, "0.2.0", DATE)
    page = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert page.startswith("# Changes\n\nText.\n\n## 0.2.0 - 2026-12-01\n\n### Added\n")


def test_the_notes_of_a_version_are_its_section(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changelog.release(checkout, "0.2.0", DATE)
    add(checkout, "11.removed.md", "The option `--old`.\n")
    changelog.release(checkout, "0.3.0", DATE)
    assert changelog.main(["--notes", "0.3.0"], checkout) == 0
    assert capsys.readouterr().out.strip() == "### Removed\n\n- The option `--old`."
    assert changelog.main(["--notes", "0.4.0"], checkout) == 1
    assert "no version 0.4.0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "message"),
    [("0.2", "not a version"), ("v0.2.0", "not a version"), ("0.1.0", "already has version")],
)
def test_a_wrong_version_changes_nothing(version: str, message: str, checkout: Path) -> None:
    page = checkout / "CHANGELOG.md"
    page.write_text("# Changelog\n\n## [0.1.0] - 2026-01-01\n\n### Added\n\n- All.\n")
    before = page.read_text(), names(checkout)
    with pytest.raises(ChangelogError, match=message):
        changelog.release(checkout, version, DATE)
    assert (page.read_text(), names(checkout)) == before


def test_without_fragments_there_is_no_release(checkout: Path) -> None:
    changelog.release(checkout, "0.2.0", DATE)
    with pytest.raises(ChangelogError, match="nothing to release"):
        changelog.release(checkout, "0.3.0", DATE)


@pytest.mark.parametrize(
    "name", ["added.md", "12.new.md", "12.added.txt", "012.added.md", "12.added.md~", "12.Added.md"]
)
def test_a_wrong_name_is_reported(
    name: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(checkout, name, "A change.\n")
    assert changelog.main(["--check"], checkout) == 1
    assert f"changelog.d/{name} is not NUMBER.KIND.md" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("# Heading\n", "12.added.md:1: write sentences"),
        ("A change.\n\n```\ncode\n```\n", "12.added.md:3: write sentences"),
        ("A change.\n  - nested\n", "12.added.md:2: write sentences"),
        ("* a star\n", "write sentences"),
        ("1. a number\n", "write sentences"),
        ("| a | table |\n", "write sentences"),
        ("<!-- hidden -->\n", "write sentences"),
        ("- \n", "write sentences"),
        ("Several changes:\n", "no items follow"),
        ("Several changes:\nA sentence.\n- An item.\n", "no items follow"),
    ],
)
def test_a_fragment_that_is_not_plain_markdown_is_reported(
    content: str, message: str, checkout: Path
) -> None:
    add(checkout, "12.added.md", content)
    with pytest.raises(ChangelogError, match=message):
        changelog.fragments(checkout / "changelog.d")


def test_every_wrong_fragment_is_named_at_once(checkout: Path) -> None:
    add(checkout, "12.added.md", "")
    (checkout / "changelog.d" / "13.added.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ChangelogError, match=r"(?s)12\.added\.md is empty.*13\.added\.md is not"):
        changelog.fragments(checkout / "changelog.d")
