"""The experiment that tests the findings of a run: its points as they were, and flipped.

It is an ordinary experiment file, made from the run's own: the same messages, loads, window
and faults, each point named by :class:`wirelab.experiment.Place`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from wirelab import planning, profiles
from wirelab.errors import ExperimentError
from wirelab.experiment import CaptureChoice, Experiment, Place
from wirelab.intervention.record import Interventions, Spot
from wirelab.manifests import Catalogue
from wirelab.planning import Cell
from wirelab.profiles import OwnProfile, Profile
from wirelab.stacks import Stack

NAME_MAX = 64
"""Characters of an experiment's name."""
_LEFT_OUT = ("axes", "findings", "ladders", "only", "interventions", "test_findings")
"""Keys of the run's file that say nothing about its points."""


@dataclass
class Matrix:
    """The points of the test, each once."""

    experiment: Experiment
    """That of the run."""
    catalogue: Catalogue
    capture: CaptureChoice
    links: list[Profile] = field(init=False)
    places: dict[str, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = list(self.experiment.links)

    def refusal(self, cell: Cell, stack: Stack, link: Profile) -> str:
        """Why the cell cannot be measured with that stack over that link; empty when it can."""
        place = self._place(cell, stack, 0)
        alone = {"services": (stack.reference,), "axes": {}, "only": (place,)}
        update = {**alone, "links": (link,), "capture": (self.capture,), "skip_illegal": False}
        try:
            planning.schedule(self.experiment.model_copy(update=update), self.catalogue)
        except ExperimentError as error:
            return error.problems[0].partition(". ")[0]
        return ""

    def add(self, cell: Cell, stack: Stack, link: Profile) -> Spot:
        """Takes the point into the test."""
        if link not in self.links:
            self.links.append(link)
        place = self._place(cell, stack, self.links.index(link))
        self.places.setdefault(place.model_dump_json(), place)
        return self.spot(cell, stack, link)

    def spot(self, cell: Cell, stack: Stack, link: Profile) -> Spot:
        """What the point is called in the test."""
        point = replace(
            cell.point,
            stack=stack.reference,
            axes=dict(stack.axes),
            link=profiles.name(link),
            options={**cell.point.options, "capture": self.capture},
        )
        return Spot.of(point)

    def link(self, name: str) -> Profile:
        """The profile of that name."""
        return next(link for link in self.links if profiles.name(link) == name)

    def _place(self, cell: Cell, stack: Stack, link: int) -> Place:
        asked = self.experiment
        return Place(
            stack=stack.reference,
            message=asked.messages.index(cell.message),
            load=asked.loads.index(cell.load),
            link=link,
            placement=asked.placement.index(cell.placement),
        )

    def text(self, document: dict[str, Any], record: Interventions, repeats: int) -> str:
        """The file. ``document`` is the run's own as it was read."""
        content = {key: deepcopy(document[key]) for key in document if key not in _LEFT_OUT}
        places = list(self.places.values())
        name = str(document["name"])
        content |= {
            "name": f"{name[: NAME_MAX - 6]}-tests",
            "about": f"tests what was found in the packets of {name}, one switch at a time",
            "repeats": repeats,
            "capture": self.capture,
            "links": [
                *_links(document),
                *(map(_profile, self.links[len(self.experiment.links) :])),
            ],
            "services": list(dict.fromkeys(place.stack for place in places)),
            "only": [place.model_dump() for place in places],
            "interventions": record.model_dump(mode="json"),
        }
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def _links(document: dict[str, Any]) -> list[Any]:
    given = document.get("links", profiles.LOOPBACK)
    return list(given) if isinstance(given, list) else [given]


def _profile(link: Profile) -> Any:
    return link.model_dump(exclude_unset=True) if isinstance(link, OwnProfile) else link
