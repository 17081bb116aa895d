"""The text of a document as values. Of JSON, the paths are read one at a time: a document may have
a hundred thousand, of which ``--only`` selects one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from wirelab.errors import UsageError
from wirelab.experiment import yaml_source
from wirelab.imports.budget import Budget
from wirelab.imports.source import Text, count_values, decode_json

WHAT = "an OpenAPI 3 or Swagger 2 document"


_YAML_OPERATION = re.compile(r"^ +(?:get|put|post|delete|options|patch): *$", re.MULTILINE)


class Paths(Mapping[str, Any]):
    """The path items of a document in JSON, each read when it is needed."""

    def __init__(self, texts: dict[str, msgspec.Raw], budget: Budget) -> None:
        self._texts = texts
        self._budget = budget
        self._kept: dict[str, Any] = {}

    def __getitem__(self, path: str) -> Any:
        """Kept, because references lead to it again."""
        if path not in self._kept:
            self._budget.take_nodes(self._count(path))
            self._kept[path] = self._read(path)
        return self._kept[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def each(self) -> Iterator[tuple[str, Any]]:
        """Each path with its item, which is not kept. Raises :class:`UsageError`."""
        for path, raw in self._texts.items():
            # A value takes two bytes at least.
            if len(memoryview(raw)) > 2 * self._budget.nodes_left:
                self._budget.check_nodes(self._count(path))
            yield path, self._read(path)

    def _count(self, path: str) -> int:
        return count_values(str(self._texts[path], "utf-8"), self._budget.nodes_left)

    def _read(self, path: str) -> Any:
        try:
            return decode_json(str(self._texts[path], "utf-8"))
        except (ValueError, RecursionError) as error:  # such as an integer of 5,000 digits
            raise UsageError(f"{path}: not JSON: {error}", f"name {WHAT}") from None


def parse(text: Text, budget: Budget) -> Any:
    """Its values, in which ``paths`` may be :class:`Paths`. Raises :class:`UsageError`."""
    if not text.is_json:
        if not budget.is_selected:
            # Counted before the slow parser; a line of an example may look like one.
            budget.check_operations(sum(1 for _ in _YAML_OPERATION.finditer(text.text)))
        most = min(budget.nodes_left, budget.yaml_nodes_max)
        content, count = yaml_source.read_values(text.text, text.name, most)
        budget.take_nodes(count)
        return text.check(content)
    try:
        return _read_lazily(text, budget)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # The whole document gives the same values, or a message with the line.
        content = text.json(WHAT, budget.nodes_left)
        budget.take_nodes(count_values(text.text, budget.nodes_left))
        return content


def _read_lazily(text: Text, budget: Budget) -> Any:
    parts = msgspec.json.decode(text.text, type=dict[str, msgspec.Raw])
    paths = parts.pop("paths", None)
    budget.check_paths(len(parts))
    content = {}
    for key, raw in parts.items():
        part = str(raw, "utf-8")
        budget.take_nodes(count_values(part, budget.nodes_left))
        content[key] = decode_json(part)
    if paths is not None:
        texts = msgspec.json.decode(paths, type=dict[str, msgspec.Raw])
        budget.check_paths(len(texts))
        content["paths"] = Paths(texts, budget)
    return content


def check_version(text: Text, content: Any) -> str:
    """``OpenAPI 3.1.0``. Raises :class:`UsageError` for another document."""
    given = content if isinstance(content, dict) else {}
    version = str(given.get("openapi") or given.get("swagger") or "")
    if not re.match(r"3\.|2\.0", version) or not isinstance(given.get("paths", {}), (dict, Paths)):
        found = f"it is of version {version}" if version else "it has neither openapi nor swagger"
        raise UsageError(f"{text.name}: {found}", f"name {WHAT}")
    return f"{'OpenAPI' if 'openapi' in given else 'Swagger'} {version}"
