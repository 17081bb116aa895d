"""A request that was recorded or written down, as an operation: HAR, Postman and curl share it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from wirelab.errors import UsageError
from wirelab.experiment.secret_values import VARIABLE
from wirelab.imports import multipart
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.budget import DEPTH_MAX, VALUES_MAX, measure
from wirelab.imports.left_out import (
    PLACEHOLDER,
    json_without_secrets,
    path_without_secrets,
    text_without_secrets,
)
from wirelab.imports.operation import Operation, slug
from wirelab.imports.source import count_values
from wirelab.secrets.finding import hide_target, is_secret
from wirelab.secrets.names import secret_parameters
from wirelab.secrets.shapes import has_secret_shape
from wirelab.stack.targets import VISIBLE

Pairs = list[tuple[str, str]]

_BY_ENGINE = re.compile(
    r"host|content-length|connection|keep-alive|proxy-connection|transfer-encoding|te|trailer"
    r"|upgrade|expect|:.*"
)
"""The engine writes these itself."""
_OF_RECORDING = re.compile(
    # Compression is an axis of the experiment.
    r"accept-encoding"
    # Of a browser and its cache: with them a reply may be 304 and empty.
    r"|sec-.*|priority|user-agent|upgrade-insecure-requests|dnt|pragma|if-none-match"
    r"|if-modified-since|x-postman-.*|postman-token"
)
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
FORM = "application/x-www-form-urlencoded"
BY_FILE = "send it with body_file"
UNMEASURED = {"CONNECT": "it opens a tunnel"}
"""Methods that are left out, with the reason."""


class NotImportable(Exception):
    """One request cannot be an operation; says why."""


@dataclass
class Recorded:
    """A request as a document has it."""

    method: str
    url: str
    headers: Pairs = field(default_factory=list)
    body: str | bytes | None = None
    """Text, or bytes that may be text."""
    body_file: str | None = None
    name: str = ""
    """As the document names it, if it does."""
    notes: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    is_exact: bool = False
    """A command, which sends exactly what it names; a recording has what a browser adds."""
    variables: frozenset[str] = frozenset()
    """Of the environment or of rows, as ``${NAME}``."""

    def declare(self, kind: str) -> bool:
        """Adds the type of its content unless a header names one; returns whether it did. That of
        a form with parts replaces the header, because the boundary belongs to it."""
        others = [pair for pair in self.headers if pair[0].lower() != "content-type"]
        if others != self.headers and not kind.startswith(multipart.KIND):
            return False
        self.headers = [*others, ("content-type", kind)]
        return True

    def operation(self) -> Operation:
        """It, without what the engine writes itself and without secrets. Raises
        :class:`NotImportable`."""
        method = self.method
        if method.upper() in UNMEASURED:
            raise NotImportable(UNMEASURED[method.upper()])
        if not re.fullmatch(r"[A-Za-z][A-Za-z-]{0,31}", method):
            raise NotImportable(f"{method!r} is not an HTTP method")
        origin, path = self._place()
        request: dict[str, Any] = {"method": method, "path": path}
        headers, content_type = self._headers()
        content = self._content(content_type)
        attached = content.pop("attached", None)
        if "json" in content and content_type.lower() == "application/json":
            headers.pop("content-type", None)  # it is the default
        if headers:
            request["headers"] = {name: _one_or_all(values) for name, values in headers.values()}
        request |= content
        name = slug(self.name) if self.name else slug(method, _words_of(path))
        secrets = tuple(dict.fromkeys(self.secrets))
        host = self._host(origin)
        return Operation(name, request, origin, tuple(self.notes), secrets, host, attached)

    def _place(self) -> tuple[str, str]:
        """The origin and the path with its query."""
        try:
            url = urlsplit(self.url)
            port = url.port
        except ValueError as error:
            raise NotImportable(f"{hide_target(self.url)!r} is not a URL: {error}") from None
        if url.scheme not in ("http", "https") or not url.hostname:
            raise NotImportable(f"{url.scheme or 'no scheme'}: only http and https are measured")
        if not re.fullmatch(r"[\w.:-]+", url.hostname, re.ASCII):
            raise NotImportable(f"{url.hostname!r} is not a host name")
        if url.username is not None:
            self.secrets.append("user in the URL")
        path = path_without_secrets(self._visible(url.path or "/", is_path=True), self.secrets)
        query = self._query(url)
        host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
        origin = f"{url.scheme}://{host}{f':{port}' if port else ''}"
        return origin, path if query is None else f"{path}?{query}"

    def _query(self, url: SplitResult) -> str | None:
        """None where there is none, or only secrets."""
        kept = []
        for part, name, is_hidden in self._fields(url.query):
            if is_hidden:
                self.secrets.append(f"query {name}")
            else:
                kept.append(self._visible(part))
        # An empty query is sent as it is only by a command.
        has_query = any(kept) or (self.is_exact and bool(kept) and "?" in self.url)
        return "&".join(kept) if has_query else None

    def _fields(self, text: str) -> Iterator[tuple[str, str, bool]]:
        """Of a query or a form: each part, its name, and whether its value is a secret."""
        parts = text.split("&")
        pairs = [(parse_qsl(part, keep_blank_values=True) or [(part, "")])[0] for part in parts]
        named = secret_parameters(pairs)
        for part, (name, value) in zip(parts, pairs, strict=True):
            is_hidden = bool(value) and (name in named or has_secret_shape(value))
            yield part, name, is_hidden and not self._is_variable(value)

    def _visible(self, text: str, *, is_path: bool = False) -> str:
        """In ASCII, as a path is sent. Braces that the experiment file would fill are encoded."""

        def literal(match: re.Match[str]) -> str:
            return match[0] if match[1] in self.variables else f"%24{match[0][1:]}"

        encoded = quote(text, safe=VISIBLE, errors="surrogateescape")
        if self.is_exact and is_path and encoded != text:
            # curl writes these digits in lower case.
            pieces = (quote(char, safe=VISIBLE, errors="surrogateescape") for char in text)
            encoded = "".join(one.lower() if len(one) > 1 else one for one in pieces)
        elif self.is_exact and encoded != text:
            self.notes.append("the query is percent-encoded: curl sends it as it is")
        return VARIABLE.sub(literal, encoded)

    def _is_variable(self, text: str) -> bool:
        """Whether it is the value of a variable, perhaps with the scheme of credentials."""
        names = _PLACEHOLDER.findall(text)
        rest = _PLACEHOLDER.sub("", text)
        return (
            bool(names)
            and re.fullmatch(r"[A-Za-z]*\s?", rest) is not None
            and not set(names) - self.variables
        )

    def _headers(self) -> tuple[dict[str, tuple[str, list[str]]], str]:
        """Headers with all values of each, by the lower-case name; and the content type."""
        kept: dict[str, tuple[str, list[str]]] = {}
        content_type = ""
        for name, value in ((name.strip(), value.strip()) for name, value in self.headers):
            lower = name.lower()
            if lower == "content-type":
                content_type = value
            if not lower or not self._is_sent(lower):
                continue
            if is_secret(lower, value) and not self._is_variable(value):
                self.secrets.append(f"header {lower}")
            elif why := self._unwritable(name, value):
                self.notes.append(f"header {lower} is left out: {why}")
            else:
                named = kept.setdefault(lower, (name if self.is_exact else lower, []))
                named[1].append(value)
        return kept, content_type

    def _host(self, origin: str) -> str:
        """The header, where it is another than the host of the URL."""
        given = next((v.strip() for n, v in self.headers if n.strip().lower() == "host"), "")
        own = origin.partition("://")[2]
        return "" if given in (own, own.partition(":")[0]) else given

    def _is_sent(self, lower: str) -> bool:
        if _BY_ENGINE.fullmatch(lower):
            if self.is_exact and lower != "host":
                self.notes.append(f"header {lower} is left out: the engine writes it")
            return False
        return self.is_exact or not _OF_RECORDING.fullmatch(lower)

    def _unwritable(self, name: str, value: str) -> str:
        """Why a header cannot be in the experiment; empty if it can."""
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            return "its name is not a token"
        if set(VARIABLE.findall(value)) - self.variables:
            return "${…} in it would be replaced"
        if self.is_exact:
            is_text = not re.search("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]", value)
            return "" if is_text else "it has a control character, or is not UTF-8"
        return "" if value.isascii() and value.isprintable() else "it is not ASCII"

    def _content(self, content_type: str) -> dict[str, Any]:
        if self.body_file is not None:
            return {"body_file": self.body_file}
        if not self.body:
            return {}
        body = self.body
        if isinstance(body, bytes):
            try:
                body = body.decode()
            except UnicodeDecodeError:
                return {"attached": body}
        kind = content_type.partition(";")[0].strip().lower()
        found = self._json_content(body, content_type) or self._text(body, kind)
        text = found.get("body", "")
        if "\0" in text or set(VARIABLE.findall(text)) - self.variables:
            return {"attached": text.encode()}
        return found

    def _json_content(self, body: str, content_type: str) -> dict[str, Any]:
        """Of content that is declared as JSON; empty of other content."""
        if "json" not in content_type.lower():
            return {}
        try:
            value = _json(body)
        except ValueError:
            if not self.variables:  # without their values it may be none
                self.notes.append("its content is declared as JSON and is none")
            return {}
        found: list[str] = []
        cleaned = json_without_secrets(value, "json", found, self._is_variable)
        self.secrets += found
        compact = json.dumps(cleaned, separators=(",", ":"), ensure_ascii=False)
        if self.is_exact and not found and compact != body:
            return {"body": body}  # written in another way
        return {} if set(VARIABLE.findall(body)) - self.variables else {"json": cleaned}

    def _text(self, body: str, kind: str) -> dict[str, Any]:
        if (cleaned := self._clean_undeclared_json(body)) is not None:
            return {"body": cleaned}
        if kind == FORM:
            return {"body": self._form(body)}
        if not _is_text(body):
            raise NotImportable("its content is not text; send it with body_file")
        return {"body": text_without_secrets(body, "body", self.secrets)}

    def _clean_undeclared_json(self, body: str) -> str | None:
        """JSON of another type (curl declares what it sends a form) without its secrets; None for
        what is not JSON, or has none."""
        if body.lstrip()[:1] not in ("{", "["):
            return None
        try:
            value = _json(body)
        except ValueError:
            return None
        found: list[str] = []
        cleaned = json_without_secrets(value, "body", found, self._is_variable)
        self.secrets += found
        return json.dumps(cleaned) if found else None

    def _form(self, body: str) -> str:
        cleaned = []
        for part, name, is_hidden in self._fields(body):
            if is_hidden:
                self.secrets.append(f"form field {name}")
                part = f"{part.partition('=')[0]}={PLACEHOLDER}"
            cleaned.append(part)
        return "&".join(cleaned)


def read_content(files: ContentFiles, path: str) -> bytes:
    """Of a file that a request sends. Raises :class:`NotImportable`."""
    try:
        return files.read(path)
    except UsageError as error:
        raise NotImportable(f"its content is a file: {error.message}; {error.remedy}") from None


def _one_or_all(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def _json(text: str) -> Any:
    """Raises :class:`ValueError`, and :class:`NotImportable` for more than a message can have."""
    try:
        if count_values(text, VALUES_MAX) > VALUES_MAX:
            raise NotImportable(f"its JSON has more than {VALUES_MAX:,} values; {BY_FILE}")
        value = json.loads(text, parse_constant=_refuse)
        depth = measure(value).depth
    except RecursionError:
        depth = DEPTH_MAX + 1
    if depth > DEPTH_MAX:
        raise NotImportable(f"its JSON has more than {DEPTH_MAX} levels; {BY_FILE}")
    return value


def _refuse(word: str) -> None:
    raise ValueError(word)


def _is_text(content: str) -> bool:
    """Whether it can be written in UTF-8 and was so before: a replacement character is where
    bytes were lost."""
    return "\ufffd" not in content and not re.search("[\ud800-\udfff]", content)


def _words_of(path: str) -> str:
    words = re.sub(r"%[0-9A-Fa-f]{2}", "-", path.partition("?")[0]).strip("/").replace("/", "-")
    return words or "root"
