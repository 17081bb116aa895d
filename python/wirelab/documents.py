"""A YAML document together with the line of every key.

YAML is read by the core schema of YAML 1.2 where 1.1 surprises: ``on`` and
``off`` stay words, dates stay text. Duplicate keys are refused, which YAML 1.2
(section 3.2.1.1) asks for and PyYAML does not do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from wirelab.errors import ExperimentError

Path = tuple[str | int, ...]
NODES_MAX = 100_000
"""Aliases are followed; a file that grows beyond this is refused."""


class _Loader(yaml.SafeLoader):
    """The safe loader with the scalars of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


@dataclass
class Document:
    """The values, and where each key and item stands."""

    name: str
    """File name for messages."""
    values: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    def value(self, path: Path) -> Any:
        """What stands there, as it was written."""
        found = self.values
        for part in path:
            found = found[part]
        return found

    def place(self, path: Path) -> str:
        """``file:line`` of the key, or of the nearest one above it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


def read(text: str, name: str) -> Document:
    """Reads one document. Raises :class:`ExperimentError` naming the line."""
    document = Document(name)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        raise ExperimentError([_syntax(name, error)]) from error
    except RecursionError:
        raise ExperimentError([f"{name}:1: the file is too deep"]) from None
    if node is None:
        raise ExperimentError([f"{name}:1: the file is empty"])
    document.values = _Reader(document, loader).value(node, ())
    return document


def _syntax(name: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else 1
    return f"{name}:{line}: not YAML: {getattr(error, 'problem', None) or error}"


class _Reader:
    def __init__(self, document: Document, loader: _Loader) -> None:
        self.document = document
        self.loader = loader
        self.nodes = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.document.lines.setdefault(path, node.start_mark.line + 1)
        self.nodes += 1
        if self.nodes > NODES_MAX or len(path) > 100:
            raise self.error(node, path, "the file is too large or too deep")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        return self.scalar(node, path)

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, path, "a key must be a word")
            key = str(key_node.value)
            if key in values:
                raise self.error(key_node, (*path, key), "this key is there twice; remove one")
            self.document.lines[(*path, key)] = key_node.start_mark.line + 1
            values[key] = self.value(value_node, (*path, key))
        return values

    def scalar(self, node: yaml.Node, path: Path) -> Any:
        try:
            return self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise self.error(node, path, str(error)) from error

    def error(self, node: yaml.Node, path: Path, problem: str) -> ExperimentError:
        line = node.start_mark.line + 1
        return ExperimentError([f"{self.document.name}:{line}: {dotted(path)}: {problem}"])


def dotted(path: Path) -> str:
    """``("loads", 0, "closed")`` -> ``loads[0].closed``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"
