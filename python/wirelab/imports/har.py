"""HTTP Archive 1.2, as browsers export it
(http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import Counter
from dataclasses import replace
from itertools import chain, repeat
from typing import Any
from urllib.parse import urlencode

from wirelab.errors import UsageError
from wirelab.imports import multipart
from wirelab.imports.budget import Budget
from wirelab.imports.http_request import NotImportable, Pairs, Recorded
from wirelab.imports.operation import NAMES_MAX, Imported, LeftOut, Operation, matches
from wirelab.imports.source import Text, item_places, mappings
from wirelab.secrets.finding import hide_target

WHAT = "an HTTP archive (HAR), as a browser's developer tools export it"


def read(text: Text, only: str | None = None) -> Imported:
    """Its requests, or those that a shell pattern matches; the same request is one operation.
    Raises :class:`UsageError`."""
    log = text.json(WHAT)
    inner = log.get("log") if isinstance(log, dict) else None
    entries = inner.get("entries") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(entries, list):
        raise UsageError(f"{text.name}: there is no log.entries", f"name {WHAT}")
    places = chain(item_places(text, "entries"), repeat(text.name))
    budget, counts = Budget(text.name), Counter[str]()
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    others: list[str] = []
    for number, (entry, place) in enumerate(zip(entries, places, strict=False), 1):
        try:
            operation = _read_request(entry).operation()
            if only is None or matches(operation, only):
                key = _key(operation)
                counts[key] += 1
                if counts[key] == 1:
                    found.append(operation)
                    budget.take_message(operation)
            elif len(others) < NAMES_MAX:
                others.append(operation.name)
        except NotImportable as reason:
            left_out.append(
                LeftOut(f"{place}: entry {number}{_describe_entry(entry)}", str(reason))
            )
    version = inner.get("version", "1.2")
    merged = tuple(_note_count(one, counts[_key(one)]) for one in found)
    source = f"HAR {version}, {text.name}"
    return Imported(text.stem, source, merged, tuple(left_out), others=tuple(others))


def _read_request(entry: Any) -> Recorded:
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        raise NotImportable("it has no request")
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        raise NotImportable("its request has no method or no url")
    recorded = Recorded(method, url, _pairs(request.get("headers")))
    content = request.get("postData")
    declared = next((v for name, v in recorded.headers if name.lower() == "content-type"), "")
    recorded.body = _content(content, request.get("bodySize"), declared)
    kind = content.get("mimeType") if isinstance(content, dict) else None
    if str(kind or declared).lower().startswith("multipart/"):
        if not recorded.body or not isinstance(content, dict):
            raise NotImportable(f"its form (multipart/form-data) was not recorded; {_REMEDY}")
        _add_form(recorded, content, str(kind or declared))
    elif kind and not declared:
        recorded.headers.append(("content-type", str(kind)))
    return recorded


def _add_form(recorded: Recorded, data: dict[str, Any], kind: str) -> None:
    """The form with a boundary that is the same in each import, and without secrets."""
    parts = []
    try:
        if recorded.body and data.get("text"):
            content = recorded.body
            parts = multipart.decode(
                content if isinstance(content, bytes) else content.encode(), kind
            )
    except ValueError as error:
        raise NotImportable(f"its form cannot be read: {error}; {_REMEDY}") from None
    for one in mappings(data.get("params")) if not parts else ():
        if one.get("fileName") and "value" not in one:
            raise NotImportable(f"the content of {one['fileName']} was not recorded; {_REMEDY}")
        value = str(one.get("value") or "").encode()
        filename = one.get("fileName")
        parts.append(
            multipart.Part(
                str(one.get("name") or ""),
                value,
                None if filename is None else str(filename),
                str(one.get("contentType") or "") if filename else "",
            )
        )
    cleaned = multipart.replace_secrets(parts, recorded.secrets)
    written, recorded.body = multipart.encode(cleaned, kind.partition(";")[0])
    others = [pair for pair in recorded.headers if pair[0].lower() != "content-type"]
    recorded.headers = [*others, ("content-type", written)]


def _pairs(listed: Any) -> Pairs:
    known = [one for one in mappings(listed) if "name" in one]
    return [(str(one["name"]), str(one.get("value") or "")) for one in known]


def _content(data: Any, size: Any, declared: str) -> str | bytes | None:
    given = data if isinstance(data, dict) else {}
    kind = str(given.get("mimeType") or declared).lower()
    text = str(given.get("text") or "")
    if not text and given.get("params"):
        return urlencode(_pairs(given["params"]))
    if not text and isinstance(size, int) and size > 0:
        raise NotImportable(f"its content of {size:,} B was not recorded; {_REMEDY}")
    if given.get("encoding") == "base64":
        return _decode_base64(text, kind)
    # Where bytes were not text, browsers record a replacement character.
    if "\ufffd" in text:
        raise NotImportable(f"its content is binary ({kind or 'no type'}); {_REMEDY}")
    return text or None


_REMEDY = "send it with body_file"


def _decode_base64(text: str, mime: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise NotImportable(f"its content ({mime or 'no type'}) is not base64: {error}") from None


def _describe_entry(entry: Any) -> str:
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return ""
    url = str(request.get("url", "")).partition("?")[0]
    return f" {request.get('method', '')} {hide_target(url)[:100]}".rstrip()


def _key(operation: Operation) -> str:
    """The same for the same request."""
    attached = hashlib.sha256(operation.attached or b"").hexdigest()
    return f"{operation.origin} {operation.request!r} {attached}"


def _note_count(operation: Operation, count: int) -> Operation:
    """With a note if it was recorded several times."""
    if count == 1:
        return operation
    return replace(operation, notes=(*operation.notes, f"recorded {count} times"))
