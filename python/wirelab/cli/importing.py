"""``wirelab import``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.error_handling import out as console
from wirelab.cli.options.common import PATH
from wirelab.errors import EXIT_OK, UsageError

KINDS = ("openapi", "grpc", "har", "postman", "curl", "jmeter", "k6")
SENDING_FILES = ("curl", "jmeter", "postman")
"""Kinds of sources that name files to send."""


@click.command("import")
@click.argument("kind", metavar="KIND", help=f"One of {', '.join(KINDS)}.")
@click.argument(
    "source",
    help="openapi: FILE or URL. grpc: a .proto file, a descriptor set, or HOST:PORT of a server "
    "with reflection. har, postman, jmeter (.jmx), k6 (.js): FILE. curl: the command, in quotes.",
)
@click.option(
    "--out",
    type=PATH,
    metavar="FILE",
    help="Experiment file to write. [default: named after the document]",
)
@click.option(
    "--only",
    metavar="PATTERN",
    help="Import only operations whose name, path, METHOD path or URL matches, e.g. 'GET /pets*'.",
)
@click.option(
    "--import",
    "include",
    multiple=True,
    metavar="DIR",
    help="Folder with imports of the .proto (grpc only). May be repeated.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--any-target",
    is_flag=True,
    help="Allow another machine as the source and as the target of the experiment.",
)
@click.option(
    "--any-file",
    is_flag=True,
    help="Allow files to send from any folder (curl: default the current one; postman, jmeter: "
    "that of the document).",
)
@exit_with_code
def import_(
    kind: str,
    source: str,
    out: Path | None,
    only: str | None,
    include: tuple[str, ...],
    force: bool,
    any_target: bool,
    any_file: bool,
) -> int:
    """Write an experiment file from an OpenAPI document, a .proto, a recording, a command or a
    load script."""
    if kind not in KINDS:
        from wirelab.stack.suggestions import did_you_mean

        raise UsageError(f"{kind!r} cannot be imported", did_you_mean(kind, KINDS))
    if any_file and kind not in SENDING_FILES:
        raise UsageError("--any-file applies to curl, jmeter and postman only", "leave it out")
    if include and kind != "grpc":
        raise UsageError("--import applies to grpc only", "leave it out")
    from wirelab.imports import reading
    from wirelab.imports.experiment_text import summary, write

    allowed = reading.Allowed(any_target, any_file)
    imported = reading.read(kind, source, include, only, allowed).choose(only)
    written = write(imported, out, force=force, any_target=any_target)
    for line in summary(written):
        console.print(line)
    return EXIT_OK
