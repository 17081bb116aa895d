"""Finds the call rate at which a service starts to miss an objective, on fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from wirelab.checks.load import client_bound, fell_behind
from wirelab.clients.together import ClientPool
from wirelab.comparisons.capacity import MOST
from wirelab.comparisons.steady_limit import (
    SteadyLimit,
    TooFewCalls,
    Windows,
    find_limit,
    round_rate,
)
from wirelab.errors import LabError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_source as documents
from wirelab.explain.thresholds import Condition
from wirelab.format.counting import format_count
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.statistics.interval import Interval

IN_FLIGHT_MAX = 2_000
"""Maximum number of calls in flight; the rest of an overload waits in the engine's queue."""
USERS = 16
"""Users of the closed load whose rate determines the search range."""
CURVE = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)
"""Rates of the overload curve, as shares of the limit."""
GROWTH = 8
"""Longest window, as a multiple of the first, unless another is given."""
LOW = 0.6
"""Share of the rate of a closed load below which a limit is reported as low."""
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
EXAMPLE = "give for example 'p99<50ms, errors<0.1%'"


@dataclass(frozen=True)
class Objective:
    """Conditions that every trial must meet, e.g. ``p99<50ms, errors<0.1%``."""

    text: str
    conditions: tuple[Condition, ...]
    """Each condition, negated."""

    @classmethod
    def parse(cls, text: str, option: str = "--objective") -> Objective:
        """``option`` is named in messages. Raises :class:`UsageError`."""
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise UsageError(f"{option} is empty", EXAMPLE)
        return cls(text, tuple(_condition(part, option) for part in parts))

    def is_met(self, trial: Trial) -> bool:
        """Whether the trial meets all conditions and kept up with its arrivals. Raises
        :class:`UsageError` if a trial has too few calls to decide."""
        if fell_behind(trial):
            return False
        for condition in self.conditions:
            judged = condition.judge_run(trial.point.stack, trial)
            if judged.verdict == "undecided":
                raise TooFewCalls(
                    f"{condition.text}: {judged.reason} at {trial.point.load.rate:g} calls a "
                    "second",
                    "give a longer --duration, or an objective of a lower percentile",
                )
            if judged.verdict == "does not hold":
                return False
        return True


@dataclass(frozen=True)
class Acceptance:
    """Options of :func:`wirelab.run.runner.run` that a user may enable."""

    unverified: bool = False
    any_target: bool = False
    retry_failed: bool = False
    ready_timeout_s: float | None = None
    share: bool = False


@dataclass(frozen=True)
class LimitQuestion:
    """What to search for."""

    text: str
    """An experiment with one cell; its loads and repeats are not used."""
    name: str
    """Experiment file whose folder is the base of relative paths."""
    objective: Objective
    probes_max: int = MOST
    window_max_s: float | None = None
    """The longest window; None for :data:`GROWTH` times that of the experiment."""
    curve: bool = True
    accept: Acceptance = Acceptance()


@dataclass(frozen=True)
class LimitAnswer:
    """Result of the search."""

    found: SteadyLimit
    closed_rate: float
    """Rate of the closed load, calls per second."""
    engine_bound: bool
    """True if the engine was the limit, so that the service may reach a higher rate."""
    curve: tuple[Trial, ...]
    folder: Path

    @property
    def limit(self) -> Interval:
        """Calls per second."""
        return self.found.limit

    @property
    def is_low(self) -> bool:
        """Whether random arrivals reach far less than the closed load did."""
        return self.limit.estimate < LOW * self.closed_rate


def limit(
    question: LimitQuestion, folder: Path, progress: Progress, clients: ClientPool | None = None
) -> LimitAnswer:
    """Searches, then measures the curve; continues an earlier search in the same folder.
    ``clients`` stay from one trial to the next, where the experiment has several.

    Raises what :func:`wirelab.run.runner.run` raises; :class:`UsageError` if the experiment has
    more than one cell; :class:`LabError` if a trial fails."""
    bench = _Bench(question, folder, progress, clients)
    (closed,) = bench.measure([{"closed": {"users": USERS}}], "closed")
    rate = closed.result.rate_per_s
    if rate <= 0.0:
        examples = closed.result.error_examples
        why = f": {examples[0]}" if examples else ""
        raise UsageError(
            f"no call of the closed load succeeded{why}",
            f"correct the request or the service; the logs are in {folder / 'closed' / 'trials'}",
        )
    probes = _Probes(bench, question.objective)
    found = find_limit(probes.ask, rate, bench.windows, question.probes_max)
    curve: tuple[Trial, ...] = ()
    if question.curve and found.is_measurable and not found.search.at_edge:
        rates = [round_rate(share * found.limit.estimate) for share in CURVE]
        made = bench.measure([_open(one) for one in rates], "curve")
        curve = tuple(sorted(made, key=lambda trial: trial.point.load.rate or 0.0))
    return LimitAnswer(found, rate, probes.engine_bound, curve, folder)


def _condition(text: str, option: str) -> Condition:
    """Parses ``p99<50ms`` into the condition that must not be met."""
    for operator in ("<=", ">=", "<", ">"):
        name, found, value = text.partition(operator)
        if found:
            try:
                parsed = Condition.parse(flipped := f"{name}{FLIPPED[operator]}{value}")
            except UsageError as error:
                message = error.message.replace("--fail-if", option)
                message = message.replace(repr(flipped), repr(text))
                raise UsageError(message, EXAMPLE) from error
            better = "lower" if parsed.figure is None else parsed.figure.better
            if parsed.above != (better == "lower"):
                raise UsageError(
                    f"{option} {text!r} asks for a worse value: {better} is better", EXAMPLE
                )
            return replace(parsed, text=text)
    raise UsageError(f"{option} {text!r} is not a condition", EXAMPLE)


def _open(rate: float) -> dict[str, object]:
    return {"poisson": {"rate": rate, "in_flight_max": IN_FLIGHT_MAX}}


@dataclass
class _Probes:
    """Trials of the search, in the order in which they are asked for."""

    bench: _Bench
    objective: Objective
    engine_bound: bool = False
    count: int = 0

    def ask(self, rate: float, seconds: float) -> bool:
        """Whether a trial meets the objective. Raises :class:`TooFewCalls`."""
        self.count += 1
        (trial,) = self.bench.measure([_open(rate)], f"probe-{self.count:02}", seconds)
        is_met = self.objective.is_met(trial)
        self.engine_bound |= not is_met and client_bound(trial)
        return is_met


@dataclass(frozen=True)
class _Bench:
    """Measures the cell at other loads."""

    question: LimitQuestion
    folder: Path
    progress: Progress
    clients: ClientPool | None

    @property
    def windows(self) -> Windows:
        """The given window and the longest. A window of a number of calls does not grow."""
        experiment = experiment_file.parse(self.question.text, self.question.name)
        first = experiment.window.duration or experiment.window.max
        if experiment.window.duration is None:
            return Windows(first, first)
        return Windows(first, max(first, self.question.window_max_s or GROWTH * first))

    def measure(
        self, loads: Sequence[dict[str, object]], name: str, window_s: float | None = None
    ) -> tuple[Trial, ...]:
        """One trial per load; trials that the run directory already contains are not repeated."""
        written = documents.read(self.question.text, self.question.name).values
        values = {**written, "loads": list(loads), "repeats": 1}
        if window_s is not None and self.windows.can_grow:
            values["window"] = {"duration": f"{window_s:g} s"}
        source = yaml.safe_dump(values, sort_keys=False)
        experiment = experiment_file.parse(source, self.question.name)
        cells = len(planning.schedule(experiment, manifests.load()).cells)
        if cells != len(loads):
            raise UsageError(
                f"the experiment has {format_count(cells // len(loads), 'cell')} per load, not one",
                "give one service with one message and one link",
            )
        folder = self.folder / name
        run = running.run(
            experiment,
            folder,
            source=source,
            progress=self.progress,
            whole=self.folder,
            clients=self.clients,
            **vars(self.question.accept),
        )
        trials = {trial.id: trial for trial in run.trials}
        for trial in trials.values():
            if trial.status != "measured":
                raise LabError(f"a trial failed: {trial.reason}", f"read its logs in {folder}")
        return tuple(trials.values())
