"""What a search under libFuzzer keeps: fuzz/search.py. The search itself needs a nightly
compiler; the kept inputs are run by the tests of crates/wire and crates/trace."""

from __future__ import annotations

import base64
from pathlib import Path

from fuzz import search


def test_every_target_has_kept_inputs() -> None:
    targets = search.targets()
    assert {"http2", "soap", "conversations"} <= set(targets)
    for name, kept in targets.items():
        lines = kept.read_text(encoding="ascii").splitlines()
        sizes = [len(base64.b64decode(line, validate=True)) for line in lines]
        assert sizes, name
        assert max(sizes) <= search.KEPT_BYTES_MAX, name
        assert lines == list(dict.fromkeys(lines)), name


def test_packed_inputs_are_unpacked_unchanged_without_seeds_and_long_ones(tmp_path: Path) -> None:
    seeds, found, out = tmp_path / "target", tmp_path / "found", tmp_path / "out"
    kept = tmp_path / "target.base64"
    for folder in (seeds, found):
        folder.mkdir()
    (seeds / "one").write_bytes(b"\x00seed")
    inputs = [b"", b"\xff\n\x00", b"\x00seed", b"x" * (search.KEPT_BYTES_MAX + 1)]
    for number, content in enumerate(inputs):
        (found / str(number)).write_bytes(content)
    assert search.pack(found, seeds, kept) == 2
    search.unpack(kept, out)
    assert {file.read_bytes() for file in out.iterdir()} == {b"", b"\xff\n\x00"}
    assert search.pack(out, seeds, kept) == 2


def test_without_a_file_nothing_is_unpacked(tmp_path: Path) -> None:
    search.unpack(tmp_path / "none.base64", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
