"""The experiment that tests the findings of a run: its points, unchanged and flipped.

It is an ordinary experiment file, derived from that of the run: same messages, loads, window
and faults. Each point is identified by a :class:`wirelab.experiment.MatrixPoint`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from wirelab.errors import ExperimentError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment import matrix as planning
from wirelab.experiment.link_profiles import OwnProfile, Profile
from wirelab.experiment.matrix import Cell
from wirelab.experiment.model import CaptureChoice, Experiment, MatrixPoint
from wirelab.run.adaptive.record import Interventions, Spot
from wirelab.stack.manifests import Catalogue
from wirelab.stack.reference import Stack

NAME_MAX = 64
"""Maximum length of an experiment's name."""
_LEFT_OUT = ("axes", "only", "interventions", "test_findings")
"""Keys of the run's file that do not define its points."""


@dataclass(frozen=True)
class Setting:
    """Properties of a cell that a test may change."""

    stack: Stack
    link: Profile
    faults_off: tuple[str, ...] = ()
    """Active faults of the experiment."""

    @classmethod
    def of(cls, cell: Cell) -> Setting:
        """The unchanged cell."""
        return cls(cell.stack, cell.link)


@dataclass
class Matrix:
    """The points of the test, without duplicates."""

    experiment: Experiment
    """The experiment of the run."""
    catalogue: Catalogue
    capture: CaptureChoice
    links: list[Profile] = field(init=False)
    places: dict[str, MatrixPoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = list(self.experiment.links)

    def refusal(self, cell: Cell, change: Setting) -> str:
        """Why the cell cannot be measured with that change; empty if it can."""
        place, link = self._place(cell, change, 0), change.link
        alone = {"services": (change.stack.reference,), "axes": {}, "only": (place,)}
        update = {**alone, "links": (link,), "capture": (self.capture,), "skip_illegal": False}
        try:
            planning.schedule(self.experiment.model_copy(update=update), self.catalogue)
        except ExperimentError as error:
            return error.problems[0].partition(". ")[0]
        return ""

    def add(self, cell: Cell, change: Setting | None = None) -> Spot:
        """Adds the cell to the test, changed or unchanged."""
        setting = change or Setting.of(cell)
        if setting.link not in self.links:
            self.links.append(setting.link)
        place = self._place(cell, setting, self.links.index(setting.link))
        self.places.setdefault(place.model_dump_json(), place)
        return self.spot(cell, setting)

    def spot(self, cell: Cell, change: Setting | None = None) -> Spot:
        """Name of the point in the test."""
        setting = change or Setting.of(cell)
        options = {**cell.point.options, "capture": self.capture}
        faults = {k: v for k, v in options.pop("faults", {}).items() if k not in setting.faults_off}
        point = replace(
            cell.point,
            stack=setting.stack.reference,
            axes=setting.stack.axes,
            link=profiles.name(setting.link),
            options={**options, **({"faults": faults} if faults else {})},
        )
        return Spot.of(point)

    def link(self, name: str) -> Profile:
        """The link profile of that name."""
        return next(link for link in self.links if profiles.name(link) == name)

    def _place(self, cell: Cell, setting: Setting, link: int) -> MatrixPoint:
        own = self.experiment
        return MatrixPoint(
            stack=setting.stack.reference,
            message=own.messages.index(cell.message),
            load=own.loads.index(cell.load),
            link=link,
            placement=own.placement.index(cell.placement),
            faults_off=setting.faults_off,
        )

    def text(self, document: dict[str, Any], record: Interventions, repeats: int) -> str:
        """Text of the file. ``document`` is the run's own file as it was read."""
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
            "only": [place.model_dump(mode="json") for place in places],
            "interventions": record.model_dump(mode="json"),
        }
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def _links(document: dict[str, Any]) -> list[Any]:
    given = document.get("links", profiles.LOOPBACK)
    return list(given) if isinstance(given, list) else [given]


def _profile(link: Profile) -> Any:
    return link.model_dump(exclude_unset=True) if isinstance(link, OwnProfile) else link
