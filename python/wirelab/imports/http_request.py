"""A request that was recorded or written down, as an operation: HAR, Postman and curl share it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

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

Pairs = list[tuple[str, str]]

_NOT_SENT = re.compile(
    # The engine writes these itself.
    r"host|content-length|connection|keep-alive|proxy-connection|transfer-encoding|te|trailer"
    r"|upgrade|expect|:.*"
    # Compression is an axis of the experiment.
    r"|accept-encoding"
    # Of a browser and its cache: with them a reply may be 304 and empty.
    r"|sec-.*|priority|user-agent|upgrade-insecure-requests|dnt|pragma|if-none-match"
    r"|if-modified-since|x-postman-.*|postman-token"
)
_SAFE_PATH = "/:@!$&'()*+,;=-._~%"
BY_FILE = "send it with body_file"
UNMEASURED = {"HEAD": "a reply to HEAD has no content to check", "CONNECT": "it opens a tunnel"}
"""Methods that are left out, with the reason."""


class NotImportable(Exception):
    """One request cannot be an operation; says why."""


@dataclass
class Recorded:
    """A request as a document has it."""

    method: str
    url: str
    headers: Pairs = field(default_factory=list)
    body: str | None = None
    body_file: str | None = None
    name: str = ""
    """As the document names it, if it does."""
    notes: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    def operation(self) -> Operation:
        """It, without what the engine writes itself and without secrets. Raises
        :class:`NotImportable`."""
        method = self.method.upper()
        if method in UNMEASURED:
            raise NotImportable(UNMEASURED[method])
        if not re.fullmatch(r"[A-Z]{1,20}", method):
            raise NotImportable(f"{method!r} is no method of HTTP")
        origin, path = self._place()
        request: dict[str, Any] = {"method": method, "path": path}
        headers, content_type = self._headers()
        content = self._content(content_type)
        if "json" in content and content_type.lower() == "application/json":
            headers.pop("content-type", None)  # it is the default
        if headers:
            request["headers"] = headers
        request |= content
        name = slug(self.name) if self.name else slug(method, _words_of(path))
        return Operation(
            name, request, origin, tuple(self.notes), tuple(dict.fromkeys(self.secrets))
        )

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
            raise NotImportable(f"{url.hostname!r} is no name of a host")
        if url.username is not None:
            self.secrets.append("user in the URL")
        path = path_without_secrets(quote(url.path or "/", safe=_SAFE_PATH), self.secrets)
        query = self._query(url)
        host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
        origin = f"{url.scheme}://{host}{f':{port}' if port else ''}"
        return origin, f"{path}?{query}" if query else path

    def _query(self, url: SplitResult) -> str:
        kept = []
        parts = [part for part in url.query.split("&") if part]
        pairs = [(parse_qsl(part, keep_blank_values=True) or [(part, "")])[0] for part in parts]
        named = secret_parameters(pairs)
        for part, (name, value) in zip(parts, pairs, strict=True):
            if value and (name in named or has_secret_shape(value)):
                self.secrets.append(f"query {name}")
            else:
                kept.append(quote(part, safe=f"{_SAFE_PATH}?"))
        return "&".join(kept)

    def _headers(self) -> tuple[dict[str, str], str]:
        """Headers, and the content's type without its parameters."""
        kept: dict[str, str] = {}
        content_type = ""
        for name, value in self.headers:
            lower = name.strip().lower()
            if lower == "content-type":
                content_type = value.partition(";")[0].strip()
            if not lower or _NOT_SENT.fullmatch(lower):
                continue
            if is_secret(lower, value):
                self.secrets.append(f"header {lower}")
            elif not value.isascii() or not value.isprintable():
                self.notes.append(f"header {lower} is left out: it is no ASCII")
            else:
                kept[lower] = value.strip()
        return kept, content_type

    def _content(self, content_type: str) -> dict[str, Any]:
        if self.body_file is not None:
            return {"body_file": self.body_file}
        if not self.body:
            return {}
        if "json" in content_type.lower():
            try:
                value = _json(self.body)
            except ValueError:
                self.notes.append("its content is declared as JSON and is none")
            else:
                return {"json": json_without_secrets(value, "json", self.secrets)}
        if (cleaned := self._undeclared_json(self.body)) is not None:
            return {"body": cleaned}
        if content_type.lower() == "application/x-www-form-urlencoded":
            return {"body": self._form(self.body)}
        if not _is_text(self.body):
            raise NotImportable("its content is no text; send it with body_file")
        return {"body": text_without_secrets(self.body, "body", self.secrets)}

    def _undeclared_json(self, body: str) -> str | None:
        """JSON of another type (curl declares what it sends a form) without its secrets; None for
        what is no JSON, or has none."""
        if body.lstrip()[:1] not in ("{", "["):
            return None
        try:
            value = _json(body)
        except ValueError:
            return None
        found: list[str] = []
        cleaned = json_without_secrets(value, "body", found)
        self.secrets += found
        return json.dumps(cleaned) if found else None

    def _form(self, body: str) -> str:
        pairs = parse_qsl(body, keep_blank_values=True)
        named = secret_parameters(pairs)
        cleaned = []
        for name, value in pairs:
            if value and (name in named or has_secret_shape(value)):
                self.secrets.append(f"form field {name}")
                value = PLACEHOLDER
            cleaned.append((name, value))
        return urlencode(cleaned) if cleaned != pairs else body


def _json(text: str) -> Any:
    """Raises :class:`ValueError`, and :class:`NotImportable` for more than a message can have."""
    try:
        if count_values(text, VALUES_MAX) > VALUES_MAX:
            raise NotImportable(f"its JSON has more than {VALUES_MAX:,} values; {BY_FILE}")
        value = json.loads(text, parse_constant=_refused)
        depth = measure(value).depth
    except RecursionError:
        depth = DEPTH_MAX + 1
    if depth > DEPTH_MAX:
        raise NotImportable(f"its JSON has more than {DEPTH_MAX} levels; {BY_FILE}")
    return value


def _refused(word: str) -> None:
    raise ValueError(word)


def _is_text(content: str) -> bool:
    """Whether it can be written in UTF-8 and was so before: a replacement character stands where
    bytes were lost."""
    return "\ufffd" not in content and not re.search("[\ud800-\udfff\x00]", content)


def _words_of(path: str) -> str:
    words = re.sub(r"%[0-9A-Fa-f]{2}", "-", path.partition("?")[0]).strip("/").replace("/", "-")
    return words or "root"
