"""URLs as curl reads them: patterns for several of them, and paths with dots."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from itertools import product
from urllib.parse import quote

from wirelab.errors import UsageError

URLS_MAX = 100
"""URLs of one pattern."""
_PART = re.compile(
    r"(\$\{[A-Z_][A-Z0-9_]*\})|\\([{}\[\]])|\{([^{}]*)\}|\[([^\[\]]*)\]|(.)", re.DOTALL
)
_NUMBERS = re.compile(r"(\d+)-(\d+)(?::(\d+))?")
_LETTERS = re.compile(r"([a-zA-Z])-([a-zA-Z])(?::(\d+))?")
_ADDRESS = re.compile(r"[0-9A-Fa-f:.%]*:[0-9A-Fa-f:.%\w]*")
"""IPv6, which curl does not take for a pattern."""


def expand(url: str, variables: AbstractSet[str] = frozenset()) -> list[str]:
    """The URLs of a pattern (``[1-3]``, ``{a,b}``); ``${NAME}`` of the variables is none. Raises
    :class:`UsageError`."""
    choices: list[list[str]] = []
    count = 1
    for match in _PART.finditer(url):
        is_variable = match[1] is not None and match[1][2:-1] in variables
        if match[1] is not None:
            choices.append([match[1] if is_variable else f"${match[1][2:-1]}"])
        else:
            choices.append(_choices(match, url))
        count *= len(choices[-1])
        if count > URLS_MAX:
            raise UsageError(
                f"{url}: the pattern is more than {URLS_MAX} URLs",
                "import fewer, or write --globoff if it is not a pattern",
            )
    return ["".join(parts) for parts in product(*choices)]


def _choices(match: re.Match[str], url: str) -> list[str]:
    _, escaped, words, span, char = match.groups()
    if words is not None:
        return list(words.split(","))
    if span is not None:
        return [f"[{span}]"] if _ADDRESS.fullmatch(span) else _expand_span(span, url)
    if char in ("{", "}", "[", "]"):
        raise UsageError(f"{url}: {char} is a pattern of curl without an end", "write --globoff")
    return [escaped or char]


def _expand_span(span: str, url: str) -> list[str]:
    if found := _NUMBERS.fullmatch(span):
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        width = len(found[1]) if found[1].startswith("0") else 0
        if first <= last and step and (last - first) // step <= URLS_MAX:
            return [f"{number:0{width}d}" for number in range(first, last + 1, step)]
    if found := _LETTERS.fullmatch(span):
        first, last, step = ord(found[1]), ord(found[2]), int(found[3] or 1)
        if first <= last and step:
            return [chr(code) for code in range(first, last + 1, step)]
    raise UsageError(
        f"{url}: [{span}] is not a pattern of curl, or one of too many URLs", "write --globoff"
    )


def complete(url: str, default_scheme: str = "http") -> str:
    """With its scheme, and a path."""
    url = url if "://" in url else f"{default_scheme}://{url}"
    scheme, _, rest = url.partition("://")
    host = re.match(r"[^/?#]*", rest)
    tail = rest[host.end() :].partition("#")[0] if host else ""
    return f"{scheme.lower()}://{host[0] if host else ''}{'' if tail[:1] == '/' else '/'}{tail}"


def remove_dots(url: str) -> str:
    """Without ``.`` and ``..`` in its path (RFC 3986, section 5.2.4)."""
    origin, path, query = parts(url)
    kept: list[str] = []
    segments = path[1:].split("/")
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return f"{origin}/{'/'.join(kept)}{query}"


def parts(url: str) -> tuple[str, str, str]:
    """Scheme and host, path, and query with its ``?``, of a complete URL."""
    found = re.match(r"([^:]*://[^/?]*)([^?]*)(.*)", url, re.DOTALL)
    assert found is not None  # of a complete URL
    return found[1], found[2], found[3]


def with_query(url: str, added: str) -> str:
    """With a further part of the query."""
    joint = "" if url.endswith("?") else "&" if "?" in url else "?"
    return f"{url}{joint}{added}"


def encode(content: bytes) -> str:
    """As ``--data-urlencode`` does."""
    return quote(content, safe="-._~").replace("%20", "+")
