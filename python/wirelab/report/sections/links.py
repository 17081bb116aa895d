"""Links: what was requested and what was measured before each trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.format.numbers import NONE, digits, sanitize
from wirelab.records.link import LinkRecord, Way
from wirelab.records.trial import Trial
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.stack.link_names import LOOPBACK

_ABOUT = (
    "Every trial had its own link, measured before the trial. The requested value is above the "
    "lowest and highest measured values of all trials. The requested round trip is a mean; the "
    "measured one is the median of the pings. Late is the delay of packets beyond their due time "
    "in the emulator, p99. CPU is the emulator's share of a core within the window. A separate "
    "loss of SYNs is counted over all trials, because the measurement before a trial uses UDP."
)
_COLUMNS = (
    *("link", "driver", "congestion", "round trip, ms", "loss, %", "SYN loss"),
    *("forward, kbit/s", "backward, kbit/s", "late, µs", "CPU, %", "trials"),
)


def section(source: Source) -> Section:
    """One row per link; nothing where all trials were over loopback."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in source.trials:
        if trial.point.link != LOOPBACK and trial.link.driver:
            groups.setdefault(_kind(trial), []).append(trial)
    rows = [_row(kind, trials) for kind, trials in groups.items()]
    if not rows:
        return Section("Links")
    return Section("Links", (_ABOUT,), (Table(_COLUMNS, rows, "", range(3, len(_COLUMNS))),))


def _kind(trial: Trial) -> tuple[str, str, str]:
    congestion = trial.link.congestion.values()
    both = " / ".join(dict.fromkeys(map(sanitize, congestion))) or NONE
    return sanitize(trial.point.link), sanitize(trial.link.driver_text()) or NONE, both


def _row(kind: tuple[str, str, str], trials: Sequence[Trial]) -> list[str]:
    links = [trial.link for trial in trials]
    losses = (link.measured.loss_percent for link in links)
    return [
        *kind,
        _both((link.nominal.rtt_ms for link in links), (link.rtt_ms() for link in links)),
        _both(
            (link.nominal.loss_percent for link in links),
            (loss.value for loss in losses if loss),
        ),
        _syn_loss(links),
        _rate(links, "forward"),
        _rate(links, "backward"),
        _range(link.lateness_us.p99 for link in links if link.lateness_us),
        _range(map(_cpu_percent, trials)),
        str(len(trials)),
    ]


def syn_losses(links: Sequence[LinkRecord]) -> list[str]:
    """``backward 3 of 104 (2.90 % nominal)`` for each way that loses SYNs: what was lost over
    all links of that profile, and what it says."""
    return [
        f"{way} {_syns(links, way)} ({digits(percent)} % nominal)"
        for way, percent in _nominal_syn_loss(links).items()
        if percent
    ]


def _nominal_syn_loss(links: Sequence[LinkRecord]) -> dict[Way, float]:
    return next(filter(None, (link.nominal.syn_loss_percent for link in links)), {})


def _syns(links: Sequence[LinkRecord], way: Way) -> str:
    counted = [link.syns[way] for link in links if link.syns]
    if not counted:
        return "not counted"
    lost, offered = sum(syns.lost for syns in counted), sum(syns.offered for syns in counted)
    return f"{lost:,} of {offered:,}"


def _syn_loss(links: Sequence[LinkRecord]) -> str:
    none = digits(0.0) if _nominal_syn_loss(links) else NONE
    return "\n".join(syn_losses(links)) or none


def _rate(links: Sequence[LinkRecord], way: Way) -> str:
    return _both(
        (link.nominal.rate_kbit.get(way) for link in links),
        ((link.measured.rate_kbit or {}).get(way) for link in links),
    )


def _both(nominal: Iterable[float | None], measured: Iterable[float | None]) -> str:
    """The nominal figure above the measured ones."""
    expected, found = _range(nominal), _range(measured)
    return expected if found == NONE else f"{expected}\n{found}"


def _cpu_percent(trial: Trial) -> float | None:
    used, window = trial.link.cpu_window_s, trial.result.window_s
    if trial.link.driver != "emulator" or used is None or not window:
        return None
    return 100.0 * used / window


def _range(values: Iterable[float | None]) -> str:
    """``2.51``, ``2.51 – 2.63``; a dash where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    return " – ".join(dict.fromkeys((digits(min(known)), digits(max(known)))))
