"""Scripts of k6 (https://grafana.com/docs/k6/latest/using-k6/): requests with literal values, and
the load of their options. A script is read, never run; what is not understood is refused by its
line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from wirelab.errors import UsageError
from wirelab.imports import k6_syntax, load_script
from wirelab.imports.budget import Budget
from wirelab.imports.http_request import FORM, NotImportable, Recorded
from wirelab.imports.k6_load import DEFAULT, Scenario, read_scenarios
from wirelab.imports.k6_syntax import (
    Scope,
    Unsupported,
    Value,
    as_text,
    field_of,
    parts,
    source_of,
    words,
)
from wirelab.imports.load_script import Group
from wirelab.imports.operation import Imported, LeftOut
from wirelab.imports.source import Text
from wirelab.stack.targets import VISIBLE

if TYPE_CHECKING:
    from tree_sitter import Node

REFUSED_MAX = 20
"""Parts in a message that lists them."""
METHODS = {
    "get": "GET",
    "head": "HEAD",
    "options": "OPTIONS",
    "post": "POST",
    "put": "PUT",
    "patch": "PATCH",
    "del": "DELETE",
}
WITHOUT_BODY = ("get", "head", "options")
"""Methods whose second argument has the parameters."""
FUNCTIONS = ("sleep", "check", "group")
"""Of the module ``k6``."""
UNSENT = ("tags", "timeout", "responseType", "responseCallback", "redirects", "discardResponse")
"""Parameters of a request that do not change it."""
WITHOUT_REQUESTS = ("handleSummary",)
"""Functions that k6 calls by their name, and that send nothing."""
GROUPS_DEPTH_MAX = 20
"""Groups within each other."""
STATEMENT_STEPS = 10
"""Of the budget; a function is read again for each of its scenarios."""
_FUNCTIONS = ("function_declaration", "function_expression", "arrow_function")
_DECLARATIONS = ("lexical_declaration", "variable_declaration")


def read(text: Text, only: str | None = None) -> Imported:
    """The requests of one scenario: the first that a shell pattern matches. Raises
    :class:`UsageError`."""
    script = _Script(text, Budget(text.name))
    for node in parts(k6_syntax.parse(text)):
        script.attempt(script.read_statement, node)
    groups = script.groups()
    refused = list(dict.fromkeys(script.refused))
    if refused:
        more = len(refused) - REFUSED_MAX
        listed = [*refused[:REFUSED_MAX], *([f"and {more} more"] if more > 0 else [])]
        raise UsageError(
            "the script has parts that are not imported:\n  " + "\n  ".join(listed),
            "leave them out of a copy, or write the experiment by hand",
        )
    return load_script.select(groups, only, text.stem, f"k6 script, {text.name}", script.left_out)


@dataclass
class _Script:
    text: Text
    budget: Budget
    http: str = ""
    """The name that the script gives to ``k6/http``."""
    functions: dict[str, str] = field(default_factory=dict)
    """Functions of the module ``k6`` by the names that the script gives to them."""
    exported: dict[str, Node] = field(default_factory=dict)
    options: Node | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scope = Scope(self.budget)

    def attempt(self, read: Callable[[Node], None], node: Node) -> None:
        """Reads a part; remembers why it is refused."""
        try:
            read(node)
        except Unsupported as reason:
            self._refuse(reason)

    def _refuse(self, reason: Unsupported) -> None:
        self.refused.append(f"{self.text.name}:{reason.line}: {reason.what[:200]}")

    def leave_out(self, node: Node, what: str, why: str) -> None:
        """Something that changes no request."""
        self.left_out.append(LeftOut(f"{self.text.name}:{k6_syntax.line_of(node)}: {what}", why))

    def read_statement(self, node: Node) -> None:
        """A statement at the top level. Raises :class:`Unsupported`."""
        if node.type == "import_statement":
            self._import(node)
        elif node.type in _DECLARATIONS:
            self._declare(node, self.scope)
        elif node.type == "export_statement":
            self._export(node)
        elif node.type not in ("hash_bang_line", "empty_statement"):
            raise Unsupported(node, words(node))

    def _import(self, node: Node) -> None:
        module = self.scope.read(field_of(node, "source"))
        clauses = [one for clause in parts(node) if clause.type == "import_clause"
                   for one in parts(clause)]  # fmt: skip
        if module == "k6/http" and len(clauses) == 1 and clauses[0].type == "identifier":
            self.http = source_of(clauses[0])
        elif module == "k6" and len(clauses) == 1 and clauses[0].type == "named_imports":
            for one in parts(clauses[0]):
                name = source_of(field_of(one, "name"))
                if name not in FUNCTIONS:
                    raise Unsupported(one, f"{name} of the module k6")
                self.functions[source_of(one.child_by_field_name("alias") or one)] = name
        else:
            raise Unsupported(node, f"an import of {module}")

    def _declare(self, node: Node, scope: Scope) -> None:
        """Constants. Raises :class:`Unsupported`."""
        for one in parts(node):
            self._declare_one(one, scope)

    def _declare_one(self, node: Node, scope: Scope) -> None:
        name, value = field_of(node, "name"), field_of(node, "value")
        if name.type != "identifier":
            raise Unsupported(name, words(name))
        scope.values[source_of(name)] = scope.read(value)

    def _export(self, node: Node) -> None:
        is_default = any(one.type == "default" for one in node.children)
        made = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        if made is None:
            raise Unsupported(node, words(node))
        if made.type in _FUNCTIONS:
            name = DEFAULT if is_default else source_of(field_of(made, "name"))
            self._export_function(name, made)
        elif made.type in _DECLARATIONS:
            for one in parts(made):
                name = source_of(field_of(one, "name"))
                value = field_of(one, "value")
                if name == "options":
                    self.options = value
                elif value.type in _FUNCTIONS:
                    self._export_function(name, value)
                else:
                    self._declare_one(one, self.scope)
        else:
            raise Unsupported(made, words(made))

    def _export_function(self, name: str, node: Node) -> None:
        if name in WITHOUT_REQUESTS:
            self.leave_out(node, name, "the report is made by wirelab")
        elif name in ("setup", "teardown"):
            raise Unsupported(node, f"the function {name}")
        else:
            self.exported[name] = node

    def groups(self) -> list[Group]:
        """The scenarios with their requests, and the load of each."""
        try:
            scenarios, left_out = read_scenarios(self.options, self.scope, self.text.name)
        except Unsupported as reason:
            self._refuse(reason)
            return []
        self.left_out += left_out
        return [self._group(one) for one in scenarios]

    def _group(self, scenario: Scenario) -> Group:
        group = Group(scenario.name, scenario.place, {}, is_bounded=False)
        function = self.exported.get(scenario.function)
        if function is None:
            self.refused.append(f"{scenario.place}: function {scenario.function} is not exported")
            return group
        self._read_block(field_of(function, "body"), _Users(group, self.scope.inner()))
        try:
            scenario.write_load(group)
        except Unsupported as reason:
            self._refuse(reason)
        for name, value in self.scope.environment.items():
            group.notes.append(f"{name} has its default, {value}.")
        return group

    def _read_block(self, body: Node, users: _Users) -> None:
        """The statements of a function, or its only expression."""
        if body.type != "statement_block":
            self.attempt(lambda node: self._read_call(node, users), body)
            return
        for one in parts(body):
            self.attempt(lambda node: self._read_step(node, users), one)

    def _read_step(self, node: Node, users: _Users) -> None:
        self.budget.take_steps(STATEMENT_STEPS)
        if node.type == "expression_statement":
            self._read_call(parts(node)[0], users)
        elif node.type in _DECLARATIONS:
            for one in parts(node):
                value = one.child_by_field_name("value")
                if value is not None and self._method(value) is not None:
                    self._add_request(value, users)
                    users.scope.values.pop(source_of(field_of(one, "name")), None)
                else:
                    self._declare_one(one, users.scope)
        elif node.type != "empty_statement":
            raise Unsupported(node, words(node))

    def _method(self, node: Node) -> str | None:
        """The function of ``k6/http`` that is called; None of another expression."""
        if node.type != "call_expression":
            return None
        function = field_of(node, "function")
        whole = function.child_by_field_name("object")
        if whole is None or not self.http or source_of(whole) != self.http:
            return None
        return source_of(field_of(function, "property"))

    def _read_call(self, node: Node, users: _Users) -> None:
        """A call as a statement. Raises :class:`Unsupported`."""
        if self._method(node) is not None:
            self._add_request(node, users)
            return
        if node.type != "call_expression":
            raise Unsupported(node, words(node))
        name = source_of(field_of(node, "function"))
        given = k6_syntax.arguments_of(node)
        called = self.functions.get(name)
        if called == "sleep" and len(given) == 1:
            seconds = users.scope.read(given[0])
            if not isinstance(seconds, (int, float)) or seconds < 0:
                raise Unsupported(given[0], "a time to sleep that is not a number")
            users.group.pause_s += seconds
        elif called == "check" and given:
            self.leave_out(node, "check", "replies are checked by their status: see `expect`")
            if self._method(given[0]) is not None:
                self._add_request(given[0], users)
            elif given[0].type != "identifier":
                raise Unsupported(given[0], words(given[0]))
        elif called == "group" and len(given) == 2 and given[1].type in _FUNCTIONS:
            self._read_block(field_of(given[1], "body"), users.inner(node))
        else:
            raise Unsupported(node, f"a call of {name[:80]}")

    def _add_request(self, node: Node, users: _Users) -> None:
        self.budget.where = f"{self.text.name}:{k6_syntax.line_of(node)}"
        self.budget.add_operation()
        method = self._method(node) or ""
        recorded = _request(node, method, users.scope)
        try:
            operation = recorded.operation()
        except NotImportable as reason:
            raise Unsupported(node, f"http.{method}: {reason}") from None
        self.budget.take_message(operation)
        users.group.add(operation)


@dataclass
class _Users:
    """Who makes the requests of a function, and the names that are known in it."""

    group: Group
    scope: Scope
    depth: int = 0
    """Groups around it."""

    def inner(self, node: Node) -> _Users:
        """In a group. Raises :class:`Unsupported`."""
        if self.depth >= GROUPS_DEPTH_MAX:
            raise Unsupported(node, f"more than {GROUPS_DEPTH_MAX} groups within each other")
        return _Users(self.group, self.scope.inner(), self.depth + 1)


def _request(node: Node, function: str, scope: Scope) -> Recorded:
    """Raises :class:`Unsupported`."""
    given = k6_syntax.arguments_of(node)
    values = [None if one.type == "undefined" else scope.read(one) for one in given]
    if function == "request" and values and isinstance(values[0], str):
        method, values = values[0].upper(), values[1:]
    elif function in METHODS:
        method = METHODS[function]
    else:
        raise Unsupported(node, f"http.{function[:80]}")
    if function in WITHOUT_BODY:
        values.insert(1, None)
    url, body, params, *rest = [*values, None, None, None][: max(3, len(values))]
    if rest or not isinstance(url, str):
        raise Unsupported(
            node, f"http.{function} without a text as its URL, or with more arguments"
        )
    recorded = Recorded(method, quote(url, safe=VISIBLE), is_exact=True)
    _add_params(recorded, params, node)
    _add_body(recorded, body, node)
    texts = (url, str(recorded.body or ""), *(value for _, value in recorded.headers))
    if any("${" in text for text in texts):
        raise Unsupported(node, "${…} in a text that is not a template")
    return recorded


def _add_params(recorded: Recorded, params: Value, node: Node) -> None:
    if params is None:
        return
    if not isinstance(params, dict):
        raise Unsupported(node, "parameters that are not an object")
    for name, value in params.items():
        if name == "headers" and isinstance(value, dict):
            for header, text in value.items():
                if not isinstance(text, (str, int, float)):
                    raise Unsupported(node, f"the header {header[:80]}, which is not a text")
                recorded.headers.append((header, as_text(text, node)))
        elif name not in UNSENT:
            raise Unsupported(node, f"the parameter {name[:80]} of a request")
    tags = params.get("tags")
    if isinstance(tags, dict) and isinstance(tags.get("name"), str):
        recorded.name = str(tags["name"])


def _add_body(recorded: Recorded, body: Value, node: Node) -> None:
    if body is None or isinstance(body, str):
        recorded.body = body
        return
    # k6 sends an object as a form, ordered by name.
    if not isinstance(body, dict):
        raise Unsupported(node, "content that is neither a text nor an object")
    if any(isinstance(value, (dict, list)) or value is None for value in body.values()):
        raise Unsupported(node, "a form with a value that is not a text")
    texts = {name: as_text(value, node) for name, value in body.items()}
    recorded.body = urlencode(sorted(texts.items()))
    recorded.declare(FORM)
