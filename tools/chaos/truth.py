"""What must hold after every round, by the server's own notes and by arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from tools.chaos.server import DELAY_S
from wirelab.process.namespaces import FOLDER
from wirelab.records.trial import Trial
from wirelab.run import finished

MARK = "WIRELAB_CHAOS"
"""Environment variable of everything that a round starts."""
LITTLE = 0.05
"""Distance that an unmarked closed load may have from Little's law."""


def wrong_figures(trial: Trial, served: int | None) -> Iterator[str]:
    """What is wrong with a measured trial that no check marks. ``served`` is the number of replies
    that its server noted; None without a note."""
    result, users = trial.result, trial.point.load.users or 0
    if served is not None and result.ok > served:
        yield f"{trial.id}: {result.ok} good calls, but the server made {served} replies"
    if any(check.outcome == "marked" for check in trial.checks):
        return
    if result.rate_per_s > users / DELAY_S:
        yield f"{trial.id}: {result.rate_per_s:.0f} calls/s, more than {users} users can make"
    p50 = trial.time_ns("response", "p50")
    if p50 is not None and p50 < DELAY_S * 1e9:
        yield f"{trial.id}: p50 of {p50 * 1e-6:.2f} ms, less than the server waits"
    mean = trial.time_ns("response", "mean")
    if mean is not None and users:
        inside = result.rate_per_s * mean * 1e-9
        if abs(inside / users - 1.0) > LITTLE:
            yield f"{trial.id}: {inside:.2f} calls at once, planned {users}"


def wrong_run(folder: Path, notes: Path, planned: int | None) -> list[str]:
    """What is wrong with a run directory; ``planned`` is the number of trials of a run that must be
    complete, None for one that was stopped."""
    run = finished.read(folder)
    found = [problem for trial in run.trials for problem in _trial(trial, notes)]
    counts = Counter(trial.id for trial in run.trials)
    found += [
        f"{name}: {count} times in the journal" for name, count in counts.items() if count > 1
    ]
    if planned is not None and len(run.trials) != planned:
        found.append(f"{len(run.trials)} of {planned} trials after the run was continued")
    return found


def _trial(trial: Trial, notes: Path) -> list[str]:
    if trial.status == "failed":
        return [] if trial.reason else [f"{trial.id}: failed without a reason"]
    note = notes / f"served-{trial.service.pid}"
    return list(wrong_figures(trial, note.stat().st_size if note.exists() else None))


def find_left_behind(mark: str) -> list[str]:
    """Processes of a round that are still running."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{process.pid} {' '.join(process.cmdline())[:100]}")
        except psutil.Error:
            continue
    return found


def namespaces() -> set[str]:
    """Network namespaces of wirelab."""
    return {path.name for path in FOLDER.glob("wl-*")} if FOLDER.exists() else set()


def tell(problems: Sequence[str]) -> str:
    """One line."""
    return "; ".join(problems) or "held"
