"""Which modules a Rust crate has, and which paths each of them names.

Read from the tokens of its files: comments and strings do not count, nor does anything under
``#[cfg(test)]``. Paths count wherever they are: in ``use``, re-exports, expressions, types and
macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

Name = tuple[str, ...]
"""A module by its path in the crate; the root is the empty one."""

_TOKEN = re.compile(
    r"""
      (?P<comment>//[^\n]*)
    | (?P<block>/\*)
    | (?P<string>[bc]?r(?P<hashes>\#*)".*?"(?P=hashes) | [bc]?"(?:\\.|[^"\\])*")
    | (?P<letter>b?'(?:\\[^\n]+?|[^\\'\n])')
    | (?P<lifetime>'\w+)
    | (?P<word>(?:r\#)?[^\W\d]\w*)
    | (?P<number>\d\w*)
    | (?P<sign>::|=>|->|\S)
    """,
    re.DOTALL | re.VERBOSE,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_STARTS = ("crate", "super", "self")
_ITEMS = re.compile(
    r"fn|mod|use|impl|struct|enum|const|static|trait|type|unsafe|async|extern|macro_rules"
)


@dataclass(frozen=True)
class Token:
    """A word, a sign, or a string with its quotes."""

    text: str
    line: int


class Kind(StrEnum):
    """How a path is named."""

    IMPORT = "use"
    REEXPORT = "pub use"
    PATH = "path"
    """In every other place: expressions, types, macros, attributes."""


@dataclass(frozen=True)
class Reference:
    """A path that a module names."""

    module: Name
    """The module that names it, within its file perhaps an inline one."""
    path: Name
    line: int
    kind: Kind
    alias: str
    """What ``use`` calls it here; ``*`` for everything in it, otherwise empty."""


@dataclass
class Module:
    """A file and what it says."""

    name: Name
    file: Path
    references: list[Reference] = field(default_factory=list)
    children: list[tuple[str, str]] = field(default_factory=list)
    """Declared modules of other files, each with its ``#[path]`` or nothing."""
    inline: set[Name] = field(default_factory=set)
    """Modules in braces."""


Modules = Mapping[Name, Module]


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a file, without comments."""
    at, line = 0, 1
    while found := _TOKEN.search(text, at):
        line += text.count("\n", at, found.start())
        end = found.end()
        if found["block"]:
            end = _end_of_block(text, end)
        elif not found["comment"]:
            yield Token(found[0].removeprefix("r#") if found["word"] else found[0], line)
        line += text.count("\n", found.start(), end)
        at = end


def _end_of_block(text: str, at: int) -> int:
    """Block comments contain block comments (Rust reference, section Comments)."""
    depth = 1
    while depth:
        edge = _BLOCK_EDGE.search(text, at)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        at = edge.end()
    return at


def read_crate(root: Path) -> dict[Name, Module]:
    """All modules below a root file (``lib.rs``, ``main.rs``) except those of tests."""
    found: dict[Name, Module] = {}
    _read_below((), root, root.parent, found)
    return found


def _read_below(name: Name, file: Path, folder: Path, found: dict[Name, Module]) -> None:
    module = _FileReader(name, file).read()
    found[name] = module
    for child, path in module.children:
        candidates = [folder / f"{child}.rs", folder / child / "mod.rs"]
        if path:
            candidates = [file.parent / path]
        existing = next((candidate for candidate in candidates if candidate.exists()), None)
        if existing is None:
            raise FileNotFoundError(f"{file} declares mod {child}, which has no file")
        below = existing.parent if existing.name == "mod.rs" else existing.parent / existing.stem
        _read_below((*name, child), existing, below, found)


class _FileReader:
    """Goes through the tokens of one file."""

    def __init__(self, name: Name, file: Path) -> None:
        self.module = Module(name, file)
        self._tokens = list(tokens(file.read_text()))
        self._at = 0
        self._depth = 0
        self._inline: list[tuple[str, int]] = []
        self._path = ""

    def read(self) -> Module:
        while self._at < len(self._tokens):
            self._read_next()
        return self.module

    def _read_next(self) -> None:
        text = self._text(0)
        if text == "#" and self._text(1) in ("[", "!"):
            self._read_attribute()
        elif text == "mod" and self._text(2) in (";", "{"):
            self._read_declaration()
        elif text == "use" and self._text(1) != "<":
            self._read_use()
        elif text in _STARTS and self._text(1) == "::" and self._text(-1) != "::":
            self._read_path()
        elif text == "include" and self._text(1) == "!" and self._text(3).startswith('"'):
            self._include(self._text(3)[1:-1])
        else:
            self._count_braces(text)
            self._at += 1

    def _text(self, ahead: int) -> str:
        at = self._at + ahead
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _count_braces(self, text: str) -> None:
        self._depth += (text == "{") - (text == "}")
        if self._inline and self._inline[-1][1] == self._depth:
            self._inline.pop()

    def _here(self) -> Name:
        return (*self.module.name, *(name for name, _ in self._inline))

    def _read_attribute(self) -> None:
        opening = self._at + 1 + (self._text(1) == "!")
        end = _find_closing(self._tokens, opening)
        words = [token.text for token in self._tokens[opening + 1 : end]]
        if _is_of_tests(words):
            inner = self._text(1) == "!"
            self._at = len(self._tokens) if inner else _end_of_item(self._tokens, end + 1)
        elif words[:2] == ["path", "="]:
            self._path = words[2][1:-1]
            self._at = end + 1
        else:
            # Attributes can name paths, as in #[derive(crate::a::Macro)].
            self._at = opening + 1

    def _read_declaration(self) -> None:
        name, sign = self._text(1), self._text(2)
        if sign == ";":
            self.module.children.append((name, self._path))
        else:
            self._inline.append((name, self._depth))
            self.module.inline.add(self._here())
            self._depth += 1
        self._path = ""
        self._at += 3

    def _read_use(self) -> None:
        public = self._text(-1) == "pub" or self._is_after_visibility()
        end = next(at for at in range(self._at, len(self._tokens)) if self._tokens[at].text == ";")
        kind = Kind.REEXPORT if public else Kind.IMPORT
        line = self._tokens[self._at].line
        for path, alias in _flatten(self._tokens[self._at + 1 : end]):
            self.module.references.append(Reference(self._here(), path, line, kind, alias))
        self._at = end + 1

    def _is_after_visibility(self) -> bool:
        """Whether ``pub(crate)`` or its like is before this token."""
        at = self._at - 1
        if at < 0 or self._tokens[at].text != ")":
            return False
        while at >= 0 and self._tokens[at].text != "(":
            at -= 1
        return at > 0 and self._tokens[at - 1].text == "pub"

    def _read_path(self) -> None:
        line = self._tokens[self._at].line
        words = [self._text(0)]
        self._at += 1
        while self._text(0) == "::" and _is_word(self._text(1)):
            words.append(self._text(1))
            self._at += 2
        reference = Reference(self._here(), tuple(words), line, Kind.PATH, "")
        self.module.references.append(reference)

    def _include(self, path: str) -> None:
        """The text of another file, as ``include!`` puts it here."""
        self._tokens[self._at : self._at + 5] = tokens((self.module.file.parent / path).read_text())


def _is_of_tests(attribute: Sequence[str]) -> bool:
    """``cfg(test)``, also as the first of several conditions: ``cfg(all(test, unix))``."""
    conditions = ["cfg", "(", "all", "(", "test"]
    return list(attribute[:3]) == ["cfg", "(", "test"] or list(attribute[:5]) == conditions


def _is_word(text: str) -> bool:
    return text.isidentifier()


def _find_closing(found: Sequence[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(found)):
        depth += (found[at].text in "([{") - (found[at].text in ")]}")
        if depth == 0:
            return at
    return len(found) - 1


def _end_of_item(found: Sequence[Token], at: int) -> int:
    """Behind the item, field or statement that begins here, further attributes included."""
    while at + 1 < len(found) and found[at].text == "#" and found[at + 1].text == "[":
        at = _find_closing(found, at + 1) + 1
    ends = {";"}
    if not any(_ITEMS.fullmatch(token.text) for token in found[at : at + 5]):
        ends.add(",")
    while at < len(found):
        text = found[at].text
        if text in ends:
            return at + 1
        if text in (")", "]", "}"):
            return at
        if text in ("(", "[", "{"):
            at = _find_closing(found, at)
            if text == "{":
                return at + 1
        at += 1
    return at


def _flatten(tree: Sequence[Token]) -> Iterator[tuple[Name, str]]:
    """``a::{b, c::d as e}`` as ``a::b`` and ``a::c::d`` with the alias ``e``."""
    words: list[str] = []
    alias = ""
    at = 0
    while at < len(tree):
        text = tree[at].text
        if text == "{":
            for branch in _branches(tree[at + 1 : _find_closing(tree, at)]):
                for path, name in _flatten(branch):
                    if path == ("self",):
                        yield tuple(words), words[-1] if name == "self" else name
                    else:
                        yield (*words, *path), name
            return
        if text == "as":
            alias = tree[at + 1].text
            break
        if text == "*":
            alias = "*"
        elif text != "::":
            words.append(text)
        at += 1
    yield tuple(words), alias or words[-1]


def _branches(tree: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = depth = 0
    for at, token in enumerate(tree):
        depth += (token.text == "{") - (token.text == "}")
        if token.text == "," and depth == 0:
            yield tree[start:at]
            start = at + 1
    if start < len(tree):
        yield tree[start:]
