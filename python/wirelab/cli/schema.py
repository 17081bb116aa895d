"""``wirelab schema``: the JSON Schemas of files that people write."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.errors import EXIT_OK, UsageError

DOCUMENTS = ("experiment",)


@click.command()
@click.argument(
    "document", default="experiment", metavar="[DOCUMENT]", help="experiment  [default: experiment]"
)
@exit_with_code
def schema(document: str) -> int:
    """Print the JSON Schema of a document, for editors."""
    if document not in DOCUMENTS:
        from wirelab.stack.suggestions import did_you_mean

        raise UsageError(f"there is no schema of {document!r}", did_you_mean(document, DOCUMENTS))
    from wirelab.experiment import loading as experiment_file

    print(experiment_file.schema_text(), end="")
    return EXIT_OK
