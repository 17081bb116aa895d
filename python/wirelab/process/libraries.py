"""The libraries on a service's request path, as its ready line names them
(docs/reference/process.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

OWN = "lab's own"
"""The name of code of this project, where no maintained library does the work."""


def lines(recorded: Any) -> list[str]:
    """``libraries`` of a run's record, one line per role: ``codec: serde_json 1.0.154``. Runs
    recorded before libraries had roles hold a map of names to versions: one line without."""
    if isinstance(recorded, Mapping):
        return [_named(sorted(recorded.items()))] if recorded else []
    roles: dict[str, list[tuple[str, str]]] = {}
    for library in recorded or ():
        roles.setdefault(library["role"], []).append((library["name"], library["version"]))
    return [f"{role}: {_named(libraries)}" for role, libraries in roles.items()]


def _named(libraries: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {version}" for name, version in libraries)
