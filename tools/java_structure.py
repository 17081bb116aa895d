"""Structure of the JSON and the Protobuf variant of the REST application in Java.

``python -m tools.java_structure`` writes the table of docs/studies/guimaraes2024.md. The JDK's
jdeps reads which class needs which in the compiled classes. A variant has the classes that remain
when those of the other codec are left out: all but codecs, and of these what is needed. Classes
within others count with them. A cycle is a strongly connected component of more than one class, or
of more than one package.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tools import marked_part

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/studies/guimaraes2024.md"
MODULES = ("clinic", "petclinic", "protobuf")
"""Those that have classes of the REST application."""
GENERATED = "wirelab.petclinic.v1"
"""The package that protoc writes."""
CODECS = "wirelab.service.petclinic.message"
VARIANTS = {"JSON": "Protobuf", "Protobuf": "Json"}
"""By name, what the other one's classes are called."""
CLASS = r"(wirelab\.(?:service\.petclinic|petclinic\.v1)\.\S+)"
EDGE = re.compile(rf"^   {CLASS} +-> {CLASS}")
"""What all services in Java share is left out."""

Graph = dict[str, set[str]]


class Structure(NamedTuple):
    """Of one variant."""

    classes: int
    generated_classes: int
    lines: int
    generated_lines: int
    cycles: list[int]
    """Classes in each cycle, the largest first."""
    package_cycles: list[int]


def main() -> int:
    """Writes the table."""
    built = find_classes()
    if built is None:
        print("the service in Java is not built: wirelab verify rest@java", file=sys.stderr)
        return 1
    marked_part.replace_part(PAGE, "structure", format_table(measure(built)))
    return 0


def find_classes() -> Path | None:
    """The folder of the last build's modules."""
    built = sorted(
        ROOT.glob(".cache/services/java-*/service-target/wirelab-java-clinic"),
        key=lambda folder: folder.stat().st_mtime,
    )
    return built[-1].parent if built else None


def measure(built: Path) -> dict[str, Structure]:
    """Each variant. Raises :class:`subprocess.CalledProcessError` without a JDK."""
    folders = [built / f"wirelab-java-{module}/classes" for module in MODULES]
    found = subprocess.run(
        ("jdeps", "-verbose:class", "-filter:none", *map(str, folders)),
        capture_output=True,
        text=True,
        check=True,
    )
    graph = read_graph(found.stdout.splitlines())
    sources = {name: lines for folder in _source_folders(built) for name, lines in _count(folder)}
    return {name: describe(select(graph, other), sources) for name, other in VARIANTS.items()}


def read_graph(lines: Iterable[str]) -> Graph:
    """Which class needs which others of the application, those within others merged."""
    graph: Graph = {}
    for line in lines:
        if match := EDGE.match(line):
            needs, needed = (name.partition("$")[0] for name in match.groups())
            graph.setdefault(needs, set())
            if needed != needs:
                graph[needs].add(needed)
    return {name: {one for one in needed if one in graph} for name, needed in graph.items()}


def select(graph: Graph, other: str) -> Graph:
    """The graph without the other codec's classes and what only they need."""

    def is_left_out(name: str) -> bool:
        return name.startswith(CODECS) and other in name

    waiting = [name for name in graph if not name.startswith((CODECS, GENERATED))]
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept and not is_left_out(name):
            kept.add(name)
            waiting.extend(graph[name])
    return {name: graph[name] & kept for name in sorted(kept)}


def describe(graph: Graph, lines: dict[str, int]) -> Structure:
    """Its size and its cycles."""
    generated = [name for name in graph if name.startswith(GENERATED)]
    own = [name for name in graph if not name.startswith(GENERATED)]
    packages: Graph = {}
    for name, needed in graph.items():
        package = name.rpartition(".")[0]
        others = {one.rpartition(".")[0] for one in needed} - {package}
        packages.setdefault(package, set()).update(others)
    return Structure(
        classes=len(own),
        generated_classes=len(generated),
        lines=sum(lines[name] for name in own),
        generated_lines=sum(lines[name] for name in generated),
        cycles=find_cycles({name: graph[name] & set(own) for name in own}),
        package_cycles=find_cycles(packages),
    )


def find_cycles(graph: Graph) -> list[int]:
    """Sizes of strongly connected components of more than one member, the largest first."""
    numbers = {name: number for number, name in enumerate(graph)}
    edges = [(numbers[a], numbers[b]) for a, needed in graph.items() for b in needed]
    from_, to = np.array(edges, dtype=int).reshape(-1, 2).T
    matrix = csr_array((np.ones(len(edges)), (from_, to)), shape=(len(graph), len(graph)))
    _, labels = connected_components(matrix, connection="strong")
    return sorted((int(size) for size in np.bincount(labels) if size > 1), reverse=True)


def format_table(found: dict[str, Structure]) -> Iterator[str]:
    """The rows of the page."""
    yield "| | " + " | ".join(found) + " |"
    yield "|---|" + "---|" * len(found)
    for label, of in (
        ("classes, hand-written", lambda one: one.classes),
        ("lines of these", lambda one: f"{one.lines:,}"),
        ("classes that protoc writes", lambda one: one.generated_classes),
        ("lines of these", lambda one: f"{one.generated_lines:,}"),
        ("cycles of hand-written classes", lambda one: _words(one.cycles, "classes")),
        ("cycles of packages", lambda one: _words(one.package_cycles, "packages")),
    ):
        yield f"| {label} | " + " | ".join(str(of(one)) for one in found.values()) + " |"


def _words(sizes: list[int], what: str) -> str:
    return f"{len(sizes)}, of {', '.join(map(str, sizes))} {what}" if sizes else "none"


def _source_folders(built: Path) -> Iterator[Path]:
    for module in MODULES:
        yield ROOT / f"services/java/{module}/src/main/java"
        yield built / f"wirelab-java-{module}/generated-sources"


def _count(folder: Path) -> Iterator[tuple[str, int]]:
    """Lines of each top-level class, by its full name."""
    for path in sorted(folder.rglob("*.java")):
        text = path.read_text(encoding="utf-8")
        if match := re.search(r"^package ([\w.]+);", text, re.M):
            yield f"{match[1]}.{path.stem}", text.count("\n")


if __name__ == "__main__":
    sys.exit(main())
