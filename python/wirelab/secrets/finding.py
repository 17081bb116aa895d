"""Finds secrets in headers, URLs, content and command lines, and replaces them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote_plus

from wirelab.secrets.names import is_secret_name, is_secret_variable, secret_parameters
from wirelab.secrets.shapes import Span, find_by_shape, has_secret_shape

Replace = Callable[[str, str], str]
"""Text in place of a secret, from the secret's name and the secret."""

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s'\"<>]+", re.I)
_QUERY = re.compile(r"[?&#;]([^\s=&#?;/]+)=([^\s&#;'\"<>]*)")
_FORM = re.compile(r"[\w.%+\[\]-]+=[^&\s]*(?:&[\w.%+\[\]-]+=[^&\s]*)*")
_STRING = r'"((?:[^"\\]|\\.)*)"'
_FIELD = re.compile(
    rf"{_STRING}\s*:\s*(?:{_STRING}|(-?\d[\d.eE+-]*)|(\[[^\[\]{{}}]*\]))", re.DOTALL
)
"""A field of JSON: its name, and a text, a number or a list of them (RFC 8259)."""
_ITEM = re.compile(_STRING, re.DOTALL)
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest|negotiate|key)\s+(?=\S)", re.I)
_HEADER = re.compile(r"(?<![\w-])([A-Za-z][\w-]*): *([^'\"\r\n]+)")
_ASSIGNED = re.compile(r"(?<![\w.?&-])(-{0,2}[A-Za-z][\w.-]*)=([^\s'\";,&]+)")
_SHORT_USER = re.compile(r"[^\s:/@{}=]+:(?!\d{2,5}$)[^\s{}]+")
_ATTACHED_USER = re.compile(r"-[uU]([^\s:/@{}=]+:(?!\d{2,5}$)[^\s{}]+)")
"""``-uNAME:PASSWORD`` of curl."""
_USER_OPTIONS = {"-u", "-U", "-a", "-A", "-P", "--user", "--proxy-user", "--basic-auth", "--auth"}
_COOKIE_OPTIONS = {"-b", "-C", "--cookie"}
_SECRET_OBJECT = re.compile(r"secret|passw(?:or)?d|credential", re.I)
MARK = "‹secret"
"""Begin of what is written in place of a secret."""
LABEL_CHARACTERS_MAX = 40


def is_secret(name: str, value: str) -> bool:
    """Whether a header, parameter or field is a secret, by its name or its value."""
    return is_secret_name(name) or has_secret_shape(value)


def mask(name: str, value: Any = "") -> str:
    """``‹secret authorization›``, which is written in place of a value; a value that was replaced
    already stays."""
    if isinstance(value, str) and MARK in value:
        return value
    label = re.sub(r"[^\w .\[\]-]+", "-", name).strip("- ")[:LABEL_CHARACTERS_MAX]
    return f"{MARK} {label or 'value'}›"


def replace_spans(text: str, spans: Iterable[Span], replace: Replace = mask) -> str:
    """The text with each span replaced; of overlapping ones, the first and longest."""
    pieces, at = [], 0
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start < at or span.start == span.end or MARK in text[span.start : span.end]:
            continue
        pieces += [text[at : span.start], replace(span.name, text[span.start : span.end])]
        at = span.end
    return "".join((*pieces, text[at:]))


def find_in_text(text: str) -> Iterator[Span]:
    """Secrets by their form, and those in the queries of URLs."""
    yield from find_by_shape(text)
    for match in _URL.finditer(text):
        yield from find_in_query(text, match.start(), match.end())


def find_in_header(name: str, value: str) -> Iterator[Span]:
    """The whole value of a header that holds a credential, otherwise parts of it."""
    if is_secret_name(name):
        yield Span(0, len(value), name)
    else:
        yield from find_in_text(value)
        yield from _find_assigned(value)


def find_in_variable(name: str, value: str) -> Iterator[Span]:
    """The same for an environment variable."""
    if is_secret_variable(name):
        yield Span(0, len(value), name)
    else:
        yield from find_in_text(value)
        yield from _find_assigned(value)


def _find_assigned(text: str) -> Iterator[Span]:
    """Values such as ``Password=…`` of a connection string."""
    for match in _ASSIGNED.finditer(text):
        name = match[1].lstrip("-")
        if is_secret_name(name) or (name.isupper() and is_secret_variable(name)):
            yield Span(match.start(2), match.end(2), name)


def find_in_target(text: str) -> Iterator[Span]:
    """Secrets in a URL, or in a path with its query."""
    yield from find_by_shape(text)
    yield from find_in_query(text)


def find_in_query(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Parameters of a query or a fragment with credentials, in that part of a text."""
    matches = list(_QUERY.finditer(text, start, len(text) if end is None else end))
    pairs = [(unquote_plus(match[1]), unquote_plus(match[2])) for match in matches]
    secret = secret_parameters(pairs)
    for match, (name, value) in zip(matches, pairs, strict=True):
        if value and (name in secret or has_secret_shape(value)):
            yield Span(match.start(2), match.end(2), name)


def find_in_content(text: str) -> Iterator[Span]:
    """Secrets in the content of a request: JSON, a form, or other text."""
    if text.lstrip()[:1] in ("{", "["):
        yield from _find_fields(text)
    elif _FORM.fullmatch(text.strip()):
        spans = find_in_query(f"?{text}")
        yield from (Span(span.start - 1, span.end - 1, span.name) for span in spans)
    yield from find_in_text(text)


def _find_fields(text: str) -> Iterator[Span]:
    """Secret fields in the text of a JSON document. It is searched and not parsed, because the
    spans are those of the text, and content may be large or damaged."""
    matches = list(_FIELD.finditer(text))
    names = [_unescape(match[1]) for match in matches]
    values = (match[2] or match[3] or match[4] for match in matches)
    secret = secret_parameters(zip(names, values, strict=True))
    for name, match in zip(names, matches, strict=True):
        if name not in secret:
            continue
        if match[4] is None:
            group = 2 if match[2] is not None else 3
            yield Span(match.start(group), match.end(group), name)
            continue
        for item in _ITEM.finditer(text, match.start(4), match.end(4)):
            yield Span(item.start(1), item.end(1), name)


def _unescape(name: str) -> str:
    """The name of a field of JSON, of which any character may be escaped."""
    if "\\" not in name:
        return name
    try:
        return str(json.loads(f'"{name}"', strict=False))
    except ValueError:
        return name


def replace_in_json(value: Any, replace: Callable[[str, Any], Any], name: str = "") -> Any:
    """JSON with each secret replaced by ``replace(name, secret)``; ``name`` is that of the field
    that holds the value."""
    if isinstance(value, dict):
        texts = ((str(k), v) for k, v in value.items() if isinstance(v, str))
        secret = secret_parameters(texts)
        # All that a field such as `secret` contains is secret; other names describe objects too.
        inherited = name if _SECRET_OBJECT.search(name) else ""
        return {
            k: replace(str(k), v)
            if str(k) in secret and v
            else replace_in_json(v, replace, inherited or str(k))
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [replace_in_json(one, replace, name) for one in value]
    if isinstance(value, bool) or value is None or value == "":
        return value
    if name and is_secret_name(name):
        return replace(name, value)
    if isinstance(value, int) and has_secret_shape(str(value)):
        return replace("card number", value)
    if isinstance(value, str) and (spans := list(find_in_text(value))):
        return replace_spans(value, spans, replace)
    return value


def find_in_word(word: str, before: str = "") -> Iterator[Span]:
    """Secrets in one argument of a command line that follows the word ``before``."""
    if not word.startswith("-") and _names_secret(before, word):
        yield Span(0, len(word), before.lstrip("-"))
        return
    for match in _HEADER.finditer(word):
        if is_secret_name(match[1]):
            scheme = _SCHEME.match(match[2])
            yield Span(match.start(2) + (scheme.end() if scheme else 0), match.end(2), match[1])
    yield from _find_assigned(word)
    if attached := _ATTACHED_USER.fullmatch(word):
        yield Span(attached.start(1), attached.end(1), "user")
    yield from find_in_content(word)
    if word.startswith("/"):
        yield from find_in_query(word)


def _names_secret(option: str, value: str) -> bool:
    """Whether an option takes a secret as its value."""
    if option in _USER_OPTIONS:
        return _SHORT_USER.fullmatch(value) is not None
    if option in _COOKIE_OPTIONS:
        return "=" in value
    return option.startswith("--") and "=" not in option and is_secret_name(option[2:])


def replace_in_words(words: Sequence[str], replace: Replace = mask) -> list[str]:
    """A command line without its secrets."""
    before = ["", *words[:-1]]
    return [
        replace_spans(word, find_in_word(word, previous), replace)
        for word, previous in zip(words, before, strict=True)
    ]


@functools.lru_cache(maxsize=8)
def hide_content(content: bytes) -> bytes:
    """The content of a request as it is recorded, without its secrets; what is not text stays. It
    takes 0.4 s per MB, and each trial records the same content."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    return replace_spans(text, find_in_content(text)).encode()


def is_reference(text: str) -> bool:
    """Whether a target is a stack such as ``rest@rust?token_source=message``, not a URL."""
    return "://" not in text and "@" in text.partition("?")[0]


def hide_target(text: str) -> str:
    """A URL as it is printed, without its secrets. A reference to a stack stays."""
    return text if is_reference(text) else replace_spans(text, find_in_target(text))
