"""Writes captures of every kind and cause, dissects each, and compares both.

``.venv/bin/python -m bench.ground_truth.written`` prints the tables; ``--publish`` writes them
into docs/reference/diagnosis-truth.md. Without root; some minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.ground_truth.page import PAGE
from bench.ground_truth.written import tshark
from bench.ground_truth.written.causes import CAUSES
from bench.ground_truth.written.causes_of_packets import CAUSES_OF_PACKETS
from bench.ground_truth.written.conversation import Conversation
from bench.ground_truth.written.judge import Verdict, dissect, judge
from bench.ground_truth.written.kinds import KINDS
from bench.ground_truth.written.kinds_of_messages import MESSAGE_KINDS
from bench.ground_truth.written.kinds_of_streams import OTHER_KINDS
from bench.ground_truth.written.scenario import Scenario
from bench.pages import marked_parts
from wirelab.errors import LabError
from wirelab.statistics.distributions import binomial_interval

CAPTURES = 150
"""Of each scenario: with two errors the lower limit of a share is 0.953."""
LIMIT = 0.95
"""Least lower end of the intervals of precision and recall, from that number of captures on."""
JOBS = 2
SCENARIOS = (*KINDS, *OTHER_KINDS, *MESSAGE_KINDS, *CAUSES, *CAUSES_OF_PACKETS)


@dataclass
class Tally:
    """Of one kind or cause, in captures."""

    right: int = 0
    missed: int = 0
    false: int = 0
    counterparts: int = 0
    """Captures without the kind."""

    @property
    def captures(self) -> int:
        """Those that contain it."""
        return self.right + self.missed


@dataclass
class Total:
    """Of all captures."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    causes: dict[str, Tally] = field(default_factory=dict)
    captures: int = 0
    packets: int = 0
    words: list[str] = field(default_factory=list)

    def add(self, scenario: Scenario, number: int, verdict: Verdict) -> None:
        """One capture."""
        self.captures += 1
        if verdict.words:
            self.words.append(f"{scenario.name} {number}: {verdict.words}")
        if scenario.kind:
            tally = self.kinds.setdefault(scenario.kind, Tally())
            tally.false += bool(verdict.untrue) or (scenario.is_plain and not verdict.is_named)
            tally.counterparts += scenario.is_plain
            if not scenario.is_plain:
                tally.right += verdict.is_named
                tally.missed += not verdict.is_named
        for cause in scenario.causes:
            tally = self.causes.setdefault(cause, Tally())
            tally.right += verdict.is_named
            tally.missed += not verdict.is_named
        for cause in verdict.untrue:
            self.causes.setdefault(cause, Tally()).false += 1


def main() -> int:
    """1 where a limit is missed, 2 where it could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=int, default=CAPTURES, help="of each scenario")
    parser.add_argument("--only", default="", help="scenarios whose names begin with this")
    parser.add_argument("--out", type=Path, help="folder for captures (default: a new one)")
    parser.add_argument("--publish", action="store_true", help="write the page's part again")
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="wirelab-written-"))
    chosen = [one for one in SCENARIOS if one.name.startswith(options.only)]
    total = Total()
    differences: list[str] = []
    try:
        for scenario in chosen:
            differences += examine(scenario, options.captures, out, total)
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    print(*differences[:20], *total.words[:60], sep="\n")
    print(*table(total), sep="\n")
    if options.publish:
        PAGE.write_text(marked_parts.replace_part(PAGE.read_text(), "written", list(table(total))))
    return int(bool(differences) or _misses(total))


def write(scenario: Scenario, number: int, folder: Path) -> tuple[Conversation, Path]:
    """One capture with its own seed, as a file."""
    capture = Conversation(f"{scenario.name} {number}")
    scenario.write(capture)
    path = folder / f"{number}.pcap"
    path.write_bytes(capture.file())
    return capture, path


def examine(scenario: Scenario, captures: int, out: Path, total: Total) -> list[str]:
    """Writes and judges the captures of a scenario; returns what tshark reads differently."""
    folder = out / scenario.name.replace(" ", "-").replace(",", "")
    folder.mkdir(parents=True, exist_ok=True)
    made = [write(scenario, number, folder) for number in range(captures)]
    with ThreadPoolExecutor(JOBS) as pool:
        verdicts = pool.map(partial(_judge, scenario), made)
    for number, verdict in enumerate(verdicts):
        total.add(scenario, number, verdict)
    written = [capture for capture, _ in made]
    total.packets += sum(len(capture.frames) for capture in written)
    return tshark.check(scenario.name, written, folder)


def _judge(scenario: Scenario, made: tuple[Conversation, Path]) -> Verdict:
    capture, path = made
    return judge(scenario, capture, dissect(path))


def table(total: Total) -> Iterator[str]:
    """For the page, and a terminal."""
    yield (
        "| kind | captures | right | missed | counterparts | false | precision | recall |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for kind, one in sorted(total.kinds.items(), key=lambda item: _number(item[0])):
        yield (
            f"| {kind} | {one.captures} | {one.right} | {one.missed} | {one.counterparts} "
            f"| {one.false} | {_precision(one)} | {_recall(one)} |"
        )
    yield "\n| cause | captures | found | missed | false | precision | recall |"
    yield "|---|---|---|---|---|---|---|"
    for cause, one in sorted(total.causes.items()):
        yield (
            f"| `{cause}` | {one.captures} | {one.right} | {one.missed} | {one.false} "
            f"| {_precision(one)} | {_recall(one)} |"
        )
    yield (
        f"\n{total.captures:,} captures with {total.packets:,} packets. tshark reads all packets, "
        "with these times, and nothing malformed in them."
    )


def _number(kind: str) -> int:
    return int(kind.split()[0].removeprefix("K"))


def _precision(one: Tally) -> str:
    return _share(one.right, one.right + one.false)


def _recall(one: Tally) -> str:
    return _share(one.right, one.captures)


def _share(hits: int, of: int) -> str:
    if not of:
        return "–"
    interval = binomial_interval(hits, of)
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _misses(total: Total) -> bool:
    """A few captures cannot bound a share: then the share itself counts."""
    for one in (*total.kinds.values(), *total.causes.values()):
        for hits, of in ((one.right, one.right + one.false), (one.right, one.captures)):
            interval = binomial_interval(hits, of) if of else None
            is_enough = of >= CAPTURES and interval is not None and interval.low is not None
            share = interval.low if is_enough and interval else hits / max(of, 1)
            if share is not None and share < LIMIT:
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
