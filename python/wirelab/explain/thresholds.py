"""Conditions that a run is to meet, ``p99>20ms``: whether they hold in each cell, with intervals.

A condition names what must not be. Its verdict follows from the 95 % interval of the figure over
the trials: it *holds* where the whole interval lies on the right side, *does not hold* where the
whole interval lies on the wrong one, and is *undecided* where the limit lies within. A drive is one
run, which has no interval: its own value decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal
from xml.etree import ElementTree as xml

from wirelab.errors import EXIT_BY_VERDICT, EXIT_OK, UnitError, UsageError
from wirelab.explain.figures import NAMED, PERCENTILES, find_figure, only_a_bound, require_figure
from wirelab.format.numbers import quantity
from wirelab.format.units import parse_bytes, parse_seconds
from wirelab.records.group import STREAM_TIMES
from wirelab.records.trial import Trial
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics.cell import Cell
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval
from wirelab.trial import labels

Verdict = Literal["holds", "does not hold", "undecided"]

ALIASES = {"mean": "response_mean", "rps": "rate", "cpu": "service_cpu"}
"""Short names of figures."""
MEMORY = "rss"
"""Resident memory of the service."""
ERRORS = "errors"
"""The share of calls that failed, over all trials of a cell."""
OF_CALLS = (
    *("rate", "response_", "service_p", "service_mean", "sequence_", "bytes_", "client_cpu"),
    *(f"{time.name}." for time in STREAM_TIMES),
)
"""How the names of figures begin that calls alone have, without a service that the lab starts."""
_PATTERN = re.compile(r"\s*([A-Za-z][\w.]*)\s*(>=|<=|>|<)\s*(\S.*?)\s*")
_ORDER: tuple[Verdict, ...] = ("does not hold", "undecided", "holds")
"""The worst first."""


@dataclass(frozen=True)
class Condition:
    """One condition that must not be met."""

    text: str
    """As the user wrote it."""
    figure: Figure | None
    """None: the share of failed calls."""
    above: bool
    """Whether values above the limit are wrong; below it otherwise."""
    limit: float
    """In the figure's unit."""

    @classmethod
    def parse(cls, text: str, *, of_one_run: bool = False) -> Condition:
        """Reads ``p99>20ms``, ``rate<1000`` or ``errors>0.1%``; ``of_one_run``, of figures that
        a drive has. Raises :class:`UsageError`."""
        found = _PATTERN.fullmatch(text)
        if found is None:
            raise UsageError(
                f"--fail-if {text!r} is not a condition",
                "write a figure, > or <, and a limit, such as 'p99>20ms' or 'errors>0.1%'",
            )
        name, operator, value = found.groups()
        figure = _figure(name)
        try:
            limit = _limit(value, figure)
        except (UnitError, ValueError) as error:
            raise UsageError(
                f"--fail-if {text!r}: {value!r} is not a limit for {name}",
                f"write for example {_example(figure)}",
            ) from error
        if of_one_run:
            if figure and figure.name != "success" and not figure.name.startswith(OF_CALLS):
                raise UsageError(
                    f"--fail-if {text!r}: a drive measures calls, not the service's {name}",
                    "use `wirelab run`, or a figure such as p99, mean, rate or errors",
                )
        elif figure is None and operator[0] == ">" and limit <= 0:
            raise UsageError(
                f"--fail-if {text!r}: no number of calls proves that none will fail",
                "write a limit above 0, such as 'errors>0.1%'",
            )
        return cls(text.strip(), figure, operator[0] == ">", limit)

    def judge(self, cell: Cell) -> Judged:
        """Its verdict for the trials of one cell."""
        point = cell.point
        name = ", ".join((point.stack, labels.message(point), labels.load(point.load)))
        return Judged(self, name, *self._verdict_of(cell))

    def judge_run(self, name: str, run: Trial) -> Judged:
        """Its verdict for one run alone."""
        if self.figure is None:
            calls = run.result.calls
            value = run.result.errors / calls if calls else None
        else:
            value = self.figure.of(run)
        if value is None:
            return Judged(self, name, "undecided", "too few calls for this figure")
        return Judged(
            self, name, self._verdict(value, value), f"{self._format_value(value)} in this run"
        )

    def _verdict_of(self, cell: Cell) -> tuple[Verdict, str]:
        if not cell.measured:
            return "undecided", "no trial measured anything"
        interval = self._interval(cell)
        if interval is None:
            return "undecided", "no trial has this figure"
        shown = self._format_value(interval.estimate)
        if interval.low is None or interval.high is None:
            return "undecided", f"{shown} without an interval: one trial"
        low, high = self._format_value(interval.low), self._format_value(interval.high)
        words = f"{shown}, 95 % interval {low} to {high}"
        verdict = self._verdict(interval.low, interval.high)
        if self.figure and verdict == self._unknown_for(self.figure, cell):
            return "undecided", f"{words}: the client was the limit"
        return verdict, words

    def _unknown_for(self, figure: Figure, cell: Cell) -> Verdict | None:
        """The verdict that a client at its limit cannot show: times are then too long and rates
        too low, so that only one side of the limit is certain."""
        if not only_a_bound(figure, cell):
            return None
        return "does not hold" if self.above == (figure.better == "lower") else "holds"

    def _format_value(self, value: float) -> str:
        """With its unit; the share of failed calls in per cent."""
        return f"{100 * value:.3g} %" if self.figure is None else quantity(value, self.figure.unit)

    def _interval(self, cell: Cell) -> Interval | None:
        if self.figure is not None:
            return cell.interval(self.figure)
        calls = sum(trial.result.calls for trial in cell.measured)
        return binomial_interval(cell.errors, calls) if calls else None

    def _verdict(self, low: float, high: float) -> Verdict:
        if self.above:
            low, high, limit = -high, -low, -self.limit
        else:
            limit = self.limit
        if low >= limit:
            return "holds"
        return "does not hold" if high < limit else "undecided"


@dataclass(frozen=True)
class Judged:
    """A condition and its verdict for one cell or run."""

    condition: Condition
    name: str
    """The cell in words, ``orders-rest, order 28 B, 16 users``, or what was driven."""
    verdict: Verdict
    reason: str

    def to_json(self) -> dict[str, str]:
        """For ``--json``."""
        return {
            "condition": self.condition.text,
            "cell": self.name,
            "verdict": self.verdict,
            "reason": self.reason,
        }


def judge(conditions: Iterable[Condition], cells: Sequence[Cell]) -> tuple[Judged, ...]:
    """Every condition for every cell."""
    return tuple(condition.judge(cell) for condition in conditions for cell in cells)


def exit_code(judged: Sequence[Judged]) -> int:
    """0 where all hold, 1 where one does not, 5 otherwise."""
    worst = next((v for v in _ORDER if any(one.verdict == v for one in judged)), None)
    return EXIT_BY_VERDICT[worst] if worst else EXIT_OK


def junit(suite: str, judged: Sequence[Judged]) -> str:
    """The verdicts as a JUnit file. An undecided one is ``skipped``, as the format has no other
    word."""
    counts = {verdict: sum(one.verdict == verdict for one in judged) for verdict in _ORDER}
    root = xml.Element(
        "testsuite",
        name=suite,
        tests=str(len(judged)),
        failures=str(counts["does not hold"]),
        skipped=str(counts["undecided"]),
        errors="0",
    )
    for one in judged:
        case = xml.SubElement(root, "testcase", classname=one.name, name=one.condition.text)
        if one.verdict == "does not hold":
            xml.SubElement(case, "failure", message=one.reason)
        elif one.verdict == "undecided":
            xml.SubElement(case, "skipped", message=f"undecided: {one.reason}")
        else:
            xml.SubElement(case, "system-out").text = one.reason
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def full_name(name: str) -> str:
    """``p99`` -> ``response_p99``, ``cpu`` -> ``service_cpu``; other names as they are."""
    return f"response_{name}" if name in PERCENTILES else ALIASES.get(name, name)


def _figure(name: str) -> Figure | None:
    """The figure; None for the share of failed calls. Raises :class:`UsageError`."""
    if name == ERRORS:
        return None
    if name in PERCENTILES:
        which = f"response_{name}"
        return Figure(
            which, f"response {name}", "ns", "lower", lambda trial: trial.time_ns("response", name)
        )
    if name == MEMORY:
        return Figure(MEMORY, "resident memory", "B", "lower", _memory)
    full = ALIASES.get(name, name)
    found = find_figure(full)
    if found is None:
        # Gaps between events of a packet order are a study's.
        long = (one for one in NAMED if not re.fullmatch(r"gap_\d+", one))
        known = (*PERCENTILES, *ALIASES, ERRORS, *long)
        raise UsageError(f"--fail-if: there is no figure {name!r}", did_you_mean(name, known))
    return found


def _memory(trial: Trial) -> float | None:
    """The mean within the window of a service of the lab; of others the most that was seen."""
    return require_figure(MEMORY).of(trial) or trial.service.rss_max_bytes


def _limit(text: str, figure: Figure | None) -> float:
    """A number in the figure's unit. Raises :class:`UnitError`, :class:`ValueError`."""
    unit = figure.unit if figure else ""
    if unit in ("ns", "s"):
        return parse_seconds(text) * (1e9 if unit == "ns" else 1.0)
    if unit == "B":
        return float(parse_bytes(text))
    number = text.removesuffix("/s").strip() if unit == "1/s" else text
    is_percent = unit == "" and number.endswith("%")
    limit = float(number.removesuffix("%" if is_percent else "").replace(",", ""))
    if not isfinite(limit):
        raise ValueError(text)
    return limit / 100.0 if is_percent else limit


def _example(figure: Figure | None) -> str:
    unit = figure.unit if figure else ""
    return {"ns": "20ms", "s": "150us", "B": "2 kB", "1/s": "1000"}.get(unit, "0.1%")
