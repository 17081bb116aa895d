"""Reads experiment files."""

from __future__ import annotations

import json
from pathlib import Path

from wirelab import typed_documents
from wirelab.experiment import Experiment

SCHEMA = Path(__file__).parent / "schemas" / "experiment.schema.json"
"""The committed JSON Schema, for editors; :func:`schema_text` makes it."""


def load(path: Path) -> Experiment:
    """Reads an experiment file. Raises :class:`ExperimentError` with all its problems."""
    return typed_documents.load(path, Experiment, "an experiment")


def parse(text: str, name: str = "experiment") -> Experiment:
    """Reads the text of an experiment file. Raises :class:`ExperimentError`."""
    return typed_documents.parse(text, name, Experiment, "an experiment")


def schema_text() -> str:
    """The JSON Schema of experiment files, as it is committed."""
    content = Experiment.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    content["title"] = "wirelab experiment"
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
