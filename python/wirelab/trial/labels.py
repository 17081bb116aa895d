"""Points as a reader sees them: message, load, setting, and the shortest name of a stack.

What all points of a run share is left out of their names and shown once
(:attr:`Names.everywhere`): a label says what is different.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirelab.experiment.load_record import BackgroundRecord, LoadRecord, StageRecord
from wirelab.format.numbers import sanitize, size
from wirelab.format.units import format_seconds
from wirelab.stack import operations
from wirelab.stack.external import parts
from wirelab.stack.link_names import LOOPBACK
from wirelab.trial.record import PROXIED, Point

STAGES_SHOWN = 6
"""Stages that a label spells out."""


def message(point: Point) -> str:
    """``Hello 150 kB``; ``Reserve``, whose requests have one size."""
    return sanitize(operations.words(point.operation, size(point.bytes)))


def load(described: LoadRecord) -> str:
    """``10 users``, ``1,000 calls/s, evenly spaced``."""
    return loads([described])


def loads(every: Iterable[LoadRecord]) -> str:
    """Several loads in few words: ``1 and 32 users``."""
    amounts: dict[str, list[str]] = {}
    for described in every:
        amount, kind = _amount(described)
        kind = ", with ".join((kind, *map(background, described.background)))
        amounts.setdefault(kind, []).append(amount)
    return " and ".join(_counted(shown, kind) for kind, shown in amounts.items())


def background(group: BackgroundRecord) -> str:
    """``uploads (Submit 1 MB, bursts of 50 calls at once, 1 s apart)``."""
    called = operations.words(group.operation, size(group.bytes))
    return sanitize(f"{group.name} ({called}, {load(group.load)})")


def _amount(described: LoadRecord) -> tuple[str, str]:
    """The level of a load, and all else of it."""
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
    """All of a closed load but the number of its users."""
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
    """``20 in 10 s, 20 in 30 s, 0 at once``; of many the first and the last, with a mark that
    differs where others differ."""
    words = [_stage(stage) for stage in stages]
    if len(words) <= STAGES_SHOWN:
        return ", ".join(words)
    digest = hashlib.sha256(", ".join(words).encode()).hexdigest()[:4]
    return f"{', '.join(words[:2])}, … {words[-1]} ({len(words)} stages, {digest})"


def _stage(stage: StageRecord) -> str:
    lasts = stage.duration_s
    return f"{stage.to:,g} {f'in {format_seconds(lasts)}' if lasts else 'at once'}"


def _bursts(described: LoadRecord) -> str:
    """All of bursts but their number of calls."""
    rate = described.rate
    pace = "at once" if rate is None else f"at {rate:,g}/s"
    how = f" ({described.gaps})" if described.gaps != "constant" else ""
    return f"calls {pace}, {format_seconds(described.gap_s or 0.0)} apart{how}"


def _counted(amounts: Sequence[str], kind: str) -> str:
    if list(amounts) == ["1"]:
        kind = kind.replace("users", "user", 1)
    return f"{listed(amounts)} {kind}".strip()


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def openness(described: LoadRecord) -> str:
    """``closed`` or ``open``."""
    return "closed" if described.is_closed else "open"


@dataclass(frozen=True)
class Names:
    """Names that are unmistakable within one run."""

    stacks: Mapping[str, str]
    """Shortest name by stack reference."""
    everywhere: tuple[str, ...]
    """What holds for every point and no name says: ``placement pinned``."""
    _shared: Mapping[str, Any]

    @classmethod
    def of(cls, points: Iterable[Point]) -> Names:
        """The names of a run's points."""
        every = list(points)
        references = {point.stack for point in every}
        shared = _common([_conditions(point) for point in every])
        axes = _common([_axes(reference) for reference in references])
        named = [sanitize(f"{name}={value}") for name, value in axes.items()]
        also = [_option(key, value) for key, value in shared.items()]
        return cls(_stacks(references), tuple(filter(None, (*named, *also))), shared)

    def setting(self, point: Point) -> str:
        """``Hello 14 B, 32 users``, and what of link, class and options differs in the run."""
        return ", ".join((message(point), load(point.load), *self.differing(point)))

    def load(self, point: Point) -> str:
        """``32 users``, and what of link, class and options differs in the run."""
        return ", ".join((load(point.load), *self.differing(point)))

    def differing(self, point: Point) -> list[str]:
        """Link, semantic class and options, where they differ within the run."""
        own = ((k, v) for k, v in _conditions(point).items() if k not in self._shared)
        return [_condition(key, value) for key, value in own]

    def settings(self, points: Iterable[Point]) -> str:
        """Several settings in few words: ``Hello 14 B with 1 user, Hello 3 MB with 1 and 32
        users``."""
        groups: dict[tuple[str, ...], list[LoadRecord]] = {}
        for point in points:
            where = (message(point), *self.differing(point))
            groups.setdefault(where, []).append(point.load)
        return ", ".join(
            f"{', '.join(where)} with {loads(described)}" for where, described in groups.items()
        )


def _conditions(point: Point) -> dict[str, Any]:
    # The name of a message stands for what it is made of.
    shown = ((key, value) for key, value in sorted(point.options.items()) if key != "message")
    options = {key: value for key, value in shown if value}
    return {"link": point.link, "reply": point.semantic_class, **options}


def _option(key: str, value: Any) -> str:
    """What all points have: ``placement pinned``, ``chunk 16 kB``; the usual link needs no
    word, and the class is an axis that is shown already."""
    return "" if key == "reply" or (key, value) == ("link", LOOPBACK) else _condition(key, value)


def _condition(key: str, value: Any) -> str:
    if (key, value) == ("reply", PROXIED):
        return PROXIED
    if key.endswith("_bytes") and isinstance(value, int):
        return sanitize(f"{key.removesuffix('_bytes')} {size(value)}")
    return sanitize(f"{key.replace('_', ' ')} {_value(value)}")


def _value(value: Any) -> str:
    """``delay_us=100, wrong: every=10 what=content`` for switches of a service."""
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(
        f"{name}: {' '.join(f'{k}={v}' for k, v in inner.items())}"
        if isinstance(inner, Mapping)
        else f"{name}={inner}"
        for name, inner in value.items()
    )


def _stacks(references: Iterable[str]) -> dict[str, str]:
    """Binding and language, and of the named axes only those that do not all have the same
    value; the whole reference where that is mistakable."""
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


def _common(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = every[0] if every else {}
    return {k: v for k, v in first.items() if all(k in e and e[k] == v for e in every)}


def _values(axes: Mapping[str, str], common: Mapping[str, str]) -> list[str]:
    # `on` and `8` mean nothing alone; `close` and `text` do.
    return [
        value if value.isalpha() and value not in ("on", "off", "none") else f"{name}={value}"
        for name, value in axes.items()
        if name not in common
    ]
