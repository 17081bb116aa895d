"""Links: what was asked for beside what was measured before each trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wirelab.profiles import LOOPBACK
from wirelab.report.quantity import NONE, digits, plain
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.trial import Json, Trial

_TOLD = (
    "Every trial had a link of its own, measured before it. Measured figures are the least and "
    "the most over the trials; a round trip is the median of its pings, with the nominal one a "
    "mean. Late is how much later than due the emulator let packets out, p99; CPU is the "
    "emulator's share of a core within the window."
)
_COLUMNS = (
    *("link", "driver", "congestion", "round trip, ms", "measured, ms", "loss, %", "measured, %"),
    *("rate, kbit/s", "measured, kbit/s", "late, µs", "CPU, %", "trials"),
)
_WAYS = ("forward", "backward")


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
    both = " / ".join(dict.fromkeys(map(plain, congestion.values()))) or NONE
    return trial.point.link, plain(trial.link.get("driver")), both


def _row(kind: tuple[str, str, str], trials: Sequence[Trial]) -> list[str]:
    nominal = [trial.link.get("nominal") or {} for trial in trials]
    measured = [trial.link.get("measured") or {} for trial in trials]
    return [
        *map(plain, kind),
        _range(one.get("rtt_ms") for one in nominal),
        _range((one.get("rtt_ms") or {}).get("p50") for one in measured),
        _range(one.get("loss_percent") for one in nominal),
        _range((one.get("loss_percent") or {}).get("value") for one in measured),
        _ways(nominal),
        _ways(measured),
        _range((trial.link.get("lateness_us") or {}).get("p99") for trial in trials),
        _range(map(_cpu_percent, trials)),
        str(len(trials)),
    ]


def _cpu_percent(trial: Trial) -> float | None:
    used, window = trial.link.get("cpu_window_s"), trial.result.get("window_s")
    if trial.link.get("driver") != "emulator" or used is None or not window:
        return None
    return 100.0 * float(used) / float(window)


def _ways(every: Sequence[Json]) -> str:
    """Rates; both ways apart where they differ."""
    rates: list[Mapping[str, float | None]] = [one.get("rate_kbit") or {} for one in every]

    def one_way(way: str) -> str:
        return _range(rate.get(way) for rate in rates)

    told = {way: one_way(way) for way in _WAYS}
    if len(set(told.values())) == 1:
        return told["forward"]
    return "\n".join(f"{way} {shown}" for way, shown in told.items())


def _range(values: Iterable[float | None]) -> str:
    """``2.51``, ``2.51 – 2.63``; a dash where nothing was measured."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return NONE
    ends = dict.fromkeys((digits(min(known)), digits(max(known))))
    return " – ".join(ends)
