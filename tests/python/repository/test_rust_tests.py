"""The integration tests of a crate are one program: an undeclared file would not run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MAINS = sorted(
    path
    for pattern in ("crates/*/tests/main.rs", "services/**/tests/main.rs", "tools/*/tests/main.rs")
    for path in ROOT.glob(pattern)
)
_SHARED = {
    path
    for file in ROOT.glob("crates/*/[st]*/**/*.rs")
    for path in re.findall(r'#\[path = "([^"]+)"\]', file.read_text(encoding="utf-8"))
}
"""Files that modules of several programs are made of."""


def test_crates_have_integration_tests() -> None:
    assert len(MAINS) >= 12


@pytest.mark.parametrize("main", MAINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_of_tests_is_declared(main: Path) -> None:
    text = main.read_text(encoding="utf-8")
    declared = set(re.findall(r"^(?:pub )?mod (\w+);", text, re.MULTILINE))
    declared |= {Path(path).parent.name for path in _SHARED}
    files = {path.stem for path in main.parent.glob("*.rs")} - {"main"}
    folders = {path.parent.name for path in main.parent.glob("*/mod.rs")}
    assert files | folders <= declared
