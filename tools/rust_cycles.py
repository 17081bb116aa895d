"""Import cycles in each Rust crate, between its files and between its folders.

``python -m tools.rust_cycles`` prints every cycle and exits with 1 where there is one. A path that
begins with ``crate::``, ``super::`` or ``self::`` is an import of what it names.

**Files.** Declaring a child (``mod child;``) and re-exporting from it is not an import: a folder
shows what it has in this way. A child that uses its parent's items closes a cycle only where the
parent uses the child's in its own code.

**Folders.** A folder is a module with all that is in it; those that one module declares are
compared. Here re-exports count: a folder that shows another one's names depends on it. The root may
use every folder, so none may use what the root itself defines; names that the root re-exports are
those of the folder that they come from. Where ``[package.metadata.wirelab]`` of a crate's
Cargo.toml has ``layers``, the list names all folders of the root, and each may import only those
before it.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.rust_paths import Kind, Modules, Name, Reference, read_crate

CRATES = ("crates/*", "services/rust", "services/rust/*", "tools/messagegen", "tools/schemagen")
ROOTS = ("lib.rs", "main.rs")
PLACES_MAX = 3
"""How many places of an import are printed."""
HOPS_MAX = 8
"""Names of the root that lead from one to another."""

Arrows = Mapping[tuple[Name, Name], Sequence[str]]
"""Where one module imports another, by both."""


@dataclass(frozen=True)
class Import:
    """A path that a module names, and the module that it leads to."""

    source: Name
    target: Name
    place: str
    is_reexport: bool


class Crate:
    """What one root file (``lib.rs``, ``main.rs``) leads to."""

    def __init__(self, root: Path) -> None:
        self.modules: Modules = read_crate(root)
        self._inline = {name for module in self.modules.values() for name in module.inline}
        self._root_names = {
            reference.alias: reference
            for reference in self.modules[()].references
            if reference.kind is not Kind.PATH and reference.module == ()
        }
        self.imports = [
            Import(reference.module, target, place, reference.kind is Kind.REEXPORT)
            for module in self.modules.values()
            for reference in module.references
            if (target := self._resolve(reference)) is not None
            for place in [f"{module.file}:{reference.line} names {'::'.join(reference.path)}"]
        ]

    def _knows(self, name: Name) -> bool:
        return name in self.modules or name in self._inline

    def _resolve(self, reference: Reference, hops: int = 0) -> Name | None:
        """The module that defines what is named; None where another crate does."""
        path, here = reference.path, reference.module
        if path[0] == "crate":
            return self._find(path[1:], hops)
        if path[0] in ("self", "super"):
            rest = path[1:] if path[0] == "self" else path
            ups = next((at for at, part in enumerate(rest) if part != "super"), len(rest))
            return self._find((*here[: len(here) - ups], *rest[ups:]), hops)
        is_ours = self._knows((*here, path[0])) or (not here and path[0] in self._root_names)
        return self._find((*here, *path), hops) if is_ours else None

    def _find(self, full: Name, hops: int) -> Name | None:
        if full and not self._knows(full[:1]) and full[0] in self._root_names:
            shown = self._root_names[full[0]]
            # A name of another crate leads nowhere, perhaps in a circle: `use log::log`.
            return self._resolve(shown, hops + 1) if hops < HOPS_MAX else None
        while full and not self._knows(full):
            full = full[:-1]
        return full

    def file_graph(self) -> dict[Name, set[Name]]:
        """Which files import which, by their modules."""
        graph: dict[Name, set[Name]] = {name: set() for name in self.modules}
        for one in self.imports:
            source, target = self._file_of(one.source), self._file_of(one.target)
            if target != source and not one.is_reexport:
                graph[source].add(target)
        return graph

    def _file_of(self, name: Name) -> Name:
        while name not in self.modules:
            name = name[:-1]
        return name

    def folders(self, parent: Name = ()) -> set[Name]:
        """The modules that a module declares."""
        names = (*self.modules, *self._inline)
        return {name for name in names if name[:-1] == parent and name}

    def arrows(self, parent: Name = ()) -> Arrows:
        """Imports between the folders of a module; for the crate's root also of the root."""
        found: dict[tuple[Name, Name], list[str]] = defaultdict(list)
        depth = len(parent) + 1
        for one in self.imports:
            source, target = one.source[:depth], one.target[:depth]
            is_between = len(source) == depth and (len(target) == depth or not parent)
            if is_between and source[:-1] == target[: depth - 1] == parent and source != target:
                found[source, target].append(one.place)
        return found


def cycles(graph: Mapping[Name, set[Name]]) -> list[list[Name]]:
    """The strongly connected components of more than one module (Tarjan 1972)."""
    index: dict[Name, int] = {}
    low: dict[Name, int] = {}
    stack: list[Name] = []
    found = []

    def visit(node: Name) -> None:
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


def check_crate(folder: Path) -> list[str]:
    """What is wrong in a crate, one message for each cycle and each import against its layers."""
    found: list[str] = []
    layers = _read_layers(folder / "Cargo.toml")
    for name in ROOTS:
        root = folder / "src" / name
        if root.exists():
            crate = Crate(root)
            found += [f"{folder}: {text}" for text in _check_files(crate)]
            found += [f"{folder}: {text}" for text in _check_folders(crate)]
            if layers and name == "lib.rs":
                found += [f"{folder}: {text}" for text in _check_layers(crate, layers)]
    return found


def _read_layers(manifest: Path) -> list[str]:
    metadata = tomllib.loads(manifest.read_text())["package"].get("metadata", {})
    layers: list[str] = metadata.get("wirelab", {}).get("layers", [])
    return layers


def _check_files(crate: Crate) -> Iterator[str]:
    for component in cycles(crate.file_graph()):
        yield f"these files import each other: {', '.join(map(_show, component))}"


def _check_folders(crate: Crate) -> Iterator[str]:
    for parent in sorted({name[:-1] for name in crate.modules if name}):
        arrows = crate.arrows(parent)
        graph: dict[Name, set[Name]] = defaultdict(set)
        for source, target in arrows:
            graph[source].add(target)
        graph[()] = crate.folders() if not parent else set()
        for component in cycles(graph):
            inside = {
                arrow: arrows[arrow] for arrow in sorted(arrows) if set(arrow) <= set(component)
            }
            yield from _describe_circles(component, inside)


def _describe_circles(component: Sequence[Name], arrows: Arrows) -> Iterator[str]:
    """Each pair that imports each other, and what else closes a longer circle."""
    pairs = [arrow for arrow in arrows if arrow[::-1] in arrows or () in arrow]
    for source, target in pairs:
        if source < target or target == ():
            both = [arrow for arrow in ((source, target), (target, source)) if arrow in arrows]
            yield _list_arrows(
                f"{_show(source)} and {_show(target)} import each other", both, arrows
            )
    if len(component) > 2:
        names = ", ".join(map(_show, component))
        others = [arrow for arrow in arrows if arrow not in pairs]
        yield _list_arrows(f"a longer circle of folders: {names}", others, arrows)


def _list_arrows(title: str, chosen: Sequence[tuple[Name, Name]], arrows: Arrows) -> str:
    return "\n  ".join([title, *(_describe(arrow, arrows[arrow]) for arrow in chosen)])


def _check_layers(crate: Crate, layers: Sequence[str]) -> Iterator[str]:
    declared = {(name,) for name in layers}
    for name in sorted(declared ^ crate.folders()):
        has = "is not a folder of the crate" if name in declared else "is missing"
        yield f"layers of Cargo.toml: {_show(name)} {has}"
    order: dict[Name, int] = {(name,): at for at, name in enumerate(layers)}
    for (source, target), places in sorted(crate.arrows().items()):
        if order.get(target, -1) > order.get(source, len(layers)):
            yield f"against the layers of Cargo.toml: {_describe((source, target), places)}"


def _describe(arrow: tuple[Name, Name], places: Sequence[str]) -> str:
    rest = len(places) - PLACES_MAX
    more = f" and {rest} more" if rest > 0 else ""
    return f"{_show(arrow[0])} -> {_show(arrow[1])}: {'; '.join(places[:PLACES_MAX])}{more}"


def _show(name: Name) -> str:
    return "::".join(name) or "(root)"


def main() -> int:
    """Prints what is wrong in all crates; 1 where something is."""
    manifests = [
        path for pattern in CRATES for path in sorted(Path().glob(f"{pattern}/Cargo.toml"))
    ]
    found = [text for manifest in manifests for text in check_crate(manifest.parent)]
    for text in found:
        print(text)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
