"""The account of time leaves little unexplained, in captures of the kinds that the guide shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from wirelab import checkout
from wirelab.documents.dissection import Dissection
from wirelab.experiment import loading as experiment_file
from wirelab.process.interruption import Interruption
from wirelab.run import runner as running
from wirelab.trial import dissected
from wirelab.trial.dissection import Look, dissect

MAX = 0.05
"""Most that may remain unexplained, as a share of the time of all connections."""

pytestmark = pytest.mark.usefixtures("no_orphans", "real_engine")
needs_links = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
    reason="captures and links need root, iproute2 and /dev/net/tun",
)

EXPERIMENT = """\
name: unexplained
services: [{services}]
messages: [{{operation: Hello, bytes: {bytes}}}]
loads: [closed: {{users: 2}}]
links: [{links}]
capture: both
window: {{duration: 300 ms}}
warmup: {{min: 0 s, max: 0 s}}
repeats: 1
"""
LOSSY = "{name: lossy, both: {delay_ms: 2, reorder_percent: 2, loss: {kind: random, percent: 1}}}"
RUNS = {
    "plain": ("rest@rust, grpc@rust, iiop@rust, raw@rust, soap@rust", "loopback, wlan"),
    "large": ("rest@rust, grpc@rust", "wlan"),
    "encrypted": ("'rest@rust?security=tls', 'grpc@rust?security=tls'", "loopback, wlan"),
    "lossy": ("rest@rust, grpc@rust", LOSSY),
}
BYTES = {"large": "500 kB"}


def _share(documents: Iterable[Dissection], name: str) -> float:
    """Of the time of all connections, what is in no part; printed."""
    whole = [document.waits.connections for document in documents]
    elapsed = sum(one.elapsed_ms for one in whole)
    unexplained = sum(one.parts_ms.get("unattributed", 0.0) for one in whole)
    assert elapsed > 0.0
    for one in whole:
        assert sum(one.parts_ms.values()) == pytest.approx(one.elapsed_ms)
    share = unexplained / elapsed
    print(f"{name}: {100 * share:.2f} % of {elapsed:.0f} ms unexplained, {len(whole)} captures")
    return share


@needs_links
@pytest.mark.parametrize("name", RUNS)
def test_of_captured_trials(tmp_path: Path, name: str) -> None:
    services, links = RUNS[name]
    size = BYTES.get(name, "14 B")
    text = EXPERIMENT.format(services=services, links=links, bytes=size)
    running.run(experiment_file.parse(text), tmp_path / "run", source=text, unverified=True)
    files = sorted((tmp_path / "run").rglob("dissection-*.json"))
    assert files
    assert _share(map(dissected.read, files), name) <= MAX


def test_of_the_captures_that_the_tests_keep(tmp_path: Path) -> None:
    """A few packets each, of all link types; one side is missing in some."""
    folder = checkout.find()
    assert folder is not None
    files = sorted((folder / "crates/trace/corpus/capture").iterdir())
    assert len(files) >= 8
    with Interruption() as interruption:
        log = tmp_path / "dissect.log"
        documents = [dissect(one, Look(), log=log, interruption=interruption) for one in files]
    assert _share(documents, "kept") <= MAX
