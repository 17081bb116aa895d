"""Which findings of a study some of its trials can decide, known before anything is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirelab.experiment import matrix as planning
from wirelab.experiment.model import Experiment
from wirelab.explain.cell_selector import CellSelector
from wirelab.format.counting import format_count, of_all
from wirelab.records.trial import Point
from wirelab.stack.manifests import Catalogue
from wirelab.statistics.cell import point_key
from wirelab.study import claims
from wirelab.study.model import Claim, Study

TRIALS_MIN = 2
"""Trials of a cell that an interval needs."""


@dataclass(frozen=True)
class Coverage:
    """The findings of a study by how much of them is measured, each by its id."""

    whole: tuple[str, ...]
    """Findings that can hold or not hold."""
    some: tuple[str, ...]
    """Findings with levels that are not measured: they can only fail to hold."""
    none: tuple[str, ...]
    """Findings that stay undecided, or are left out."""

    def sentences(self) -> Iterator[str]:
        """What is not judged, for people."""
        count = len(self.whole) + len(self.some) + len(self.none)
        if self.none:
            total = of_all(len(self.none), count, "finding")
            yield f"It cannot judge {total}: {', '.join(self.none)}."
        if self.some:
            total = format_count(len(self.some), "finding")
            yield f"It can refute but not confirm {total}: {', '.join(self.some)}."


def coverage(study: Study, experiments: Mapping[str, Experiment], catalogue: Catalogue) -> Coverage:
    """What the trials of these experiments decide, which are parts of the study by name."""
    points = {
        part: [
            cell.point
            for trial in planning.schedule(experiment, catalogue).trials
            for cell in trial.cells
        ]
        for part, experiment in experiments.items()
    }
    found: dict[str, list[str]] = {"whole": [], "some": [], "none": []}
    for claim in study.findings:
        parts = study.parts_of(claim)
        trials = [point for part in parts for point in points.get(part, ())]
        is_run = set(parts) <= points.keys()
        measured = [
            is_run and _has_trials(cells, trials, claim) for cells in _list_cells(study, claim)
        ]
        # A claim about some level is judged on all of its levels or left.
        is_partial = any(measured) and not claim.some
        amount = "whole" if all(measured) else "some" if is_partial else "none"
        found[amount].append(claim.id)
    return Coverage(**{amount: tuple(ids) for amount, ids in found.items()})


def _list_cells(study: Study, claim: Claim) -> Iterator[Sequence[CellSelector]]:
    """The cells of each level; of a crossing, those at both ends of its series."""
    finding = claim.finding(study.arms, study.threshold)
    crossing = claim.to_crossing(study.arms, study.threshold)
    ends = ({},) if crossing is None else (crossing.along[0], crossing.along[-1])
    for level in finding.levels:
        for end in ends:
            yield claims.cells(finding, {**level, **end})


def _has_trials(cells: Iterable[CellSelector], trials: Iterable[Point], claim: Claim) -> bool:
    """Whether each of these cells has as many trials as the claim needs."""
    least = 1 if claim.order else TRIALS_MIN
    listed = list(trials)
    return all(
        max(_repeats(point for point in listed if cell.matches(point)), default=0) >= least
        for cell in cells
    )


def _repeats(points: Iterable[Point]) -> list[int]:
    """Trials of each cell."""
    return list(Counter(point_key(point) for point in points).values())
