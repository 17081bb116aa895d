"""What a document says can be called, before it is written as an experiment."""

from __future__ import annotations

import fnmatch
import glob
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from wirelab.errors import UsageError

NAME_MAX = 64
"""Characters of a message's name."""


NAMES_MAX = 10
"""Names in a message that lists operations."""


class LeftOut(NamedTuple):
    """Something of the document that is not in the experiment."""

    what: str
    """With file and line where there is one."""
    why: str


@dataclass(frozen=True)
class Operation:
    """One request, which becomes one message."""

    name: str
    """As :func:`slug` makes it; unique after :meth:`Imported.choose`."""
    request: dict[str, Any]
    """Keys of a message: ``method``, ``path``, ``headers``, ``grpc``, ``json``, ``body``,
    ``body_file``."""
    origin: str = ""
    """``http://host:port``; empty where the document names none."""
    notes: tuple[str, ...] = ()
    """What a reader of the experiment should know of it."""
    secrets: tuple[str, ...] = ()
    """What it needs and does not have: ``header authorization``."""
    host: str = ""
    """``Host`` header, where it is not the host of the URL."""
    attached: bytes | None = None
    """Content that is not text, for a file of its own next to the experiment."""
    group: str = ""
    """Users of a load script that make it: a thread group, or a scenario."""

    @property
    def words(self) -> tuple[str, ...]:
        """What a pattern may match."""
        method, path = self.request.get("method", ""), self.request.get("path", "")
        grpc = self.request.get("grpc", "")
        return (self.name, f"{method} {path}", f"{self.origin}{path}", path, grpc, self.group)


@dataclass(frozen=True)
class ScriptLoad:
    """The load of a script, whose users repeat all operations in their order."""

    name: str
    """Of the order of requests, as :func:`slug` makes it."""
    keys: dict[str, object]
    """Keys of the experiment file: ``loads``, ``window``, ``warmup``."""
    is_bounded: bool
    """Whether the number of calls has a bound, as a load on another machine needs it."""
    notes: tuple[str, ...] = ()
    data: dict[str, object] = field(default_factory=dict)
    """Key ``data`` of the message; a file that is written next to the experiment is named by its
    end (``.csv``)."""


@dataclass(frozen=True)
class Imported:
    """Everything of one document."""

    title: str
    """Of the document, as it names itself."""
    source: str
    """What was read, for people: ``OpenAPI 3.1.0, petstore.json``."""
    operations: tuple[Operation, ...]
    left_out: tuple[LeftOut, ...] = ()
    service: dict[str, Any] = field(default_factory=dict)
    """Further keys of the service, such as ``grpc``."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Files next to the experiment, by the end of their names (``.binpb``)."""
    others: tuple[str, ...] = ()
    """Names of operations that a pattern did not match, at most :data:`NAMES_MAX`."""
    script: ScriptLoad | None = None
    """Of a load script; the operations are then steps of one message."""

    def choose(self, pattern: str | None) -> Imported:
        """The operations that a shell pattern matches, of the server that most belong to, each
        with a name of its own. Raises :class:`UsageError` where none is left."""
        fitting = [one for one in self.operations if pattern is None or matches(one, pattern)]
        if not fitting:
            raise UsageError(
                f"{self.source}: {self._describe_no_match(pattern)}", self._explain_no_match()
            )
        origins = Counter(one.origin for one in fitting)
        origin = origins.most_common(1)[0][0]
        others = tuple(
            LeftOut(
                f"{count} of {other or 'no server'}",
                f"`{write_only(other, '*')}` takes them instead",
            )
            for other, count in origins.items()
            if other != origin
        )
        own = distinct(one for one in fitting if one.origin == origin)
        return replace(self, operations=own, left_out=(*self.left_out, *others))

    def _describe_no_match(self, pattern: str | None) -> str:
        if names := [*(one.name for one in self.operations[:NAMES_MAX]), *self.others]:
            return f"no operation matches {pattern!r}; it has {', '.join(names[:NAMES_MAX])}"
        return "there is no operation that can be imported"

    def _explain_no_match(self) -> str:
        reasons = [f"{what}: {why}" for what, why in self.left_out[:5]]
        return "\n  ".join(reasons)


def matches(operation: Operation, pattern: str) -> bool:
    """Whether a shell pattern matches one of its words."""
    return any(fnmatch.fnmatchcase(word, pattern) for word in operation.words)


def write_only(name: str, end: str = "") -> str:
    """The option that selects a name, as a shell reads it; ``end`` is a pattern."""
    return f"--only {shlex.quote(glob.escape(name) + end)}"


def slug(*words: str) -> str:
    """``getPetById`` as ``get-pet-by-id``; at most :data:`NAME_MAX` characters."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", "-".join(filter(None, words)))
    text = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")
    return text[:NAME_MAX].rstrip("-.") or "request"


def distinct(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """With a number at the end of names that are there already."""
    taken: set[str] = set()
    last: Counter[str] = Counter()
    """Numbers given so far, so that many of one name do not try all of them."""
    named = []
    for one in operations:
        name, number = one.name, 1 + last[one.name]
        while name in taken:
            number += 1
            last[one.name] = number - 1
            end = f"-{number}"
            name = one.name[: NAME_MAX - len(end)] + end
        taken.add(name)
        named.append(replace(one, name=name))
    return tuple(named)
