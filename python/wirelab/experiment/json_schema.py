"""The JSON Schema of experiment files, for editors: as the model has it, but with one branch for
each kind of entry, so that a misspelt value is reported and not that no branch matches."""

from __future__ import annotations

import re
from typing import Any

from wirelab.experiment.model import OWN_KEYS, Experiment
from wirelab.stack import manifests
from wirelab.stack.axes import BINDINGS

Json = dict[str, Any]
URL = r"(https?|grpcs?)://.+"


def experiment_schema() -> Json:
    """Draft 2020-12."""
    content = Experiment.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    content["title"] = "wirelab experiment"
    properties = content["properties"]
    properties["services"]["items"] = _service()
    properties["messages"]["items"] = _message()
    _join_names(content)
    return content


def _join_names(part: object) -> None:
    """A name out of a list, or null, is one list: the error then has the names."""
    if isinstance(part, list):
        for each in part:
            _join_names(each)
    if not isinstance(part, dict):
        return
    for each in part.values():
        _join_names(each)
    match part.get("anyOf"):
        case [{"enum": list(names), "type": "string"}, {"type": "null"}]:
            del part["anyOf"]
            part["enum"] = [*names, None]


def _service() -> Json:
    """A reference of a binding and a language that exist, or a declaration."""
    languages = "|".join(map(re.escape, sorted(manifests.load().by_language)))
    bindings = "|".join(map(re.escape, BINDINGS))
    reference = {
        "type": "string",
        "pattern": rf"^\s*(({bindings})@({languages})(\?.*)?|{URL})\s*$",
        "description": "a stack reference, such as rest@rust?codec=protobuf, or a URL",
    }
    return _choose({"type": "string"}, reference, {"$ref": "#/$defs/ExternalService"})


def _message() -> Json:
    """A message of a contract, or one for the user's own services: by its keys, or by those of its
    first part."""
    is_own = {
        "anyOf": [*map(_has, sorted(OWN_KEYS)), {"required": ["data", "name"]}],
        "not": {"anyOf": [_has("operation"), _has("sequence")]},
    }
    first = {"prefixItems": [is_own]}
    condition = _choose(
        {"anyOf": [_has("mix"), _has("steps")]},
        {"properties": {"mix": first, "steps": first}},
        is_own,
    )
    return _choose(condition, {"$ref": "#/$defs/ExternalMessage"}, {"$ref": "#/$defs/Message"})


def _has(key: str) -> Json:
    return {"required": [key]}


def _choose(condition: Json, then: Json, otherwise: Json) -> Json:
    return {"if": condition, "then": then, "else": otherwise}
