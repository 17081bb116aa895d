"""Names of types and fields in generated code: the user's, each once after any change of case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wirelab.contracts.names import fold
from wirelab.contracts.schema import Enum


def pascal_case(name: str) -> str:
    """``order_id`` as the name of a type: OrderId. Letters within words stay as they are."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", name) if part]
    joined = "".join(part[0].upper() + part[1:] for part in parts)
    return joined if joined[:1].isalpha() else f"X{joined}"


def give_names(
    names: Iterable[str], convert: Callable[[str], str], taken: Iterable[str] = ()
) -> dict[str, str]:
    """A converted name for each, numbered where it would collide with another or with one of
    ``taken``."""
    used = {fold(name) for name in taken}
    given: dict[str, str] = {}
    for name in names:
        given[name] = find_free(convert(name), lambda one: fold(one) in used)
        used.add(fold(given[name]))
    return given


def find_free(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with a number where it is taken."""
    chosen, count = name, 1
    while is_taken(chosen):
        count += 1
        chosen = f"{name}{count}"
    return chosen


@dataclass(frozen=True)
class NamedEnum:
    """An enum and its type's name, as the templates see it."""

    enum: Enum
    name: str

    @property
    def title(self) -> str:
        """In the .proto."""
        return self.enum.name

    @property
    def names(self) -> tuple[tuple[str, int], ...]:
        """Names with numbers."""
        return self.enum.values

    @property
    def numbers(self) -> list[tuple[str, int]]:
        """The first name of each number, in the order of the .proto."""
        return [(name, number) for number, name in self.enum.name_by_number.items()]
