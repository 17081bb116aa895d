"""Collections of Postman, format 2.0 and 2.1 (https://schema.postman.com)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, urlencode

from wirelab.errors import UsageError
from wirelab.imports import multipart
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.budget import Budget
from wirelab.imports.http_request import NotImportable, Pairs, Recorded, read_content
from wirelab.imports.left_out import PLACEHOLDER
from wirelab.imports.operation import (
    NAME_MAX,
    NAMES_MAX,
    Imported,
    LeftOut,
    Operation,
    matches,
)
from wirelab.imports.source import Places, Text, mappings
from wirelab.secrets.finding import is_secret

WHAT = "a collection of Postman, exported as Collection v2.1"
DEPTH_MAX = 50
"""Folders within folders."""
DYNAMIC = {
    "$guid": "3f2b8c1e-5a44-4c0e-9d6b-0e8a4f6f9f10",
    "$randomUUID": "3f2b8c1e-5a44-4c0e-9d6b-0e8a4f6f9f10",
    "$timestamp": "1700000000",
    "$isoTimestamp": "2024-01-01T00:00:00.000Z",
    "$randomInt": "1",
}
"""Values that Postman makes again for each request."""
WITHOUT_BODY = {"GET", "HEAD", "COPY", "PURGE", "UNLOCK"}
"""Methods whose content Postman leaves out, unless ``disableBodyPruning`` is set."""
ENCODING = ("utf-8", "surrogateescape")
_TYPES = {
    "json": "application/json",
    "xml": "application/xml",
    "html": "text/html",
    "javascript": "application/javascript",
}


def read(text: Text, only: str | None = None, *, any_file: bool = False) -> Imported:
    """Its requests, or those that a shell pattern matches. Raises :class:`UsageError`."""
    content = text.json(WHAT)
    info = content.get("info") if isinstance(content, dict) else None
    schema = str(info.get("schema", "")) if isinstance(info, dict) else ""
    if not isinstance(info, dict) or not re.search(r"/v2\.[01]\.0/", schema):
        raise UsageError(
            f"{text.name}: no collection of Postman 2.0 or 2.1: info.schema is {schema!r}",
            f"name {WHAT}",
        )
    variables = _variables(content.get("variable"))
    secret = {name for name, value in variables.items() if is_secret(name, value)}
    files = ContentFiles(text.folder or Path(), any_file)
    reader = _Reader(text, Budget(text.name), variables, only, Places(text), secret, files)
    for inherited in _requests(content, _Inherited()):
        reader.add(inherited)
    title = str(info.get("name") or text.stem)
    left_out = tuple(reader.left_out)
    if _has_scripts(content):
        left_out += (LeftOut("scripts of the collection", "they are not run"),)
    return Imported(
        title,
        f"Postman collection {title!r}, {text.name}",
        *(tuple(reader.found), left_out),
        others=tuple(reader.others),
    )


@dataclass(frozen=True)
class _Inherited:
    """A request with what its folders say."""

    path: tuple[str, ...] = ()
    item: dict[str, Any] = field(default_factory=dict)
    auth: Any = None
    keeps_body: bool = False
    """Whether a request of a method without content has content, too."""

    def descend(self, item: dict[str, Any], *names: str) -> _Inherited:
        behaviour = item.get("protocolProfileBehavior")
        given = behaviour if isinstance(behaviour, dict) else {}
        keeps = given.get("disableBodyPruning", self.keeps_body) is True
        return _Inherited((*self.path, *names), item, item.get("auth") or self.auth, keeps)


def _requests(folder: dict[str, Any], above: _Inherited) -> Iterator[_Inherited]:
    own = above.descend(folder)
    for item in mappings(folder.get("item")) if len(above.path) < DEPTH_MAX else ():
        name = str(item.get("name") or "request")
        if "item" in item:
            yield from _requests(item, replace(own, path=(*own.path, name)))
        else:
            yield own.descend(item, name)


def _has_scripts(content: dict[str, Any]) -> bool:
    return bool(content.get("event")) or any(
        one.item.get("event") for one in _requests(content, _Inherited())
    )


def _variables(listed: Any) -> dict[str, str]:
    known = [one for one in mappings(listed) if not one.get("disabled")]
    named = [(str(one.get("key") or one.get("id")), one.get("value")) for one in known]
    return DYNAMIC | {name: str(value) for name, value in named if value is not None}


@dataclass
class _Reader:
    text: Text
    budget: Budget
    variables: dict[str, str]
    only: str | None
    places: Places
    secret_variables: set[str]
    files: ContentFiles
    others: list[str] = field(default_factory=list)
    found: list[Operation] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, given: _Inherited) -> None:
        name = " / ".join(given.path)
        self.budget.where = f"{self.text.name}: {name[:NAME_MAX]}"
        self.budget.add_operation()
        try:
            operation = self._read_request(given).operation()
        except NotImportable as reason:
            place = self.places.of(given.path[-1])
            self.left_out.append(LeftOut(f"{place}: {name}", str(reason)))
            return
        if self.only is None or matches(operation, self.only):
            self.found.append(operation)
            self.budget.take_message(operation)
        elif len(self.others) < NAMES_MAX:
            self.others.append(operation.name)

    def _read_request(self, given: _Inherited) -> Recorded:
        request = given.item.get("request")
        if isinstance(request, str):
            request = {"url": request}
        if not isinstance(request, dict):
            raise NotImportable("it has no request")
        method = str(request.get("method") or "GET").upper()
        recorded = Recorded(method, "", name="-".join(given.path))
        recorded.url = self._url(request.get("url"), recorded)
        recorded.headers = self._pairs(request.get("header"), recorded)
        if given.keeps_body or method not in WITHOUT_BODY:
            self._add_body(recorded, request.get("body"))
        auth = request.get("auth") or given.auth
        kind = auth.get("type") if isinstance(auth, dict) else None
        if kind and kind != "noauth":
            recorded.secrets.append(f"auth of kind {kind}")
        return recorded

    def _fill(self, text: object, recorded: Recorded, depth: int = 0) -> str:
        """With its variables; of one without a value the name stays, and is noted."""

        def value(match: re.Match[str]) -> str:
            replaced = replacement(match)
            self.budget.take_text(len(replaced) - len(match[0]))
            return replaced

        def replacement(match: re.Match[str]) -> str:
            name = match[1].strip()
            known = self.variables.get(name)
            if known and name not in self.secret_variables:
                # Variables may be in variables, but not without end.
                return self._fill(known, recorded, depth + 1) if depth < 5 else name
            if known or is_secret(name, ""):
                recorded.secrets.append(f"variable {name}")
                return PLACEHOLDER
            note = f"variable {name} has no value in the collection: its name stands for it"
            if note not in recorded.notes:
                recorded.notes.append(note)
            return name.lstrip("$")

        return re.sub(r"\{\{([^{}]+)\}\}", value, str(text))

    def _with_origin(self, raw: str, recorded: Recorded) -> str:
        """With a server of this machine where a variable in its place has no value: that comes
        from an environment, which is a file of its own."""
        head = re.match(r"(?:[a-z]+://|\{\{[^{}]+\}\}://)?[^/?#]*", raw)
        names = re.findall(r"\{\{([^{}]+)\}\}", head[0] if head else "")
        unknown = [name.strip() for name in names if not self.variables.get(name.strip())]
        if head is None or not unknown:
            return raw
        recorded.notes += [f"variable {name} has no value in the collection" for name in unknown]
        return f"http://127.0.0.1:8080{raw[head.end() :]}"

    def _url(self, url: Any, recorded: Recorded) -> str:
        given = url if isinstance(url, dict) else {"raw": url}
        raw = given.get("raw")
        if not isinstance(raw, str) or not raw:
            raise NotImportable("it has no URL (url.raw)")
        raw = self._with_origin(raw, recorded)
        filled = self._fill(raw, recorded)
        filled = filled if "://" in filled else f"http://{filled}"
        for one in mappings(given.get("variable")):
            if key := one.get("key"):
                value = quote(self._fill(one.get("value") or key, recorded), safe="")
                # Percent-encoded, so that nothing in it is special to `sub`.
                filled = re.sub(rf"/:{re.escape(str(key))}(?=[/?#]|$)", f"/{value}", filled)
        return self._remove_disabled(filled, given.get("query"))

    def _remove_disabled(self, url: str, query: Any) -> str:
        disabled = {
            f"{one.get('key')}={one.get('value') or ''}"
            for one in mappings(query)
            if one.get("disabled")
        }
        head, mark, tail = url.partition("?")
        kept = [part for part in tail.split("&") if part and part not in disabled]
        return f"{head}{mark if kept else ''}{'&'.join(kept)}"

    def _pairs(self, listed: Any, recorded: Recorded) -> Pairs:
        return [
            (str(one.get("key", "")), self._fill(one.get("value") or "", recorded))
            for one in mappings(listed)
            if not one.get("disabled")
        ]

    def _add_body(self, recorded: Recorded, body: Any) -> None:
        if not isinstance(body, dict) or body.get("disabled"):
            return
        mode = body.get("mode")
        content_type = ""
        if mode == "raw":
            recorded.body = self._fill(body.get("raw") or "", recorded)
            options = body.get("options")
            raw = options.get("raw") if isinstance(options, dict) else None
            language = str(raw.get("language", "")) if isinstance(raw, dict) else ""
            content_type = _TYPES.get(language, "text/plain")
        elif mode == "urlencoded":
            recorded.body = urlencode(self._pairs(body.get("urlencoded"), recorded))
            content_type = "application/x-www-form-urlencoded"
        elif mode == "graphql":
            recorded.body = self._graphql(body.get("graphql"), recorded)
            content_type = "application/json"
        elif mode == "formdata":
            content_type = self._add_form(recorded, body.get("formdata"))
        elif mode == "file":
            self._add_file(recorded, body.get("file"))
            content_type = "application/octet-stream"
        if recorded.body or recorded.body_file:
            recorded.declare(content_type)

    def _add_form(self, recorded: Recorded, listed: Any) -> str:
        """Adds fields and files; returns the content type, empty without any."""
        parts: list[multipart.Part] = []
        for one in mappings(listed):
            if not one.get("disabled"):
                parts += self._parts(one, recorded)
        if not parts:
            return ""
        kind, recorded.body = multipart.encode(multipart.replace_secrets(parts, recorded.secrets))
        return kind

    def _parts(self, given: dict[str, Any], recorded: Recorded) -> Iterator[multipart.Part]:
        name = self._fill(given.get("key") or "", recorded)
        kind = str(given.get("contentType") or "")
        if given.get("type") != "file":
            content = self._fill(given.get("value") or "", recorded)
            yield multipart.Part(name, content.encode(*ENCODING), content_type=kind)
            return
        source = given.get("src")
        for path in source if isinstance(source, list) else [source]:
            file = self._content(path)
            filename = str(given.get("fileName") or PurePath(str(path)).name)
            yield multipart.Part(name, file, filename, kind)

    def _add_file(self, recorded: Recorded, given: Any) -> None:
        file = given if isinstance(given, dict) else {"src": given}
        if isinstance(file.get("content"), str):
            recorded.body = self._fill(file["content"], recorded)
        elif file.get("src"):
            recorded.body = self._content(file["src"])

    def _content(self, path: Any) -> bytes:
        """Of a file. Raises :class:`NotImportable`."""
        if not isinstance(path, str) or not path:
            raise NotImportable("no file is selected for its content")
        return read_content(self.files, path)

    def _graphql(self, graphql: Any, recorded: Recorded) -> str:
        given = graphql if isinstance(graphql, dict) else {}
        content: dict[str, Any] = {"query": self._fill(given.get("query") or "", recorded)}
        try:
            variables = json.loads(self._fill(given.get("variables") or "{}", recorded))
        except ValueError:
            raise NotImportable("its GraphQL variables are not JSON") from None
        return json.dumps(content | ({"variables": variables} if variables else {}))
