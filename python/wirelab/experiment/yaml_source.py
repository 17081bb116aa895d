"""A YAML document together with the line of every key.

YAML is read by the core schema of YAML 1.2 where 1.1 surprises: ``on`` and
``off`` stay words, dates stay text. Duplicate keys are refused, which YAML 1.2
(section 3.2.1.1) asks for and PyYAML does not do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from wirelab.errors import ExperimentError

Path = tuple[str | int, ...]
NODES_MAX = 100_000
"""Aliases are followed; a file that grows beyond this is refused."""
DEPTH_MAX = 100
"""Of lists and mappings within each other."""
STRING = "tag:yaml.org,2002:str"

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    # libyaml reads ten times as fast; a PyYAML that was built without it reads the same.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
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


class _Scalar(NamedTuple):
    """A word or number, as it is written."""

    value: str
    tag: str
    line: int


class _List(NamedTuple):
    items: list[_Node]
    line: int


class _Mapping(NamedTuple):
    items: list[_Node]
    """Keys and values in turns."""
    line: int


_Node = _Scalar | _List | _Mapping


def read(text: str, name: str, nodes_max: int = NODES_MAX) -> Document:
    """Reads one document of so many values at most. Raises :class:`ExperimentError` naming the
    line."""
    document = Document(name)
    try:
        loader = _Loader(text)
        node = _Composer(name, loader, nodes_max).document()
    except yaml.YAMLError as error:
        raise ExperimentError([_syntax(name, error)]) from error
    if node is None:
        raise ExperimentError([f"{name}:1: the file is empty"])
    document.values = _Reader(document, loader, nodes_max).value(node, ())
    return document


def _syntax(name: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else 1
    return f"{name}:{line}: not YAML: {getattr(error, 'problem', None) or error}"


class _Composer:
    """Puts the parser's events together, one after the other and no deeper than
    :data:`DEPTH_MAX`: PyYAML's own composer calls itself for every level."""

    def __init__(self, name: str, loader: yaml.SafeLoader, nodes_max: int) -> None:
        self._name = name
        self._nodes_max = nodes_max
        self._loader = loader
        self._anchors: dict[str, _Node] = {}
        self._open: list[_List | _Mapping] = []
        self._nodes = 0

    def document(self) -> _Node | None:
        """The one document that there is; None in an empty file. Raises
        :class:`ExperimentError` and :class:`yaml.YAMLError`."""
        root: _Node | None = None
        for event in self._events():
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._error(event, "there is another document; keep one in a file")
            node = self._node(event)
            if node is None:
                continue
            if self._open:
                self._open[-1].items.append(node)
            root = node if root is None else root
            if isinstance(event, yaml.CollectionStartEvent):
                assert not isinstance(node, _Scalar)
                self._open.append(node)
        return root

    def _events(self) -> Iterator[yaml.Event]:
        while self._loader.check_event():
            event: yaml.Event = self._loader.get_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.CollectionEndEvent):
                self._open.pop()
            else:
                yield event

    def _node(self, event: yaml.Event) -> _Node | None:
        """What an event begins; None where it begins nothing."""
        if isinstance(event, yaml.AliasEvent):
            return self._counted(event, self._anchored(event))
        if not isinstance(event, yaml.NodeEvent):
            return None
        line = _line(event)
        node: _Node
        if isinstance(event, yaml.ScalarEvent):
            node = _Scalar(event.value, self._tag(event), line)
        else:
            kind = _Mapping if isinstance(event, yaml.MappingStartEvent) else _List
            node = kind([], line)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return self._counted(event, node)

    def _counted(self, event: yaml.Event, node: _Node) -> _Node:
        self._nodes += 1
        # Keys are nodes here, and no values.
        if self._nodes > 2 * self._nodes_max or len(self._open) > DEPTH_MAX:
            raise self._error(event, "the file is too large or too deep")
        return node

    def _anchored(self, event: yaml.AliasEvent) -> _Node:
        node = self._anchors.get(str(event.anchor))
        if node is None:
            raise self._error(event, f"not YAML: there is no anchor &{event.anchor} before it")
        if any(node is one for one in self._open):
            raise self._error(event, f"*{event.anchor} stands within what it stands for")
        return node

    def _tag(self, event: yaml.ScalarEvent) -> str:
        if event.tag is not None and event.tag != "!":
            return str(event.tag)
        resolve: Callable[..., str] = self._loader.resolve
        return resolve(yaml.ScalarNode, event.value, event.implicit)

    def _error(self, event: yaml.Event, problem: str) -> ExperimentError:
        return ExperimentError([f"{self._name}:{_line(event)}: {problem}"])


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Reader:
    """Values of nodes, with the line of each; what an alias stands for is read each time."""

    def __init__(self, document: Document, loader: yaml.SafeLoader, nodes_max: int) -> None:
        self.document = document
        self.loader = loader
        self.nodes = 0
        self.nodes_max = nodes_max

    def value(self, node: _Node, path: Path) -> Any:
        self.document.lines.setdefault(path, node.line)
        self.nodes += 1
        if self.nodes > self.nodes_max or len(path) > DEPTH_MAX:
            raise self.error(node, path, "the file is too large or too deep")
        if isinstance(node, _Mapping):
            return self.mapping(node, path)
        if isinstance(node, _List):
            return [self.value(item, (*path, i)) for i, item in enumerate(node.items)]
        return node.value if node.tag == STRING else self.scalar(node, path)

    def mapping(self, node: _Mapping, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in zip(node.items[::2], node.items[1::2], strict=True):
            if not isinstance(key, _Scalar):
                raise self.error(key, path, "a key must be a word")
            word = key.value
            at = (*path, word)
            if word in values:
                raise self.error(key, at, "this key is there twice; remove one")
            self.document.lines[at] = key.line
            values[word] = self.value(value, at)
        return values

    def scalar(self, node: _Scalar, path: Path) -> Any:
        try:
            return self.loader.construct_object(yaml.ScalarNode(node.tag, node.value))
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            raise self.error(node, path, problem) from error

    def error(self, node: _Node, path: Path, problem: str) -> ExperimentError:
        return ExperimentError([f"{self.document.name}:{node.line}: {dotted(path)}: {problem}"])


def dotted(path: Path) -> str:
    """``("loads", 0, "closed")`` -> ``loads[0].closed``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"
