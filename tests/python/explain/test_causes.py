"""Why two services differ: known worlds, their conclusions, and real runs."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.python.synthetic_ladder import share_trials, trials
from wirelab.cli import main
from wirelab.explain import conditions, figures
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.conditions import Condition, Shift, shifts
from wirelab.explain.explanation import explain
from wirelab.explain.findings_text import UnfoundedConclusion, capitalize_words
from wirelab.explain.ladders import Ladder, Rung
from wirelab.explain.path import path
from wirelab.explain.two_orders import EndTimes, judge, two_orders
from wirelab.report import cause_page
from wirelab.stack.reference import Stack
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.interval import Interval

MS = 1e6
FIGURE = figures.require_figure("service_mean")
CLOSE = Condition("connection", "a connection per call")
LINK = Condition("link", "a round trip of 2 ms")
SEEDS = 200

A, B = Stack.parse("rest@rust"), Stack.parse("grpc@go")
STEPS = path(A, B, lambda _: "")


def ladder() -> Ladder:
    cells = [CellSelector(s.reference) for s in (A, *(step.after for step in STEPS))]
    rungs = tuple(
        Rung(step.axes[0], step.label, "", cells[i], cells[i + 1], near=False)
        for i, step in enumerate(STEPS)
    )
    return Ladder("path", "Why?", cells[0], cells[-1], None, rungs, figure="service_mean")


@pytest.mark.parametrize("cause", ["codec", "language", "nothing"])
def test_three_worlds_three_conclusions(cause: str) -> None:
    """The same path; in each world another axis costs half as much again, in one none."""
    slow = {"codec": "protobuf", "language": "go"}.get(cause)

    def cost(selector: CellSelector) -> float:
        stack = Stack.parse(selector.stack)
        return 1e-3 * (1.5 if slow is not None and stack.value(cause) == slow else 1.0)

    wrong = 0
    for seed in range(SEEDS):
        found = explain(trials(ladder().cells, cost, seed), ladder())
        # The time of a call grows on the way to the slow one: towards the goal.
        wrong += found.causes != (() if cause == "nothing" else (cause,))
    assert wrong <= 0.1 * SEEDS


def test_the_largest_step_in_both_orders_and_its_interaction() -> None:
    language = STEPS[-1]
    design = two_orders(A, B, language, lambda _: "")
    assert [str(one) for one in design.stacks] == ["rest@rust", "rest@go", "grpc@rust", "grpc@go"]
    additive = {"rest@rust": 100.0, "rest@go": 150.0, "grpc@rust": 200.0, "grpc@go": 300.0}
    found = judge(design, simulate_cells(additive, 0.01), FIGURE, 0.05)
    assert found.first is not None
    assert found.last is not None
    assert found.interaction is not None
    assert found.first.ratio.estimate == pytest.approx(1.5, rel=0.05)
    assert found.last.ratio.estimate == pytest.approx(1.5, rel=0.05)
    assert found.interaction.verdict == "equivalent"
    together = judge(design, simulate_cells({**additive, "grpc@go": 450.0}, 0.01), FIGURE, 0.05)
    assert together.interaction is not None
    assert together.interaction.verdict == "higher"


def test_steps_are_compared_within_the_trials_that_stacks_share() -> None:
    """The machine's speed differs by a third between trials: apart, nothing would be decided."""
    language = STEPS[-1]
    design = two_orders(A, B, language, lambda _: "")
    costs = {"rest@rust": 1.0, "rest@go": 1.2, "grpc@rust": 2.0, "grpc@go": 2.4}
    selectors = [CellSelector(name) for name in costs]

    def cost(selector: CellSelector) -> float:
        return 1e-3 * costs[selector.stack]

    made = cells(share_trials(selectors, cost, 4, spread=0.005))
    found = judge(design, {cell.point.stack: cell for cell in made}, FIGURE, 0.05)
    assert found.first is not None
    assert found.last is not None
    assert found.interaction is not None
    assert (found.first.verdict, found.last.verdict) == ("higher", "higher")
    assert found.interaction.verdict == "equivalent"
    alone = [replace(trial, slices=None) for cell in made for trial in cell.trials]
    apart = judge(design, {cell.point.stack: cell for cell in cells(alone)}, FIGURE, 0.05)
    assert apart.first is not None
    assert apart.first.verdict == "undecided"


def simulate_cells(costs_ms: dict[str, float], spread: float) -> dict[str, Cell]:
    """Eight trials of each stack, by its time of a call."""
    made = trials(
        map(CellSelector, costs_ms),
        lambda cell: 1e-3 * costs_ms[cell.stack],
        2,
        repeats=8,
        spread=spread,
    )
    return {cell.point.stack: cell for cell in cells(made)}


def answer_of(costs_ms: dict[str, float], spread: float) -> tuple[str, ...]:
    """Sentences on every step of the path from both ends."""
    known = simulate_cells(costs_ms, spread)
    designs = [two_orders(A, B, step, lambda _: "") for step in STEPS]
    found = [judge(design, known, FIGURE, 0.05) for design in designs]
    return tuple(text for one in found for text in cause_page._from_both_ends(one))


def test_a_step_that_depends_on_its_end_has_a_range_and_is_an_interaction() -> None:
    """Alone at the fast end the language costs 0.2 ms, at the slow end 0.7 ms of 1.16 ms."""
    costs = {"rest@rust": 1.0, "rest@go": 1.2, "grpc@rust": 1.46, "grpc@go": 2.16}
    made = answer_of(costs, 0.005)
    said = next(text for text in made if text.startswith(capitalize_words(STEPS[-1].label)))
    assert re.search(r"from both ends: \d+ µs to \d+ µs, 1\d % to 6\d % of the", said), said
    assert "an interaction: the effect depends on the other changes" in said


def test_a_step_that_is_the_same_from_both_ends_has_one_share() -> None:
    costs = {"rest@rust": 10.0, "rest@go": 15.0, "grpc@rust": 10.2, "grpc@go": 15.3}
    made = answer_of(costs, 0.004)
    said = next(text for text in made if text.startswith(capitalize_words(STEPS[-1].label)))
    assert re.search(r"from both ends: 5\.\d+ ms, 9\d % of the difference", said), said
    assert "an interaction" not in said


def test_shares_never_exceed_the_whole() -> None:
    """One change costs 4, another takes 2 back: the first is not 200 % of the difference."""
    one = EndTimes(Interval(4.0, 3.0, 5.0, 8, "t"), Interval(3.0, 2.0, 4.0, 8, "t"), 2.0)
    assert one.shares == (1.0, 1.0)
    other = EndTimes(Interval(-2.0, -3.0, -1.0, 8, "t"), Interval(1.0, 0.5, 1.5, 8, "t"), 2.0)
    assert other.shares == (0.0, 0.5)
    more = {"connection": (1.0, 1.2), "link": (1.0, 1.5)}
    made = times(1.0, 3.0, more, 4)
    plain = conditions.gap(made)
    assert plain is not None
    found = shifts([CLOSE, LINK], made, {})
    assert conditions.sum_shares(found, plain) > 1.0
    beyond = times(1.0, 2.0, {"connection": (3.0, 2.0)}, 4)
    whole = conditions.gap(beyond)
    assert whole is not None
    said = conditions.sentence(shifts([CLOSE], beyond, {})[0], whole)
    assert "more than all of it" in said
    assert "%" not in said


def times(
    a: float, b: float, under: dict[str, tuple[float, float]], seed: int, spread: float = 0.03
) -> dict[str, tuple[list[float], list[float]]]:
    random = np.random.default_rng(seed)

    def sample(mean: float) -> list[float]:
        return list(mean * MS * np.exp(random.normal(0.0, spread, 5)))

    every = {"": (a, b), **under}
    return {name: (sample(x), sample(y)) for name, (x, y) in every.items()}


@pytest.mark.parametrize(
    ("under", "causes"),
    [
        ({"connection": (3.0, 3.0), "link": (3.0, 5.0)}, ["connection"]),
        ({"connection": (1.5, 3.5), "link": (3.0, 3.1)}, ["link"]),
        ({"connection": (1.5, 3.5), "link": (3.0, 5.0)}, []),
    ],
)
def test_a_condition_is_a_cause_only_where_it_removes_the_difference(
    under: dict[str, tuple[float, float]], causes: list[str]
) -> None:
    """A delay that both have alike makes their ratio smaller and explains nothing."""
    wrong = 0
    for seed in range(SEEDS):
        found = shifts([CLOSE, LINK], times(1.0, 3.0, under, seed), {})
        wrong += [one.condition.id for one in found if one.outcome == "cause"] != causes
    assert wrong <= 0.1 * SEEDS


def test_without_a_difference_there_is_no_cause() -> None:
    named = 0
    for seed in range(SEEDS):
        made = times(2.0, 2.0, {"connection": (2.5, 2.5), "link": (4.0, 4.0)}, seed)
        named += any(one.outcome == "cause" for one in shifts([CLOSE, LINK], made, {}))
    assert named <= 0.05 * SEEDS


def test_a_cause_without_an_interval_that_shows_it_cannot_be_named() -> None:
    with pytest.raises(UnfoundedConclusion):
        Shift(CLOSE, "cause", "", None, Interval(1.0, -1.0, 3.0, 8, "t"))
    with pytest.raises(UnfoundedConclusion):
        Shift(CLOSE, "cause", "", None, None)


def test_a_condition_that_failed_is_not_measured() -> None:
    made = times(1.0, 3.0, {}, 1)
    (shift,) = shifts([CLOSE], made, {"connection": "the server refused"})
    plain = conditions.gap(made)
    assert shift.outcome == "not measured"
    assert plain is not None
    assert "the server refused" in conditions.sentence(shift, plain)


@pytest.mark.parametrize(
    ("plain", "under", "said"),
    [
        # Both wait for the same thing, and differ once it is gone.
        ((9.0, 9.0), (1.0, 3.0), "a link: with it the difference is 2"),
        ((1.0, 3.0), (1.0, 2.7), "a link: undecided, the difference decreases by "),
        ((1.0, 3.0), (1.0, 3.3), "a link: undecided, the difference increases by "),
    ],
)
def test_an_undecided_condition_states_its_direction(
    plain: tuple[float, float], under: tuple[float, float], said: str
) -> None:
    link = Condition("link", "a link")
    for seed in range(SEEDS):
        made = times(*plain, {"link": under}, seed)
        (shift,) = shifts([link], made, {})
        found = conditions.gap(made)
        assert found is not None
        sentence = conditions.sentence(shift, found)
        if shift.outcome == "undecided" and found.is_found == (plain[0] != plain[1]):
            assert said.lower() in sentence.lower()
            break
    else:
        pytest.fail("never undecided")


SERVER = """
import http.server, sys, time
port, host, wait, close = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4] == "close"
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def setup(self):
        super().setup()
        if close:
            time.sleep(0.02)
    def do_GET(self):
        time.sleep(wait)
        self.send_response(200)
        self.send_header("content-length", "5")
        if close:
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(b"hello")
        self.wfile.flush()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer((host, port), Handler).serve_forever()
"""


def run_explain(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    services: list[Any],
    words: tuple[str, ...] = ("--figure", "service_mean", "--repeats", "2"),
    **keys: Any,
) -> dict[str, Any]:
    """An experiment of short windows, explained; the known truths are large. Windows of few calls
    have a mean, and no median."""
    values = {
        "name": "why",
        "services": services,
        "loads": [{"closed": {"users": 1}}],
        "window": {"duration": "200 ms"},
        "warmup": {"min": "50 ms", "max": "100 ms"},
        **keys,
    }
    file = tmp_path / "why.yaml"
    file.write_text(yaml.safe_dump(values))
    run = tmp_path / "run"
    code = main(["explain", str(file), *words, "--out", str(run), "--json"])
    written = capsys.readouterr()
    assert code == 0, written.err
    assert (run / "report.html").is_file()
    document: dict[str, Any] = json.loads(written.out)
    return document


@pytest.fixture
def server(tmp_path: Path) -> Path:
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    return script


def service(name: str, script: Path, wait_s: float, policy: str) -> dict[str, Any]:
    command = [sys.executable, str(script), "{port}", "{host}", str(wait_s), policy]
    return {"name": name, "command": command, "http": {"path": "/"}}


def outcomes(document: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["outcome"] for one in document["conditions"]}


def test_a_server_that_closes_is_recognised_by_a_connection_per_call(
    tmp_path: Path, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both wait 20 ms per connection; one keeps it, the other does not."""
    keeping = tmp_path / "keeping.py"
    keeping.write_text(SERVER.replace("if close:\n            time", "if True:\n            time"))
    services = [service("a", keeping, 0.002, "keep"), service("b", server, 0.002, "close")]
    found = outcomes(run_explain(tmp_path, capsys, services))
    assert found["connection"] == "cause"
    assert "cause" not in {found[name] for name in found if name != "connection"}


def test_a_slow_service_is_distinguished_from_its_network(
    tmp_path: Path, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing from outside removes what a service does itself; its packets show where it is."""
    services = [service("a", server, 0.002, "keep"), service("b", server, 0.010, "keep")]
    document = run_explain(tmp_path, capsys, services)
    assert "cause" not in outcomes(document).values()
    said = " ".join(document["sentences"])
    open_ones = "undecided" in outcomes(document).values()
    assert ("stay undecided" if open_ones else "the services themselves") in said
    assert "The packets show the largest part of the difference at server" in said


def test_two_stacks_of_the_lab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """20 ms before the connection is closed cost every call that reads to the end of it."""
    kept = "rest@rust?transport=http/1.0&connection=close"
    late = f"{kept}&end_of_message=until-close&close_delay=20"
    hello = [{"operation": "Hello", "bytes": "14 B"}]
    longer = {"messages": hello, "window": {"duration": "600 ms"}}
    document = run_explain(tmp_path, capsys, [late, kept], ("--repeats", "3"), **longer)
    found = document["explanation"]
    changes = {rung["id"]: rung["changes"] for rung in found["rungs"]}
    assert [set(changes[cause]) for cause in found["causes"]] == [{"end_of_message"}]
    assert {one["whole"]["verdict"] for one in document["orders"]} == {"lower"}
    assert all(share <= 1.0 for one in document["orders"] for share in one["shares"] or ())
    assert document["unexplained"]["verdict"] != "lower"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rest@rust",), "explain needs a second service"),
        (("rest@rust", "rest@rust"), "wirelab: A and B are the same give another service"),
        (("rest@rust", "http://127.0.0.1:9/"), "one service is a stack of wirelab"),
        (("rest@rust", "nonsense@rust"), "no binding"),
    ],
)
def test_a_comparison_that_cannot_be_explained_is_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *words, "--out", str(tmp_path / "run")]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()
