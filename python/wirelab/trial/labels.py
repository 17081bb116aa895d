"""Readable labels of points: message, load, setting, and the shortest unique stack name.

Properties that all points of a run share are left out of the labels and shown once
(:attr:`Names.everywhere`): a label contains only the differences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from wirelab.format.numbers import sanitize, size
from wirelab.format.units import format_seconds
from wirelab.records.load import BackgroundRecord, LoadRecord, StageRecord
from wirelab.records.trial import PROXIED, Point
from wirelab.stack import operations
from wirelab.stack.external import parts
from wirelab.stack.link_names import LOOPBACK

T = TypeVar("T")

STAGES_SHOWN = 6
"""Maximum number of stages that a label lists."""


def message(point: Point) -> str:
    """``Hello 150 kB``; ``Reserve``, if its requests have a fixed size."""
    return sanitize(operations.words(point.operation, size(point.bytes)))


def load(described: LoadRecord) -> str:
    """``10 users``, ``1,000 calls/s, evenly spaced``."""
    return loads([described])


def loads(every: Iterable[LoadRecord]) -> str:
    """Several loads in short form: ``1 and 32 users``."""
    amounts: dict[str, list[str]] = {}
    for described in every:
        amount, kind = _amount(described)
        kind = ", with ".join((kind, *map(background, described.background)))
        amounts.setdefault(kind, []).append(amount)
    return " and ".join(_format_amounts(shown, kind) for kind, shown in amounts.items())


def background(group: BackgroundRecord) -> str:
    """``uploads (Submit 1 MB, bursts of 50 calls at once, 1 s apart)``."""
    called = operations.words(group.operation, size(group.bytes))
    return sanitize(f"{group.name} ({called}, {load(group.load)})")


def _amount(described: LoadRecord) -> tuple[str, str]:
    """The level of a load, and its other properties."""
    kind = described.kind
    if kind == "closed":
        return f"{described.users or 0:,}", _users(described)
    if kind in ("constant", "poisson"):
        spacing = "evenly spaced" if kind == "constant" else "Poisson"
        return f"{described.rate or 0:,g}", f"calls/s, {spacing}"
    if kind == "stages":
        random = ", exponential gaps" if described.gaps != "constant" else ""
        return (
            f"{described.from_rate or 0.0:,g}",
            f"calls/s, then {_stages(described.stages)}{random}",
        )
    if kind == "bursts":
        return f"bursts of {described.calls or 0:,}", _bursts(described)
    return sanitize(kind), ""


def _users(described: LoadRecord) -> str:
    """Properties of a closed load besides its number of users."""
    words = ["users"]
    if think := described.think_s:
        how = described.think
        words.append(f"{think:g} s think time{'' if how == 'constant' else f' ({how})'}")
    if described.calls_per_pause > 1:
        words.append(f"{described.calls_per_pause:,} calls per pause")
    if described.iterations:
        words.append(f"{described.iterations:,} calls each")
    if described.stages:
        words.append(f"from 0 to {_stages(described.stages)}")
    return ", ".join(words)


def _stages(stages: Sequence[StageRecord]) -> str:
    """``20 in 10 s, 20 in 30 s, 0 at once``; a long list is shortened to its first and last stages
    with a hash that distinguishes it from others."""
    words = [_stage(stage) for stage in stages]
    if len(words) <= STAGES_SHOWN:
        return ", ".join(words)
    digest = hashlib.sha256(", ".join(words).encode()).hexdigest()[:4]
    return f"{', '.join(words[:2])}, … {words[-1]} ({len(words)} stages, {digest})"


def _stage(stage: StageRecord) -> str:
    lasts = stage.duration_s
    return f"{stage.to:,g} {f'in {format_seconds(lasts)}' if lasts else 'at once'}"


def _bursts(described: LoadRecord) -> str:
    """Properties of bursts besides their number of calls."""
    rate = described.rate
    pace = "at once" if rate is None else f"at {rate:,g}/s"
    how = f" ({described.gaps})" if described.gaps != "constant" else ""
    return f"calls {pace}, {format_seconds(described.gap_s or 0.0)} apart{how}"


def _format_amounts(amounts: Sequence[str], kind: str) -> str:
    if list(amounts) == ["1"]:
        kind = kind.replace("users", "user", 1)
    return f"{join_words(amounts)} {kind}".strip()


def join_words(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def openness(described: LoadRecord) -> str:
    """``closed`` or ``open``."""
    return "closed" if described.is_closed else "open"


@dataclass(frozen=True)
class Names:
    """Labels that are unambiguous within one run."""

    stacks: Mapping[str, str]
    """Shortest name by stack reference."""
    everywhere: tuple[str, ...]
    """Properties shared by all points, which no label contains: ``placement pinned``."""
    _shared: Mapping[str, object]

    @classmethod
    def of(cls, points: Iterable[Point]) -> Names:
        """Labels for the points of a run."""
        every = list(points)
        references = {point.stack for point in every}
        shared = _common([_conditions(point) for point in every])
        axes = _common([_axes(reference) for reference in references])
        named = [sanitize(f"{name}={value}") for name, value in axes.items()]
        also = [_option(key, value) for key, value in shared.items()]
        return cls(_stacks(references), tuple(filter(None, (*named, *also))), shared)

    def setting(self, point: Point) -> str:
        """``Hello 14 B, 32 users``, plus link, class and options that differ within the run."""
        return ", ".join((message(point), load(point.load), *self.list_differing_conditions(point)))

    def load(self, point: Point) -> str:
        """``32 users``, plus link, class and options that differ within the run."""
        return ", ".join((load(point.load), *self.list_differing_conditions(point)))

    def list_differing_conditions(self, point: Point) -> list[str]:
        """Link, semantic class and options that differ within the run."""
        own = ((k, v) for k, v in _conditions(point).items() if k not in self._shared)
        return [_condition(key, value) for key, value in own]

    def settings(self, points: Iterable[Point]) -> str:
        """Several settings in short form: ``Hello 14 B with 1 user, Hello 3 MB with 1 and 32
        users``."""
        groups: dict[tuple[str, ...], list[LoadRecord]] = {}
        for point in points:
            where = (message(point), *self.list_differing_conditions(point))
            groups.setdefault(where, []).append(point.load)
        return ", ".join(
            f"{', '.join(where)} with {loads(described)}" for where, described in groups.items()
        )


def _conditions(point: Point) -> dict[str, object]:
    # The name of a message stands for its contents.
    shown = ((key, value) for key, value in sorted(point.options.items()) if key != "message")
    options = {key: value for key, value in shown if value}
    return {"link": point.link, "reply": point.semantic_class, **options}


def _option(key: str, value: Any) -> str:
    """Properties that all points share: ``placement pinned``, ``chunk 16 kB``. Loopback is not
    listed, and the class is not because it is an axis, which is already shown."""
    return "" if key == "reply" or (key, value) == ("link", LOOPBACK) else _condition(key, value)


def _condition(key: str, value: Any) -> str:
    if (key, value) == ("reply", PROXIED):
        return PROXIED
    if key.endswith("_bytes") and isinstance(value, int):
        return sanitize(f"{key.removesuffix('_bytes')} {size(value)}")
    return sanitize(f"{key.replace('_', ' ')} {_value(value)}")


def _value(value: Any) -> str:
    """``delay_us=100, wrong: every=10 what=content`` for fault switches of a service."""
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(
        f"{name}: {' '.join(f'{k}={v}' for k, v in inner.items())}"
        if isinstance(inner, Mapping)
        else f"{name}={inner}"
        for name, inner in value.items()
    )


def _stacks(references: Iterable[str]) -> dict[str, str]:
    """Binding and language, and only those named axes whose values differ; the complete reference
    if that is ambiguous."""
    named = {reference: _axes(reference) for reference in sorted(references)}
    common = _common(list(named.values()))
    short = {
        reference: " ".join([parts(reference)[0], *_values(axes, common)])
        for reference, axes in named.items()
    }
    unmistakable = len(set(short.values())) == len(short)
    return {ref: sanitize(name if unmistakable else ref) for ref, name in short.items()}


def _axes(reference: str) -> dict[str, str]:
    return parts(reference)[1]


def _common(every: Sequence[Mapping[str, T]]) -> dict[str, T]:
    first = every[0] if every else {}
    return {k: v for k, v in first.items() if all(k in e and e[k] == v for e in every)}


def _values(axes: Mapping[str, str], common: Mapping[str, str]) -> list[str]:
    # `on` and `8` mean nothing without the axis; `close` and `text` do.
    return [
        value if value.isalpha() and value not in ("on", "off", "none") else f"{name}={value}"
        for name, value in axes.items()
        if name not in common
    ]
