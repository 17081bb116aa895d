"""Soft facts: a cell for every stack and feature, each with its source and date."""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tools import facts_page, measure_facts
from wirelab import facts
from wirelab.cli import main
from wirelab.stack.reference import Stack

ROOT = Path(__file__).resolve().parents[3]


def test_every_stack_has_a_cell_for_every_feature() -> None:
    cells = {(fact.stack, fact.feature) for fact in facts.facts()}
    names = [name for name, _ in facts.features()]
    assert cells == set(itertools.product(map(str, facts.stacks()), names))
    assert len(facts.stacks()) >= 20
    assert {stack.axes.language for stack in facts.stacks()} == {"rust", "go", "java"}


def test_every_fact_has_a_source_that_was_read_on_a_day() -> None:
    for fact in facts.facts():
        if fact.kind == "unknown":
            assert (fact.value, fact.address, fact.date) == (facts.UNKNOWN, "", ""), fact
            continue
        assert fact.source, fact
        assert date.fromisoformat(fact.date) <= datetime.now(UTC).date(), fact
        if not fact.address.startswith("https://"):
            assert (ROOT / fact.address).exists(), fact


def test_an_unknown_cell_is_the_only_one_of_its_feature() -> None:
    found = facts.facts()
    unknown = {(fact.stack, fact.feature) for fact in found if fact.kind == "unknown"}
    known = {(fact.stack, fact.feature) for fact in found if fact.kind != "unknown"}
    assert unknown
    assert not unknown & known


def test_measured_facts_are_those_of_the_services() -> None:
    """A value of another type is refused, but where Protobuf takes it for an unknown field."""
    found = [fact for fact in facts.facts() if fact.kind == "measured"]
    assert {fact.stack for fact in found if fact.feature == "browser"} == set(
        map(str, facts.stacks())
    )
    wrong = [fact for fact in found if fact.value.startswith("wrong type: ")]
    assert len(wrong) >= 15
    for fact in wrong:
        if Stack.parse(fact.stack).axes.codec != "protobuf":
            assert "refused" in fact.value, fact
    lines = [fact for fact in found if "generated lines" in fact.value]
    assert {Stack.parse(fact.stack).axes.binding for fact in lines} >= {"grpc", "rest", "iiop"}
    by = {fact.stack: int(fact.value.rpartition(" ")[2]) for fact in lines}
    assert by["grpc@java"] > by["iiop@java"] > by["rest@java"] == 0


def test_what_is_measured_again_leaves_its_earlier_run() -> None:
    def run(date: str, *stacks: str) -> dict[str, object]:
        return {"date": date, "rows": [{"stack": stack, "feature": "form"} for stack in stacks]}

    first, second = run("2026-01-01", "rest@go", "grpc@go"), run("2026-01-02", "rest@go")
    both = measure_facts.join_runs([first], second)
    assert both == [run("2026-01-01", "grpc@go"), second]
    last = run("2026-01-03", "grpc@go", "iiop@java")
    assert measure_facts.join_runs(both, last) == [second, last]


def test_every_stack_that_has_facts_is_measured() -> None:
    assert set(measure_facts.list_stacks()) == set(map(str, facts.stacks()))


def test_replies_are_text_or_not_by_their_codec() -> None:
    forms = {
        Stack.parse(fact.stack).axes.codec: fact.value.rpartition(": ")[2]
        for fact in facts.facts()
        if fact.feature == "message format" and fact.kind == "measured"
    }
    assert forms == {
        "json": "text",
        "xml": "text",
        "soap-literal": "text",
        "cbor": "binary",
        "msgpack": "binary",
        "protobuf": "binary",
    }


def test_a_page_cannot_call_grpc_without_tls_and_can_call_rest() -> None:
    answers = {
        fact.stack: fact.value.rpartition(": ")[2]
        for fact in facts.facts()
        if fact.feature == "browser" and fact.kind == "measured"
    }
    for stack, answer in answers.items():
        http = Stack.parse(stack).axes.binding in ("rest", "soap", "connect")
        assert answer == ("answered" if http else "no answer"), stack


def test_a_binding_stands_for_its_stacks() -> None:
    assert {fact.stack for fact in facts.facts(["grpc"])} == {
        str(stack) for stack in facts.stacks() if stack.axes.binding == "grpc"
    }


def test_the_table_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["facts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if "://" not in line) <= 80
    assert sum(line == str(stack) for line in lines for stack in facts.stacks()) == len(
        facts.stacks()
    )


def test_csv_json_and_page_hold_the_same_facts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = tmp_path / "f.csv", tmp_path / "f.html"
    assert main(["facts", "soap", "--csv", str(table), "--page", str(page)]) == 0
    assert capsys.readouterr().out == ""
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == [field.name for field in fields(facts.Fact)]
    assert main(["facts", "soap", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows
    text = page.read_text(encoding="utf-8")
    assert all(name.capitalize() in text for name, _ in facts.features())
    assert "WS-Security" in text


def test_an_unknown_stack_is_refused_with_the_option_that_lists_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["facts", "rest@go?codec=json&compression=gzip"]) == 2
    assert "wirelab facts --list" in " ".join(capsys.readouterr().err.split())
    assert main(["facts", "nosuch"]) == 2
    assert main(["facts", "--list"]) == 0
    assert "grpc@go" in capsys.readouterr().out


def test_the_page_has_every_fact_of_today() -> None:
    written = (ROOT / facts_page.PAGE).read_text(encoding="utf-8")
    assert written == facts_page.page(), "run python -m tools.facts_page"
    for name, _ in facts.features():
        assert f"\n## {name.capitalize()}\n" in written
