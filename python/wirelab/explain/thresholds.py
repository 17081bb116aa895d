"""Conditions that a run is to meet, ``p99>20ms``: whether they hold in each cell, with intervals.

A condition names what must not be. Its verdict follows from the 95 % interval of the figure over
the trials: it *holds* where the whole interval lies on the right side, *does not hold* where the
whole interval lies on the wrong one, and is *undecided* where the limit lies within.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as xml

from wirelab.errors import EXIT_BY_VERDICT, EXIT_OK, UnitError, UsageError
from wirelab.explain.figures import named, only_a_bound
from wirelab.format.numbers import quantity
from wirelab.format.units import parse_bytes, parse_seconds
from wirelab.statistics.cell import Cell
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval
from wirelab.trial import labels

Verdict = Literal["holds", "does not hold", "undecided"]

ALIASES = {"mean": "response_mean", "rps": "rate", "cpu": "service_cpu"}
"""Short names of figures."""
ERRORS = "errors"
"""The share of calls that failed, over all trials of a cell."""
_PERCENTILE = re.compile(r"p\d{1,2}(\.\d+)?")
"""A percentile of the response time, as the engine names it."""
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
    def parse(cls, text: str) -> Condition:
        """Reads ``p99>20ms``, ``rate<1000`` or ``errors>0.1%``. Raises :class:`UsageError`."""
        found = _PATTERN.fullmatch(text)
        if found is None:
            raise UsageError(
                f"--fail-if {text!r} is no condition",
                "write a figure, > or <, and a limit, such as 'p99>20ms' or 'errors>0.1%'",
            )
        name, operator, value = found.groups()
        figure = _figure(name)
        try:
            limit = _limit(value, figure)
        except (UnitError, ValueError) as error:
            raise UsageError(
                f"--fail-if {text!r}: {value!r} is no limit for {name}",
                f"write for example {_example(figure)}",
            ) from error
        return cls(text.strip(), figure, operator[0] == ">", limit)

    def judge(self, cell: Cell) -> Judged:
        """Its verdict for the trials of one cell."""
        if not cell.measured:
            return Judged(self, cell, "undecided", "no trial measured anything")
        interval = self._interval(cell)
        if interval is None:
            return Judged(self, cell, "undecided", "no trial has this figure")
        shown = self._shown(interval.estimate)
        if interval.low is None or interval.high is None:
            return Judged(self, cell, "undecided", f"{shown} without an interval: one trial")
        low, high = self._shown(interval.low), self._shown(interval.high)
        words = f"{shown}, 95 % interval {low} to {high}"
        if self.figure and only_a_bound(self.figure, cell):
            return Judged(self, cell, "undecided", f"{words}: the client was the limit")
        return Judged(self, cell, self._verdict(interval.low, interval.high), words)

    def _shown(self, value: float) -> str:
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
    """A condition and its verdict for one cell."""

    condition: Condition
    cell: Cell
    verdict: Verdict
    reason: str

    @property
    def name(self) -> str:
        """The cell in words: ``orders-rest, order 28 B, 16 users``."""
        point = self.cell.point
        return ", ".join((point.stack, labels.message(point), labels.load(point.load)))

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


def _figure(name: str) -> Figure | None:
    """The figure; None for the share of failed calls. Raises :class:`UsageError`."""
    if name == ERRORS:
        return None
    if _PERCENTILE.fullmatch(name):
        which = f"response_{name}"
        return Figure(
            which, f"response {name}", "ns", "lower", lambda trial: trial.time_ns("response", name)
        )
    return named(ALIASES.get(name, name))


def _limit(text: str, figure: Figure | None) -> float:
    """A number in the figure's unit. Raises :class:`UnitError`, :class:`ValueError`."""
    unit = figure.unit if figure else ""
    if unit in ("ns", "s"):
        return parse_seconds(text) * (1e9 if unit == "ns" else 1.0)
    if unit == "B":
        return float(parse_bytes(text))
    number = text.removesuffix("/s").strip() if unit == "1/s" else text
    if unit == "" and number.endswith("%"):
        return float(number.removesuffix("%")) / 100.0
    return float(number.replace(",", ""))


def _example(figure: Figure | None) -> str:
    unit = figure.unit if figure else ""
    return {"ns": "20ms", "s": "150us", "B": "2 kB", "1/s": "1000"}.get(unit, "0.1%")
