"""Truth compared with findings, occurrence by occurrence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.ground_truth.captures.corpus import Case
from bench.ground_truth.labels.occurrence import CAUSES, DATA, Key, Occurrence
from wirelab.errors import TrialFailed
from wirelab.process import engine_binary
from wirelab.statistics.distributions import binomial_interval, cluster_share
from wirelab.statistics.interval import Interval


@dataclass(frozen=True)
class Disagreement:
    """One exchange of which the two say different things."""

    case: str
    cause: str
    key: Key
    is_missed: bool
    """The truth has it and the diagnosis does not; else the other way round."""
    ms: float
    packets: tuple[int, ...]

    @property
    def words(self) -> str:
        """One line for the detector's author."""
        what = "missed" if self.is_missed else "false alarm"
        port, ordinal = self.key
        at = f" packets {', '.join(map(str, self.packets))}" if self.packets else ""
        return (
            f"{self.case}: {self.cause}: {what}, port {port} exchange {ordinal},"
            f" {self.ms:.1f} ms{at}"
        )


@dataclass
class Tally:
    """Of one cause over a corpus."""

    right: int = 0
    missed: int = 0
    false: int = 0
    either: int = 0
    """Findings that may be called either way, and so were not counted."""
    captures: int = 0
    """With at least one sure occurrence."""
    units: list[tuple[int, int, int]] = field(default_factory=list)
    """Of each capture what is right, missed and false: occurrences of one capture have one setting
    and one moment of the machine, and are right or wrong together."""

    @property
    def precision(self) -> Interval | None:
        """Share of findings that are right, with captures as units; None without findings."""
        return cluster_share([(right, right + false) for right, _, false in self.units])

    @property
    def recall(self) -> Interval | None:
        """Share of occurrences that were found, with captures as units; None without any."""
        return cluster_share([(right, right + missed) for right, missed, _ in self.units])


def _share(hits: int, n: int) -> Interval | None:
    return binomial_interval(hits, n) if n else None


@dataclass
class Score:
    """Of a corpus."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {cause: Tally() for cause in CAUSES})
    disagreements: list[Disagreement] = field(default_factory=list)
    clean_captures: int = 0
    clean_exchanges: int = 0
    clean_alarms: int = 0
    """Exchanges of clean captures with a finding that is false."""
    clean_captures_alarmed: int = 0

    @property
    def alarms(self) -> Interval | None:
        """Share of the exchanges of clean captures that gave a false alarm."""
        return _share(self.clean_alarms, self.clean_exchanges)


def score(judged: Iterable[tuple[Case, list[Finding]]]) -> Score:
    """Compares all captures of a corpus."""
    total = Score()
    for case, findings in judged:
        _add(total, case, findings)
    return total


def _add(total: Score, case: Case, findings: list[Finding]) -> None:
    own = [one for one in findings if one.key[0] in case.ports]
    false: set[Key] = set()
    for cause in CAUSES:
        false |= _compare(total, case, cause, [one for one in own if one.cause == cause])
    if case.is_clean:
        total.clean_captures += 1
        total.clean_exchanges += len(case.exchanges) or int(case.case["calls"])
        total.clean_alarms += len(false)
        total.clean_captures_alarmed += bool(false)


def _compare(total: Score, case: Case, cause: str, findings: list[Finding]) -> set[Key]:
    """One capture and one cause; returns the exchanges of false alarms."""
    tally = total.tallies[cause]
    sure, either = case.truth(cause)
    found = {one.key: one for one in findings if not case.is_open(cause, one.key)}
    truths = {one.key: one for one in case.occurrences if one.cause == cause and one.is_certain}
    missed = sure - found.keys()
    false = found.keys() - sure - either
    tally.right += len(sure & found.keys())
    tally.missed += len(missed)
    tally.false += len(false)
    is_open = {one.key for one in findings} - found.keys()
    tally.either += len(either & found.keys()) + len(is_open)
    tally.units.append((len(sure & found.keys()), len(missed), len(false)))
    tally.captures += bool(sure)
    total.disagreements += [_make_miss(case, truths[key]) for key in sorted(missed)]
    total.disagreements += [_false(case, found[key]) for key in sorted(false)]
    return set(false)


def _make_miss(case: Case, truth: Occurrence) -> Disagreement:
    return Disagreement(case.name, truth.cause, truth.key, True, truth.ms, ())


def _false(case: Case, finding: Finding) -> Disagreement:
    return Disagreement(case.name, finding.cause, finding.key, False, finding.ms, finding.packets)


SECONDS_MAX = 120.0
TAIL = "tail-loss"
FLOWS_MAX = 1_000

Json = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One exchange that the diagnosis blames a cause for."""

    cause: str
    key: Key
    ms: float
    packets: tuple[int, ...]


def findings(capture: Path, port: int) -> list[Finding]:
    """All that it finds on the flows to that port. Raises :class:`TrialFailed` when the
    engine fails or leaves some out."""
    command = [
        *(str(engine_binary.find()), "dissect", str(capture), "--json", "--all-findings"),
        *("--port", str(port), "--flows", str(FLOWS_MAX)),
    ]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise TrialFailed(f"dissect ended with {done.returncode}: {said}")
    return losses_as_one(read(json.loads(done.stdout)))


def read(document: Json) -> list[Finding]:
    """The findings of a dissection. Raises :class:`TrialFailed` where occurrences were
    counted but not listed."""
    ports = {
        flow["flow"]: int(flow["client"].rpartition(":")[2]) for flow in document["flows"]["list"]
    }
    found = []
    for finding in document["findings"]:
        where = finding["where"]
        if len(where) < finding["occurrences"]:
            raise TrialFailed(
                f"{finding['cause']}: {finding['occurrences']} occurrences, {len(where)} listed"
            )
        for one in where:
            key = (ports[one["flow"]], one["exchange"] or 0)
            found.append(Finding(finding["cause"], key, one["ms"], tuple(one["packets"])))
    return found


def losses_as_one(found: list[Finding]) -> list[Finding]:
    """System calls do not show whether the last packet of a flight was lost, or another."""
    return [replace(one, cause=DATA) if one.cause == TAIL else one for one in found]
