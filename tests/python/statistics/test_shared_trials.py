"""Contrasts of cells whose services took turns in the same trials, and of cells in blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.python.synthetic_ladder import share_trials as sharing
from tests.python.synthetic_ladder import trials
from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector, levels
from wirelab.records.trial import Trial
from wirelab.statistics import linear_contrasts, shared_trials
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.interval import Interval, NoValues
from wirelab.statistics.sample import Floats, logarithms
from wirelab.study import claims
from wirelab.study.claims import Expectation, Finding
from wirelab.study.evidence import Evidence
from wirelab.study.winners import Contest, square

WORLDS = 1_000
STACKS = ("grpc@go", "rest@go?codec=text", "rest@go")
A, B, C = (CellSelector.of({"stack": stack, "bytes": 14}) for stack in STACKS)
RATE = figures.require_figure("rate")
TIME = figures.require_figure("service_mean")


def second(_: CellSelector) -> float:
    """The same cost of every call."""
    return 1e-3


def cells_of(made: list[Trial]) -> list[Cell]:
    """In the order of :data:`STACKS`."""
    found = {cell.point.stack: cell for cell in cells(made)}
    return [found[selector.stack] for selector in (A, B, C) if selector.stack in found]


def log_rates(cell: Cell) -> Floats:
    return logarithms(cell.values(RATE))


def test_a_ratio_is_the_t_of_the_trials_that_both_share() -> None:
    a, b = cells_of(sharing((A, B), second, 1))
    found = shared_trials.product([(1.0, a), (-1.0, b)], RATE)
    logs = log_rates(a) - log_rates(b)
    low, high = stats.t.interval(0.95, 4, logs.mean(), logs.std(ddof=1) / 5**0.5)
    assert found.bounds == pytest.approx((np.exp(low), np.exp(high)), rel=1e-9)
    compared = shared_trials.compare(a, b, RATE, 0.05)
    assert compared is not None
    assert compared.ratio.bounds == pytest.approx(found.bounds, rel=1e-9)


def test_a_difference_is_the_t_of_the_trials_that_both_share() -> None:
    a, b = cells_of(sharing((A, B), second, 2))
    found = shared_trials.total([(1.0, a), (-1.0, b)], TIME)
    values = np.array(a.values(TIME)) - np.array(b.values(TIME))
    low, high = stats.t.interval(0.95, 4, values.mean(), values.std(ddof=1) / 5**0.5)
    assert found.bounds == pytest.approx((low, high), rel=1e-9)


def test_cells_that_share_no_trials_are_independent() -> None:
    a, b = cells_of(trials((A, B), second, 3))
    found = shared_trials.product([(1.0, a), (-1.0, b)], RATE)
    apart = linear_contrasts.product([(1.0, a.values(RATE)), (-1.0, b.values(RATE))])
    assert found == apart


def test_the_variances_of_two_settings_add() -> None:
    """A ratio within the trials of one setting, over the same ratio within those of another."""
    small = sharing((A, B), second, 4)
    large = sharing([one.change({"bytes": 2000}) for one in (A, B)], second, 5, place=100)
    (a1, b1), (a2, b2) = cells_of(small), cells_of(large)
    found = shared_trials.product([(1.0, a2), (-1.0, b2), (-1.0, a1), (1.0, b1)], RATE)
    ratios = [np.exp(log_rates(a) - log_rates(b)).tolist() for a, b in ((a2, b2), (a1, b1))]
    apart = linear_contrasts.product([(1.0, ratios[0]), (-1.0, ratios[1])])
    assert found.bounds == pytest.approx(apart.bounds, rel=1e-9)


def test_a_cell_that_is_divided_by_itself_is_1() -> None:
    a, b, c = cells_of(sharing((A, B, C), second, 6))
    path = [(1.0, b), (-1.0, a), (1.0, c), (-1.0, b), (1.0, a), (-1.0, c)]
    found = shared_trials.product(path, RATE)
    assert (found.estimate, found.bounds) == (1.0, (1.0, 1.0))


def test_fewer_than_three_shared_trials_give_no_interval() -> None:
    a, b = cells_of(sharing((A, B), second, 7, repeats=2))
    found = shared_trials.product([(1.0, a), (-1.0, b)], RATE)
    assert found.bounds is None
    assert found.reason == "2 trials, and a verdict needs 3"
    verdict = shared_trials.contrast([(1.0, a), (-1.0, b)], RATE, 0.05)
    assert (verdict.verdict, verdict.p_value, verdict.further_repeats) == ("undecided", None, 1)


def test_trials_without_a_figure_are_left_out_of_all_cells() -> None:
    a, b = cells_of(sharing((A, B), second, 8))
    lacking = replace(a.trials[0], result=replace(a.trials[0].result, rate_per_s=0.0, ok=0))
    lacks = Cell(a.point, (lacking, *a.trials[1:]))
    found = shared_trials.product([(1.0, lacks), (-1.0, b)], RATE)
    assert (found.n, len(b.values(RATE))) == (4, 5)


def test_cells_with_no_trial_in_common_have_no_ratio() -> None:
    a, b = cells_of(sharing((A, B), second, 9))
    halves = [replace(one, status="failed") for one in a.trials]
    with pytest.raises(NoValues):
        shared_trials.product([(1.0, Cell(a.point, tuple(halves))), (-1.0, b)], RATE)


@pytest.mark.parametrize("repeats", [3, 5])
def test_intervals_of_four_cells_hold_the_truth(repeats: int) -> None:
    """However much the machine's speed differs between the trials that the cells share."""
    selectors = [CellSelector.of({"stack": s}) for s in (*STACKS, "rest@go?codec=cbor")]
    weights = (1.0, -1.0, -1.0, 1.0)
    held = 0
    for seed in range(WORLDS):
        made = cells(sharing(selectors, second, seed, repeats=repeats))
        found = shared_trials.product(list(zip(weights, made, strict=True)), RATE)
        held += holds(found, 1.0)
    # 94.5 %, and the binomial bound at the 0.1 % level.
    assert held >= stats.binom.ppf(0.001, WORLDS, 0.945)


def holds(found: Interval, truth: float) -> bool:
    low, high = found.bounds or (1.0, 0.0)
    return low <= truth <= high


def faster(expect: Expectation) -> Finding:
    return Finding("x", "A is faster", "Table 1", "rate", (A,), (B,), levels({}), expect)


def test_a_claim_is_decided_within_the_trials_that_its_cells_share() -> None:
    def cost(selector: CellSelector) -> float:
        return 1e-3 * (1.0 if selector.stack == A.stack else 1.1)

    made = sharing((A, B), cost, 10, spread=0.005)
    claim = faster(Expectation(above=1.0, margin=0.02))
    assert claims.evaluate(made, claim).outcome == "holds"
    apart = [replace(one, slices=None) for one in made]
    assert claims.evaluate(apart, claim).outcome == "undecided"


def test_a_square_of_winners_is_decided_within_shared_trials() -> None:
    def cost(selector: CellSelector) -> float:
        return 1e-3 * (1.0 if selector.stack == A.stack else 1.2)

    made: list[Trial] = []
    for place, users in enumerate((1, 10, 100)):
        both = [one.change({"users": users}) for one in (A, B)]
        made += sharing(both, cost, users, spread=0.005, place=100 * place)
    contest = Contest("x", A, B, "users", (1, 10, 100))
    assert square(made, contest, "rate", "a", 0.05).verdict == "holds"
    apart = [replace(one, slices=None) for one in made]
    assert square(apart, contest, "rate", "a", 0.05).verdict == "undecided"


def measure_in_blocks(seed: int, drift: float = 0.2, repeats: int = 5) -> list[Trial]:
    """Six cells measured one after the other; the machine's speed differs between repeats."""
    random = np.random.default_rng(seed)
    selectors = [one.change({"users": users}) for one in (A, B) for users in (1, 2, 3)]
    made = trials(selectors, second, seed, repeats=repeats)
    speed = np.exp(random.normal(0.0, drift, repeats + 1))
    return [
        replace(
            one,
            order=place,
            result=replace(
                one.result, rate_per_s=(one.result.rate_per_s or 0.0) * float(speed[one.repeat])
            ),
        )
        for place, one in enumerate(made)
    ]


def test_what_repeats_share_is_taken_out_of_the_error_of_a_claim() -> None:
    claim = faster(Expectation(within=(0.9, 1.1)))
    claim = replace(claim, levels=levels({"users": (1, 2, 3)}))
    made = measure_in_blocks(11)
    assert claims.evaluate(made, claim).outcome == "holds"
    # The same trials as those of two runs: a repeat is not a block then.
    parts = [replace(one, order=0, started=one.id) for one in made]
    assert claims.evaluate(parts, claim).outcome == "undecided"


def test_blocks_do_not_narrow_a_claim_about_one_figure() -> None:
    """The part of the blocks belongs to the error of a rate."""
    made = measure_in_blocks(12)
    evidence = Evidence.of(made)
    cell = evidence.find(A.change({"users": 1}))
    assert cell is not None
    found = evidence.product([(1.0, cell)], RATE, 0.95)
    assert found == shared_trials.product([(1.0, cell)], RATE, 0.95)


def test_intervals_of_claims_in_blocks_hold_the_truth() -> None:
    ends = [one.change({"users": users}) for users in (1, 3) for one in (A, B)]
    held = 0
    for seed in range(WORLDS // 2):
        evidence = Evidence.of(measure_in_blocks(seed))
        found = [cell for end in ends if (cell := evidence.find(end))]
        weighted = list(zip((-1.0, 1.0, 1.0, -1.0), found, strict=True))
        held += holds(evidence.product(weighted, RATE, 0.95), 1.0)
    assert held >= stats.binom.ppf(0.001, WORLDS // 2, 0.945)
