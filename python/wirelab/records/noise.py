"""What the machine did besides a trial, as its record keeps it."""

from __future__ import annotations

import msgspec


class NoiseRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Observations within the window, in seconds."""

    cores: tuple[int, ...]
    """Those of caller and service."""
    other_cpu_s: float | None = None
    """CPU time of processes that do not belong to the trial, on these cores; None: not measurable,
    because the processes of the service are not known or the window was too short."""
    lab_pause_s: float = 0.0
    """Longest time for which wirelab itself took no sample; usually 50 to 300 ms."""
    clock_step_s: float = 0.0
    """Step of CLOCK_REALTIME, signed."""
    sharing: str = ""
    """Other runs that used the same cores; empty: none."""
