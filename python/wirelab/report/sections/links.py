"""Links: what was requested and what was measured before each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wirelab.checks.link import driver_text
from wirelab.format.numbers import NONE, digits, sanitize
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.stack.link_names import LOOPBACK
from wirelab.trial.record import Json, Trial

_TOLD = (
    "Every trial had a link of its own, measured before it. What was asked for stands above what "
    "was measured, the least and the most over the trials; the round trip asked for is a mean, "
    "the measured one the median of the pings. Late is how much later than due the emulator let "
    "packets out, p99; CPU is the emulator's share of a core within the window. SYNs that a link "
    "loses beside its other packets are counted in the trials themselves, over all of them: the "
    "probes before are UDP."
)
_COLUMNS = (
    *("link", "driver", "congestion", "round trip, ms", "loss, %", "SYN loss"),
    *("forward, kbit/s", "backward, kbit/s", "late, µs", "CPU, %", "trials"),
)


def section(source: Source) -> Section:
    """One row per link; nothing where all trials were over loopback."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in source.trials:
        if trial.point.link != LOOPBACK and trial.link:
            groups.setdefault(_kind(trial), []).append(trial)
    rows = [_row(kind, trials) for kind, trials in groups.items()]
    if not rows:
        return Section("Links")
    return Section("Links", (_TOLD,), (Table(_COLUMNS, rows, "", range(3, len(_COLUMNS))),))


def _kind(trial: Trial) -> tuple[str, str, str]:
    congestion = trial.link.get("congestion") or {}
    both = " / ".join(dict.fromkeys(map(sanitize, congestion.values()))) or NONE
    return sanitize(trial.point.link), sanitize(driver_text(trial.link)) or NONE, both


def _row(kind: tuple[str, str, str], trials: Sequence[Trial]) -> list[str]:
    links = [trial.link for trial in trials]
    return [
        *kind,
        _both(
            links, lambda nominal: nominal.get("rtt_ms"), lambda found: _at(found, "rtt_ms", "p50")
        ),
        _both(
            links,
            lambda nominal: nominal.get("loss_percent"),
            lambda found: _at(found, "loss_percent", "value"),
        ),
        _syn_loss(links),
        *(_rate(links, way) for way in ("forward", "backward")),
        _range(_at(link, "lateness_us", "p99") for link in links),
        _range(map(_cpu_percent, trials)),
        str(len(trials)),
    ]


def syn_losses(links: Sequence[Json]) -> list[str]:
    """``backward 3 of 104 (2.90 % nominal)`` for each way that loses SYNs: what was lost over
    all links of that profile, and what it says."""
    return [
        f"{way} {_syns(links, way)} ({digits(percent)} % nominal)"
        for way, percent in _nominal_syn_loss(links).items()
        if percent
    ]


def _nominal_syn_loss(links: Sequence[Json]) -> dict[str, float]:
    losses = ((link.get("nominal") or {}).get("syn_loss_percent") for link in links)
    return next(filter(None, losses), {})


def _syns(links: Sequence[Json], way: str) -> str:
    counted = [link["syns"][way] for link in links if link.get("syns")]
    if not counted:
        return "not counted"
    lost, offered = (sum(syns[key] for syns in counted) for key in ("lost", "offered"))
    return f"{lost:,} of {offered:,}"


def _syn_loss(links: Sequence[Json]) -> str:
    none = digits(0.0) if _nominal_syn_loss(links) else NONE
    return "\n".join(syn_losses(links)) or none


def _rate(links: Sequence[Json], way: str) -> str:
    return _both(links, *(2 * [lambda part: _at(part, "rate_kbit", way)]))


def _both(
    links: Sequence[Json],
    nominal_of: Callable[[Json], float | None],
    measured_of: Callable[[Json], float | None],
) -> str:
    """The nominal figure above the measured ones."""
    nominal = _range(nominal_of(link.get("nominal") or {}) for link in links)
    measured = _range(measured_of(link.get("measured") or {}) for link in links)
    return nominal if measured == NONE else f"{nominal}\n{measured}"


def _at(part: Json, outer: str, inner: str) -> float | None:
    return (part.get(outer) or {}).get(inner)


def _cpu_percent(trial: Trial) -> float | None:
    used, window = trial.link.get("cpu_window_s"), trial.result.window_s
    if trial.link.get("driver") != "emulator" or used is None or not window:
        return None
    return 100.0 * float(used) / window


def _range(values: Iterable[float | None]) -> str:
    """``2.51``, ``2.51 – 2.63``; a dash where there is none."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return NONE
    return " – ".join(dict.fromkeys((digits(min(known)), digits(max(known)))))
