"""Content and query of a request, as the type of the content and the style of a parameter ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from wirelab.imports import multipart
from wirelab.imports.http_request import FORM
from wirelab.imports.openapi.examples import MISSING
from wirelab.imports.operation import slug

FILE = "application/octet-stream"


def is_json(kind: str) -> bool:
    kind = kind.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json") or kind == "*/*"


def choose(kinds: list[str]) -> str | None:
    """The type of content of which an example can be made."""
    for fits in (is_json, lambda kind: kind.startswith((FORM, multipart.KIND, "text/"))):
        for kind in kinds:
            if fits(kind):
                return kind
    return None


def write(kind: str, value: Any, files: Mapping[str, str]) -> dict[str, Any]:
    """Keys of a message for content of that type; ``files`` are the fields of a form that are
    files, with their types."""
    if value is MISSING:
        return {}
    if is_json(kind):
        named = kind.partition(";")[0].strip().lower() in ("application/json", "*/*")
        return {"json": value} | ({} if named else {"headers": {"content-type": kind}})
    if kind.startswith(multipart.KIND):
        fields = value if isinstance(value, dict) else {}
        parts = [part for name, one in fields.items() for part in _parts(name, one, files)]
        kind, content = multipart.encode(parts)
        return {"headers": {"content-type": kind}, "body": content.decode()} if parts else {}
    if kind.startswith(FORM) and isinstance(value, dict):
        value = urlencode([(name, ",".join(words(one))) for name, one in value.items()])
    text = value if isinstance(value, str) else ",".join(words(value))
    return {"headers": {"content-type": kind}, "body": text}


def _parts(name: str, value: Any, files: Mapping[str, str]) -> Iterator[multipart.Part]:
    """As the specification says (OpenAPI 3.1, Special Considerations for multipart Content)."""
    for one in value if isinstance(value, list) else [value]:
        if name in files:
            content = str(one).encode("utf-8", "replace")
            yield multipart.Part(name, content, f"{slug(name)}.bin", files[name])
        elif isinstance(one, (dict, list)):
            yield multipart.Part(name, json.dumps(one).encode(), None, "application/json")
        else:
            yield multipart.Part(name, ",".join(words(one)).encode("utf-8", "replace"))


def write_query(name: str, value: Any, parameter: dict[str, Any]) -> list[tuple[str, str]]:
    """As the styles `form` (exploded or not) and `deepObject` write it."""
    if isinstance(value, dict):
        if parameter.get("style") == "deepObject":
            return [(f"{name}[{key}]", ",".join(words(one))) for key, one in value.items()]
        return [(str(key), ",".join(words(one))) for key, one in value.items()]
    is_exploded = parameter.get("explode", parameter.get("collectionFormat", "multi") == "multi")
    if isinstance(value, list) and is_exploded:
        return [(name, word) for word in words(value)]
    return [(name, ",".join(words(value)))]


def words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [word for one in value for word in words(one)]
    if isinstance(value, dict):
        return [word for key, one in value.items() for word in (str(key), *words(one))]
    if isinstance(value, bool) or value is None:
        return ["" if value is None else str(value).lower()]
    return [str(value)]
