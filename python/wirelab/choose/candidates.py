"""The stacks among which `choose` chooses, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from wirelab.errors import UsageError

USUAL_CODEC = {"rest": "json", "soap": "soap-literal", "grpc": "protobuf"}
"""Codec of a binding that a reference does not name."""
USUAL_TRANSPORT = {"rest": "http/1.1", "soap": "http/1.1", "grpc": "http/2"}
"""Transport of a binding that a reference does not name."""
COMPRESSIONS = ("none", "gzip", "zstd")


@dataclass(frozen=True, order=True)
class Candidate:
    """One stack of a generated service."""

    binding: str
    codec: str
    language: str
    transport: str
    compression: str = "none"

    @property
    def reference(self) -> str:
        """As people write it: ``rest@go?codec=cbor&compression=gzip``."""
        changed = {
            "codec": (self.codec, USUAL_CODEC[self.binding]),
            "transport": (self.transport, USUAL_TRANSPORT[self.binding]),
            "compression": (self.compression, "none"),
        }
        axes = [f"{axis}={value}" for axis, (value, usual) in changed.items() if value != usual]
        return f"{self.binding}@{self.language}{'?' if axes else ''}{'&'.join(axes)}"

    @property
    def name(self) -> str:
        """Its service in experiment files, which takes no ``@``: ``rest-cbor-gzip.go``."""
        codec = [self.codec] if self.binding == "rest" else []
        http2 = ["h2"] if self.transport != USUAL_TRANSPORT[self.binding] else []
        packed = [self.compression] if self.compression != "none" else []
        return f"{'-'.join([self.binding, *codec, *http2, *packed])}.{self.language}"

    def compress_with(self, compression: str) -> Candidate:
        """The same stack with that compression."""
        return replace(self, compression=compression)

    def matches(self, pattern: str) -> bool:
        """Whether it is meant by a pattern: ``rest*``, ``*@go``, ``grpc``,
        ``rest@go?codec=cbor``. Without a star, ``rest@go`` is the stack of that reference alone."""
        short = f"{self.binding}@{self.language}"
        known = [self.reference, self.binding, f"{short}?codec={self.codec}"]
        if "*" in pattern:
            known.append(short)
        return any(fnmatchcase(text, _literal(pattern)) for text in known)


def _literal(pattern: str) -> str:
    """A question mark in a reference matches only itself."""
    return pattern.replace("?", "[?]")


def candidates(
    languages: Iterable[str],
    served: Iterable[tuple[str, str]],
    *,
    http2: bool = False,
) -> Iterator[Candidate]:
    """Every stack of these languages; ``served`` are pairs of binding and codec. ``http2`` adds
    REST over HTTP/2."""
    pairs = tuple(served)
    for language in languages:
        for binding, codec in pairs:
            yield Candidate(binding, codec, language, USUAL_TRANSPORT[binding])
            if http2 and binding == "rest":
                yield Candidate(binding, codec, language, "http/2")


def select(every: Sequence[Candidate], patterns: Sequence[str]) -> tuple[Candidate, ...]:
    """Those that a pattern means; all without patterns. Raises :class:`UsageError` for a pattern
    that means none."""
    for pattern in patterns:
        if not any(one.matches(pattern) for one in every):
            known = ", ".join(sorted({one.reference for one in every}))
            raise UsageError(f"--stacks {pattern}: no such stack", f"write one of {known}")
    if not patterns:
        return tuple(every)
    return tuple(one for one in every if any(one.matches(pattern) for pattern in patterns))


def find_candidate(reference: str, every: Sequence[Candidate]) -> Candidate:
    """The candidate of that reference; its compression may be any. Raises :class:`UsageError`."""
    for one in every:
        for compression in COMPRESSIONS:
            made = one.compress_with(compression)
            if reference in (made.reference, made.name):
                return made
    known = ", ".join(sorted(one.reference for one in every))
    raise UsageError(f"--today {reference}: no such stack", f"write one of {known}")


def path(start: Candidate, goal: Candidate) -> tuple[Candidate, ...]:
    """From one stack to another, one axis at a time: codec, binding, transport, language,
    compression. gRPC and SOAP have one codec each, so their binding changes with it where the way
    does not lead through REST with Protocol Buffers or XML."""
    shared = {"grpc": "protobuf", "soap": "xml"}
    stops = [start]

    def go(**changes: str) -> None:
        stops.append(replace(stops[-1], **changes))

    if start.binding != goal.binding:
        if start.binding != "rest":
            rest = shared[start.binding]
            go(binding="rest", codec=rest, transport=USUAL_TRANSPORT["rest"])
        if goal.binding != "rest":
            go(codec=shared[goal.binding])
            codec, transport = USUAL_CODEC[goal.binding], USUAL_TRANSPORT[goal.binding]
            go(binding=goal.binding, codec=codec, transport=transport)
    go(codec=goal.codec)
    go(transport=goal.transport)
    go(language=goal.language)
    go(compression=goal.compression)
    return tuple(dict.fromkeys(stops))
