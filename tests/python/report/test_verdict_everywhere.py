"""One definition of the verdict: every method of an interval and every output agree with it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from math import exp, log1p
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.python.synthetic_run import GRPC, REST, World, trials, write_run
from wirelab.cli import main
from wirelab.cli.output import compare as compare_output
from wirelab.comparisons import outputs
from wirelab.comparisons.gate import Gate, gate
from wirelab.comparisons.pairs import Answer
from wirelab.run.directory import read_manifest
from wirelab.run.finished import Run
from wirelab.run.manifest import Comparison
from wirelab.statistics.cell import cells, point_key
from wirelab.statistics.comparison import ratio
from wirelab.statistics.figure import SERVICE_CPU
from wirelab.statistics.interval import Interval
from wirelab.statistics.sequential import judge
from wirelab.statistics.verdict import verdict

NAMES = ("rest@rust", "grpc@rust")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.031, 1.2, "higher"),
        (1.001, 1.2, "undecided"),
        (1.001, 1.029, "equivalent"),
        (0.98, 1.02, "equivalent"),
        (0.9, 1.1, "undecided"),
        (0.8, 0.99, "undecided"),
        (0.8, 0.97, "lower"),
    ],
)
def test_a_difference_lies_beyond_the_threshold_and_not_only_beyond_one(
    low: float, high: float, expected: str
) -> None:
    interval = Interval((low * high) ** 0.5, low, high, 8, "test")
    assert verdict(interval, 0.03) == expected
    turned = Interval(1 / interval.estimate, 1 / high, 1 / low, 8, "test")
    opposite = {"higher": "lower", "lower": "higher"}
    assert verdict(turned, 0.03) == opposite.get(expected, expected)


def test_both_methods_take_their_verdict_from_their_interval() -> None:
    rng = np.random.default_rng(1)
    found = set()
    for effect in np.linspace(-0.08, 0.08, 41):
        a = np.exp(rng.normal(0.0, 0.01, 12))
        b = a * np.exp(effect + rng.normal(0.0, 0.01, 12))
        decision = judge(list(a), list(b), 0.03)
        assert decision.outcome == verdict(decision.ratio, 0.03)
        compared = ratio(list(b), list(a), 0.03)
        assert compared.verdict == verdict(compared.ratio, 0.03)
        found |= {decision.outcome, compared.verdict}
    assert found == {"higher", "lower", "equivalent", "undecided"}


@pytest.mark.parametrize("effect", [0.0, 0.015, 0.03])
def test_a_difference_up_to_the_threshold_is_rarely_worse(effect: float) -> None:
    """At a threshold of 3 % a true +1.5 % and even +3 % is called worse in at most 5 % of 300
    comparisons that are looked at after every pair; 22 is their binomial bound at 2.5 %."""
    rng = np.random.default_rng(2)
    worse = 0
    for _ in range(300):
        logs = log1p(effect) + rng.normal(0.0, 0.02, 40)
        outcomes = (judge([1.0] * n, list(np.exp(logs[:n])), 0.03).outcome for n in range(4, 41, 3))
        worse += next((one for one in outcomes if one != "undecided"), "") == "higher"
    assert worse <= 22


def compare_simulated(effect: float, spread: float, folder: Path) -> tuple[Answer, Gate]:
    world = World(
        sizes=(14,),
        loads=({"kind": "closed", "users": 8},),
        repeats=20,
        call_us={REST: 60.0, GRPC: 60.0 * exp(effect)},
        spread=spread,
    )
    every = trials(world)
    by = {cell.point.stack: point_key(cell.point) for cell in cells(every)}
    run = write_run(folder / "run", every)
    question = Comparison(SERVICE_CPU.name, 0.03, (by[REST], by[GRPC]), (REST, GRPC), NAMES)
    manifest = msgspec.structs.replace(read_manifest(run), comparison=question, threshold=0.02)
    (run / "manifest.json").write_text(manifest.text(), encoding="utf-8")
    made = gate(every, question.cells, SERVICE_CPU, 0.03)
    return Answer(made, NAMES, Run(run, tuple(every))), made


@pytest.mark.parametrize(
    ("effect", "spread", "expected"),
    [
        (0.2, 0.01, "worse"),
        (-0.2, 0.01, "better"),
        (0.0, 0.003, "equivalent"),
        (0.04, 0.02, "undecided"),
    ],
)
def test_terminal_json_junit_markdown_and_report_give_one_verdict(
    effect: float, spread: float, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, made = compare_simulated(effect, spread, tmp_path)
    assert made.outcome == expected
    assert compare_output.document(answer, tmp_path)["outcome"] == expected
    assert outputs.markdown(made, NAMES).splitlines()[0].endswith(f": {expected}")
    case = xml.fromstring(outputs.junit(made, NAMES))[0][0]
    assert case.tag == {"worse": "failure", "undecided": "skipped"}.get(expected, "system-out")
    sentence = outputs.sentence(made, NAMES)
    assert outputs.WORDS.get(expected, "Undecided") in sentence
    compare_output.show(answer, tmp_path / "report.html")
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert main(["report", str(answer.run.folder)]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_report_its_json_and_its_export_use_the_threshold_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between 3 and 40 % the same comparison is a difference or equivalent, in all outputs."""
    for threshold, expected in ((0.02, "higher"), (0.6, "equivalent")):
        folder = tmp_path / f"{threshold}"
        every = trials(World(sizes=(14,), spread=0.005))
        run = write_run(folder, every)
        manifest = msgspec.structs.replace(read_manifest(run), threshold=threshold)
        (run / "manifest.json").write_text(manifest.text(), encoding="utf-8")
        capsys.readouterr()
        assert main(["report", str(run), "--export", str(tmp_path / "made.json"), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        exported = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
        assert exported["threshold"] == shown["threshold"] == threshold
        assert exported["comparisons"] == shown["comparisons"]
        assert exported["sentences"] == shown["sentences"]
        rate = [one for one in shown["comparisons"] if one["figure"] == "service_cpu"]
        assert {one["verdict"] for one in rate} <= {expected, "lower"}
        assert main(["report", str(run)]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert all(" ".join(one.split()) in printed for one in shown["sentences"])


@pytest.mark.parametrize("kept", [0.02, 0.6])
def test_mcp_report_gives_the_document_of_the_command(
    kept: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from wirelab.cli.output.run import Written
    from wirelab.run import finished

    run = write_run(tmp_path / "run", trials(World(sizes=(14,))))
    manifest = msgspec.structs.replace(read_manifest(run), threshold=kept)
    (run / "manifest.json").write_text(manifest.text(), encoding="utf-8")
    assert main(["report", str(run), "--json"]) == 0
    assert Written.of(finished.read(run)).document() == json.loads(capsys.readouterr().out)
