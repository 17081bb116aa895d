"""Explains why one of two services is slower: measures the changes between them.

Two stacks of wirelab are connected by stacks that differ in one axis each
(:mod:`wirelab.explain.path`). For the user's own services, everything that can be changed from
outside is changed (:mod:`wirelab.explain.outside`). Every run is an ordinary run directory below
the folder; the same command continues it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from wirelab.comparisons.limit import Acceptance
from wirelab.errors import LabError, StackError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.matrix import Cell
from wirelab.experiment.model import Experiment
from wirelab.explain import conditions, figures, outside
from wirelab.explain import path as paths
from wirelab.explain.answers import ServiceAnswer, StackAnswer
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.explanation import explain
from wirelab.explain.ladders import Ladder, Rung
from wirelab.explain.path import Refusal, Step
from wirelab.explain.phases import phase_gaps
from wirelab.explain.two_orders import Cells, Orders, judge, two_orders
from wirelab.format.counting import format_count
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.progress import Progress
from wirelab.run.runner import Run
from wirelab.stack import manifests, operations
from wirelab.stack.manifests import Catalogue
from wirelab.stack.reference import Stack
from wirelab.statistics.cell import cells as cells_of_trials
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.figure import Figure
from wirelab.statistics.shared_trials import contrast

MIXED = (
    "one service is a stack of wirelab, the other is your own: single changes cannot connect them",
    "give two stacks, or two services of your own",
)
"""A message and its remedy."""
PACKET_WINDOW = {"calls": 300, "max": "2 s"}
PACKET_REPEATS = 3
"""Trials with a capture: calls vary more than their split does."""


@dataclass(frozen=True)
class CauseQuestion:
    """What to explain."""

    text: str
    """An experiment with two cells; its repeats are not used."""
    name: str
    """Experiment file whose folder is the base of relative paths."""
    repeats: int
    threshold: float
    figure: str
    """A time (:data:`wirelab.explain.figures.NAMED`)."""
    accept: Acceptance


def causes(
    question: CauseQuestion, folder: Path, progress: Progress
) -> StackAnswer | ServiceAnswer:
    """Measures what is missing in ``folder``, and explains. Raises what
    :func:`wirelab.run.runner.run` raises; :class:`UsageError` if the experiment does not have two
    cells that differ only in their service; :class:`LabError` if a service could not be
    measured."""
    if figures.require_figure(question.figure).unit != "ns":
        raise UsageError(
            f"--figure {question.figure} is not a time",
            "give for example response_p50 or service_mean",
        )
    bench = _Bench(question, folder, progress, manifests.load())
    cells = bench.cells
    if len(cells) != 2:
        raise UsageError(
            f"the experiment has {format_count(len(cells), 'cell')}, and an explanation needs two",
            "give two services with one message, one load and one link",
        )
    own = [cell for cell in cells if cell.external is not None]
    if len(own) == 1:
        raise UsageError(*MIXED)
    return _services(bench) if own else _stacks(bench)


def _stacks(bench: _Bench) -> StackAnswer:
    a, b = (cell.stack for cell in bench.cells)
    refusal = _refusal(bench.catalogue, bench.cells[0])
    steps = paths.path(a, b, refusal)
    stops = [a, *(step.after for step in steps)]
    ladder = _ladder(steps, bench)
    runs = {"path": bench.run("path", services=_references(stops))}
    explanation = explain(runs["path"].trials, ladder)
    along = bench.cells_of(runs["path"])
    orders: tuple[Orders, ...] = ()
    rest: Comparison | None = None
    if len(steps) > 1:
        designs = [two_orders(a, b, step, refusal) for step in steps]
        needed = dict.fromkeys(stack for design in designs for stack in design.stacks)
        runs["orders"] = bench.run("orders", services=_references(tuple(needed)))
        again, threshold = bench.cells_of(runs["orders"]), bench.question.threshold
        orders = tuple(judge(design, again, bench.figure, threshold) for design in designs)
        rest = _rest(again, along, (a.reference, b.reference), bench)
    captured, no_packets = bench.capture_packets(services=_references(stops))
    runs |= {"packets": captured} if captured else {}
    trials = captured.trials if captured else ()
    phases = phase_gaps(_of(trials, a.reference), _of(trials, b.reference))
    return StackAnswer(
        bench.question.figure,
        explanation,
        steps,
        orders,
        rest,
        phases,
        no_packets,
        along,
        runs,
    )


def _ladder(steps: Sequence[Step], bench: _Bench) -> Ladder:
    point = bench.cells[0].point
    cells = [
        CellSelector(stack.reference, point.operation)
        for stack in (steps[0].before, *(step.after for step in steps))
    ]
    rungs = tuple(
        Rung(
            f"step-{place}",
            step.label,
            "",
            cells[place - 1],
            cells[place],
            near=False,
        )
        for place, step in enumerate(steps, 1)
    )
    return Ladder(
        "explain",
        "Why do they differ?",
        cells[0],
        cells[-1],
        None,
        rungs,
        figure=bench.question.figure,
        threshold=bench.question.threshold,
    )


def _refusal(catalogue: Catalogue, cell: Cell) -> Refusal:
    def reason(stack: Stack) -> str:
        try:
            catalogue.manifest(stack, cell.message.contract)
        except StackError as error:
            return error.message
        unable = (operations.refusal(name, stack.axes) for name in cell.message.called)
        return next(filter(None, unable), "")

    return reason


def _rest(again: Cells, along: Cells, names: tuple[str, str], bench: _Bench) -> Comparison | None:
    """Part of the separately measured total that the steps do not explain."""
    a, b = names
    terms = [(1.0, again, b), (-1.0, again, a), (-1.0, along, b), (1.0, along, a)]
    found = [(weight, cells[name]) for weight, cells, name in terms if name in cells]
    if len(found) < len(terms) or not all(cell.values(bench.figure) for _, cell in found):
        return None
    return contrast(found, bench.figure, bench.question.threshold)


def _services(bench: _Bench) -> ServiceAnswer:
    design = outside.design(bench.cells, bench.experiment.called, links=os.geteuid() == 0)
    # Conditions change the pauses of a service, so each is measured by itself.
    values = {**design.experiment(bench.values, bench.question.repeats), "design": "trials"}
    runs = {"conditions": bench.run("conditions", **values)}
    trials = runs["conditions"].trials
    times, failures = _collect_times(design, trials, figures.require_figure(bench.question.figure))
    gap = conditions.gap(times)
    if gap is None:
        reasons = dict.fromkeys(
            trial.reason or f"all calls failed{_example(trial)}"
            for trial in trials
            if trial.reason or not trial.result.ok
        )
        raise LabError(
            "a service could not be measured without changes: " + "; ".join(reasons),
            f"read the logs in {bench.folder / 'conditions' / 'trials'}",
        )
    captured, no_packets = bench.capture_packets()
    runs |= {"packets": captured} if captured else {}
    names = [cell.stack.reference for cell in bench.cells]
    taken = captured.trials if captured else ()
    plain = [_select_trials(design, design.variants[0], side, trials) for side in ("a", "b")]
    return ServiceAnswer(
        (names[0], names[1]),
        bench.question.figure,
        gap,
        conditions.shifts(design.conditions, times, failures),
        design.refused,
        {name: (_mean(plain[0], name), _mean(plain[1], name)) for name in CPU},
        (_connections(plain[0]), _connections(plain[1])),
        tuple(t.reason for one in plain for t in one if t.status == "failed"),
        phase_gaps(_of(taken, names[0]), _of(taken, names[1])),
        no_packets,
        runs,
    )


CPU = ("service_cpu", "client_cpu")


def _connections(trials: Sequence[Trial]) -> float | None:
    """Connections opened per call; None if the caller did not count them."""
    counts = [(t.result.connections_opened, t.result.calls_whole_run) for t in trials]
    known = [opened / calls for opened, calls in counts if opened is not None and calls]
    return sum(known) / len(known) if known else None


def _collect_times(
    design: outside.Design, trials: Sequence[Trial], figure: Figure
) -> tuple[conditions.Times, Mapping[str, str]]:
    """Times under every condition, and the reason if a condition has none."""
    times, failures = {}, {}
    for variant in design.variants:
        both = [_select_trials(design, variant, side, trials) for side in ("a", "b")]
        made = [[v for t in one if (v := figure.of(t)) is not None] for one in both]
        times[variant.condition.id] = (made[0], made[1])
        failed = [t.reason for one in both for t in one if t.status == "failed"]
        wrong = [
            f"{t.result.errors} of {t.result.calls} calls failed{_example(t)}"
            for one in both
            for t in one
            if t.status == "measured" and t.result.errors
        ]
        if failed or (wrong and variant.condition.id):
            failures[variant.condition.id] = (failed or wrong)[0]
    return times, failures


def _select_trials(
    design: outside.Design, variant: outside.Variant, side: str, trials: Sequence[Trial]
) -> list[Trial]:
    """The trials of one service under one condition."""
    place: outside.Place = getattr(variant, side)
    has_one_user = any(one.a.load for one in design.variants)
    return [
        trial
        for trial in trials
        if trial.point.stack == place.stack.reference
        and (trial.point.link == outside.LINK["name"]) == bool(place.link)
        and (has_one_user and trial.point.load.users == 1) == bool(place.load)
    ]


def _example(trial: Trial) -> str:
    """Error of the first failed call."""
    examples = trial.result.error_examples
    return f", for example: {examples[0]}" if examples else ""


def _mean(trials: Sequence[Trial], figure: str) -> float | None:
    found = [v for trial in trials if (v := figures.require_figure(figure).of(trial)) is not None]
    return sum(found) / len(found) if found else None


def _of(trials: Sequence[Trial], stack: str) -> list[Trial]:
    return [t for t in trials if t.point.stack == stack and t.status == "measured"]


def _references(stacks: Sequence[Stack]) -> list[str]:
    return [stack.reference for stack in stacks]


@dataclass(frozen=True)
class _Bench:
    """Runs variations of the experiment, each in a folder of its own."""

    question: CauseQuestion
    folder: Path
    progress: Progress
    catalogue: Catalogue

    @property
    def values(self) -> dict[str, object]:
        """The experiment as written."""
        return dict(documents.read(self.question.text, self.question.name).values)

    @property
    def experiment(self) -> Experiment:
        """The experiment, parsed."""
        return experiment_file.parse(self.question.text, self.question.name)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the unchanged experiment."""
        return planning.schedule(self.experiment, self.catalogue).cells

    @property
    def figure(self) -> Figure:
        """What is explained."""
        return figures.require_figure(self.question.figure)

    def cells_of(self, run: Run) -> Cells:
        """The cells of a run that differ in their stack alone, by its reference."""
        return {cell.point.stack: cell for cell in cells_of_trials(run.trials)}

    def run(self, part: str, /, **changes: Any) -> Run:
        """Runs the experiment with these keys replaced. Services take turns within a trial where
        they can, unless the file has another design."""
        repeats = self.question.repeats
        values = {"design": "auto", **self.values, "repeats": repeats, **changes}
        if "only" not in changes:
            values = {k: v for k, v in values.items() if k not in ("axes", "only")}
        source = yaml.safe_dump(values, sort_keys=False)
        return running.run(
            experiment_file.parse(source, self.question.name),
            self.folder / part,
            source=source,
            progress=self.progress,
            whole=self.folder,
            **vars(self.question.accept),
        )

    def capture_packets(self, **changes: Any) -> tuple[Run | None, str]:
        """The experiment with packet capture, or the reason why packets cannot be captured."""
        if os.geteuid() != 0:
            return None, "capturing packets needs root"
        packets = {
            "capture": "client",
            "design": "trials",
            "window": PACKET_WINDOW,
            "repeats": PACKET_REPEATS,
        }
        values = self.values
        if not changes:
            kept = ("services", "axes", "only")
            changes = {name: values[name] for name in kept if name in values}
        try:
            return self.run("packets", **packets, **changes), ""
        except LabError as error:
            return None, error.message
