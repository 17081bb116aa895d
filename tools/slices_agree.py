"""Slices and contiguous windows measure the same thing: `make slices-agree`, about 15 minutes.

Two services are started once. Their calls are then measured by turns in slices, and one after the
other in windows of their own, in random order and many times. Writes its part of
docs/reference/compare.md: for each service and figure the ratio of slices to windows.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import exp, log, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

import yaml

from tools.marked_part import replace_part
from wirelab.experiment.loading import load
from wirelab.experiment.model import NO_CAPTURE
from wirelab.process import machine
from wirelab.records.trial import Trial
from wirelab.run import runner
from wirelab.statistics.distributions import student_t_quantile
from wirelab.statistics.figure import BYTES, RATE, RESPONSE_P50, SERVICE_CPU, Figure
from wirelab.trial import sliced
from wirelab.trial.measuring import TrialContext, measure_calls
from wirelab.trial.observer import Observer
from wirelab.trial.runner import complete_record
from wirelab.trial.slice_length import SliceTooShort
from wirelab.trial.stages.capture import Captures
from wirelab.trial.stages.link import AnyLink

PAGE = Path("docs/reference/compare.md")
FIGURES = (RATE, RESPONSE_P50, SERVICE_CPU, BYTES)
WITHIN = 0.02
ROUNDS = 24
WINDOW = "500 ms"
NAGLE = "server.nagle=on"
SPLIT = "client.writes=split&client.nagle=on"


@dataclass(frozen=True)
class Pair:
    """Two services that take turns, and what they are called with."""

    services: tuple[str, str]
    operation: str
    bytes: str
    users: int

    def experiment(self, seed: int) -> dict[str, Any]:
        """One trial of both."""
        return {
            "name": "slices-agree",
            "seed": seed,
            "design": "slices",
            "repeats": 1,
            "services": list(self.services),
            "messages": [{"operation": self.operation, "bytes": self.bytes}],
            "loads": [{"closed": {"users": self.users}}],
            "window": {"duration": WINDOW},
            "warmup": {"min": "200 ms", "max": "400 ms"},
        }


PAIRS = (
    Pair(("rest@rust", "grpc@rust"), "Hello", "14 B", 1),
    Pair(("rest@rust", "grpc@rust"), "Submit", "150 kB", 4),
    Pair(("rest@go", "grpc@go"), "Hello", "14 B", 8),
    Pair(("rest@go?codec=protobuf", "rest@go"), "Submit", "20 kB", 4),
    Pair(("soap@rust", "iiop@rust"), "Hello", "14 B", 1),
    Pair(("soap@rust", "iiop@rust"), "Submit", "150 kB", 4),
    Pair(("soap@go", "rest@rust?codec=xml"), "Hello", "14 B", 8),
    Pair((f"rest@rust?{NAGLE}", f"grpc@rust?{NAGLE}"), "Hello", "14 B", 8),
    Pair((f"rest@rust?{SPLIT}", f"rest@go?{SPLIT}"), "Hello", "14 B", 8),
    Pair(("raw@rust", "rest@rust?codec=cbor"), "Submit", "150 kB", 8),
)


class BothDesigns(sliced.SlicedTrial):
    """A trial whose services are measured in both ways, on the same processes."""

    rounds = ROUNDS
    found: list[tuple[list[Trial], list[Trial]]]
    """Of each round: the services in slices, and in windows of their own."""

    def _call(
        self, link: AnyLink, seats: Sequence[sliced.Seat], trials: Sequence[Trial]
    ) -> list[Trial]:
        order = random.Random(self._planned.seed)
        type(self).found = []
        last = list(trials)
        for attempt in range(2 * self.rounds):
            fresh = [replace(seat, observer=Observer(seat.service.process)) for seat in seats]
            before = self._measure_apart(link, seats, trials) if order.random() < 0.5 else None
            try:
                last = super()._call(link, fresh, trials)
            except SliceTooShort:
                # Other work held a call up: such a round says nothing.
                if attempt < self.rounds:
                    continue
                raise
            self.found.append((last, before or self._measure_apart(link, seats, trials)))
            if len(self.found) == self.rounds:
                break
        return last

    def _measure_apart(
        self, link: AnyLink, seats: Sequence[sliced.Seat], trials: Sequence[Trial]
    ) -> list[Trial]:
        return [
            complete_record(trial, measure_calls(_window_of_its_own(link, seat)))
            for trial, seat in zip(trials, seats, strict=True)
        ]


def _window_of_its_own(link: AnyLink, seat: sliced.Seat) -> TrialContext:
    setup = seat.setup
    captures = Captures(
        NO_CAPTURE,
        link,
        setup.folder,
        port=seat.service.endpoint.port,
        cores=setup.table.capture,
        interruption=setup.interruption,
    )
    endpoint = seat.service.endpoint
    return TrialContext(setup, link, seat.store, seat.service, None, endpoint, captures, None)


@dataclass(frozen=True)
class Agreement:
    """Slices / windows of one figure of one service."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Agreement:
        """Geometric mean of the rounds' ratios and its 95 % interval, by Student's t."""
        logs = [log(ratio) for ratio in ratios]
        half = student_t_quantile(0.975, len(logs) - 1) * stdev(logs) / sqrt(len(logs))
        middle = mean(logs)
        return cls(exp(middle), exp(middle - half), exp(middle + half))

    @property
    def verdict(self) -> str:
        """Whether both agree within the bound."""
        if self.low > 1.0 + WITHIN or self.high < 1.0 - WITHIN:
            return "no"
        return "yes" if self.low >= 1.0 - WITHIN and self.high <= 1.0 + WITHIN else "undecided"

    def __str__(self) -> str:
        """For a cell of a table."""
        mark = {"yes": "", "no": " **no**", "undecided": " ?"}[self.verdict]
        return f"{self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]{mark}"


def measure_pair(pair: Pair, folder: Path, seed: int) -> list[tuple[list[Trial], list[Trial]]]:
    """All rounds of a pair; none if the design refuses slices for it."""
    folder.mkdir(parents=True)
    text = yaml.safe_dump(pair.experiment(seed), sort_keys=False)
    file = folder / "experiment.yaml"
    file.write_text(text, encoding="utf-8")
    BothDesigns.found = []
    with patch.object(sliced, "SlicedTrial", BothDesigns):
        runner.run(load(file), folder / "run", source=text, repeat_spoilt=False)
    return BothDesigns.found


def compare_rounds(
    rounds: Sequence[tuple[Sequence[Trial], Sequence[Trial]]], number: int, figure: Figure
) -> Agreement:
    """One figure of the service with that number. ValueError where a round lacks it."""
    ratios = []
    for in_slices, apart in rounds:
        values = [figure.of(one[number]) for one in (in_slices, apart)]
        if None in values or 0.0 in values:
            raise ValueError(f"a round has no {figure.title}")
        ratios.append(values[0] / values[1])  # type: ignore[operator]
    return Agreement.of(ratios)


def _rows(pair: Pair, folder: Path, seed: int) -> Iterator[tuple[str, list[str]]]:
    """A row of the table for each service, and its verdicts."""
    message = f"{pair.operation} {pair.bytes}, {pair.users} users"
    rounds = measure_pair(pair, folder, seed)
    if not rounds:
        yield f"| `{pair.services[0]}`, `{pair.services[1]}` | {message} | measured apart |||||", []
    for number, service in enumerate(pair.services if rounds else ()):
        found = [compare_rounds(rounds, number, figure) for figure in FIGURES]
        shown = " | ".join(map(str, found))
        yield f"| `{service}` | {message} | {shown} |", [one.verdict for one in found]


def main(pairs: Sequence[Pair] = PAIRS) -> int:
    """Measures every pair and writes the page's part."""
    rows, verdicts = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for number, pair in enumerate(pairs, 1):
            for row, own in _rows(pair, Path(scratch) / str(number), number):
                rows.append(row)
                verdicts += own
                print(row, flush=True)
    facts = machine.describe()
    about = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores: "
        f"{ROUNDS} rounds of each pair. Slices / windows, 95 % interval; `?`: the interval is too "
        f"wide for {100 * WITHIN:g} %."
    )
    head = (
        about,
        "",
        f"| service | calls | {' | '.join(figure.title for figure in FIGURES)} |",
        f"|{'---|' * (2 + len(FIGURES))}",
    )
    replace_part(PAGE, "slices agree", [*head, *rows])
    print(
        f"{verdicts.count('yes')} agree, {verdicts.count('undecided')} undecided, "
        f"{verdicts.count('no')} differ"
    )
    return 1 if "no" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
