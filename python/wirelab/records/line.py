"""One line of the journal: a trial with its cells (format 2 of a run directory).

A trial measures one cell of the matrix, or several whose services took turns. The line has what
the cells share, and ``cells`` with the rest. Analysis reads each cell as a :class:`Trial` with an
id of its own. A line of format 1 has the values of its one cell next to the
shared ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import msgspec

from wirelab.records.caller import CallerRecord
from wirelab.records.client import ClientsRecord
from wirelab.records.conversion import FIELD, convert, locate
from wirelab.records.group import GroupResult
from wirelab.records.host import HostRecord
from wirelab.records.link import CaptureRecord, LinkRecord, PlacementRecord, Side
from wirelab.records.noise import NoiseRecord
from wirelab.records.proxy import ProxyRecord
from wirelab.records.service import ServiceRecord, StoreRecord
from wirelab.records.slices import SlicesRecord
from wirelab.records.trial import Check, Json, Point, Status, Trial
from wirelab.records.wire import WireRecord

CELLS_MAX = 16
"""Maximum number of cells of a trial."""


def cell_id(trial_id: str, number: int) -> str:
    """The id of a cell, counted from 0: that of the trial, with a number for all but the first."""
    return trial_id if number == 0 else f"{trial_id}.{number + 1}"


SHARED = (
    *("id", "repeat", "order", "status", "reason", "started", "seconds"),
    *("placement", "repeats", "node"),
)
"""Fields that are the same for all cells of a trial."""
CELL = (
    *("point", "result", "background", "engine", "service", "link", "captures", "wire"),
    *("store", "proxy", "host", "clients", "noise", "slices", "checks"),
)
"""Fields of one cell."""


def to_line(cells: Sequence[Trial]) -> Json:
    """The object of a journal's line. Raises :class:`ValueError` unless the cells share what cells
    of one trial share."""
    first = cells[0]
    for number, cell in enumerate(cells):
        own = replace(cell, id=first.id)
        if cell.id != cell_id(first.id, number):
            raise ValueError(f"cell {number + 1} of trial {first.id} has the id {cell.id}")
        if differing := [n for n in SHARED if getattr(own, n) != getattr(first, n)]:
            raise ValueError(f"the cells of trial {first.id} differ in {differing[0]}")
    shared = {name: _WRITERS.get(name, _return_same)(getattr(first, name)) for name in SHARED}
    if not first.node:
        del shared["node"]
    return {
        **shared,
        "cells": [
            {name: _WRITERS.get(name, _return_same)(getattr(cell, name)) for name in CELL}
            for cell in cells
        ],
    }


def from_line(line: Json) -> tuple[Trial, ...]:
    """The cells of a line of any format. Raises :class:`TypeError` for unknown keys or another
    structure, and :class:`KeyError` for missing ones."""
    if "cells" not in line:
        return (_cell(line, {}),)
    shared = dict(line)
    cells = shared.pop("cells")
    if not isinstance(cells, list) or not 0 < len(cells) <= CELLS_MAX:
        raise TypeError(f"expected a list of 1 to {CELLS_MAX} objects{FIELD}.cells`")
    _refuse_others(shared, SHARED)
    found = []
    for number, cell in enumerate(cells):
        with locate(f".cells[{number}]"):
            if not isinstance(cell, dict):
                raise TypeError(f"expected an object{FIELD}`")
            _refuse_others(cell, CELL)
            found.append(_cell(cell, shared))
            found[-1] = replace(found[-1], id=cell_id(found[-1].id, number))
    return tuple(found)


def _refuse_others(found: Json, known: Sequence[str]) -> None:
    if unknown := found.keys() - set(known):
        raise TypeError(f"unknown key{FIELD}.{min(unknown)}`")


class _Plain(msgspec.Struct):
    """Types of the values of a line that are neither objects nor lists."""

    id: str
    repeat: int
    order: int
    status: Status
    reason: str = ""
    started: str = ""
    seconds: float = 0.0
    repeats: str = ""
    node: str = ""


_READERS: dict[str, Callable[[object], object]] = {
    "result": GroupResult.of,
    "engine": CallerRecord.of,
    "service": lambda line: convert(line, ServiceRecord),
    "placement": lambda line: convert(line, PlacementRecord),
    "link": LinkRecord.of,
    "captures": lambda line: convert(line, dict[Side, CaptureRecord]),
}
_OPTIONAL_READERS: dict[str, Callable[[object], object]] = {
    "wire": WireRecord.of,
    "store": lambda line: convert(line, StoreRecord),
    "proxy": lambda line: convert(line, ProxyRecord),
    "host": lambda line: convert(line, HostRecord),
    "clients": lambda line: convert(line, ClientsRecord),
    "noise": lambda line: convert(line, NoiseRecord),
    "slices": lambda line: convert(line, SlicesRecord),
}
"""Parts that are None in the record and an empty object in its line."""


def _cell(cell: Json, shared: Json) -> Trial:
    known = {**cell, **shared}
    _refuse_others(known, (*SHARED, *CELL))
    for name in ("point", *_READERS, *_OPTIONAL_READERS):
        if not isinstance(known.get(name, {}), dict):
            raise TypeError(f"expected an object{FIELD}.{name}`")
    with locate(".point"):
        known["point"] = Point.of(known["point"])
    with locate(".background"):
        known["background"] = tuple(map(GroupResult.of, _list(known.get("background", []))))
    for name, read in _READERS.items():
        with locate(f".{name}"):
            known[name] = read(known.get(name, {}))
    for name, read in _OPTIONAL_READERS.items():
        with locate(f".{name}"):
            known[name] = read(known[name]) if known.get(name) else None
    with locate(".checks"):
        known["checks"] = convert(known.get("checks", []), tuple[Check, ...])
    convert(known, _Plain)
    return Trial(**known)


def _list(content: object) -> list[object]:
    if not isinstance(content, list):
        raise TypeError("expected a list")
    return content


def _return_same(value: Any) -> Any:
    return value


def _record(value: Any) -> Any:
    return value.to_json() if value else {}


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value) if value else {}


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "point": _record,
    "result": _record,
    "background": lambda groups: [group.to_json() for group in groups],
    "engine": _record,
    "service": _record,
    "placement": msgspec.to_builtins,
    "link": msgspec.to_builtins,
    "captures": msgspec.to_builtins,
    "wire": _record,
    "store": _record,
    "proxy": _record,
    "host": _builtins,
    "clients": _builtins,
    "slices": _builtins,
    "noise": _builtins,
    "checks": lambda checks: [asdict(check) for check in checks],
}
