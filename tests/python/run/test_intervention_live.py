"""Congestion windows that hold up replies over a real link: found in its packets, predicted,
and gone when their switch is flipped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from wirelab.experiment import loading as experiment_file
from wirelab.records.link import TcpStart
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.adaptive import testing
from wirelab.run.adaptive.outcome import Tested as Judged

TEXT = """\
name: windows
services: ["rest@rust?{axes}"]
messages: [{{operation: {operation}, bytes: {bytes}}}]
loads: [closed: {{users: 1, think: {think}}}]
links: [{{name: far, both: {{delay_ms: 25}}}}]
capture: client
window: {{calls: 6}}
warmup: {{min: 0 s, max: 0 s}}
timeout: 30 s
repeats: 1
"""
REPEATS = 4
"""An interval of two repeats is 12.7 standard errors wide to either side, of four 3.2."""
SEGMENT_BYTES = 1448

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
        reason="links need root, iproute2 and /dev/net/tun",
    ),
    pytest.mark.usefixtures("no_orphans", "real_engine"),
]


def _test_finding(
    folder: Path,
    cause: str,
    axes: str,
    size: str,
    think: str = "0 ms",
    operation: str = "Hello",
) -> tuple[Judged, list[Trial]]:
    """The verdict on that cause, and the trials of its test."""
    text = TEXT.format(axes=axes, bytes=size, think=think, operation=operation)
    run = running.run(experiment_file.parse(text), folder, source=text, unverified=True)
    assert [trial.status for trial in run.trials] == ["measured"], run.failed
    done = testing.intervene(folder, repeats=REPEATS, causes=[cause], unverified=True)
    assert not done.failed
    assert done.folder is not None
    (judged,) = [one for one in done.outcome.tested if one.planned.claim.cause == cause]
    return judged, list(running.read(done.folder).trials)


def _ends(trials: list[Trial], axis: str, value: str) -> list[TcpStart]:
    """How TCP began at both ends of every trial with that value."""
    having = [trial for trial in trials if trial.point.axes.texts[axis] == value]
    assert len(having) == REPEATS
    return [end for trial in having for end in trial.link.tcp.values()]


def test_slow_start_is_found_predicted_and_ended_by_a_wide_window(tmp_path: Path) -> None:
    """1 MB at 50 ms of round trip: 10, 20, 40 … segments a round trip, seven in all; with a
    window of 1000 one is enough, and the receiver offers as much."""
    judged, trials = _test_finding(
        tmp_path / "run", "slow-start", "codec=text&connection=close", "1 MB"
    )
    assert judged.planned.change == "initial_window=1000"
    assert judged.planned.claim.ms_per_call > 150.0
    assert judged.verdict == "holds", judged
    assert judged.found is not None
    assert judged.found.estimate > 100.0
    before, after = judged.occurrences or (0.0, 0.0)
    assert after <= 0.1 * before, judged
    assert {end.initial_window for end in _ends(trials, "initial_window", "kernel")} == {10}
    wide = _ends(trials, "initial_window", "1000")
    assert {end.initial_window for end in wide} == {1000}
    assert all(end.receive_window >= 1000 * SEGMENT_BYTES for end in wide)
    flipped = [trial for trial in trials if trial.point.axes.initial_window == 1000]
    causes = {found.cause for trial in flipped if trial.wire for found in trial.wire.findings}
    assert "tcp-window-exhausted" not in causes


def test_a_window_that_shrinks_in_pauses_is_found_predicted_and_kept(tmp_path: Path) -> None:
    """A pause of 1.5 s is six retransmission timeouts: each halves the window."""
    judged, trials = _test_finding(
        tmp_path / "run", "idle-restart", "codec=text", "300 kB", "1500 ms"
    )
    assert judged.planned.change == "after_idle=keep"
    assert judged.planned.claim.ms_per_call > 40.0
    assert judged.verdict == "holds", judged
    assert judged.found is not None
    assert judged.found.estimate > 20.0
    before, after = judged.occurrences or (0.0, 0.0)
    assert after <= 0.1 * before, judged
    assert {end.after_idle for end in _ends(trials, "after_idle", "restart")} == {"restart"}
    assert {end.after_idle for end in _ends(trials, "after_idle", "keep")} == {"keep"}


@pytest.mark.parametrize(
    ("side", "operation", "size"),
    [("client", "Hello", "48 kB"), ("server", "Submit", "20 kB")],
    ids=["client", "server"],
)
def test_a_small_buffer_is_found_predicted_and_widened(
    tmp_path: Path, side: str, operation: str, size: str
) -> None:
    """Some 48 kB through a buffer of 16 KiB, each of which takes a round trip of 50 ms. The
    kernel's own begins at 64 kB (tcp(7), tcp_rmem), into which the message fits."""
    axis = f"{side}.tcp_window"
    judged, trials = _test_finding(
        tmp_path / "run", "tcp-window-exhausted", f"{axis}=16KiB", size, operation=operation
    )
    assert judged.planned.change == f"{axis}=kernel"
    assert judged.planned.claim.ms_per_call > 50.0
    assert judged.verdict == "holds", judged
    assert judged.found is not None
    assert judged.found.estimate > 35.0
    before, after = judged.occurrences or (0.0, 0.0)
    assert after <= 0.1 * before, judged
    assert {trial.point.axes.texts[axis] for trial in trials} == {"16384", "kernel"}
