"""A program in Rust that is built by itself compiles no library again."""

from __future__ import annotations

import shutil

import pytest

from tools import rust_features


def test_other_features_are_found() -> None:
    together = {"a": {"std"}, "b": {"", "std"}}
    alone = {"one": {"a": {"std"}, "b": {"std"}}, "two": {"a": {"alloc"}}}
    assert rust_features.different(together, alone) == ["two: a with alloc"]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not in PATH")
def test_all_programs_have_the_same_features_of_libraries(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert rust_features.main() == 0, capsys.readouterr().out
