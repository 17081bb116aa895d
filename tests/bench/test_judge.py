"""`make judge`: its servers do what they are meant to, and its truth reports where a tool is
wrong."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.judge import table, truth
from bench.judge.__main__ import serve
from bench.judge.server import DEFECTS

Json = dict[str, Any]


def _ask(port: int, count: int) -> Counter[int | None]:
    """Statuses of requests one after the other; None: no reply."""
    seen: Counter[int | None] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    for _ in range(count):
        try:
            connection.request("GET", "/")
            reply = connection.getresponse()
            reply.read()
            seen[reply.status] += 1
        except (http.client.HTTPException, ConnectionError):
            seen[None] += 1
            connection.close()
    connection.close()
    return seen


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_server_has_its_defect_and_logs_it(defect: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    count = 210 if defect == "freeze" else 100
    with serve("http", defect, log) as port:
        seen = _ask(port, count)
    found = truth.read(log)
    failed = {"error": {503: 10}, "drop": {None: 1}}.get(defect, {})
    assert {status: n for status, n in seen.items() if status != 200} == failed
    assert (found.requests, found.bad) == (count, sum(failed.values()))
    assert 0.005 <= found.latency_s["p50"][0] <= found.latency_s["p50"][1] < 0.1
    longest = max(json.loads(line)[2] for line in log.read_text().splitlines())
    assert (longest > 0.9) == (defect == "freeze")
    assert (longest > 0.2) == (defect in ("freeze", "tail"))
    assert found.connections == {"close": 10, "drop": 1}.get(defect, 1)


LOG = truth.Log(1000, 100, 4, {"mean": (0.006,) * 2, "p50": (0.0055,) * 2, "p99": (0.007, 0.205)})
RIGHT: Json = {
    "requests": 1000,
    "failed": 100,
    "latency_s": {"mean": 0.0061, "p50": 0.0056, "p99": 0.206},
    "resolution_s": 0.0,
    "has_connect": True,
}


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, set()),
        ({"requests": 900}, {"requests"}),
        ({"requests": 900, "unanswered": 100}, set()),
        ({"failed": 0}, {"errors"}),
        ({"requests": 900, "unanswered": 5000}, set()),
        ({"requests": 1100, "unanswered": 5000}, {"requests"}),
        ({"latency_s": {"p99": 0.0056}}, {"latency"}),
        ({"latency_s": {"p99": 0.0071}}, set()),
        ({"latency_s": {"p99": 0.24}}, {"latency"}),
    ],
)
def test_a_report_is_right_if_the_log_agrees(changes: Json, wrong: set[str]) -> None:
    found = truth.judge({**RIGHT, **changes}, LOG, in_flight=4)
    assert {name for name, is_right in found.items() if not is_right} == wrong
    assert set(found) == set(truth.CHECKS)


def test_times_to_connect_are_not_compared_with_a_log_that_lacks_them() -> None:
    each = truth.Log(1000, 100, 1000, LOG.latency_s)
    assert "latency" not in truth.judge(RIGHT, each, in_flight=4)
    assert truth.judge(None, LOG, in_flight=4) == {}


def test_the_table_counts_right_and_wrong_verdicts(tmp_path: Path) -> None:
    checks = {"requests": "ok", "errors": "marked", "latency": "marked"}
    right = {"requests": True, "errors": False, "latency": True}
    results = {("ab", "fixed"): {"checks": checks, "right": right}}
    text = table.text(results, {"hey": "hey is not installed"}, ("fixed", "tls"))
    assert "| `ab` | 2 of 3; errors accused; latency accused, wrong | — |" in text
    assert "Of 3 verdicts: 1 accused, right, 1 accused, wrong, 1 acquitted, right" in text
    assert "`hey` (hey is not installed)" in text
    busy = {"checks": {**checks, "machine": "marked"}, "right": right}
    assert table.verdicts(busy).keys() == {"requests", "errors"}
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
    table.write(page, text)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before")
    assert written.endswith("after\n")
    assert "old" not in written
    assert text in written
    without = tmp_path / "without.md"
    without.write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks"):
        table.write(without, text)
