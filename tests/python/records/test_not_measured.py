"""A first look counts what it measured: a finding without its cells is not undecided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.python.synthetic_run import GRPC, REST, World, trials, write_reproduction
from wirelab.browse.summary import summarise
from wirelab.browse.tree import scan
from wirelab.cli.output.reproduce import show
from wirelab.explain.cell_selector import Level
from wirelab.study import reproduction, sections
from wirelab.study.claims import NOT_MEASURED, Expectation, Finding, Part, gather

FINDING = Finding("f", "a claim", "table 1", "rate", (), (), (), Expectation(above=1.0))


def part(outcome: str, reason: str = "1.52 (1.44 to 1.61)", users: int = 1) -> Part:
    level: Level = {"users": users}
    return Part(level, None, outcome, reason)  # type: ignore[arg-type]


MISSING = part("undecided", "not measured: rest@rust with 8 users", 8)


def test_a_finding_is_not_measured_where_only_cells_are_missing() -> None:
    assert not gather(FINDING, (MISSING,)).is_measured
    assert not gather(FINDING, (part("holds"), MISSING)).is_measured
    assert gather(FINDING, (part("undecided"), MISSING)).is_measured
    assert gather(FINDING, (part("does not hold"), MISSING)).is_measured
    assert gather(FINDING, (part("holds"),)).is_measured
    crossing = Part({}, None, "undecided", "at no step", (part("holds"), MISSING))
    assert not gather(FINDING, (crossing,)).is_measured


def test_every_output_counts_them_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reproduction of which no cell of its claims was measured."""
    every = trials(World((REST, GRPC), (14,), repeats=2))
    folder = write_reproduction(tmp_path / "made", every)
    made = reproduction.read(folder)
    missing = [one for one in made.judgements if not one.is_measured]
    tested = len(made.judgements) - len(missing)
    assert len(missing) > 3
    undecided = sum(one.is_measured and one.outcome == "undecided" for one in made.judgements)
    said = sections.count(made)
    assert said.startswith(f"Of {tested} finding")
    assert said.endswith(f"and {undecided} are undecided; {len(missing)} were not measured.")
    assert len(sections.claims(made)[NOT_MEASURED]) == len(missing)
    show(made, as_json=False)
    printed = capsys.readouterr().out
    assert f"\n{NOT_MEASURED}:" in printed
    document: Any = made.to_json()
    flags = [one["measured"] for one in document["findings"]]
    assert flags.count(False) == len(missing)
    (folder / "findings.json").write_text(json.dumps(document), encoding="utf-8")
    entry = next(one for one in scan(tmp_path.resolve()).entries.values() if not one.parent)
    assert f"{len(missing)} {NOT_MEASURED}" in summarise(entry, running=False).result
