"""The figures of a trial that are shown and compared, one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wirelab.format.units import Unit
from wirelab.records.trial import Trial


@dataclass(frozen=True)
class Figure:
    """One number per trial."""

    name: str
    """Key in exports."""
    title: str
    """As a reader sees it."""
    unit: Unit
    better: Literal["higher", "lower"]
    of: Callable[[Trial], float | None]
    """The number in ``unit``; None where the trial does not have it, or it is zero."""


def _rate(trial: Trial) -> float | None:
    return trial.result.rate_per_s or None


def _time(which: str, percentile: str) -> Callable[[Trial], float | None]:
    def of(trial: Trial) -> float | None:
        return trial.time_ns(which, percentile) or None

    return of


def _good(percentile: str) -> Callable[[Trial], float | None]:
    """Of the response time of good calls alone. Where no call failed that is the response
    time; None where calls failed and the caller did not record them apart."""

    def of(trial: Trial) -> float | None:
        which = "response_good" if trial.result.errors else "response"
        return trial.time_ns(which, percentile) or None

    return of


def client_cpu_s_per_call(trial: Trial) -> float | None:
    """CPU of the client within the window, over the calls that ended in it; what the engine
    spent spinning is not counted, for no call needed it."""
    return _share(trial.client_cpu_s(), trial)


def service_cpu_s_per_call(trial: Trial) -> float | None:
    """CPU of the service process within the window, over the calls that ended in it."""
    return _share(trial.service.cpu_window_s, trial)


def _bytes_sent(trial: Trial) -> float | None:
    """Written to the caller's sockets within the window, over the calls that ended in it."""
    return _share(trial.total(lambda one: one.bytes_sent), trial)


def _bytes_received(trial: Trial) -> float | None:
    """Read from the caller's sockets within the window, over the calls that ended in it."""
    return _share(trial.total(lambda one: one.bytes_received), trial)


def _bytes_both(trial: Trial) -> float | None:
    """Written to and read from the caller's sockets within the window, over its calls."""
    both = [trial.total(lambda one: one.bytes_sent), trial.total(lambda one: one.bytes_received)]
    known = [amount for amount in both if amount is not None]
    return _share(sum(known), trial) if len(known) == len(both) else None


def _share(amount: float | None, trial: Trial) -> float | None:
    calls = trial.count_ended()
    return float(amount) / calls if amount and calls else None


def _runtime(name: str, summary: str) -> Callable[[Trial], float | None]:
    """Of the samples of a runtime metric within the window."""

    def of(trial: Trial) -> float | None:
        value = trial.service.runtime_metrics.get(name, {}).get(summary)
        return float(value) if value else None

    return of


def _proxy_cpu(trial: Trial) -> float | None:
    """CPU seconds of the proxy within the window, over the calls that ended in it."""
    used, calls = trial.proxy.cpu_window_s if trial.proxy else None, trial.count_ended()
    return used / calls if used is not None and calls else None


def _gc_pause_share(trial: Trial) -> float | None:
    paused_s = _runtime("gc_pause_seconds_total", "growth")(trial)
    whole_s = trial.whole_s
    return paused_s / whole_s if paused_s and whole_s else None


def _codec(name: str) -> Callable[[Trial], float | None]:
    """Of the operation's last reply, timed after the window without store and connection."""

    def of(trial: Trial) -> float | None:
        return getattr(trial.service.codec, name, None)

    return of


def _encode_share(trial: Trial) -> float | None:
    spent_ns, mean_ns = _codec("encode_ns")(trial), trial.time_ns("service", "mean")
    return spent_ns / mean_ns if spent_ns and mean_ns else None


def _first_calls(first: int, last: int) -> Callable[[Trial], float | None]:
    """Mean of the calls with these numbers, from 1, that went well; None where one of them was
    not made, or none went well."""

    def of(trial: Trial) -> float | None:
        calls = (trial.result.first_calls_ns or ())[first - 1 : last]
        good = [ns for ns in calls if ns]
        return sum(good) / len(good) if good and len(calls) == last - first + 1 else None

    return of


RATE = Figure("rate", "successful calls", "1/s", "higher", _rate)
RESPONSE_P50 = Figure("response_p50", "response p50", "ns", "lower", _time("response", "p50"))
RESPONSE_P99 = Figure("response_p99", "response p99", "ns", "lower", _time("response", "p99"))
RESPONSE_MEAN = Figure("response_mean", "response mean", "ns", "lower", _time("response", "mean"))
GOOD_P50 = Figure("response_p50_good", "response p50 of good calls", "ns", "lower", _good("p50"))
GOOD_P99 = Figure("response_p99_good", "response p99 of good calls", "ns", "lower", _good("p99"))
GOOD_MEAN = Figure(
    "response_mean_good", "response mean of good calls", "ns", "lower", _good("mean")
)
SERVICE_P50 = Figure("service_p50", "service p50", "ns", "lower", _time("service", "p50"))
SERVICE_P99 = Figure("service_p99", "service p99", "ns", "lower", _time("service", "p99"))
CLIENT_CPU = Figure("client_cpu", "client CPU per call", "s", "lower", client_cpu_s_per_call)
SERVICE_CPU = Figure("service_cpu", "service CPU per call", "s", "lower", service_cpu_s_per_call)
PROXY_CPU = Figure("proxy_cpu", "proxy CPU per call", "s", "lower", of=_proxy_cpu)
BYTES_SENT = Figure("bytes_sent", "bytes sent per call", "B", "lower", _bytes_sent)
BYTES_RECEIVED = Figure("bytes_received", "bytes received per call", "B", "lower", _bytes_received)
BYTES = Figure("bytes_per_call", "bytes per call", "B", "lower", _bytes_both)
MEMORY = Figure("rss", "resident memory", "B", "lower", _runtime("rss_bytes", "mean"))

FIGURES = (
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    RESPONSE_MEAN,
    GOOD_P50,
    GOOD_P99,
    GOOD_MEAN,
    SERVICE_P50,
    SERVICE_P99,
    CLIENT_CPU,
    SERVICE_CPU,
    BYTES_SENT,
    BYTES_RECEIVED,
    BYTES,
)
"""Every figure, in the order in which tables show them. Response times are those of all calls,
failed ones with the time until they failed, unless named otherwise."""
RUNTIME = (
    Figure(
        "heap_committed", "heap committed", "B", "lower", _runtime("heap_committed_bytes", "mean")
    ),
    Figure("heap_used", "heap used", "B", "lower", _runtime("heap_used_bytes", "mean")),
    Figure("heap_used_max", "most heap used", "B", "lower", _runtime("heap_used_bytes", "max")),
    Figure("heap_idle", "heap idle", "B", "lower", _runtime("heap_idle_bytes", "mean")),
    MEMORY,
    Figure("gc_pause_share", "share of time in GC pauses", "", "lower", _gc_pause_share),
    Figure("threads_max", "most threads", "", "lower", _runtime("threads", "max")),
    Figure(
        "store_connections",
        "database connections in use",
        "",
        "lower",
        _runtime("store_connections_in_use", "mean"),
    ),
)
"""Figures of the service's runtime: means over the window, unless named otherwise. Stacks in
different languages are not compared by them, for a heap is not the same thing in each."""
CODEC = (
    Figure("encode", "time to encode the reply", "ns", "lower", _codec("encode_ns")),
    Figure("decode", "time to decode the reply", "ns", "lower", _codec("decode_ns")),
    Figure(
        "encode_share", "share of encoding in the mean service time", "", "lower", _encode_share
    ),
)
"""Figures of a reply's codec alone, of experiments that have ``codec_times``."""
FIRST_CALLS = (
    Figure("first_call", "response of the first call", "ns", "lower", _first_calls(1, 1)),
    Figure("calls_2_10", "mean response of calls 2–10", "ns", "lower", _first_calls(2, 10)),
    Figure("calls_11_100", "mean response of calls 11–100", "ns", "lower", _first_calls(11, 100)),
    Figure(
        "calls_101_1000",
        "mean response of calls 101–1,000",
        "ns",
        "lower",
        _first_calls(101, 1000),
    ),
)
"""Figures of the first calls of a fresh process, of trials with ``start=cold``."""
GOOD_CALLS = (GOOD_P50, GOOD_P99, GOOD_MEAN)
"""Figures of which each is another one where no call failed."""
