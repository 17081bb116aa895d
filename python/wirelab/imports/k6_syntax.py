"""Scripts of k6 as a syntax tree, and the values of its literals. Nothing of a script is run.

tree-sitter parses; a node is used only where its kind is known, and refused by its line elsewhere.
Kinds of nodes: ``node-types.json`` of https://github.com/tree-sitter/tree-sitter-javascript.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from wirelab import installation
from wirelab.errors import ImportLimit, UsageError
from wirelab.format.sanitize import sanitize
from wirelab.imports.budget import Budget
from wirelab.imports.source import Text

if TYPE_CHECKING:
    from tree_sitter import Node

WHAT = "a script of k6 (.js)"
BYTES_MAX = 1024 * 1024
PARSE_S_MAX = 2.0
"""Of the processor's time; a script of 1 MiB takes 0.4 s, and errors in it more."""
CHUNK_BYTES = 1024
"""Of the content, as the parser and the text of each node read it."""
DEPTH_MAX = 100
"""Expressions within each other."""
VALUES_A_STEP = 100
"""Names that are copied for a block in one step of the budget."""
INTEGER_MAX = 2**53 - 1
"""Numbers of JavaScript that are exact."""
Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_UNRESERVED = "!'()*-._~"
"""What encodeURIComponent leaves as it is, next to letters and digits."""


class Unsupported(Exception):
    """A part of a script that is not imported."""

    def __init__(self, node: Node | None, what: str) -> None:
        """``node`` is None where a script has no such part."""
        super().__init__(what)
        self.line = line_of(node) if node is not None else 1
        self.what = what


def line_of(node: Node) -> int:
    """The line that it begins in, counted from 1."""
    return int(node.start_point[0]) + 1


def words(node: Node) -> str:
    """The kind of a node, as people read it: ``for statement``."""
    return node.type.replace("_", " ")


def source_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode()


def field_of(node: Node, name: str) -> Node:
    """A part that every node of the kind has. Raises :class:`Unsupported`."""
    found = node.child_by_field_name(name)
    if found is None:
        raise Unsupported(node, words(node))
    return found


def parts(node: Node) -> list[Node]:
    """What it has, without punctuation and comments."""
    return [one for one in node.named_children if one.type not in ("comment", "html_comment")]


def parse(text: Text) -> Node:
    """The whole script. Raises :class:`UsageError`."""
    content = text.text.encode("utf-8", "surrogatepass")
    if len(content) > BYTES_MAX:
        raise ImportLimit(f"{text.name}: larger than {BYTES_MAX:,} B (limit file)", f"name {WHAT}")
    if (at := text.text.find("\0")) >= 0:
        raise UsageError(f"{text.line_at(at)}: it has a NUL, so it is not text", f"name {WHAT}")
    root = _parse(text, content)
    if root.has_error:
        wrong = _find_error(root)
        raise UsageError(f"{text.name}:{line_of(wrong)}: not JavaScript", f"name {WHAT}")
    return root


def _parse(text: Text, content: bytes) -> Node:
    try:
        import tree_sitter_javascript
        from tree_sitter import Language, Parser
    except ImportError:
        raise UsageError(
            "scripts of k6 are read with tree-sitter, which is not installed",
            installation.extra("k6"),
        ) from None
    parser = Parser(Language(tree_sitter_javascript.language()))
    end = time.process_time() + PARSE_S_MAX
    try:
        return parser.parse(
            lambda at, _: content[at : at + CHUNK_BYTES],
            # True gives up. It is asked only where the content is read by a function.
            progress_callback=lambda *_: time.process_time() > end,
        ).root_node
    except ValueError:
        raise ImportLimit(
            f"{text.name}: it takes longer than {PARSE_S_MAX:.0f} s to parse (limit steps)",
            f"name {WHAT}",
        ) from None


def _find_error(root: Node) -> Node:
    """The first place that is not JavaScript."""
    node = root
    while not node.is_error and not node.is_missing:
        inner = next((one for one in node.children if one.has_error or one.is_missing), None)
        if inner is None:
            break
        node = inner
    return node


class Scope:
    """Names with values that are known without running the script."""

    def __init__(self, budget: Budget, values: dict[str, Value] | None = None) -> None:
        self.values = dict(values or {})
        self.environment: dict[str, str] = {}
        """Variables that were read, with the defaults that were taken."""
        self._budget = budget
        self._by_kind: dict[str, Callable[[Node, int], Value]] = {
            "string": self._string,
            "template_string": self._string,
            "number": lambda node, _: _number(node),
            "true": lambda *_: True,
            "false": lambda *_: False,
            "null": lambda *_: None,
            "identifier": self._look_up,
            "object": self._object,
            "array": self._array,
            "parenthesized_expression": lambda node, depth: self.read(parts(node)[0], depth),
            "unary_expression": self._unary,
            "binary_expression": self._binary,
            "member_expression": self._member,
            "subscript_expression": self._member,
            "call_expression": self._call,
        }

    def inner(self) -> Scope:
        """A block within, whose names end with it."""
        self._budget.take_steps(1 + len(self.values) // VALUES_A_STEP)
        scope = Scope(self._budget, self.values)
        scope.environment = self.environment
        return scope

    def read(self, node: Node, depth: int = 0) -> Value:
        """The value of an expression. Raises :class:`Unsupported`."""
        if depth > DEPTH_MAX:
            raise Unsupported(node, f"an expression of more than {DEPTH_MAX} levels")
        reader = self._by_kind.get(node.type)
        if reader is None:
            raise Unsupported(node, words(node))
        value = reader(node, depth + 1)
        if isinstance(value, str):
            self._budget.take_text(len(value))
        return value

    def _string(self, node: Node, depth: int) -> str:
        return _join_text(node, lambda one: as_text(self.read(parts(one)[0], depth), one))

    def _look_up(self, node: Node, _: int) -> Value:
        name = source_of(node)
        if name not in self.values:
            raise Unsupported(
                node, f"{_quote_source(node)}, which is not a constant with a literal value"
            )
        return self.values[name]

    def _object(self, node: Node, depth: int) -> Value:
        made: dict[str, Value] = {}
        for one in parts(node):
            if one.type == "pair":
                made[key_of(one)] = self.read(field_of(one, "value"), depth)
            elif one.type == "shorthand_property_identifier":
                made[source_of(one)] = self._look_up(one, depth)
            elif one.type == "spread_element":
                inner = self.read(parts(one)[0], depth)
                if not isinstance(inner, dict):
                    raise Unsupported(one, words(one))
                made |= inner
            else:
                raise Unsupported(one, words(one))
        return made

    def _array(self, node: Node, depth: int) -> Value:
        kinds = [one.type for one in node.children if one.type != "comment"]
        if any(one == "," and before in ("[", ",") for before, one in pairwise(kinds)):
            raise Unsupported(node, "a list with an empty place")
        return [self.read(one, depth) for one in parts(node)]

    def _unary(self, node: Node, depth: int) -> Value:
        value = self.read(field_of(node, "argument"), depth)
        if source_of(field_of(node, "operator")) == "-" and _is_number(value):
            return -value  # type: ignore[operator]  # it is a number
        raise Unsupported(node, words(node))

    def _binary(self, node: Node, depth: int) -> Value:
        operator = source_of(field_of(node, "operator"))
        left, right = field_of(node, "left"), field_of(node, "right")
        if operator in ("||", "??"):
            return self._either(operator, left, right, depth)
        one, other = self.read(left, depth), self.read(right, depth)
        if operator == "+" and (isinstance(one, str) or isinstance(other, str)):
            return as_text(one, left) + as_text(other, right)
        if operator in _ARITHMETIC and _is_number(one) and _is_number(other):
            try:
                return _to_number(_ARITHMETIC[operator](float(one), float(other)))  # type: ignore[arg-type]
            except ArithmeticError:
                pass
        raise Unsupported(node, f"{words(node)} {operator}")

    def _either(self, operator: str, left: Node, right: Node, depth: int) -> Value:
        """``__ENV.NAME || default``."""
        if _is_environment(left):
            value = self.read(right, depth)
            self.environment[_quote_source(left)] = as_text(value, right)
            return value
        value = self.read(left, depth)
        # Unlike in Python, empty objects and lists are true.
        is_taken = (
            value is not None if operator == "??" else value or isinstance(value, (dict, list))
        )
        return value if is_taken else self.read(right, depth)

    def _member(self, node: Node, depth: int) -> Value:
        if _is_environment(node):
            raise Unsupported(node, f"{_quote_source(node)} without a default (|| '…')")
        whole = self.read(field_of(node, "object"), depth)
        key: Value
        if node.type == "member_expression":
            key = source_of(field_of(node, "property"))
        else:
            key = self.read(field_of(node, "index"), depth)
        if isinstance(whole, dict) and isinstance(key, str) and key in whole:
            return whole[key]
        if isinstance(whole, list) and isinstance(key, int) and 0 <= key < len(whole):
            return whole[key]
        raise Unsupported(node, f"{_quote_source(node)}, which has no literal value")

    def _call(self, node: Node, depth: int) -> Value:
        function = source_of(field_of(node, "function"))
        given = arguments_of(node)
        if function == "JSON.stringify" and len(given) == 1:
            value = self.read(given[0], depth)
            self._budget.check_value(value)
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if function == "encodeURIComponent" and len(given) == 1:
            return quote(as_text(self.read(given[0], depth), node), safe=_UNRESERVED)
        raise Unsupported(node, f"a call of {_quote_source(field_of(node, 'function'))}")


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call. Raises :class:`Unsupported` for a tagged template."""
    given = field_of(call, "arguments")
    if given.type != "arguments":
        raise Unsupported(call, "a template with a tag")
    return parts(given)


def pairs_of(node: Node) -> Iterator[tuple[str, Node]]:
    """Keys and values of an object as it is written. Raises :class:`Unsupported`."""
    if node.type != "object":
        raise Unsupported(node, f"{words(node)} instead of an object")
    for one in parts(node):
        if one.type == "pair":
            yield key_of(one), field_of(one, "value")
        elif one.type == "shorthand_property_identifier":
            yield source_of(one), one
        else:
            raise Unsupported(one, words(one))


def key_of(pair: Node) -> str:
    """The name of a property. Raises :class:`Unsupported` for one that is calculated."""
    key = field_of(pair, "key")
    if key.type == "string":
        return _join_text(key)
    if key.type in ("property_identifier", "number"):
        return source_of(key)
    raise Unsupported(key, words(key))


def _join_text(node: Node, fill: Callable[[Node], str] = source_of) -> str:
    """The text of a string or a template, whose substitutions ``fill`` has. Raises
    :class:`Unsupported`."""
    read = {"escape_sequence": _unescape, "template_substitution": fill}
    text = "".join(read.get(one.type, source_of)(one) for one in parts(node))
    try:
        # Two escapes may be the halves of one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise Unsupported(node, "half a character (a single surrogate)") from None


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
}


def _quote_source(node: Node) -> str:
    return sanitize(source_of(node)[:80])


def _is_environment(node: Node) -> bool:
    whole = node.child_by_field_name("object")
    return whole is not None and source_of(whole) == "__ENV"


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(node: Node) -> int | float:
    text = source_of(node).replace("_", "").lower()
    try:
        if re.fullmatch(r"0[xbo][0-9a-f]+", text):
            return _to_number(int(text, 0))
        if re.fullmatch(r"(?:0|[1-9]\d*)?(?:\.\d*)?(?:e[+-]?\d+)?", text):
            return _to_number(float(text))
    except ArithmeticError:
        pass
    raise Unsupported(node, f"the number {_quote_source(node)}")


def _to_number(value: float) -> int | float:
    """A whole number as such. Raises :class:`ArithmeticError` for what is not finite."""
    if not math.isfinite(value):
        raise ArithmeticError
    return int(value) if value == int(value) and abs(value) <= INTEGER_MAX else float(value)


def as_text(value: Value, node: Node) -> str:
    """As a template writes it (ECMA-262, ToString)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        if 1e-6 <= abs(value) < 1e21 or value == 0:
            return format(Decimal(repr(value)), "f")
        return re.sub(r"e([+-])0+", r"e\1", repr(value))
    raise Unsupported(node, "an object or a list as text")


def _unescape(node: Node) -> str:
    """ECMA-262, 12.9.4."""
    escape = source_of(node)[1:]
    if escape[0] in "xu" and len(escape) > 1:
        number = int(escape[1:].strip("{}"), 16)
        if number > 0x10FFFF:
            raise Unsupported(node, f"the character {_quote_source(node)}")
        return chr(number)
    if escape[0] in "\r\n\u2028\u2029":
        return ""
    if re.fullmatch("[0-7]{1,3}", escape) and escape != "0":
        return chr(int(escape, 8))
    return _ESCAPES.get(escape, escape)
