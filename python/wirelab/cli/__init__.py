"""The command ``wirelab``. Each file here holds the options of one verb and nothing else.

A command's module is imported when that command runs or shows its own help, and what it needs to
work only when it runs: no command waits for the imports of another.

Exit codes: 0 done, and what was tested holds; 1 done but trials or all calls failed, what was
tested does not hold, or a wrapped tool failed or cannot be trusted; 2 wrong usage; 3 the lab
failed; 4 nothing more could be written; 5 what was tested is undecided; 130 interrupted. Tests
are `dissect --test`, `run --test-findings`, `verify`, `compare` and `doctor --self-test`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import NamedTuple

import click


class Entry(NamedTuple):
    """A command that is not imported yet."""

    name: str
    module: str
    """Below this package; it holds the command under its own name, with `_` after a keyword."""
    about: str
    """The first line of its help, by which the group lists it."""


COMMANDS = (
    Entry("demo", "run", "Measure REST with JSON against gRPC on the embedded services."),
    Entry("run", "run", "Run an experiment, or continue it where it was interrupted."),
    Entry(
        "reproduce",
        "reproduce",
        "Run a published study again, and report which of its findings hold.",
    ),
    Entry("drive", "drive", "Load one server and report how fast it answers."),
    Entry(
        "import",
        "importing",
        "Write an experiment file from an OpenAPI document, a .proto, a recording or a command.",
    ),
    Entry(
        "dissect", "dissect", "Report where the time of a capture went, what its packets cost and waited for."
    ),
    Entry(
        "wrap",
        "wrap",
        "Run any load tool under capture: what did it do, and can it be trusted?",
    ),
    Entry(
        "verify",
        "verify",
        "Compare services with the canonical model: do they all do the same?",
    ),
    Entry(
        "report",
        "run",
        "Print the results of a run or a reproduction again and write its report anew.",
    ),
    Entry(
        "compare",
        "compare",
        "Measure two services in pairs until it is known whether B is worse than A.",
    ),
    Entry(
        "explain",
        "explain",
        "Find out why one of two services is slower, by changing one thing at a time.",
    ),
    Entry("limit", "limit", "Find the highest rate at which a service meets an objective."),
    Entry("diff", "diff", "Compare two finished runs, cell by cell."),
    Entry("history", "history", "Find where the figures of many runs changed."),
    Entry("doctor", "doctor", "Report what this machine can and cannot measure."),
    Entry("studies", "reproduce", "List the published studies that can be run again."),
    Entry("parse", "parse", "Time parsers of XML and other formats against each other."),
    Entry(
        "facts",
        "facts",
        "Show what stacks offer besides speed: contract, code, security, browsers, streaming.",
    ),
    Entry(
        "survey",
        "survey",
        "Ask people which of two libraries is easier, and evaluate their answers.",
    ),
    Entry("schema", "schema", "Print the JSON Schema of a document, for editors and programs."),
)
"""Every command, in the order in which they are listed."""


class LazyGroup(click.Group):
    """Lists :data:`COMMANDS` and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported; None where there is none of that name."""
        entry = next((entry for entry in COMMANDS if entry.name == cmd_name), None)
        if entry is None:
            return None
        name = f"{entry.name}_" if iskeyword(entry.name) else entry.name
        command = getattr(import_module(f"{__name__}.{entry.module}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click, which would look for what was meant among imported commands alone."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:
            names = self.list_commands(ctx)
            raise click.NoSuchCommand(unknown.command_name, possibilities=names, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.about) for entry in COMMANDS])


def _version(ctx: click.Context, option: click.Parameter, requested: bool) -> None:
    if requested:
        import wirelab

        click.echo(f"wirelab {wirelab.__version__}")
        ctx.exit()


@click.group("wirelab", cls=LazyGroup)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version.",
)
def app() -> None:
    """A laboratory for wire protocols: which stack is faster for your message, load and
    network, by how much, how sure that is, and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (default: this process's) and returns its exit code."""
    try:
        app(args=list(arguments) if arguments is not None else None, prog_name="wirelab")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
