"""Reads documents: files, and URLs of this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from wirelab.errors import ImportLimit, UsageError
from wirelab.format.sanitize import damage, sanitize
from wirelab.imports.beneath import read_named
from wirelab.stack import targets

BYTES_MAX = 64 * 1024 * 1024
NODES_MAX = 1_000_000
"""Values of a document in JSON, which take up to 100 B of memory each."""
FETCH_S_MAX = 10.0
"""Seconds that a server may take."""


@dataclass(frozen=True)
class Text:
    """A document as it was read."""

    name: str
    """The file or URL, for messages."""
    text: str

    @property
    def stem(self) -> str:
        """The name alone, without folders and ending."""
        path = urlsplit(self.name).path if "://" in self.name else self.name
        return Path(path).stem

    @property
    def folder(self) -> Path | None:
        """Where files next to it are; None of a URL."""
        return None if "://" in self.name else Path(self.name).parent

    @property
    def is_json(self) -> bool:
        """Whether it is to be read as JSON."""
        return re.match(r"\s*\{", self.text) is not None

    def line_of(self, part: str) -> str:
        """``file:line`` where a part is first; the name alone where it is not in the text."""
        at = self.text.find(part)
        return self.name if at < 0 else self.line_at(at)

    def line_at(self, offset: int) -> str:
        """``file:line`` of a place in the text."""
        return f"{self.name}:{self.text.count(chr(10), 0, offset) + 1}"

    def check(self, value: Any) -> Any:
        """The value. Raises :class:`UsageError` where a text in it cannot be written in UTF-8."""
        escape = re.search(r"\\u[dD][89a-fA-F]", self.text)
        if escape is not None:
            try:
                json.dumps(value, ensure_ascii=False, default=str).encode()
            except UnicodeEncodeError:
                raise UsageError(
                    f"{self.line_at(escape.start())}: half a character (a single surrogate)",
                    "write both halves, or leave it out",
                ) from None
        return value

    def json(self, what: str, nodes_max: int = NODES_MAX) -> Any:
        """Its values, of which there may be that many. ``what`` names the kind of document, with
        its article. Raises :class:`UsageError` with the line of what is not JSON, and
        :class:`ImportLimit` before the values take memory."""
        if count_values(self.text, nodes_max) > nodes_max:
            raise ImportLimit(
                f"{self.name}: more than {nodes_max:,} values (limit nodes)", "name a part of it"
            )
        try:
            return self.check(decode_json(self.text))
        except json.JSONDecodeError as error:
            raise UsageError(
                f"{self.name}:{error.lineno}: not JSON: {error.msg} in column {error.colno}",
                f"name {what}",
            ) from None
        except RecursionError:
            raise UsageError(f"{self.name}: too deep a document", f"name {what}") from None
        except ValueError as error:
            raise UsageError(f"{self.name}: not JSON: {error}", f"name {what}") from None


def decode_json(text: str) -> Any:
    """Values of JSON. Raises :class:`ValueError` and :class:`RecursionError`."""
    return json.loads(text, parse_constant=_refuse_constant)


def count_values(text: str, most: int) -> int:
    """Values of JSON, counted before they take memory: openings and commas outside strings.
    Exact up to ``most``, where it stops soon."""
    if (count := sum(map(text.count, "[{,"))) <= most:
        return count  # those in strings included
    count = 0
    for found in _VALUE_OR_STRING.finditer(text):
        count += text[found.start()] != '"'
        if count > most:
            break
    return count


_VALUE_OR_STRING = re.compile(r'[\[{,]|"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def lists(value: Any) -> list[Any]:
    """The items of a list; empty for any other value."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The items of a list that are mappings."""
    return [one for one in lists(value) if isinstance(one, dict)]


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def read(source: str, *, any_target: bool = False) -> Text:
    """A file, or what a URL of this machine answers. Raises :class:`UsageError`."""
    if re.match(r"https?://", source):
        return Text(source, decode(source, _fetch(source, any_target)))
    try:
        return Text(source, decode(source, read_named(Path(source), BYTES_MAX)))
    except (OSError, ValueError) as error:  # the latter of a null character in the name
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{source}: cannot be read: {reason}", "name a file or a URL") from None


def decode(name: str, content: bytes) -> str:
    """Text in UTF-8. Raises :class:`UsageError`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: {damage(error)}", "name a document in JSON or YAML") from None


def _fetch(url: str, any_target: bool) -> bytes:
    import urllib.request
    from http.client import HTTPException

    server = targets.parse(url)
    if isinstance(server, targets.Server) and not server.local and not any_target:
        raise UsageError(
            f"{urlsplit(url).hostname} is not on this machine",
            "give --any-target to read from it, or download the document and name the file",
        )

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            """A redirect may lead to another machine."""

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
    try:
        with opener.open(url, timeout=FETCH_S_MAX) as reply:
            content: bytes = reply.read(BYTES_MAX + 1)
    except urllib.request.HTTPError as error:
        error.close()
        to = error.headers.get("location")
        raise UsageError(
            f"{url}: answered with status {error.code}{f', to {sanitize(to)}' if to else ''}",
            "name the document itself, such as /openapi.json or /v3/api-docs",
        ) from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise UsageError(f"{url}: cannot be read: {reason}", "is the server running?") from None
    if len(content) > BYTES_MAX:
        raise UsageError(f"{url}: larger than {BYTES_MAX:,} B", "name a part of it")
    return content


def item_places(text: Text, key: str) -> Iterator[str]:
    """``file:line`` of each item of the first list named ``key``; stops where the text is
    other than it should be."""
    begin = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text.text)
    decoder = json.JSONDecoder()
    at = begin.end() if begin else len(text.text)
    line, counted = 1, 0
    while (item := re.compile(r"[\s,]*(?=\{)").match(text.text, at)) is not None:
        line += text.text.count("\n", counted, item.end())
        counted = item.end()
        yield f"{text.name}:{line}"
        try:
            _, at = decoder.raw_decode(text.text, item.end())
        except (ValueError, RecursionError):
            return


MISSES_MAX = 20
"""Words that are not found; each costs a search through the rest of the text."""


class Places:
    """``file:line`` of keys and names of a document. They are asked for in their order, so that
    the text is searched once in all."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._is_json = text.is_json
        self._at = 0
        self._line = 1
        self._misses = 0

    def of(self, word: str) -> str:
        """The name alone where it is not found."""
        # Some are written with escapes.
        if self._misses >= MISSES_MAX:
            return self._text.name
        at = self._find(word)
        if at < 0:
            self._misses += 1
            return self._text.name
        self._line += self._text.text.count("\n", self._at, at)
        self._at = at
        return f"{self._text.name}:{self._line}"

    def _find(self, word: str) -> int:
        if self._is_json:
            return self._text.text.find(json.dumps(word, ensure_ascii=False), self._at)
        key = re.compile(rf"{re.escape(word)}['\"]?\s*:")
        found = key.search(self._text.text, self._at)
        return found.start() if found else -1
