"""Runs ``wirelab limit`` and prints its result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.output.named_services import (
    ExperimentText,
    check_experiment,
    command,
    of_file,
    of_services,
    only_without_file,
    refuse_next_to_file,
    warmup_keys,
    with_number,
)
from wirelab.comparisons.capacity import SPAN
from wirelab.comparisons.limit import (
    LOW,
    Acceptance,
    LimitAnswer,
    LimitQuestion,
    Objective,
    limit,
)
from wirelab.comparisons.steady_limit import TooFewCalls
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.format.numbers import digits, percent, quantity
from wirelab.format.units import format_seconds
from wirelab.records.trial import Trial
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.cli.options.clients import ClientsOptions
    from wirelab.cli.options.common import AcceptOptions, DirectoryOptions
    from wirelab.cli.options.limit import SearchOptions, ServiceOptions

DURATION = "3s"
TABLE = ("bold", "dim")
"""Styles of lines that must not be wrapped."""
HELD_UP = 0.1
"""Share of spoilt trials from which on it is reported."""
EXIT_BY_EDGE = {"": EXIT_OK, "below": EXIT_FAILED, "above": EXIT_UNDECIDED}


def run(
    service: str | None,
    objective: str,
    declared: ServiceOptions,
    search: SearchOptions,
    clients: ClientsOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    experiment = _experiment(service, declared, search)
    question = LimitQuestion(
        with_number(experiment.text, "clients", clients.clients),
        experiment.name,
        Objective.parse(objective),
        search.probes_max,
        search.window_max_s,
        not search.no_curve,
        Acceptance(
            accept.unverified,
            accept.any_target,
            directory.retry_failed,
            accept.ready_timeout_s,
            accept.share,
        ),
    )
    folder = directory.folder("limit")
    err.print(f"run directory: {folder}")
    with clients.open_pool() as pool:
        answer = limit(question, folder, OnConsole(err), pool)
    shown = document(answer, objective)
    write_whole(folder / "limit.json", json.dumps(shown, indent=1) + "\n")
    if as_json:
        print(json.dumps(shown, indent=1))
        return _exit_code(answer)
    return show(answer, question.objective)


def show(answer: LimitAnswer, objective: Objective) -> int:
    """Prints the answer. Returns the exit code."""
    for line in _lines(answer, objective):
        text = line.text if line.style in TABLE else fold(line.text, out.width)
        out.print(text, style=line.style)
    return _exit_code(answer)


def _experiment(
    service: str | None, declared: ServiceOptions, search: SearchOptions
) -> ExperimentText:
    """Text of an experiment with one cell."""
    keys: dict[str, object] = {
        # The search replaces these loads.
        "loads": [{"closed": {"users": 1}}],
        "links": search.link or LOOPBACK,
        "window": {"duration": search.duration or DURATION},
        **warmup_keys(search.warmup),
    }
    if declared.command is not None:
        if service is not None:
            raise UsageError(
                "--command and the argument SERVICE exclude each other", "give only one of them"
            )
        named = command("--command", "service", declared.command, declared)
        return check_experiment(of_services("limit", [named], declared, keys), ("--command",))
    if service is None:
        raise UsageError(
            "no service given", "give a stack, a URL, an experiment file, or --command"
        )
    if "://" in service or "@" in service:
        return check_experiment(of_services("limit", [service], declared, keys), ("SERVICE",))
    for option, value in {"--link": search.link, "--warmup": search.warmup}.items():
        if value is not None:
            raise only_without_file(option)
    refuse_next_to_file(declared)
    return _with_window(
        of_file(service, "give a stack, a URL, or an experiment file with one cell"),
        search.duration,
    )


def _with_window(file: ExperimentText, duration: str | None) -> ExperimentText:
    """The file with this window, or with the default if it has none."""
    import yaml

    from wirelab.experiment import yaml_source as documents

    values = dict(documents.read(file.text, file.name).values)
    if duration is None and "window" in values:
        return file
    values["window"] = {"duration": duration or DURATION}
    return ExperimentText(yaml.safe_dump(values, sort_keys=False), file.name)


def _exit_code(answer: LimitAnswer) -> int:
    edge = answer.found.search.at_edge
    return EXIT_BY_EDGE[edge] if edge or answer.found.is_measurable else EXIT_UNDECIDED


def _lines(answer: LimitAnswer, objective: Objective) -> Iterator[Line]:
    search, edge = answer.found.search, answer.found.search.at_edge
    if edge:
        rates = [probe.rate for probe in search.probes]
        how, rate = (
            ("does not hold even", min(rates)) if edge == "below" else ("still holds", max(rates))
        )
        yield Line(f"{objective.text} {how} at {digits(rate)} calls per second.", "yellow")
        yield Line("The limit is outside the range of tested rates.")
        return
    if answer.found.failed_check is not None:
        yield from _not_measurable(answer, objective)
        return
    low, high = answer.limit.bounds or (0.0, 0.0)
    yield Line(
        f"{objective.text} holds up to {digits(answer.limit.estimate)} calls per second "
        f"(95 % interval {digits(low)} to {digits(high)}; "
        f"{format_count(answer.found.trials, 'trial')})."
    )
    yield from _doubts(answer)
    if high / low > SPAN:
        yield Line(
            "The search ended before the interval was narrower than 6 %. Use a longer "
            "--duration or more --probes.",
            "yellow",
        )
    missed = [trial for trial in answer.curve if _misses(trial, objective, low)]
    if missed:
        rates = [trial.point.load.rate or 0.0 for trial in missed]
        yield Line(
            f"A later trial missed the objective at {digits(min(rates))} calls per second, below "
            "that interval, so the machine changed during the search. Search again with less other "
            "load on the machine.",
            "red",
        )
    if not answer.is_low:
        yield Line(f"{_describe_closed_load(answer)}.", "dim")
    if answer.curve:
        yield Line("")
        yield from _curve(answer)


def _not_measurable(answer: LimitAnswer, objective: Objective) -> Iterator[Line]:
    rate = answer.found.failed_check or 0.0
    share = rate / answer.limit.estimate
    yield Line(
        f"Not measurable: the machine held up {percent(answer.found.held_up)} of the probes. The "
        f"search found {digits(answer.limit.estimate)} calls per second, but repeated trials at "
        f"{percent(share)} of it missed {objective.text}, too.",
        "red",
    )
    yield Line(
        f"{_describe_closed_load(answer)}. Search again with less other load on the machine."
    )


def _doubts(answer: LimitAnswer) -> Iterator[Line]:
    """What limits the answer."""
    found, window = answer.found, format_seconds(answer.found.window_s)
    if found.settled:
        yield Line(f"Windows of {window} and of half that length give the same limit.", "dim")
    elif found.moved is not None:
        moved = f"{100.0 * found.moved:+.1f} %"
        yield Line(
            f"The limit still moved by {moved} with windows of {window}, the longest. "
            "Use a longer --window-max.",
            "yellow",
        )
    if found.held_up >= HELD_UP:
        yield Line(
            f"About {percent(found.held_up)} of the trials missed the objective for other "
            "reasons than their rate, such as other work on the machine. The interval includes "
            "this.",
            "yellow",
        )
    if answer.is_low:
        yield Line(
            f"{_describe_closed_load(answer)}; the limit is below {percent(LOW)} of that. The "
            "objective may be "
            "strict for random arrivals, or other work may have disturbed the search.",
            "yellow",
        )
    if answer.engine_bound:
        yield Line(
            "The engine reached its own limit in a trial that missed the objective: the "
            "service may reach a higher rate.",
            "yellow",
        )


def _describe_closed_load(answer: LimitAnswer) -> str:
    return f"A closed load reached {digits(answer.closed_rate)} calls per second"


def _misses(trial: Trial, objective: Objective, low: float) -> bool:
    """True if a trial below the interval misses the objective; False if it has too few calls."""
    try:
        return (trial.point.load.rate or 0.0) < low and not objective.is_met(trial)
    except TooFewCalls:
        return False


def _curve(answer: LimitAnswer) -> Iterator[Line]:
    yield Line(
        f"{'arrivals/s':>11} {'limit':>6} {'good/s':>9} {'p50':>9} {'p99':>9} {'failed':>8}", "bold"
    )
    for rate, group in groupby(answer.curve, key=lambda trial: trial.point.load.rate or 0.0):
        trials = list(group)
        calls = sum(trial.result.calls for trial in trials)
        failed = sum(trial.result.errors for trial in trials) / calls if calls else 0.0
        good = sum(trial.result.rate_per_s for trial in trials) / len(trials)
        yield Line(
            f"{digits(rate):>11} {percent(rate / answer.limit.estimate):>6} {digits(good):>9} "
            f"{_time(trials, 'p50'):>9} {_time(trials, 'p99'):>9} {percent(failed, 2):>8}",
            "none",
        )
    yield Line("Response times of all calls, from their arrival, including queueing.", "dim")


def _time(trials: list[Trial], percentile: str) -> str:
    values = [ns for trial in trials if (ns := trial.time_ns("response", percentile)) is not None]
    return quantity(sum(values) / len(values), "ns") if values else "–"


def document(answer: LimitAnswer, objective: str) -> dict[str, object]:
    """What ``--json`` prints."""
    found = answer.found
    is_known = found.is_measurable and not found.search.at_edge
    low, high = (answer.limit.bounds if is_known else None) or (None, None)
    return {
        "directory": str(answer.folder),
        "objective": objective,
        "limit_per_s": answer.limit.estimate if is_known else None,
        "low_per_s": low,
        "high_per_s": high,
        "measurable": found.is_measurable,
        "held_up": found.held_up,
        "window_s": found.window_s,
        "moved": found.moved,
        "settled": found.settled,
        "trials": found.trials,
        "below_closed_rate": answer.is_low,
        "engine_bound": answer.engine_bound,
        "closed_rate_per_s": answer.closed_rate,
        "probes": [
            {"rate_per_s": one.rate, "met": one.met, "window_s": seconds}
            for seconds, one in found.probes
        ],
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
