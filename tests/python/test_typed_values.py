"""Code behind the parsers handles typed values: axes are attributes, and objects have types.

Both checks read the syntax tree, so that neither quotes nor line breaks hide anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import wirelab
from wirelab.stack.axes import BY_NAME

PACKAGE = Path(wirelab.__file__).parent
AXES = frozenset({*BY_NAME, "binding", "language"})
PARSERS = ("stack/", "documents/axes.py")
"""Where axes are text: the parser of references, and the model that is made from it."""
OTHER_KEYS = {
    ("imports/openapi/operations.py", "security"): "a key of OpenAPI",
    ("imports/postman.py", "language"): "a key of Postman's collections",
    ("trial/runner.py", "store"): "a part of a service's configuration, which services validate",
}
"""Keys of documents that are also names of axes, with what they are."""
LOOKUPS = ("get", "pop", "setdefault", "__getitem__", "value", "itemgetter")


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def find_lookups(source: str) -> Iterator[tuple[int, str]]:
    """Line and key of every lookup of an axis by a string; the key is ``?`` where it is data."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            container, keys = node.value, [node.slice]
        elif isinstance(node, ast.Call) and _called(node.func) in LOOKUPS:
            container, keys = getattr(node.func, "value", node.func), node.args
        elif isinstance(node, ast.Call) and _called(node.func) == "getattr":
            container, keys = node.args[0], node.args[1:2]
        else:
            continue
        named = [key.value for key in keys if isinstance(key, ast.Constant)]
        if found := AXES.intersection(one for one in named if isinstance(one, str)):
            yield node.lineno, min(found)
        elif _called(container) in ("axes", "_axes", "texts") and not _is_position(keys):
            yield node.lineno, "?"


def _called(node: ast.AST) -> str:
    """The last name of ``a.b.name``; empty for another expression."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _is_position(keys: list[ast.expr]) -> bool:
    return all(isinstance(key, ast.Constant) and isinstance(key.value, int) for key in keys)


@pytest.mark.parametrize(
    "source",
    [
        "stack.axes['codec']",
        'point.axes.get("via", "none")',
        "axes[name]",
        "stack.axes.texts[\n    name]",
        "own['client.cpu']",
        "stack.value('codec')",
        "operator.itemgetter('codec')(texts)",
        "getattr(stack.axes, name)",
        "[trial._axes[one] for one in names]",
    ],
)
def test_a_lookup_of_an_axis_by_a_string_is_found(source: str) -> None:
    assert len(list(find_lookups(source))) == 1


@pytest.mark.parametrize(
    "source",
    ["stack.axes.codec", "stack.value(axis)", "step.axes[0]", "changes['codec'] = value"],
)
def test_attributes_and_changes_are_not_lookups(source: str) -> None:
    assert not list(find_lookups(source))


def test_no_module_looks_up_an_axis_by_a_string() -> None:
    found = {
        (name, key): line
        for name, source in _sources()
        if not name.startswith(PARSERS)
        for line, key in find_lookups(source)
    }
    assert found.keys() == OTHER_KEYS.keys(), {
        one: line for one, line in found.items() if one not in OTHER_KEYS
    }
