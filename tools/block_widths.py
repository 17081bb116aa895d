"""How much narrower intervals get by blocks, on recorded runs: docs/reference/blocks.md.

``python -m tools.block_widths RUN…``: a row per run and figure, the median over its pairs of the
interval's width over that of Welch's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log
from pathlib import Path
from statistics import median

from tools.marked_part import replace_part
from wirelab.run import directory as run_directory
from wirelab.run import finished
from wirelab.statistics.blocks import blocks
from wirelab.statistics.cell import Cell, cells, setting_key
from wirelab.statistics.comparison import Comparison, of_blocks, ratio
from wirelab.statistics.figure import RATE, RESPONSE_P50, SERVICE_CPU, Figure

PAGE = Path("docs/reference/blocks.md")
FIGURES = (RATE, RESPONSE_P50, SERVICE_CPU)


def _width(comparison: Comparison) -> float:
    low, high = comparison.ratio.bounds or (1.0, 1.0)
    return log(high / low) if low > 0.0 else float("inf")


def _ratios(shared: Sequence[Sequence[Cell]], figure: Figure) -> list[float]:
    """Of every pair in a setting; empty where there are no blocks."""
    every = [cell for group in shared for cell in group]
    found = blocks([cell.values_by_repeat(figure) for cell in every])
    if found is None:
        return []
    places = {id(cell): place for place, cell in enumerate(every)}
    made = []
    for a, b in (pair for group in shared for pair in combinations(group, 2)):
        welch = _width(ratio(a.values(figure), b.values(figure)))
        if welch > 0.0:
            made.append(_width(of_blocks(found, places[id(a)], places[id(b)], 2)) / welch)
    return made


def _rows(folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        made = finished.read(folder)
        settings: dict[str, list[Cell]] = {}
        for cell in cells(made.trials):
            settings.setdefault(setting_key(cell.point), []).append(cell)
        shared = [group for group in settings.values() if len(group) > 1]
        name = run_directory.read_manifest(folder).name
        count = sum(map(len, shared))
        for figure in FIGURES:
            ratios = _ratios(shared, figure)
            if ratios:
                middle, most = median(ratios), max(ratios)
                words = f"{count} | {figure.title} | {len(ratios)} | {middle:.2f} | {most:.2f}"
                yield f"| {name} | {words} |"


def main(folders: Sequence[Path]) -> None:
    """Replaces the table of the page."""
    rows = list(_rows(folders))
    medians = [float(row.split("|")[5]) for row in rows]
    table = [
        "| run | cells | figure | pairs | median of width / Welch's | largest |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        f"The median of all {len(medians)} medians is {median(medians):.2f}.",
    ]
    replace_part(PAGE, "widths", table)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
