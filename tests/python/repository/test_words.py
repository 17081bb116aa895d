"""Prose is plain technical English: words that read oddly are found, with what to write instead.

Code is not prose. Of Markdown, code blocks, code spans and targets of links are left out; of YAML,
the keys; of source code everything but comments, messages and names of tests (see `prose`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from tests.python import prose
from tests.python.prose import ROOT, blank
from wirelab.cli import app

THIS = Path(__file__).relative_to(ROOT).as_posix()
"""The only source that is not checked: it holds the words."""

COMPARATIVE = r"(?:longer|more|less|fewer|better|worse|later|earlier|different|\w+er than)\b"
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
    # Neither "there is no header" nor "is no longer": they are plain.
    rf"(?<!\bthere\s)(?:is|are|was|were) no(?! {COMPARATIVE})": "is not a",
    rf"(?<!there\s)(?:can|may|must|should|would|will|could|to) be no(?! {COMPARATIVE})": "be not a",
    # Not as in "rps stands for requests per second".
    r"stands?(?! for\b)|stood": "is, appears, is in",
    r"anew": "again",
    r"once more(?! than)": "again",
    r"so many": "that number of, N",
    r"(?<!,\s)but for|save for": "except",
    r"(?:with|in) (?:a|one|no) word": "silently; one word as a value: by name",
    r"(?:can|could|cannot) bear|(?:bears?|borne) (?:it|that|no|by)": "what makes it crash or hang",
    r"upholds?|upheld": "confirms, confirmed",
    r"in all 2|in all two": "in both",
    r"is ended that": "does not match the open element",
    r"rolls? its own": "uses its own",
}
"""Pattern -> what to write. Words with a common technical sense (dear, thick) are not here."""


def _compile(word: str) -> re.Pattern[str]:
    """As whole words, of which each space may be a line break."""
    spaced = word.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])", re.IGNORECASE)


PATTERNS = tuple((_compile(word), plain) for word, plain in WORDS.items())
CLEFT = re.compile(r"\W*What (?!is\b|are\b|was\b|were\b)[^.?]+? (?:is|are|was|were) [^?]+[.:]\W*")
"""A sentence like "What decides is the window."; questions and headings are no match."""


class Found(NamedTuple):
    """A word, and the line of the source that it is on."""

    line: int
    text: str
    plain: str


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
    text = re.sub(r"^( *)(```|~~~).*?^\1\2$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)\s]+\)", "]", text)
    yield from words(text)
    for number, line in enumerate(text.splitlines(), start=1):
        for sentence in re.split(r"(?<=[.!?:]) +|\|", line):
            if CLEFT.fullmatch(sentence):
                yield Found(number, sentence.strip(), "a subject, a verb and an object")


def yaml(text: str) -> Iterator[Found]:
    """Of a document: comments and values."""
    text = re.sub(r"`[^`\n]+`", blank, text)
    text = re.sub(r"^([ -]*)[\w.-]+:(?=\s)", r"\1", text, flags=re.MULTILINE)
    yield from words(text)


def source(suffix: str, text: str) -> Iterator[Found]:
    """Of source code in the language of a suffix: comments, messages and names of tests."""
    for passage in prose.read_passages(suffix, text):
        yield from words(passage.text, passage.line)


def _commands(context: click.Context) -> Iterator[click.Context]:
    """Contexts of the command and of all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _commands(click.Context(command, context, name))


def _help(context: click.Context) -> list[Found]:
    return list(words(re.sub(r"`[^`]+`", blank, context.get_help())))


def _file(path: Path, read: Reader) -> list[Found]:
    return list(read(path.read_text(encoding="utf-8")))


def _files(pattern: str, read: Reader) -> Iterator[tuple[str, Source]]:
    for path in sorted(ROOT.glob(pattern)):
        name = path.relative_to(ROOT).as_posix()
        if "/target/" not in name:
            yield name, partial(_file, path, read)


def _source_files() -> Iterator[tuple[str, Source]]:
    for name in prose.source_files():
        if name != THIS:
            yield name, partial(_file, ROOT / name, partial(source, prose.language(name)))


Reader = Callable[[str], Iterator[Found]]
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
        *_source_files(),
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
    languages = {prose.language(name) for name in SOURCES}
    assert languages >= {".py", *prose.TOKENS}


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
        ("It is no capture; there is no other; it is no longer than that.", ["is no"]),
        ("An echo can be no answer; there can be no doubt.", ["can be no"]),
        ("It stands twice. RPS stands for a rate. A stand-in stood.", ["stands", "stood"]),
        ("It is read anew.", ["anew"]),
        ("It is read once more, once more than planned.", ["once more"]),
        ("in so many bytes", ["so many"]),
        ("all but for one; not for one, but for all", ["but for"]),
        ("equal save for the order", ["save for"]),
        ("It ends with a word. It ends in one word.", ["with a word", "in one word"]),
        ("It cannot bear zeros. It bears no zero.", ["cannot bear", "bears no"]),
        ("The run upholds it.", ["upholds"]),
        ("in all 2 settings; in all 12 settings", ["in all 2"]),
        ("An element is ended that was not begun.", ["is ended that"]),
        ("It rolls its own.", ["rolls its own"]),
    ],
)
def test_a_word_of_the_list_is_found(text: str, expected: list[str]) -> None:
    found = sorted(words(text), key=lambda one: text.find(one.text))
    assert [one.text for one in found] == expected


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
    found = list(source(".py", module))
    assert sorted(found)[0][:2] == (2, "without a word")
    assert [one.text for one in found] == ["without a word", "told", "held against"]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (
            ".rs",
            '// told\nlet told = r#"a "told" b"#; // `told` \'"\' //\nfn f<\'a>() {} /* told */',
        ),
        (".go", "// told\ntold := `told // a`\n/* It is\ntold */"),
        (".java", '/** told */ told = """\n a "told" b"""; c = \'"\'; // told'),
        (".c", '/* told */ told("told %d"); f("told", \'"\'); // told'),
        (".sh", "told=$told # told\necho \"it's told $#\" 'told'  # told"),
        (".mk", "told: $(told) ## told\n# told\n\t@echo 'is told'"),
    ],
)
def test_comments_and_messages_are_read_in_every_language(suffix: str, text: str) -> None:
    assert [one.text for one in source(suffix, text)] == ["told"] * 3


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".py", "def test_it_is_told() -> None: ...\ndef it_is_told() -> None: ..."),
        (".rs", "#[test]\n#[ignore]\nfn it_is_told() {}\nfn is_told() {}"),
        (".rs", '#[tokio::test(flavor = "current_thread")]\nasync fn it_is_told() {}'),
        (".go", "func TestItIsTold(t *testing.T) {}\nfunc told() {}"),
        (".java", '@Test\n@DisplayName("x")\nvoid itIsTold() {}\nvoid told() {}'),
    ],
)
def test_names_of_tests_are_sentences(suffix: str, text: str) -> None:
    assert [one.text.lower() for one in source(suffix, text)] == ["told"]
