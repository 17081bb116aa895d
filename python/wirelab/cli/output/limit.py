"""What ``wirelab limit`` runs and prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.cli.error_handling import err, folded, out
from wirelab.cli.output.compare import command_service, file_text, lab_message
from wirelab.comparisons.limit import LimitAnswer, LimitQuestion, Objective, limit
from wirelab.comparisons.pairs import of_services
from wirelab.errors import EXIT_OK, UsageError
from wirelab.format.console import Line
from wirelab.format.counting import counted
from wirelab.format.numbers import digits, quantity
from wirelab.run.progress import OnConsole
from wirelab.trial.record import Trial

if TYPE_CHECKING:
    from wirelab.cli.limit import SearchOptions, ServiceOptions
    from wirelab.cli.options import DirectoryOptions


def run(
    service: str | None,
    objective: str,
    declared: ServiceOptions,
    search: SearchOptions,
    directory: DirectoryOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    question = LimitQuestion(
        _experiment(service, declared, search),
        Objective.parse(objective),
        search.probes_max,
        not search.no_curve,
    )
    folder = directory.folder("limit")
    err.print(f"run directory: {folder}")
    answer = limit(question, folder, OnConsole(err))
    if as_json:
        print(json.dumps(_json(answer, objective), indent=1))
        return EXIT_OK
    for line in _lines(answer, question.objective):
        out.print(line.text if line.style else folded(line.text, out.width), style=line.style)
    return EXIT_OK


def _experiment(service: str | None, declared: ServiceOptions, search: SearchOptions) -> str:
    """The text of an experiment of one cell."""
    keys: dict[str, Any] = {
        # Replaced by the search.
        "loads": [{"closed": {"users": 1}}],
        "links": search.link,
        "window": {"duration": search.duration},
    }
    if declared.command is not None:
        if service is not None:
            raise UsageError("--command is a service, and so is the argument", "give one of them")
        named = command_service("service", declared.command, declared.path, declared.ready)
        return of_services([named], keys)
    if service is None:
        raise UsageError("no service given", "name a stack, a URL, a file, or --command")
    if "://" in service:
        return of_services([service], keys)
    if "@" in service:
        message = lab_message(declared.operation, declared.size)
        return of_services([service], {**keys, "messages": [message]})
    return file_text(Path(service), "name a stack, a URL, or an experiment file of one cell")


def _lines(answer: LimitAnswer, objective: Objective) -> Iterator[Line]:
    found = answer.limit
    low, high = found.bounds or (0.0, 0.0)
    yield Line(
        f"{objective.text} holds up to {digits(found.estimate)} calls a second "
        f"(95 % interval {digits(low)} to {digits(high)}; "
        f"{counted(len(answer.search.probes), 'trial')})."
    )
    if answer.engine_bound:
        yield Line(
            "The engine was at its own limit in a trial that missed it: the service may take more.",
            "yellow",
        )
    if not answer.search.done or high / low > 1.25:
        yield Line(
            "The answers vary much from trial to trial: a longer --duration or more --probes help."
        )
    yield Line(f"Users without a pause reached {digits(answer.closed_rate)} a second.", "dim")
    if answer.curve:
        yield Line("")
        yield from _curve(answer)


def _curve(answer: LimitAnswer) -> Iterator[Line]:
    yield Line(
        f"{'arrivals/s':>11} {'limit':>6} {'good/s':>9} {'p50':>9} {'p99':>9}  failed", "bold"
    )
    for rate, group in groupby(answer.curve, key=lambda trial: trial.point.load.rate or 0.0):
        trials = list(group)
        calls = sum(trial.result.calls for trial in trials)
        failed = sum(trial.result.errors for trial in trials) / calls if calls else 0.0
        good = sum(trial.result.rate_per_s for trial in trials) / len(trials)
        yield Line(
            f"{digits(rate):>11} {rate / answer.limit.estimate:>6.0%} {digits(good):>9} "
            f"{_time(trials, 'p50'):>9} {_time(trials, 'p99'):>9} {failed:>7.2%}",
            "none",
        )
    yield Line("Times are of all calls, from their arrival: waiting is part of them.", "dim")


def _time(trials: list[Trial], percentile: str) -> str:
    values = [ns for trial in trials if (ns := trial.time_ns("response", percentile)) is not None]
    return quantity(sum(values) / len(values), "ns") if values else "–"


def _json(answer: LimitAnswer, objective: str) -> dict[str, Any]:
    low, high = answer.limit.bounds or (None, None)
    return {
        "directory": str(answer.folder),
        "objective": objective,
        "limit_per_s": answer.limit.estimate,
        "low_per_s": low,
        "high_per_s": high,
        "engine_bound": answer.engine_bound,
        "closed_rate_per_s": answer.closed_rate,
        "probes": [{"rate_per_s": one.rate, "met": one.met} for one in answer.search.probes],
        "curve": [
            {
                "rate_per_s": trial.point.load.rate,
                "good_per_s": trial.result.rate_per_s,
                "errors": trial.result.errors,
                "calls": trial.result.calls,
                "p50_ns": trial.time_ns("response", "p50"),
                "p99_ns": trial.time_ns("response", "p99"),
            }
            for trial in answer.curve
        ],
    }
