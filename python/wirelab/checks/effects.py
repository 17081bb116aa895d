"""Which figures a marked check touches, and by how much.

A check states that a trial was not what it should be. That touches some figures and not others:
replies that waited in the client lengthen response times, and use no CPU time. An effect is the
share of a figure that may be due to what the check found, from the record of the trial alone, so
that it is known of runs of any version. ``None``: the figure is touched by an unknown amount. What
is not named is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from wirelab.checks import clients, load, system_noise
from wirelab.checks.backlog import arrivals, littles_law
from wirelab.checks.beginning import movement
from wirelab.checks.wire import find_connection_bounds
from wirelab.records.trial import Check, Trial
from wirelab.statistics.figure import FIGURES, FIRST_CALLS
from wirelab.statistics.stationarity import stationary

Effects = Mapping[str, float | None]
"""Name of a figure -> share of it, not negative, except for what a warm-up moved."""

WAKE_UP_NS_MAX = 60_000.0
"""Between the kernel's stamp of a packet and the read of a client that slept: the median is 12 to
60 us where calls come one at a time (docs/runs/atlas, virtual machine of 2 cores). It belongs to
the figures of every client that sleeps, as the wake-up of the service does
(docs/decisions/0013-busy-polling.md)."""
TAIL = 0.01
"""Share of the calls that reaches the p99."""

_RESPONSE = {"response_p50": "p50", "response_p99": "p99", "response_mean": "mean"}
_GOOD = {f"{name}_good": percentile for name, percentile in _RESPONSE.items()}
_SERVICE = {"service_p50": "p50", "service_p99": "p99"}
_FIRST = tuple(figure.name for figure in FIRST_CALLS)
_TIMES = (*_RESPONSE, *_GOOD, *_SERVICE, *_FIRST)
_CPU = ("client_cpu", "service_cpu")
_BYTES = ("bytes_sent", "bytes_received", "bytes_per_call")
_CALLS = ("rate", *_TIMES)
_EVERY = tuple(figure.name for figure in (*FIGURES, *FIRST_CALLS))


def effects(trial: Trial, check: Check) -> Effects:
    """Those of a marked check. Checks that are not known here touch every figure."""
    return _EFFECTS.get(check.name, _unknown(_EVERY))(trial)


def _unknown(figures: Iterable[str]) -> Callable[[Trial], Effects]:
    found = MappingProxyType(dict.fromkeys(figures))
    return lambda _trial: found


def _report_no_effect(_trial: Trial) -> Effects:
    return {}


def _is_at_limit(trial: Trial) -> bool:
    """Whether the service was busy all the time: a delay in the client then changes no rate."""
    used = load.service_use(trial)
    return used is not None and used > load.SATURATED


def _of_rate(trial: Trial, share: float | None) -> Effects:
    """A closed load makes its next call when the last one has ended."""
    if not trial.point.load.is_closed or _is_at_limit(trial):
        return {}
    return {"rate": share}


def _measure_delay(
    trial: Trial, delay_ns: Callable[[str], float | None], *, service: bool = True
) -> dict[str, float | None]:
    """Times that contain a delay, by the percentile of both."""
    shares: dict[str, float | None] = {}
    named = [("response", {**_RESPONSE, **_GOOD})] + [("service", _SERVICE)] * service
    for which, figures in named:
        for name, percentile in figures.items():
            value, delay = trial.time_ns(which, percentile), delay_ns(percentile)
            if value:
                shares[name] = None if delay is None else min(1.0, delay / value)
    return shares


# -- waiting in the client -------------------------------------------------------------------


def backlog_ns(trial: Trial, percentile: str) -> float | None:
    """By how much replies that waited for the client move a percentile of the response time: that
    of the stamped calls less that of the same calls without their backlog. Older records have the
    backlog alone, whose percentile is an upper bound, because its calls may be others."""
    stamped = trial.time_ns("response_stamped", percentile)
    prompt = trial.time_ns("response_without_backlog", percentile)
    if stamped is not None and prompt is not None:
        waited: float | None = stamped - prompt
    else:
        waited = trial.time_ns("backlog", percentile)
    return None if waited is None else max(0.0, waited - wake_up_ns(trial))


def wake_up_ns(trial: Trial) -> float:
    """The part of the backlog that is the wake-up of a sleeping client: its median, where calls
    come one at a time, so that no reply waits behind another."""
    mean, window = trial.time_ns("response", "mean"), trial.result.window_s
    if mean is None or not window or trial.background:
        return 0.0
    under_way = littles_law(trial.result.calls / window, mean * 1e-9)
    if under_way > 1.0 + load.WITHIN:
        return 0.0
    return min(trial.time_ns("backlog", "p50") or 0.0, WAKE_UP_NS_MAX)


def _backlog(trial: Trial) -> Effects:
    found = _measure_delay(trial, lambda percentile: backlog_ns(trial, percentile))
    return {**found, **_of_rate(trial, found.get("response_mean"))}


def _lag(trial: Trial) -> Effects:
    """Arrivals that were sent late: their response time has begun, their service time has not."""
    return _measure_delay(trial, lambda percentile: trial.time_ns("lag", percentile), service=False)


# -- time that caller or service did not have ----------------------------------------------------


def _spread_stop(trial: Trial, seconds: float, times: float) -> Effects:
    """``seconds`` of the whole trial in which a side did not run, at a number of ``times``. Means
    and rates lose that share; it reaches the p99 if one call in a hundred was under way
    meanwhile. A service that took turns met its part of them."""
    calls, users = trial.result.calls, trial.point.load.users
    share, own = seconds / trial.whole_s, trial.called_s / trial.whole_s
    struck = share if users is None or not calls else min(share, users * times * own / calls)
    tail: Effects = dict.fromkeys(n for n in _TIMES if n.endswith(("p99", "p99_good")))
    even = {name: share for name in _TIMES if name not in tail}
    closed: Effects = {"rate": share} if trial.point.load.is_closed else {}
    return {**even, **closed, **(tail if struck >= TAIL else {})}


def _steal(trial: Trial) -> Effects:
    stolen = trial.engine.steal_s or 0.0
    return _spread_stop(trial, stolen, stolen / load.TICK_S)


def _measure_waits(trial: Trial) -> Effects:
    """Pieces of a few milliseconds at most: the time slices of the kernel."""
    waited = system_noise.total_wait_s(trial) or 0.0
    return _spread_stop(trial, waited, waited / (load.TICK_S / 2.0))


def _pauses(trial: Trial) -> Effects:
    pauses = trial.engine.pauses
    if pauses is None:
        return dict.fromkeys(_TIMES)
    return _spread_stop(trial, pauses.total_s, pauses.count)


def _lab_pauses(trial: Trial) -> Effects:
    """CPU times are interpolated over the pause."""
    noise, whole = trial.noise, trial.whole_s
    share = None if noise is None or not whole else min(1.0, noise.lab_pause_s / whole)
    return {"service_cpu": share}


def _idle_cpu(trial: Trial) -> Effects:
    """What a service used while others were called is in its CPU time per call."""
    used, slices = trial.service.cpu_window_s, trial.slices
    if not used or slices is None or slices.idle_cpu is None:
        return {"service_cpu": None}
    return {"service_cpu": slices.idle_cpu * (slices.whole_s - slices.own_s) / used}


# -- windows that are not like what follows -------------------------------------------------------


def _warm_up(trial: Trial) -> Effects:
    """What moved between the beginning and the end of the window. The rate of an open load is
    planned, so that its counts do not show what its times did."""
    if not trial.point.load.is_closed:
        return dict.fromkeys((*_TIMES, *_CPU))
    found = movement(load.whole_slots(trial.result))
    return dict.fromkeys((*_CALLS, *_CPU), None if found is None else found.growth)


def _drift(trial: Trial) -> Effects:
    """The mean of a drifting window differs from its ends by half of the drift; a stall is a part
    of it that is missing, and its calls are the slowest."""
    series = load.whole_slots(trial.result)
    ordered = sorted(series)
    middle = float(ordered[len(ordered) // 2]) if ordered else 0.0
    missing = 1.0 - sum(series) / len(series) / middle if middle else None
    half = abs(stationary(series).drift) / 2.0
    share = None if missing is None else max(half, missing)
    tail = dict.fromkeys(name for name in _TIMES if name.endswith(("p99", "p99_good")))
    cpu = {"service_cpu": share} if _is_at_limit(trial) else {}
    return {**dict.fromkeys(_CALLS, share), **tail, **cpu}


# -- calls that are not those that were planned ---------------------------------------------------


def _errors(trial: Trial) -> Effects:
    """The times of all calls against those of the good ones, which are not touched."""
    calls, failed = trial.result.calls, trial.result.errors
    if not calls:
        return dict.fromkeys(_EVERY)
    found: dict[str, float | None] = dict.fromkeys(("rate", *_CPU, *_BYTES), failed / calls)
    for name, percentile in _RESPONSE.items():
        every, good = (trial.time_ns(one, percentile) for one in ("response", "response_good"))
        found[name] = abs(1.0 - good / every) if every and good else None
    return found


def _compare_counts(trial: Trial) -> Effects:
    seen, made = trial.service.calls_seen, trial.total(lambda one: one.calls_whole_run)
    share = abs(made - seen) / made if made and seen is not None else None
    return dict.fromkeys(("rate", *_CPU, *_BYTES), share)


def _concurrency(trial: Trial) -> Effects:
    """Users who were not in a call, or calls too long for the window: the times are wrong by that
    share, and the rate of a service that was not busy anyway."""
    users, mean = trial.point.load.users, trial.time_ns("response", "mean")
    seen = None if trial.background else trial.service.concurrency_seen
    if not users or mean is None or (seen is not None and seen > users * (1.0 + load.WITHIN)):
        share = None
    else:
        under_way = littles_law(trial.result.calls / trial.result.window_s, mean * 1e-9)
        share = abs(under_way / users - 1.0)
    return {**dict.fromkeys(_TIMES, share), **_of_rate(trial, share)}


def _connections(trial: Trial) -> Effects:
    """Connections that were not to be made, each at the price of one more exchange or, where it
    is known, of the time to connect."""
    opened = trial.total(lambda one: one.connections_opened)
    calls = trial.total(lambda one: one.calls_whole_run)
    expected = find_connection_bounds(trial, trial.point.axes.connection)
    seen = trial.service.connections_seen
    connect, response = (trial.time_ns(one, "mean") for one in ("connect", "response"))
    if opened is None or not calls or expected is None or opened < expected[0]:
        return dict.fromkeys(_EVERY)
    if not response or (seen is not None and int(seen) != opened):
        return dict.fromkeys(_EVERY)
    more = max(0, opened - expected[1]) / calls
    price = more * max(1.0, (connect or 0.0) / response)
    tail = dict.fromkeys(name for name in _TIMES if name.endswith(("p99", "p99_good")))
    even = dict.fromkeys(("rate", *_CPU, *_BYTES, *_TIMES), price)
    return {**even, **(tail if more >= TAIL else {})}


def _rate(trial: Trial) -> Effects:
    """Fewer arrivals than planned are another load, with other times."""
    planned, window = trial.result.rate_planned_per_s, trial.result.window_s
    share = abs(arrivals(trial.result)[0] / window / planned - 1.0) if planned and window else None
    return {**dict.fromkeys(_TIMES), "rate": share}


def _measure_backlog(trial: Trial) -> Effects:
    """Response times grow with the window; the service did what it could."""
    calls, ended = trial.result.calls, trial.result.ended
    share = (calls - ended) / calls if calls and ended is not None else None
    return {**dict.fromkeys((*_RESPONSE, *_GOOD)), "rate": share}


_EFFECTS: Mapping[str, Callable[[Trial], Effects]] = MappingProxyType(
    {
        "engine build": _unknown((*_CALLS, "client_cpu")),
        "errors": _errors,
        "replies": _report_no_effect,
        "stages and bursts": _unknown(_CALLS),
        "background": _unknown((*_CALLS, *_CPU)),
        clients.NAME: _unknown((*_CALLS, *_CPU)),
        "calls counted": _compare_counts,
        load.BOUND: _unknown(_CALLS),
        load.IDLE_CPU: _idle_cpu,
        load.OTHERS_CPU: _unknown((*_CALLS, *_CPU)),
        "resent calls": _unknown((*_CALLS, *_CPU, *_BYTES)),
        "concurrency": _concurrency,
        "achieved rate": _rate,
        load.KEPT_UP: _measure_backlog,
        "engine backlog": _backlog,
        "schedule lag": _lag,
        "warm-up": _warm_up,
        "stationarity": _drift,
        "connections": _connections,
        "steal time": _steal,
        system_noise.WAITED: _measure_waits,
        system_noise.PAUSED: _pauses,
        system_noise.LAB_PAUSED: _lab_pauses,
        # Both concern packets, which have a section of their own.
        system_noise.CLOCK: _report_no_effect,
        "capture": _report_no_effect,
        "packets": _report_no_effect,
        "calls and packets": _report_no_effect,
        system_noise.SHARED: _unknown((*_CALLS, *_CPU)),
        "slices": _report_no_effect,
    }
)
"""By the name of the check. The others touch every figure: whether the service is right, whether
the window is whole, what the link and the connections were."""
