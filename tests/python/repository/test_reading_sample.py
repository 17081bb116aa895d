"""The functions and messages that a reader gets: of the product, and the same for one commit."""

from __future__ import annotations

import re

from tools.reading_sample import (
    Place,
    Question,
    draw,
    list_product_files,
    read_functions,
    read_messages,
)


def test_a_commit_has_one_sample() -> None:
    functions, messages = (
        [Question(Place(name, line), "") for line in range(200)] for name in ("f", "m")
    )
    first, other = (draw(commit, functions, messages) for commit in ("a", "b"))
    assert first == draw("a", functions, messages) != other
    assert [one.place.file for one in first] == ["f"] * 60 + ["m"] * 40
    assert len(set(first)) == len(first)


def test_files_are_of_the_product() -> None:
    names = list_product_files()
    assert {"python/wirelab/run/adaptive/testing.py", "services/go/cmd/serve/main.go"} <= {*names}
    left_out = re.compile(r"(?:^|/)tests?/|_tests?\.(?:rs|go)$|/tests\.rs$|Test\.java$|^tools/")
    assert not [name for name in names if left_out.search(name)]


def test_a_function_is_shown_with_its_file_and_the_first_line_of_its_description() -> None:
    python = 'def a() -> None:\n    """Does it.\n\n    At once."""\n\n\ndef b() -> None: ...\n'
    shown = [one.shown for one in read_functions("x.py", python)]
    assert shown == ["x.py: `def a() -> None:` — Does it.", "x.py: `def b() -> None: ...`"]
    rust = "/// Does it.\n///\n/// At once.\n#[must_use]\npub fn a() -> u8 {}\nfn b() {}\n"
    shown = [one.shown for one in read_functions("x.rs", rust)]
    assert shown == ["x.rs: `pub fn a() -> u8 {}` — Does it.", "x.rs: `fn b() {}`"]


def test_messages_are_texts_of_errors() -> None:
    text = """raise UsageError(f"there is no part {name!r} here", "short")
print("this one is not an error")
raise LabError(
    "it was begun on one line "
    "and ended on another"
)"""
    found = [(one.place.line, one.shown) for one in read_messages("x.py", text)]
    assert found == [
        (1, "“there is no part {name!r} here”"),
        (3, "“it was begun on one line and ended on another”"),
    ]
