"""What an explanation of two services found, with the runs that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirelab.explain import conditions
from wirelab.explain.explanation import Explanation
from wirelab.explain.path import Step
from wirelab.explain.phases import PhaseGap
from wirelab.explain.two_orders import Cells, Orders
from wirelab.run.finished import Run
from wirelab.statistics.comparison import Comparison

FIGURE = "response_p50"
"""The median response time, unless another time is asked for: a mean follows the few calls that a
busy machine held up."""


@dataclass(frozen=True)
class StackAnswer:
    """Of two stacks of the lab."""

    figure: str
    """The time that is explained (:data:`wirelab.explain.figures.NAMED`)."""
    explanation: Explanation
    steps: tuple[Step, ...]
    orders: tuple[Orders, ...]
    """Of every step, in their order; empty for a path of one step."""
    rest: Comparison | None
    """The whole measured again over the product of the steps; None for one step."""
    phases: tuple[PhaseGap, ...]
    no_packets: str
    """Why there are no captures; empty where there are."""
    cells: Cells
    """Those of the path, by stack."""
    runs: Mapping[str, Run]

    @property
    def failures(self) -> tuple[str, ...]:
        """Why trials failed."""
        return tuple(trial.reason for run in self.runs.values() for trial in run.failed)

    @property
    def names(self) -> tuple[str, str]:
        """Of both, as results name them."""
        return self.steps[0].before.reference, self.steps[-1].after.reference


@dataclass(frozen=True)
class ServiceAnswer:
    """Of two services of the user's own."""

    names: tuple[str, str]
    figure: str
    gap: conditions.Gap
    shifts: tuple[conditions.Shift, ...]
    refused: tuple[str, ...]
    """Conditions that cannot be had, each with its reason."""
    cpu: Mapping[str, tuple[float | None, float | None]]
    """``service_cpu`` and ``client_cpu`` per call of both, s; None where it is not known."""
    connections: tuple[float | None, float | None]
    """Opened per call in the trials as given, by both; None where it is not known."""
    failures: tuple[str, ...]
    """Why trials as given failed."""
    phases: tuple[PhaseGap, ...]
    no_packets: str
    runs: Mapping[str, Run]
