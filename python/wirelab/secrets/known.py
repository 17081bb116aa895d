"""Values that a command was given and that must not appear in what it prints and writes."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from wirelab.errors import WirelabError
from wirelab.secrets.finding import mask

VALUE_CHARACTERS_MIN = 6
"""Shorter values are words of other texts, too. They are hidden only where they were given."""
TEXT_FILES = {".txt", ".log"}
DOCUMENTS = {".json"}
"""Their numbers stay, because a secret may consist of digits."""
BLOCK_BYTES = 1 << 20
_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")


class KnownSecrets:
    """Secrets by what is written in their place."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        """``values`` has the text in place of each secret."""
        self._texts: dict[str, str] = {}
        self._longest_first: list[tuple[str, str]] | None = None
        for value, text in (values or {}).items():
            self.add(value, text)

    def add(self, value: str, text: str = "") -> None:
        """Hides a value, and its spellings in JSON, URLs, HTML and HTTP Basic authentication."""
        if len(value) < VALUE_CHARACTERS_MIN:
            return
        for spelling in _spellings(value):
            self._texts.setdefault(spelling, text or mask("value"))
        self._longest_first = None

    @property
    def _spellings(self) -> list[tuple[str, str]]:
        """The longest first: a secret may be a part of another."""
        if self._longest_first is None:
            self._longest_first = sorted(self._texts.items(), key=lambda pair: -len(pair[0]))
        return self._longest_first

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._texts)

    def hide(self, text: str) -> str:
        """The text without the values."""
        for spelling, instead in self._spellings:
            if spelling in text:
                text = text.replace(spelling, instead)
        return text

    def hide_json(self, value: Any) -> Any:
        """The same for all texts of a JSON document. A secret that is an ordinary word stays where
        the word is alone: names of fields and kinds are words too."""
        if not self:
            return value
        if isinstance(value, dict):
            return {self._hide_in_document(str(k)): self.hide_json(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.hide_json(one) for one in value]
        return self._hide_in_document(value) if isinstance(value, str) else value

    def _hide_in_document(self, text: str) -> str:
        if not _WORD.fullmatch(text):
            return self.hide(text)
        for spelling, instead in self._spellings:
            if not _WORD.fullmatch(spelling):
                text = text.replace(spelling, instead)
        return text

    @contextlib.contextmanager
    def hide_in_errors(self) -> Iterator[None]:
        """Hides the values in the message of an error that leaves the block."""
        try:
            yield
        except WirelabError as error:
            error.message, error.remedy = self.hide(error.message), self.hide(error.remedy)
            error.args = tuple(self.hide_json(error.args))
            raise

    def hide_in_folder(self, folder: Path) -> None:
        """The same for the texts and documents of a folder, which other programs may have written.
        Raises :class:`OSError`, and :class:`ValueError` for a damaged document."""
        if not self:
            return
        for path in sorted(folder.rglob("*")):
            is_text = path.suffix in TEXT_FILES | DOCUMENTS
            if is_text and path.is_file() and not path.is_symlink():
                self._hide_in_file(path)

    def _hide_in_file(self, path: Path) -> None:
        pairs = [(one.encode(), text.encode()) for one, text in self._spellings]
        if not _contains(path, [spelling for spelling, _ in pairs]):
            return
        content = path.read_bytes()
        if path.suffix in DOCUMENTS:
            hidden = self.hide_json(json.loads(content))
            content = json.dumps(hidden, ensure_ascii=False).encode()
        else:
            for spelling, instead in pairs:
                content = content.replace(spelling, instead)
        clean = path.with_name(f".{path.name}.clean")
        clean.unlink(missing_ok=True)
        descriptor = os.open(clean, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        clean.replace(path)


def _spellings(value: str) -> list[str]:
    """The value, and how formats spell it."""
    scheme, _, rest = value.partition(" ")
    plain = [value]
    if scheme.lower() in ("bearer", "basic", "token", "apikey") and len(rest) > len(scheme):
        plain.append(rest)
    plain += [unquote_plus(one) for one in plain if "%" in one]
    # Servers decode headers as ISO-8859-1 (RFC 9110, section 5.5).
    plain += [one.encode().decode("latin-1") for one in plain if not one.isascii()]
    found = []
    for one in plain:
        found += [one, *_encode_json(one), quote(one, safe=""), quote(one), quote_plus(one)]
        found += [html.escape(one), repr(one)[1:-1], *_base64(one)]
    return [one for one in found if len(one) >= VALUE_CHARACTERS_MIN]


def _encode_json(value: str) -> Iterator[str]:
    """In a JSON text, and in one within another: services log the content that they received."""
    for is_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=is_ascii)[1:-1])


def _base64(value: str) -> list[str]:
    """How HTTP Basic authentication (RFC 7617) spells ``user:password``, and the reverse."""
    if ":" in value:
        return [base64.b64encode(value.encode()).decode()]
    try:
        decoded = base64.b64decode(value, validate=True).decode()
    except ValueError:
        return []
    return [decoded] if ":" in decoded and decoded.isprintable() else []


def _contains(path: Path, spellings: list[bytes]) -> bool:
    """Whether a file contains any of the texts; reads it in blocks."""
    overlap = max(map(len, spellings)) - 1
    before = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            window = before + block
            if any(spelling in window for spelling in spellings):
                return True
            before = window[-overlap:] if overlap else b""
    return False
