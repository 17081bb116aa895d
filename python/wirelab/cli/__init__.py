"""The ``wirelab`` command. Each file in this package holds the options of one subcommand.

A subcommand's module is imported only when it runs or shows its help. What it needs to do its
work is imported only when it runs, so that no subcommand waits for the imports of another.

Exit codes: 0 success, and every test holds; 1 finished, but trials or all calls failed, a test
does not hold, or a wrapped tool failed or cannot be trusted; 2 usage error; 3 internal error;
4 output could not be written; 5 a test is undecided; 130 interrupted. The tests
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
    """Module below this package; its command object has the command's name, `_` after a keyword."""
    about: str
    """First line of the command's help, shown in the list of commands."""


GROUPS: dict[str, tuple[Entry, ...]] = {
    "Measure": (
        Entry("demo", "run", "Measure REST with JSON against gRPC on the services in Rust."),
        Entry("run", "run", "Run an experiment, or continue it where it was interrupted."),
        Entry(
            "choose", "choose", "Measure your own message over many stacks, and say which to take."
        ),
        Entry("drive", "drive", "Load one server and report how fast it answers."),
        Entry("limit", "limit", "Find the highest rate at which a service meets an objective."),
    ),
    "Compare": (
        Entry(
            "compare",
            "compare",
            "Measure two services in pairs until it is known whether B is worse than A.",
        ),
        Entry(
            "explain",
            "explain",
            "Explain why one of two services is slower by changing one thing at a time.",
        ),
        Entry("diff", "diff", "Compare two finished runs, cell by cell."),
        Entry("history", "history", "Find where the figures of many runs changed."),
    ),
    "Diagnose": (
        Entry(
            "dissect",
            "dissect",
            "Report where the time of a capture went, and what its packets cost.",
        ),
        Entry(
            "wrap",
            "wrap",
            "Run any load tool under packet capture and check whether its figures can be trusted.",
        ),
    ),
    "Studies": (
        Entry(
            "reproduce",
            "reproduce",
            "Run a published study again, and report which of its findings hold.",
        ),
        Entry("studies", "reproduce", "List the published studies that can be run again."),
        Entry("parse", "parse", "Compare the speed of parsers for XML and other formats."),
        Entry(
            "facts",
            "facts",
            "Show properties of stacks other than speed, such as security and streaming.",
        ),
        Entry(
            "survey", "survey", "Run a usability survey on two libraries and evaluate the answers."
        ),
    ),
    "Around them": (
        Entry(
            "import",
            "importing",
            "Write an experiment file from an OpenAPI document, a .proto, a recording, a command "
            "or a load script.",
        ),
        Entry("verify", "verify", "Check that services behave exactly like the canonical model."),
        Entry(
            "report",
            "run",
            "Print the results of a run or reproduction again and rewrite its report.",
        ),
        Entry(
            "browse", "browse", "Show the runs below a folder in a browser, also while they run."
        ),
        Entry("doctor", "doctor", "Report what this machine can and cannot measure."),
        Entry(
            "mcp", "mcp", "Offer drive, compare, dissect and report as tools to an AI assistant."
        ),
        Entry("schema", "schema", "Print the JSON Schema of a document, for editors and programs."),
    ),
}
"""Every command by the purpose that it is listed under, in the order of the list."""
COMMANDS = tuple(entry for entries in GROUPS.values() for entry in entries)


class LazyGroup(click.Group):
    """Lists :data:`COMMANDS` and imports a command only when it is requested."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The command names, in the order of the table."""
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns the command; None if there is no command of that name."""
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
        """Same as in click, which would suggest only names of imported commands."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:
            names = self.list_commands(ctx)
            raise click.NoSuchCommand(unknown.command_name, possibilities=names, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands by purpose, without importing them."""
        width = max(len(entry.name) for entry in COMMANDS)
        for title, entries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{entry.name:<{width}}", entry.about) for entry in entries])


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
    """A laboratory for wire protocols. It measures which stack is faster for your message, load
    and network, by how much, with what confidence, and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (default: that of this process) and returns its exit code."""
    from wirelab.format.console import accept_any_text

    accept_any_text()
    try:
        app(args=list(arguments) if arguments is not None else None, prog_name="wirelab")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
