"""Prose is plain technical English: words that read oddly are found, with what to write instead.

Code is not prose. Of Markdown, code blocks, code spans and targets of links are left out; of YAML,
the keys; of Python, names, strings without a space and code in backticks.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from wirelab.cli import app

ROOT = Path(__file__).resolve().parents[2]

WORDS = {
    r"(?:tell|tells|told|telling)(?: \w+){0,3} apart": "distinguishes, separates",
    r"told|tells": "is reported, is shown; states, reports",
    r"says? so|said so": "states it, reports it",
    r"beside": "next to, in addition to, compared with",
    r"(?:held|holds?|laid) against": "compared with",
    r"mends?|mended|mending": "fixes, fixed",
    r"strangers?": "a third party; of tests: interoperability test",
    r"bad days?": "a failure",
    r"dice": "random numbers",
    r"hangs? on|hung on": "depends on; of a process: blocks in",
    r"awake": "spinning, busy-polling",
    # Not before a noun, as in "the share of late packets".
    r"of late(?=[.,;:)]|\Z)": "recently",
    r"reckon(?:s|ed|ing)?": "calculates, calculated",
    r"(?:has|have|had) not got|(?:hasn't|haven't) got": "does not have",
    r"vouch(?:es|ed)?": "guarantees, has verified",
    r"without a word": "silently, without output",
    r"done sooner": "whichever finishes first",
    r"last words|farewells?": "final message",
    r"onlookers?": "observer; of code: passive",
    r"errands?|outings?": "request, run",
}
"""Pattern -> what to write. Words with a common technical sense (dear, thick) are not here."""


def _compiled(word: str) -> re.Pattern[str]:
    """As whole words, of which each space may be a line break."""
    spaced = word.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])", re.IGNORECASE)


PATTERNS = tuple((_compiled(word), plain) for word, plain in WORDS.items())
CLEFT = re.compile(r"\W*What (?!is\b|are\b|was\b|were\b)[^.?]+? (?:is|are|was|were) [^?]+[.:]\W*")
"""A sentence like "What decides is the window."; questions and headings are no match."""


class Found(NamedTuple):
    """A word, and the line of the source on which it stands."""

    line: int
    text: str
    plain: str


def _blank(match: re.Match[str]) -> str:
    """In place of code: a mark that is no word, and the same number of lines."""
    return "§" + "\n" * match[0].count("\n")


def words(text: str, first_line: int = 1) -> Iterator[Found]:
    """Every word of the list, once for each place."""
    taken: set[int] = set()
    for pattern, plain in PATTERNS:
        for match in pattern.finditer(text):
            if taken.isdisjoint(range(*match.span())):
                taken.update(range(*match.span()))
                line = first_line + text.count("\n", 0, match.start())
                yield Found(line, " ".join(match[0].split()), plain)


def markdown(text: str) -> Iterator[Found]:
    """Of a page: its words, and its cleft sentences."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2$", _blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|(`+)(?!`).+?(?<!`)\1(?!`)", _blank, text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)\s]+\)", "]", text)
    yield from words(text)
    for number, line in enumerate(text.splitlines(), start=1):
        for sentence in re.split(r"(?<=[.!?:]) +|\|", line):
            if CLEFT.fullmatch(sentence):
                yield Found(number, sentence.strip(), "a subject, a verb and an object")


def yaml(text: str) -> Iterator[Found]:
    """Of a document: comments and values."""
    text = re.sub(r"`[^`\n]+`", _blank, text)
    yield from words(re.sub(r"^([ -]*)[\w.-]+:(?=\s)", r"\1", text, flags=re.MULTILINE))


def python(text: str) -> Iterator[Found]:
    """Of a module: docstrings, other strings and comments."""
    prose = [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\s", node.value)
    ]
    for line, string in (*prose, *_comments(text)):
        yield from words(re.sub(r"(`+)[^`]+\1", _blank, string), line)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Consecutive comments as one, so that phrases are found across lines."""
    first, lines = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != first + len(lines):
                yield first, "\n".join(lines)
                first, lines = token.start[0], []
            lines.append(token.string.lstrip("# "))
    yield first, "\n".join(lines)


def _commands(context: click.Context) -> Iterator[click.Context]:
    """Contexts of the command and of all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _commands(click.Context(command, context, name))


def _help(context: click.Context) -> list[Found]:
    return list(words(re.sub(r"`[^`]+`", _blank, context.get_help())))


def _file(path: Path, read: Callable[[str], Iterator[Found]]) -> list[Found]:
    return list(read(path.read_text(encoding="utf-8")))


def _files(pattern: str, read: Callable[[str], Iterator[Found]]) -> Iterator[tuple[str, Source]]:
    for path in sorted(ROOT.glob(pattern)):
        name = path.relative_to(ROOT).as_posix()
        if "/target/" not in name:
            yield name, partial(_file, path, read)


Source = Callable[[], list[Found]]
PAGES = (
    *("*.md", "llms.txt", ".github/**/*.md", "action/*.md", "bench/*.md", "changelog.d/*.md"),
    *("contracts/**/*.md", "crates/*/README.md", "docs/**/*.md", "experiments/**/*.md"),
    *("python/**/*.md", "services/**/README.md", "studies/**/*.md", "tests/**/README.md"),
)
DOCUMENTS = ("action/*.yml", "experiments/**/*.yaml", ".github/**/*.yml")
SOURCES: dict[str, Source] = dict(
    [
        *(entry for pattern in PAGES for entry in _files(pattern, markdown)),
        *(entry for pattern in DOCUMENTS for entry in _files(pattern, yaml)),
        *_files("python/wirelab/**/*.py", python),
        *(
            (f"{context.command_path} --help", partial(_help, context))
            for context in _commands(click.Context(app, info_name="wirelab"))
        ),
    ]
)
"""Every text that is checked, by the name of its file or command."""


@pytest.mark.parametrize("name", SOURCES)
def test_the_words_are_plain(name: str) -> None:
    found = sorted(SOURCES[name]())
    lines = [f"{name}:{one.line}: {one.text!r}: write {one.plain}" for one in found]
    assert not found, "\n".join(lines)


def test_every_kind_of_source_is_checked() -> None:
    """A pattern that matches nothing would check nothing."""
    for pattern in (*PAGES, *DOCUMENTS):
        assert any(_files(pattern, markdown)), pattern
    for name in ("wirelab drive --help", "wirelab survey init --help", "python/wirelab/errors.py"):
        assert name in SOURCES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two causes are told apart.", ["told apart"]),
        ("It tells the two\napart.", ["tells the two apart"]),
        ("It tells the reason.", ["tells"]),
        ("The report says so.", ["says so"]),
        ("REST beside gRPC; besides, more", ["beside"]),
        ("held against the model", ["held against"]),
        ("It was mended. Amended.", ["mended"]),
        ("Strangers call.", ["Strangers"]),
        ("on a bad day", ["bad day"]),
        ("its own dice", ["dice"]),
        ("It hangs on the window.", ["hangs on"]),
        ("waits awake", ["awake"]),
        ("faster of late, as the share of late packets", ["of late"]),
        ("reckoned by hand", ["reckoned"]),
        ("It has not got one.", ["has not got"]),
        ("Nobody vouches for it.", ["vouches"]),
        ("It ends without\n  a word.", ["without a word"]),
        ("who is done sooner", ["done sooner"]),
        ("its last words", ["last words"]),
        ("an onlooker", ["onlooker"]),
        ("an errand", ["errand"]),
        ("--beside, beside_rest and told-you", []),
    ],
)
def test_a_word_of_the_list_is_found(text: str, expected: list[str]) -> None:
    assert [one.text for one in words(text)] == expected


def test_every_pattern_has_an_example() -> None:
    marks = test_a_word_of_the_list_is_found.pytestmark  # type: ignore[attr-defined]
    texts = [text for text, _ in marks[0].args[1]]
    for pattern, _ in PATTERNS:
        assert any(pattern.search(text) for text in texts), pattern.pattern


@pytest.mark.parametrize(
    ("sentence", "cleft"),
    [
        ("What decides is the window.", True),
        ("First. What the client waits for is an acknowledgment.", True),
        ("- What a call costs are packets.", True),
        ("What is the limit?", False),
        ("What a link costs, and how that is known?", False),
        ("## What a call is made of", False),
        ("It shows what a call is.", False),
        ("What is measured runs alone.", False),
    ],
)
def test_a_cleft_sentence_is_found(sentence: str, cleft: bool) -> None:
    assert bool(list(markdown(sentence))) == cleft


def test_code_is_not_prose() -> None:
    page = "`beside`, ``a `told` b`` and [a](told.md)\n\n```yaml\nbeside: told\n```\n\nTold.\n"
    assert [(one.line, one.text) for one in markdown(page)] == [(7, "Told")]
    document = "beside: 1\n- beside: 2 # told\nkey: a stranger\n"
    assert [one.text for one in yaml(document)] == ["told", "stranger"]
    module = (
        '"""A docstring\nwithout a word."""\n\nbeside = found["beside"]  # held\n# against\n'
        'told = f"{beside} is told"\n"`told`"\n'
    )
    assert sorted(python(module))[0][:2] == (2, "without a word")
    assert [one.text for one in python(module)] == ["without a word", "told", "held against"]
