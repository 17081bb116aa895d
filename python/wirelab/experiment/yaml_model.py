"""Reads a YAML document into a model; every problem is reported as ``file:line: key: problem
and remedy``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from wirelab.errors import ExperimentError
from wirelab.experiment import yaml_source as documents
from wirelab.format.counting import format_count
from wirelab.stack.suggestions import did_you_mean

Model = TypeVar("Model", bound=BaseModel)

BRANCHES = {
    *("a number", "by size", "a word", "cores", "str", "dict[str,any]"),
    *("a name", "a profile", "random", "gilbert-elliott"),
    *("a time", "a distribution"),
    *("a reference", "a service", "of the lab", "own"),
}
"""Parts of pydantic's locations that name the branch of a union, not a key."""


PROBLEMS_MAX = 100
"""Maximum number of reported problems: each search for suggestions takes a millisecond."""

FOLDER = "folder"
"""Key of the validation context: the folder of the file, the base of relative paths."""

Further = Callable[[Model, documents.Document], list[str]]
"""Finds problems of a document that its model alone cannot locate."""


def load(path: Path, model: type[Model], what: str, further: Further[Model] | None = None) -> Model:
    """Reads a file. ``what`` names the kind of document, with its article.
    Raises :class:`ExperimentError` with all its problems."""
    return parse(read(path), str(path), model, what, further)


def read(path: Path) -> str:
    """The text of a file. Raises :class:`ExperimentError` where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ExperimentError([f"{path}: cannot be read: {reason}"]) from error


def parse(
    text: str, name: str, model: type[Model], what: str, further: Further[Model] | None = None
) -> Model:
    """Reads the text of a file. Raises :class:`ExperimentError`."""
    document = documents.read(text, name)
    if not isinstance(document.values, dict):
        raise ExperimentError([f"{name}:1: {what} must be a mapping with keys such as `name:`"])
    try:
        found = model.model_validate(document.values, context={FOLDER: Path(name).parent})
    except ValidationError as error:
        raise ExperimentError(_problems(document, error.errors(), model)) from None
    problems = further(found, document) if further else []
    if problems:
        raise ExperimentError(problems)
    return found


def _problems(
    document: documents.Document, errors: list[ErrorDetails], model: type[BaseModel]
) -> list[str]:
    places = [_path(details) for details in errors]
    above = {path[:length] for path in places for length in range(len(path))}
    problems: dict[str, None] = {}
    for details, path in zip(errors, places, strict=True):
        if details["type"] == "too_short" and path in above:
            continue  # pydantic counts only the valid items; the invalid ones are reported below
        if len(problems) == PROBLEMS_MAX:
            more = format_count(len(errors) - PROBLEMS_MAX, "problem")
            return [*problems, f"{document.name}: and {more} more, possibly with the same cause"]
        message = f"{documents.join_path(path)}: {explain(details, path, model)}"
        problems[f"{document.place(path)}: {message}"] = None
    return list(problems)


def _path(details: ErrorDetails) -> documents.Path:
    return tuple(part for part in details["loc"] if part not in BRANCHES)


def explain(details: ErrorDetails, path: documents.Path, model: type[BaseModel]) -> str:
    """What is wrong with a value, and what to write, without names of classes."""
    kind, given = details["type"], details["input"]
    if kind == "extra_forbidden":
        return f"unknown key. {did_you_mean(str(path[-1]), _keys(details['loc'][:-1], model))}"
    if kind == "missing":
        return "this key is missing; add it"
    if kind == "literal_error":
        known = details["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        return f"{given!r} is not a valid value. {did_you_mean(str(given), known)}"
    if kind == "union_tag_invalid":
        key, tag, tags = (
            details["ctx"][name] for name in ("discriminator", "tag", "expected_tags")
        )
        unquoted = key.strip("'")
        known = tags.replace("'", "").split(", ")
        return f"{unquoted}: {tag!r} is not a valid value. {did_you_mean(str(tag), known)}"
    if kind == "string_pattern_mismatch" and len(path) == 1:
        expected = model.model_fields[str(path[0])].description or details["ctx"]["pattern"]
        return f"{given!r} is not a valid value: use {expected}"
    if kind == "int_parsing":
        return f"expected a whole number, got {given!r}"
    if kind == "too_short" and not given:
        return "the list is empty: add at least one entry"
    if kind in _TABLES:
        return f"takes a table: {_table(details)}"
    if kind in _LISTS:
        return "takes a list: [first, second]"
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error" or isinstance(given, (dict, list)):
        return message
    return f"{message}, got {given!r}"


_TABLES = {"model_type", "model_attributes_type", "dict_type", "mapping_type", "dataclass_type"}
_LISTS = {"list_type", "tuple_type", "set_type", "frozen_set_type"}
_VALUE_MAX = 30
"""Characters of a value that is repeated."""


def _table(details: ErrorDetails) -> str:
    """``{min: 200 ms}``: the key that must be there, or the first, with the value."""
    given = details["input"]
    value = str(given) if isinstance(given, str) and len(given) <= _VALUE_MAX else "…"
    fields = _fields_of(str(details.get("ctx", {}).get("class_name", "")), BaseModel)
    names = [field.alias or name for name, field in fields.items() if field.is_required()]
    names += [field.alias or name for name, field in fields.items()]
    return f"{{{names[0]}: {value}}}" if names else "{name: value}"


def _fields_of(class_name: str, base: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of the model of that name."""
    for model in base.__subclasses__():
        if model.__name__ == class_name and model.__module__.startswith("wirelab."):
            return model.model_fields
        if found := _fields_of(class_name, model):
            return found
    return {}


def _keys(place: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """The keys that the mapping at pydantic's location may have."""
    annotation: Any = None
    for part in place:
        if part in BRANCHES:
            model = _find_branch(annotation, part) or model
        elif isinstance(part, str) and part in model.model_fields:
            annotation = model.model_fields[part].annotation
            model = _inner(annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The first model inside an annotation such as ``tuple[Load, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = getattr(annotation, "__args__", ())
    return next(filter(None, map(_inner, arguments)), None)


def _find_branch(annotation: Any, branch: int | str) -> type[BaseModel] | None:
    """The model of that union branch inside an annotation."""
    if any(getattr(one, "tag", None) == branch for one in getattr(annotation, "__metadata__", ())):
        return _inner(annotation)
    arguments = getattr(annotation, "__args__", ())
    return next(filter(None, (_find_branch(argument, branch) for argument in arguments)), None)
