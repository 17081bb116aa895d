"""The published figures: whole, and agreeing with what can be computed from them.

The tables below were written from the study's own tables, apart from the file, so that
a slip in one of the two shows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wirelab.errors import UsageError
from wirelab.study import published, winners
from wirelab.study.published import Figure

CSV = Path(__file__).parents[3] / "studies" / "published.csv"
USERS = (1, 10, 50, 100, 400)
CALLS = {"Test1": 500_000, "Test2": 200_000, "Test3": 20_000}
GRPC, HTTP = "gRPC", "HTTP (net/http)"

LATENCY_MS = {
    (
        GRPC,
        "Test1",
    ): "0.07 0.04 1.73  0.16 0.04 1.73  0.59 0.04 7.09  1.18 0.05 15.07  4.28 0.06 21.67",
    (
        GRPC,
        "Test2",
    ): "0.18 0.13 1.3  0.84 0.15 10.12  3.98 0.16 20.02  7.82 0.17 45.52  30.72 0.2 203.55",
    (GRPC, "Test3"): "2.55 1.72 4.73  14.29 2.99 55.76  69.1 3.64 396.65  136.66 5.05 1794.18  "
    "547.75 6.28 9635.97",
    (HTTP, "Test1"): "0.08 0.049 11.96  0.35 0.046 14.05  1.76 0.06 22.84  3.27 0.05 30.13  "
    "12.21 0.07 80.98",
    (HTTP, "Test2"): "0.33 0.22 3.56  0.89 0.21 11.25  4.09 0.26 35.67  7.84 0.26 49.7  "
    "29.31 0.31 166.69",
    (HTTP, "Test3"): "4.71 1.62 13.95  6.36 2.32 22.81  25.1 2.57 162.31  48.21 2.6 295.71  "
    "168.3 2.58 786.65",
}
THROUGHPUT = {
    (GRPC, "Test1"): "12347 11946 12562  48984 47214 50201  66339 62972 67760  69573 66862 71083  "
    "72640 72401 72791",
    (GRPC, "Test2"): "5084 5074 5096  11330 11173 11561  11876 11855 11891  12108 12070 12136  "
    "12016 11848 12165",
    (GRPC, "Test3"): "390 387 394  684 663 693  711 7010 712  712 708 713  701 690 707",
    (HTTP, "Test1"): "6395 6275 6499  21626 21505 21701  25888 24665 26417  26730 26388 27177  "
    "27123 26824 27336",
    (HTTP, "Test2"): "2415 2391 2424  9589 9372 9823  11406 11287 11514  11564 11025 11841  "
    "11989 11905 12092",
    (HTTP, "Test3"): "208 207 208  1530 1450 1592  1793 1765 1813  1814 1744 1854  1890 1855 1910",
}
SCORES = {
    GRPC: (0.85, 1.2, 1.35, 1.1, 1.9, 0.4, 1.7, 2.2, 1.5),
    HTTP: (2.6, 2.8, 2.0, 1.9, 2.4, 1.2, 2.5, 2.4, 2.4),
}


@pytest.fixture(scope="module")
def figures() -> tuple[Figure, ...]:
    """All figures of the study."""
    return published.read(CSV, "hamo2023")


def test_the_whole_file_reads() -> None:
    """Every row of every study is a figure with its source."""
    every = published.read(CSV)
    assert len(every) == 759
    assert all(figure.source and figure.metric for figure in every)


@pytest.mark.parametrize(("metric", "table"), [("latency", LATENCY_MS), ("throughput", THROUGHPUT)])
def test_every_figure_of_the_tables_is_there(
    figures: tuple[Figure, ...], metric: str, table: dict[tuple[str, str], str]
) -> None:
    """30 cells of three figures each, no more and no fewer."""
    expected = {
        (stack, test, str(users), statistic): float(value)
        for (stack, test), text in table.items()
        for users, row in zip(USERS, np.reshape(text.split(), (5, 3)), strict=True)
        for statistic, value in zip(("mean", "min", "max"), row, strict=True)
    }
    found = {
        (f.stack, f.operation, f.load["vus"], f.statistic): f.value
        for f in published.select(figures, metric=metric)
    }
    assert found == expected
    assert len(found) == 90


def test_numbers_of_calls(figures: tuple[Figure, ...]) -> None:
    """Each test has its published number of calls."""
    for figure in published.select(figures, experiment="latency"):
        assert int(figure.load["n"]) == CALLS[figure.operation]


def means(figures: tuple[Figure, ...], metric: str, stack: str, test: str) -> list[float]:
    """The five averages along the users."""
    rows = published.select(figures, metric=metric, stack=stack, operation=test, statistic="mean")
    return [next(r.value for r in rows if r.load["vus"] == str(users)) for users in USERS]


@pytest.mark.parametrize(
    ("test", "metric", "over", "arithmetic", "inverse", "low", "high"),
    [
        ("Test1", "throughput", GRPC, 2.41, 2.37, 1.93, 2.68),
        ("Test1", "latency", HTTP, 2.39, 2.10, 1.14, 2.98),
        ("Test2", "throughput", GRPC, 1.275, 1.18, 1.00, 2.11),
        ("Test2", "latency", HTTP, 1.18, 1.11, 0.95, 1.83),
        ("Test3", "throughput", HTTP, 2.11, 1.44, 0.53, 2.70),
        ("Test3", "latency", GRPC, 2.33, 1.51, 0.54, 3.25),
    ],
)
def test_recomputed_ratios(
    figures: tuple[Figure, ...],
    test: str,
    metric: str,
    over: str,
    arithmetic: float,
    inverse: float,
    low: float,
    high: float,
) -> None:
    """Both kinds of average and the range over the users follow from the tables."""
    under = HTTP if over == GRPC else GRPC
    a, b = means(figures, metric, over, test), means(figures, metric, under, test)
    found = winners.score_published(a, b, USERS, higher=True)
    assert found["arithmetic"] == pytest.approx(arithmetic, abs=0.006)
    assert found["inverse"] == pytest.approx(inverse, abs=0.006)
    assert (found["least"], found["most"]) == pytest.approx((low, high), abs=0.006)


@pytest.mark.parametrize(("test", "winner"), [("Test1", GRPC), ("Test2", HTTP), ("Test3", HTTP)])
def test_the_scalability_rule_gives_the_published_winners(
    figures: tuple[Figure, ...], test: str, winner: str
) -> None:
    """What the authors judged by eye, least squares finds in their own tables: by the slope
    of throughput, by that of latency, and by the growth of throughput."""
    loser = HTTP if winner == GRPC else GRPC
    rates = [means(figures, "throughput", stack, test) for stack in (winner, loser)]
    times = [means(figures, "latency", stack, test) for stack in (winner, loser)]
    by_rate = winners.score_published(rates[0], rates[1], USERS, higher=True)
    by_time = winners.score_published(times[0], times[1], USERS, higher=False)
    assert by_rate["slope_a"] > by_rate["slope_b"]
    assert by_time["slope_a"] < by_time["slope_b"]
    assert rates[0][-1] / rates[0][0] > rates[1][-1] / rates[1][0]


def test_little_reveals_the_connection(figures: tuple[Figure, ...]) -> None:
    """Users ÷ (latency × throughput): 1.95 for HTTP with one user at 14 B, 1.16 for gRPC."""
    for stack, expected in ((HTTP, 1.95), (GRPC, 1.16)):
        latency = means(figures, "latency", stack, "Test1")[0] * 1e-3
        rate = means(figures, "throughput", stack, "Test1")[0]
        assert 1 / (latency * rate) == pytest.approx(expected, abs=0.01)


def test_the_questionnaire(figures: tuple[Figure, ...]) -> None:
    """Nine scores each, whose sums and ratios are those that were printed."""
    for stack, scores in SCORES.items():
        found = [
            published.select(figures, metric="item_score", stack=stack, operation=f"Q{i}")[0].value
            for i in range(1, 10)
        ]
        assert tuple(found) == scores
        total = published.select(figures, metric="total_score", stack=stack)[0].value
        assert sum(found) == pytest.approx(total)
    ratios = np.array(SCORES[HTTP]) / np.array(SCORES[GRPC])
    assert ratios.mean() == pytest.approx(1.89, abs=0.005)
    assert sum(SCORES[HTTP]) / sum(SCORES[GRPC]) == pytest.approx(1.656, abs=0.001)


def test_doubtful_figures_are_known(figures: tuple[Figure, ...]) -> None:
    """The impossible minimum and the two unreachable means, and no other."""
    assert sorted(f.value for f in figures if f.doubtful) == [0.85, 1.35, 7010.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", r":1: columns are"),
        (",".join(published.COLUMNS) + "\nx,y\n", r":2: 2 fields"),
        (
            ",".join(published.COLUMNS) + "\n" + ",".join(["s"] * 10 + ["many", "s", "t", "n"]),
            r":2: value 'many' is not a number",
        ),
    ],
)
def test_a_broken_file_is_reported_by_line(tmp_path: Path, text: str, message: str) -> None:
    """The line, the trouble and the remedy."""
    path = tmp_path / "published.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        published.read(path)
