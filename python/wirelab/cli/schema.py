"""``wirelab schema``: the JSON Schemas of files that people write."""

from __future__ import annotations

from typing import Annotated

import typer

from wirelab import experiment_file
from wirelab.cli.edges import told
from wirelab.errors import EXIT_OK, UsageError
from wirelab.spelling import did_you_mean

SCHEMAS = {"experiment": experiment_file.schema_text}


@told
def schema(
    document: Annotated[str, typer.Argument(help="experiment", metavar="DOCUMENT")] = "experiment",
) -> int:
    """Print the JSON Schema of a document, for editors."""
    if document not in SCHEMAS:
        raise UsageError(f"there is no schema of {document!r}", did_you_mean(document, SCHEMAS))
    print(SCHEMAS[document](), end="")
    return EXIT_OK
