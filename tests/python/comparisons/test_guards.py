"""Guards of a comparison: a tail or failed calls that become worse while the figure does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.python.synthetic_run import GRPC, REST, World, trials, users, with_result
from wirelab.cli.options.compare import QuestionOptions
from wirelab.cli.output.compare import EXIT_BY_OUTCOME, read_question
from wirelab.cli.output.named_services import ExperimentText
from wirelab.comparisons import outputs, shared_wait
from wirelab.comparisons.gate import Gate, gate, is_enough, is_precise
from wirelab.comparisons.guards import GUARDED, Calls, fails_more
from wirelab.comparisons.pairs import Question, compare
from wirelab.errors import UsageError
from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.records.trial import Trial
from wirelab.run.directory import read_manifest
from wirelab.run.progress import RemainingWork, Silent
from wirelab.stack import manifests
from wirelab.statistics.calls_needed import calls_needed, window_for
from wirelab.statistics.cell import cells, point_key
from wirelab.statistics.figure import RESPONSE_P50

WORLD = World(
    sizes=(14,), loads=(users(8),), repeats=14, call_us={REST: 60.0, GRPC: 60.0}, spread=0.01
)
NAMES = ("rest@rust", "grpc@rust")


def with_times(one: Trial, **factors: float) -> Trial:
    """The trial with percentiles of its response time multiplied; a factor of 0 removes one."""
    times = one.result.times["response"]
    changed = {p: round(ns * factors.get(p, 1.0)) for p, ns in times.percentiles_ns.items()}
    kept = {p: ns for p, ns in changed.items() if ns}
    every = {**one.result.times, "response": replace(times, percentiles_ns=kept)}
    return replace(one, result=replace(one.result, times=every))


def change_percentiles(every: Sequence[Trial], **factors: float) -> list[Trial]:
    """The same trials, those of gRPC with these percentiles changed, and noise in every p99."""
    rng = np.random.default_rng(7)
    noisy = [with_times(one, p99=float(np.exp(rng.normal(0.0, 0.1)))) for one in every]
    return [with_times(one, **factors) if one.point.stack == GRPC else one for one in noisy]


def judge(every: Sequence[Trial], guards: Sequence[str] = GUARDED) -> Gate:
    """The median of gRPC against that of REST."""
    by = {cell.point.stack: point_key(cell.point) for cell in cells(every)}
    return gate(every, (by[REST], by[GRPC]), RESPONSE_P50, 0.05, guards)


@pytest.fixture(scope="module")
def plain() -> list[Trial]:
    return trials(WORLD)


def test_a_tail_that_is_five_times_worse_does_not_pass_a_gate_on_the_median(
    plain: list[Trial],
) -> None:
    every = change_percentiles(plain, p99=5.0)
    assert judge(every, ()).outcome == "equivalent", "without the guard"
    found = judge(every)
    assert found.outcome_of_figure == "equivalent"
    assert found.outcome == "worse"
    assert EXIT_BY_OUTCOME[found.outcome] == 1
    said = outputs.sentence(found, NAMES)
    assert said.startswith("grpc@rust is worse than rest@rust: p99 response time 5.")
    assert "Response p50: equivalent (ratio " in said
    assert is_enough(found)


def test_a_healthy_tail_passes(plain: list[Trial]) -> None:
    for factor in (1.0, 0.4):
        found = judge(change_percentiles(plain, p99=factor))
        assert found.outcome == "equivalent"
        assert [guard.outcome for guard in found.guards] == ["holds", "holds"]
        assert "not guarded" not in outputs.sentence(found, NAMES)
        assert is_enough(found)


def test_a_guard_without_enough_calls_is_named_with_the_window_that_has_them(
    plain: list[Trial],
) -> None:
    few = [
        with_result(with_times(one, p99=0.0, **{"p99.9": 0.0}), calls=958, ok=958) for one in plain
    ]
    found = judge(few)
    assert (found.outcome_of_figure, found.outcome) == ("equivalent", "undecided")
    assert EXIT_BY_OUTCOME[found.outcome] == 5
    said = outputs.sentence(found, NAMES)
    assert said.startswith("Undecided: grpc@rust is equivalent to rest@rust in response p50 (")
    assert (
        "; not guarded: p99 response time: 958 of 1,000 calls in a trial; `--duration 3s` or more."
        in said
    )
    assert is_enough(found), "nobody waits for a p99 that never comes"
    assert judge(few, ()).outcome == "equivalent"
    assert "not guarded" not in outputs.sentence(judge(few, ()), NAMES)


def test_a_tail_that_varies_too_much_is_undecided(plain: list[Trial]) -> None:
    rng = np.random.default_rng(8)
    wild = [with_times(one, p99=float(np.exp(rng.normal(0.0, 1.0)))) for one in plain]
    found = judge(wild)
    assert found.outcome == "undecided"
    assert "; not guarded: p99 response time " in outputs.sentence(found, NAMES)
    assert outputs.sentence(found, NAMES).endswith(" is not decided.")
    assert not is_enough(found), "further pairs may decide the guard"


def test_a_service_that_is_worse_waits_for_no_guard(plain: list[Trial]) -> None:
    rng = np.random.default_rng(8)
    wild = [with_times(one, p99=float(np.exp(rng.normal(0.0, 1.0)))) for one in plain]
    slow = [with_times(one, p50=1.4) if one.point.stack == GRPC else one for one in wild]
    found = judge(slow)
    assert found.outcome == "worse"
    assert any(not guard.settled for guard in found.guards)
    assert is_enough(found)


def test_failed_calls_are_guarded_and_few_calls_prove_little(plain: list[Trial]) -> None:
    failing = [
        with_result(one, errors=one.result.calls // 20) if one.point.stack == GRPC else one
        for one in plain
    ]
    assert judge(failing).outcome == "worse"
    assert "failed, compared with 0 of" in outputs.sentence(judge(failing), NAMES)
    few = [with_result(one, calls=10, ok=10) for one in plain]
    errors = next(guard for guard in judge(few).guards if guard.name == "errors")
    assert errors.outcome == "undecided"
    assert "too few to know" in errors.reason


def test_the_error_is_shared_between_figure_and_guards(plain: list[Trial]) -> None:
    """The figure has four fifths of 5 %, the guards the rest; the sentence names the level."""
    found = judge(change_percentiles(plain))
    assert found.confidence == pytest.approx(0.96)
    assert "96 % interval" in outputs.sentence(found, NAMES)
    assert judge(plain, ()).confidence == pytest.approx(0.95)
    assert "95 % interval" in outputs.sentence(judge(plain, ()), NAMES)
    narrow, wide = (judge(change_percentiles(plain), of).ratio.bounds for of in ((), GUARDED))
    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_equal_services_are_rarely_worse_however_often_one_looks() -> None:
    """200 comparisons of equal services, evaluated at several numbers of pairs up to 25, with
    figure and guards: at most 5 % are ever called worse; 21 is the binomial bound at 0.1 %."""
    rng = np.random.default_rng(9)
    base = trials(replace(WORLD, repeats=25))
    worse = 0
    for _ in range(200):
        every = [
            with_times(
                one,
                p50=float(np.exp(rng.normal(0.0, 0.03))),
                p99=float(np.exp(rng.normal(0.0, 0.3))),
            )
            for one in base
        ]
        looks = (6, 8, 10, 13, 16, 20, 25)
        so_far = (judge([one for one in every if one.repeat < pairs]) for pairs in looks)
        worse += any(found.outcome == "worse" for found in so_far)
    assert worse <= 21


def test_looks_at_failed_calls_share_the_error() -> None:
    """A difference that one look would find is none at the twentieth."""
    calls = Calls(10_000, 0), Calls(10_000, 9)
    assert fails_more(calls, 0.95, 0)
    assert not fails_more(calls, 0.95, 20)
    assert fails_more((Calls(10_000, 0), Calls(10_000, 200)), 0.95, 20)


def test_a_precision_goes_on_after_the_decision(plain: list[Trial]) -> None:
    few = [one for one in change_percentiles(plain) if one.repeat < 7]
    decided = judge(few)
    low, high = decided.ratio.bounds or (0.0, 9.0)
    half = (high / low) ** 0.5 - 1.0
    assert is_precise(decided, 1.01 * half)
    assert not is_precise(decided, 0.99 * half)


@pytest.mark.parametrize(
    ("given", "guards"),
    [
        ("p99,errors", ("response_p99", "errors")),
        ("none", ()),
        ("errors", ("errors",)),
        ("p50, service_cpu", ("response_p50", "service_cpu")),
    ],
)
def test_guards_are_named_by_figures(given: str, guards: tuple[str, ...]) -> None:
    question = read_question(ExperimentText("", "x"), QuestionOptions(guard=given))
    assert question.guards == guards
    assert question.figure is None


def test_an_unknown_guard_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown figure 'p98'"):
        read_question(ExperimentText("", "x"), QuestionOptions(guard="p98"))


def test_pairs_of_an_open_load_share_their_arrivals() -> None:
    text = (
        "name: pairs\nservices: [rest@rust, grpc@rust]\n"
        "messages: [{operation: Hello, bytes: 14 B}]\n"
        "loads: [poisson: {rate: 50, in_flight_max: 10}]\nwindow: {duration: 1 s}\nrepeats: 5\n"
    )
    planned = planning.schedule(loading.parse(text, "pairs"), manifests.load())
    seeds: dict[int, set[int]] = {}
    for trial in planned.trials:
        seeds.setdefault(trial.repeat, set()).add(trial.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == 5, "repeats differ"


def make_idle(one: Trial, p50_ns: float, busy: float = 0.02) -> Trial:
    """The trial with this median, and caller and service that are nearly idle."""
    shown = with_times(one, p50=p50_ns / one.result.times["response"].percentiles_ns["p50"])
    window = one.result.window_s
    result = with_result(shown, cpu_s=busy * window, calls=200, ok=200, ended=200).result
    service = replace(one.service, cpu_window_s=busy * window)
    caller = replace(one.engine, cpu_user_s=busy * window, cpu_system_s=0.0)
    return replace(shown, result=result, service=service, engine=caller)


def test_a_wait_that_both_have_is_named(plain: list[Trial]) -> None:
    def describe_wait(a_ns: float, b_ns: float, busy: float = 0.02) -> str:
        every = [make_idle(one, b_ns if one.point.stack == GRPC else a_ns, busy) for one in plain]
        return shared_wait.sentence(judge(every, ()).pairs.trials, NAMES)

    both = describe_wait(44.1e6, 44.3e6)
    assert re_numbers(both) >= {"40"}
    assert "delayed acknowledgment" in both
    assert "Nagle" in both
    other = describe_wait(20.0e6, 20.4e6)
    assert other.startswith("Both spend most of a call in what looks like the same wait: 1")
    assert "Nagle" not in other
    assert describe_wait(44.0e6, 4.0e6) == ""
    assert describe_wait(44.0e6, 44.0e6, busy=0.9) == "", "calls wait for a core"


def re_numbers(text: str) -> set[str]:
    """Whole numbers in a text."""
    return {word for word in text.replace(",", " ").split() if word.isdigit()}


def test_calls_that_a_percentile_needs() -> None:
    assert [calls_needed(name) for name in ("p50", "p99", "p99.9", "mean")] == [
        20,
        1_000,
        10_000,
        None,
    ]
    assert window_for(958, 10.0, 1_000) == 12.0
    assert window_for(400, 0.2, 1_000) == pytest.approx(0.6)


class Notes(Silent):
    """Keeps what a run announces."""

    def __init__(self) -> None:
        self.at_most: list[tuple[int, bool]] = []

    def begin(self, work: RemainingWork) -> None:
        """Keeps the number of trials, and whether it is a bound."""
        self.at_most.append((work.trials, work.ends_early))


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_an_open_load_is_compared_by_its_response_time_within_a_budget(tmp_path: Path) -> None:
    text = (
        "name: open\nservices: [rest@rust, grpc@rust]\n"
        "messages: [{operation: Hello, bytes: 14 B}]\n"
        "loads: [poisson: {rate: 100, in_flight_max: 100}]\nwindow: {duration: 200 ms}\n"
        "warmup: {min: 50 ms, max: 100 ms}\n"
    )
    notes = Notes()
    question = Question(text, "open", None, 0.03, 30, budget_s=0.001)
    answer = compare(question, tmp_path / "run", progress=notes, share=True)
    assert answer.gate.figure is RESPONSE_P50
    assert notes.at_most == [(60, True)]
    assert not answer.run.trials, "no pair begins after the budget"
    kept = read_manifest(tmp_path / "run").comparison
    assert kept is not None
    assert (kept.figure, kept.guards) == ("response_p50", GUARDED)
