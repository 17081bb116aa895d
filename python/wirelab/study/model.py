"""A study as data: what was claimed, and which experiments put it to the test.

:class:`Study` is the model of ``studies/<name>/study.yaml``;
:mod:`wirelab.study.loading` reads it. Nothing here knows any one study.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field, field_validator, model_validator

from wirelab.errors import UsageError
from wirelab.experiment.fields import Model, Time
from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector, Level, levels
from wirelab.explain.ladders import Ladder, Rung
from wirelab.format.units import parse_bytes
from wirelab.stack.suggestions import did_you_mean
from wirelab.study.claims import Expectation, Finding
from wirelab.study.crossover import Crossing
from wirelab.study.winners import TREND

if TYPE_CHECKING:
    from wirelab.study.published import Figure as Printed

T = TypeVar("T")
Words = dict[str, Any]
"""Properties and axes of a cell as they are written, ``{bytes: 14 B, users: 10}``."""


def _legal(make: Callable[[], T]) -> T:
    """Reports what wirelab refuses, with its line."""
    try:
        return make()
    except UsageError as error:
        raise ValueError(f"{error.message}. {error.remedy}".rstrip(". ")) from None


class Arm(Model):
    """A stack under the name that claims use."""

    stack: str
    label: str

    @field_validator("stack")
    @classmethod
    def _canonical(cls, reference: str) -> str:
        return _legal(partial(CellSelector.of, {"stack": reference})).stack


class Expect(Model):
    """What is claimed of the figure or ratio: one of the four."""

    above: float | None = None
    below: float | None = None
    within: tuple[float, float] | None = None
    crosses: float | None = None
    margin: float | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _exactly_one(self) -> Expect:
        given = self.model_fields_set - {"margin"}
        if len(given) != 1:
            raise ValueError("write exactly one of above, below, within, crosses")
        if self.crosses not in (None, 1):
            raise ValueError("only a ratio of 1 can be crossed")
        return self

    def expectation(self, threshold: float) -> Expectation:
        """A claim of a difference from 1 must exceed the threshold; other numbers
        are compared as they are claimed."""
        about_one = 1.0 in (self.above, self.below, self.crosses)
        margin = self.margin if self.margin is not None else threshold if about_one else 0.0
        above = self.above if self.crosses is None else self.crosses
        return Expectation(above, self.below, self.within, margin)


class Claim(Model):
    """One published finding."""

    id: str
    claim: str
    source: str
    part: str | None = None
    parts: tuple[str, ...] = ()
    figure: str = "rate"
    over: tuple[str | Words, ...] = Field(min_length=1)
    under: tuple[str | Words, ...] = ()
    where: Words = Field(default_factory=dict)
    each: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    some: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict,
        description="levels at one of which the claim must hold, in place of each",
    )
    along: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    growth: dict[str, tuple[Any, Any]] = Field(default_factory=dict)
    difference: bool = Field(
        False,
        description="of the sums of over and under, in the figure's unit, in place of a ratio",
    )
    order: tuple[str, ...] = Field(
        (), description="what packets of one exchange carry, in place of a figure"
    )
    expect: Expect | None = None

    @field_validator("figure")
    @classmethod
    def _check_figure(cls, name: str) -> str:
        return _legal(partial(figures.require_figure, name)).name

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        if (self.expect is None) != bool(self.order):
            raise ValueError("a claim has either `expect` or `order`")
        if self.expect is not None and (self.expect.crosses is not None) != bool(self.along):
            raise ValueError("`expect: {crosses: 1}` and `along` belong together")
        if self.some and (self.each or self.along or self.order):
            raise ValueError("a claim with `some` has none of `each`, `along` and `order`")
        return self

    def finding(self, arms: Mapping[str, Arm], threshold: float) -> Finding:
        """Resolved. Raises :class:`UsageError`."""
        first, last = (
            [_sizes({name: pair[i] for name, pair in self.growth.items()}) for i in (0, 1)]
            if self.growth
            else (None, None)
        )
        return Finding(
            self.id,
            self.claim,
            self.source,
            self.figure,
            tuple(_cell(arms, words, self.where) for words in self.over),
            tuple(_cell(arms, words, self.where) for words in self.under),
            tuple(_sizes(level) for level in levels(self.some or self.each)),
            self.expect.expectation(threshold) if self.expect else Expectation(),
            self.difference,
            self.order,
            (first, last) if first is not None and last is not None else None,
            is_somewhere=bool(self.some),
        )

    def to_crossing(self, arms: Mapping[str, Arm], threshold: float) -> Crossing | None:
        """The same as a crossing, where it is one."""
        if not self.along:
            return None
        steps = tuple(_sizes(level) for level in levels(self.along))
        return Crossing(self.finding(arms, threshold), steps)


class Near(Model):
    """A rung at the start."""

    id: str
    label: str
    hypothesis: str
    change: Words = Field(min_length=1)


class Far(Model):
    """A rung on the way from ``together`` to the goal."""

    id: str
    label: str
    hypothesis: str
    change: Words = Field(default_factory=dict)
    to: Words = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_two(self) -> Far:
        if bool(self.change) == bool(self.to):
            raise ValueError("a far rung has either `change` or `to`")
        return self


class Beside(Model):
    """A rung that is not part of the path."""

    id: str
    label: str
    hypothesis: str
    from_: Words = Field(alias="from")
    to: Words


class LadderEntry(Model):
    """A ladder as it is written; ``at`` makes one ladder of each level."""

    id: str
    question: str
    part: str
    figure: str = "rate"
    also: tuple[str, ...] = ("service_cpu", "client_cpu")
    at: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    start: Words
    goal: Words | None = None
    near: tuple[Near, ...] = ()
    far: tuple[Far, ...] = ()
    beside: tuple[Beside, ...] = ()

    @field_validator("figure")
    @classmethod
    def _check_figure(cls, name: str) -> str:
        return _legal(partial(figures.require_figure, name)).name

    @field_validator("also")
    @classmethod
    def _all_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(cls._check_figure(name) for name in names)

    @model_validator(mode="after")
    def _resolvable(self) -> LadderEntry:
        _legal(partial(self.ladders, 0.05))
        return self

    def ladders(self, threshold: float) -> tuple[Ladder, ...]:
        """One per level. Raises :class:`UsageError`."""
        start = CellSelector.of(self.start)
        goal = CellSelector.of(self.goal) if self.goal is not None else None
        together = start.change({k: v for rung in self.near for k, v in rung.change.items()})
        near = tuple(
            Rung(rung.id, rung.label, rung.hypothesis, start, start.change(rung.change))
            for rung in self.near
        )
        named = {"start": start, "together": together} | ({"goal": goal} if goal else {})
        rungs = (*near, *self._path(together, goal), *self._besides(named))
        ladder = Ladder(
            self.id,
            self.question,
            start,
            goal,
            together,
            rungs,
            self.figure,
            self.also,
            threshold,
        )
        if not self.at:
            return (ladder,)
        return tuple(ladder.change_level(level) for level in map(_sizes, levels(self.at)))

    def _path(self, together: CellSelector, goal: CellSelector | None) -> tuple[Rung, ...]:
        rungs, here = [], together
        for rung in self.far:
            there = CellSelector.of(rung.to) if rung.to else here.change(rung.change)
            rungs.append(Rung(rung.id, rung.label, rung.hypothesis, here, there, near=False))
            here = there
        if self.far and here != goal:
            raise UsageError(
                f"the far rungs of ladder {self.id!r} end at {here}",
                f"they must end at its goal, {goal}",
            )
        return tuple(rungs)

    def _besides(self, named: Mapping[str, CellSelector]) -> tuple[Rung, ...]:
        return tuple(
            Rung(
                rung.id,
                rung.label,
                rung.hypothesis,
                _end(named, rung.from_),
                _end(named, rung.to),
                counted=False,
            )
            for rung in self.beside
        )


class ShownFigure(Model):
    """How a published column maps to a figure."""

    figure: str
    statistic: str | tuple[str, ...] = Field(description="of the rows; the first that is there")
    per_unit: float = Field(gt=0, description="figure's units in one published unit")

    @field_validator("figure")
    @classmethod
    def _check_figure(cls, name: str) -> str:
        return _legal(partial(figures.require_figure, name)).name


class PublishedMap(Model):
    """How rows of published.csv name what was measured.

    ``figure`` next to an operation's properties is shown in place of the column's own: a
    packet's own figure, where the study's "operations" are the packets of a call.
    """

    parts: tuple[str, ...] = Field(min_length=1)
    experiments: tuple[str, ...] = Field((), description="of the rows; all when left out")
    language: str = Field("", description="of the rows; all when left out")
    stacks: dict[str, str]
    operations: dict[str, Words]
    load: dict[str, str] = Field(default_factory=dict)
    load_names: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="what the study calls a load by what it is here: for each property of a cell "
        "that the column `load` has too, its names by the lab's; rows of others are left",
    )
    links: dict[str, str] = Field(
        default_factory=dict, description="the study's links by the lab's; rows of others are left"
    )
    figures: dict[str, ShownFigure]

    @field_validator("operations")
    @classmethod
    def _check_figures(cls, operations: dict[str, Words]) -> dict[str, Words]:
        for words in operations.values():
            if "figure" in words:
                _legal(partial(figures.require_figure, str(words["figure"])))
        return operations

    def takes(self, row: Printed) -> bool:
        """True for the rows that this map is for."""
        return (
            row.stack in self.stacks
            and row.operation in self.operations
            and row.metric in self.figures
            and (not self.experiments or row.experiment in self.experiments)
            and self.language in ("", row.language)
            and (not self.links or row.link in self.links)
            and all(row.load.get(name, "") in words for name, words in self.load_names.items())
        )


class NotShown(Model):
    """Published figures that have no measured one next to them."""

    experiments: tuple[str, ...] = Field((), description="of the rows; all when left out")
    metrics: tuple[str, ...] = Field((), description="of the rows; all when left out")
    reason: str

    def takes(self, row: Printed) -> bool:
        """True for the rows that this reason is for."""
        return (not self.experiments or row.experiment in self.experiments) and (
            not self.metrics or row.metric in self.metrics
        )


class PairEntry(Model):
    """Two arms that contend."""

    label: str
    a: str
    b: str


class WinnersEntry(Model):
    """A table of winners to be made again."""

    part: str
    tests: dict[str, Words]
    vary: str
    levels: tuple[float, ...] = Field(min_length=2)
    contenders: dict[str, str]
    properties: dict[str, str]
    published: dict[str, dict[str, str]]
    pairs: tuple[PairEntry, ...] = Field(min_length=1)

    @field_validator("properties")
    @classmethod
    def _check_figures(cls, named: dict[str, str]) -> dict[str, str]:
        for name in named.values():
            if name != TREND:
                _legal(partial(figures.require_figure, name))
        return named


class NotRerun(Model):
    """A finding that this lab cannot put to the test."""

    claim: str
    source: str
    reason: str


class Takes(Model):
    """How long a reproduction takes on two cores, once its services are built and
    verified."""

    default: Time = Field(description="at the default scale")
    quick: Time | None = Field(None, description="a first look, for a study that has one")


class Further(Model):
    """What goes beyond the study, such as the future work that it names."""

    parts: tuple[str, ...] = Field(min_length=1, description="run only where they are named")
    findings: tuple[Claim, ...] = ()
    ladders: tuple[LadderEntry, ...] = ()


class Study(Model):
    """A published experiment with its claims."""

    name: str
    title: str
    source: str
    question: str
    confound: str = ""
    parts: tuple[str, ...] = Field(min_length=1, description="experiment files, without .yaml")
    further: Further | None = None
    scale: float = Field(1.0, gt=0, description="default share of the published calls")
    scales: dict[str, float] = Field(
        default_factory=dict, description="default share of the parts that differ from scale"
    )
    window_max: Time = Field(description="longest window at the default scale")
    timed: tuple[str, ...] = Field(
        (),
        description="parts whose windows are closed by time at scales below 1, so that services "
        "take turns within a trial and every cell has calls",
    )
    takes: Takes = Field(
        description="measured time on two cores; on one line, because help reads it without a "
        "parser of YAML"
    )
    quick: dict[str, Words] = Field(
        default_factory=dict,
        description="the parts that a first look runs, each with the keys of its experiment file "
        "that are replaced",
    )
    threshold: float = Field(0.05, ge=0, lt=1)
    arms: dict[str, Arm] = Field(min_length=1)
    published: tuple[PublishedMap, ...] = ()
    not_shown: tuple[NotShown, ...] = ()
    winners: WinnersEntry | None = None
    findings: tuple[Claim, ...] = ()
    ladders: tuple[LadderEntry, ...] = ()
    not_rerun: tuple[NotRerun, ...] = ()

    @model_validator(mode="after")
    def _names_fit(self) -> Study:
        for claim in self.every_finding:
            _legal(partial(claim.finding, self.arms, self.threshold))
        for known, named in (
            (self.parts, self._parts_named()),
            (self.every_part, [*self._further_named(), *self.timed]),
        ):
            for part in named:
                if part not in known:
                    raise ValueError(
                        f"part {part!r} is not in `parts`. {did_you_mean(part, known)}"
                    )
        for arm in self._arms_named():
            _legal(partial(_arm, self.arms, arm))
        if bool(self.quick) != (self.takes.quick is not None):
            raise ValueError("`quick` and `takes: {quick: …}` belong together: write both or none")
        ids = [claim.id for claim in self.every_finding]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"two findings have the name {twice[0]!r}; rename one")
        return self

    @property
    def every_part(self) -> tuple[str, ...]:
        """Those that the study runs by itself, and the further ones."""
        return (*self.parts, *(self.further.parts if self.further else ()))

    @property
    def every_finding(self) -> tuple[Claim, ...]:
        """Those of the study, and the further ones."""
        return (*self.findings, *(self.further.findings if self.further else ()))

    @property
    def every_ladder(self) -> tuple[LadderEntry, ...]:
        """Those of the study, and the further ones."""
        return (*self.ladders, *(self.further.ladders if self.further else ()))

    def parts_of(self, claim: Claim) -> tuple[str, ...]:
        """The parts whose trials a claim is judged on; the first part unless named."""
        return claim.parts or ((claim.part,) if claim.part else self.parts[:1])

    def _parts_named(self) -> list[str]:
        named = [part for claim in self.findings for part in self.parts_of(claim)]
        named += [ladder.part for ladder in self.ladders]
        named += [part for entry in self.published for part in entry.parts]
        return [*named, *self.quick, *([self.winners.part] if self.winners else [])]

    def _further_named(self) -> list[str]:
        """Where further parts can be named, too."""
        named = list(self.scales)
        if self.further:
            claims, ladders = self.further.findings, self.further.ladders
            named += [part for claim in claims for part in self.parts_of(claim)]
            named += [ladder.part for ladder in ladders]
        return named

    def _arms_named(self) -> list[str]:
        named = [arm for entry in self.published for arm in entry.stacks.values()]
        pairs = self.winners.pairs if self.winners else ()
        return named + [arm for pair in pairs for arm in (pair.a, pair.b)]


def _arm(arms: Mapping[str, Arm], name: str) -> Arm:
    if name not in arms:
        raise UsageError(f"there is no arm {name!r}", did_you_mean(name, arms))
    return arms[name]


def _cell(arms: Mapping[str, Arm], words: str | Words, where: Words) -> CellSelector:
    """An arm, or an arm with changes of its own, which win over ``where``."""
    if isinstance(words, str):
        words = {"arm": words}
    if "arm" not in words:
        raise UsageError(f"{words} has no arm", "add arm: and one of the study's arms")
    own = {key: value for key, value in words.items() if key != "arm"}
    arm = _arm(arms, str(words["arm"]))
    return CellSelector.of({"stack": arm.stack}).change({**where, **own})


def _end(named: Mapping[str, CellSelector], words: Words) -> CellSelector:
    of = str(words.get("of"))
    if of not in named:
        raise UsageError(f"{words} has no end of the ladder", f"write of: {', '.join(named)}")
    return named[of].change({key: value for key, value in words.items() if key != "of"})


def _sizes(level: Level) -> Level:
    """Sizes in bytes, so that a level can be shown and compared."""
    return {
        name: _legal(partial(parse_bytes, value))
        if name in ("bytes", "chunk") and isinstance(value, str)
        else value
        for name, value in level.items()
    }
