"""The plan of a test, recorded before its first trial.

It is stored in the test's own experiment file under ``interventions``, and therefore in its
manifest. A prediction is recorded before its result is known, and never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from wirelab.experiment.fields import Model
from wirelab.records.trial import Point, Trial
from wirelab.records.wire import HELD_BY_PROXY, PacketFinding
from wirelab.stack.reference import Stack
from wirelab.statistics.cell import Cell

Json = dict[str, Any]


class Spot(Model):
    """A point of a matrix without its axes, which the stack contains."""

    stack: str
    contract: str
    operation: str
    bytes: int
    link: str
    load: Json
    options: Json

    @classmethod
    def of(cls, point: Point) -> Spot:
        """Name of the point."""
        line = point.to_json()
        return cls.model_validate({name: line[name] for name in cls.model_fields})

    @property
    def point(self) -> Point:
        """The point itself."""
        return Point.of({"axes": Stack.parse(self.stack).axes.texts, **self.model_dump()})


class Claim(Model):
    """Evidence in the packets of one cell for one cause; means over its trials."""

    cause: str
    ms_per_call: float = Field(description="predicted saving in milliseconds per call")
    ms_least: float | None = Field(
        None,
        description="the least of it, where packets do not show how much the setting causes",
    )
    occurrences_per_call: float = Field(description="share of exchanges that show it")
    share: float = Field(description="share of the time of a call, 0 to 1")
    trials: int = Field(description="number of trials in the means")


class Planned(Model):
    """One claim, and the one setting to flip to test it."""

    claim: Claim
    axis: str
    was: str
    becomes: str
    lapses: dict[str, str] = Field(
        default_factory=dict, description="axes that do not exist without the value: their defaults"
    )
    before: Spot
    after: Spot
    beside: tuple[str, ...] = Field(
        (), description="other causes of the cell that blame the same setting"
    )
    ms_predicted: float = Field(
        description="milliseconds per call, for all causes that blame the setting"
    )
    ms_least: float | None = Field(
        None, description="the least of it; without it, all is predicted to go"
    )

    @property
    def change(self) -> str:
        """``server.nagle=off``."""
        return f"{self.axis}={self.becomes}"

    @property
    def least(self) -> float:
        """The least saving that is predicted, milliseconds per call."""
        return self.ms_predicted if self.ms_least is None else self.ms_least


class Together(Model):
    """All settings of one cell flipped together."""

    changes: tuple[str, ...]
    before: Spot
    after: Spot


class Untested(Model):
    """A claim without a test, and the reason."""

    claim: Claim
    before: Spot
    reason: str
    possible: bool = Field(description="it can be tested, but its share is too small")

    @property
    def words(self) -> str:
        """Why it was not tested."""
        return self.reason if self.possible else f"cannot be tested here, because {self.reason}"


class Interventions(Model):
    """Everything about a run's findings that was decided before the test."""

    minimum_share: float
    tests: tuple[Planned, ...] = ()
    together: tuple[Together, ...] = ()
    untested: tuple[Untested, ...] = ()


Switch = tuple[str, str]
"""An axis, and the value that a finding suggests."""


def select_captured(cell: Cell) -> list[Trial]:
    """Trials of the cell whose packets show exchanges."""
    return [trial for trial in cell.measured if trial.wire and trial.wire.exchanges]


def call_ns(trial: Trial) -> float | None:
    """Mean time of a call that packets can show, nanoseconds: service time, plus the time to open
    connections divided among the calls. None if it was not recorded.

    It is not the response time, which includes waiting for a free connection: saving one
    millisecond in every exchange can save several there."""
    service, connect = (trial.result.times.get(name) for name in ("service", "connect"))
    if service is None or not service.count:
        return None
    opening = connect.mean_ns * connect.count if connect else 0.0
    return service.mean_ns + opening / service.count


def first_byte_ns(trial: Trial) -> float | None:
    """Mean time from a call's first byte to the first byte of its reply, nanoseconds; None where
    it was not recorded."""
    write, wait = (trial.result.times.get(name) for name in ("write", "wait"))
    if write is None or wait is None or not wait.count:
        return None
    return write.mean_ns + wait.mean_ns


def time_of_cause_ns(trial: Trial, cause: str) -> float | None:
    """The time that a cause is charged to: of a reply that a proxy held back, the time to its
    first byte, for its last one may come as late without the proxy; of all others, the call's."""
    return first_byte_ns(trial) if cause == HELD_BY_PROXY else call_ns(trial)


def occurrences_per_call(trial: Trial, cause: str) -> float:
    """Occurrences divided by exchanges, over everything captured."""
    finding = _finding(trial, cause)
    return finding.occurrences / trial.wire.exchanges if trial.wire and finding else 0.0


def ms_per_call(trial: Trial, cause: str) -> float:
    """Milliseconds attributed to the cause divided by exchanges, over everything captured."""
    finding = _finding(trial, cause)
    return finding.ms_total / trial.wire.exchanges if trial.wire and finding else 0.0


def ms_least_per_call(trial: Trial, cause: str) -> float:
    """The least that packets prove the blamed setting to save, milliseconds divided by exchanges;
    all of the cause where its finding has no test."""
    finding = _finding(trial, cause)
    least = finding.test.ms_least if finding and finding.test else None
    if least is None or not trial.wire:
        return ms_per_call(trial, cause)
    return least / trial.wire.exchanges


def claims(cell: Cell) -> list[Claim]:
    """One claim per cause that any trial of the cell shows, most expensive first."""
    trials = select_captured(cell)
    causes = dict.fromkeys(
        finding.cause for trial in trials if trial.wire for finding in trial.wire.findings
    )
    found = [_claim(trials, cause) for cause in causes]
    return sorted(found, key=lambda claim: -claim.ms_per_call)


def switch(cell: Cell, cause: str) -> Switch | None:
    """The setting that the cell's findings of that cause blame; the most frequent if they
    differ."""
    blamed: Counter[Switch] = Counter()
    for trial in select_captured(cell):
        finding = _finding(trial, cause)
        if finding is not None and finding.test is not None:
            blamed[finding.test.axis, finding.test.value] += 1
    return blamed.most_common(1)[0][0] if blamed else None


def _claim(trials: Sequence[Trial], cause: str) -> Claim:
    ms = _mean([ms_per_call(trial, cause) for trial in trials])
    least = _mean([ms_least_per_call(trial, cause) for trial in trials])
    times = [time for trial in trials if (time := time_of_cause_ns(trial, cause)) is not None]
    return Claim(
        cause=cause,
        ms_per_call=ms,
        ms_least=least if least < ms else None,
        occurrences_per_call=_mean([occurrences_per_call(trial, cause) for trial in trials]),
        share=ms * 1e6 / _mean(times) if times else 0.0,
        trials=len(trials),
    )


def _finding(trial: Trial, cause: str) -> PacketFinding | None:
    return trial.wire.finding(cause) if trial.wire else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
