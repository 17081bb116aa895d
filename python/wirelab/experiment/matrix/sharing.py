"""Which cells share a trial, in which their services take turns in slices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from wirelab.errors import ExperimentError
from wirelab.experiment.matrix.cells import Cell
from wirelab.experiment.model import Experiment
from wirelab.format.counting import of_all
from wirelab.records.trial import Point

SHARING_MAX = 6
"""Services that share a trial where the experiment leaves it open; each takes memory and lengthens
the pauses of the others."""
SLICES_REMEDY = "use `design: trials`, or `auto`"


@dataclass(frozen=True)
class Sharing:
    """The cells of an experiment, grouped by the trials that they share."""

    groups: Mapping[str, tuple[Cell, ...]]
    """By the digest of the first one's point, in the order of the experiment file."""
    apart: tuple[str, ...] = ()
    """Why services that could be compared within a trial are measured one at a time."""


def share_trials(experiment: Experiment, cells: Mapping[str, Cell]) -> Sharing:
    """``cells`` are given by the digests of their points. Raises :class:`ExperimentError` where
    slices are demanded and a setting does not allow them."""
    if experiment.design == "trials":
        return Sharing({digest: (cell,) for digest, cell in cells.items()})
    settings: dict[str, list[str]] = {}
    for digest, cell in cells.items():
        settings.setdefault(setting(cell.point), []).append(digest)
    if experiment.design == "slices":
        groups = [[cells[digest] for digest in digests] for digests in settings.values()]
        _accept_slices(groups, experiment.slice)
        found = [tuple(digests) for digests in settings.values()]
        return _gather(cells, found, ())
    return _share_where_valid(experiment.slice, cells, settings)


def setting(point: Point) -> str:
    """Everything of a point but its service."""
    shared = {**point.to_json(), "stack": "", "axes": {}, "service": {}}
    return json.dumps(shared, sort_keys=True)


def _share_where_valid(
    slice_s: float, cells: Mapping[str, Cell], settings: Mapping[str, Sequence[str]]
) -> Sharing:
    found: list[tuple[str, ...]] = []
    reasons: dict[str, list[Cell]] = {}
    for digests in settings.values():
        pause_s = slice_s * (min(len(digests), SHARING_MAX) - 1)
        refusals = {digest: cells[digest].fitness.refusal_for(pause_s) for digest in digests}
        fit = [digest for digest, refusal in refusals.items() if not refusal]
        shared = _divide(fit) if len(fit) > 1 else []
        found += shared
        found += [(digest,) for digest in digests if not any(digest in one for one in shared)]
        for digest, refusal in refusals.items():
            if refusal and len(digests) > 1:
                reasons.setdefault(refusal, []).append(cells[digest])
    apart = tuple(_reason(text, some, len(cells)) for text, some in reasons.items())
    return _gather(cells, found, apart)


def _divide(digests: Sequence[str]) -> list[tuple[str, ...]]:
    """Neighbours in groups of at most :data:`SHARING_MAX` that are as equal as possible."""
    count = ceil(len(digests) / SHARING_MAX)
    edges = [len(digests) * number // count for number in range(count + 1)]
    return [tuple(digests[edges[at] : edges[at + 1]]) for at in range(count)]


def _gather(
    cells: Mapping[str, Cell], found: Sequence[tuple[str, ...]], apart: tuple[str, ...]
) -> Sharing:
    place = {digest: number for number, digest in enumerate(cells)}
    ordered = sorted(found, key=lambda digests: place[digests[0]])
    groups = {digests[0]: tuple(cells[digest] for digest in digests) for digests in ordered}
    return Sharing(groups, apart)


def _reason(refusal: str, refused: Sequence[Cell], count: int) -> str:
    """``time must close the window (4 of 12 cells, the first with grpc@go)``."""
    first = refused[0].point.stack
    return f"{refusal} ({of_all(len(refused), count, 'cell')}, the first with {first})"


def _accept_slices(groups: Sequence[Sequence[Cell]], slice_s: float) -> None:
    refusals = [refusal for group in groups if (refusal := _refuse_slices(group, slice_s))]
    if refusals:
        raise ExperimentError(refusals)


def _refuse_slices(group: Sequence[Cell], slice_s: float) -> str:
    """Why the cells of a setting cannot share a trial; empty if they can."""
    if len(group) == 1:
        return (
            f"design: slices needs two services for each setting, and {group[0].point.stack} has "
            "none to share a trial with"
        )
    pause_s = slice_s * (len(group) - 1)
    refusals = (
        f"{cell.point.stack}: {refusal}; {SLICES_REMEDY}"
        for cell in group
        if (refusal := cell.fitness.refusal_for(pause_s))
    )
    return next(refusals, "")
