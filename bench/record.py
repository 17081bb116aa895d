"""A row as it is kept: the lines that were printed, and every figure behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bench import table
from bench.bounds import Ratio
from bench.memory import Weighed
from bench.races import Raced
from bench.reading import Reading


@dataclass(frozen=True)
class Row:
    """One row's lines for the terminal, its ratios, and everything for the file."""

    key: str
    lines: list[str]
    ratios: list[Ratio]
    raw: dict[str, Any]


def race_row(raced: Raced) -> Row:
    """Every reading of every round."""
    rounds = [{name: _reading(reading) for name, reading in rnd.items()} for rnd in raced.rounds]
    raw = {
        "title": raced.race.title,
        "others_share": raced.others_share,
        "rounds": rounds,
        "ratios": [_ratio(ratio) for ratio in raced.ratios],
    }
    return Row(raced.race.key, table.race_lines(raced), raced.ratios, raw)


def memory_row(weighed: Weighed) -> Row:
    """Every run of the engine with its peak."""
    raw = {
        "title": weighed.title,
        "runs": [asdict(held) for held in weighed.runs],
        "ratios": [_ratio(figure) for figure in weighed.figures],
    }
    return Row(weighed.key, table.memory_lines(weighed), weighed.figures, raw)


def _reading(reading: Reading) -> dict[str, Any]:
    derived = {
        "client_us_per_call": reading.client_us_per_call,
        "bound": reading.bound,
        "others_share": reading.others_share,
    }
    return {**asdict(reading), **derived}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {**asdict(ratio), "median": ratio.median, "verdict": ratio.verdict}
