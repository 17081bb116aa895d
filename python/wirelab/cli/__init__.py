"""The command ``wirelab``. Each file here holds the options of one verb and nothing else.

Exit codes: 0 done, and what was tested holds; 1 done but trials or all calls failed, what was
tested does not hold, or a wrapped tool failed or cannot be trusted; 2 wrong usage; 3 the lab
failed; 4 nothing more could be written; 5 what was tested is undecided; 130 interrupted. Tests
are `dissect --test`, `run --test-findings`, `verify` and `doctor --self-test`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from wirelab import machine
from wirelab.cli.dissect import dissect
from wirelab.cli.doctor import doctor
from wirelab.cli.drive import drive
from wirelab.cli.reproduce import reproduce, studies
from wirelab.cli.run import demo, report, run
from wirelab.cli.schema import schema
from wirelab.cli.verify import verify
from wirelab.cli.wrap import wrap

app = typer.Typer(
    name="wirelab",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    *(demo, run, reproduce, drive, dissect, wrap, verify, report, doctor, studies, schema),
):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"wirelab {machine.versions()['wirelab']}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """A laboratory for wire protocols: which stack is faster for your message, load and
    network, by how much, how sure that is, and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (default: this process's) and returns its exit code."""
    try:
        app(args=list(arguments) if arguments is not None else None, prog_name="wirelab")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
