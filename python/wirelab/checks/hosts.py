"""Names the host of a farm that disagrees with the others, from all trials of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize
from wirelab.records.trial import Check, Trial
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import RATE, RESPONSE_P50, SERVICE_CPU, Figure
from wirelab.statistics.host_effects import DIFFERENCE_MIN, HostEffects, host_effects

NAME = "hosts"
"""Of the check."""
FIGURES = (RATE, RESPONSE_P50, SERVICE_CPU)
"""In which hosts are compared; the rate of a load that is ordered does not depend on them."""
HOSTS_NAMED = 5
"""Maximum number of hosts that the check names in one figure."""


def check(trials: Sequence[Trial]) -> Check | None:
    """Whether the hosts of a farm measured the same; None for a run on one machine. What a host
    does to all cells alike is removed from comparisons by blocks, but not from the figures of
    cells, and may be the sign of more."""
    hosts = sorted({trial.node for trial in trials if trial.node})
    if len(hosts) < 2:
        return None
    compared = [(figure, found) for figure in FIGURES if (found := effects(trials, figure))]
    if not compared:
        reason = "each host measured too few repeats to know how its own repeats differ"
        return Check.unmeasurable(NAME, reason)
    named = [text for figure, found in compared for text in _name(figure, found, len(compared))]
    if named:
        return Check(NAME, "marked", "; ".join(named))
    return Check(
        NAME,
        "ok",
        f"{format_count(len(hosts), 'host')} agree: no difference above {DIFFERENCE_MIN:.0%} was "
        "found",
    )


def effects(trials: Sequence[Trial], figure: Figure) -> HostEffects | None:
    """Of a figure; None where hosts cannot be compared in it."""
    every = [cell for cell in cells(trials) if figure is not RATE or cell.point.load.is_closed]
    found = [values for cell in every if (values := _values(cell, figure))]
    return host_effects(found)


def _values(cell: Cell, figure: Figure) -> dict[tuple[int, str], float]:
    values = cell.values_by_block(figure)
    return {block: value for block, value in values.items() if block[1] and value > 0.0}


def _name(figure: Figure, found: HostEffects, tests: int) -> Iterator[str]:
    apart = found.list_apart(tests)
    if len(found.means) == 2 and apart:
        (first, ratio), (second, _) = apart
        first, second = sanitize(first), sanitize(second)
        yield (
            f"the {figure.title} of {first} is {ratio:.0%} of that of {second}: one of the two is "
            "not as it should be, and a third host would show which"
        )
        return
    for host, ratio in apart[:HOSTS_NAMED]:
        yield (
            f"the {figure.title} of {sanitize(host)} is {ratio:.0%} of that of the other hosts: "
            "look at that host"
        )
