"""Names of types and fields in generated code: the user's, each once after any change of case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from wirelab.contracts.names import fold


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
        base = chosen = convert(name)
        count = 1
        while fold(chosen) in used:
            count += 1
            chosen = f"{base}{count}"
        used.add(fold(chosen))
        given[name] = chosen
    return given
