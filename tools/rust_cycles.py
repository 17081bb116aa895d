"""Import cycles between the modules of each Rust crate.

``python -m tools.rust_cycles`` prints every cycle and exits with 1 where there is one. A module
is a file; it imports another where a path that begins with ``crate::`` or ``super::`` names that
module or something in it. Declaring a child (``mod child;``) and re-exporting from it is no
import, because that is how a folder shows what it has. A child that uses its parent's items closes
a cycle only where the parent uses the child's in its own code. Test modules are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

CRATES = ("crates/*", "services/rust", "services/rust/*", "tools/messagegen", "tools/schemagen")
_TESTS = re.compile(r"(^|/)(tests|.*_tests)(\.rs|/)")
_COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*\Z", re.DOTALL)
_REEXPORT = re.compile(r"pub(?:\([a-z]+\))? use [^;]+;")
_USE = re.compile(r"\buse ([^;]+);")
_PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")

Modules = Mapping[tuple[str, ...], Path]


def modules(source: Path) -> dict[tuple[str, ...], Path]:
    """The modules of a crate by their path; the root is the empty one."""
    found: dict[tuple[str, ...], Path] = {}
    for file in sorted(source.rglob("*.rs")):
        inside = file.relative_to(source)
        if _TESTS.search(str(inside)):
            continue
        parts = inside.with_suffix("").parts
        path = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
        found.setdefault(path, file)
    return found


def imports(module: tuple[str, ...], text: str, known: Modules) -> set[tuple[str, ...]]:
    """The modules that one module imports."""
    text = _STRING.sub('""', _COMMENT.sub("", text))
    text = _TEST_MODULE.sub("", text)
    text = _REEXPORT.sub("", text)
    paths = [path for use in _USE.findall(text) for path in _flat(use)]
    paths += _PATH.findall(_USE.sub("", text))
    found = set()
    for path in paths:
        target = _resolved(module, path.split("::"), known)
        if target is not None and target != module:
            found.add(target)
    return found


def _flat(use: str) -> Iterator[str]:
    """``a::{b, c::d}`` as ``a::b`` and ``a::c::d``."""
    use = re.sub(r"\s+", "", re.sub(r"\bas \w+", "", use))
    opening = use.find("{")
    if opening < 0:
        yield use
        return
    head, depth, part = use[:opening], 0, ""
    for letter in use[opening + 1 : use.rfind("}")]:
        if letter == "," and depth == 0:
            yield from (head + path for path in _flat(part) if part)
            part = ""
            continue
        depth += (letter == "{") - (letter == "}")
        part += letter
    if part:
        yield from (head + path for path in _flat(part))


def _resolved(module: tuple[str, ...], path: list[str], known: Modules) -> tuple[str, ...] | None:
    if path[0] == "crate":
        full = tuple(path[1:])
    elif path[0] == "super":
        ups = next((at for at, part in enumerate(path) if part != "super"), len(path))
        if ups > len(module):
            return None
        full = module[: len(module) - ups] + tuple(path[ups:])
    else:
        full = (*module, *path)
        if full[: len(module) + 1] not in known:
            return None
    for length in range(len(full), -1, -1):
        if full[:length] in known:
            return full[:length]
    return None


def cycles(graph: Mapping[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[tuple[str, ...]]]:
    """The strongly connected components of more than one module (Tarjan 1972)."""
    index: dict[tuple[str, ...], int] = {}
    low: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    found = []

    def visit(node: tuple[str, ...]) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def main() -> int:
    """Prints the cycles of all crates; how many crates have some."""
    bad = 0
    for pattern in CRATES:
        for crate in sorted(path.parent for path in Path().glob(f"{pattern}/Cargo.toml")):
            known = modules(crate / "src")
            graph = {path: imports(path, file.read_text(), known) for path, file in known.items()}
            for component in cycles(graph):
                bad += 1
                names = ", ".join("::".join(path) or "(root)" for path in component)
                print(f"{crate}: these modules import each other: {names}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
