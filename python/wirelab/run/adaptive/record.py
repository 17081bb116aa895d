"""What is to be tested, written down before the first trial of the test.

It stands in the test's own experiment file under ``interventions`` and so in its manifest:
a prediction is made before its outcome is known, and stays as it was made.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from wirelab.experiment.model import Model
from wirelab.stack.reference import Stack
from wirelab.trial.record import Point

Json = dict[str, Any]


class Spot(Model):
    """A point of a matrix without its axes, which its stack names."""

    stack: str
    contract: str
    operation: str
    bytes: int
    link: str
    load: Json
    options: Json

    @classmethod
    def of(cls, point: Point) -> Spot:
        """The point's name."""
        return cls.model_validate({name: getattr(point, name) for name in cls.model_fields})

    @property
    def point(self) -> Point:
        """The point itself."""
        return Point(axes=dict(Stack.parse(self.stack).axes), **self.model_dump())


class Claim(Model):
    """What the packets of one cell say of one cause; means over its trials."""

    cause: str
    ms_per_call: float = Field(description="milliseconds that go if the finding is right")
    occurrences_per_call: float = Field(description="exchanges of all that show it")
    share: float = Field(description="of the time of a call, 0 to 1")
    trials: int = Field(description="that the means are of")


class Planned(Model):
    """One claim, and the one switch that is flipped to test it."""

    claim: Claim
    axis: str
    was: str
    becomes: str
    lapses: dict[str, str] = Field(
        default_factory=dict, description="axes that do not exist without it: their defaults"
    )
    before: Spot
    after: Spot
    beside: tuple[str, ...] = Field((), description="causes of the cell that blame it too")
    ms_predicted: float = Field(description="per call; of all causes that blame the switch")

    @property
    def change(self) -> str:
        """``server.nagle=off``."""
        return f"{self.axis}={self.becomes}"


class Together(Model):
    """All switches of one cell at once."""

    changes: tuple[str, ...]
    before: Spot
    after: Spot


class Untested(Model):
    """A claim that stays a claim, and why."""

    claim: Claim
    before: Spot
    reason: str
    possible: bool = Field(description="it could be tested, and was not worth it")

    @property
    def words(self) -> str:
        """Why it was not tested."""
        return self.reason if self.possible else f"cannot be tested here, because {self.reason}"


class Interventions(Model):
    """Everything about one run's findings that was decided beforehand."""

    minimum_share: float
    tests: tuple[Planned, ...] = ()
    together: tuple[Together, ...] = ()
    untested: tuple[Untested, ...] = ()
