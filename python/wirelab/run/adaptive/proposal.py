"""Selects the findings of a run to test, with their changes; others get a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wirelab.errors import StackError, UsageError
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import Cell
from wirelab.experiment.model import CaptureChoice, Experiment
from wirelab.records.trial import Trial
from wirelab.run.adaptive.derived import Matrix, Setting
from wirelab.run.adaptive.flips import FAULTS, LINK, CannotTest, Flip, flip, is_fault
from wirelab.run.adaptive.record import (
    Claim,
    Interventions,
    Planned,
    Together,
    Untested,
    claims,
    select_captured,
    switch,
)
from wirelab.stack.manifests import Catalogue
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics.cell import Cell as Measured
from wirelab.statistics.cell import cells, point_key

MINIMUM_SHARE = 0.05
"""Share of the time of a call from which a finding is tested."""


@dataclass(frozen=True)
class Found:
    """A cell of a run with captured packets: as planned and as measured."""

    cell: Cell
    measured: Measured


@dataclass(frozen=True)
class Proposal:
    """Planned tests, and the points that they need."""

    record: Interventions
    matrix: Matrix


def propose(
    experiment: Experiment,
    catalogue: Catalogue,
    trials: Iterable[Trial],
    causes: Collection[str] = (),
) -> Proposal:
    """Every finding of the trials, either tested or with the reason why not. With ``causes``, only
    those, regardless of their cost. Raises :class:`UsageError` if no trial captured packets, or if
    none shows one of ``causes``."""
    found = _find_captured(experiment, catalogue, trials)
    _accept(causes, found)
    matrix = Matrix(experiment, catalogue, _side(found))
    parts = [_of_cell(one, matrix, causes) for one in found]
    record = Interventions(
        minimum_share=MINIMUM_SHARE,
        tests=tuple(test for tests, _ in parts for test in tests),
        untested=tuple(left for _, untested in parts for left in untested),
    )
    together = tuple(_together(record.tests, found, matrix))
    return Proposal(record.model_copy(update={"together": together}), matrix)


def _find_captured(
    experiment: Experiment, catalogue: Catalogue, trials: Iterable[Trial]
) -> list[Found]:
    """Each point once: captures at different ends count as one point."""
    planned = {
        point_key(t.cell.point): t.cell for t in planning.schedule(experiment, catalogue).trials
    }
    found: dict[str, Found] = {}
    for measured in cells(trials):
        cell = planned.get(point_key(measured.point))
        if cell is None or cell.external is not None or not select_captured(measured):
            continue
        options = {**measured.point.options, "capture": ""}
        found.setdefault(point_key(replace(measured.point, options=options)), Found(cell, measured))
    if not found:
        raise UsageError(
            "no trial of this run captured packets of a wirelab service; only these services have "
            "the settings that a test flips",
            "run such an experiment with `capture: client`",
        )
    return list(found.values())


def _accept(causes: Collection[str], found: Sequence[Found]) -> None:
    known = dict.fromkeys(claim.cause for one in found for claim in claims(one.measured))
    for cause in causes:
        if cause not in known:
            remedy = did_you_mean(cause, known) if known else "its packets contain no findings"
            raise UsageError(f"--cause {cause}: this run has no such finding", remedy)


def _side(found: Sequence[Found]) -> CaptureChoice:
    return "server" if all(one.cell.capture == "server" for one in found) else "client"


def _of_cell(
    one: Found, matrix: Matrix, causes: Collection[str]
) -> tuple[list[Planned], list[Untested]]:
    tests: list[Planned] = []
    untested: list[Untested] = []
    before = matrix.spot(one.cell)
    for claim in claims(one.measured):
        if causes and claim.cause not in causes:
            continue
        try:
            change = _change(one, claim, matrix)
        except CannotTest as reason:
            left = Untested(claim=claim, before=before, reason=str(reason), possible=False)
            untested.append(left)
            continue
        if claim.share < MINIMUM_SHARE and not causes:
            left = Untested(claim=claim, before=before, reason=_too_small(claim), possible=True)
            untested.append(left)
        else:
            tests.append(_plan(one, claim, change, matrix))
    return [_sum_shared(test, tests) for test in tests], untested


def _sum_shared(test: Planned, tests: Sequence[Planned]) -> Planned:
    """A setting that removes several causes cannot separate them: the prediction is their sum."""
    same = [other for other in tests if other.after == test.after]
    beside = tuple(other.claim.cause for other in same if other is not test)
    predicted = sum(other.claim.ms_per_call for other in same)
    least = sum(other.least for other in same)
    certain = least if least < predicted else None
    update = {"beside": beside, "ms_predicted": predicted, "ms_least": certain}
    return test.model_copy(update=update)


def _too_small(claim: Claim) -> str:
    return (
        f"it takes less than {100 * MINIMUM_SHARE:g} % of the time of a call; use "
        f"`--cause {claim.cause}` to test it anyway"
    )


def _change(one: Found, claim: Claim, matrix: Matrix) -> Flip:
    """Raises :class:`CannotTest`."""
    change = flip(claim.cause, switch(one.measured, claim.cause), one.cell)
    refusal = matrix.refusal(one.cell, _setting(change))
    if refusal:
        raise CannotTest(refusal)
    return change


def _plan(one: Found, claim: Claim, change: Flip, matrix: Matrix) -> Planned:
    return Planned(
        claim=claim,
        axis=change.axis,
        was=change.was,
        becomes=change.becomes,
        lapses=dict(change.lapses),
        ms_predicted=claim.ms_per_call,
        ms_least=claim.ms_least,
        before=matrix.add(one.cell),
        after=matrix.add(one.cell, _setting(change)),
    )


def _setting(change: Flip) -> Setting:
    return Setting(change.stack, change.link, change.faults_off)


def _together(
    tests: Sequence[Planned], found: Sequence[Found], matrix: Matrix
) -> Iterator[Together]:
    """If several settings of a cell are flipped separately, also flips all of them at once, unless
    they exclude each other."""
    for one in found:
        before = matrix.spot(one.cell)
        changes = {test.axis: test for test in tests if test.before == before}
        if len(changes) < 2:
            continue
        link = matrix.link(changes[LINK].becomes) if LINK in changes else one.cell.link
        faults_off = tuple(axis.removeprefix(FAULTS) for axis in changes if is_fault(axis))
        axes = {
            axis: test.becomes
            for axis, test in changes.items()
            if axis != LINK and not is_fault(axis)
        }
        lapses = {axis: value for test in changes.values() for axis, value in test.lapses.items()}
        try:
            stack = one.cell.stack.with_axes({**lapses, **axes})
        except StackError:
            continue
        both = Setting(stack, link, faults_off)
        if not matrix.refusal(one.cell, both):
            switched = tuple(test.change for test in changes.values())
            after = matrix.add(one.cell, both)
            yield Together(changes=switched, before=before, after=after)
