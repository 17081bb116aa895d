"""docs/atlas.md and experiments/atlas.yaml: every stack that the services offer, and its figures.

``python -m tools.atlas_page`` writes the services of the experiment and the page's list of stacks
from every ``service.json``; ``make generate`` runs it. ``python -m tools.atlas_page RUN`` writes
the page's figures from a run of the experiment, and keeps the experiment, the manifest and the
journal of that run, as an archive, in ``docs/runs/atlas``, to which the page links.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools import marked_part
from tools.all_stacks_page import NOTHING, format_cell, notes
from tools.stack_table import TITLES, Offer, offers
from wirelab import checkout
from wirelab.format.units import format_bytes
from wirelab.run import directory as run_directory
from wirelab.run import finished as finished_run
from wirelab.run import keeping
from wirelab.stack import manifests
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import CLIENT_CPU, RATE, RESPONSE_P50, SERVICE_CPU

PAGE = Path("docs/atlas.md")
EXPERIMENT = Path("experiments/atlas.yaml")
KEPT = Path("docs/runs/atlas")
STACKS = "stacks of the atlas"
FIGURES = "figures of the atlas"
SERVICES = ("# Services: made by make generate.", "# End of the services.")
ONE_USER, MANY_USERS = 1, 50


def transfer(catalogue: manifests.Catalogue) -> list[Offer]:
    """The offers for the contract whose operations the experiment calls."""
    return [offer for offer in offers(catalogue) if "transfer" in offer.served.contracts]


def references(every: Iterable[Offer]) -> list[str]:
    """One reference for each binding, codec and language, in the order of the offers."""
    return list(dict.fromkeys(str(offer.stack) for offer in every))


def experiment(text: str, every: Sequence[Offer]) -> str:
    """The experiment with these services. Raises :class:`ValueError` without the marks."""
    return marked_part.replace(
        text, *SERVICES, ["services:", *(f'  - "{name}"' for name in references(every))]
    )


def stacks(every: Sequence[Offer]) -> Iterator[str]:
    """A table of the stacks, with what each offers besides its defaults."""
    languages = len({offer.language for offer in every})
    yield f"{len(references(every))} stacks in {languages} languages."
    yield from ("", "| stack | language | HTTP | compression | security |", "|---|---|---|---|---|")
    for offer in every:
        served = offer.served
        http = [name.removeprefix("http/") for name in served.transports if "http" in name]
        cells_of_row = (
            f"`{offer.stack}`",
            TITLES.get(offer.language, offer.language),
            *map(_join_values, (http, served.compression, served.security)),
        )
        yield f"| {' | '.join(cells_of_row)} |"


def _join_values(values: Iterable[str]) -> str:
    return ", ".join(value for value in values if value != "none") or NOTHING


def figures(folder: Path) -> Iterator[str]:
    """The machine, the files of the run, and a table per message."""
    found = list(cells(finished_run.read(folder).trials))
    machine = run_directory.read_manifest(folder).machine
    trials = sum(len(cell.trials) for cell in found)
    days = sorted({trial.started[:10] for cell in found for trial in cell.trials})
    links = ", ".join(
        f"[{name}]({(KEPT / name).relative_to(PAGE.parent).as_posix()})" for name in keeping.FILES
    )
    yield (
        f"{trials:,} trials of {' to '.join(dict.fromkeys((days[0], days[-1])))} on "
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}. The run "
        f"directory: {links}."
    )
    for message in dict.fromkeys(map(_message, found)):
        rows = [cell for cell in found if _message(cell) == message]
        yield from ("", f"### {message}", "")
        yield (
            f"| stack | p50, µs, {ONE_USER} user | calls/s, {MANY_USERS} users | "
            "service CPU per call, µs | client CPU per call, µs | trials |"
        )
        yield "|---|---|---|---|---|---|"
        yield from _rows(rows)


def _message(cell: Cell) -> str:
    return f"{cell.point.operation} {format_bytes(cell.point.bytes)}"


def _rows(found: Sequence[Cell]) -> Iterator[str]:
    """One row per stack, in the order of their names: the atlas is not a ranking."""
    by_stack: dict[str, dict[int | None, Cell]] = {}
    for cell in found:
        by_stack.setdefault(str(cell.point.stack), {})[cell.point.load.users] = cell
    for stack, by_users in sorted(by_stack.items()):
        one, many = by_users.get(ONE_USER), by_users.get(MANY_USERS)
        row = (
            format_cell(one, RESPONSE_P50, 1e-3),
            format_cell(many, RATE, 1.0),
            format_cell(many, SERVICE_CPU, 1e6),
            format_cell(many, CLIENT_CPU, 1e6),
            "; ".join(text for cell in (one, many) if cell and (text := notes(cell))),
        )
        yield f"| `{stack}` | {' | '.join(row)} |"


def main(words: Sequence[str]) -> None:
    """Writes the list of stacks, or the figures of the run that is named."""
    root = checkout.root()
    if words:
        marked_part.replace_part(root / PAGE, FIGURES, figures(Path(words[0])))
        keeping.keep(Path(words[0]), root / KEPT)
        return
    every = transfer(manifests.load())
    marked_part.replace_part(root / PAGE, STACKS, stacks(every))
    text = (root / EXPERIMENT).read_text(encoding="utf-8")
    (root / EXPERIMENT).write_text(experiment(text, every), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
