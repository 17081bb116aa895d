"""Reads study files."""

from __future__ import annotations

from pathlib import Path

from wirelab.experiment import yaml_model as typed_documents
from wirelab.study.model import Study


def load(path: Path) -> Study:
    """Reads a study file. Raises :class:`ExperimentError` with all its problems."""
    return typed_documents.load(path, Study, "a study")


def parse(text: str, name: str = "study") -> Study:
    """Reads the text of a study file. Raises :class:`ExperimentError`."""
    return typed_documents.parse(text, name, Study, "a study")
