"""Code behind the parsers handles typed values: axes are attributes, and objects have types.

Both checks read the syntax tree, so that neither quotes nor line breaks hide anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import wirelab
from wirelab.documents.axes import Axes, Connection, SocketAxes
from wirelab.stack.axes import BY_NAME
from wirelab.stack.reference import Stack

ROOT = Path(__file__).parents[3]
PACKAGE = Path(wirelab.__file__).parent
AXES = frozenset({*BY_NAME, "binding", "language"})
PARSERS = ("stack/", "documents/axes.py")
"""Where axes are text: the parser of references, and the model that is made from it."""
OTHER_KEYS = {
    ("imports/openapi/operations.py", "security"): "a key of OpenAPI",
    ("imports/postman.py", "language"): "a key of Postman's collections",
    (
        "trial/stages/service.py",
        "store",
    ): "a part of a service's configuration, which services validate",
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
        elif isinstance(node, ast.Call) and _name_of_called(node.func) in LOOKUPS:
            container, keys = getattr(node.func, "value", node.func), node.args
        elif isinstance(node, ast.Call) and _name_of_called(node.func) == "getattr":
            container, keys = node.args[0], node.args[1:2]
        else:
            continue
        named = [key.value for key in keys if isinstance(key, ast.Constant)]
        if found := AXES.intersection(one for one in named if isinstance(one, str)):
            yield node.lineno, min(found)
        elif _name_of_called(container) in ("axes", "_axes", "texts") and not _is_position(keys):
            yield node.lineno, "?"


def _name_of_called(node: ast.AST) -> str:
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


FOREIGN = "reads documents of others, whose structure is not known before"
USERS = "values of a user's file, which pydantic models validate"
JOURNAL = "parser of the journal, also of earlier versions"
CLICK = "keyword arguments of click's options"
SCHEMA = "JSON Schema and messages of MCP, which others define"
OPTIONS = "options of a point, which the journal keeps as the experiment file gives them"
ENGINE = "shows the engine's result as JSON, which is also printed"
PLAN = "parts of a plan, which are validated together when the plan is complete"
MESSAGE = "values of messages, whose schema the user's contract has"
UNTYPED = {
    "api.py": "rows of the public table, which pandas reads",
    "checks/replies.py": OPTIONS,
    "cli/mcp_server/bounds.py": SCHEMA,
    "cli/mcp_server/calls.py": SCHEMA,
    "cli/mcp_server/limits.py": SCHEMA,
    "cli/mcp_server/server.py": SCHEMA,
    "cli/mcp_server/tools.py": SCHEMA,
    "cli/options/common.py": CLICK,
    "cli/output/drive.py": ENGINE,
    "cli/output/streams.py": ENGINE,
    "choose/samples.py": MESSAGE,
    "clients/ray_cluster.py": "arguments and nodes of Ray, which has no types",
    "contracts/codecs/__init__.py": MESSAGE,
    "contracts/codecs/avro.py": MESSAGE,
    "contracts/codecs/protobuf.py": MESSAGE,
    "contracts/codecs/tree.py": MESSAGE,
    "contracts/codecs/xml.py": MESSAGE,
    "contracts/reading/pools.py": "files by name, of google.protobuf, which has no types",
    "contracts/examples.py": MESSAGE,
    "contracts/inference.py": MESSAGE,
    "contracts/large_messages.py": MESSAGE,
    "contracts/reading/contract.py": MESSAGE,
    "contracts/rules.py": MESSAGE,
    "contracts/source.py": MESSAGE,
    "contracts/values.py": MESSAGE,
    "contracts/vary.py": MESSAGE,
    "experiment/json_schema.py": SCHEMA,
    "explain/outside.py": USERS,
    "farm/ray_tasks.py": "tasks and nodes of Ray, which has no types",
    "imports/curl.py": FOREIGN,
    "imports/experiment_text.py": FOREIGN,
    "imports/grpc.py": FOREIGN,
    "imports/har.py": FOREIGN,
    "imports/http_request.py": FOREIGN,
    "imports/openapi/content.py": FOREIGN,
    "imports/openapi/document.py": FOREIGN,
    "imports/openapi/examples.py": FOREIGN,
    "imports/openapi/matching.py": FOREIGN,
    "imports/openapi/operations.py": FOREIGN,
    "imports/operation.py": FOREIGN,
    "imports/postman.py": FOREIGN,
    "imports/source.py": FOREIGN,
    "records/group.py": JOURNAL,
    "records/line.py": JOURNAL,
    "records/trial.py": JOURNAL,
    "report/drive_page.py": ENGINE,
    "report/export.py": "rows of tables whose columns depend on the run",
    "report/sections/groups.py": "writes a part of report/export.py",
    "run/adaptive/derived.py": OPTIONS,
    "run/adaptive/flips.py": OPTIONS,
    "run/adaptive/record.py": OPTIONS,
    "selftest/known_answers.py": PLAN,
    "selftest/testbed.py": PLAN,
    "study/model.py": USERS,
    "trial/dissected.py": "reads dissections, also of earlier versions",
    "trial/plans.py": PLAN,
}
"""Modules with objects whose values have no type, with the reason. No other may have them."""
MAPPINGS = ("dict", "Mapping", "MutableMapping")


def is_untyped(node: ast.AST) -> bool:
    """Whether it is ``dict[str, Any]`` or another mapping to Any."""
    return (
        isinstance(node, ast.Subscript)
        and _name_of_called(node.value) in MAPPINGS
        and isinstance(node.slice, ast.Tuple)
        and [_name_of_called(one) for one in node.slice.elts] == ["str", "Any"]
    )


def find_aliases(tree: ast.Module) -> set[str]:
    """Names that a module gives to such a type."""
    return {
        _name_of_called(target)
        for node in tree.body
        if isinstance(node, ast.Assign) and is_untyped(node.value)
        for target in node.targets
    }


def find_untyped(trees: Mapping[str, ast.Module]) -> set[str]:
    """Modules that use such a type, also by a name that another module gives to it."""
    aliases = {_module_name(name): find_aliases(tree) for name, tree in trees.items()}
    found = set()
    for name, tree in trees.items():
        nodes = list(ast.walk(tree))
        imported = {
            (one.module, alias.name)
            for one in nodes
            if isinstance(one, ast.ImportFrom)
            for alias in one.names
        }
        if any(map(is_untyped, nodes)) or any(
            alias in aliases.get(str(module), ()) for module, alias in imported
        ):
            found.add(name)
    return found


def _module_name(name: str) -> str:
    return f"wirelab.{name.removesuffix('.py').replace('/', '.').removesuffix('.__init__')}"


def test_an_alias_of_another_module_is_found() -> None:
    trees = {
        "records/a.py": ast.parse("Json = dict[str, Any]"),
        "report/b.py": ast.parse("from wirelab.records.a import Json"),
        "report/c.py": ast.parse("def show(line: Mapping[\n    str, Any]): ..."),
        "report/d.py": ast.parse("from wirelab.records.a import Trial\nJson = dict[str, object]"),
    }
    assert find_untyped(trees) == {"records/a.py", "report/b.py", "report/c.py"}


def test_objects_without_types_are_only_where_the_list_permits_them() -> None:
    found = find_untyped({name: ast.parse(source) for name, source in _sources()})
    assert found - UNTYPED.keys() == set(), "give these a type"
    assert UNTYPED.keys() - found == set(), "remove these from the list"


def test_every_value_has_the_type_of_its_axis() -> None:
    axes = Stack.parse(
        "rest@go?connection=pool=8&in_flight=pipeline=4&client.nagle=on"
        "&client.quickack=off&client.tcp_window=65536&server.cpu=25%"
    ).axes
    assert (axes.binding, axes.language, axes.codec) == ("rest", "go", "json")
    assert axes.connection == Connection("pool", 8)
    assert (axes.in_flight, axes.close_delay_ms) == (4, 0)
    assert (axes.client.nagle, axes.server.nagle) == (True, False)
    assert (axes.client.quickack, axes.server.quickack) == (False, None)
    assert (axes.client.tcp_window, axes.server.tcp_window) == (65536, None)
    assert (axes.client.cpu_percent, axes.server.cpu_percent) == (None, 25)


def test_axes_that_a_journal_does_not_have_are_at_their_default() -> None:
    named = {"binding": "grpc", "language": "java", "start": "cold"}
    assert Axes.of(named) == Stack.parse("grpc@java?start=cold").axes


@pytest.mark.parametrize(("axis", "value"), [("via", "envoy"), ("connection", "many")])
def test_a_value_that_an_axis_does_not_have_is_refused(axis: str, value: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=value):
        Axes.of({"binding": "rest", "language": "go", axis: value})


@pytest.mark.parametrize(("name", "model"), [("Stack", Axes), ("SocketAxes", SocketAxes)])
def test_axes_have_the_names_of_the_model_in_rust(name: str, model: type[msgspec.Struct]) -> None:
    source = (ROOT / "crates/stack/src/stack.rs").read_text(encoding="utf-8")
    body = source.partition(f"pub struct {name} {{")[2].partition("\n}")[0]
    fields = set(re.findall(r"^    pub (\w+):", body, re.MULTILINE))
    assert len(fields) >= 5
    assert fields <= set(model.__struct_fields__)
