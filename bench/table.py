"""The bench on a terminal."""

from __future__ import annotations

from collections import Counter
from statistics import median

from bench.bounds import Ratio
from bench.memory import Weighed
from bench.races import Raced


def race_lines(raced: Raced) -> list[str]:
    """Every contender's medians, then the ratios."""
    lines = ["", f"{raced.race.title}  [{raced.race.key}]"]
    for name in raced.rounds[0]:
        readings = [rnd[name] for rnd in raced.rounds]
        bound = Counter(reading.bound for reading in readings).most_common(1)[0][0]
        lines.append(
            f"  {name:<14}{median(r.client_us_per_call for r in readings):>10.2f} us CPU/call"
            f"{median(r.rate_per_s for r in readings):>12,.0f} req/s   {bound}"
        )
    return lines + [ratio_line(ratio) for ratio in raced.ratios]


def memory_lines(weighed: Weighed) -> list[str]:
    """Every run's peak, then the figures."""
    lines = ["", f"{weighed.title}  [{weighed.key}]"]
    for held in weighed.runs:
        lines.append(
            f"  {held.connections:>6,} connections {held.calls:>10,} calls "
            f"{held.rss_peak_bytes / 1e6:>9.2f} MB peak"
        )
    return lines + [ratio_line(figure) for figure in weighed.figures]


def ratio_line(ratio: Ratio) -> str:
    """Median, extremes and verdict of one ratio."""
    mark = ("BROKEN" if ratio.broken else "holds") if ratio.wanted() else ""
    return (
        f"  {ratio.figure + ' / ' + ratio.peer:<52}{ratio.median:>7.3f}"
        f"  [{min(ratio.values):.3f} … {max(ratio.values):.3f}]"
        f"  {ratio.wanted():<14}{mark}"
    ).rstrip()
