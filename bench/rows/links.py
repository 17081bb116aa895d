"""How exact the links' emulator is: its promises compared with what was found."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bounds import Ratio
from bench.process import BenchError, NotHere, build_example, busy_s, run_on_core

EXAMPLE = "exactness"
LIMIT_S = 1800.0
TUN = Path("/dev/net/tun")


@dataclass(frozen=True)
class Exactness:
    """Every promise with all of its tries."""

    figures: list[Ratio]
    others_share: float
    """Of the cores' time, what went to anything but the emulator and its callers."""


def run(quick: bool = False) -> Exactness:
    """Builds the program, runs it on all cores and reads what it says.

    Raises:
        NotHere: no root, or no TUN device.
        BenchError: it cannot be built, or did not end well.
    """
    if lacking := _find_missing_tool():
        raise NotHere(lacking)
    command = [build_example("wirelab-link", EXAMPLE), *(["--tries", "1"] if quick else [])]
    cores = sorted(os.sched_getaffinity(0))
    before = busy_s(cores)
    finished = run_on_core(None, command, limit_s=LIMIT_S)
    others_s = busy_s(cores) - before - finished.cpu_s
    if finished.exit_code not in (0, 1):  # 1: a promise was not kept; that is judged here
        said = finished.errors.strip() or "nothing"
        raise BenchError(f"{EXAMPLE} ended with {finished.exit_code}: {said}")
    share = max(0.0, others_s) / (len(cores) * finished.wall_s)
    return Exactness([figure(json.loads(line)) for line in finished.output.splitlines()], share)


def _find_missing_tool() -> str | None:
    if os.geteuid() != 0:
        return "links need root"
    return None if TUN.exists() else f"the emulator needs {TUN}"


def figure(said: dict[str, Any]) -> Ratio:
    """A line of the program. The tries stand for rounds, so that a promise is broken where
    not even the best of them keeps it.

    Raises:
        BenchError: it names a bound that is none.
    """
    name, tries = str(said["name"]), tuple(float(one) for one in said["tries"])
    promised = float(said["promised"])
    match said["bound"]:
        case "at most":
            return Ratio(name, "", tries, at_most=promised)
        case "at least":
            return Ratio(name, "", tries, at_least=promised)
        case other:
            raise BenchError(f"{EXAMPLE} says {other!r}: {name}")
