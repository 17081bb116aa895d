"""The page of an answer: the recommendation first, then the table, the ladder and the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import msgspec

from wirelab.choose.answer import Row, format_estimate, sentences
from wirelab.choose.changeover import Map
from wirelab.choose.choosing import Answer
from wirelab.choose.ladder import Rung, rungs, words
from wirelab.choose.limits import Limits
from wirelab.contracts.codecs import measure_sizes
from wirelab.format.numbers import digits
from wirelab.report.page import render, save, write_page
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
)
from wirelab.statistics.interval import Interval

CLOSED = "highest rate is that of a closed load; it is not the limit of an objective"
DYNAMIC = (
    "This is dynamic code, not what you would deploy: without a compiler the services walk "
    "descriptors in place of generated types, which takes more CPU, and more in some codecs than "
    "in others. Avro, XML and SOAP are left out."
)
LIMIT_CAPTION = (
    "Calls arrive at random (Poisson), whether or not replies come. >, <: outside the range of "
    "tested rates; ≥: the engine was the limit."
)


def write(answer: Answer, facts: Sequence[Section] = ()) -> Path:
    """``report.html`` in the answer's folder, and that of each run. Raises
    :class:`StorageError`."""
    for run in answer.runs:
        write_page(run.folder)
    source = Source.read(answer.runs[0].folder)
    name = answer.question.sample.contract.request
    titled_experiment = {"name": f"choose {name}", "about": f"Which stack to take for {name}?"}
    experiment = {**source.manifest.experiment, **titled_experiment}
    titled = replace(
        source, manifest=msgspec.structs.replace(source.manifest, experiment=experiment)
    )
    return save(answer.folder, render(titled, first=[*sections(answer), *facts]))


def sections(answer: Answer) -> tuple[Section, ...]:
    """What the page has before that of the run."""
    recommendation, *others = sentences(answer.choice)
    return (
        Section(
            "Which stack to take",
            lead=recommendation,
            points=[*others, *remarks(answer)],
            tables=[table(answer), sizes(answer)],
        ),
        *_ladder(answer),
        *_list_omissions(answer),
    )


def remarks(answer: Answer) -> tuple[str, ...]:
    """What the reader has to know of the answer, besides its sentences."""
    return (*([DYNAMIC] if answer.is_dynamic else []), *words(answer))


def map_sections(maps: Sequence[Map]) -> Iterator[Section]:
    """Where the answer changes."""
    if maps:
        tables = [
            Table([one.axis.lower(), "take"], [[stop.label, stop.words] for stop in one.stops])
            for one in maps
        ]
        points = [one.sentence for one in maps]
        yield Section("Where the answer changes", points=points, tables=tables)


def limit_sections(limits: Limits | None) -> Iterator[Section]:
    """The limit of each stack."""
    if limits is not None:
        rows = [[one.candidate.reference, one.words] for one in limits.stacks]
        table = Table(["stack", "calls per second (95 % interval)"], rows, LIMIT_CAPTION)
        title = f"Highest rate at which {limits.objective.text} holds"
        yield Section(title, tables=[table])


def _ladder(answer: Answer) -> Iterator[Section]:
    found = rungs(answer)
    if found:
        rows = [[one.label, one.words] for one in found]
        yield Section(
            "From today's stack to the recommended one",
            ["Each step changes one thing; its effect is that of the measured stacks on its ends."],
            [Table(["step", f"effect on {answer.choice.figure.title}"], rows)],
        )


def _list_omissions(answer: Answer) -> Iterator[Section]:
    if answer.left_out:
        rows = [[name, why] for name, why in answer.left_out.items()]
        yield Section("Not measured further", tables=[Table(["stack", "why"], rows)], folded=True)


def table(answer: Answer) -> Table:
    """By stack, the recommended one first."""
    return _table(answer, _columns(answer))


SHORT = {"highest rate": "max rate", "service CPU": "CPU", "cost per million calls": "cost"}
"""Heads for a terminal; the client's CPU is on the page alone."""


def short_table(answer: Answer) -> Table:
    """What fits into 80 columns."""
    failed = any(row.failed for row in answer.choice.rows)
    columns = {
        SHORT.get(head, head): text
        for head, text in _columns(answer).items()
        if head != "client CPU" and (head != "wrong" or failed)
    }
    return _table(answer, columns)


def _table(answer: Answer, columns: Mapping[str, Callable[[Row], str]]) -> Table:
    rows = [
        [row.candidate.reference, *(text(row) for text in columns.values())]
        for row in _rows(answer)
    ]
    caption = f"p50, p99, CPU and bytes per call {_describe_load(answer)}; {CLOSED}."
    if answer.is_dynamic:
        caption = f"Dynamic code. {caption}"
    if any(row.is_bound for row in answer.choice.rows):
        caption = f"{caption} ≥: the client was the limit."
    if answer.question.prices.is_known:
        caption = f"{caption} Cost is that of a million calls."
    return Table(["stack", *columns], rows, caption, numeric=range(1, len(columns) + 1))


def _rows(answer: Answer) -> list[Row]:
    first = {one: at for at, one in enumerate(answer.choice.first)}
    return sorted(answer.choice.rows, key=lambda row: first.get(row.candidate, len(first)))


def _columns(answer: Answer) -> dict[str, Callable[[Row], str]]:
    """Head and text of each column."""
    columns: dict[str, Callable[[Row], str]] = {
        "p50": lambda row: format_estimate(row.p50, RESPONSE_P50),
        "p99": lambda row: format_estimate(row.p99, RESPONSE_P99),
        "highest rate": lambda row: (
            f"{'≥ ' if row.is_bound else ''}{format_estimate(row.rate, RATE)}"
        ),
        "service CPU": lambda row: format_estimate(row.service_cpu, SERVICE_CPU),
        "client CPU": lambda row: format_estimate(row.client_cpu, CLIENT_CPU),
        "bytes": lambda row: format_estimate(row.bytes_per_call, BYTES),
        "wrong": lambda row: f"{row.failed:,}",
    }
    if answer.question.prices.is_known:
        columns["cost per million calls"] = _money
    return columns


def _describe_load(answer: Answer) -> str:
    rate = answer.question.conditions.rate
    return "under the closed load" if rate is None else f"at {digits(rate)} calls per second"


def _money(row: Row) -> str:
    return "—" if row.cost is None else digits(row.cost)


def sizes(answer: Answer) -> Table:
    """Bytes of request and reply in each codec, without headers and compression."""
    sample = answer.question.sample
    contract = sample.contract
    requests = measure_sizes(contract, contract.request, sample.request)
    replies = measure_sizes(contract, contract.reply, sample.reply)
    rows = [[codec.value, f"{requests[codec]:,}", f"{replies[codec]:,}"] for codec in requests]
    caption = "Size of your message, without headers and compression."
    return Table(["codec", "request, B", "reply, B"], rows, caption, numeric=(1, 2))


def to_json(
    answer: Answer, maps: Sequence[Map] = (), limits: Limits | None = None
) -> dict[str, object]:
    """The document of ``--json`` and choice.json."""
    choice = answer.choice
    recommended = choice.recommended
    return {
        "recommended": recommended.reference if recommended else None,
        "figure": choice.figure.name,
        "at_rate": choice.at_rate,
        "dynamic_code": answer.is_dynamic,
        "threshold": choice.threshold,
        "first": [one.reference for one in choice.first],
        "undecided": {one.candidate.reference: one.comparison.to_json() for one in choice.open},
        "behind": {one.candidate.reference: one.comparison.to_json() for one in choice.behind},
        "sentences": list(sentences(choice)),
        "stacks": {row.candidate.reference: _row_json(row) for row in choice.rows},
        "ladder": [_rung_json(one) for one in rungs(answer)],
        "left_out": dict(answer.left_out),
        "maps": {one.axis.lower(): {stop.label: stop.words for stop in one.stops} for one in maps},
        "limits": limits.to_json() if limits else None,
    }


def _row_json(row: Row) -> Mapping[str, object]:
    def numbers(interval: Interval | None) -> object:
        return asdict(interval) if interval else None

    return {
        "response_p50_ns": numbers(row.p50),
        "response_p99_ns": numbers(row.p99),
        "closed_rate_per_s": numbers(row.rate),
        "closed_rate_is_lower_bound": row.is_bound,
        "service_cpu_s": numbers(row.service_cpu),
        "client_cpu_s": numbers(row.client_cpu),
        "bytes_per_call": numbers(row.bytes_per_call),
        "cost_per_million_calls": row.cost,
        "wrong_replies": row.failed,
        "trials": row.trials,
    }


def _rung_json(rung: Rung) -> Mapping[str, object]:
    return {
        "from": rung.before.reference,
        "to": rung.after.reference,
        "effect": rung.comparison.to_json() if rung.comparison else None,
    }
