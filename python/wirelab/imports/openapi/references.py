"""References within a document and to files next to it (RFC 6901, JSON Schema `$ref`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from referencing import Registry, Resource, Specification
from referencing.exceptions import Unresolvable
from referencing.retrieval import to_cached_resource

from wirelab.errors import ImportLimit, UsageError
from wirelab.imports.beneath import read_beneath
from wirelab.imports.budget import LOOKUP_STEPS, Budget
from wirelab.imports.source import Text, decode

Parse = Callable[[Text, Budget], Any]
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
"""By the file in which a reference is, and the reference."""


class Unresolved(UsageError):
    """A reference that leads nowhere."""


class Source(NamedTuple):
    """The document that all references begin in."""

    text: Text
    budget: Budget


class References:
    """Resolves references from one place of a document."""

    def __init__(self, source: Source, registry: Registry[Any], base: str, known: Known) -> None:
        self._source = source
        self._registry = registry
        self._base = base
        self._known = known

    @classmethod
    def of(cls, text: Text, content: Any, parse: Parse, budget: Budget) -> References:
        """From the root of a document; ``parse`` reads files that it refers to."""

        @to_cached_resource(loads=lambda given: given, from_contents=_resource)
        def retrieve(uri: str) -> Any:
            return parse(_file(text, uri), budget)

        base = _uri(text)
        registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]  # of attrs
        registry = registry.with_resource(base, _resource(content))
        return cls(Source(text, budget), registry, base, {})

    def follow(self, value: Any) -> Found:
        """What a value is, behind all its references. Raises :class:`Unresolved` for one that
        leads nowhere, in a circle, or to another machine."""
        found = Found(value, self, "")
        seen: list[str] = []
        while isinstance(found.value, dict) and isinstance(ref := found.value.get("$ref"), str):
            found = found.at._lookup(ref)
            if found.key in seen or len(seen) > CHAIN_MAX:
                place = self._source.text.line_of(ref)
                raise Unresolved(
                    f"{place}: $ref {ref} leads back to itself and nowhere else",
                    "give one of the references a schema",
                )
            seen.append(found.key)
        return found

    def _lookup(self, ref: str) -> Found:
        if (found := self._known.get((self._base, ref))) is None:
            self._source.budget.take_steps(LOOKUP_STEPS)
            found = self._known[self._base, ref] = self._look_up(ref)
        return found

    def _look_up(self, ref: str) -> Found:
        try:
            uri = urljoin(self._base, ref)
            value = self._registry.resolver().lookup(uri).contents
        except ImportLimit:
            raise
        except (Unresolvable, LookupError, TypeError, ValueError, AttributeError) as error:
            # The last are of a pointer that goes through what has no such parts.
            raise Unresolved(
                f"{self._source.text.line_of(ref)}: $ref {ref}: {_reason(error)}",
                "correct it; references go to the document itself and to files next to it",
            ) from None
        at = References(self._source, self._registry, urldefrag(uri).url, self._known)
        return Found(value, at, uri)


def _resource(content: Any) -> Resource[Any]:
    opaque: Specification[Any] = Specification.OPAQUE
    return opaque.create_resource(content)


def _reason(error: BaseException) -> str:
    """A problem of the file that it leads to, if that is it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportLimit):
            raise cause
        if isinstance(cause, UsageError):
            return f"{cause.message}; {cause.remedy}"
        cause = cause.__cause__ or cause.__context__
    return "there is no such place"


def _uri(text: Text) -> str:
    return text.name if text.folder is None else Path(text.name).resolve().as_uri()


def _file(text: Text, uri: str) -> Text:
    """A file that is beneath the folder of the document, also behind symbolic links. Raises
    :class:`UsageError`."""
    url = urlsplit(uri)
    if url.scheme != "file" or text.folder is None:
        raise UsageError(
            "it is not in the document, and nothing is fetched",
            "download it, put it next to the document, and refer to the file",
        )
    path = PurePosixPath(unquote(url.path))
    folder = Path(text.name).resolve().parent
    if url.netloc not in ("", "localhost") or not path.is_relative_to(folder):
        raise UsageError(
            f"it leads outside {folder}", "copy the file into that folder, and refer to it"
        )
    relative = str(path.relative_to(folder))
    try:
        return Text(str(path), decode(relative, read_beneath(folder, relative)))
    except (OSError, ValueError) as error:  # the latter of a null character
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{relative}: cannot be read: {reason}", "name a file in it") from None
