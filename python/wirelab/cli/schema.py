"""``wirelab schema``: JSON Schemas of experiment files and of output for programs."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.errors import EXIT_OK, UsageError

DOCUMENTS = ("experiment", "drive")


@click.command()
@click.argument(
    "document",
    default="experiment",
    metavar="[DOCUMENT]",
    help="experiment, or drive (output of `wirelab drive --json`)  [default: experiment]",
)
@exit_with_code
def schema(document: str) -> int:
    """Print the JSON Schema of a document, for editors and programs."""
    if document not in DOCUMENTS:
        from wirelab.stack.suggestions import did_you_mean

        raise UsageError(f"there is no schema of {document!r}", did_you_mean(document, DOCUMENTS))
    if document == "drive":
        from wirelab.drive.summary import schema_text
    else:
        from wirelab.experiment.loading import schema_text
    print(schema_text(), end="")
    return EXIT_OK
