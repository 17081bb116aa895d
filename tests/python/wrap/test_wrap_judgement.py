"""Kinds of load, and whether figures can be trusted, by dissections that are written out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import msgspec
import numpy as np
import pytest

from tests.python import simulated_loads as simulated
from tests.python.simulated_loads import Server
from tests.python.synthetic_packets import Json, S, change_dissection, latency_bins, make_dissection
from tests.python.wrap.test_wrap_tools import output
from wirelab.documents.dissection import Dissection
from wirelab.loadtools import adapters
from wirelab.loadtools.tool_report import (
    PercentileDefinition,
    ToolOptions,
    ToolReport,
    Unread,
)
from wirelab.process.children import Ended
from wirelab.process.metrics import Sample
from wirelab.records.link import CaptureRecord, LinkRecord
from wirelab.records.trial import Check
from wirelab.wrap import checks as judgement
from wirelab.wrap import comparison
from wirelab.wrap.checks import Case
from wirelab.wrap.load_kind import find_kind
from wirelab.wrap.process import Ran, Threads
from wirelab.wrap.session import Measured, Order

FOUR: Json = {
    "flows__count": 4,
    "exchanges__connections": {
        **change_dissection()["exchanges"]["connections"],
        "used": 4,
        "exchanges_max": 600,
    },
    "load__concurrency": {
        "mean": 3.1,
        "median": 3,
        "max": 4,
        "idle_share": 0.0,
        "full_share": 0.6,
    },
    "load__connect_us": {"p50": 60.0, "p90": 90.0, "p99": 99.0, "max": 99.0, "n": 4},
    "findings": [],
}
"""Four connections that four users keep."""
OPTIONS = ToolOptions(connections=4, users=4, in_flight=1, reuse=True, options=("-c 4",))
REPORT = ToolReport(
    requests=2000, failed=0, latency_s={"p50": 105e-6, "p90": 210e-6, "p99": 430e-6}
)


def document(**changes: Any) -> Dissection:
    """The document with changes by dotted path, dots written as two underscores."""
    return make_dissection(**{**FOUR, **changes})


DOCUMENT = document()


def checks(
    given: Dissection = DOCUMENT,
    requested: ToolOptions | None = OPTIONS,
    report: ToolReport | None = REPORT,
    *,
    cpu_s: float = 0.5,
    threads: tuple[float, ...] = (0.2, 0.3),
    **ran: Any,
) -> dict[str, Check]:
    """By name. The window is from 10 s to 12 s; the tool used ``cpu_s`` in it."""
    run = Ran(
        how=ran.get("how", "ended"),
        ended=Ended(ran.get("code", 0), cpu_s, 0.0, 0),
        seconds=2.0,
        output="",
        cut=False,
        cpu=[Sample(10 * S, 0.0), Sample(12 * S, cpu_s)],
        threads=[
            Threads(10 * S, dict.fromkeys(range(len(threads)), 0.0)),
            Threads(12 * S, dict(enumerate(threads))),
        ],
        left=ran.get("left", ()),
    )
    measured = Measured(
        order=Order(("ab",)),
        command=("ab",),
        port=80,
        ran=run,
        capture=CaptureRecord(packets=4000, drops=ran.get("drops", 0), interface="lo"),
        document=given,
        link=ran.get("link"),
        machine_busy=ran.get("busy", 0.5),
        cores=2,
    )
    kind = find_kind(given.load, requested)
    pairs = comparison.pairs(report, given) if report else []
    case = Case(measured, requested, report, kind, pairs)
    found = judgement.judge(case)
    verdict = judgement.verdict(case, found)
    trusted = verdict.trusted
    assert trusted is not True or all(check.outcome != "marked" for check in found), verdict.words
    return {check.name: check for check in found} | {
        "verdict": Check("verdict", "ok" if trusted else "marked", verdict.words)
    }


def find_marked(found: dict[str, Check]) -> set[str]:
    return {name for name, check in found.items() if check.outcome == "marked"} - {"verdict"}


def test_a_tool_with_correct_figures_is_trusted() -> None:
    found = checks()
    assert find_marked(found) == set()
    assert found["verdict"].outcome == "ok"


PER_CALL = {
    "exchanges__connections": {
        **change_dissection()["exchanges"]["connections"],
        "used": 2000,
        "used_once": 2000,
        "exchanges_max": 1,
    },
    "load__connect_us": {"p50": 300.0, "p90": 400.0, "p99": 500.0, "max": 500.0, "n": 2000},
}


HALVED = latency_bins(20.0, 40.0, 200.0, 400.0, 900.0)
"""With another median."""


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        (PER_CALL, {}, {"connections", "connecting"}),
        ({"load__concurrency__max": 9}, {}, {"concurrency"}),
        ({"exchanges__connections__in_flight_max": 3}, {}, {"in flight"}),
        ({"exchanges__count": 3000}, {}, {"requests"}),
        (
            {"exchanges__latency_bins": HALVED},
            {},
            {"latency"},
        ),
        ({"capture__damaged": "cut at 77"}, {}, {"capture"}),
        ({"exchanges__endings": {"framed": 1900, "broken": 100}}, {}, {"errors"}),
        ({"flows__refused": 146_187}, {}, {"connects"}),
        ({}, {"cpu_s": 3.7, "threads": (1.8, 1.8)}, {"tool's CPU"}),
        ({}, {"cpu_s": 1.9, "threads": (1.9,)}, {"tool's CPU"}),
        ({}, {"cpu_s": 2.0, "threads": (1.9, 0.1)}, {"tool's CPU"}),
        ({}, {"busy": 0.99}, {"machine"}),
        ({}, {"drops": 5}, {"capture"}),
        ({}, {"link": LinkRecord(device_drops={"forward": 0, "backward": 3})}, {"link"}),
        ({}, {"code": 7}, {"end"}),
        ({}, {"code": -9}, {"end"}),
        ({}, {"how": "timeout", "code": -2}, {"end"}),
        ({}, {"left": ("sleep 9 (process 7)",)}, {"end"}),
    ],
)
def test_each_way_to_mislead_is_marked_alone(
    changes: Json, options: Json, expected: set[str]
) -> None:
    found = checks(document(**changes), **options)
    assert find_marked(found) == expected
    assert found["verdict"].outcome == "marked"


def test_a_link_that_dropped_nothing_is_said_to_be_whole() -> None:
    found = checks(link=LinkRecord(device_drops={"forward": 0, "backward": 0}))
    assert found["link"].outcome == "ok"
    assert "link" not in checks()


def test_failed_replies_that_the_tool_counts_as_good_are_reported() -> None:
    bad = document(
        exchanges__by_name=[
            {
                **change_dissection()["exchanges"]["by_name"][0],
                "protocol": "http2",
                "status": {"200/0": 1990, "200/14": 10},
            }
        ]
    )
    found = checks(bad)
    assert find_marked(found) == {"errors"}
    assert "10 bad replies" in found["errors"].reason
    honest = ToolReport(requests=2000, failed=10, latency_s=REPORT.latency_s)
    assert find_marked(checks(bad, report=honest)) == set()


def test_a_connection_per_request_that_was_asked_for_is_right() -> None:
    requested = ToolOptions(connections=4, users=4, in_flight=1, reuse=False, options=("no -k",))
    with_it = ToolReport(
        requests=2000,
        failed=0,
        latency_s={"p50": 390e-6, "p99": 450e-6},
        has_connect=True,
    )
    assert find_marked(checks(document(**PER_CALL), requested, with_it)) == set()
    assert find_marked(checks(DOCUMENT, requested, REPORT)) == {"connections"}


@pytest.mark.parametrize(
    ("broken", "requests", "bad"), [(4, None, 0), (61, None, 57), (1, 2000, 1)]
)
def test_only_calls_that_may_be_in_flight_at_the_end_are_left_out(
    broken: int, requests: int | None, bad: int
) -> None:
    endings = {"framed": 2000 - broken, "broken": broken}
    given = document(exchanges__endings=endings)
    options = replace(OPTIONS, requests=requests)
    found = checks(given, options)
    assert judgement.bad_replies(given, options) == bad
    assert (found["errors"].outcome == "marked") == (bad > 0)
    honest = replace(REPORT, failed=bad, requests=2000 - broken)
    assert find_marked(checks(given, options, honest)) == set()
    # A call without a reply ends with its connection: it does not excuse more than 4 in flight.
    more = {**FOUR["load__concurrency"], "max": 5}
    given = document(exchanges__endings=endings, load__concurrency=more)
    assert find_marked(checks(given, options, honest)) == {"concurrency"}


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"rate_per_s": 1000.0, "seconds": 2.0}, set()),
        ({"rate_per_s": 99_999.0, "seconds": 2.0}, {"rate"}),
        ({"rate_per_s": 335.0, "seconds": 2.0}, {"rate"}),
        ({"seconds": 1.0}, {"duration"}),
        ({"requests": 1990}, {"requests"}),
        ({"latency_s": {"max": 50e-3}}, set()),
        ({"latency_s": {"max": 65e-3}}, set()),
        ({"latency_s": {"max": 5e-3}}, {"latency"}),
        ({"latency_s": {"max": 500e-3}}, {"latency"}),
    ],
)
def test_figures_that_the_packets_contradict_are_named(figures: Json, expected: set[str]) -> None:
    given = document(exchanges__latency_bins=latency_bins(60.0, 100.0, 200.0, 400.0, 50_000.0))
    assert find_marked(checks(given, report=replace(REPORT, **figures))) == expected


def test_time_without_requests_at_the_end_is_named() -> None:
    died = document(load__seconds=1.1, load__per_s=1818.0)
    found = checks(died, report=replace(REPORT, seconds=2.0, rate_per_s=1000.0))
    assert find_marked(found) == {"end of the load"}
    assert "900 ms before the end of the 2.00 s" in found["end of the load"].reason


@pytest.mark.parametrize(
    ("requests", "bad", "expected"),
    [
        (2000, {}, set()),
        (2001, {}, {"end of the load"}),
        (2000, {"broken": 1}, {"end of the load", "errors"}),
    ],
)
def test_the_last_replies_of_all_requests_may_be_slow(
    requests: int, bad: dict[str, int], expected: set[str]
) -> None:
    slow = document(
        load__seconds=1.1,
        load__per_s=1818.0,
        exchanges__latency_us={**change_dissection()["exchanges"]["latency_us"], "max": 900_000.0},
        exchanges__endings={"framed": 2000 - sum(bad.values()), **bad},
    )
    report = replace(REPORT, seconds=2.0, rate_per_s=1000.0)
    found = checks(slow, replace(OPTIONS, requests=requests), report)
    assert find_marked(found) - {"requests"} == expected


def test_connections_that_the_server_ended_are_not_charged_to_the_tool() -> None:
    used = {**FOUR["exchanges__connections"], "used": 204}
    assert find_marked(checks(document(exchanges__connections=used))) == {"connections"}
    for ended in (
        {"ended_by_server": 200},
        {"ended_by_server": 150, "ended_by_client": 50, "given_up": 50},
    ):
        right = document(exchanges__connections={**used, **ended})
        assert find_marked(checks(right)) == set(), ended
    for ended in ({"ended_by_client": 200}, {"ended_by_server": 199, "ended_by_client": 1}):
        wrong = document(exchanges__connections={**used, **ended})
        assert find_marked(checks(wrong)) == {"connections"}, ended


def _slow(count: int, of: int, fast_ms: float = 5.0, slow_ms: float = 205.0) -> list[Json]:
    """Latencies of which that number are slow."""
    return [{"us": fast_ms * 1e3, "count": of - count}, {"us": slow_ms * 1e3, "count": count}]


def _check_p99(bins: list[Json], requests: int, **figures: Any) -> dict[str, Check]:
    """A tool that printed a p99, and the packets' latencies."""
    report = ToolReport(requests=requests, latency_s={"p99": figures.pop("p99")}, **figures)
    count = sum(one["count"] for one in bins)
    return checks(document(exchanges__count=count, exchanges__latency_bins=bins), report=report)


@pytest.mark.parametrize("p99", [5e-3, 205e-3])
def test_a_percentile_at_a_step_may_be_on_either_side_of_it(p99: float) -> None:
    found = _check_p99(_slow(10, 1000), 1000, p99=p99, percentile="next")
    assert "latency" not in find_marked(found)
    assert "5.00 ms to 205 ms" in found["latency"].reason


def test_a_percentile_next_to_a_step_is_compared_with_its_own_side() -> None:
    for slow, right, wrong in ((30, 205e-3, 5e-3), (5, 5e-3, 205e-3)):
        assert "latency" not in find_marked(_check_p99(_slow(slow, 1000), 1000, p99=right))
        assert "latency" in find_marked(_check_p99(_slow(slow, 1000), 1000, p99=wrong))


def test_ranks_move_by_calls_that_the_tool_did_not_read() -> None:
    """12 of 1,000 are slow: the step is two ranks below the 99th percentile."""
    assert "latency" in find_marked(_check_p99(_slow(12, 1000), 1000, p99=5e-3))
    assert "latency" not in find_marked(_check_p99(_slow(12, 1000), 997, p99=5e-3))
    # As many as four users may have had in flight, no more.
    assert "latency" in find_marked(_check_p99(_slow(20, 1000), 900, p99=5e-3))


@pytest.mark.parametrize("definition", get_args(PercentileDefinition))
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_an_error_of_a_fifth_in_smooth_latencies_is_named(definition: str, factor: float) -> None:
    rng = np.random.default_rng(7)
    for count in (1_000, 20_000):
        ms = np.sort(5.0 + rng.lognormal(0.0, 0.5, count))
        bins = [{"us": float(one) * 1e3, "count": 1} for one in ms]
        true_s = float(ms[int(0.99 * count)]) / 1e3
        right = _check_p99(bins, count, p99=true_s, percentile=definition)
        wrong = _check_p99(bins, count, p99=factor * true_s, percentile=definition)
        assert "latency" not in find_marked(right), right["latency"]
        assert "latency" in find_marked(wrong), wrong["latency"]


def test_each_definition_of_a_percentile_gives_its_rank() -> None:
    """Ranks of 0.99 of 1,000 and of 1,005 values, by the tools' sources."""
    expected = {
        "nearest": ((990, 990), (994, 995)),
        "next": ((991, 991), (995, 995)),
        "interpolated": ((990, 991), (994, 995)),
        "weibull": ((990, 991), (995, 996)),
        "estimated": ((989, 991), (994, 996)),
    }
    assert set(expected) == set(get_args(PercentileDefinition))
    for definition in get_args(PercentileDefinition):
        ranks = tuple(comparison.tool_ranks(definition, 0.99, n) for n in (1_000, 1_005))
        assert ranks == expected[definition], definition


def test_a_load_that_is_too_short_is_not_judged_by_its_cpu_time() -> None:
    found = checks(document(load__seconds=0.15), cpu_s=3.7, threads=(1.8, 1.8))
    assert found["tool's CPU"].outcome == "not-measurable"
    assert "not judged" in found["tool's CPU"].reason


RATE = ToolOptions(connections=4, users=4, reuse=True, rate=1000.0)
CONSTANT = {
    "load__gap_us": {"mean": 1000.0, "deviation": 50.0, "variation": 0.05},
    "load__coupling": {"correlation": 0.01, "n": 1900},
    "load__concurrency__mean": 0.1,
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"load__pause_waiting": {"us": 500_000.0, "packet": 909}}, "coordinated omission"),
        ({"load__per_s": 600.0}, "did not reach"),
    ],
)
def test_a_declared_rate_that_was_not_kept_is_reported(changes: Json, words: str) -> None:
    assert find_marked(checks(document(**CONSTANT), RATE)) == set()
    found = checks(document(**CONSTANT, **changes), RATE)
    assert find_marked(found) == {"arrivals"}
    assert words in found["arrivals"].reason


def test_the_packet_and_the_calls_that_were_due_are_evidence() -> None:
    pause = {"us": 500_000.0, "packet": 909}
    reason = checks(document(**CONSTANT, load__pause_waiting=pause), RATE)["arrivals"].reason
    assert "packet 909" in reason
    assert "500 were due" in reason


def test_without_a_report_nothing_is_compared() -> None:
    found = checks(report=None)
    assert "latency" not in found
    assert "not compared" in found["verdict"].reason


def test_without_requests_only_that_is_said() -> None:
    nothing = document(
        exchanges__count=0,
        flows__count=0,
        flows__list=[],
        capture__tcp_packets=0,
        load__requests=0,
        load__first_at_ns=None,
        load__concurrency=None,
        load__gap_us=None,
    )
    found = checks(nothing)
    assert set(found) == {"end", "capture", "traffic", "verdict"}
    assert "no packet of port 80" in found["traffic"].reason


def simulate_load(kind: str) -> Json:
    """A simulated load as the engine lists it."""
    random = np.random.default_rng(1)
    server = Server(0.005, 0.2, 0.01, ())
    users = {"one": 1, "four": 4}
    if kind in users:
        times = simulated.run_closed(server, users[kind], lambda _: 5e-5, 1500, random)
    else:
        draw = {"constant": simulated.draw_constant, "poisson": simulated.draw_poisson}[kind]
        times = simulated.run_open(server, draw(600.0, 1500, random), random)
    began, took = ((values * 1e9).astype(int).tolist() for values in times)
    return {
        "load__sample": {"began_ns": began, "took_ns": took, "connection": [1] * 1500},
        "load__concurrency__max": 4,
    }


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        (simulate_load("one"), "closed"),
        (simulate_load("four"), "closed"),
        (simulate_load("constant"), "constant"),
        (simulate_load("poisson"), "poisson"),
        ({"load__requests": 19}, "undecided"),
        ({}, "undecided"),
    ],
)
def test_kinds_of_load_are_distinguished(changes: Json, kind: str) -> None:
    assert find_kind(document(**changes).load, None).name == kind
    assert find_kind(document(**changes).load, RATE).name == kind


def test_options_are_believed_where_packets_do_not_contradict_them() -> None:
    slow_tool = document(**simulate_load("poisson")).load
    assert find_kind(slow_tool, OPTIONS).name == "closed"
    more = document(**{**simulate_load("poisson"), "load__concurrency__max": 9})
    assert find_kind(more.load, OPTIONS).name == "poisson"


def test_no_sentence_follows_from_a_load_that_is_not_decided() -> None:
    """Without a declared rate and without options, only a closed load has a sentence."""
    assert "closed load" in checks(document(**simulate_load("four")), None)["arrivals"].reason
    assert "arrivals" not in checks(document(**simulate_load("poisson")), None)
    assert "arrivals" not in checks(document(), None)


def test_checks_that_depend_on_an_option_that_is_not_understood_are_left_out() -> None:
    """And the verdict names them; the others are judged as before."""
    unread = (Unread("--warm-up-time 2", ("requests", "latency")), Unread("-r 3", ("in flight",)))
    requested = replace(OPTIONS, in_flight=None, unread=unread)
    found = checks(document(exchanges__count=3000), requested)
    for name, text in (("requests", "--warm-up-time 2"), ("in flight", "-r 3")):
        assert found[name].outcome == "not-measurable"
        assert f"{text} is not understood" in found[name].reason
    assert find_marked(found) == set()
    assert "Not checked: requests, latency, in flight" in found["verdict"].reason
    assert find_marked(checks(document(load__concurrency__max=9), requested)) == {"concurrency"}


def make_encrypted(**changes: Any) -> Dissection:
    """Four connections with TLS of which no secrets are known."""
    nothing = document(
        exchanges__count=0,
        load__requests=0,
        load__first_at_ns=None,
        load__concurrency=None,
        load__gap_us=None,
        capture__first_at_ns=10 * S,
        capture__seconds=2.0,
        **{"flows__opened": 4, **changes},
    )
    tls = msgspec.structs.replace(nothing.tls, connections=4, decrypted=0)
    return msgspec.structs.replace(nothing, tls=tls)


def test_encrypted_connections_are_measured_as_far_as_possible() -> None:
    """And the way to their secrets is named."""
    found = checks(make_encrypted())
    assert set(found) == {
        *("end", "capture", "traffic", "connections", "tool's CPU", "machine", "verdict")
    }
    assert find_marked(found) == set()
    assert found["traffic"].outcome == "not-measurable"
    for words in ("4 connections used TLS", "NODE_OPTIONS=--tls-keylog", "KeyLogWriter", "Java"):
        assert words in found["traffic"].reason, words
    assert "figures are not compared" in found["verdict"].reason
    assert "0.25 of 2 usable cores" in found["tool's CPU"].reason


@pytest.mark.parametrize(
    ("opened", "requested", "expected"),
    [
        (9, OPTIONS, {"connections"}),
        (2000, replace(OPTIONS, reuse=False), set()),
        (4, replace(OPTIONS, reuse=False), {"connections"}),
    ],
)
def test_encrypted_connections_are_compared_with_the_options(
    opened: int, requested: ToolOptions, expected: set[str]
) -> None:
    assert find_marked(checks(make_encrypted(flows__opened=opened), requested)) == expected


def test_the_correction_of_wrk_is_part_of_a_difference() -> None:
    reader = adapters.recognise(["wrk"])
    assert reader is not None
    report = reader[0].read_report(output("wrk"))
    assert report is not None
    # Its requests, rate and duration are those of another run.
    found = checks(report=replace(report, requests=2000, rate_per_s=None, seconds=None))
    assert find_marked(found) == {"latency"}
    assert "coordinated omission" in found["latency"].reason
    assert "coordinated omission" not in checks(report=REPORT)["latency"].reason


@pytest.mark.parametrize(
    ("late_s", "outcome"),
    [
        ([60e-6] * 500, "marked"),
        # As often as one call in a hundred, three being under way.
        ([60e-6] * 490 + [1.2e-3] * 10, "not-measurable"),
        ([60e-6] * 490 + [0.4e-3] * 10, "marked"),
        # Rarer than one call in three hundred.
        ([60e-6] * 499 + [1.2e-3], "marked"),
        ([1.2e-3] * 500, "marked"),
        ([1.2e-3] * 10, "marked"),
    ],
)
def test_a_percentile_that_the_machine_may_have_raised_is_not_judged(
    late_s: list[float], outcome: str
) -> None:
    given = document(exchanges__latency_bins=latency_bins(100.0, 100.0, 200.0, 400.0, 450.0))
    report = replace(REPORT, latency_s={"p99": 1.3e-3})
    (pair,) = comparison.pairs(report, given, late_s)
    assert (pair.differs, pair.undecided) == (outcome == "marked", outcome != "marked")
    fast = replace(REPORT, latency_s={"p99": 0.2e-3})
    assert comparison.pairs(fast, given, late_s)[0].differs, "too small is never the machine's"
