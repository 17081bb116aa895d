"""Values that the Tab key completes: names of studies, figures, stacks and experiment files.

Each function is a ``shell_complete`` of click; what it needs is imported only for a completion.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_study(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Names of the published studies."""
    from wirelab.study import catalogue

    return _complete((one.name for one in catalogue.listing()), begun)


def complete_figure(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Names of figures that runs have."""
    from wirelab.statistics.figure import FIGURES

    return _complete((figure.name for figure in FIGURES), begun)


def complete_explained(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Figures that ``explain`` can explain."""
    return _complete(("response_p50", "response_p99", "service_mean"), begun)


def complete_stack(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Stacks with facts."""
    from wirelab import facts

    return _complete(map(str, facts.stacks()), begun)


def complete_experiment(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Experiment files that come with wirelab, and files of the disk, which the shell lists."""
    from wirelab.installation import folder

    shipped = sorted(path.stem for path in folder("experiments").glob("*.yaml"))
    found = [] if Path(begun).parent != Path() else _complete(shipped, begun)
    return found or [CompletionItem(begun, type="file")]


def _complete(names: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]
