"""The parsers by language, and the formats without a library in a language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.errors import UsageError
from wirelab.stack.suggestions import did_you_mean

FORMATS = ("json", "protobuf", "cbor", "cdr")
"""Formats other than XML; each is also the name of a parser."""


@dataclass(frozen=True)
class Parser:
    """A parser in one language."""

    name: str
    language: str
    about: str
    """Library, and kind of its interface."""
    missing: str = ""
    """Why it cannot be measured; "" if it can."""

    @property
    def xml(self) -> bool:
        """Whether it reads XML."""
        return self.name not in FORMATS

    @property
    def format(self) -> str:
        """Its format: ``xml`` or one of :data:`FORMATS`."""
        return "xml" if self.xml else self.name

    def __str__(self) -> str:
        return f"{self.name}@{self.language}"


ALL = (
    Parser("xerces-sax", "java", "Xerces, SAX"),
    Parser("xerces-dom", "java", "Xerces, DOM"),
    Parser("crimson-sax", "java", "Crimson, SAX"),
    Parser("crimson-dom", "java", "Crimson, DOM"),
    Parser("jdk-sax", "java", "JDK, SAX"),
    Parser("jdk-dom", "java", "JDK, DOM"),
    Parser("jdk-stax", "java", "JDK, StAX"),
    Parser("woodstox", "java", "Woodstox, StAX"),
    Parser("aalto", "java", "Aalto, StAX"),
    Parser("vtd-xml", "java", "VTD-XML, index of tokens"),
    Parser("json", "java", "Jackson"),
    Parser("protobuf", "java", "protobuf-java"),
    Parser("cbor", "java", "Jackson"),
    Parser("cdr", "java", "JacORB"),
    Parser("encoding-xml", "go", "encoding/xml, tokens"),
    Parser("etree", "go", "etree, tree"),
    Parser("json", "go", "encoding/json"),
    Parser("protobuf", "go", "google.golang.org/protobuf"),
    Parser("cbor", "go", "fxamacker/cbor"),
    Parser("cdr", "go", "", missing="Go has no maintained CDR library"),
    Parser("quick-xml", "rust", "quick-xml, events"),
    Parser("roxmltree", "rust", "roxmltree, tree"),
    Parser("json", "rust", "serde_json"),
    Parser("protobuf", "rust", "prost"),
    Parser("cbor", "rust", "ciborium"),
    Parser("cdr", "rust", "wirelab's own: Rust has no maintained CDR library"),
)
"""Every parser, in the order of the tables."""

LANGUAGES = tuple(dict.fromkeys(parser.language for parser in ALL))
REFERENCE = "xerces-sax@java"
"""Default reference for the comparison: the parser of elfwing2002."""


def choose_parsers(
    languages: Sequence[str], names: Sequence[str], *, xml_only: bool
) -> list[Parser]:
    """The parsers with these languages and names (``woodstox``, ``json@go``); no name means all.
    Raises :class:`UsageError` for unknown names, and if no parser is left."""
    for language in languages:
        if language not in LANGUAGES:
            raise UsageError(
                f"--language {language}: there is no parser in that language",
                did_you_mean(language, LANGUAGES),
            )
    wanted = {str(parser) for name in names for parser in find_parsers(name)}
    found = [
        parser
        for parser in ALL
        if (not languages or parser.language in languages)
        and (not names or str(parser) in wanted)
        and (parser.xml or not xml_only)
    ]
    if not any(not parser.missing for parser in found):
        why = "; ".join(f"{parser}: {parser.missing}" for parser in found)
        only = (
            "your own files must be XML, which parsers of JSON, Protobuf, CBOR and CDR do not read"
        )
        raise UsageError(
            f"no parser is left to measure{': ' + why if why else ''}",
            only if xml_only else "select others with --parser and --language",
        )
    return found


def find_parsers(name: str) -> list[Parser]:
    """The parsers with that name, optionally in one language. Raises :class:`UsageError`."""
    found = [parser for parser in ALL if name in (parser.name, str(parser))]
    if not found:
        known = {parser.name for parser in ALL} if "@" not in name else set(map(str, ALL))
        raise UsageError(f"unknown parser {name!r}", did_you_mean(name, known))
    return found


def reference(name: str | None, parsers: Sequence[Parser]) -> Parser | None:
    """Reference parser for the comparison: the given one, otherwise :data:`REFERENCE` if it is
    among ``parsers``, otherwise the first. Raises :class:`UsageError` for an unknown one."""
    measured = [parser for parser in parsers if not parser.missing]
    if name is None:
        default = [parser for parser in measured if str(parser) == REFERENCE]
        return (default or measured)[0]
    found = [parser for parser in find_parsers(name) if parser in measured]
    if len(found) != 1:
        among = ", ".join(map(str, found)) or "none of the parsers measured"
        raise UsageError(
            f"--against {name} is {among}", f"give one of {', '.join(map(str, measured))}"
        )
    return found[0]
