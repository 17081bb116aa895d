"""Variables and functions in the texts of a test plan of JMeter."""

from __future__ import annotations

import re

from wirelab.format.sanitize import sanitize
from wirelab.imports.budget import Budget
from wirelab.imports.http_request import NotImportable

ROUNDS_MAX = 10
"""References within each other, such as ``${__P(users,${n})}``."""
_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_CALL = re.compile(r"(__\w+)(?:\((.*)\))?", re.DOTALL)
_COMMA = re.compile(r"(?<!\\),")
_PROPERTIES = {"__P": 1, "__property": 2}
"""Functions that read a property, and the place of their default."""
_COLUMN = re.compile("\0([^\0]*)\0")
"""A column, which stays; a text of XML has no NUL."""


class Values:
    """What references stand for."""

    def __init__(self, budget: Budget) -> None:
        self.columns: frozenset[str] = frozenset()
        """Of rows, which a request of the experiment fills."""
        self.properties: dict[str, str] = {}
        """Names that were read, with the defaults that were taken."""
        self._variables: dict[str, str] = {}
        self._unknown: dict[str, str] = {}
        self._budget = budget

    def define(self, name: str, text: str) -> None:
        """A user-defined variable, whose value may have earlier ones."""
        try:
            self._variables[name] = self.fill(text)
        except NotImportable as reason:
            self._unknown[name] = str(reason)

    def fill(self, text: str) -> str:
        """With the values in their places; ``${column}`` stays. Raises :class:`NotImportable` for
        what has a value only while JMeter runs."""
        for _ in range(ROUNDS_MAX):
            filled = _REFERENCE.sub(self._value, text)
            if filled == text and "${" in text:
                raise NotImportable("a reference in it has no end")
            if filled == text:
                return _COLUMN.sub(r"${\1}", text)
            text = filled
        raise NotImportable(f"it has references within more than {ROUNDS_MAX} others")

    def count(self, text: str, what: str) -> int:
        """A whole number. Raises :class:`NotImportable`."""
        filled = self.fill(text).strip()
        if not re.fullmatch(r"-?\d{1,9}", filled):
            raise NotImportable(f"{what} is {sanitize(filled)[:80]!r}, which is not a whole number")
        return int(filled)

    def _value(self, match: re.Match[str]) -> str:
        name = match[1].strip()
        if name in self.columns:
            return f"\0{name}\0"
        if name in self._variables:
            value = self._variables[name]
            self._budget.take_text(len(value))
            return value
        if call := _CALL.fullmatch(name):
            return self._call(call[1], call[2] or "")
        shown = sanitize(name)[:80]
        raise NotImportable(
            self._unknown.get(name) or f"${{{shown}}} has a value only while JMeter runs"
        )

    def _call(self, function: str, arguments: str) -> str:
        if function not in _PROPERTIES:
            raise NotImportable(f"the function {function} has a value only while JMeter runs")
        given = [part.strip().replace("\\,", ",") for part in _COMMA.split(arguments)]
        place = _PROPERTIES[function]
        if len(given) > place:
            default = given[place]
        elif function == "__P":
            default = "1"  # as its documentation has it
        else:
            raise NotImportable(f"the property {sanitize(given[0])[:80]} has no default")
        self.properties[given[0]] = default
        return default
