"""Computes the trials of an experiment from its matrix, in a random, interleaved order.

Blocks: every repeat is one complete random permutation of all points, so that drift affects
all points equally (randomised complete block design; Montgomery, *Design and Analysis of
Experiments*, chapter 4). Order and ids depend only on the experiment and its seed.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product, starmap
from math import prod
from typing import NamedTuple

from wirelab.documents.plan import Window
from wirelab.errors import ExperimentError, StackError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment import placement, slices
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.experiment.loads import Background, Load
from wirelab.experiment.messages import Message
from wirelab.experiment.model import (
    NO_CAPTURE,
    CaptureChoice,
    Experiment,
    MatrixPoint,
    PlacementChoice,
    named,
)
from wirelab.experiment.slices import Fitness, Place
from wirelab.format.units import format_bytes
from wirelab.records.line import cell_id
from wirelab.records.trial import Point
from wirelab.stack import operations
from wirelab.stack import rules as legality
from wirelab.stack.external import ExternalStack
from wirelab.stack.manifests import Catalogue
from wirelab.stack.reference import Stack

OVERHEAD_S = 0.35
"""Seconds per trial besides warm-up and window: two process starts, collection, disk sync."""
JAVA_START_S = 4.0
"""Additional seconds until a JVM service has started; 3 to 7 on one core."""
WARMED_S = 0.2e-3
"""Estimated time of a call that warms up a service of the user's own, seconds."""
PREPARED_S = 0.003
"""Seconds per preparing call, on a machine that is not warm yet."""
LINK_S = 3.0
"""Additional seconds to create and measure a link."""

SLICES_REMEDY = "use `design: trials`, or `auto`"
TRIALS_MAX = 100_000
"""More than a day of trials of one second each; preparing a larger matrix takes minutes."""

REMEDY = "correct this, or set `skip_illegal: true` to skip impossible combinations"


class Combination(NamedTuple):
    """Indices in the experiment's lists, from 0, and values that are not in a list."""

    service: int
    changes: dict[str, str]
    """Changed axes by name."""
    message: int
    load: int
    placement: int
    link: int
    capture: int
    faults: dict[str, object]


@dataclass(frozen=True)
class Cell:
    """A point with everything needed to measure it."""

    point: Point
    stack: Stack
    message: Message | ExternalMessage
    load: Load
    placement: PlacementChoice
    link: Profile
    capture: CaptureChoice
    external: ExternalService | None = None
    """The declaration of a user-defined service; None for wirelab's services."""
    records_host: bool = False
    """Whether what the service's threads do is recorded."""
    fitness: Fitness = field(default_factory=Fitness)
    """Whether it can share a trial."""

    def workload(self, seed: int) -> dict[str, object]:
        """The object ``workload`` of the probe in the engine's plan."""
        if isinstance(self.message, ExternalMessage):
            assert self.external is not None  # the matrix pairs them
            return self.external.workload(self.message, seed)
        return self.message.workload(seed)


@dataclass(frozen=True)
class PlannedTrial:
    """One planned trial."""

    id: str
    cells: tuple[Cell, ...]
    """More than one where services take turns in slices."""
    repeat: int
    order: int
    seed: int
    """Seed of the arrivals; follows from the experiment's seed, differs between settings and
    repeats, and is the same for the services of one setting."""

    @property
    def cell(self) -> Cell:
        """The first cell, with which the others have everything but their services in common."""
        return self.cells[0]

    def of_cell(self, number: int) -> PlannedTrial:
        """What a trial with only that cell, counted from 0, would be."""
        return replace(self, id=cell_id(self.id, number), cells=(self.cells[number],))


@dataclass(frozen=True)
class Schedule:
    """All trials in their order, and everything that is left out, with the reasons."""

    trials: tuple[PlannedTrial, ...]
    skipped: tuple[str, ...]
    """Impossible combinations."""
    unavailable: tuple[str, ...] = ()
    """Programs that are not available on this machine."""
    cells: tuple[Cell, ...] = ()
    """Cells to measure, in the order of the experiment file."""

    @property
    def cell_trials(self) -> int:
        """Number of results that the trials give."""
        return sum(len(trial.cells) for trial in self.trials)


class Impossible(StackError):
    """An impossible combination."""

    def __init__(self, error: StackError, where: documents.Path) -> None:
        super().__init__(error.message, error.remedy)
        self.where = where
        """The key of the experiment that requests it."""

    @property
    def reason(self) -> str:
        """Message and remedy on one line."""
        return f"{self.message}. {self.remedy}".rstrip(". ")


def schedule(experiment: Experiment, catalogue: Catalogue) -> Schedule:
    """The experiment's trials. Raises :class:`ExperimentError` for an impossible combination,
    unless the experiment sets ``skip_illegal``."""
    refused: dict[str, Impossible] = {}
    found: dict[str, Cell] = {}
    for cell in _cells(experiment, catalogue, refused):
        found.setdefault(_digest(cell.point), cell)
    skipped = tuple(refused)
    _accept(experiment, found.values(), skipped)
    return Schedule(tuple(_ordered(experiment, found)), skipped, cells=tuple(found.values()))


def impossible(experiment: Experiment, catalogue: Catalogue) -> list[Impossible]:
    """The impossible combinations of an experiment, one for every reason."""
    refused: dict[str, Impossible] = {}
    for _ in _cells(experiment, catalogue, refused):
        pass
    return list(refused.values())


def _cells(
    experiment: Experiment, catalogue: Catalogue, refused: dict[str, Impossible]
) -> Iterator[Cell]:
    """Cells that can be measured; the others are added to ``refused`` by reason."""
    for number, combination in enumerate(_combinations(experiment)):
        try:
            yield _cell(experiment, catalogue, combination)
        except Impossible as error:
            if experiment.only is not None:
                error.where = ("only", number)
            refused.setdefault(error.reason, error)


def seconds(experiment: Experiment, trial: PlannedTrial) -> float:
    """Estimated length of a trial: exact for a duration, a bound for a number of calls."""
    return sum(_own_seconds(experiment, trial.of_cell(at)) for at in range(len(trial.cells)))


def _own_seconds(experiment: Experiment, trial: PlannedTrial) -> float:
    window = experiment.window_of(trial.cell.message, trial.cell.load)
    length = _longest_s(window)
    axes = trial.cell.stack.axes
    # The engine rarely needs more than the minimum; a third-party tool always uses the maximum.
    bounds = experiment.warmup_of(trial.cell.load, axes)
    warmup = bounds.least_s if axes.caller == "engine" else bounds.max
    link = 0.0 if trial.cell.link == LOOPBACK else LINK_S
    start = JAVA_START_S if axes.language == "java" else 0.0
    prepared = PREPARED_S * sum(step.calls for step in experiment.prepare)
    if trial.cell.external is not None:
        prepared = WARMED_S * trial.cell.external.warm_calls
    return length + warmup + OVERHEAD_S + link + start + prepared


def calls_max(experiment: Experiment, trial: PlannedTrial) -> float | None:
    """Maximum number of calls of the trial, warm-up included; None if only time ends it."""
    load = trial.cell.load.point()
    window = experiment.window_of(trial.cell.message, trial.cell.load)
    warming = experiment.warmup_of(trial.cell.load, trial.cell.stack.axes)
    rate = load.rate_max()
    if rate is not None:
        return float(rate) * (_longest_s(window) + warming.max)
    if load.iterations and load.users:
        return float(load.iterations * load.users)
    if window.calls and warming.max == 0.0:
        return float(window.calls.calls)
    return None


def _longest_s(window: Window) -> float:
    return window.calls.max_s if window.calls else window.duration_s or 0.0


def _combinations(experiment: Experiment) -> Iterator[Combination]:
    """Raises :class:`ExperimentError` for more than :data:`TRIALS_MAX` trials, before any of them
    is made."""
    _accept_size(experiment)
    return _matrix(experiment) if experiment.only is None else _only(experiment, experiment.only)


def _accept_size(experiment: Experiment) -> None:
    if experiment.only is None:
        sizes = {
            "services": len(experiment.services),
            **{f"axis {name}": len(values) for name, values in experiment.axes.items()},
            "messages": len(experiment.called),
            "loads": len(experiment.loads),
            "placements": len(experiment.placement),
            "links": len(experiment.links),
            "captures": len(experiment.capture),
            "repeats": experiment.repeats,
        }
    else:
        sizes = {"points of only": len(experiment.only), "repeats": experiment.repeats}
    trials = prod(sizes.values())
    if trials > TRIALS_MAX:
        factors = " × ".join(f"{count:,} ({name})" for name, count in sizes.items() if count > 1)
        size = f"its matrix has {trials:,} trials, at most {TRIALS_MAX:,} are possible: {factors}"
        remedy = "shorten one of these lists, or divide the experiment into several files"
        raise ExperimentError([f"experiment {experiment.name}: {size}", remedy])


def _only(experiment: Experiment, places: Iterable[MatrixPoint]) -> Iterator[Combination]:
    services = {named(service): place for place, service in enumerate(experiment.services)}
    faults = experiment.faults.given()
    for place in places:
        on = {name: value for name, value in faults.items() if name not in place.faults_off}
        yield Combination(
            *(services[place.stack], place.axes, place.message, place.load),
            *(place.placement, place.link, place.capture, on),
        )


def _matrix(experiment: Experiment) -> Iterator[Combination]:
    faults = [experiment.faults.given()]
    every = starmap(
        Combination,
        product(
            range(len(experiment.services)),
            _changes(experiment.axes),
            *(range(len(listed)) for listed in (experiment.called, experiment.loads)),
            *(range(len(listed)) for listed in (experiment.placement, experiment.links)),
            range(len(experiment.capture)),
            faults,
        ),
    )
    return (one for one in every if _belong_together(experiment, one))


def _belong_together(experiment: Experiment, at: Combination) -> bool:
    """Messages of contracts are only for wirelab's services. Other messages are only for
    user-defined services of their protocol."""
    message, service = experiment.called[at.message], experiment.services[at.service]
    if isinstance(message, ExternalMessage) and isinstance(service, ExternalService):
        return message.is_for(service)
    return isinstance(message, ExternalMessage) == isinstance(service, ExternalService)


def _changes(axes: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _cell(experiment: Experiment, catalogue: Catalogue, at: Combination) -> Cell:
    message, load = experiment.called[at.message], experiment.loads[at.load]
    link, capture = experiment.links[at.link], experiment.capture[at.capture]
    choice = experiment.placement[at.placement]
    stack, external = _served(experiment, catalogue, at)
    with _reported_at("messages", at.message):
        _accept_message(stack, message)
    with _reported_at("loads", at.load):
        _accept_caller(stack, message, load, experiment.window_of(message, load))
        for group in load.background:
            _accept_background(stack, message, group)
    with _reported_at("links", at.link):
        _accept_link(stack, external, profiles.name(link))
    with _reported_at("capture", at.capture):
        _accept_capture(stack, capture, load)
    fitness = slices.judge_fitness(
        stack.axes,
        message.bytes,
        load,
        experiment.window_of(message, load),
        Place(profiles.name(link), capture),
    )
    if experiment.design == "slices" and fitness.refusal:
        with _reported_at("design"):
            raise StackError(f"{stack}: {fitness.refusal}", SLICES_REMEDY)
    records_host = experiment.host and capture != NO_CAPTURE
    if records_host:
        with _reported_at("host"):
            _accept_host(stack, external)
    with _reported_at("faults"):
        _accept_faults(stack, catalogue, message.contract, at.faults)
    if experiment.codec_times:
        with _reported_at("codec_times"):
            _accept_codec_times(stack, catalogue, message)
    point = Point(
        stack=stack.reference,
        axes=stack.axes,
        operation=message.name,
        bytes=message.bytes,
        load=load.point(),
        link=profiles.name(link),
        contract=message.contract,
        options={
            **_options(message, choice, at.faults),
            **_capture_option(experiment, capture),
            **({"host": "recorded"} if records_host else {}),
        },
        service=external.point() if external else {},
    )
    return Cell(point, stack, message, load, choice, link, capture, external, records_host, fitness)


def _served(
    experiment: Experiment, catalogue: Catalogue, at: Combination
) -> tuple[Stack, ExternalService | None]:
    """The stack of a combination, and the declaration if the service is user-defined."""
    contract = experiment.called[at.message].contract
    served = experiment.services[at.service]
    service = ("services", at.service)
    if isinstance(served, ExternalService):
        with _reported_at(*service):
            _accept_external(served, experiment.called[at.message])
        with _reported_at("axes"):
            return served.stack.with_axes(at.changes), served
    with _reported_at(*service):
        plain = Stack.parse(served)
    with _reported_at("axes"):
        stack = plain.with_axes(at.changes)
    with _reported_at(*("axes",) if at.changes and catalogue.has(plain, contract) else service):
        catalogue.manifest(stack, contract)
    return stack, None


def _accept_external(service: ExternalService, message: Message | ExternalMessage) -> None:
    if service.problem:
        raise StackError(service.problem, "correct the declaration of the service")
    if isinstance(message, ExternalMessage) and (problem := service.problem_with(message)):
        raise StackError(problem, "correct the declaration of the service")
    own = isinstance(message, ExternalMessage) and all(
        request.has_body or request.grpc is not None for request in message.requests
    )
    if not own and not service.has_request:
        raise StackError(
            f"service {service.name} declares no request",
            "add grpc: {method: …, proto: …, json: …}, or messages with json",
        )


@contextmanager
def _reported_at(*key: str | int) -> Iterator[None]:
    """Reports errors within the block at that key of the experiment."""
    try:
        yield
    except StackError as error:
        raise Impossible(error, key) from None


def _accept_message(stack: Stack, message: Message | ExternalMessage) -> None:
    refusals = (operations.refusal(name, stack.axes) for name in message.called)
    refusal = next(filter(None, refusals), "")
    if refusal:
        raise StackError(f"{stack}: {refusal}", "remove the message or the stack")
    if message.data_problem:
        raise StackError(message.data_problem, "give a readable file")


def _accept_caller(
    stack: Stack, message: Message | ExternalMessage, load: Load, window: Window
) -> None:
    refusal = legality.caller_refusal(message.name, load.point(), stack.axes)
    refusal = refusal or legality.window_refusal(window, stack.axes)
    if refusal:
        near = stack.with_axes({"caller": "engine"})
        raise StackError(f"{stack}: {refusal}", f"the nearest legal stack is {near}")


def _accept_background(stack: Stack, probe: Message | ExternalMessage, group: Background) -> None:
    """Checks that the service of the probe can also serve a background group."""
    message = group.message
    if message.contract != probe.contract:
        raise StackError(
            f"{stack}: group {group.name} calls {message.name} of contract {message.contract}, but "
            f"the probe calls {probe.name} of {probe.contract}, and a service has one contract",
            f"choose an operation of {probe.contract}",
        )
    sizes = sorted(message.hello_sizes), sorted(probe.hello_sizes)
    if all(sizes) and sizes[0] != sizes[1]:
        raise StackError(
            f"{stack}: group {group.name} calls Hello with {format_bytes(sizes[0][0])}, but the "
            f"probe with {format_bytes(sizes[1][0])}, and a service has one text of Hello",
            "use one size, or another operation, such as Submit or Download",
        )
    _accept_message(stack, message)


def _accept_link(stack: Stack, external: ExternalService | None, link: str) -> None:
    if link != LOOPBACK and external is not None and external.url is not None:
        raise StackError(
            f"{stack}: a running service cannot be moved to an end of link {link}",
            "use `command` to start the service there, or remove the link",
        )
    rule = legality.link_rule(link, stack.axes)
    if rule is not None:
        near = stack.near(rule.repair)
        raise StackError(f"{stack}: {rule.reason}", f"the nearest legal stack is {near}")


def _accept_capture(stack: Stack, capture: str, load: Load) -> None:
    if capture != NO_CAPTURE and load.background:
        raise StackError(
            f"{stack}: the packets of probe and background groups cannot be distinguished",
            "set `capture: none`, or remove the background groups",
        )
    if capture != NO_CAPTURE and stack.axes.socket == "unix":
        raise StackError(f"{stack}: a Unix socket has no packets", "set `capture: none`")


def _accept_host(stack: Stack, external: ExternalService | None) -> None:
    if external is not None and external.command is None and not external.pid:
        raise StackError(
            f"{stack}: the process of this service is not known, so it cannot be recorded",
            "declare its pid, or remove host",
        )


def _accept_faults(
    stack: Stack, catalogue: Catalogue, contract: str, faults: Collection[str]
) -> None:
    if not faults:
        return
    if isinstance(stack, ExternalStack):
        raise StackError(f"{stack}: faults are switches of wirelab's services", "remove them")
    unknown = catalogue.manifest(stack, contract).unknown_faults(faults)
    if unknown:
        raise StackError(f"{stack}: the service has no fault {unknown[0]!r}", "use a rust service")


def _accept_codec_times(
    stack: Stack, catalogue: Catalogue, message: Message | ExternalMessage
) -> None:
    if isinstance(stack, ExternalStack) or isinstance(message, ExternalMessage):
        raise StackError(
            f"{stack}: only wirelab's services can time their codec",
            "remove codec_times",
        )
    if message.operation is None:
        raise StackError(
            f"{stack}: codec_times needs a single operation, and {message.name} is not one",
            "remove codec_times, or use an operation",
        )
    if message.contract == "petclinic" and message.operation.startswith(("Update", "Delete")):
        raise StackError(
            f"{stack}: the reply of {message.operation} has no body, so no codec can be timed",
            "remove codec_times, or use an operation whose reply has a body",
        )
    if not catalogue.manifest(stack, message.contract).times_codec(stack, message.contract):
        raise StackError(
            f"{stack}: the service cannot time the codec of {message.contract}",
            "use binding rest with a codec other than text, or remove codec_times",
        )


def _capture_option(experiment: Experiment, capture: str) -> dict[str, object]:
    """The capture option, if the experiment captures at all."""
    return {} if experiment.capture == (NO_CAPTURE,) else {"capture": capture}


def _options(
    message: Message | ExternalMessage, choice: PlacementChoice, faults: dict[str, object]
) -> dict[str, object]:
    """Properties of the point that are not axes."""
    options: dict[str, object] = {"placement": placement.name(choice)}
    if message.chunk is not None:
        options["chunk_bytes"] = message.chunk
    if described := message.point():
        options["message"] = described
    if faults:
        options["faults"] = faults
    return options


def _accept(experiment: Experiment, found: Collection[Cell], skipped: tuple[str, ...]) -> None:
    if skipped and not experiment.skip_illegal:
        raise ExperimentError([*skipped, f"experiment {experiment.name}: {REMEDY}"])
    if not found:
        nothing = f"experiment {experiment.name}: no combination is left to measure"
        raise ExperimentError([*skipped, nothing])


def _ordered(experiment: Experiment, cells: Mapping[str, Cell]) -> Iterator[PlannedTrial]:
    """Trials of cells, which are given by the digests of their points."""
    order = 0
    groups = list(_groups(experiment, cells).items())
    for repeat in range(1, experiment.repeats + 1):
        block = list(groups)
        random.Random(f"{experiment.seed}/order/{repeat}").shuffle(block)
        for digest, group in block:
            # Services of one setting get the same arrivals, so that these differ in no comparison.
            source = f"{experiment.seed}/{_setting(group[0].point)}/{repeat}"
            seed = random.Random(source).getrandbits(63)
            yield PlannedTrial(_id(group[0], repeat, digest), group, repeat, order, seed)
            order += 1


def _groups(experiment: Experiment, cells: Mapping[str, Cell]) -> dict[str, tuple[Cell, ...]]:
    """The cells that share a trial, by the digest of the first one's point."""
    if experiment.design == "trials":
        return {digest: (cell,) for digest, cell in cells.items()}
    found: dict[str, list[tuple[str, Cell]]] = {}
    for digest, cell in cells.items():
        found.setdefault(_setting(cell.point), []).append((digest, cell))
    groups: dict[str, tuple[Cell, ...]] = {}
    refused = []
    for group in found.values():
        every = tuple(cell for _, cell in group)
        if refusal := _refuse_sharing(every, experiment):
            refused.append(refusal)
            groups |= {digest: (cell,) for digest, cell in group}
        else:
            groups[group[0][0]] = every
    if experiment.design == "slices" and refused:
        raise ExperimentError(refused)
    return groups


def _refuse_sharing(group: Sequence[Cell], experiment: Experiment) -> str:
    """Why the cells of a setting cannot share a trial; empty if they can."""
    first = group[0].point.stack
    if len(group) == 1:
        return (
            f"design: slices needs two services for each setting, and {first} has none to share a "
            "trial with"
        )
    if experiment.design == "auto" and len(group) > slices.SHARING_MAX:
        return f"{len(group)} services are too many to share a trial"
    pause_s = experiment.slice * (len(group) - 1)
    refusals = (
        f"{cell.point.stack}: {refusal}; {SLICES_REMEDY}"
        for cell in group
        if (refusal := cell.fitness.refusal_for(pause_s))
    )
    return next(refusals, "")


def _setting(point: Point) -> str:
    """Everything of a point but its service."""
    shared = {**point.to_json(), "stack": "", "axes": {}, "service": {}}
    return json.dumps(shared, sort_keys=True)


def _digest(point: Point) -> str:
    return hashlib.sha256(json.dumps(point.to_json(), sort_keys=True).encode()).hexdigest()


def _id(cell: Cell, repeat: int, digest: str) -> str:
    """``rest-rust-hello-14b-closed32-r1-3fa9c1d2``: readable, unique, valid as a file name."""
    point, load = cell.point, cell.point.load
    size = format_bytes(point.bytes).replace(" ", "")
    link = () if point.link == LOOPBACK else (point.link,)
    names: tuple[str, ...] = (point.axes.binding, point.axes.language)
    if cell.external is not None:
        names = (re.sub(r"[^a-z0-9.]+", "-", cell.external.name.lower())[:40],)
    words = (
        *names,
        operations.words(point.operation, size).replace(" ", "-"),
        *link,
        f"{load.kind}{load.level():g}",
        f"r{repeat}",
        digest[:8],
    )
    return re.sub(r"[^a-z0-9.-]+", "", "-".join(map(str, words)).lower())
