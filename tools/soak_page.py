"""docs/reference/soak.md from a run of experiments/soak.yaml: ``make soak``.

``python -m tools.soak_page RUN``. Exit code 1 where a call was lost or failed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from wirelab.format.numbers import quantity
from wirelab.records.trial import Trial
from wirelab.run import directory as run_directory
from wirelab.run import finished
from wirelab.trial import series

PAGE = Path("docs/reference/soak.md")
PARTS = 6
"""Of the window, which are shown one by one: five minutes each of half an hour."""


def _part(points: series.Points, part: int, length_s: float) -> list[float]:
    return [value for at, value in points if part * length_s <= at < (part + 1) * length_s]


def _rows(trial: Trial, found: dict[str, series.Points]) -> Iterator[str]:
    """The least heap in use of each part is what a collection left; a leak makes it grow."""
    length_s = trial.result.window_s / PARTS
    yield "| from, s | calls/s | p99, max | heap in use, min | threads, max |"
    yield "|---|---|---|---|---|"
    for part in range(PARTS):
        rate = _part(found.get("rate_per_s", []), part, length_s)
        p99 = _part(found.get("response_p99_seconds", []), part, length_s)
        heap = _part(found.get("heap_used_bytes", []), part, length_s)
        threads = _part(found.get("threads", []), part, length_s)
        cells = (
            f"{part * length_s:.0f}",
            f"{sum(rate) / len(rate):.1f}" if rate else "–",
            quantity(1e9 * max(p99), "ns") if p99 else "–",
            quantity(min(heap), "B") if heap else "–",
            f"{max(threads):.0f}" if threads else "–",
        )
        yield f"| {' | '.join(cells)} |"


def page(trial: Trial, machine: Mapping[str, object], found: dict[str, series.Points]) -> str:
    """The page's text."""
    result, service = trial.result, trial.service
    made = result.calls_whole_run
    seen = service.calls_seen or 0
    words = "equal" if made == seen else "NOT equal"
    load = trial.point.load
    marked = [check.name for check in trial.checks if check.outcome == "marked"]
    lines = [
        "# Soak test: half an hour of calls",
        "",
        "`make soak` writes this page from [experiments/soak.yaml](../../experiments/soak.yaml).",
        "",
        f"- One trial of {trial.started[:10]} on {machine['cpu']}, {machine['cores']} cores.",
        f"- `{trial.point.stack}`, {trial.point.operation}: one SELECT and one INSERT per call.",
        f"- {load.rate:g} calls per second at random times, for {result.window_s:.0f} s.",
        f"- Calls in the window: {result.calls:,}; failed: {result.errors:,}.",
        f"- Calls of the whole run: engine {made:,}, service {seen:,}; {words}.",
        f"- Maximum memory of the service: {quantity(service.rss_max_bytes or 0, 'B')}.",
        f"- Checks that marked the trial: {', '.join(marked) or 'none'}.",
        "  A mark means that the machine was busy. It affects times, but not counts or memory.",
        "",
        *_rows(trial, found),
        "",
    ]
    return "\n".join(lines)


def main(run: Path) -> int:
    """Writes the page."""
    made = finished.read(run)
    (trial,) = made.trials
    if trial.status != "measured":
        print(f"the trial failed: {trial.reason}")
        return 1
    found = series.read(run / "trials" / trial.id / series.NAME)
    PAGE.write_text(page(trial, run_directory.read_manifest(run).machine, found), encoding="utf-8")
    print(f"{PAGE} is written")
    lost = trial.result.calls_whole_run != trial.service.calls_seen
    return 1 if lost or trial.result.errors else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
