"""A YAML document with the line number of every key.

YAML is read by the core schema of YAML 1.2 where 1.1 is surprising: ``on`` and ``off`` stay
words, dates stay text. Duplicate keys are rejected, as YAML 1.2 (section 3.2.1.1) requires and
PyYAML does not do.
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
"""Maximum number of values after following aliases."""
DEPTH_MAX = 100
"""Maximum nesting depth of lists and mappings."""
STRING = "tag:yaml.org,2002:str"

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    # libyaml is ten times as fast; without it, PyYAML's own parser gives the same result.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    """The safe loader with the scalars of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rpartition(":")[2] not in ("bool", "timestamp", "int", "float")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
# Without the numbers to the base 60 of YAML 1.1: `1:30` is a word, and a long one takes no time.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)


@dataclass
class Document:
    """The values, and the line of each key and item."""

    name: str
    """File name for messages."""
    values: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    def value(self, path: Path) -> Any:
        """The text as written there."""
        found = self.values
        for part in path:
            found = found[part]
        return found

    def place(self, path: Path) -> str:
        """``file:line`` of the key, or of its nearest parent."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


class _Scalar(NamedTuple):
    """A word or number, as written."""

    value: str
    tag: str
    line: int


class _List(NamedTuple):
    items: list[_Node]
    line: int


class _Mapping(NamedTuple):
    items: list[_Node]
    """Keys and values, alternating."""
    line: int


_Node = _Scalar | _List | _Mapping


def read(text: str, name: str, nodes_max: int = NODES_MAX) -> Document:
    """Reads one document with at most that many values. Raises :class:`ExperimentError` with the
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


def read_values(text: str, name: str, nodes_max: int) -> tuple[Any, int]:
    """The values of one document without their lines, and their number. Aliases of a list or
    mapping are the same object, so that memory depends on the length of the text. Each use of an
    alias counts as if its target were written there. Raises :class:`ExperimentError`."""
    try:
        loader = _Loader(text)
        composer = _Composer(name, loader, nodes_max)
        node = composer.document()
    except yaml.YAMLError as error:
        raise ExperimentError([_syntax(name, error)]) from error
    if node is None:
        raise ExperimentError([f"{name}:1: the file is empty"])
    return _SharedReader(Document(name), loader, nodes_max).value(node, ()), composer.nodes


def _syntax(name: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else 1
    return f"{name}:{line}: not YAML: {getattr(error, 'problem', None) or error}"


class _Extent(NamedTuple):
    """Of a node with what is in it, aliases followed."""

    nodes: int
    levels: int


@dataclass
class _Open:
    """A list or mapping whose end is not read yet."""

    node: _List | _Mapping
    nodes_before: int
    is_anchored: bool
    levels: int = 0


class _Composer:
    """Composes nodes from the parser's events iteratively, no deeper than :data:`DEPTH_MAX`.
    PyYAML's own composer recurses at every level. An alias costs what its target costs, which is
    calculated, not expanded."""

    def __init__(self, name: str, loader: yaml.SafeLoader, nodes_max: int) -> None:
        self.nodes = 0
        """Read so far, keys included."""
        self._name = name
        self._nodes_max = nodes_max
        self._loader = loader
        self._anchors: dict[str, _Node] = {}
        self._extents: dict[int, _Extent] = {}
        """Of the lists and mappings that have an anchor and are complete, by their ids."""
        self._open: list[_Open] = []

    def document(self) -> _Node | None:
        """The only document; None for an empty file. Raises
        :class:`ExperimentError` and :class:`yaml.YAMLError`."""
        root: _Node | None = None
        for event in self._events():
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._error(event, "the file contains a second YAML document: keep only one")
            node = self._node(event)
            if node is None:
                continue
            if self._open:
                self._open[-1].node.items.append(node)
            root = node if root is None else root
            if isinstance(event, yaml.CollectionStartEvent):
                assert not isinstance(node, _Scalar)
                self._open.append(_Open(node, self.nodes - 1, event.anchor is not None))
        return root

    def _events(self) -> Iterator[yaml.Event]:
        while (event := self._loader.get_event()) is not None:  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.CollectionEndEvent):
                self._close(self._open.pop())
            elif isinstance(event, yaml.StreamEndEvent):
                return
            else:
                yield event

    def _close(self, ended: _Open) -> None:
        levels = ended.levels + 1
        if ended.is_anchored:
            self._extents[id(ended.node)] = _Extent(self.nodes - ended.nodes_before, levels)
        if self._open:
            self._open[-1].levels = max(self._open[-1].levels, levels)

    def _node(self, event: yaml.Event) -> _Node | None:
        """The node that an event begins; None if it does not begin one."""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
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
        return self._count(event, node, _Extent(1, 0))

    def _alias(self, event: yaml.AliasEvent) -> _Node:
        node = self._find_anchor(event)
        extent = self._extents.get(id(node), _Extent(1, 0))
        if self._open:
            self._open[-1].levels = max(self._open[-1].levels, extent.levels)
        return self._count(event, node, extent)

    def _count(self, event: yaml.Event, node: _Node, extent: _Extent) -> _Node:
        self.nodes += extent.nodes
        # Keys are nodes here, not values.
        if self.nodes > 2 * self._nodes_max:
            raise self._error(
                event,
                f"the file is too large: more than {self._nodes_max:,} values, "
                "each alias counted like a copy of its target",
            )
        if len(self._open) + extent.levels > DEPTH_MAX:
            raise self._error(event, f"the file is too deeply nested: more than {DEPTH_MAX} levels")
        return node

    def _find_anchor(self, event: yaml.AliasEvent) -> _Node:
        node = self._anchors.get(str(event.anchor))
        if node is None:
            raise self._error(
                event, f"not YAML: the anchor &{event.anchor} is not defined before this alias"
            )
        if any(node is one.node for one in self._open):
            raise self._error(event, f"the alias *{event.anchor} refers to a node that contains it")
        return node

    def _tag(self, event: yaml.ScalarEvent) -> str:
        if event.tag is not None and event.tag != "!":
            return str(event.tag)
        if event.value[:1] not in _Loader.yaml_implicit_resolvers:
            return STRING  # most are words, and `resolve` is slow
        resolve: Callable[..., str] = self._loader.resolve
        return resolve(yaml.ScalarNode, event.value, event.implicit)

    def _error(self, event: yaml.Event, problem: str) -> ExperimentError:
        return ExperimentError([f"{self._name}:{_line(event)}: {problem}"])


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Reader:
    """Values of nodes, with the line of each; the target of an alias is read each time."""

    def __init__(self, document: Document, loader: yaml.SafeLoader, nodes_max: int) -> None:
        self.document = document
        self.loader = loader
        self.nodes = 0
        self.nodes_max = nodes_max

    def value(self, node: _Node, path: Path) -> Any:
        self.document.lines.setdefault(path, node.line)
        self.nodes += 1
        if self.nodes > self.nodes_max or len(path) > DEPTH_MAX:
            raise self.error(node, path, "the file is too large or too deeply nested")
        if isinstance(node, _Mapping):
            return self.mapping(node, path)
        if isinstance(node, _List):
            return [self.value(item, (*path, i)) for i, item in enumerate(node.items)]
        return node.value if node.tag == STRING else self.scalar(node, path)

    def mapping(self, node: _Mapping, path: Path) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, value in zip(node.items[::2], node.items[1::2], strict=True):
            if not isinstance(key, _Scalar):
                raise self.error(key, path, "a key must be a single word")
            word = key.value
            at = (*path, word)
            if word in values:
                raise self.error(key, at, "duplicate key: remove one")
            self.mark(at, key.line)
            values[word] = self.value(value, at)
        return values

    def mark(self, path: Path, line: int) -> None:
        """Keeps the line of a key."""
        self.document.lines[path] = line

    def scalar(self, node: _Scalar, path: Path) -> Any:
        try:
            return self.loader.construct_object(yaml.ScalarNode(node.tag, node.value))
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            raise self.error(node, path, problem) from error

    def error(self, node: _Node, path: Path, problem: str) -> ExperimentError:
        return ExperimentError([f"{self.document.name}:{node.line}: {join_path(path)}: {problem}"])


class _SharedReader(_Reader):
    """Reads the target of an alias once and keeps no lines. The composer has counted the values."""

    def __init__(self, document: Document, loader: yaml.SafeLoader, nodes_max: int) -> None:
        super().__init__(document, loader, nodes_max)
        self._known: dict[int, Any] = {}

    def value(self, node: _Node, path: Path) -> Any:
        if isinstance(node, _Scalar):
            return node.value if node.tag == STRING else self.scalar(node, path)
        if id(node) not in self._known:
            self._known[id(node)] = (
                self.mapping(node, ())
                if isinstance(node, _Mapping)
                else [self.value(item, ()) for item in node.items]
            )
        return self._known[id(node)]

    def mark(self, path: Path, line: int) -> None:
        """Keeps nothing."""


def join_path(path: Path) -> str:
    """``("loads", 0, "closed")`` -> ``loads[0].closed``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"
