"""Progress display: a live status line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from wirelab.format.console import Console, Line, Ticker, fold, shorten
from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_bytes, format_seconds
from wirelab.records.trial import Trial
from wirelab.stack import operations
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.documents.event import Progress as EngineProgress
    from wirelab.experiment.matrix import PlannedTrial


LOAD_CHECKS = ("achieved rate", "kept up")
"""Checks that a load was what was ordered."""
STACK_WIDTH_MIN = 24
"""Fewest columns to which a stack is shortened before other details are left out."""


@dataclass(frozen=True)
class RemainingWork:
    """What a run has to do when it begins or continues."""

    seconds: Sequence[float]
    """Planned lengths of the remaining trials, in their order."""
    finished: int = 0
    """Number of finished trials."""
    at_most: bool = False
    """Whether the lengths are upper bounds: a window of calls ends when the calls are made."""
    ends_early: bool = False
    """Whether the number of trials is an upper bound."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Short names of stacks, as reports have them."""
    at_once: int = 1
    """Hosts that each measure a trial at the same time."""

    @property
    def trials(self) -> int:
        """Number of all trials."""
        return len(self.seconds) + self.finished


class Progress(Protocol):
    """Observes the progress of a run."""

    def begin(self, work: RemainingWork) -> None:
        """Called before anything is built."""

    def note(self, text: str) -> None:
        """Reports a message."""

    def building(self, text: str) -> None:
        """Called several times per second during a build with a line about it, and with an empty
        one at its end."""

    def trial(self, planned: PlannedTrial) -> None:
        """Called when a trial begins."""

    def update(self, progress: EngineProgress) -> None:
        """Called for every progress line of the engine."""

    def runtime(self, values: Mapping[str, float]) -> None:
        """Called for every sample of the service's runtime metrics, named as in
        :mod:`wirelab.process.runtime_metrics`."""

    def end_trial(self, trial: Trial) -> None:
        """Called when a trial has ended."""

    def end(self) -> None:
        """Called at the end of the run."""


PLAN_TRIALS = 4
"""Trials that the planned lengths weigh in an estimate."""


class TimeLeft:
    """Estimate of the seconds left: planned lengths of the remaining trials, multiplied by the
    ratio of actual to planned time of the finished trials. The plan counts as
    :data:`PLAN_TRIALS` trials more, so that one slow trial does not multiply the estimate."""

    def __init__(self, planned: Sequence[float], at_once: int = 1) -> None:
        """``at_once`` hosts measure trials at the same time."""
        self._planned = deque(planned)
        self._left_planned = sum(planned)
        self._at_once = at_once
        self._done_planned = self._done_taken = PLAN_TRIALS * fmean(planned) if planned else 0.0

    def took(self, seconds: float) -> None:
        """Records that the next trial has ended after ``seconds``."""
        planned = self._planned.popleft()
        self._left_planned -= planned
        self._done_planned += planned
        self._done_taken += seconds

    def seconds(self, into_trial: float = 0.0) -> float:
        """Time for all remaining trials, ``into_trial`` seconds into the current one."""
        if not self._planned:
            return 0.0
        ratio = self._done_taken / self._done_planned if self._done_planned else 1.0
        # A trial that takes longer than its share takes nothing from the others'.
        into = min(into_trial, self._planned[0] * ratio)
        return self._left_planned * ratio / self._at_once - into / self._at_once


def time_left(seconds: float) -> str:
    """``under 1 s left``, ``42 s left``: rounded, because it is an estimate."""
    return "under 1 s left" if seconds < 1.0 else f"{format_seconds(round(seconds))} left"


class Silent:
    """Prints nothing; for scripts and for measurements inside other commands."""

    def begin(self, work: RemainingWork) -> None: ...

    def note(self, text: str) -> None: ...

    def building(self, text: str) -> None: ...

    def trial(self, planned: PlannedTrial) -> None: ...

    def update(self, progress: EngineProgress) -> None: ...

    def runtime(self, values: Mapping[str, float]) -> None: ...

    def end_trial(self, trial: Trial) -> None: ...

    def end(self) -> None: ...


class OnConsole:
    """Progress for people: one status line on a terminal, elsewhere one line per trial."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._ticker = Ticker(console)
        self._left = TimeLeft(())
        self._total = self._done = self._failed = 0
        self._at_once = 1
        self._planned: PlannedTrial | None = None
        self._running: dict[str, PlannedTrial] = {}
        self._phase = ""
        self._began = time.monotonic()
        self.reported: set[str] = set()
        """Ids of trials whose failure was printed."""
        self._names: Mapping[str, str] = {}
        self._named: set[tuple[str, str]] = set()
        """Stacks and their problems that were printed."""

    def begin(self, work: RemainingWork) -> None:
        self._left, self._names = TimeLeft(work.seconds, work.at_once), work.names
        self._at_once = work.at_once
        self._total, self._done = work.trials, work.finished
        if work.finished:
            total = format_count(self._total, "trial")
            self.note(f"continuing: {work.finished:,} of {total} are already done")
        remaining = len(work.seconds)
        about = "at most about" if work.at_most or work.ends_early else "about"
        length = f", {about} {format_seconds(round(self._left.seconds()))}" if remaining else ""
        most = "at most " if work.ends_early and remaining else ""
        self.note(f"{most}{format_count(remaining, 'trial')}{length}")

    def note(self, text: str) -> None:
        self._console.print(fold(text, self._console.width))

    def building(self, text: str) -> None:
        left = f"; then {time_left(self._left.seconds())}" if text and self._total else ""
        self._ticker.show(f"{shorten(text, self._console.width - 1 - len(left))}{left}")

    def trial(self, planned: PlannedTrial) -> None:
        self._began = time.monotonic()
        self._planned = self._running[planned.id] = planned
        self._phase = "starting"
        self._show()

    def update(self, progress: EngineProgress) -> None:
        failed = f", {progress.errors:,} failed" if progress.errors else ""
        self._phase = f"{progress.phase}, {format_count(progress.calls, 'call')}{failed}"
        self._show()

    def runtime(self, values: Mapping[str, float]) -> None: ...

    def end_trial(self, trial: Trial) -> None:
        # Of several that run at the same time, any may end first.
        self._planned = self._running.pop(trial.id, self._planned)
        cells = 1 if self._planned is None else len(self._planned.cells)
        self._left.took(trial.seconds * cells)
        self._done += 1
        self._failed += trial.status == "failed"
        if trial.status == "failed":
            self.reported.add(trial.id)
            self.note(f"failed: {trial.id}: {sanitize(trial.reason)}")
        elif not self._console.is_terminal:
            self._print(trial)
        elif (found := problems(trial)) and (trial.point.stack, found[0]) not in self._named:
            self._named.add((trial.point.stack, found[0]))
            stack = self._names.get(trial.point.stack, trial.point.stack)
            self.note(f"{sanitize(stack)}, repeat {trial.repeat}: {', '.join(found)}")

    def _print(self, trial: Trial) -> None:
        figures = [f"{trial.result.rate_per_s:,.0f}/s", *problems(trial)]
        start = f"[{self._done}/{self._total}] "
        end = f": {', '.join(figures)}, {time_left(self._left.seconds())}"
        self._console.print(f"{start}{self._words(len(start) + len(end))}{end}")

    def end(self) -> None:
        self._console.status(())

    def _show(self) -> None:
        left = time_left(self._left.seconds(time.monotonic() - self._began))
        failed = f", {self._failed} failed" if self._failed else ""
        done = f"{_bar(self._done, self._total)} {self._done}/{self._total}{failed}, {left}"
        end = f" · {self._phase}"
        if self._at_once > 1:
            end = f" · {len(self._running)} of {format_count(self._at_once, 'host')}"
        self._console.status((Line(done, "bold"), Line(f"{self._words(len(end) + 1)}{end}", "dim")))

    def _words(self, taken: int) -> str:
        """The trial under way, in a line of which ``taken`` columns are used."""
        room = self._console.width - taken
        return "" if self._planned is None else words(self._planned, room, self._names)


def problems(trial: Trial) -> list[str]:
    """What is wrong with a measured trial while there is time to stop: no good call, calls that
    failed, a load that was not kept."""
    if trial.status != "measured":
        return []
    found = []
    if trial.result.errors:
        failed = format_count(trial.result.errors, "call")
        found.append(f"{failed} failed" if trial.result.ok else f"no good call ({failed} failed)")
    elif not trial.result.ok and not trial.result.rate_per_s:
        found.append("no good call")
    if any(check.name in LOAD_CHECKS and check.outcome == "marked" for check in trial.checks):
        found.append("load not kept")
    return found


def words(
    planned: PlannedTrial, width: int, names: Mapping[str, str] = MappingProxyType({})
) -> str:
    """``grpc@rust Hello 150 kB, closed 32, repeat 2``; includes the link if it is not loopback. In
    fewer columns the stack is shortened, then details are left out from the end. Stacks have their
    short ``names``, where there are any."""
    point = planned.cell.point
    load = point.load
    stacks = " | ".join(names.get(c.point.stack, c.point.stack) for c in planned.cells)
    details = [
        f" {operations.words(point.operation, format_bytes(point.bytes))}",
        "" if point.link == LOOPBACK else f" on {point.link}",
        f", {load.kind} {load.level():g}{load.unit()}",
        f", repeat {planned.repeat}",
    ]
    for kept in range(len(details), 0, -1):
        rest = "".join(details[:kept])
        room = width - len(rest)
        if room >= min(len(stacks), STACK_WIDTH_MIN):
            return f"{shorten(stacks, room)}{rest}"
    return shorten(f"{stacks}{details[0]}", width)


def _bar(done: int, total: int, width: int = 24) -> str:
    full = width * done // max(1, total)
    return "━" * full + "╌" * (width - full)
