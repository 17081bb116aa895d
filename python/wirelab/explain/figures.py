"""The figures that study files may name, each by one word.

The table of :mod:`wirelab.statistics.figure`, and those that published studies
use next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import MappingProxyType

from wirelab.checks.load import client_bound
from wirelab.errors import UsageError
from wirelab.records.group import STREAM_TIMES
from wirelab.records.trial import Trial
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import CODEC, FIGURES, FIRST_CALLS, PROXY_CPU, RUNTIME, Figure

TIMES = ("response", "service")
"""Words that begin the name of a time."""
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99")
"""Those that the engine records of a time."""
PACKETS_MAX = 24
"""Packets of an exchange that have a figure each."""


def _service_mean(trial: Trial) -> float | None:
    return trial.time_ns("service", "mean") or None


def _sequence_mean(trial: Trial) -> float | None:
    sequences = trial.result.sequences
    return sequences.response.mean_ns if sequences else None


def _time_per_call(trial: Trial) -> float | None:
    """The window over its good calls: how long a call takes from the outside, whether its
    caller waits for it or not."""
    rate = NAMED["rate"].of(trial)
    return 1e9 / rate if rate else None


def _success(trial: Trial) -> float | None:
    ended = trial.count_ended()
    return (ended - trial.result.errors) / ended if ended else None


def _wire(name: str) -> Callable[[Trial], float | None]:
    """A mean per exchange of a trial whose packets were captured."""
    return lambda trial: trial.wire.per_exchange.get(name) if trial.wire else None


def _gap(position: int) -> Figure:
    """Mean time since the packet before, over the exchanges with the commonest sequence."""

    def of(trial: Trial) -> float | None:
        gaps = trial.wire.gaps_us if trial.wire else ()
        return gaps[position - 1] * 1e3 if len(gaps) >= position else None

    return Figure(f"gap_{position}", f"time before packet {position}", "ns", "lower", of)


def _service_cores(trial: Trial) -> float | None:
    """CPU of the service within the window over the window."""
    return _share(trial.service.cpu_window_s, trial.result.window_s)


def _client_cores(trial: Trial) -> float | None:
    return _share(trial.client_cpu_s(), trial.result.window_s)


def _share(cpu_s: float | None, window_s: float | None) -> float | None:
    return cpu_s / window_s if cpu_s and window_s else None


def _heap_use(trial: Trial) -> float | None:
    used, committed = NAMED["heap_used"].of(trial), NAMED["heap_committed"].of(trial)
    return used / committed if used is not None and committed else None


def _little(trial: Trial) -> float | None:
    """Users over (mean service time x rate): 1 where a user does nothing but wait for replies."""
    users, mean, rate = trial.point.load.users, _service_mean(trial), NAMED["rate"].of(trial)
    return users / (mean * 1e-9 * rate) if users and mean and rate else None


_MORE = (
    Figure("service_mean", "service mean", "ns", "lower", _service_mean),
    Figure("sequence_mean", "mean of a sequence", "ns", "lower", _sequence_mean),
    Figure("time_per_call", "time per call", "ns", "lower", _time_per_call),
    Figure("success", "share of calls that succeeded", "", "higher", _success),
    Figure(
        "wire_total", "bytes per call, IP and TCP headers counted", "B", "lower", _wire("ip_bytes")
    ),
    Figure(
        "wire_pure_tcp", "bytes of packets without data", "B", "lower", _wire("pure_tcp_ip_bytes")
    ),
    Figure("wire_data", "bytes of packets with data", "B", "lower", _wire("data_ip_bytes")),
    Figure("wire_payload", "bytes of TCP payload", "B", "lower", _wire("payload_bytes")),
    Figure("wire_message", "bytes of messages", "B", "lower", _wire("message_bytes")),
    Figure("wire_packets", "packets per call", "", "lower", _wire("packets")),
    Figure("service_cores", "cores that the service kept busy", "", "lower", _service_cores),
    Figure("client_cores", "cores that the client kept busy", "", "lower", _client_cores),
    PROXY_CPU,
    Figure("heap_use", "heap used over heap committed", "", "higher", _heap_use),
    *map(_gap, range(1, PACKETS_MAX + 1)),
    Figure("little", "users ÷ (mean service time × rate)", "", "lower", _little),
)

NAMED = MappingProxyType(
    {figure.name: figure for figure in (*FIGURES, *RUNTIME, *CODEC, *FIRST_CALLS, *_MORE)}
)
"""Every figure by its name."""


def find_figure(name: str) -> Figure | None:
    """The figure of that name, also of a time of streams: ``ttfm.p99``, ``stall.max``."""
    return NAMED.get(name) or _of_streams(name)


def _of_streams(name: str) -> Figure | None:
    word, _, which = name.partition(".")
    title = next((time.title for time in STREAM_TIMES if time.name == word), None)
    if title is None or which not in (*PERCENTILES, "mean", "max"):
        return None
    of = partial(Trial.time_ns, which=word, percentile=which)
    return Figure(name, f"{title}, {which}", "ns", "lower", of)


def require_figure(name: str) -> Figure:
    """The figure of that name. Raises :class:`UsageError` with the nearest one."""
    found = find_figure(name)
    if found is None:
        raise UsageError(f"there is no metric {name!r}", did_you_mean(name, NAMED))
    return found


def phrase(name: str) -> str:
    """The figure inside a sentence: ``changes calls per second by ...``."""
    return "calls per second" if name == "rate" else require_figure(name).title


def only_a_bound(figure: Figure, cell: Cell) -> bool:
    """:func:`is_bounded`, of the trials of a cell."""
    return is_bounded(figure, cell.measured)


def is_bounded(figure: Figure, trials: Iterable[Trial]) -> bool:
    """True where a client at its limit makes the figure a mere bound of what the service
    can do: rates are then too low and times too long; CPU per call is not touched."""
    touched = figure.name == "rate" or (figure.unit == "ns" and figure.name.startswith(TIMES))
    return touched and any(map(client_bound, trials))
