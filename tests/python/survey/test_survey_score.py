"""The scale of a survey, against textbook formulas and participants of known truth."""

from __future__ import annotations

import csv
import json
import random
from math import exp, log
from pathlib import Path

import pytest
from scipy import stats

from tests.python.survey_answers import row, simulate, write
from wirelab.cli import main
from wirelab.statistics.interval import NotFinite, NoValues, TooFewValues
from wirelab.statistics.paired import EXACT_PAIRS_MAX, crossover, mean_of, sign_flip_p
from wirelab.survey.answers import BadAnswers, columns, read_answers
from wirelab.survey.score import Score, score

ROOT = Path(__file__).resolve().parents[3]


def score_simulated(file: Path, *args: object, **options: object) -> Score:
    return score(read_answers([write(file, simulate(*args, **options))]))  # type: ignore[arg-type]


def test_items_4_and_6_are_reversed(tmp_path: Path) -> None:
    """Who strongly agrees with everything gives 28 of 36 points."""
    rows = [row(one, task, place, [4] * 9) for one in (1, 2) for place, task in _order(one)]
    found = score(read_answers([write(tmp_path / "a.csv", rows)]))
    assert [mean.estimate for mean in found.total.means] == [28.0, 28.0]
    assert [item.means[0].estimate for item in found.items] == [4, 4, 4, 0, 4, 0, 4, 4, 4]


def _order(one: int) -> list[tuple[int, str]]:
    return list(enumerate(["http", "grpc"] if one % 2 else ["grpc", "http"], start=1))


def test_the_figures_of_the_study_add_up(tmp_path: Path) -> None:
    """The best of each item is 4 points; the study's sums, 20.2 and 12.2, are of that scale."""
    rows = [row(1, "http", 1, [4, 4, 4, 0, 4, 0, 4, 4, 4]), row(1, "grpc", 2, [0] * 9)]
    rows += [row(2, "grpc", 1, [0, 0, 0, 4, 0, 4, 0, 0, 0]), row(2, "http", 2, [2] * 9)]
    found = score(read_answers([write(tmp_path / "a.csv", rows)]))
    assert [mean.estimate for mean in found.total.means] == [(36 + 18) / 2, (8 + 0) / 2]
    assert found.began == {"http": 1, "grpc": 1}


def test_intervals_are_those_of_scipy() -> None:
    rng = random.Random(7)
    values = [rng.gauss(3.0, 5.0) for _ in range(11)]
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean_of(values).bounds == pytest.approx(tuple(expected))
    assert mean_of([2.0]).bounds is None


@pytest.mark.parametrize("count", [9, EXACT_PAIRS_MAX, EXACT_PAIRS_MAX + 4])
def test_p_values_are_those_of_scipys_permutation_test(count: int) -> None:
    rng = random.Random(count)
    values = [float(rng.randint(-3, 6)) for _ in range(count)]
    oracle = stats.permutation_test(
        (values,), lambda x: x.mean(), permutation_type="samples", n_resamples=60_000, rng=2
    )
    assert sign_flip_p(values) == pytest.approx(oracle.pvalue, abs=0.005)
    assert sign_flip_p([0.0, 0.0, 0.0]) == 1.0


def test_the_crossover_is_the_difference_of_groups_in_scipy() -> None:
    """The effect of the period is half of Student's difference of the two groups' d."""
    rng = random.Random(3)
    first = [(rng.gauss(20, 4), rng.gauss(14, 4)) for _ in range(7)]
    second = [(rng.gauss(22, 4), rng.gauss(14, 4)) for _ in range(9)]
    found = crossover(first, second)
    test = stats.ttest_ind([a - b for a, b in second], [a - b for a, b in first])
    expected = tuple(limit / 2.0 for limit in test.confidence_interval(0.95))
    assert found.period.bounds == pytest.approx(expected)
    carried = stats.ttest_ind([a + b for a, b in first], [a + b for a, b in second])
    assert found.carry_over_p == pytest.approx(carried.pvalue)
    negated = stats.ttest_ind([b - a for a, b in second], [a - b for a, b in first])
    expected = tuple(-limit / 2.0 for limit in reversed(negated.confidence_interval(0.95)))
    assert found.treatment.bounds == pytest.approx(expected)


def test_nonsense_is_refused() -> None:
    with pytest.raises(NoValues):
        sign_flip_p([])
    with pytest.raises(NotFinite):
        mean_of([1.0, float("nan")])
    with pytest.raises(TooFewValues):
        crossover([(1.0, 2.0)], [(1.0, 2.0), (2.0, 3.0)])


def test_intervals_hold_the_known_truth(tmp_path: Path) -> None:
    """95 % of surveys of ten people, within what 300 surveys allow (binomial, 1 in 1,000)."""
    truth = 36 * 0.2
    held = sum(
        low <= truth <= high
        for seed in range(300)
        for low, high in [
            score_simulated(
                tmp_path / "a.csv", 10, {"http": 0.6, "grpc": 0.4}, seed=seed
            ).total.difference.bounds
            or (0.0, 0.0)
        ]
    )
    assert stats.binom.ppf(0.0005, 300, 0.95) <= held <= stats.binom.ppf(0.9995, 300, 0.95)


def test_a_difference_between_equal_libraries_is_seldom_found(tmp_path: Path) -> None:
    """False alarms of the sum at most 5 %, and of any item at most 5 %, in 300 surveys."""
    surveys = [
        score_simulated(tmp_path / "a.csv", 10, {"http": 0.5, "grpc": 0.5}, seed=seed)
        for seed in range(300)
    ]
    most = stats.binom.ppf(0.999, 300, 0.05)
    assert sum(one.total.p_value < 0.05 for one in surveys) <= most
    assert sum(min(item.p_value for item in one.items) < 0.05 for one in surveys) <= most


def test_the_effect_of_the_order_is_separated(tmp_path: Path) -> None:
    """A gain of 0.1 of 36 points for what comes second; libraries differ by 0.2."""
    found = score_simulated(tmp_path / "a.csv", 400, {"http": 0.55, "grpc": 0.35}, second=0.1)
    assert found.without_order is not None
    low, high = found.without_order.period.bounds or (0.0, 0.0)
    assert low <= 3.6 <= high
    low, high = found.without_order.treatment.bounds or (0.0, 0.0)
    assert low <= 7.2 <= high


def test_times_are_compared_by_their_ratio(tmp_path: Path) -> None:
    rows = simulate(6, {"http": 0.5, "grpc": 0.5})
    for one in rows:
        one["part1_s"] = 100 if one["task"] == "http" else 200 + 10 * int(str(one["participant"]))
    rows[0]["part2"] = "given up"
    found = score(read_answers([write(tmp_path / "a.csv", rows)]))
    logs = [log((400 + 10 * one) / 300) for one in range(2, 7)]
    assert found.time_ratio is not None
    assert found.time_ratio.estimate == pytest.approx(exp(sum(logs) / 5))
    assert found.outcomes[0].solved[1].estimate == pytest.approx(5 / 6)


def test_files_of_several_computers_are_evaluated_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = simulate(8, {"http": 0.7, "grpc": 0.3})
    files = [write(tmp_path / "a.csv", rows[:5]), write(tmp_path / "b.csv", rows[5:15])]
    assert main(["survey", "score", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert "7 participants: 4 began with HTTP, 3 began with gRPC." in shown
    assert "1 participant did only one task" in shown
    assert "HTTP is rated more usable than gRPC" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert main(["survey", "score", *map(str, files), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["participants"], document["left_out"]) == (7, 1)


def test_the_published_sums_are_next_to_the_measured_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `published.csv` has them; they change no result."""
    with (ROOT / "studies/published.csv").open(encoding="utf-8", newline="") as file:
        printed = {
            line["stack"]: line
            for line in csv.DictReader(file)
            if (line["study"], line["metric"]) == ("hamo2023", "total_score")
        }
    assert {line["value"] for line in printed.values()} == {"20.2", "12.2"}
    answers = write(tmp_path / "a.csv", simulate(8, {"http": 0.7, "grpc": 0.3}))
    assert main(["survey", "score", str(answers)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (at,) = (place for place, line in enumerate(lines) if line.startswith("sum of all items"))
    assert lines[at + 1].split() == ["the", "same,", "published", "20.20", "12.20", "+8.00"]
    assert "means of 10 participants" in " ".join(lines)
    assert main(["survey", "score", str(answers), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["published"] == {
        "http": float(printed["HTTP (net/http)"]["value"]),
        "grpc": float(printed["gRPC"]["value"]),
        "participants": 10,
        "source": printed["gRPC"]["source"],
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("position,", "place,"), "line 1: the column position is missing"),
        (("developer,http,1", "developer,soap,1"), "line 2: task: 'soap' is none of http, grpc"),
        (("1,developer", "-1,developer"), "line 2: participant: '-1' is not a whole number from 1"),
        ((",solved,100", ",yes,100"), "line 2: part1: 'yes' is none of solved, given up"),
        ((",solved,100", ",solved,1e3"), "line 2: part1_s: '1e3' is not a whole number from 0"),
        (("2,developer,grpc,1", "1,developer,grpc,1"), "participant 1 has two lines for grpc"),
        (("1,developer,grpc,2", "1,developer,grpc,1"), "participant 1 has two tasks at the same"),
        (("\n1,developer", "\n1,"), "the line does not have the columns of line 1"),
        (("\n1,developer", '\n"1,developer'), "unexpected end of data"),
    ],
)
def test_bad_answers_are_refused_by_line(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.csv", simulate(2, {"http": 0.5, "grpc": 0.5}))
    text = file.read_text(encoding="utf-8")
    assert change[0] in text
    if change[0] == "\n1,developer" and change[1] == "\n1,":
        change = ("\n1,developer,", "\n1,")
    file.write_text(text.replace(change[0], change[1], 1), encoding="utf-8")
    with pytest.raises(BadAnswers, match=message.replace("(", r"\(")):
        read_answers([file])


def test_files_that_are_not_answers_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    assert main(["survey", "score", str(picture)]) == 2
    assert "not UTF-8 text: byte 0" in capsys.readouterr().err
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * (11 << 20))
    assert main(["survey", "score", str(large)]) == 2
    assert "10 MiB" in capsys.readouterr().err
    alone = write(tmp_path / "one.csv", simulate(1, {"http": 0.5, "grpc": 0.5}))
    assert main(["survey", "score", str(alone)]) == 2
    assert "collect answers of at least 2" in capsys.readouterr().err


def test_the_columns_are_those_of_the_guide() -> None:
    guide = ROOT / "docs" / "surveys.md"
    assert all(f"`{name}`" in guide.read_text(encoding="utf-8") for name in columns()[:8])
