"""Functions are named by verbs: none begins with a participle, a preposition or a question word.

The conventions of each language are allowed: accessors, constructors, conversions, properties,
names that a trait or an interface prescribes, and events that an observer is called at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from tests.python import prose
from tests.python.prose import ROOT


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTICIPLE = re.compile(r"\w{2,}(?:ed|ing)")
IRREGULAR = _set(
    "begun bought bound broken brought built caught chosen done drawn driven felt found given "
    "gone grown held hidden kept known led left lent lost made meant met paid said seen sent "
    "shown sold spent spoken stuck swept taken thought thrown torn understood woken won worn "
    "written"
) | {"stood", "told"}
PARTICLES = _set(
    "above across after against along among around as at before behind below beneath "
    "between beyond by during for from how in inside into like near off on onto out outside "
    "over per since than through to toward under until up upon via what when where whether "
    "which while who whom whose why with within without"
) | {"beside"}
VERBS = _set("bring embed exceed feed need ping proceed seed shed speed spring succeed")
"""Verbs that end like participles."""
NOUNS = _set(
    "binding booking building charging encoding engine finding framing heading indexing listing "
    "mapping padding setting spacing string thing timing warning"
)
"""Nouns that end like participles; a function without side effects may have such a name."""

CONVENTIONS = {
    ".rs": "as from into on to with",  # API guidelines C-CONV, C-CTOR; handlers; builders
    ".go": "as from on to with",
    ".java": "as from of to with",  # factories such as List.of
    ".py": "as from to with",
}
"""First words of conversions, options of builders and handlers, by language."""
EVENTS = _set("closed failed finished flushed opened replied started")
"""Methods of observers, which have the name of the event."""
ERRORS = re.compile(
    r"(?:\w*(?:Error|Exception|Failure|Fault|Refusal|Mismatch|Unsupported\w*)|ExitCode)\b"
)
"""Functions that return one of these are constructors: an adjective names the kind, as in serde."""


class Function(NamedTuple):
    """A function, as far as its name is judged."""

    line: int
    name: str
    is_accessor: bool = False
    is_method: bool = False
    returns: str = ""


def first_word(name: str) -> str:
    """Of snake case or camel case, in lower case."""
    return re.split(r"_|(?<=[a-z0-9])(?=[A-Z])", name.strip("_"))[0].lower()


def is_verb(function: Function, suffix: str) -> bool:
    """False where the name begins with a participle, a preposition or a question word."""
    word = first_word(function.name)
    if function.is_accessor or word in VERBS | NOUNS:
        return True
    if word in CONVENTIONS[suffix].split() or ERRORS.search(function.returns):
        return True
    if function.is_method and word in EVENTS:
        return True
    return word not in IRREGULAR | PARTICLES and not PARTICIPLE.fullmatch(word)


def functions_of_python(text: str) -> Iterator[Function]:
    """Without tests, fixtures, properties and what the language calls."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = " ".join(ast.unparse(mark) for mark in node.decorator_list)
            if not re.search("property|fixture|setter|given|override|overload", marks):
                returns = ast.unparse(node.returns) if node.returns else ""
                yield Function(node.lineno, node.name, returns=returns)


PARAMETERS = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
GENERICS = r"(?:<(?:[^<>{}]|<[^<>]*>)*>)?"
RUST = re.compile(rf"\bfn (\w+){GENERICS}{PARAMETERS}(?:\s*->\s*([^{{;]+))?")
IMPLEMENTED = re.compile(r"^( *)(?:unsafe )?impl\b[^{;]* for [^{;]*\{$.*?^\1\}", re.M | re.S)
OWN = re.compile(r"^( *)impl\b[^{;]*?(\w+)(?:<[^{]*)? \{$.*?^\1\}", re.M | re.S)
TEST = re.compile(prose.TESTS[".rs"])
GO = re.compile(rf"^func (\([^)]*\) )?(\w+)(?:\[[^\]]*\])?{PARAMETERS} ?([^{{\n]*)", re.M)
JAVA = re.compile(
    r"^ +(?:@\w+(?:\([^)]*\))?\s+)*((?:(?:public|protected|private|static|final|abstract|default|"
    rf"synchronized) )*){GENERICS} ?"
    r"([A-Z][\w.<>\[\], ?]*|void|int|long|boolean|double|byte\[\]|char) "
    rf"(\w+){PARAMETERS}\s*(?:throws [\w., ]+)?[{{;]",
    re.M,
)


def functions_of_rust(text: str) -> Iterator[Function]:
    """Without tests, and without names that a trait prescribes."""
    text = re.sub(r"//[^\n]*", "", text)
    tests = {match.start(1) for match in TEST.finditer(text)}
    prescribed = [match.span() for match in IMPLEMENTED.finditer(text)]
    own = [(*match.span(), match[2]) for match in OWN.finditer(text)]
    for match in RUST.finditer(text):
        at = match.start(1)
        if at in tests or any(start < at < end for start, end in prescribed):
            continue
        parameters, returns = match[2].strip(" \n,"), match[3] or ""
        makes_own = any(
            start < at < end and re.search(rf"\b{name}\b", returns) for start, end, name in own
        )
        is_accessor = bool(re.fullmatch(r"(?:&?(?:'\w+ )?)?(?:mut )?self", parameters))
        is_accessor |= makes_own or bool(re.search(r"\bSelf\b", returns))
        is_method = bool(re.match(r"&?(?:'\w+ )?(?:mut )?self\b", parameters))
        yield Function(1 + text.count("\n", 0, at), match[1], is_accessor, is_method, returns)


def functions_of_go(text: str) -> Iterator[Function]:
    """Without tests. Getters have no Get (Effective Go)."""
    for match in GO.finditer(text):
        if not match[2].startswith(("Test", "Fuzz", "Benchmark")):
            line = 1 + text.count("\n", 0, match.start(2))
            is_accessor = bool(match[1]) and not match[3].strip()
            yield Function(line, match[2], is_accessor, bool(match[1]), match[4])


def functions_of_java(text: str) -> Iterator[Function]:
    """Without tests, constructors and what an interface prescribes."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    types = set(re.findall(r"\b(?:class|record|enum|interface) (\w+)", text))
    for match in JAVA.finditer(text):
        if re.search(r"@(?:Override|Test|ParameterizedTest)\b", match[0]):
            continue
        is_accessor = not match[4].strip() or match[2] in types
        line = 1 + text.count("\n", 0, match.start(3))
        yield Function(line, match[3], is_accessor, "static" not in match[1], match[2])


READERS: dict[str, Callable[[str], Iterator[Function]]] = {
    ".py": functions_of_python,
    ".rs": functions_of_rust,
    ".go": functions_of_go,
    ".java": functions_of_java,
}


def findings(name: str) -> list[str]:
    """The names of a file that are not verbs, with their lines."""
    suffix = prose.language(name)
    text = (ROOT / name).read_text(encoding="utf-8")
    return [
        f"{name}:{one.line}: {one.name}: begin with a verb"
        for one in READERS[suffix](text)
        if not is_verb(one, suffix)
    ]


def _is_checked(name: str) -> bool:
    generated = re.search(r"pb/\w+\.pb\.go$|/generated/", name)
    return prose.language(name) in READERS and not generated


CHECKED = tuple(name for name in prose.source_files() if _is_checked(name))


@pytest.mark.parametrize("suffix", READERS)
def test_functions_are_named_by_verbs(suffix: str) -> None:
    found = [line for name in CHECKED if name.endswith(suffix) for line in findings(name)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (".py", "def _captured(): ...\ndef captureCalls(): ...\ndef feed(): ...", ["_captured"]),
        (".py", "class A:\n @property\n def held(self): ...\n def over(self): ...", ["over"]),
        (".py", "def from_text(): ...\ndef made() -> SomeError: ...\ndef where(): ...", ["where"]),
        (".rs", "fn through(a: &str) -> u8 {}\nfn with_timeout(self) {}", ["through"]),
        (".rs", "impl A {\n    fn held(&self) -> u8 {}\n    fn cut_held(&self, x: u8) {}\n}", []),
        (
            ".rs",
            "impl A {\n    fn named(x: &str) -> Option<A> {}\n    fn built(x: u8) {}\n}",
            ["built"],
        ),
        (".rs", "impl B for A {\n    fn expecting(&self, f: u8) {}\n}\nfn drawn() {}", ["drawn"]),
        (
            ".rs",
            "trait A {\n    fn closed(&mut self, x: u8);\n    fn misplaced(x: u8) -> Error;\n}",
            [],
        ),
        (".rs", "#[test]\nfn without_a_limit_it_ends() {}\n// fn after() {}", []),
        (".go", "func shortened(a string) string {\nfunc (a B) Accepted() int {", ["shortened"]),
        (".go", "func TestOfAll(t *testing.T) {\nfunc (a B) named(b int) C {", ["named"]),
        (".java", "class A {\n    A built(B b) {}\n    static int shown(B b) {\n", ["shown"]),
        (".java", "    @Override\n    public int over(A a) {\n    List<A> inUse() {\n", []),
        (".java", "    int filled(A a) throws B {\n    return held(a);\n", ["filled"]),
    ],
)
def test_a_function_is_judged_by_its_first_word(
    suffix: str, text: str, expected: list[str]
) -> None:
    found = [one.name for one in READERS[suffix](text) if not is_verb(one, suffix)]
    assert found == expected


def test_every_kind_of_file_is_read() -> None:
    """At least one function in two files of three, so that no pattern is out of date."""
    for suffix, read in READERS.items():
        names = [name for name in CHECKED if prose.language(name) == suffix]
        empty = [name for name in names if not list(read((ROOT / name).read_text("utf-8")))]
        assert len(empty) < len(names) / 3, (suffix, empty)
