"""The text of a document as values. Of JSON, the paths are read one at a time: a document may have
a hundred thousand, of which ``--only`` selects one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from wirelab.errors import UsageError
from wirelab.experiment import yaml_source
from wirelab.imports.budget import Budget
from wirelab.imports.source import Text, count_values, decode_json

WHAT = "an OpenAPI 3 or Swagger 2 document"
YAML_NODES_MAX = 300_000
"""Values in YAML, whose parser takes 8 µs for each; aliases followed."""


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
    if not is_json(text):
        most = min(budget.nodes_left, YAML_NODES_MAX)
        content, count = yaml_source.read_values(text.text, text.name, most)
        budget.take_nodes(count)
        return text.checked(content)
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
    content = {}
    for key, raw in parts.items():
        part = str(raw, "utf-8")
        budget.take_nodes(count_values(part, budget.nodes_left))
        content[key] = decode_json(part)
    if paths is not None:
        texts = msgspec.json.decode(paths, type=dict[str, msgspec.Raw])
        content["paths"] = Paths(texts, budget)
    return content


def is_json(text: Text) -> bool:
    """Whether it is read as JSON."""
    return text.text.lstrip()[:1] == "{"


def check_version(text: Text, content: Any) -> str:
    """``OpenAPI 3.1.0``. Raises :class:`UsageError` for another document."""
    given = content if isinstance(content, dict) else {}
    version = str(given.get("openapi") or given.get("swagger") or "")
    if not re.match(r"3\.|2\.0", version) or not isinstance(given.get("paths", {}), (dict, Paths)):
        found = f"it is of version {version}" if version else "it has neither openapi nor swagger"
        raise UsageError(f"{text.name}: {found}", f"name {WHAT}")
    return f"{'OpenAPI' if 'openapi' in given else 'Swagger'} {version}"


MISSES_MAX = 20
"""Paths that are not found; each costs a search through the rest of the text."""


class Places:
    """``file:line`` of the paths of a document. Paths are asked for in their order, so that the
    text is searched once in all."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._is_json = is_json(text)
        self._at = 0
        self._line = 1
        self._misses = 0

    def of(self, path: str) -> str:
        """The name alone where it is not found."""
        # Some are written with escapes.
        if self._misses >= MISSES_MAX:
            return self._text.name
        at = self._find(path)
        if at < 0:
            self._misses += 1
            return self._text.name
        self._line += self._text.text.count("\n", self._at, at)
        self._at = at
        return f"{self._text.name}:{self._line}"

    def _find(self, path: str) -> int:
        if self._is_json:
            return self._text.text.find(json.dumps(path, ensure_ascii=False), self._at)
        key = re.compile(rf"{re.escape(path)}['\"]?\s*:")
        found = key.search(self._text.text, self._at)
        return found.start() if found else -1
