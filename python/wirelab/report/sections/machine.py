"""The machine: its noise while it measured, placement of processes, versions, services."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1
from typing import Any

import msgspec

from wirelab.checks import hosts
from wirelab.format.counting import format_count
from wirelab.format.numbers import DASH, NONE, digits, sanitize
from wirelab.format.units import format_bytes
from wirelab.records.proxy import ProxyRecord
from wirelab.records.service import ServiceRecord, StoreRecord
from wirelab.records.trial import Trial
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell

_ABOUT_NOISE = (
    "Involuntary context switches count how often the kernel took a core from a process that could "
    "have continued, per second of the window (for a foreign tool, of its whole run). Stolen is "
    "the time that the hypervisor took from all cores together, in per cent of one core's window. "
    "Values are the lowest and highest over the trials."
)
_ABOUT_HOSTS = (
    "Each repeat was measured on one host, as far as there were enough repeats. What a host does "
    "to all cells alike is removed from comparisons. The table has the difference of each host "
    "from an average repeat."
)
_BYTES = "_bytes"
"""Ends the name of a size."""
_GB = 1_000_000_000
"""Bytes from which on a size is rounded: settings are smaller and exact, memory is not."""
_NAMES = frozenset(("seed",))
"""Numbers that name something, and are typed again as they are."""
_NOISE_COLUMNS = (
    *("stack", "setting", "caller's switches, /s", "service's switches, /s", "stolen, %"),
)


def noise_section(source: Source) -> Section:
    """One row per cell; none where no record has any of it. A column of which no trial knows
    anything is left out."""
    rows = [_noise_row(source, cell) for cell in source.cells if cell.measured]
    known = [at for at in range(len(_NOISE_COLUMNS)) if any(row[at] != NONE for row in rows)]
    if not [at for at in known if at > 1]:
        return Section("System noise")
    columns = [_NOISE_COLUMNS[at] for at in known]
    shown = [[row[at] for at in known] for row in rows]
    table = Table(columns, shown, "", range(2, len(columns)))
    return Section("System noise", (_ABOUT_NOISE,), (table,))


def _noise_row(source: Source, cell: Cell) -> list[str]:
    trials = cell.measured
    return [
        source.names.stacks[cell.point.stack],
        source.names.setting(cell.point),
        _range(_rate_per_s(trial, trial.engine.switches_involuntary) for trial in trials),
        _range(trial.service.switches_involuntary_per_s for trial in trials),
        _range(_stolen(trial) for trial in trials),
    ]


def _rate_per_s(trial: Trial, amount: float | None) -> float | None:
    window = trial.result.window_s
    return None if amount is None or not window else float(amount) / float(window)


def _stolen(trial: Trial) -> float | None:
    """Per cent of the window."""
    share = _rate_per_s(trial, trial.engine.steal_s)
    return None if share is None else 100.0 * share


def _range(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    return DASH.join(dict.fromkeys((digits(min(known)), digits(max(known)))))


def hosts_section(source: Source) -> Section:
    """The hosts of a farm, and how much they differ; empty for a run on one machine."""
    check = hosts.check(source.trials)
    if check is None:
        return Section("Hosts")
    found = {figure: hosts.effects(source.trials, figure) for figure in hosts.FIGURES}
    known = {figure: one for figure, one in found.items() if one is not None}
    counts = Counter(trial.node for trial in source.trials if trial.node)
    rows = [
        [
            sanitize(name),
            f"{count:,}",
            *(_format_effect(one.means.get(name)) for one in known.values()),
        ]
        for name, count in sorted(counts.items())
    ]
    columns = ["host", "cells", *(f"{figure.title}, %" for figure in known)]
    said = f"{check.reason[0].upper()}{check.reason[1:]}."
    return Section(
        "Hosts", (_ABOUT_HOSTS, said), (Table(columns, rows, "", range(1, len(columns))),)
    )


def _format_effect(effect: float | None) -> str:
    return NONE if effect is None else f"{100.0 * expm1(effect):+.1f}"


def placement_section(source: Source) -> Section:
    """Which process ran where, and how many threads the engine took for its open files."""
    tables = Counter(str(one) for trial in source.trials if (one := trial.engine.file_tables))
    said = [
        f"{text[0].upper()}{text[1:]} ({format_count(n, 'trial')})." for text, n in tables.items()
    ]
    return Section("Placement", said, (_placement_table(source),))


def machine_section(source: Source) -> Section:
    manifest = source.manifest
    shown = [
        _flat_table(manifest.machine, "Machine"),
        _flat_table(manifest.versions, "Versions"),
        *_service_tables(source),
        _database_table(source),
        _proxy_table(source),
        _flat_table(_identity(source), "Identity"),
    ]
    return Section("Machine and versions", tables=[table for table in shown if table.rows])


def _identity(source: Source) -> dict[str, object]:
    shown = ("seed", "experiment_sha256", "git_revision", "engine", "sessions")
    manifest = msgspec.to_builtins(source.manifest)
    known = {key: manifest[key] for key in shown if key in manifest}
    profiles = sorted({str(p) for t in source.trials if (p := t.engine.profile)})
    return {**known, "engine profile": profiles}


def _placement_table(source: Source) -> Table:
    """Which process ran on which cores; one row per distinct placement."""
    counts = Counter(trial.placement for trial in source.trials)
    found = [(msgspec.to_builtins(placement), count) for placement, count in counts.items()]
    keys = list(dict.fromkeys(key for placement, _ in found for key in placement))
    rows = [
        [*(format_value(placement.get(key)) for key in keys), f"{count:,}"]
        for placement, count in found
    ]
    return Table([*map(_label, keys), "trials"], rows)


def _flat_table(entries: Mapping[str, object], caption: str) -> Table:
    """Names and values, nested ones with dots between their names."""
    rows = [[_label(name), format_value(value, name)] for name, value in _flat("", entries)]
    return Table(["property", "value"], rows, caption)


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [pair for key, inner in value.items() for pair in _flat(f"{prefix}{key}.", inner)]
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return [p for i, inner in enumerate(value, 1) for p in _flat(f"{prefix}{i}.", inner)]
    return [(prefix.removesuffix("."), value)]


def _label(name: str) -> str:
    """A key in words: ``memory_bytes`` is ``memory``, for the value has the unit."""
    return sanitize(name.removesuffix(_BYTES).replace("_", " ").replace(".", " "))


def format_value(value: Any, name: str = "") -> str:
    """As people write it: ``25.3 GB``, ``20,000``, ``no``; a dash where there is none."""
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(format_value(item, name) for item in value) or NONE
    if isinstance(value, int) and name.endswith(_BYTES):
        return f"{value / _GB:.1f} GB" if value >= _GB else format_bytes(value)
    if isinstance(value, int) and name not in _NAMES:
        return f"{value:,}"
    return sanitize(value)


def _settings(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(_label(name), format_value(value, name)) for name, value in sorted(settings.items())]


@dataclass(frozen=True)
class _Kind:
    """Services that differ in their settings alone."""

    stack: str
    language: str
    runtime: str
    libraries: str
    sha256: str

    @classmethod
    def of(cls, source: Source, trial: Trial) -> _Kind:
        service = trial.service
        return cls(
            source.names.stacks[trial.point.stack],
            format_value(service.language),
            format_value(service.runtime),
            "\n".join(service.list_libraries()) or NONE,
            (service.sha256 or NONE)[:12],
        )


def _service_tables(source: Source) -> list[Table]:
    """What served, one row per kind: language, runtime, libraries by role, the hash of the binary
    and the settings that differ between kinds; then those that all share."""
    found: dict[_Kind, dict[str, dict[str, None]]] = {}
    for trial in source.trials:
        if trial.service != ServiceRecord():
            values = found.setdefault(_Kind.of(source, trial), {})
            for name, value in _settings(trial.service.set or {}):
                values.setdefault(name, {})[value] = None
    every = list(found.values())
    same = [
        name
        for name, value in sorted(every[0].items() if every else [])
        if len(value) == 1 and all(values.get(name) == value for values in every)
    ]
    rows = [
        [
            *(kind.stack, kind.language, kind.runtime, kind.libraries),
            *(_list_differing(found[kind], same), kind.sha256),
        ]
        for kind in sorted(found, key=lambda kind: (kind.stack, kind.sha256, kind.libraries))
    ]
    columns = ["stack", "language", "runtime", "libraries", "own settings", "SHA-256"]
    shared = [[name, next(iter(every[0][name]))] for name in same]
    return [
        Table(columns, rows, "Services"),
        Table(["setting", "value"], shared, "Settings of every service"),
    ]


def _list_differing(values: Mapping[str, Mapping[str, None]], same: Sequence[str]) -> str:
    shown = (f"{name}: {' or '.join(each)}" for name, each in values.items() if name not in same)
    return "\n".join(shown) or NONE


def _database_table(source: Source) -> Table:
    """The databases of the services, one row per kind, apart from the services themselves."""
    groups: dict[tuple[str, ...], list[StoreRecord]] = {}
    for trial in source.trials:
        if store := trial.store:
            pool = "driver's default" if store.pool is None else str(store.pool)
            kind = (
                source.names.stacks[trial.point.stack],
                store.kind,
                store.version or NONE,
                pool,
            )
            groups.setdefault(kind, []).append(store)
    rows = [[*kind, *_describe_usage(groups[kind])] for kind in sorted(groups)]
    columns = ["stack", "database", "version", "pool", "CPU, s", "memory, MB", "connections"]
    return Table(columns, rows, "Databases; lowest and highest over the trials", (4, 5, 6))


def _proxy_table(source: Source) -> Table:
    """The proxies in front of the services, one row per stack, apart from the services."""
    groups: dict[tuple[str, ...], list[ProxyRecord]] = {}
    for trial in source.trials:
        if proxy := trial.proxy:
            name = source.names.stacks[trial.point.stack]
            kind = name, proxy.kind, proxy.version or NONE, str(proxy.workers)
            groups.setdefault(kind, []).append(proxy)
    rows = [[*kind, *_proxy_used(groups[kind])] for kind in sorted(groups)]
    columns = ["stack", "proxy", "version", "workers", "CPU in the window, s", "memory, MB"]
    title = "Proxies; figures least and most over the trials, memory at its peak"
    return Table(columns, rows, title, (4, 5))


def _proxy_used(proxies: list[ProxyRecord]) -> tuple[str, str]:
    return (
        _range(proxy.cpu_window_s for proxy in proxies),
        _range(proxy.rss_max_bytes / 1e6 for proxy in proxies if proxy.rss_max_bytes is not None),
    )


def _describe_usage(stores: list[StoreRecord]) -> tuple[str, str, str]:
    """CPU while calls were made, memory and connections at their end; dashes where the lab did
    not start the database, or where it is part of the service's process."""
    return (
        _range(store.cpu_s() for store in stores),
        _range(store.memory_bytes / 1e6 for store in stores if store.memory_bytes is not None),
        _range(store.connections for store in stores),
    )
