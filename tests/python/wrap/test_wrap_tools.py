"""What load tools are asked and what they print, by outputs that the real ones wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wirelab.loadtools import adapters
from wirelab.loadtools.described import load_tools
from wirelab.loadtools.parsing import seconds
from wirelab.loadtools.tool_report import ALL_CHECKS
from wirelab.wrap import target

OUTPUTS = Path(__file__).parents[1] / "tool_outputs"
"""ab 2.3, wrk 4.1.0, h2load 1.52.0, ghz 0.120.0, k6 0.41.0, against services of the lab; names of
others have their version."""
US = 1e-6


def output(name: str) -> str:
    """As the tool wrote it."""
    return (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")


def test_a_summary_of_k6_since_1_0_is_read() -> None:
    """As https://grafana.com/docs/k6/latest/results-output/end-of-test/ has it (compact mode), with
    a threshold that is crossed; the same of 0.x is in k6.txt."""
    reading = adapters.read(["k6", "run", "shop.js"], output("k6-1.0.0"))
    assert reading.options is not None
    assert (reading.options.users, reading.options.requests) == (4, 200)
    shown = reading.report
    assert shown is not None
    assert (shown.requests, shown.failed, shown.percentile) == (200, 20, "interpolated")
    assert shown.rate_per_s == pytest.approx(331.214519)
    expected = {"mean": 6.02, "p50": 5.44, "p90": 7.96, "p95": 9.31, "max": 31.8}
    assert shown.latency_s == {name: pytest.approx(ms / 1e3) for name, ms in expected.items()}


@pytest.mark.parametrize(
    ("name", "requests", "failed", "rate", "latency"),
    [
        ("jmeter-2.11", 100, 10, 41.6, {"mean": 25e-3, "max": 119e-3}),
        ("jmeter-5.6.3", 1000, 100, 20.1, {"mean": 7e-3, "max": 104e-3}),
    ],
)
def test_a_summary_of_jmeter_is_the_last_one(
    name: str, requests: int, failed: int, rate: float, latency: dict[str, float]
) -> None:
    """As `Summariser.format` in its source writes it: before 3.0 with seconds, since then with
    hours; numbers as the language of the system has them."""
    shown = adapters.read(["jmeter", "-n", "-t", "shop.jmx"], output(name)).report
    assert shown is not None
    assert (shown.requests, shown.failed, shown.rate_per_s) == (requests, failed, rate)
    assert shown.latency_s == latency
    endless = output(name).replace("41.6/s", "******/s").replace("20,1/s", "******/s")
    shown = adapters.read(["jmeter", "-n"], endless).report
    assert shown is not None
    assert (shown.rate_per_s, shown.seconds) == (None, None)


JTL = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
    "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
"""https://jmeter.apache.org/usermanual/listeners.html#csvlogformat"""


def _samples(count: int) -> str:
    """Times of 1 ms to ``count`` ms, the longest first."""
    line = "1795860000000,{ms},Get,200,OK,users 1-1,text,true,,120,110,1,1,http://h/,{ms},0,0\n"
    return JTL + "".join(line.format(ms=ms) for ms in range(count, 0, -1))


def _statistics(count: int, **changes: object) -> str:
    total = {
        "transaction": "Total", "sampleCount": count, "errorCount": 100, "errorPct": 10.0,
        "meanResTime": 7.25, "medianResTime": 6.0, "minResTime": 5.0, "maxResTime": 104.0,
        "pct1ResTime": 9.0, "pct2ResTime": 12.95, "pct3ResTime": 60.99, "throughput": 20.1,
        "receivedKBytesPerSec": 2.1, "sentKBytesPerSec": 2.2, **changes,
    }  # fmt: skip
    return json.dumps({"Get": {**total, "transaction": "Get"}, "Total": total})


def test_the_samples_that_jmeter_writes_give_its_percentiles(tmp_path: Path) -> None:
    (tmp_path / "run.jtl").write_text(_samples(1000))
    command = ["jmeter", "-n", "-t", "shop.jmx", "-l", str(tmp_path / "run.jtl")]
    shown = adapters.read(command, output("jmeter-5.6.3")).report
    assert shown is not None
    assert (shown.requests, shown.percentile) == (1000, "nearest")
    expected = {"mean": 500.5, "p50": 500, "p90": 900, "p95": 950, "p99": 990, "max": 1000}
    assert shown.latency_s == {name: pytest.approx(ms / 1e3) for name, ms in expected.items()}


def test_the_statistics_that_jmeter_writes_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "run.jtl").write_text(_samples(1000))
    (tmp_path / "statistics.json").write_text(_statistics(1000))
    files = ["-l", str(tmp_path / "run.jtl"), "-e", "-o", str(tmp_path)]
    shown = adapters.read(["jmeter", "-n", *files], output("jmeter-5.6.3")).report
    assert shown is not None
    assert (shown.requests, shown.failed, shown.percentile) == (1000, 100, "weibull")
    expected = {"mean": 7.25, "p50": 6, "p90": 9, "p95": 12.95, "p99": 60.99, "max": 104}
    assert shown.latency_s == {name: pytest.approx(ms / 1e3) for name, ms in expected.items()}


def test_percentiles_of_a_part_of_the_samples_are_not_compared(tmp_path: Path) -> None:
    """The window of statistics.json has 20,000 samples."""
    (tmp_path / "statistics.json").write_text(_statistics(20_001))
    printed = output("jmeter-5.6.3").replace("   1000 in", "  20001 in")
    shown = adapters.read(["jmeter", "-n", "-e", "-o", str(tmp_path)], printed).report
    assert shown is not None
    assert shown.latency_s == {"mean": 7.25e-3, "max": 0.104}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.jtl", _samples(999)),
        ("run.jtl", '<?xml version="1.0"?>\n<testResults version="1.2">\n</testResults>\n'),
        ("run.jtl", JTL + "1,2\n" * 1000),
        ("run.jtl", "\0\0\n" * 1000),
        ("run.jtl", "elapsed\n" + "soon\n" * 1000),
        ("statistics.json", _statistics(2000)),
        ("statistics.json", "[" * 100_000),
        ("statistics.json", "[]"),
        ("statistics.json", '{"Total": 1}'),
        ("none", ""),
    ],
)
def test_a_file_with_other_samples_is_not_read(tmp_path: Path, file: str, content: str) -> None:
    (tmp_path / file).write_text(content)
    words = ["-l", str(tmp_path / "run.jtl"), "-e", "-o", str(tmp_path)]
    shown = adapters.read(["jmeter", "-n", *words], output("jmeter-5.6.3")).report
    assert shown is not None
    assert shown.latency_s == {"mean": 7e-3, "max": 0.104}


@pytest.mark.parametrize(
    ("name", "tool", "requests", "failed", "rate", "latency"),
    [
        ("ab", "ab", 2000, 0, 14045.54, {"p50": 0.0, "p90": 0.0, "p99": 2e-3, "max": 5e-3}),
        ("wrk", "wrk", 47379, 0, None, {"mean": 1.52e-3, "p50": 117e-6, "p90": 5.09e-3}),
        ("h2load", "h2load", 2000, 2000, 61690.31, {"mean": 126 * US, "max": 2.26e-3}),
        ("h2load-h1", "h2load", 2000, 0, None, {"mean": 80 * US, "max": 1.34e-3}),
        ("ghz", "ghz", 1000, 0, 5977.98, {"mean": 1.26e-3, "p50": 0.75e-3, "p99": 9.19e-3}),
        ("ghz-csv", "ghz", None, 0, None, {}),
        (
            "k6", "k6", 1000, 0, None,
            {"mean": 1.84e-3, "p50": 1.17e-3, "p90": 4.19e-3, "p95": 5.93e-3, "max": 14.31e-3},
        ),
        ("k6-rate", "k6", 601, 0, 200.212592, {"mean": 211.46 * US}),
    ],
)  # fmt: skip
def test_printed_output_of_a_tool_is_read(
    name: str,
    tool: str,
    requests: int | None,
    failed: int,
    rate: float | None,
    latency: dict[str, float],
) -> None:
    recognised = adapters.recognise([tool])
    assert recognised is not None
    shown = recognised[0].read_report(output(name))
    assert shown is not None
    assert shown.requests == requests or requests is None
    assert shown.failed == failed
    assert rate is None or shown.rate_per_s == pytest.approx(rate)
    for figure, value in latency.items():
        assert shown.latency_s[figure] == pytest.approx(value), figure


DESCRIBED = {
    "autocannon-7.15.0": (1000, 100, {"mean": 11.06e-3, "p50": 8e-3, "p99": 38e-3, "max": 85e-3}),
    "autocannon-9.0.0": (1000, 100, {"mean": 8.73e-3, "p50": 7e-3, "p99": 25e-3, "max": 114e-3}),
    "bombardier-1.2.6": (1000, 100, {"mean": 7.12e-3, "p50": 6.33e-3, "p90": 9.82e-3}),
    "hey-0.1.3": (1000, 100, {"mean": 9.4e-3, "max": 30.3e-3}),
    "hey-0.1.4": (1000, 100, {"mean": 9.6e-3, "p50": 6.9e-3, "p90": 13.3e-3, "p99": 107.7e-3}),
    "locust-2.24.1": (539, 53, {"mean": 20e-3, "p50": 17e-3, "p90": 28e-3, "p99": 83e-3}),
    "vegeta-12.8.4": (600, 60, {"mean": 6.16e-3, "p50": 5.984e-3, "p99": 9.477e-3}),
    "vegeta-12.12.0": (600, 60, {"mean": 6.271e-3, "p50": 5.922e-3, "p99": 11.026e-3}),
}
"""Requests and failures by the log of the server, which answered every tenth request with 503, and
times as printed. locust stopped with 4 more under way, none of them a failure."""


@pytest.mark.parametrize("name", DESCRIBED)
def test_outputs_of_described_tools_are_read(name: str) -> None:
    requests, failed, latency = DESCRIBED[name]
    tool = name.partition("-")[0]
    shown = adapters.read([tool], output(name)).report
    assert shown is not None
    assert (shown.requests, shown.failed) == (requests, failed)
    for figure, value in latency.items():
        assert shown.latency_s[figure] == pytest.approx(value), figure


def test_every_described_tool_has_a_recorded_output_and_readable_patterns() -> None:
    recorded = {name.partition("-")[0] for name in DESCRIBED}
    assert {tool.name for tool in load_tools()} == recorded
    for tool in load_tools():
        known = tool.format.report
        patterns = [known.recognised, *known.failed, *known.latency.values()]
        patterns += [pattern for alternative in known.requests for pattern in alternative]
        patterns += [pattern for pattern in (known.rate, known.seconds) if pattern]
        for pattern in patterns[1:]:
            assert re.compile(pattern).groups == 1, pattern
        assert known.percentile
        for checks in tool.format.options.effects.values():
            assert set(checks) <= set(ALL_CHECKS)


def test_a_pipeline_of_vegeta_is_one_run() -> None:
    script = "echo 'GET http://127.0.0.1:9/' | vegeta attack -rate=200 -duration=3s | vegeta report"
    reading = adapters.read(["sh", "-c", script], output("vegeta-12.12.0"))
    assert reading.options is not None
    assert (reading.options.rate, reading.options.unread) == (200.0, ())
    assert reading.report is not None
    assert target.port(["sh", "-c", script]) == 9


def test_a_csv_of_calls_gives_their_quantiles() -> None:
    recognised = adapters.recognise(["ghz"])
    assert recognised is not None
    rows = [float(row.split(",")[0]) for row in output("ghz-csv").split() if row.endswith(",OK,")]
    shown = recognised[0].read_report(output("ghz-csv"))
    assert shown is not None
    assert shown.requests == len(rows) == 19
    assert shown.latency_s["max"] == pytest.approx(max(rows) / 1e3)
    assert shown.latency_s["mean"] == pytest.approx(sum(rows) / len(rows) / 1e3)


@pytest.mark.parametrize("tool", ["ab", "wrk", "h2load", "ghz", "k6"])
@pytest.mark.parametrize(
    "noise", ["", "\x1b[31mno report\x1b[0m", "Complete", "Count:\n", "\0" * 9]
)
def test_an_invalid_report_is_none(tool: str, noise: str) -> None:
    recognised = adapters.recognise([tool])
    assert recognised is not None
    assert recognised[0].read_report(noise) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ab -n 10 -c 5 U", {"connections": 5, "reuse": False, "in_flight": 1, "requests": 10}),
        ("ab -kc 5 -n10 U", {"connections": 5, "reuse": True, "requests": 10}),
        ("ab -k -H Connection:close U", {"reuse": False}),
        ("wrk -t2 -c10 -d1 U", {"connections": 10, "users": 10, "reuse": True, "rate": None}),
        ("wrk -t 3 -c 10 -R 500 U", {"connections": 9, "rate": 500.0}),
        ("h2load -c 3 -m 5 -n 9 U", {"connections": 3, "users": 15, "in_flight": 5}),
        ("h2load --clients=4 --rps=10 U", {"connections": 4, "rate": 40.0}),
        ("ghz -c 10 --connections 10 -n 50 A", {"connections": 10, "in_flight": 1}),
        ("ghz --insecure A", {"connections": 1, "users": 50, "in_flight": 50, "requests": 200}),
        ("ghz -c 4 --rps=200 -z 3s A", {"users": 4, "rate": 200.0, "requests": None}),
        ("ghz --async -c 4 A", {"users": None, "in_flight": None}),
        ("hey -c 5 -q 20 -n 90 U", {"users": 5, "rate": 100.0, "requests": 90, "reuse": True}),
        ("hey -c 5 -z 2s -disable-keepalive U", {"requests": None, "reuse": False}),
        ("autocannon -c 4 -p 3 U", {"connections": 4, "users": 12, "in_flight": 3}),
        ("bombardier -c 7 -l -d 2s U", {"connections": 7, "users": 7, "requests": None}),
        ("vegeta attack -targets=t", {"rate": 50.0, "users": None}),
        ("k6 run --vus 3 --no-connection-reuse s.js", {"users": 3, "reuse": False}),
        ("env A=1 timeout 9 /usr/bin/ab -k -c 2 U", {"connections": 2, "reuse": True}),
    ],
)
def test_options_of_a_tool_are_read(command: str, expected: dict[str, Any]) -> None:
    recognised = adapters.recognise(command.split())
    assert recognised is not None
    requested = recognised[0].read_options(recognised[1], "")
    assert {name: getattr(requested, name) for name in expected} == expected


def test_a_script_and_its_scenario_say_what_k6_is_to_do(tmp_path: Path) -> None:
    script = tmp_path / "s.js"
    script.write_text("export const options = { vus: 7, noConnectionReuse: true };")
    recognised = adapters.recognise(["sh", "-c", f"k6 run --quiet {script}"])
    assert recognised is not None
    reader, words = recognised
    assert (reader.read_options(words, "").users, reader.read_options(words, "").reuse) == (
        7,
        False,
    )
    said = reader.read_options(words, output("k6"))
    assert (said.users, said.requests, said.rate) == (10, 1000, None)
    assert reader.read_options(words, output("k6-rate")).rate == 200.0


ALL = {"connections", "in flight", "concurrency", "arrivals", "requests", "errors", "latency"}


@pytest.mark.parametrize(
    ("command", "left_out", "absent"),
    [
        (("sh", "-c", "ab -k -c $USERS -n 100 URL"), ALL, ("users", "connections")),
        (("bash", "-lc", "wrk $OPTIONS http://a/"), ALL, ()),
        (("sh", "-c", "ab -k -c 2 $URL | tee log"), set(), ()),
        (("wrk", "--no-such-option", "-c", "5", "URL"), ALL, ("users", "connections", "reuse")),
        (("wrk", "-c5k", "URL"), ALL, ("users", "connections")),
        (
            ("wrk", "-c5", "-s", "pipeline.lua", "URL"),
            {"connections", "in flight", "concurrency", "arrivals"},
            ("users", "in_flight", "reuse"),
        ),
        (
            ("h2load", "-c", "9", "-r", "3", "URL"),
            {"connections", "concurrency"},
            ("users", "connections", "rate"),
        ),
        (
            ("h2load", "-c", "9", "--warm-up-time=2", "-D", "9", "URL"),
            {"requests", "errors", "latency"},
            (),
        ),
        (
            ("ghz", "--skipFirst", "10", "-c", "5", "-n", "50", "A"),
            {"requests", "errors", "latency"},
            (),
        ),
        (
            ("ghz", "--load-schedule=step", "--load-start=9", "--load-step=9", "A"),
            {"arrivals"},
            ("rate",),
        ),
        (
            ("ghz", "--concurrency-schedule", "step", "--concurrency-start", "5", "A"),
            {"concurrency", "in flight"},
            ("users", "in_flight"),
        ),
        (("ghz", "--new-option", "5", "A"), ALL, ()),
        (("ghz", "-c", "3", "--insecure", "A"), set(), ()),
        (("ab", "-k", "-c", "3", "-n", "9", "URL"), set(), ()),
        (("hey", "-c", "5", "-h2", "URL"), {"connections", "in flight"}, ("in_flight", "reuse")),
        (("hey", "-c", "5", "-q", "20", "-disable-keepalive", "URL"), set(), ()),
        (("vegeta", "attack", "-rate=50/1m", "-targets=t"), ALL, ("rate",)),
        (
            ("locust", "-u", "5"),
            {"connections", "in flight", "concurrency", "arrivals"},
            ("users",),
        ),
        (("bombardier", "-c", "5", "--new", "URL"), ALL, ("users",)),
        (
            ("autocannon", "-c", "5", "--warmup", "[ -d 5 ]", "URL"),
            {"requests", "errors", "latency"},
            (),
        ),
        (("sh", "-c", "time ab -k -c 3 -n 9 URL > log 2>&1"), set(), ()),
    ],
)
def test_an_unknown_option_leaves_out_the_checks_that_depend_on_it(
    command: tuple[str, ...], left_out: set[str], absent: tuple[str, ...]
) -> None:
    """And no default replaces it."""
    options = adapters.read(command, "").options
    assert options is not None
    assert {name for part in options.unread for name in part.checks} == left_out
    assert [getattr(options, name) for name in absent] == [None] * len(absent)


def test_options_end_where_the_shell_ends_the_command() -> None:
    options = adapters.read(["sh", "-c", "ab -n 100 -c 5 URL 2>&1 | head -c 77"], "").options
    assert options is not None
    assert (options.users, options.requests, options.unread) == (5, 100, ())


@pytest.mark.parametrize(
    ("script", "name", "words"),
    [
        ("ab -c 3 URL; wrk -c 5 URL", None, "several tools (ab, wrk)"),
        ("ab -c 3 URL && ab -c 5 URL", "ab", "more than once"),
        ("for n in 1 2; do ab -c $n URL; done", "ab", "more than once"),
        ("seq 3 | xargs -I x ab -c x URL", "ab", "more than once"),
    ],
)
def test_figures_of_several_runs_are_not_compared(script: str, name: str, words: str) -> None:
    reading = adapters.read(["sh", "-c", script], output("ab"))
    assert (reading.name, reading.options, reading.report) == (name, None, None)
    assert words in (reading.reason or "")


def test_ramps_and_several_requests_per_iteration_are_not_a_constant_rate() -> None:
    """As k6 prints them."""
    recognised = adapters.recognise(["k6", "run", "s.js"])
    assert recognised is not None
    reader, words = recognised
    ramp = "* default: Up to 100.00 iterations/s for 1m0s over 2 stages (maxVUs: 10-50)"
    assert reader.read_options(words, ramp).rate is None
    several = output("k6-rate").replace("http_reqs", "http_reqs_")
    calls = "     http_reqs......................: 1202   400.4/s\n"
    assert reader.read_options(words, several + calls).rate is None
    assert reader.read_options(words, output("k6-rate")).unread == ()


def test_the_json_of_ghz_is_read() -> None:
    text = (OUTPUTS.parent / "ghz_report.json").read_text(encoding="utf-8")
    shown = adapters.read(["ghz", "-O", "json", "A"], f"warning\n{text}").report
    assert shown is not None
    document = json.loads(text)
    assert (shown.requests, shown.rate_per_s) == (document["count"], document["rps"])
    assert shown.latency_s["mean"] == pytest.approx(document["average"] / 1e9)
    assert shown.latency_s["max"] == pytest.approx(document["slowest"] / 1e9)


def test_an_unknown_tool_is_not_guessed() -> None:
    assert adapters.recognise(["curl", "http://127.0.0.1/ab c", "-o", "wrk"]) is None
    assert adapters.recognise(["sh", "-c", "echo 'unclosed"]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.23ms", 1.23e-3), ("117.00us", 117e-6), ("1m2.5s", 62.5), ("5µs", 5e-6), ("soon", None)],
)
def test_times_as_tools_write_them(text: str, expected: float | None) -> None:
    assert seconds(text) == (None if expected is None else pytest.approx(expected))
