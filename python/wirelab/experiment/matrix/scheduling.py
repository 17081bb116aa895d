"""The trials of an experiment, from its matrix, in a random, interleaved order.

Blocks: every repeat is one complete random permutation of all points, so that drift affects
all points equally (randomised complete block design; Montgomery, *Design and Analysis of
Experiments*, chapter 4). Order and ids depend only on the experiment and its seed.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product, starmap
from math import prod
from typing import NamedTuple

from wirelab.documents.plan import Window
from wirelab.errors import ExperimentError, StackError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment import placement
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.experiment.link_profiles import LOOPBACK
from wirelab.experiment.matrix.acceptance import (
    Impossible,
    accept_background,
    accept_caller,
    accept_capture,
    accept_clients,
    accept_codec_times,
    accept_external,
    accept_faults,
    accept_host,
    accept_link,
    accept_message,
    report_at,
)
from wirelab.experiment.matrix.cells import Cell, PlannedTrial, Schedule
from wirelab.experiment.matrix.fitness import Place, judge_fitness
from wirelab.experiment.matrix.sharing import SLICES_REMEDY, setting, share_trials
from wirelab.experiment.messages import Message
from wirelab.experiment.model import (
    NO_CAPTURE,
    Experiment,
    MatrixPoint,
    PlacementChoice,
    service_name,
)
from wirelab.format.units import format_bytes
from wirelab.records.trial import Point
from wirelab.stack import operations
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


def schedule(experiment: Experiment, catalogue: Catalogue) -> Schedule:
    """The experiment's trials. Raises :class:`ExperimentError` for an impossible combination,
    unless the experiment sets ``skip_illegal``."""
    refused: dict[str, Impossible] = {}
    found: dict[str, Cell] = {}
    for cell in _cells(experiment, catalogue, refused):
        found.setdefault(_digest(cell.point), cell)
    skipped = tuple(refused)
    _accept(experiment, found.values(), skipped)
    sharing = share_trials(experiment, found)
    trials = tuple(_order_trials(experiment, sharing.groups))
    return Schedule(trials, skipped, cells=tuple(found.values()), apart=sharing.apart)


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
    services = {service_name(service): place for place, service in enumerate(experiment.services)}
    faults = experiment.faults.list_given()
    for place in places:
        on = {name: value for name, value in faults.items() if name not in place.faults_off}
        yield Combination(
            *(services[place.stack], place.axes, place.message, place.load),
            *(place.placement, place.link, place.capture, on),
        )


def _matrix(experiment: Experiment) -> Iterator[Combination]:
    faults = [experiment.faults.list_given()]
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
    stack, external = _find_service(experiment, catalogue, at)
    with report_at("messages", at.message):
        accept_message(stack, message)
    with report_at("loads", at.load):
        accept_caller(stack, message, load, experiment.window_of(message, load))
        for group in load.background:
            accept_background(stack, message, group)
    with report_at("links", at.link):
        accept_link(stack, external, profiles.name(link))
    with report_at("capture", at.capture):
        accept_capture(stack, capture, load)
    window = experiment.window_of(message, load)
    place = Place(profiles.name(link), capture, experiment.codec_times, experiment.clients)
    with report_at("clients"):
        accept_clients(stack, experiment.clients, load, window, place)
    fitness = judge_fitness(stack.axes, message.bytes, load, window, place)
    if experiment.design == "slices" and fitness.refusal:
        with report_at("design"):
            raise StackError(f"{stack}: {fitness.refusal}", SLICES_REMEDY)
    records_host = experiment.host and capture != NO_CAPTURE
    if records_host:
        with report_at("host"):
            accept_host(stack, external)
    with report_at("faults"):
        accept_faults(stack, catalogue, message.contract, at.faults)
    if experiment.codec_times:
        with report_at("codec_times"):
            accept_codec_times(stack, catalogue, message)
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
            **({"clients": experiment.clients} if experiment.clients > 1 else {}),
        },
        service=external.point() if external else {},
    )
    return Cell(point, stack, message, load, choice, link, capture, external, records_host, fitness)


def _find_service(
    experiment: Experiment, catalogue: Catalogue, at: Combination
) -> tuple[Stack, ExternalService | None]:
    """The stack of a combination, and the declaration if the service is user-defined."""
    contract = experiment.called[at.message].contract
    served = experiment.services[at.service]
    service = ("services", at.service)
    if isinstance(served, ExternalService):
        with report_at(*service):
            accept_external(served, experiment.called[at.message])
        with report_at("axes"):
            return served.stack.with_axes(at.changes), served
    with report_at(*service):
        plain = Stack.parse(served)
    with report_at("axes"):
        stack = plain.with_axes(at.changes)
    with report_at(*("axes",) if at.changes and catalogue.has(plain, contract) else service):
        catalogue.manifest(stack, contract)
    return stack, None


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


def _order_trials(
    experiment: Experiment, groups: Mapping[str, tuple[Cell, ...]]
) -> Iterator[PlannedTrial]:
    """Trials of cells that share them; each group by the digest of its first point."""
    order = 0
    for repeat in range(1, experiment.repeats + 1):
        block = list(groups.items())
        random.Random(f"{experiment.seed}/order/{repeat}").shuffle(block)
        for digest, group in block:
            # Services of one setting get the same arrivals, so that these differ in no comparison.
            source = f"{experiment.seed}/{setting(group[0].point)}/{repeat}"
            seed = random.Random(source).getrandbits(63)
            yield PlannedTrial(_id(group[0], repeat, digest), group, repeat, order, seed)
            order += 1


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
