"""What caches of HTTP save in trials, and what they cannot keep."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from wirelab.errors import StackError, ToolMissing
from wirelab.experiment import loading as experiment_file
from wirelab.process.proxies import ADAPTERS
from wirelab.process.proxies.hop import Installation
from wirelab.records.trial import Trial
from wirelab.run import runner
from wirelab.stack import operations
from wirelab.stack.reference import Stack

REVALIDATED = "rest@rust?http_cache=revalidate"
CACHED = "rest@rust?http_cache=proxy&via=nginx"


def _measure(folder: Path, *services: str) -> dict[str, Trial]:
    content = {
        "name": "caches",
        "services": list(services),
        "messages": [{"operation": "Hello", "bytes": "20 kB"}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 400},
        "warmup": {"min": "0 s", "max": "0 s"},
        "repeats": 1,
    }
    text = yaml.safe_dump(content)
    made = runner.run(experiment_file.parse(text), folder / "run", source=text)
    return {trial.point.stack: trial for trial in made.trials}


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_each_cache_saves_what_it_keeps(tmp_path: Path) -> None:
    """Revalidation saves the body, and not the call; a proxy's cache saves the service the call."""
    try:
        Installation.find(ADAPTERS["nginx"])
    except ToolMissing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    trials = _measure(tmp_path, "rest@rust?via=nginx", REVALIDATED, CACHED)
    assert [trial.reason for trial in trials.values()] == [""] * 3
    whole, asked, kept = (trials[stack] for stack in ("rest@rust?via=nginx", REVALIDATED, CACHED))
    for trial in (whole, asked, kept):
        assert (trial.result.errors, trial.result.ok) == (0, 400)
        checks = {check.name: check for check in trial.checks}
        assert checks["calls counted"].outcome == "ok", checks["calls counted"]
    assert (whole.result.bytes_received or 0) > 400 * 20_000
    assert 0 < (asked.result.bytes_received or 0) < 400 * 400
    assert asked.service.calls_seen == 400
    assert (kept.result.bytes_received or 0) > 400 * 20_000
    assert kept.service.calls_seen == 1


@pytest.mark.parametrize(
    ("stack", "reason"),
    [
        ("grpc@rust?http_cache=revalidate", "only rest has"),
        ("rest@rust?http_cache=proxy", "via=nginx"),
        ("rest@rust?http_cache=proxy&via=haproxy", "via=nginx"),
        ("rest@rust?http_cache=proxy&via=nginx&via_buffering=off", "may collect"),
        ("rest@rust?http_cache=revalidate&caller=go", "keeps no replies"),
    ],
)
def test_impossible_caches_are_refused(stack: str, reason: str) -> None:
    with pytest.raises(StackError, match=reason):
        Stack.parse(stack)


def test_replies_that_change_are_not_kept() -> None:
    axes = Stack.parse(REVALIDATED).axes
    assert operations.refusal("Hello", axes) == ""
    assert "only those to Hello and HelloBytes" in operations.refusal("Submit", axes)
