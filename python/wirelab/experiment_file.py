"""Reads experiment files; every problem is told as ``file:line: key: problem and remedy``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wirelab import documents
from wirelab.errors import ExperimentError
from wirelab.experiment import Experiment
from wirelab.spelling import did_you_mean

SCHEMA = Path(__file__).parent / "schemas" / "experiment.schema.json"
"""The committed JSON Schema, for editors; :func:`schema_text` makes it."""
BRANCHES = {"a number", "by size", "a word", "cores"}
"""Parts of pydantic's locations that name the branch of a union, not a key."""


def load(path: Path) -> Experiment:
    """Reads an experiment file. Raises :class:`ExperimentError` with all its problems."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError([f"{path}: cannot be read: {error}"]) from error
    return parse(text, str(path))


def parse(text: str, name: str = "experiment") -> Experiment:
    """Reads the text of an experiment file. Raises :class:`ExperimentError`."""
    document = documents.read(text, name)
    if not isinstance(document.values, dict):
        raise ExperimentError([f"{name}:1: an experiment is a mapping of keys such as `name:`"])
    try:
        return Experiment.model_validate(document.values)
    except ValidationError as error:
        raise ExperimentError(_problems(document, error.errors())) from None


def schema_text() -> str:
    """The JSON Schema of experiment files, as it is committed."""
    content = Experiment.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    content["title"] = "wirelab experiment"
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _problems(document: documents.Document, errors: list[ErrorDetails]) -> list[str]:
    places = [_path(details) for details in errors]
    problems = []
    for details, path in zip(errors, places, strict=True):
        deeper = any(len(other) > len(path) and other[: len(path)] == path for other in places)
        if details["type"] == "too_short" and deeper:
            continue  # pydantic counts the items that were right; theirs is told below
        said = f"{documents.dotted(path)}: {_said(details, path)}"
        problems.append(f"{document.place(path)}: {said}")
    return list(dict.fromkeys(problems))


def _path(details: ErrorDetails) -> documents.Path:
    return tuple(part for part in details["loc"] if part not in BRANCHES)


def _said(details: ErrorDetails, path: documents.Path) -> str:
    kind, given = details["type"], details["input"]
    if kind == "extra_forbidden":
        return f"unknown key. {did_you_mean(str(path[-1]), _keys(path[:-1]))}"
    if kind == "missing":
        return "this key is missing; add it"
    if kind == "literal_error":
        known = details["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        return f"{given!r} is not possible here. {did_you_mean(str(given), known)}"
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error" or isinstance(given, (dict, list)):
        return message
    return f"{message}; given is {given!r}"


def _keys(path: documents.Path) -> list[str]:
    """The keys that the mapping at that place may have."""
    model: type[BaseModel] = Experiment
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _inner(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The first model inside an annotation such as ``tuple[Load, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = getattr(annotation, "__args__", ())
    return next(filter(None, map(_inner, arguments)), None)
