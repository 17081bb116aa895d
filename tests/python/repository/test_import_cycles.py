"""No module imports itself by way of others, also not inside a function or for a type checker.

import-linter (pyproject.toml) orders the packages; within a package it permits circles.
"""

from __future__ import annotations

from collections.abc import Mapping

import grimp


def find_circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan 1972, *SIAM Journal on
    Computing* 1(2)), each sorted."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_path: list[str] = []
    circles: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        open_path.append(module)
        for imported in imports[module]:
            if imported not in numbers:
                visit(imported)
            if imported in open_path:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == numbers[module]:
            at = open_path.index(module)
            if len(open_path) - at > 1:
                circles.append(sorted(open_path[at:]))
            del open_path[at:]

    for module in imports:
        if module not in numbers:
            visit(module)
    return circles


def test_circles_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set[str](), "e": {"a"}}
    assert find_circles(imports) == [["a", "b", "c"]]


def test_no_modules_import_each_other() -> None:
    graph = grimp.build_graph("wirelab", exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 300
    assert find_circles(imports) == []
