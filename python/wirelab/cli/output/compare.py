"""What ``wirelab compare`` runs, prints and writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wirelab.cli.error_handling import err, folded, out
from wirelab.cli.output.diff import figure_named
from wirelab.cli.output.named_services import ExperimentText, command, of_file, of_services
from wirelab.comparisons import outputs
from wirelab.comparisons.pairs import Answer, Question, compare
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.format.counting import counted, of_all
from wirelab.format.numbers import quantity
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole

if TYPE_CHECKING:
    from wirelab.cli.compare import (
        LoadOptions,
        OutputOptions,
        QuestionOptions,
        ServiceOptions,
    )
    from wirelab.cli.options import AcceptOptions, DirectoryOptions

EXIT_BY_OUTCOME = {
    "better": EXIT_OK,
    "equivalent": EXIT_OK,
    "worse": EXIT_FAILED,
    "failed": EXIT_FAILED,
    "undecided": EXIT_UNDECIDED,
}
STYLES = {
    "better": "green",
    "equivalent": "green",
    "worse": "red",
    "failed": "red",
    "undecided": "yellow",
}
USERS = 8


def run(
    services: tuple[str, ...],
    service: ServiceOptions,
    load: LoadOptions,
    question: QuestionOptions,
    output: OutputOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    experiment = _experiment(services, service, load)
    asked = Question(
        experiment.text,
        experiment.name,
        figure_named(question.figure),
        question.threshold,
        question.pairs_max,
    )
    folder = directory.folder("compare")
    err.print(f"run directory: {folder}")
    answer = compare(
        asked,
        folder,
        progress=OnConsole(err),
        any_target=accept.any_target,
        unverified=accept.unverified,
        retry_failed=directory.retry_failed,
    )
    _write(answer, output)
    if as_json:
        document = {"directory": str(folder), "names": answer.names, **answer.gate.to_json()}
        print(json.dumps(document, indent=1))
    else:
        _show(answer)
    return EXIT_BY_OUTCOME[answer.gate.outcome]


def _experiment(
    services: tuple[str, ...], service: ServiceOptions, load: LoadOptions
) -> ExperimentText:
    """That of a file, or of two services."""
    commands = [one for one in (service.a, service.b) if one is not None]
    if commands:
        if services or len(commands) != 2:
            raise UsageError("--a and --b are two commands", "give both, and no other service")
        named = zip("ab", commands, strict=True)
        given = [command(f"--{name}", name, text, service) for name, text in named]
        return of_services("compare", given, service, _load(load))
    if len(services) == 1:
        return of_file(services[0], "give two services, or an experiment file of two cells")
    if len(services) != 2:
        raise UsageError(
            f"{counted(len(services), 'service')} given",
            "wirelab compare A B, wirelab compare FILE, or --a COMMAND --b COMMAND",
        )
    return of_services("compare", services, service, _load(load))


def _load(load: LoadOptions) -> dict[str, Any]:
    if load.users is not None and load.rate is not None:
        raise UsageError("--users and --rate are two loads", "give one of them")
    entry: dict[str, Any]
    if load.rate is not None:
        entry = {"poisson": {"rate": load.rate, "in_flight_max": 1_000}}
    else:
        entry = {"closed": {"users": load.users or USERS}}
    return {"loads": [entry], "links": load.link, "window": {"duration": load.duration}}


def _show(answer: Answer) -> None:
    made = answer.gate
    for name, values in zip(answer.names, (made.pairs.a, made.pairs.b), strict=True):
        if values:
            middle = sorted(values)[len(values) // 2]
            out.print(f"{name:<28} {quantity(middle, made.figure.unit):>12}  median of the pairs")
    out.print(folded(outputs.sentence(made, answer.names), out.width), STYLES[made.outcome])
    for which, calls in zip(answer.names, made.pairs.calls, strict=True):
        if calls.failed:
            text = f"{of_all(calls.failed, calls.made, 'call')} of {which} failed."
            out.print(folded(text, out.width), "yellow")
    for reason in dict.fromkeys(made.pairs.failed):
        out.print(folded(f"A pair has no figure: {reason}", out.width), "red")


def _write(answer: Answer, output: OutputOptions) -> None:
    for option, file, text in (
        ("--markdown", output.markdown, outputs.markdown(answer.gate, answer.names)),
        ("--junit", output.junit, outputs.junit(answer.gate, answer.names)),
        ("--bmf", output.bmf, outputs.bencher(answer.gate, answer.names)),
    ):
        if file is not None:
            try:
                write_whole(file, text)
            except OSError as error:
                raise UsageError(f"{option} {file} cannot be written: {error.strerror}") from error
