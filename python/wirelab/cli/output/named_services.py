"""Builds the text of an experiment from services that a command line names."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.drive import load_values
from wirelab.errors import ExperimentError, UsageError
from wirelab.format.counting import format_count
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.cli.options.common import LoadOptions, PairOptions, RequestOptions

HELLO, HELLO_SIZE = "Hello", "14 B"
USERS = 8
"""Default number of users of a closed load."""
SETTLED_S = 5.0
"""Seconds that a warm-up may last beyond its minimum, until the rate is stationary."""
DURATION = "2s"
DURATIONS = {"explain": "1s"}
"""Window durations of commands that measure many cells."""

KEYS = {
    "--users": "loads",
    "--rate": "loads",
    "--duration": "window",
    "--link": "links",
    "--warmup": "warmup",
    "--path": "services",
    "--ready": "services",
    "--operation": "messages",
    "--size": "messages",
}
"""Keys of an experiment file that take the place of an option."""
OPTIONS = {
    r"messages\[0\]\.bytes": "--size",
    r"messages\[0\]": "--operation",
    r"loads\[0\]\.closed": "--users",
    r"loads\[0\]\.poisson": "--rate",
    r"window": "--duration",
    r"links": "--link",
}
"""Options by the keys that they set, as patterns."""
LINE = re.compile(r"^\d+: ")
"""Line of a text that nobody wrote."""
SAME = re.compile(r"the same as services\[\d+\]|: two services are named ")


@dataclass(frozen=True)
class ExperimentText:
    """Text of an experiment, and its origin."""

    text: str
    name: str
    """The experiment file, whose folder is the base of relative paths; otherwise a name only."""


def of_file(file: str, remedy: str) -> ExperimentText:
    """Reads an experiment file. Raises :class:`UsageError`."""
    try:
        return ExperimentText(Path(file).read_text(encoding="utf-8"), file)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{file} cannot be read: {reason}", remedy) from error


def with_number(source: str, key: str, number: int | None) -> str:
    """The text of an experiment with this number at a key of the top level; None: as it is."""
    if number is None:
        return source
    line = f"{key}: {number}"
    text, count = re.subn(rf"(?m)^{key}:[ \t]*[^\s#]*", line, source, count=1)
    return text if count else f"{source.rstrip()}\n{line}\n"


def of_services(
    name: str,
    services: Sequence[str | dict[str, object]],
    request: RequestOptions,
    keys: dict[str, object],
) -> ExperimentText:
    """Experiment with stacks, URLs or declared commands; ``keys`` are its other keys."""
    import yaml

    values: dict[str, object] = {"name": name, "services": list(services), **keys}
    if all(isinstance(one, str) and "://" not in one for one in services):
        values["messages"] = [_message(request)]
    return ExperimentText(yaml.safe_dump(values, sort_keys=False), name)


def of_pair(
    name: str, services: Sequence[str], service: PairOptions, load: LoadOptions
) -> ExperimentText:
    """Experiment with two services, or that of a file. Raises :class:`UsageError`."""
    commands = [one for one in (service.a, service.b) if one is not None]
    if commands:
        if services or len(commands) != 2:
            raise UsageError(
                "--a and --b need each other and exclude other services",
                "give both, and no SERVICE",
            )
        named = zip("ab", commands, strict=True)
        given = [command(f"--{key}", key, text, service) for key, text in named]
        made = of_services(name, given, service, load_keys(name, load))
        return check_experiment(made, ("--a", "--b"))
    if len(services) == 1:
        if not Path(services[0]).exists() and ("@" in services[0] or "://" in services[0]):
            raise UsageError(
                f"{name} needs a second service",
                f"use `wirelab {name} {shlex.quote(services[0])} B`, or `wirelab {name} FILE`",
            )
        refuse_next_to_file(service, load)
        return of_file(services[0], "give two services, or an experiment file with two cells")
    if len(services) != 2:
        raise UsageError(
            f"{format_count(len(services), 'service')} given; {name} needs two",
            f"use `wirelab {name} A B`, `wirelab {name} FILE`, or --a COMMAND --b COMMAND",
        )
    return check_experiment(of_services(name, services, service, load_keys(name, load)), ("A", "B"))


def check_experiment(experiment: ExperimentText, services: Sequence[str]) -> ExperimentText:
    """The experiment, if it is possible. Raises :class:`UsageError`, which names options, because
    nobody wrote a file; ``services`` are the names of the services on the command line."""
    from wirelab.experiment import loading
    from wirelab.experiment import matrix as planning
    from wirelab.experiment.yaml_source import join_path
    from wirelab.stack import manifests

    try:
        made = loading.parse(experiment.text, experiment.name)
    except ExperimentError as error:
        problems = [one.removeprefix(f"{experiment.name}:") for one in error.problems]
        raise UsageError(*_describe_problems(problems, services)) from None
    refused = planning.impossible(made, manifests.load())
    if refused:
        problems = [f"{join_path(one.where)}: {one.reason}" for one in refused]
        raise UsageError(*_describe_problems(problems, services))
    return experiment


def _describe_problems(problems: Sequence[str], services: Sequence[str]) -> tuple[str, str]:
    """Message and remedy of problems in an experiment that a command line describes."""
    for problem in problems:
        if SAME.search(problem):
            what = "the same URL" if "two services are named" in problem else "the same"
            return (
                f"{' and '.join(services)} are {what}",
                "give another service, or write a file with two named services",
            )
    lines: dict[str, None] = {}
    for problem in problems:
        place, _, reason = LINE.sub("", problem).partition(": ")
        lines[f"{_option(place, services)}: {reason}"] = None
    return "\n".join(lines), ""


def _option(place: str, services: Sequence[str]) -> str:
    """The option or argument that a key of an experiment comes from; otherwise the key."""
    if place.endswith(".http.path"):
        return "--path"
    if ".ready" in place:
        return "--ready"
    found = re.match(r"services\[(\d+)\]", place)
    if found:
        return services[int(found[1])]
    return next((option for key, option in OPTIONS.items() if re.match(key, place)), place)


def load_keys(name: str, load: LoadOptions) -> dict[str, object]:
    """Keys of an experiment that describe its load. Raises :class:`UsageError`."""
    if load.users is not None and load.rate is not None:
        raise UsageError("--users and --rate exclude each other", "give only one of them")
    entry: dict[str, object]
    if load.rate is not None:
        entry = {"poisson": {"rate": load.rate, "in_flight_max": 1_000}}
    else:
        entry = {"closed": {"users": load.users or USERS}}
    return {
        "loads": [entry],
        "links": load.link or LOOPBACK,
        "window": {"duration": load.duration or DURATIONS.get(name, DURATION)},
        **warmup_keys(load.warmup),
    }


def warmup_keys(least: str | None) -> dict[str, object]:
    """The key of a warm-up that lasts this time at least, if one is given. Raises
    :class:`UsageError`."""
    if least is None:
        return {}
    least_s = load_values.seconds("--warmup", least)
    return {"warmup": {"min": f"{least_s} s", "max": f"{least_s + SETTLED_S} s"}}


def refuse_next_to_file(*groups: Any) -> None:
    """Raises :class:`UsageError` for an option whose value the file contains."""
    for group in groups:
        for entry in fields(group):
            if getattr(group, entry.name) != entry.default:
                raise only_without_file(entry.metadata["names"][0])


def only_without_file(option: str) -> UsageError:
    """The error for an option whose value an experiment file contains."""
    return UsageError(
        f"{option} applies only to services named on the command line",
        f"set `{KEYS[option]}` in the file, or leave {option} out",
    )


def command(option: str, name: str, text: str, request: RequestOptions) -> dict[str, object]:
    """Declares a command as a service of an experiment. Raises :class:`UsageError`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", "quote it as for a shell") from error
    if not words:
        raise UsageError(f"{option} is empty", "give the command that starts the service")
    if shutil.which(words[0]) is None:
        raise UsageError(
            f"{option}: there is no program {words[0]}", "install it, or correct the command"
        )
    declared: dict[str, object] = {
        "name": name,
        "command": words,
        "http": {"path": request.path or "/"},
    }
    if request.ready is not None:
        declared["ready"] = {"http": request.ready}
    return declared


def _message(request: RequestOptions) -> dict[str, object]:
    operation = request.operation or HELLO
    message: dict[str, object] = {"operation": operation}
    if request.size is not None or operation == HELLO:
        message["bytes"] = request.size or HELLO_SIZE
    return message
