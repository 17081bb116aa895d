"""README.md's table of stacks, from the ready lines of the real services.

Every binding and codec of every ``service.json`` is started once, and again for each variant
that can bring libraries of its own (HTTP/2, compression, TLS), which go into a table of
additions. ``make generate`` writes the tables; ``tests/python/stack/test_stack_table.py`` fails
where README.md differs from what the services report.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tools import marked_part
from wirelab import checkout
from wirelab.documents.service_ready import Library, Role
from wirelab.errors import WirelabError
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.records.service import OWN
from wirelab.stack import manifests
from wirelab.stack.manifests import Catalogue, Served
from wirelab.stack.operations import CONTRACTS
from wirelab.stack.reference import Stack

README = Path("README.md")
BEGIN = "<!-- stacks: made by make generate -->"
END = "<!-- end of stacks -->"
NOTHING = "–"
TITLES = {"rust": "Rust", "go": "Go", "java": "Java"}
"""Languages in the order of the columns; others follow by their own names."""
STANDARD_LIBRARY = {"go": "Go", "java": "JDK"}
"""What a part of the runtime is marked with; elsewhere ``standard library``."""
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "HTTP/2": {"transport": "http/2"},
    "gzip": {"compression": "gzip"},
    "zstd": {"compression": "zstd"},
    "TLS": {"security": "tls"},
}


@dataclass(frozen=True)
class Report:
    """What the ready line of a service names."""

    language: str
    runtime: str
    libraries: tuple[Library, ...]
    line: object = None
    """All of it, as it was printed."""

    def name_libraries(self, libraries: Iterable[Library]) -> str:
        """Some of its libraries, in the order given."""
        return ", ".join(map(self._find_name, libraries))

    def of(self, role: Role) -> Iterator[Library]:
        """The libraries with that role."""
        return (library for library in self.libraries if library.role == role)

    def _find_name(self, library: Library) -> str:
        """Name and version. A part of the runtime has the version of the machine at hand,
        which does not belong into the repository."""
        if library.name == OWN:
            return OWN
        if re.search(rf"(?<![\d.]){re.escape(library.version)}$", self.runtime):
            return f"`{library.name}` ({STANDARD_LIBRARY.get(self.language, 'standard library')})"
        return f"`{library.name}` {library.version}"


Ready = Callable[[Stack], Report]
"""Starts the service of a stack and returns what its ready line names."""


@dataclass(frozen=True)
class Offer:
    """A codec of a binding in a language, as a ``service.json`` offers it."""

    language: str
    served: Served
    codec: str

    @property
    def stack(self) -> Stack:
        """The stack with every other axis at its default."""
        return Stack.parse(f"{self.served.binding}@{self.language}?codec={self.codec}")

    def variants(self) -> Iterator[tuple[str, Stack]]:
        """Offered values that differ from the default."""
        offered = {
            "transport": self.served.transports,
            "compression": self.served.compression,
            "security": self.served.security,
        }
        for name, changes in VARIANTS.items():
            if all(value in offered[axis] for axis, value in changes.items()):
                changed = self.stack.with_axes(changes)
                if changed != self.stack:
                    yield name, changed


def offers(catalogue: Catalogue) -> list[Offer]:
    """Every binding and codec of every language."""
    return [
        Offer(language, served, codec)
        for language, manifest in catalogue.by_language.items()
        for served in manifest.serves
        for codec in served.codecs
    ]


def make_tables(every: Sequence[Offer], ready: Ready) -> list[str]:
    """Both tables, as lines of Markdown."""
    offered = {offer.language for offer in every}
    languages = [name for name in TITLES if name in offered]
    languages += sorted(offered.difference(TITLES))
    ordered = sorted(every, key=lambda offer: languages.index(offer.language))
    return [*_stacks(ordered, ready, languages), "", *_additions(ordered, ready, languages)]


def _stacks(every: Sequence[Offer], ready: Ready, languages: Sequence[str]) -> Iterator[str]:
    """One row per binding and codec; codecs that follow each other with the same cells share it."""
    cells = {
        (offer.served.binding, offer.codec, offer.language): _sides(ready(offer.stack))
        for offer in every
    }
    rows = dict.fromkeys((binding, codec) for binding, codec, _ in cells)
    yield from _head(("binding", "codec"), languages)
    filled = [
        (binding, codec, [cells.get((binding, codec, name), NOTHING) for name in languages])
        for binding, codec in rows
    ]
    for (binding, row), same in groupby(filled, key=lambda each: (each[0], each[2])):
        codecs = ", ".join(f"`{codec}`" for _, codec, _ in same)
        yield f"| `{binding}` | {codecs} | {' | '.join(row)} |"


def _sides(report: Report) -> str:
    """Servers and codecs of one cell."""
    server = report.name_libraries(report.of("server"))
    return f"{server} / {report.name_libraries(report.of('codec'))}"


def _additions(every: Sequence[Offer], ready: Ready, languages: Sequence[str]) -> Iterator[str]:
    """What each variant adds, of the first codec of each entry of a manifest."""
    yield from _head(("in addition with",), languages)
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for offer in every:
        if offer.codec != offer.served.codecs[0]:
            continue
        before = ready(offer.stack)
        for name, stack in offer.variants():
            report = ready(stack)
            added = [each for each in report.libraries if each not in before.libraries]
            text = report.name_libraries(added) or NOTHING
            found.setdefault((name, offer.language), []).append((offer.served.binding, text))
    for name in VARIANTS:
        row = (_merge(found.get((name, language), [])) for language in languages)
        yield f"| {name} | {' | '.join(row)} |"


def _merge(found: Iterable[tuple[str, str]]) -> str:
    """One text where all bindings have it; else the most frequent one, and the others after
    their bindings."""
    bindings: dict[str, list[str]] = {}
    for binding, text in found:
        bindings.setdefault(text, []).append(binding)
    if not bindings:
        return NOTHING
    ((usual, _),) = Counter({text: len(names) for text, names in bindings.items()}).most_common(1)
    others = (
        f"{', '.join(f'`{name}`' for name in dict.fromkeys(names))}: {text}"
        for text, names in bindings.items()
        if text != usual
    )
    return "; ".join([usual, *others])


def _head(first: Sequence[str], languages: Sequence[str]) -> Iterator[str]:
    columns = [*first, *(TITLES.get(name, name) for name in languages)]
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)


def replace_tables(page: str, lines: Sequence[str]) -> str:
    """The page with these lines between the markers. Raises :class:`ValueError` without them."""
    return marked_part.replace(page, BEGIN, END, lines)


def starter(catalogue: Catalogue, scratch: Scratch, interruption: Interruption) -> Ready:
    """Starts services as the lab builds them, each stack once."""
    programs = Programs(catalogue)
    known: dict[Stack, Report] = {}

    def ready(stack: Stack) -> Report:
        if stack not in known:
            contract = _contract(catalogue, stack)
            program = programs.program(stack, interruption, contract)
            listen = ListenSpec.of(stack, scratch)
            configuration = Settings().configuration(stack, contract, listen)
            log = scratch.folder / "service.log"
            with Service(
                program, configuration, ProcessOptions(log=log), interruption=interruption
            ) as service:
                found, line = service.ready, service.ready_line
            known[stack] = Report(found.language, found.runtime, found.libraries, line)
        return known[stack]

    return ready


def _contract(catalogue: Catalogue, stack: Stack) -> str:
    """The first contract that is served by the stack."""
    manifest = catalogue.by_language[stack.axes.language]
    return next(name for name in CONTRACTS if manifest.refusal(stack, name) is None)


def page(ready: Ready) -> tuple[str, str]:
    """README.md as it is, and as the services report it."""
    before = (checkout.root() / README).read_text(encoding="utf-8")
    return before, replace_tables(before, make_tables(offers(manifests.load()), ready))


def main() -> None:
    """Writes README.md."""
    try:
        with Interruption() as interruption, Scratch() as scratch:
            _, after = page(starter(manifests.load(), scratch, interruption))
    except WirelabError as error:
        sys.exit(f"README.md's table of stacks is not made: {error}")
    (checkout.root() / README).write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
