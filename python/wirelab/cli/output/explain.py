"""Runs ``wirelab explain`` and prints its result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.output.named_services import of_pair
from wirelab.comparisons.causes import MIXED, CauseQuestion, causes
from wirelab.comparisons.limit import Acceptance
from wirelab.errors import EXIT_FAILED, EXIT_OK, UsageError
from wirelab.explain.answers import ServiceAnswer, StackAnswer
from wirelab.explain.thresholds import full_name
from wirelab.explain.two_orders import Orders
from wirelab.format import wrapping
from wirelab.format.numbers import format_signed, quantity
from wirelab.report import cause_page
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole

if TYPE_CHECKING:
    from wirelab.cli.options.common import AcceptOptions, DirectoryOptions, LoadOptions, PairOptions
    from wirelab.cli.options.explain import DepthOptions

BAR = 34
"""Maximum width of a bar."""
LABEL = 32


def run(
    services: tuple[str, ...],
    service: PairOptions,
    load: LoadOptions,
    depth: DepthOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code: 1 if trials failed; for your own services only trials without a
    change count. Raises :class:`WirelabError`."""
    directory.check()
    if len(services) == 2 and len({"://" in one for one in services}) == 2:
        raise UsageError(*MIXED)
    experiment = of_pair("explain", services, service, load)
    question = CauseQuestion(
        experiment.text,
        experiment.name,
        depth.repeats,
        depth.threshold,
        full_name(depth.figure),
        Acceptance(
            accept.unverified,
            accept.any_target,
            directory.retry_failed,
            accept.ready_timeout_s,
            accept.share,
        ),
    )
    folder = directory.folder("explain")
    err.print(f"run directory: {folder}")
    answer = causes(question, folder, OnConsole(err))
    document = to_json(answer)
    write_whole(folder / "explanation.json", json.dumps(document, indent=1) + "\n")
    page = cause_page.write(answer, folder)
    if as_json:
        print(json.dumps({"directory": str(folder), **document}, indent=1))
    else:
        for line in lines(answer):
            out.print(line)
        for text in cause_page.sentences(answer):
            out.print(fold(f"• {text}", out.width))
        out.print(f"report: {page}")
    return EXIT_FAILED if answer.failures else EXIT_OK


def lines(answer: StackAnswer | ServiceAnswer) -> Iterator[str]:
    """The waterfall chart as text, 80 columns wide."""
    steps = cause_page.steps_of(answer)
    (a, start), (b, end) = cause_page.totals(answer)
    edges = [start]
    for one in steps:
        edges.append(edges[-1] + one.change.estimate)
    widest = max(*edges, end, 1.0)
    yield from _row(a, 0.0, start, widest, quantity(start, "ns"))
    for place, one in enumerate(steps):
        words = format_signed(one.change.estimate, "ns")
        low, high = sorted((edges[place], edges[place + 1]))
        yield from _row(one.label, low, high, widest, words if one.shown else f"{words} ?")
    yield from _row(b, 0.0, end, widest, quantity(end, "ns"))
    if isinstance(answer, ServiceAnswer) and answer.phases:
        yield "Of captured trials, which are slower; the sentences below are of the others."


def _row(label: str, low: float, high: float, widest: float, words: str) -> list[str]:
    left, right = (round(BAR * max(0.0, value) / widest) for value in (low, high))
    bar = " " * left + "█" * max(1, right - left)
    return wrapping.fold_row(label, LABEL, f" {bar:<{BAR + 1}}{words:>11}")


def _from_both_ends(orders: Orders) -> dict[str, object]:
    named = {name: getattr(orders, name) for name in ("first", "last", "interaction", "whole")}
    times = orders.times
    return {
        "step": orders.step.label,
        **{name: one.to_json() if one else None for name, one in named.items()},
        "first_ns": None if times is None else times.first.estimate,
        "last_ns": None if times is None else times.last.estimate,
        "shares": None if times is None else times.shares,
    }


def to_json(answer: StackAnswer | ServiceAnswer) -> dict[str, object]:
    """Document for ``--json`` and explanation.json."""
    (a, start), (b, end) = cause_page.totals(answer)
    common: dict[str, object] = {
        "names": [a, b],
        "time_of_a_call_ns": [start, end],
        "waterfall": [
            {
                "label": one.label,
                "change_ns": one.change.estimate,
                "low_ns": one.change.low,
                "high_ns": one.change.high,
                "shown": one.shown,
            }
            for one in cause_page.steps_of(answer)
        ],
        "sentences": list(cause_page.sentences(answer)),
    }
    if isinstance(answer, StackAnswer):
        return {
            **common,
            "explanation": answer.explanation.to_json(),
            "orders": [_from_both_ends(one) for one in answer.orders],
            "unexplained": answer.rest.to_json() if answer.rest else None,
        }
    return {
        **common,
        "conditions": [
            {
                "id": shift.condition.id,
                "label": shift.condition.label,
                "outcome": shift.outcome,
                "reason": shift.reason,
                "removed_ns": None if shift.removed is None else shift.removed.estimate,
                "low_ns": None if shift.removed is None else shift.removed.low,
                "high_ns": None if shift.removed is None else shift.removed.high,
            }
            for shift in answer.shifts
        ],
        "not_changed": list(answer.refused),
    }
