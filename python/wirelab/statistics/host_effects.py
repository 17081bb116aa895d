"""How much hosts of a farm differ: the block effects of a host against those of the others.

``ln y = cell + host + block within host + error`` (nested design, Montgomery, *Design and Analysis
of Experiments*, chapter 14). Hosts are compared against the variation between the blocks of one
host, so that a host whose speed merely wanders is not named. The host that is farthest from the
others is tested by t with a Bonferroni bound for the number of hosts and figures, is left out if it
differs, and the test goes on with the rest (Rosner 1983, Technometrics 25(2)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from wirelab.statistics.distributions import student_t_tail
from wirelab.statistics.sample import Floats

ALPHA = 0.01
"""Chance that one of the hosts of a healthy farm is named."""
DIFFERENCE_MIN = 0.05
"""Differences of a host up to this share are not mentioned: blocks remove them."""
FREEDOM_MIN = 2
"""Blocks, less one for each host, from which on hosts are compared."""
_ROUNDS = 30

Block = tuple[int, str]
"""Repeat and host."""


@dataclass(frozen=True)
class HostEffects:
    """Mean block effects of one figure."""

    means: Mapping[str, float]
    """By host: logarithm of its figure over that of an average block."""
    weights: Mapping[str, float]
    """Trials of each host."""
    variance: float
    """Between blocks of one host, of a block with one trial."""
    freedom: int

    def list_apart(self, tests: int = 1) -> list[tuple[str, float]]:
        """Hosts that differ, each with its ratio to the others. ``tests``: figures that are tested
        together. Of two hosts that differ, both are listed."""
        left = dict(self.means)
        found = []
        while len(left) > 1:
            host, difference, p_value = self._find_farthest(left)
            if p_value > ALPHA / tests or abs(difference) <= log(1.0 + DIFFERENCE_MIN):
                break
            found.append((host, exp(difference)))
            del left[host]
            if len(left) == 1 and len(self.means) == 2:
                found.append((next(iter(left)), exp(-difference)))
        return found

    def _find_farthest(self, left: Mapping[str, float]) -> tuple[str, float, float]:
        """The host with the largest t, by how much it differs, and its p-value."""
        # Two hosts have one difference.
        pairs = len(left) if len(left) > 2 else 1
        tested = []
        for host, mean in left.items():
            others = [(self.weights[name], value) for name, value in left.items() if name != host]
            weight = sum(own for own, _ in others)
            rest = sum(own * value for own, value in others) / weight
            error = sqrt(self.variance * (1.0 / self.weights[host] + 1.0 / weight))
            tested.append((abs(mean - rest) / error, host, mean - rest))
        t, host, difference = max(tested)
        return host, difference, min(1.0, 2.0 * student_t_tail(t, self.freedom) * pairs)


def host_effects(cells: Sequence[Mapping[Block, float]]) -> HostEffects | None:
    """Of cells that map a block to a figure above 0. None where fewer than :data:`FREEDOM_MIN`
    degrees of freedom remain between the blocks of hosts, or where blocks do not vary."""
    blocks = sorted(set().union(*cells)) if cells else []
    hosts = sorted({host for _, host in blocks})
    freedom = len(blocks) - len(hosts)
    if len(hosts) < 2 or freedom < FREEDOM_MIN:
        return None
    places = {block: place for place, block in enumerate(blocks)}
    table = np.full((len(cells), len(blocks)), np.nan)
    for row, cell in enumerate(cells):
        for block, value in cell.items():
            table[row, places[block]] = log(value)
    effects, trials = _fit_effects(table)
    of_host = np.array([hosts.index(host) for _, host in blocks])
    weights = np.bincount(of_host, trials)
    means = np.bincount(of_host, trials * effects) / weights
    variance = float(trials @ (effects - means[of_host]) ** 2) / freedom
    if variance <= 0.0:
        return None
    by_host = dict(zip(hosts, map(float, means), strict=True))
    return HostEffects(
        by_host, dict(zip(hosts, map(float, weights), strict=True)), variance, freedom
    )


def _fit_effects(table: Floats) -> tuple[Floats, Floats]:
    """Of the blocks, with the number of trials in each (backfitting of cells and blocks)."""
    there = ~np.isnan(table)
    trials = there.sum(axis=0).astype(float)
    effects = np.zeros(table.shape[1])
    for _ in range(_ROUNDS):
        means = np.nanmean(table - effects, axis=1)
        effects = np.nansum(table - means[:, None], axis=0) / trials
    return effects, trials
