"""The campaign of all studies: its plan, its repeats, and that it ends and continues in time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.python.synthetic_ladder import trials
from tests.python.synthetic_run import write_run
from tools import studies as campaign
from wirelab.experiment import matrix as planning
from wirelab.explain.cell_selector import CellSelector
from wirelab.process import machine
from wirelab.run import runner as running
from wirelab.run.time_limit import TimeLimit
from wirelab.stack import manifests
from wirelab.statistics import linear_contrasts
from wirelab.statistics.cell import cells
from wirelab.study import catalogue as studies
from wirelab.study import pilot, plan, published, reproduction

STUDY = """\
name: tiny
title: two services
source: a test
question: Which is faster?
parts: [pair]
scale: 1
window_max: 1 s
takes: {default: 1 s}
arms:
  rest: {stack: rest@rust, label: REST}
  grpc: {stack: grpc@rust, label: gRPC}
findings:
  - id: faster
    claim: REST is faster.
    source: a test
    over: [rest]
    under: [grpc]
    where: {users: 2}
    expect: {above: 1}
"""
PAIR = """\
name: tiny-pair
services: [rest@rust, grpc@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 5
"""

pytestmark = pytest.mark.usefixtures("no_orphans")


@pytest.mark.parametrize(
    ("spread", "threshold", "repeats"),
    [(0.0, 0.05, 5), (0.02, 0.05, 5), (0.05, 0.05, 10), (0.05, 0.1, 5), (0.3, 0.05, 15)],
)
def test_repeats_follow_from_the_spread(spread: float, threshold: float, repeats: int) -> None:
    """Half widths by Student's t of tables: 2.306 for 5 repeats of both, 2.101 for 10."""
    assert pilot.count_repeats_needed(spread, threshold) == repeats
    quantile = {5: 2.306, 10: 2.101, 15: 2.048}[repeats]
    half = quantile * spread * np.sqrt(2 / repeats)
    assert (half <= np.log(1 + threshold)) == (repeats < pilot.REPEATS_MAX)


def test_the_spread_is_that_of_the_trials_of_a_cell() -> None:
    """Between cells it may be any; 400 cells of five trials give it within 5 %."""
    every = [
        CellSelector.of({"stack": "grpc@go", "bytes": size, "users": 1}) for size in range(1, 401)
    ]
    made = trials(every, lambda cell: 1e-5 * (cell.bytes or 1), 7, spread=0.08)
    assert pilot.pool_spread(cells(made), "rate") == pytest.approx(0.08, rel=0.05)


def test_the_interval_keeps_its_promise_where_the_variance_chose_the_repeats() -> None:
    """In 2,000 worlds with equal cells, as many as 5 % of the intervals miss 1, within their error
    of 1.5 %: the number of repeats does not depend on the estimates."""
    random, missed, counts = np.random.default_rng(43), 0, set()
    for _ in range(2_000):
        worlds = random.normal(0.0, 0.06, size=(2, pilot.REPEATS_MAX))
        spread = float(np.sqrt(worlds[:, : pilot.PILOT].var(axis=1, ddof=1).mean()))
        count = pilot.count_repeats_needed(spread, 0.05)
        counts.add(count)
        first, second = (list(np.exp(row[:count])) for row in worlds)
        low, high = linear_contrasts.product([(1.0, first), (-1.0, second)]).bounds or (1.0, 1.0)
        missed += not low <= 1.0 <= high
    assert len(counts) > 5
    assert missed / 2_000 == pytest.approx(0.05, abs=0.015)


def test_further_repeats_stay_within_the_time() -> None:
    """The part that lacks most comes first; a part that costs too much leaves time for others."""
    want, cost = {"a": 10, "b": 6, "c": 5}, {"a": 10.0, "b": 10.0, "c": 1.0}
    assert pilot.afford(want, cost, 1_000.0) == want
    assert pilot.afford(want, cost, 30.0) == {"a": 8, "b": 5, "c": 5}
    assert pilot.afford(want, cost, 0.0) == {"a": 5, "b": 5, "c": 5}
    assert pilot.afford({"a": 10, "b": 6}, {"a": 99.0, "b": 10.0}, 50.0) == {"a": 5, "b": 6}


@pytest.mark.parametrize("name", studies.names())
def test_studies_have_the_design_of_today(name: str) -> None:
    """Five repeats, slices where valid, and a JVM that is warm where warm calls are measured."""
    planned = plan.plan(studies.load(name), None, quick=False)
    catalogue = manifests.load()
    for part, experiment in planned.experiments.items():
        assert experiment.repeats >= pilot.PILOT, part
        assert experiment.design == "auto", part
        every = [c for t in planning.schedule(experiment, catalogue).trials for c in t.cells]
        warm_java = any(
            c.stack.axes.language == "java" and c.stack.axes.start == "warm" for c in every
        )
        if warm_java and experiment.warmup.max:
            assert experiment.warmup.by_language["java"].min >= 5.0, part


def test_the_plan_is_printed_and_all_studies_take_at_most_ten_hours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert campaign.main(["--plan"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{name}: about " in f"\n{shown}" for name in studies.names())
    assert "  crossover: 5 repeats, 75 trials, 75 of them in slices" in shown
    assert "at most 10.5 h in total. This call: at most 60 min." in shown
    monkeypatch.setattr(campaign, "TOTAL_S", 3_600.0)
    assert campaign.main(["--plan"]) == 1
    assert "more than 1 h" in capsys.readouterr().err


@pytest.mark.parametrize("minutes", ["0", "61", "-1", "nan"])
def test_a_call_takes_at_most_an_hour(minutes: str) -> None:
    with pytest.raises(SystemExit) as ended:
        campaign.main(["--plan", "--minutes", minutes])
    assert ended.value.code == 2


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only study."""
    folder = tmp_path / "studies"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "study.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "tiny" / "pair.yaml").write_text(PAIR, encoding="utf-8")
    columns = ",".join(published.COLUMNS)
    (folder / "published.csv").write_text(f"{columns}\n", encoding="utf-8")
    monkeypatch.setattr(studies, "folder", lambda: folder)
    return tmp_path / "out"


class Few(TimeLimit):
    """Time for three trials."""

    def __init__(self, seconds: float = 0.0, *, counts_preparation: bool = True) -> None:
        super().__init__(1e6, counts_preparation=counts_preparation)
        self.trials = 0

    def allows(self, planned_s: float) -> bool:
        self.trials += 1
        return self.trials <= 3


@pytest.mark.usefixtures("stand_in")
def test_a_campaign_ends_in_time_and_the_same_command_continues(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pilot first, and then the repeats that it calls for; a finished one measures nothing."""
    words = ["--out", str(tiny)]
    monkeypatch.setattr(pilot, "plan_repeats", lambda made, total_s: {"pair": 6})
    with monkeypatch.context() as patched:
        patched.setattr(campaign, "TimeLimit", Few)
        assert campaign.main(words) == 0
    assert "tiny is not finished" in capsys.readouterr().out
    cut = running.read(tiny / "tiny" / "pair").trials
    assert len(cut) == 3
    assert campaign.main(words) == 0
    assert "tools.study_page --keep" in capsys.readouterr().out
    whole = running.read(tiny / "tiny" / "pair")
    assert whole.trials[:3] == cut
    assert len(whole.trials) == 12
    assert campaign.main(words) == 0
    assert running.read(tiny / "tiny" / "pair").trials == whole.trials
    assert not reproduction.judge_folder(tiny / "tiny").incomplete


@pytest.mark.usefixtures("stand_in")
def test_a_first_look_ends_in_time_and_names_what_it_left(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three trials fit: the pair of 10 users waits for its second service."""
    path = tiny.parent / "studies" / "tiny" / "study.yaml"
    text = STUDY.replace("takes: {default: 1 s}", "takes: {default: 1 s, quick: 1 s}")
    more = text[text.index("  - id: faster") :].replace("faster\n", "faster-many\n")
    more = more.replace("users: 2", "users: 10")
    loads = "[{closed: {users: 2}}, {closed: {users: 10}}]"
    quick = f"quick: {{pair: {{repeats: 1, loads: {loads}, design: trials}}}}\n"
    path.write_text(text + more + quick, encoding="utf-8")
    monkeypatch.setattr(reproduction, "TimeLimit", Few)
    made = reproduction.reproduce("tiny", tiny, quick=True)
    assert len(made.runs["pair"].trials) == 3
    assert not made.is_finished
    (left,) = (note for note in made.notes if note.startswith("It left"))
    assert left in ("It left 1 of 2 findings: faster.", "It left 1 of 2 findings: faster-many.")
    monkeypatch.undo()


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_run_with_repeated_trials_is_finished(tmp_path: Path, spoilt: bool) -> None:
    """What was measured again is noted, and nothing is missing."""
    found = studies.load("hamo2023")
    every = [CellSelector.of({"stack": "grpc@go", "bytes": 14, "users": 1})]
    made = trials(every, lambda cell: 1e-5, 7)
    for part in found.study.parts:
        write_run(tmp_path / part, made)
    if spoilt:
        journal = tmp_path / "matrix" / "trials.jsonl"
        lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
        journal.write_text("".join([lines[0], *lines]), encoding="utf-8")
    runs = {part: running.read(tmp_path / part) for part in found.study.parts}
    judged = reproduction.judge(found, 0.1, tmp_path, runs)
    assert judged.is_finished
    assert bool(judged.incomplete) == spoilt
    assert not any(note.startswith("It left") for note in judged.notes)
    del runs["tool"]
    cut = reproduction.judge(found, 0.1, tmp_path, runs)
    assert not cut.is_finished
    assert any(note.startswith("It left") for note in cut.notes)


@pytest.mark.usefixtures("stand_in")
def test_a_campaign_is_not_continued_on_another_cpu(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even with a study that has not begun."""
    assert campaign.main(["--out", str(tiny)]) == 0
    capsys.readouterr()
    (tiny / "tiny").rename(tiny / "other")
    monkeypatch.setattr(machine, "cpu_model", lambda: "Another CPU")
    assert campaign.main(["--out", str(tiny)]) == 1
    assert "this machine has Another CPU" in capsys.readouterr().err
    assert not (tiny / "tiny").exists()
