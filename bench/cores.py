"""What the two cores did as a whole, so that other people's work on them shows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.process import TICK_S

IDLE_FIELDS = (3, 4)
"""idle and iowait, counted from `user` (proc(5), /proc/stat)."""
GUEST_FIELDS = (8, 9)
"""guest and guest_nice, which `user` and `nice` hold already."""


def busy_s(cores: Iterable[int], stat: str | None = None) -> float:
    """Seconds since boot in which these cores were not idle, stolen time included.

    `stat` is the text of /proc/stat; it is read when left out.
    """
    names = {f"cpu{core}" for core in cores}
    lines = (stat or Path("/proc/stat").read_text()).splitlines()
    rows = [line.split()[1:] for line in lines if line.split(maxsplit=1)[0] in names]
    left_out = IDLE_FIELDS + GUEST_FIELDS
    return sum(
        int(ticks) * TICK_S
        for row in rows
        for field, ticks in enumerate(row)
        if field not in left_out
    )
