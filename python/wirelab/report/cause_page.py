"""The page of an explanation: picture and sentences first, then the run that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import msgspec

from wirelab.explain import conditions, figures
from wirelab.explain.answers import ServiceAnswer, StackAnswer
from wirelab.explain.findings_text import capitalize_words, factor
from wirelab.explain.phases import PhaseGap
from wirelab.explain.two_orders import Orders
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, format_range, format_signed, percent, quantity
from wirelab.records.trial import Trial
from wirelab.report.charts.waterfall import WaterfallStep, waterfall
from wirelab.report.page import render, save, write_page
from wirelab.report.section import Picture, Section, Table
from wirelab.report.sections import explanations
from wirelab.report.sections.time_split import NAMES
from wirelab.report.source import Source
from wirelab.run.finished import Run
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.interval import Interval
from wirelab.statistics.shared_trials import total

TITLE = "Cause of the difference"


def write(answer: StackAnswer | ServiceAnswer, folder: Path) -> Path:
    """``report.html`` of the explanation, and that of every run. Raises :class:`StorageError`."""
    for run in answer.runs.values():
        write_page(run.folder)
    source = Source.read(next(iter(answer.runs.values())).folder)
    a, b = answer.names
    experiment = {**source.manifest.experiment, "about": f"Why do {a} and {b} differ?"}
    titled = replace(
        source, manifest=msgspec.structs.replace(source.manifest, experiment=experiment)
    )
    return save(folder, render(titled, first=sections(answer)))


def sections(answer: StackAnswer | ServiceAnswer) -> tuple[Section, ...]:
    """What the page adds to that of a run."""
    own = _of_stacks(answer) if isinstance(answer, StackAnswer) else _of_services(answer)
    return (*own, *_phases(answer), *_packets(answer.runs.get("packets")))


def sentences(answer: StackAnswer | ServiceAnswer) -> tuple[str, ...]:
    """What was found, the difference first."""
    if isinstance(answer, StackAnswer):
        return (*answer.explanation.sentences, *_orders(answer), *_climbable(answer))
    return _service_sentences(answer)


def waterfall_of(answer: StackAnswer | ServiceAnswer) -> Picture | None:
    """From the time of a call of the first to that of the second; None where a stop of the path
    has no time, or where the parts of a call are not known."""
    steps = steps_of(answer)
    if not steps:
        return None
    start, end = totals(answer)
    title = "Time of a call, from the first to the second"
    return waterfall(start, steps, end, "ns", title, _CAPTION)


def steps_of(answer: StackAnswer | ServiceAnswer) -> list[WaterfallStep]:
    """Of the path, or of the parts of a call."""
    if isinstance(answer, StackAnswer):
        return _path_steps(answer)
    return _phase_steps(answer.phases)


_CAPTION = (
    "Means of trials; for services of your own, of trials with a capture. Orange adds time, green "
    "removes time, and grey shows no proven change. The black line is the 95 % interval of the "
    "change."
)


def totals(answer: StackAnswer | ServiceAnswer) -> tuple[tuple[str, float], tuple[str, float]]:
    """Name and mean time of a call of both, ns: of the captured trials where the parts of their
    calls are what is drawn."""
    a, b = answer.names
    if isinstance(answer, ServiceAnswer):
        if answer.phases:
            return (
                (a, sum(phase.a for phase in answer.phases)),
                (b, sum(phase.b for phase in answer.phases)),
            )
        return (a, answer.gap.a), (b, answer.gap.b)
    first, second = (_mean(answer, name) for name in (a, b))
    return (a, first), (b, second)


def _mean(answer: StackAnswer, name: str) -> float:
    """Of that stack's trials, ns; 0 where none has the time."""
    cell = answer.cells.get(name)
    values = cell.values(figures.require_figure(answer.figure)) if cell else []
    return mean(values) if values else 0.0


def _path_steps(answer: StackAnswer) -> list[WaterfallStep]:
    made = []
    for step, climbed in zip(answer.steps, answer.explanation.climbed, strict=True):
        if climbed.effect is None:
            return []
        before, after = (answer.cells[one.reference] for one in (step.before, step.after))
        change = total([(1.0, after), (-1.0, before)], figures.require_figure(answer.figure))
        made.append(WaterfallStep(step.label, change, climbed.effect.found))
    return made


def _phase_steps(phases: Sequence[PhaseGap]) -> list[WaterfallStep]:
    return [WaterfallStep(NAMES.get(one.phase, one.phase), one.gap, one.shown) for one in phases]


def _of_stacks(answer: StackAnswer) -> list[Section]:
    picture = waterfall_of(answer)
    return [
        Section(
            TITLE,
            points=sentences(answer),
            figures=[picture] if picture else (),
        ),
        explanations.section(answer.explanation),
    ]


def _orders(answer: StackAnswer) -> list[str]:
    """Every step from both ends, and the whole measured apart from its steps."""
    made = [text for one in answer.orders for text in _from_both_ends(one)]
    if answer.rest is not None:
        made.append(_rest_words(answer.rest))
    return made


def _from_both_ends(orders: Orders) -> Iterator[str]:
    for reason in orders.refused:
        yield f"{capitalize_words(orders.step.label)} cannot be measured {reason}."
    if orders.first is None or orders.last is None or orders.interaction is None:
        return
    words = f"{capitalize_words(orders.step.label)} from both ends: {_parts(orders)}"
    ratios = f"{factor(orders.first.ratio)} changed first, {factor(orders.last.ratio)} changed last"
    yield f"{words} ({ratios}); {_interaction(orders.interaction)}."


def _parts(orders: Orders) -> str:
    """``0.35 ms to 0.71 ms, 30 % to 61 % of the difference``; one value where both ends agree."""
    times = orders.times
    if times is None:
        return "not in time"
    low, high = sorted((times.first.estimate, times.last.estimate))
    least, most = times.shares
    found = orders.whole is not None and orders.whole.found
    if orders.interaction is not None and orders.interaction.found:
        share = f", {percent(least)} to {percent(most)} of the difference" if found else ""
        return f"{format_signed(low, 'ns', plus='')} to {format_signed(high, 'ns', plus='')}{share}"
    share = f", {percent((least + most) / 2.0)} of the difference" if found else ""
    return f"{format_signed((low + high) / 2.0, 'ns', plus='')}{share}"


def _interaction(found: Comparison) -> str:
    words = f"the ratio of both is {factor(found.ratio)}"
    if found.found:
        return f"{words}, an interaction: the effect depends on the other changes"
    if found.verdict == "equivalent":
        return f"{words}, within the threshold"
    return f"{words}, which is undecided"


def _rest_words(rest: Comparison) -> str:
    whole = (
        f"the whole, measured again in a separate run, is {format_range(rest.ratio)} times the "
        "product "
        "of the steps."
    )
    if rest.found:
        return f"The steps leave a part of the difference unexplained: {whole}"
    return f"No unexplained part is shown: {whole}"


def _climbable(answer: StackAnswer) -> list[str]:
    """Axes that have no step of their own."""
    made = []
    for step in answer.steps:
        for name, reason in step.forbidden.items():
            made.append(f"{name} cannot be changed alone here: {reason}.")
    return made


def _service_sentences(answer: ServiceAnswer) -> tuple[str, ...]:
    a, b = answer.names
    gap = answer.gap
    title = figures.require_figure(answer.figure).title
    lead = (
        f"{capitalize_words(title)}: {a} {quantity(gap.a, 'ns')}, {b} "
        f"{quantity(gap.b, 'ns')}, {digits(gap.b / gap.a)} times as long; the difference is "
        f"{_amount(gap.interval)}."
    )
    if not gap.is_found:
        lead += " No difference is shown: the interval includes 0."
    failed = [
        f"A trial without changes failed: {reason}." for reason in dict.fromkeys(answer.failures)
    ]
    made = [*failed, lead, *_connections(answer)]
    made += [conditions.sentence(shift, gap) for shift in answer.shifts]
    made += _overlap(answer)
    made += _conclusion(answer)
    made += _themselves(answer)
    made += [f"Not changed here: {reason}." for reason in answer.refused]
    return tuple(made)


def _overlap(answer: ServiceAnswer) -> list[str]:
    """Conditions are measured one at a time, so two of them may remove the same part."""
    whole = conditions.sum_shares(answer.shifts, answer.gap)
    if whole <= 1.0:
        return []
    return [
        (
            f"These parts are not added: together they would be {percent(whole)} of the "
            "difference, so they overlap (an interaction)."
        )
    ]


def _connections(answer: ServiceAnswer) -> list[str]:
    """A count, not an estimate: whether a service keeps the connections of its callers."""
    opened = answer.connections
    if opened[0] is None or opened[1] is None:
        return []
    closing = [
        name
        for name, each in zip(answer.names, opened, strict=True)
        if each is not None and each > CLOSING
    ]
    if len(closing) != 1:
        return []
    (other,) = set(answer.names) - set(closing)
    return [
        (
            f"{closing[0]} closes its connections: callers opened one for almost every call; "
            f"{other} keeps them."
        )
    ]


CLOSING = 0.5
"""Connections opened per call from which on a service closes them, though callers would not."""


def _conclusion(answer: ServiceAnswer) -> list[str]:
    if any(shift.outcome == "cause" for shift in answer.shifts) or not answer.gap.is_found:
        return []
    open_ones = sum(shift.outcome == "undecided" for shift in answer.shifts)
    if open_ones:
        return [
            (
                f"{format_count(open_ones, 'condition')} of {len(answer.shifts)} stay "
                "undecided: more "
                "--repeats or a quieter machine would narrow their intervals."
            )
        ]
    return [
        (
            "Nothing that can be changed from outside was found to be a cause; the services "
            "themselves remain."
        )
    ]


def _themselves(answer: ServiceAnswer) -> list[str]:
    """What is known of the insides: CPU and, by the packets, the time at the server."""
    made = []
    cpu = answer.cpu["service_cpu"]
    a, b = answer.names
    if cpu[0] is not None and cpu[1] is not None:
        first, second = 1e9 * cpu[0], 1e9 * cpu[1]
        words = f"CPU of the service per call: {a} {quantity(first, 'ns')}, {b} "
        words += f"{quantity(second, 'ns')}"
        if answer.gap.is_found:
            words += f", {quantity(abs(second - first), 'ns')} apart"
        made.append(f"{words}.")
    else:
        made.append(
            "CPU per call is known only for services that the lab starts or that name a pid."
        )
    if answer.phases:
        largest = max(answer.phases, key=lambda one: abs(one.gap.estimate))
        if largest.shown:
            made.append(
                f"The packets show the largest part of the difference at "
                f"{NAMES.get(largest.phase, largest.phase)}: {conditions.time(largest.gap)}."
            )
    else:
        made.append(f"The part of a call that differs is not known: {answer.no_packets}.")
    return [*made, *_waits(answer)]


def _waits(answer: ServiceAnswer) -> list[str]:
    """What the packets of each service show, by its first captured trial."""
    run = answer.runs.get("packets")
    trials = [t for t in (run.trials if run else ()) if t.wire is not None]
    made = []
    for name in answer.names:
        trial = next((t for t in trials if t.point.stack == name), None)
        wire, call_ns = (trial.wire, trial.time_ns("service", "mean")) if trial else (None, None)
        if wire is None or not wire.exchanges or not call_ns:
            continue
        shares = {one.cause: 1e6 * one.ms_total / wire.exchanges / call_ns for one in wire.findings}
        found = [
            cause if share < conditions.SHARE_MIN else f"{cause} ({percent(share)} of a call)"
            for cause, share in shares.items()
        ]
        if found:
            made.append(f"Found in the packets of {name}: {', '.join(found)}.")
    return made


def _of_services(answer: ServiceAnswer) -> list[Section]:
    picture = waterfall_of(answer)
    rows = [
        (
            shift.condition.label,
            _amount(shift.gap),
            _amount(shift.removed),
            "\n".join(filter(None, (shift.outcome, shift.reason))),
        )
        for shift in answer.shifts
    ]
    table = Table(
        ("Condition", "Difference", "Reduction", "Verdict"),
        [("unchanged", _amount(answer.gap.interval), NONE, NONE), *rows],
        f"Second minus first, {figures.require_figure(answer.figure).title}, with 95 % "
        "intervals; the "
        "conditions are judged together (Holm).",
    )
    return [
        Section(
            TITLE,
            points=sentences(answer),
            tables=[table],
            figures=[picture] if picture else (),
        )
    ]


def _amount(interval: Interval | None) -> str:
    return NONE if interval is None else conditions.time(interval)


def _phases(answer: StackAnswer | ServiceAnswer) -> list[Section]:
    if not answer.phases:
        return []
    a, b = answer.names
    table = Table(
        ("Part of a call", a, b, "Difference"),
        [
            (
                NAMES.get(one.phase, one.phase),
                quantity(one.a, "ns"),
                quantity(one.b, "ns"),
                conditions.time(one.gap),
            )
            for one in answer.phases
        ],
        "Means of captured trials; capturing adds time to calls.",
    )
    return [Section("Difference by part of a call", tables=[table])]


def _packets(run: Run | None) -> list[Section]:
    """What each stop of the path sends per call."""
    if run is None:
        return []
    first: dict[str, Trial] = {}
    for trial in run.trials:
        if trial.wire is not None:
            first.setdefault(trial.point.stack, trial)
    rows = [(name, *_wire(trial)) for name, trial in first.items()]
    if not rows:
        return []
    table = Table(
        ("Stack", "Packets per call", "Bytes per call", "Waits found in the packets"),
        rows,
        "One captured trial of each stack; bytes include IP and TCP headers.",
        numeric=(1, 2),
    )
    return [Section("Packets of every step", tables=[table])]


def _wire(trial: Trial) -> tuple[str, str, str]:
    wire = trial.wire
    assert wire is not None  # asked for of such trials alone
    packets, size = (wire.per_exchange.get(name) for name in ("packets", "ip_bytes"))
    return (
        NONE if packets is None else digits(packets),
        NONE if size is None else quantity(size, "B"),
        ", ".join(dict.fromkeys(one.cause for one in wire.findings)) or "none",
    )
