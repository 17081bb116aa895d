"""Options shared by several commands, and groups of options that arrive as one value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click

from wirelab.errors import UnitError, UsageError


class FiniteRange(click.FloatRange):
    """A finite number in a range. :class:`click.FloatRange` accepts NaN in every range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Raises :class:`click.BadParameter`."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{number} is not a finite number.", param, ctx)
        return number


PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
USERS = click.IntRange(1, 10_000)
RATE = FiniteRange(0.001, 1e7)
"""Calls per second."""

OPTIONS = "Options"
"""Heading of options without a group."""
VERBOSE = click.option(
    "--verbose", is_flag=True, help="Also print the winners and causes of the study."
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")


class Share(click.ParamType[float]):
    """A share from 0 to 1, written as ``0.03`` or ``3%``."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Raises :class:`click.BadParameter`."""
        text = str(value).strip()
        try:
            share = float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0.0 <= share <= 1.0:
            self.fail(
                f"{text!r} is not a share from 0 to 1; write for example 3% or 0.03", param, ctx
            )
        return share


class Duration(click.ParamType[float]):
    """A time above 0, written as ``2min`` or ``500ms``; the value is in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Raises :class:`click.BadParameter`."""
        from wirelab.format.units import parse_seconds

        try:
            seconds = parse_seconds(value)
        except UnitError as error:
            self.fail(str(error), param, ctx)
        if seconds <= 0.0:
            self.fail(f"{value!r} is not above 0; write for example 5min", param, ctx)
        return seconds


READY_TIMEOUT_OPTION: dict[str, Any] = {
    "type": Duration(),
    "metavar": "TIME",
    "help": "Give up on a service that makes no progress (CPU time, output) for this time before "
    "it is ready. [default: 120s; services of your own: `ready.within`]",
}
"""Attributes of ``--ready-timeout``; the value is in seconds, or None."""
READY_TIMEOUT = click.option("--ready-timeout", "ready_timeout_s", **READY_TIMEOUT_OPTION)

SHARE_OPTION: dict[str, Any] = {
    "is_flag": True,
    "help": "Measure next to other work: do not wait for other runs on the same cores, and mark "
    "spoilt trials instead of repeating them. WIRELAB_SHARE=1 does the same.",
}
"""Attributes of ``--share``."""
SHARE = click.option("--share", **SHARE_OPTION)

METRICS_PORT_OPTION: dict[str, Any] = {
    "type": click.IntRange(0, 65535),
    "metavar": "PORT",
    "help": "Serve OpenMetrics at http://127.0.0.1:PORT/metrics during the run; 0: any free port.",
}
"""Attributes of ``--metrics-port``."""

POSTGRES_HELP = "URL of a running PostgreSQL to use instead of starting one."


def postgres_url(_context: click.Context, _parameter: click.Parameter, url: str | None) -> str:
    """Value of `--postgres`; "" if it is not given."""
    if url and not url.startswith(("postgres://", "postgresql://")):
        raise click.BadParameter(
            "this is not a PostgreSQL URL; write postgres://user:password@127.0.0.1:5432/database"
        )
    return url or ""


POSTGRES = click.option(
    "--postgres",
    metavar="URL",
    callback=postgres_url,
    help=f"{POSTGRES_HELP} Needs store=postgres.",
)


def accept_folder(option_name: str, file: Path) -> None:
    """Raises :class:`UsageError` for a file whose folder does not exist, and for a folder."""
    if file.is_dir():
        raise UsageError(f"{option_name} {file} is a folder", "name a file")
    if not file.parent.is_dir():
        raise UsageError(
            f"{option_name} {file}: the folder {file.parent} does not exist",
            "create it, or give another path",
        )


Command = TypeVar("Command", bound=Callable[..., Any])


def option(*names: str, **attributes: Any) -> Any:
    """A field of an option group; takes the arguments of :func:`click.option`."""
    absent = False if attributes.get("is_flag") else () if attributes.get("multiple") else None
    if isinstance(attributes.get("type"), click.IntRange):
        attributes.setdefault("metavar", "N")
    return field(
        default=attributes.get("default", absent),
        metadata={"names": names, "attributes": attributes},
    )


def values_by_option(group: Any) -> dict[str, object]:
    """The values of an option group by the first name of each option."""
    return {entry.metadata["names"][0]: getattr(group, entry.name) for entry in fields(group)}


def option_group(parameter: str, group: type, title: str) -> Callable[[Command], Command]:
    """Adds the options of the dataclass ``group`` to a command. The command receives them as one
    value named ``parameter``; ``--help`` lists them under ``title``."""
    own = fields(group)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collect(**values: Any) -> Any:
            options = group(**{entry.name: values.pop(entry.name) for entry in own})
            return command(**values, **{parameter: options})

        decorated: Any = collect
        for entry in reversed(own):
            add = click.option(
                *entry.metadata["names"],
                entry.name,
                cls=GroupedOption,
                title=title,
                **entry.metadata["attributes"],
            )
            decorated = add(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


class GroupedOption(click.Option):
    """An option with the heading that it is listed under."""

    def __init__(self, *args: Any, title: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.title = title


class GroupedCommand(click.Command):
    """Lists its options under the headings of their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one section per group; click lists the arguments itself."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(section_title(parameter), []).append(record)
        for title, records in (*sections.items(), *self.tables()):
            with formatter.section(title):
                formatter.write_dl(records)

    def tables(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Further sections: titles and rows. This class has none."""
        yield from ()


def section_title(parameter: click.Parameter) -> str:
    """Heading that a parameter is listed under."""
    if isinstance(parameter, click.Argument):
        return "Arguments"
    return parameter.title if isinstance(parameter, GroupedOption) else OPTIONS


@dataclass(frozen=True)
class DirectoryOptions:
    """Where to keep a run."""

    directory: Path | None = option(
        "--out",
        type=PATH,
        metavar="DIR",
        help="Run directory; an unfinished run in it is continued.",
    )
    retry_failed: bool = option(
        "--retry-failed", is_flag=True, help="Repeat the failed trials of the run in --out."
    )

    def check(self) -> None:
        """Raises :class:`UsageError` for `--retry-failed` without a run directory."""
        if self.retry_failed and self.directory is None:
            raise UsageError("--retry-failed needs a run directory", "add --out DIR")

    def folder(self, name: str) -> Path:
        """The given folder, or ``runs/<name>-<UTC time>``."""
        if self.directory is not None:
            return self.directory
        from datetime import UTC, datetime

        return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


DIRECTORY = option_group("directory", DirectoryOptions, OPTIONS)


@dataclass(frozen=True)
class RequestOptions:
    """How to call services that the command line names."""

    path: str | None = option(
        "--path", metavar="PATH", help="Request path for a command. [default: /]"
    )
    ready: str | None = option(
        "--ready",
        metavar="PATH",
        help="Path that answers once the command is ready. [default: TCP]",
    )
    operation: str | None = option(
        "--operation", metavar="NAME", help="Operation of a wirelab service. [default: Hello]"
    )
    size: str | None = option(
        "--size",
        "--bytes",
        metavar="SIZE",
        help="Message size, e.g. 150kB, or '2 kB of json'. [default: 14 B for Hello]",
    )


@dataclass(frozen=True)
class PairOptions(RequestOptions):
    """Two commands in place of two services, and how to call them."""

    a: str | None = option(
        "--a", metavar="COMMAND", help="Command that starts service A; {port} is replaced."
    )
    b: str | None = option("--b", metavar="COMMAND", help="Command that starts service B.")


@dataclass(frozen=True)
class LoadOptions:
    """How to call both services."""

    users: int | None = option(
        "--users",
        type=USERS,
        help="Number of users of a closed load. [default: 8]",
    )
    rate: float | None = option(
        "--rate", type=RATE, metavar="N", help="Calls per second (Poisson)."
    )
    duration: str | None = option(
        "--duration", metavar="TIME", help="Length of a window. [default: 2s; explain: 1s]"
    )
    link: str | None = option("--link", metavar="PROFILE", help="Network link. [default: loopback]")
    warmup: str | None = option(
        "--warmup",
        metavar="TIME",
        help="Minimum warm-up before a window; a JVM needs 20s. [default: 200ms]",
    )


@dataclass(frozen=True)
class AcceptOptions:
    """Which services may be measured, and how long to wait for them."""

    unverified: bool = option(
        "--unverified",
        is_flag=True,
        help="Also measure services that did not pass `verify`; the results are marked.",
    )
    any_target: bool = option(
        "--any-target",
        is_flag=True,
        help="Also load other machines that the file lists in allow_targets.",
    )
    ready_timeout_s: float | None = option("--ready-timeout", **READY_TIMEOUT_OPTION)
    share: bool = option("--share", **SHARE_OPTION)


ACCEPT = option_group("accept", AcceptOptions, OPTIONS)
