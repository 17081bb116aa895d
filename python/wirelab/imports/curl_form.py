"""``curl -F``: fields and files of a form."""

from __future__ import annotations

import re
from pathlib import PurePath

from wirelab.errors import UsageError
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.multipart import Part, type_of

_KEYS = ("type", "filename", "headers", "encoder")


def part(text: str, files: ContentFiles, *, has_backslashes: bool = False) -> Part:
    """``NAME=CONTENT``, ``NAME=@FILE`` or ``NAME=<FILE``, with ``;type=…`` and ``;filename=…``.
    Raises :class:`UsageError`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"curl --form {text!r} has no =", "write NAME=CONTENT")
    if value.startswith("("):
        raise _refuse(text, "a form within a form")
    begin = value[:1]
    first, keys = _options(value[1:] if begin in ("@", "<") else value)
    if "encoder" in keys:
        raise _refuse(text, "content that curl encodes")
    given, content = first, first.encode("utf-8", "surrogateescape")
    filename = keys.get("filename")
    if begin in ("@", "<") and given:
        if begin == "@" and "," in given:
            raise _refuse(text, "several files in one field")
        if given == "-":
            raise _refuse(text, "content from standard input")
        content = files.read(given)
        if begin == "@":
            keys.setdefault("type", type_of(given))
            filename = filename or PurePath(given).name
    headers = (keys["headers"],) if "headers" in keys else ()
    kind = keys.get("type", "")
    return Part(name, content, filename, kind, headers, has_backslashes)


def text_part(text: str, *, has_backslashes: bool = False) -> Part:
    """``--form-string NAME=CONTENT``. Raises :class:`UsageError`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"curl --form-string {text!r} has no =", "write NAME=CONTENT")
    content = value.encode("utf-8", "surrogateescape")
    return Part(name, content, has_backslashes=has_backslashes)


def _options(value: str) -> tuple[str, dict[str, str]]:
    """The content, and the keys that follow it. A semicolon behind ``type=`` may belong to the
    type."""
    content, *rest = _split(value)
    keys: dict[str, str] = {}
    last = ""
    for one in rest:
        key, equals, given = one.strip().partition("=")
        if equals and key in _KEYS:
            keys[key] = _unquote(given.strip() if key == "type" else given)
            last = key
        elif last == "type":
            keys["type"] += f";{one}"
    return _unquote(content.lstrip()), keys


def _split(value: str) -> list[str]:
    """At semicolons outside quotes; a quotation begins a word, or it is a character."""
    word = r'(?:\s*(?:(?:type|filename|headers)=)?"(?:[^"\\]|\\.)*"(?=[;,]|\s*$)|[^;])*'
    return re.findall(rf"(?:^|;)({word})", value, re.DOTALL)


def _unquote(text: str) -> str:
    found = re.fullmatch(r'"((?:[^"\\]|\\.)*)"\s*', text, re.DOTALL)
    return re.sub(r"\\([\\\"])", r"\1", found[1]) if found else text


def _refuse(text: str, what: str) -> UsageError:
    return UsageError(
        f"curl --form {text[:40]}: {what} is not imported",
        "write the content to a file and send it with --data-binary @FILE",
    )
