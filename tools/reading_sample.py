"""Functions and messages for a reader who has not seen the code.

``python -m tools.reading_sample FOLDER`` draws 60 functions and 40 messages of the product, seeded
with the id of the commit, and writes two lists: what the reader gets, with the file that qualifies
a name, and the key with the line of each. The reader states what each function does from its name
and first line, and what happened and what to do from each message. Someone else compares that with
the code: 54 and 38 are to be right.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.python import prose
from tests.python.repository.test_function_names import READERS

FUNCTIONS = 60
MESSAGES = 40
MESSAGE = re.compile(
    r"(?:Error|bail!|refuse|Refusal|fail|Failure|errorf?|Exception|usage)\w*!?\(\s*"
    r"(?P<text>(?:r?f?\"(?:\\.|[^\"\\])*\"\s*)+)",
    re.IGNORECASE,
)
"""A call that makes an error, and its text, in any of the languages."""
WORDS_MIN = 5
"""Of a message: shorter ones are parts of others."""


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class Question(NamedTuple):
    """What the reader gets, and where it is."""

    place: Place
    shown: str


def main() -> None:
    """Writes ``questions.md`` and ``key.md``."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=prose.ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    texts = {name: (prose.ROOT / name).read_text(encoding="utf-8") for name in list_product_files()}
    functions = [one for name, text in texts.items() for one in read_functions(name, text)]
    messages = [one for name, text in texts.items() for one in read_messages(name, text)]
    chosen = draw(commit, functions, messages)
    for name, line in (
        ("questions.md", lambda question: question.shown),
        ("key.md", lambda question: f"{question.place.file}:{question.place.line}"),
    ):
        lines = [f"{number}. {line(one)}" for number, one in enumerate(chosen, 1)]
        (folder / name).write_text(f"# {commit}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def draw(
    commit: str, functions: Sequence[Question], messages: Sequence[Question]
) -> list[Question]:
    """The functions, then the messages, the same ones for the same commit."""
    generator = random.Random(commit)
    return generator.sample(functions, FUNCTIONS) + generator.sample(messages, MESSAGES)


def list_product_files() -> list[str]:
    """Files of code that are neither tests nor generated."""
    left_out = re.compile(
        r"(?:^|/)(?:tests?|generated|examples|fuzz|documents|foreign)/|^bench/|_test\.go$|"
        r"pb/\w+\.pb\.go$|^tools/|/data/|[/_]tests?\.rs$"
    )
    return [
        name
        for name in prose.source_files()
        if prose.language(name) in READERS and not left_out.search(name)
    ]


def read_functions(name: str, text: str) -> Iterator[Question]:
    """Each function with its line and the first line of its description."""
    suffix = prose.language(name)
    text = text.partition("#[cfg(test)]")[0] if suffix == ".rs" else text
    lines = text.splitlines()
    documented = _read_docstrings(text) if suffix == ".py" else {}
    for function in READERS[suffix](text):
        first = lines[function.line - 1].strip()
        about = documented.get(function.line) or _find_description(lines, function.line - 1)
        yield Question(Place(name, function.line), f"{name}: `{first}` {about}".rstrip())


def _read_docstrings(text: str) -> dict[int, str]:
    """The first line of each function's docstring, by the function's line."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            found[node.lineno] = f"— {first}" if first else ""
    return found


def _find_description(lines: list[str], at: int) -> str:
    """The first line of the comment above, without annotations; empty where there is none."""
    above = []
    for line in reversed(lines[:at]):
        stripped = line.strip()
        if not stripped.startswith(("//", "/**", "*", "#[", "@")):
            break
        if not stripped.startswith(("#[", "@", "*/")):
            above.append(stripped.strip("/* "))
    described = [line for line in reversed(above) if line]
    return f"— {described[0]}" if described else ""


def read_messages(name: str, text: str) -> Iterator[Question]:
    """Each text of an error with at least :data:`WORDS_MIN` words."""
    for match in MESSAGE.finditer(text):
        parts = re.findall(r'"((?:\\.|[^"\\])*)"', match["text"])
        message = re.sub(r"\\\n\s*", "", "".join(parts))
        if len(message.split()) >= WORDS_MIN:
            yield Question(Place(name, 1 + text.count("\n", 0, match.start())), f"“{message}”")


if __name__ == "__main__":
    main()
