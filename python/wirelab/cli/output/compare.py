"""What ``wirelab compare`` runs, prints and writes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.cli.error_handling import err, folded, out
from wirelab.cli.output.diff import figure_named
from wirelab.comparisons import outputs
from wirelab.comparisons.pairs import Answer, Question, compare, of_services
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.format.counting import counted
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
    from wirelab.cli.options import DirectoryOptions

EXIT_BY_OUTCOME = {
    "better": EXIT_OK,
    "equivalent": EXIT_OK,
    "worse": EXIT_FAILED,
    "undecided": EXIT_UNDECIDED,
}
STYLES = {"better": "green", "equivalent": "green", "worse": "red", "undecided": "yellow"}
USERS = 8
HELLO, HELLO_SIZE = "Hello", "14 B"


def run(
    services: tuple[str, ...],
    service: ServiceOptions,
    load: LoadOptions,
    question: QuestionOptions,
    output: OutputOptions,
    directory: DirectoryOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    asked = Question(
        _experiment(services, service, load),
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
        any_target=output.any_target,
        unverified=output.unverified,
    )
    _write(answer, output)
    if as_json:
        document = {"directory": str(folder), "names": answer.names, **answer.gate.to_json()}
        print(json.dumps(document, indent=1))
    else:
        _show(answer)
    return EXIT_BY_OUTCOME[answer.gate.outcome]


def _experiment(services: tuple[str, ...], service: ServiceOptions, load: LoadOptions) -> str:
    """The text of the experiment: that of a file, or of two services."""
    commands = [one for one in (service.a, service.b) if one is not None]
    if commands:
        if services or len(commands) != 2:
            raise UsageError("--a and --b are two commands", "give both, and no other service")
        named = zip("ab", commands, strict=True)
        given = [command_service(name, text, service.path, service.ready) for name, text in named]
        return of_services(given, _load(load))
    if len(services) == 1:
        return file_text(Path(services[0]), "give two services, or an experiment file of two cells")
    if len(services) != 2:
        raise UsageError(
            f"{counted(len(services), 'service')} given",
            "wirelab compare A B, wirelab compare FILE, or --a COMMAND --b COMMAND",
        )
    keys = _load(load)
    if not any("://" in one for one in services):
        keys["messages"] = [lab_message(service.operation, service.size)]
    return of_services(services, keys)


def file_text(file: Path, remedy: str) -> str:
    """Of an experiment file. Raises :class:`UsageError`."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{file} cannot be read: {reason}", remedy) from error


def lab_message(operation: str, size: str | None) -> dict[str, Any]:
    """An operation of the lab's contracts."""
    message: dict[str, Any] = {"operation": operation}
    if size is not None or operation == HELLO:
        message["bytes"] = size or HELLO_SIZE
    return message


def command_service(name: str, text: str, path: str, ready: str | None) -> dict[str, Any]:
    """A command as a service of an experiment. Raises :class:`UsageError`."""
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--{name}: {error}", "quote it as a shell would need it") from error
    if not command:
        raise UsageError(f"--{name} is empty", "give the command that starts the service")
    declared: dict[str, Any] = {
        "name": name,
        "command": command,
        "cwd": str(Path.cwd()),
        "http": {"path": path},
    }
    if ready is not None:
        declared["ready"] = {"http": ready}
    return declared


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
    for which, count in zip(answer.names, made.pairs.errors, strict=True):
        if count:
            out.print(folded(f"{counted(count, 'call')} of {which} failed.", out.width), "yellow")
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
