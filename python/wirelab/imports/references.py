"""References within a document and to files next to it (RFC 6901, JSON Schema `$ref`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from referencing import Registry, Resource, Specification
from referencing.exceptions import Unresolvable
from referencing.retrieval import to_cached_resource

from wirelab.errors import UsageError
from wirelab.imports.source import Text, read

Parse = Callable[[Text], Any]
CHAIN_MAX = 50
"""References that lead to references."""


@dataclass(frozen=True)
class Found:
    """What a reference leads to."""

    value: Any
    at: References
    """From which its own references go on."""
    key: str
    """File and pointer: the same for the same place."""


Known = dict[tuple[str, str], Found]
"""By the file in which a reference stands, and the reference."""


class References:
    """Resolves references from one place of a document."""

    def __init__(self, text: Text, registry: Registry[Any], base: str, known: Known) -> None:
        self._text = text
        self._registry = registry
        self._base = base
        self._known = known

    @classmethod
    def of(cls, text: Text, content: Any, parse: Parse) -> References:
        """From the root of a document; ``parse`` reads files that it refers to."""

        @to_cached_resource(loads=lambda given: given, from_contents=_resource)
        def retrieve(uri: str) -> Any:
            return parse(_file(text, uri))

        base = _uri(text)
        registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]  # of attrs
        return cls(text, registry.with_resource(base, _resource(content)), base, {})

    def follow(self, value: Any) -> Found:
        """What a value is, behind all its references. Raises :class:`UsageError` for one that
        leads nowhere, in a circle, or to another machine."""
        found = Found(value, self, "")
        seen: list[str] = []
        while isinstance(found.value, dict) and isinstance(ref := found.value.get("$ref"), str):
            found = found.at._lookup(ref)
            if found.key in seen or len(seen) > CHAIN_MAX:
                raise UsageError(
                    f"{self._text.line_of(ref)}: $ref {ref} leads back to itself and nowhere else",
                    "give one of the references a schema",
                )
            seen.append(found.key)
        return found

    def _lookup(self, ref: str) -> Found:
        if (found := self._known.get((self._base, ref))) is None:
            found = self._known[self._base, ref] = self._looked_up(ref)
        return found

    def _looked_up(self, ref: str) -> Found:
        try:
            uri = urljoin(self._base, ref)
            value = self._registry.resolver().lookup(uri).contents
        except (Unresolvable, LookupError, TypeError, ValueError, AttributeError) as error:
            # The last are of a pointer that goes through what has no such parts.
            raise UsageError(
                f"{self._text.line_of(ref)}: $ref {ref}: {_reason(error)}",
                "correct it; references go to the document itself and to files next to it",
            ) from None
        at = References(self._text, self._registry, urldefrag(uri).url, self._known)
        return Found(value, at, uri)


def _resource(content: Any) -> Resource[Any]:
    opaque: Specification[Any] = Specification.OPAQUE
    return opaque.create_resource(content)


def _reason(error: BaseException) -> str:
    """A problem of the file that it leads to, if that is it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, UsageError):
            return f"{cause.message}; {cause.remedy}"
        cause = cause.__cause__ or cause.__context__
    return "there is no such place"


def _uri(text: Text) -> str:
    return text.name if text.folder is None else Path(text.name).resolve().as_uri()


def _file(text: Text, uri: str) -> Text:
    url = urlsplit(uri)
    if url.scheme != "file" or text.folder is None:
        raise UsageError(
            "it is not in the document, and nothing is fetched",
            "download it, put it next to the document, and refer to the file",
        )
    return read(unquote(url.path))
