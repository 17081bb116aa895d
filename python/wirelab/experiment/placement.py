"""Assigns processes to cores.

The rule ``pinned``: the service on the first core, the engine on the second, and wirelab's own
process on the remaining cores, so that neither side of a measurement shares a core with the
other. A link's emulator and captures get spare cores; without spare cores they are not pinned. On
a single core nothing is pinned. Every result contains the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.errors import UsageError

if TYPE_CHECKING:
    from wirelab.experiment.model import Placement, PlacementChoice


@dataclass(frozen=True)
class Table:
    """Cores per process; an empty tuple means not pinned."""

    rule: str
    service: tuple[int, ...]
    engine: tuple[int, ...]
    front: tuple[int, ...]
    available: tuple[int, ...]
    emulator: tuple[int, ...] = ()
    """Cores of the link's emulator, if there is one."""
    capture: tuple[int, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """The cores of caller and service."""
        sides = {*(self.engine or self.available), *(self.service or self.available)}
        return tuple(sorted(sides))

    @property
    def proxy(self) -> tuple[int, ...]:
        """Of the proxy, where a trial has one: what no other side is pinned to, else the core of
        the emulator, else those of the service, so that the caller keeps its own."""
        taken = {*self.service, *self.engine, *self.emulator, *self.capture}
        alone = tuple(core for core in self.front if core not in taken)
        return alone[:1] or self.front[:1] or self.service

    def processors(self) -> int:
        """Number of threads of service code for its cores."""
        return len(self.service or self.available)

    def threads(self) -> int:
        """Number of engine threads: one per core that it is pinned to."""
        return max(1, len(self.engine))

    def wait(self, *, rationed: bool = False) -> str:
        """Wait policy of the engine's threads: ``adaptive`` (may spin) if no other process uses
        their cores and their CPU time is not ``rationed``; otherwise ``sleep``."""
        apart = not {*self.engine} & {*self.service, *self.emulator, *self.capture}
        alone = bool(self.engine) and bool(self.service) and apart
        return "adaptive" if alone and not rationed else "sleep"

    def thread_options(self, *, rationed: bool = False) -> dict[str, object]:
        """The engine's threads in its plan."""
        wait = self.wait(rationed=rationed)
        return {"threads": self.threads(), "cores": list(self.engine), "wait": wait}

    def to_json(
        self, *, emulator: bool = False, capture: bool = False, proxy: bool = False
    ) -> dict[str, object]:
        """The table in results; ``"unpinned"`` stands for no cores. Emulator, capture and proxy are
        listed if the trial has them."""
        sides = {"service": self.service, "engine": self.engine, "front": self.front}
        sides |= {"emulator": self.emulator} if emulator else {}
        sides |= {"capture": self.capture} if capture else {}
        sides |= {"proxy": self.proxy} if proxy else {}
        table: dict[str, object] = {
            name: list(cores) or "unpinned" for name, cores in sides.items()
        }
        return {"rule": self.rule, **table}


def available_cores() -> tuple[int, ...]:
    """The cores that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def choose(choice: PlacementChoice, cores: tuple[int, ...] | None = None) -> Table:
    """The table for a choice on these cores (default: all cores of the machine).
    Raises :class:`UsageError` for a core that does not exist."""
    cores = available_cores() if cores is None else cores
    if not isinstance(choice, str):
        return _place_by_choice(choice, cores)
    if choice == "unpinned" or len(cores) < 2:
        return Table(choice, (), (), (), cores)
    spare = cores[2:]
    return Table(choice, cores[:1], cores[1:2], spare, cores, spare[:1], spare[1:2] or spare[:1])


def name(choice: PlacementChoice) -> str:
    """A short, stable name for the options of a point: ``unpinned``, ``service 0, engine 1``."""
    if isinstance(choice, str):
        return choice
    sides = [("service", choice.service), ("engine", choice.engine)]
    sides += [("emulator", choice.emulator)] if choice.emulator else []
    sides += [("capture", choice.capture)] if choice.capture else []
    return ", ".join(f"{side} {' '.join(map(str, cores)) or 'unpinned'}" for side, cores in sides)


def _place_by_choice(choice: Placement, cores: tuple[int, ...]) -> Table:
    requested = {*choice.service, *choice.engine, *choice.emulator, *choice.capture}
    missing = sorted(requested - set(cores))
    if missing:
        raise UsageError(
            f"placement uses core {missing[0]}, but this machine has only {list(cores)}",
            "use existing cores, or write placement: pinned",
        )
    rest = tuple(core for core in cores if core not in requested)
    return Table(
        *("cores", choice.service, choice.engine, rest, cores),
        emulator=choice.emulator,
        capture=choice.capture,
    )


@contextmanager
def front_on(table: Table) -> Iterator[None]:
    """Restricts this process to its own cores until the block ends."""
    before = os.sched_getaffinity(0)
    if table.front:
        os.sched_setaffinity(0, table.front)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
