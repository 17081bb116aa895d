"""The peers' answers are read as the peers mean them."""

from __future__ import annotations

import json

import pytest

from bench import peers
from bench.process import BenchError, Count, Finished

WRK = """Running 1s test @ http://127.0.0.1:18999/
  1 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   526.21us    1.17ms   8.21ms   88.35%
    Req/Sec   106.36k     4.31k  111.54k    72.73%
  115822 requests in 1.10s, 14.47MB read
Requests/sec: 105333.42
Transfer/sec:     13.16MB
"""
H2LOAD = """finished in 1.00s, 101349.00 req/s, 12.66MB/s
requests: 1359 total, 1359 started, 1349 done, 1347 succeeded, 2 failed, 0 errored, 1 timeout
status codes: 1347 2xx, 0 3xx, 2 4xx, 0 5xx
"""
AB = """Concurrency Level:      10
Time taken for tests:   1.000 seconds
Complete requests:      91329
Failed requests:        3
Keep-Alive requests:    91329
Requests per second:    91328.09 [#/sec] (mean)
"""


def finish(output: str) -> Finished:
    """A tool that printed `output` and ended well."""
    return Finished(("tool",), 0, output, "", 1.0, 0.5, 0)


def test_wrk_counts_requests_and_rate() -> None:
    """A clean run of wrk has no errors."""
    assert peers.wrk_count(finish(WRK)) == Count(115822, 0, 105333.42)


def test_wrk_errors_of_both_kinds_add_up() -> None:
    """Socket errors and bad statuses are errors; neither line is there when there are none."""
    bad = "  Socket errors: connect 1, read 2, write 0, timeout 4\n  Non-2xx or 3xx responses: 8\n"
    assert peers.wrk_count(finish(WRK + bad)).errors == 15


def test_h2load_counts_only_what_succeeded() -> None:
    """Failed, errored and timed-out requests are errors."""
    assert peers.h2load_count(finish(H2LOAD)) == Count(1347, 3, 101349.0)


def test_ab_counts_failed_and_bad_statuses() -> None:
    """ab prints bad statuses on a line of their own."""
    assert peers.ab_count(finish(AB)) == Count(91329, 3, 91328.09)
    assert peers.ab_count(finish(AB + "Non-2xx responses:      5\n")).errors == 8


def test_ghz_leaves_out_what_its_end_cut_off() -> None:
    """Canceled calls are neither successes nor errors; other statuses are errors."""
    report = {"rps": 1000.0, "statusCodeDistribution": {"OK": 900, "Canceled": 100, "Unknown": 7}}
    assert peers.ghz_count(finish(json.dumps(report))) == Count(900, 7, 900.0)


@pytest.mark.parametrize(
    "read", [peers.wrk_count, peers.h2load_count, peers.ab_count, peers.ghz_count]
)
def test_a_tool_that_was_killed_has_no_figure(read: object) -> None:
    """Without the tool's own count there is an error that repeats what the tool said."""
    assert callable(read)
    with pytest.raises(BenchError, match="unable to connect"):
        read(Finished(("tool",), 1, "", "unable to connect", 0.1, 0.0, 0))
