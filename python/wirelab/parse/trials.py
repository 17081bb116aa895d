"""The trials: every parser in a fresh process, once per repeat, in random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import TrialFailed
from wirelab.parse import harness
from wirelab.parse.catalogue import Parser
from wirelab.parse.documents import Document
from wirelab.parse.harness import Commands, Timed, Windows
from wirelab.process.interruption import Interruption

START_S = {"java": 0.7, "go": 0.1, "rust": 0.05}
"""Approximate time of a process besides warm-up and windows, seconds."""
BYTES_PER_S = 20e6
"""Time of a slow parser on a large document, for the announced time."""
PARSES_MIN = 12
"""Parses of each document in a process: the first, checks, warm-up and blocks."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and how long."""

    parsers: tuple[Parser, ...]
    """Parsers that can be measured."""
    documents: tuple[Document, ...]
    windows: Windows
    repeats: int
    seed: int

    def seconds(self) -> float:
        """Approximate time of all trials."""
        return self.repeats * sum(self._process_s(parser) for parser in self.parsers)

    def process_s_max(self) -> float:
        """Time limit of a process."""
        slowest = max(self._process_s(parser) for parser in self.parsers)
        return 30.0 + 10.0 * slowest

    def order(self) -> list[Parser]:
        """Order of the trials: each repeat contains every parser once, in its own order."""
        rng = random.Random(self.seed)
        return [
            parser
            for _ in range(self.repeats)
            for parser in rng.sample(self.parsers, len(self.parsers))
        ]

    def _process_s(self, parser: Parser) -> float:
        size = sum(len(document.forms.get(parser.format, b"")) for document in self.documents)
        windows = self.windows.warmup_s + self.windows.window_s * len(self.documents)
        return START_S[parser.language] + max(windows, PARSES_MIN * size / BYTES_PER_S)


@dataclass
class Trials:
    """Results of the trials, by parser."""

    timed: dict[Parser, list[Timed]] = field(default_factory=dict)
    failures: dict[Parser, list[str]] = field(default_factory=dict)


def run(
    plan: Plan,
    commands: Commands,
    folder: Path,
    interruption: Interruption,
    progress: Callable[[int, Parser], None],
    into: Trials,
) -> None:
    """Runs all trials; ``into`` receives the measurements, also those before an interruption.
    Raises :class:`Interrupted`."""
    files = _write_documents(plan.documents, folder)
    rng = random.Random(plan.seed)
    for number, parser in enumerate(plan.order()):
        interruption.check()
        progress(number, parser)
        named = files[parser.format]
        arguments = [f"{name}={path}" for name, path in rng.sample(named, len(named))]
        command = [*commands[parser.language], parser.name, *plan.windows.arguments(), *arguments]
        try:
            timed = harness.time_parser(command, folder / "log", plan.process_s_max(), interruption)
            check(timed, parser, plan.documents)
        except TrialFailed as failed:
            into.failures.setdefault(parser, []).append(failed.reason)
        else:
            into.timed.setdefault(parser, []).append(timed)


def check(timed: Timed, parser: Parser, documents: Sequence[Document]) -> None:
    """Raises :class:`TrialFailed` if the parser did not find the contents of the documents."""
    expected = {one.name: one.fingerprints[parser.format] for one in documents}
    seen = {one.name: one.fingerprint for one in timed.documents}
    if seen.keys() != expected.keys():
        raise TrialFailed("it measured documents other than the given ones")
    wrong = sorted(name for name in seen if seen[name] != expected[name])
    if wrong:
        raise TrialFailed(f"it found wrong elements, attributes or texts in {', '.join(wrong)}")


def _write_documents(
    documents: Sequence[Document], folder: Path
) -> Mapping[str, list[tuple[str, Path]]]:
    files: dict[str, list[tuple[str, Path]]] = {}
    for document in documents:
        for form, content in document.forms.items():
            path = folder / f"{document.name}.{form}"
            path.write_bytes(content)
            files.setdefault(form, []).append((document.name, path))
    return files
