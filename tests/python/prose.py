"""The prose of a source file of any language: its comments, its messages, the names of its tests.

Code is not prose: strings without a space, code in backticks and all other names are left out.
A name of a test counts as the sentence that its words make.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Passage(NamedTuple):
    """A piece of prose, and the line where it begins."""

    line: int
    text: str


def blank(match: re.Match[str]) -> str:
    """Replaces code by a mark that is not a word, with the same number of lines."""
    return "§" + "\n" * match[0].count("\n")


def sentence(name: str) -> str:
    """The words of a name in snake case or camel case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")


def read_python(text: str) -> Iterator[Passage]:
    """Docstrings, other strings, comments and names of tests."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.search(r"\s", node.value):
                yield _blank_code(node.lineno, node.value)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Passage(node.lineno, sentence(node.name))
    comments = (
        Passage(token.start[0], token.string)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    )
    yield from _join_comments(comments)


C_COMMENT = r"//[^\n]*|/\*.*?\*/"
C_STRING = r'"(?:\\.|[^"\\\n])*"'
C_CHARACTER = r"'(?:\\[^']+|[^'\\])'"
TOKENS = {
    ".rs": (C_COMMENT, rf'r(?P<fence>#*)".*?"(?P=fence)|"(?:\\.|[^"\\])*"|{C_CHARACTER}'),
    ".go": (C_COMMENT, rf"`[^`]*`|{C_STRING}|{C_CHARACTER}"),
    ".java": (C_COMMENT, rf'""".*?"""|{C_STRING}|{C_CHARACTER}'),
    ".c": (C_COMMENT, rf"{C_STRING}|{C_CHARACTER}"),
    ".sh": (r"(?<![^\s;])#[^\n]*", r""""(?:\\.|[^"\\])*"|'[^']*'|\\."""),
    ".mk": (r"(?<![^\s;])#[^\n]*", r""""(?:\\.|[^"\\])*"|'[^']*'|\\."""),
}
"""Of each language: the comments, and the tokens that can hold what looks like a comment."""
TESTS = {
    ".rs": r"#\[(?:tokio::)?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)",
    ".go": r"^func Test(\w+)",
    ".java": r"@(?:Test|ParameterizedTest)\b(?:\s*@\w+(?:\([^)]*\))?)*\s*(?:public )?void (\w+)",
}


def read_tokens(suffix: str, text: str) -> Iterator[Passage]:
    """Comments, strings with a space and names of tests, by the tokens of a language."""
    comment, other = TOKENS[suffix]
    comments = []
    for token in re.finditer(f"(?P<comment>{comment})|{other}", text, re.DOTALL):
        line = 1 + text.count("\n", 0, token.start())
        if token["comment"]:
            comments.append(Passage(line, token[0]))
        elif re.search(r"\s", token[0]):
            yield _blank_code(line, re.sub(r"\\n|\\t", "  ", token[0].strip("`")))
    yield from _join_comments(comments)
    if suffix in TESTS:
        for test in re.finditer(TESTS[suffix], text, re.MULTILINE):
            yield Passage(1 + text.count("\n", 0, test.start(1)), sentence(test[1]))


def _join_comments(comments: Iterator[Passage] | list[Passage]) -> Iterator[Passage]:
    """Comments on consecutive lines as one, so that phrases are found across lines."""
    first, lines = 0, list[str]()
    for line, comment in comments:
        if line != first + len(lines):
            yield _blank_code(first, "\n".join(lines))
            first, lines = line, []
        lines += [re.sub(r"^\s*(?://[/!]?|/?\*+/?|#+)?\s?", "", row) for row in comment.split("\n")]
    yield _blank_code(first, "\n".join(lines))


def _blank_code(line: int, text: str) -> Passage:
    return Passage(line, re.sub(r"(`+)[^`]+\1", blank, text))


@cache
def source_files() -> tuple[str, ...]:
    """Every source file that is part of the project, by its path from the root."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return tuple(name for name in listed.splitlines() if language(name))


INTERPRETERS = {"python3": ".py", "sh": ".sh", "bash": ".sh"}


@cache
def language(name: str) -> str:
    """The suffix of the language of a file; empty for files that are not source code."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".py" or suffix in TOKENS:
        return suffix
    if PurePosixPath(name).name == "Makefile":
        return ".mk"
    if suffix or not (ROOT / name).is_file():
        return ""
    with (ROOT / name).open("rb") as file:
        first = file.readline(80)
    interpreter = re.match(rb"#!\S*/(?:env )?(\w+)", first)
    return INTERPRETERS.get(interpreter[1].decode(), "") if interpreter else ""


def read_passages(suffix: str, text: str) -> Iterator[Passage]:
    """All prose of source code in the language of a suffix."""
    return read_python(text) if suffix == ".py" else read_tokens(suffix, text)
