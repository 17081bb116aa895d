"""Reads study files; every problem is told as ``file:line: key: problem and remedy``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wirelab import documents
from wirelab.errors import ExperimentError
from wirelab.spelling import did_you_mean
from wirelab.study import Study

BRANCHES = {"str", "dict[str,any]"}
"""Parts of pydantic's locations that name the branch of a union, not a key."""


def load(path: Path) -> Study:
    """Reads a study file. Raises :class:`ExperimentError` with all its problems."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError([f"{path}: cannot be read: {error}"]) from error
    return parse(text, str(path))


def parse(text: str, name: str = "study") -> Study:
    """Reads the text of a study file. Raises :class:`ExperimentError`."""
    document = documents.read(text, name)
    if not isinstance(document.values, dict):
        raise ExperimentError([f"{name}:1: a study is a mapping of keys such as `name:`"])
    try:
        return Study.model_validate(document.values)
    except ValidationError as error:
        problems = [_problem(document, details) for details in error.errors()]
        raise ExperimentError(list(dict.fromkeys(problems))) from None


def _problem(document: documents.Document, details: ErrorDetails) -> str:
    path = tuple(part for part in details["loc"] if part not in BRANCHES)
    return f"{document.place(path)}: {documents.dotted(path)}: {_said(details, path)}"


def _said(details: ErrorDetails, path: documents.Path) -> str:
    kind, given = details["type"], details["input"]
    if kind == "extra_forbidden":
        return f"unknown key. {did_you_mean(str(path[-1]), _keys(path[:-1]))}"
    if kind == "missing":
        return "this key is missing; add it"
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error" or isinstance(given, (dict, list)):
        return message
    return f"{message}; given is {given!r}"


def _keys(path: documents.Path) -> list[str]:
    """The keys that the mapping at that place may have."""
    model: type[BaseModel] = Study
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _inner(model.model_fields[part].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The first model inside an annotation such as ``tuple[Claim, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = getattr(annotation, "__args__", ())
    return next(filter(None, map(_inner, arguments)), None)
