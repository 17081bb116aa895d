"""Documents to parse: the seven requests of elfwing2002, appendix C, or the user's XML files.

expat checks a file before any parser gets it: it must be well formed, of bounded size and depth,
and without a document type declaration. Such a declaration may define entities that refer to files
and hosts, or that grow without bound. The check also computes, independently of the parsers, what
every parser must find.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain, count
from pathlib import Path
from xml.parsers import expat

from wirelab.errors import UsageError
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_bytes
from wirelab.parse.catalogue import FORMATS

FILE_BYTES_MAX = 64 * 1024 * 1024
DEPTH_MAX = 1000
"""Maximum nesting depth of elements."""
FILES_MAX = 20
SEPARATOR = " "
"""Separator of namespace and name in expat; neither can contain a space that it would not report as
part of the namespace only."""


@dataclass(frozen=True)
class Document:
    """A document with its bytes and its expected fingerprint by format."""

    name: str
    forms: Mapping[str, bytes]
    """By format: ``xml``, ``json``, …"""
    fingerprints: Mapping[str, str]


def messages() -> list[Document]:
    """The seven requests of appendix C, in every format."""
    folder = resources.files("wirelab.data") / "parse"
    table = json.loads((folder / "messages.json").read_text(encoding="utf-8"))
    return [
        _message(name, entry, (folder / f"{name}.xml").read_bytes())
        for name, entry in table.items()
    ]


def _message(call: str, entry: Mapping[str, object], xml: bytes) -> Document:
    forms = {"xml": xml} | {name: bytes.fromhex(str(entry[name])) for name in FORMATS}
    fields = entry["fields"]
    assert isinstance(fields, dict)
    seen = Fingerprint()
    for field_name, value in fields.items():
        seen.start(field_name, {})
        seen.text(str(value))
        seen.end(field_name)
    same = dict.fromkeys(FORMATS, seen.hex())
    return Document(call, forms, {"xml": fingerprint(xml), **same})


def files(paths: Sequence[Path]) -> list[Document]:
    """The user's files. Raises :class:`UsageError` for a file that the parsers cannot get."""
    if len(paths) > FILES_MAX:
        raise UsageError(
            f"{len(paths)} files given, at most {FILES_MAX} are supported",
            "measure them in several runs",
        )
    documents: list[Document] = []
    for path in paths:
        content = _read(path)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", path.name)
        taken = {one.name for one in documents}
        numbered = (f"{number}-{name}" for number in count(2))
        unique = next(one for one in chain([name], numbered) if one not in taken)
        try:
            documents.append(Document(unique, {"xml": content}, {"xml": fingerprint(content)}))
        except Unfit as unfit:
            raise UsageError(f"{sanitize(path)}: {unfit}", unfit.remedy) from unfit
    return documents


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise UsageError(
            f"{sanitize(path)} cannot be read: {error.strerror}", "give a readable XML file"
        ) from error
    if len(content) > FILE_BYTES_MAX:
        raise UsageError(
            f"{sanitize(path)} is larger than {format_bytes(FILE_BYTES_MAX)}",
            "use a smaller file",
        )
    return content


class Unfit(ValueError):
    """A document that parsers cannot get."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


def fingerprint(content: bytes) -> str:
    """Fingerprint of the contents that expat finds in a document. Raises :class:`Unfit`."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unfit(
            f"the text is not UTF-8 at byte {error.start}",
            "convert it to UTF-8; not every parser supports other encodings",
        ) from error
    seen = Fingerprint()
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=SEPARATOR)
    parser.buffer_text = True
    parser.XmlDeclHandler = _check_declaration
    parser.StartDoctypeDeclHandler = _doctype
    parser.StartElementHandler = seen.start
    parser.EndElementHandler = seen.end
    parser.CharacterDataHandler = seen.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise Unfit(
            f"not well formed at line {error.lineno}: {expat.ErrorString(error.code)}",
            "correct the file; parsers are compared only on valid documents",
        ) from error
    return seen.hex()


def _check_declaration(version: str, encoding: str | None, _standalone: int) -> None:
    if version != "1.0":
        raise Unfit(f"it is XML {sanitize(version)}", "use XML 1.0, which every parser supports")
    if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii"):
        raise Unfit(
            f"it declares the encoding {sanitize(encoding)}",
            "convert it to UTF-8; not every parser supports other encodings",
        )


def _doctype(*_: object) -> None:
    raise Unfit(
        "it has a document type declaration (DOCTYPE)",
        "remove it; entities are never resolved, because they may refer to files and hosts",
    )


@dataclass
class Fingerprint:
    """SHA-256 over elements, attributes and texts (docs/reference/parsers.md)."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    pending: list[str] = field(default_factory=list)
    depth: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Start of an element. Raises :class:`Unfit` if it is nested too deeply."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Unfit(
                f"its elements are nested deeper than {DEPTH_MAX:,}", "use a part of the document"
            )
        self._flush()
        self._line(f"({_qualify(name)}")
        for line in sorted(f"{_qualify(key)}={value}" for key, value in attributes.items()):
            self._line(f"@{line}")

    def text(self, part: str) -> None:
        """Text between two tags."""
        self.pending.append(part)

    def end(self, _name: str) -> None:
        """End of the open element."""
        self.depth -= 1
        self._flush()
        self._line(")")

    def hex(self) -> str:
        """The hash in hexadecimal digits."""
        return self.digest.hexdigest()

    def _flush(self) -> None:
        if self.pending:
            self._line(f"-{''.join(self.pending)}")
            self.pending.clear()

    def _line(self, text: str) -> None:
        self.digest.update(f"{text}\n".encode())


def _qualify(name: str) -> str:
    namespace, _, local = name.rpartition(SEPARATOR)
    return f"{namespace}}}{local}"
