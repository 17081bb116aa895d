"""Properties of a stack other than its speed, each with source and date.

Based on tables 4.6 and 4.7 of jagannathan2022. Statements come from data/facts.yaml, measured facts
from data/facts_measured.json (`make facts`) and data/engine_tax.json (`make bench`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from wirelab.errors import UsageError
from wirelab.records import engine_tax
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

Kind = Literal["stated", "measured", "unknown"]
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Source:
    """Title of the source."""

    title: str
    address: str
    """A URL, or a path in the repository."""
    read: date


@dataclass(frozen=True)
class Fact:
    """One cell of the table."""

    stack: str
    feature: str
    value: str
    kind: Kind
    source: str
    address: str
    date: str
    """ISO 8601; empty if unknown."""


class _Statement(msgspec.Struct, frozen=True, rename={"of": "for"}):
    of: str
    """A binding, or ``binding?codec=NAME``."""
    value: str
    source: str


class _Measured(msgspec.Struct, frozen=True):
    feature: str
    unit: str


class _Feature(msgspec.Struct, frozen=True):
    name: str
    about: str
    stated: tuple[_Statement, ...]
    measured: tuple[_Measured, ...] = ()
    bytes: bool = False
    """Bytes per call from the engine benchmark are added."""


class _Document(msgspec.Struct, frozen=True):
    sources: dict[str, Source]
    features: tuple[_Feature, ...]


class _Row(msgspec.Struct, frozen=True):
    stack: str
    feature: str
    value: str


class _Run(msgspec.Struct, frozen=True):
    """Of the stacks that it measured last."""

    date: str
    revision: str | None
    rows: tuple[_Row, ...]


class _Measurements(msgspec.Struct, frozen=True):
    command: str
    runs: tuple[_Run, ...]


def stacks() -> list[Stack]:
    """Every binding and codec of every language that supports the contract transfer."""
    found = {
        Stack.parse(f"{served.binding}@{language}?codec={codec}"): None
        for language, manifest in manifests.load().by_language.items()
        for served in manifest.serves
        if "transfer" in served.contracts
        for codec in served.codecs
    }
    return sorted(found, key=lambda stack: (stack.axes.binding, stack.axes.codec))


def features() -> list[tuple[str, str]]:
    """Name and meaning of every feature, in the order of the table."""
    return [(feature.name, feature.about) for feature in _document().features]


def facts(references: Sequence[str] = ()) -> list[Fact]:
    """All facts of these stacks, or of all stacks; at least one per stack and feature.

    A reference is a stack, or a binding for all of its stacks. Raises :class:`UsageError`.
    """
    chosen = stacks() if not references else _choose(references)
    return [
        fact for stack in chosen for feature in _document().features for fact in _of(stack, feature)
    ]


def group_shared(found: Sequence[Fact], feature: str) -> list[tuple[list[str], Fact]]:
    """The facts of a feature, each once with all stacks that share it."""
    by: dict[Fact, list[str]] = {}
    for fact in found:
        if fact.feature == feature:
            by.setdefault(replace(fact, stack=""), []).append(fact.stack)
    return [(stacks, fact) for fact, stacks in by.items()]


def _choose(references: Sequence[str]) -> list[Stack]:
    every = stacks()
    bindings = sorted({stack.axes.binding for stack in every})
    found: dict[Stack, None] = {}
    for reference in references:
        if reference in bindings:
            found |= {stack: None for stack in every if stack.axes.binding == reference}
            continue
        stack = Stack.parse(reference)
        if stack not in every:
            raise UsageError(
                f"there are no facts about {reference}",
                "give a binding, or a stack with codec as its only axis; see wirelab facts --list",
            )
        found[stack] = None
    return list(found)


def _of(stack: Stack, feature: _Feature) -> Iterator[Fact]:
    """Statements, then measurements; "unknown" if there are none."""
    found = [*_list_stated(stack, feature), *_list_measured(stack, feature)]
    if found:
        yield from found
    else:
        yield Fact(str(stack), feature.name, UNKNOWN, "unknown", "no source was read", "", "")


def _list_stated(stack: Stack, feature: _Feature) -> Iterator[Fact]:
    if (statement := _statement(stack, feature)) is not None:
        source = _document().sources[statement.source]
        yield Fact(
            str(stack),
            feature.name,
            statement.value,
            "stated",
            source.title,
            source.address,
            source.read.isoformat(),
        )


def _statement(stack: Stack, feature: _Feature) -> _Statement | None:
    """A fact of the codec has priority over one of the binding."""
    binding, codec = stack.axes.binding, stack.axes.codec
    by = {statement.of: statement for statement in feature.stated}
    return by.get(f"{binding}?codec={codec}", by.get(binding))


def _list_measured(stack: Stack, feature: _Feature) -> Iterator[Fact]:
    name, document = str(stack), _measurements()
    path = "python/wirelab/data/facts_measured.json"
    for one in feature.measured:
        for run in document.runs:
            source = f"measured by `{document.command}` at {run.revision}"
            for row in run.rows:
                if (row.stack, row.feature) == (name, one.feature):
                    value = f"{one.unit}: {row.value}"
                    yield Fact(name, feature.name, value, "measured", source, path, run.date)
    if feature.bytes:
        yield from _bytes_per_call(stack, feature)


def _bytes_per_call(stack: Stack, feature: _Feature) -> Iterator[Fact]:
    """Facts from the engine's benchmark, which runs on the services in Rust."""
    tax = engine_tax.read_published()
    codec, binding = stack.axes.codec, stack.axes.binding
    for row in tax.stacks:
        if (row.binding, row.codec) == (binding, codec):
            value = (
                f"{row.bytes_per_call:,} bytes sent and received per call of Submit with 200 B "
                "(service in Rust, persistent connection)"
            )
            source = f"measured by `{tax.command}` at {tax.machine.revision}"
            path = "python/wirelab/data/engine_tax.json"
            day = tax.taken[:10]
            yield Fact(str(stack), feature.name, value, "measured", source, path, day)


@cache
def _document() -> _Document:
    import yaml

    return msgspec.convert(yaml.safe_load(_text("facts.yaml")), _Document)


@cache
def _measurements() -> _Measurements:
    return msgspec.json.decode(_text("facts_measured.json"), type=_Measurements)


def _text(name: str) -> str:
    return resources.files("wirelab").joinpath("data", name).read_text(encoding="utf-8")
