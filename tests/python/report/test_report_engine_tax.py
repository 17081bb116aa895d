"""A report shows the engine overhead of each stack next to its comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, point, trials, users, write_run
from wirelab.documents.axes import Axes
from wirelab.format.numbers import quantity
from wirelab.records import engine_tax
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Point
from wirelab.report.page import write_page
from wirelab.report.section import Table
from wirelab.report.sections import costs
from wirelab.stack.reference import Stack
from wirelab.trial.labels import Names

HEAD = "engine&#39;s own CPU per call"


def figures(reference: str) -> engine_tax.StackTax:
    """What was published of a stack."""
    (row,) = (row for row in engine_tax.read_published().stacks if row.stack == reference)
    return row


def table_of(*references: str) -> Table:
    """The table for points of whole stacks."""
    points = [
        Point(ref, Stack.parse(ref).axes, "Submit", 200, LoadRecord(kind="closed", users=50))
        for ref in references
    ]
    return costs.engine_tax_table(points, Names.of(points))


def test_every_comparison_has_it(tmp_path: Path) -> None:
    """Both stacks with the figures that come with the package, and where they were taken."""
    run = write_run(tmp_path / "run", trials(World(sizes=(14,), loads=(users(32),))))
    text = write_page(run).read_text(encoding="utf-8")
    assert HEAD in text
    for reference in (Stack.parse(REST).reference, GRPC):
        assert quantity(figures(reference).decode_us * 1e3, "ns") in text
    assert engine_tax.read_published().taken[:10] in text


def test_a_run_of_one_stack_shows_the_overhead_too(tmp_path: Path) -> None:
    """Nothing is compared, and client CPU holds the tax all the same."""
    run = write_run(tmp_path / "run", trials(World(stacks=(REST,), sizes=(14,))))
    text = write_page(run).read_text(encoding="utf-8")
    assert HEAD in text
    assert "Engine overhead" in text
    assert ">Comparisons<" not in text
    assert quantity(figures(Stack.parse(REST).reference).decode_us * 1e3, "ns") in text


@pytest.mark.parametrize("work", ["frame", "decode"])
def test_the_figure_is_that_of_the_engines_work(work: str) -> None:
    """An engine that decodes pays for it."""
    (row,) = table_of(f"iiop@rust?work={work}").rows
    found = figures("iiop@rust")
    cpu_us = {"frame": found.frame_us, "decode": found.decode_us}[work]
    assert row[1] == quantity(cpu_us * 1e3, "ns")


@pytest.mark.parametrize("language", ["go", "java"])
def test_the_language_of_the_service_does_not_matter(language: str) -> None:
    """It is the engine's side that was measured."""
    rows = table_of(f"soap@{language}", "soap@rust?server.nagle=on").rows
    assert {row[1] for row in rows} == {quantity(figures("soap@rust").decode_us * 1e3, "ns")}


@pytest.mark.parametrize(
    "reference",
    ["rest@rust?compression=gzip", "rest@rust?connection=close", "rest@rust?codec=text"],
)
def test_a_stack_with_more_work_for_the_engine_is_shown_as_not_measured(reference: str) -> None:
    """No figure is borrowed from a stack that is only like it."""
    assert table_of(reference).rows[0][1:] == ["not measured", "—"]


def test_other_callers_have_no_engine() -> None:
    """ghz is not the engine, so the engine overhead does not apply."""
    at = point(GRPC)
    axes = Axes.of({**at.axes.texts, "caller": "ghz"})
    called = Point(at.stack, axes, at.operation, at.bytes, at.load)
    assert costs.engine_tax_table([called], Names.of([called])).rows[0][1] == "called by ghz"


def test_a_missed_aim_shows() -> None:
    """The ratio to REST is shown with its interval, whether it keeps its aim or not."""
    beside = figures("raw@rust?codec=token-xml").beside_rest
    assert beside is not None
    (row,) = table_of("raw@rust?codec=token-xml").rows
    assert row[2].startswith(f"{beside.ratio:.2f} (")
