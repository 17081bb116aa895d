"""Whether a trial may be believed: one check per way in which it could mislead.

Each check reads the trial's record alone and says `ok`, `marked` (the figures need the
stated caution) or `not-measurable` (with the reason); a check that does not apply to the
trial is left out. A marked trial is never dropped: it is shown with its marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil, sqrt

from wirelab.checks import background, clients, periods, replies, system_noise
from wirelab.checks import link as link_checks
from wirelab.checks import wire as wire_checks
from wirelab.checks.backlog import arrivals, count_unfinished, little_ratio, littles_law
from wirelab.checks.beginning import movement
from wirelab.checks.wire import explain_no_bound, find_connection_bounds, spare_connections
from wirelab.documents.axes import SocketAxes
from wirelab.format.counting import format_count, of_all, plural
from wirelab.format.units import format_seconds
from wirelab.process import cgroups
from wirelab.records.group import GroupResult
from wirelab.records.trial import Check, Trial
from wirelab.stack.axes import CLIENTS, ENGINE
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.stationarity import stationary

SHARE_OF_RESPONSE = 0.05
"""Backlog p99 and lag p99.9 may be at most this share of the response p99."""
WITHIN = 0.01
"""Allowed distance of concurrency, rate and steal time from what they should be."""
TICK_S = 0.01
"""In which the kernel counts stolen time."""
STEAL_TICKS = 3
"""From which on stolen time is a share of the window."""
CACHE_MISSES = 0.01
"""Calls that may reach the service although a proxy keeps its replies, as a share of all."""
RESENT_SHARE_MAX = 0.01
"""Of the calls: those of a longer share reach the 99th percentile."""
SATURATED = 0.90
"""Share of its cores from which on a side is taken for the limit."""
SLOT_S = 0.1
"""Seconds of one entry of the engine's series."""
JVM_WARM_S = 15.0
"""Seconds of load in which a JVM on one core compiles most of a service's code
(docs/studies/jagannathan2022.md, warm-up of a JVM)."""
KEPT_UP = "kept up"
"""Name of the check that as many calls ended as arrived."""
IDLE_CPU, OTHERS_CPU = "idle CPU", "CPU of others"
"""Names of the checks of what a service uses while another one is called, and of what that one
loses."""
IDLE_CPU_MAX = 0.05
"""CPU seconds per second that a service may use while another one is called."""
BOUND = "bound"
"""Name of the check that shows which side was the limit."""


def check(trial: Trial) -> tuple[Check, ...]:
    """Every check that applies to a measured trial; none for one that failed."""
    if trial.status != "measured":
        return ()
    return tuple(found for judge in _CHECKS if (found := judge(trial)) is not None)


def client_bound(trial: Trial) -> bool:
    """True when the client was at its limit, alone or with the service: the rate is then a lower
    bound of what the service can do, the times an upper bound, and neither is ranked."""
    return any(mark.name == BOUND and mark.outcome == "marked" for mark in _read_or_check(trial))


def fell_behind(trial: Trial) -> bool:
    """Whether fewer calls ended than arrived: queues grew, and times are those of the window."""
    return any(mark.name == KEPT_UP and mark.outcome == "marked" for mark in trial.checks)


def find_marks(trial: Trial) -> tuple[Check, ...]:
    """The checks that marked the trial."""
    return tuple(mark for mark in _read_or_check(trial) if mark.outcome == "marked")


def _read_or_check(trial: Trial) -> tuple[Check, ...]:
    return trial.checks or check(trial)


def _caller(trial: Trial) -> str:
    """``engine``, or the name of a foreign tool."""
    return trial.point.axes.caller


def _is_foreign(trial: Trial) -> bool:
    """Whether a third-party tool made the calls."""
    return _caller(trial) not in {ENGINE, *CLIENTS}


def _client(trial: Trial) -> str:
    """The caller in a sentence."""
    caller = _caller(trial)
    if caller in CLIENTS:
        return f"the caller in {caller}"
    return f"the {caller}" if caller == ENGINE else caller


def _foreign(trial: Trial) -> Check | None:
    """What the figures of another caller are worth."""
    tool = _caller(trial)
    if tool == ENGINE:
        return None
    if tool in CLIENTS:
        return _own_client(trial)
    version = trial.engine.version or "of unknown version"
    libraries = trial.engine.libraries or {}
    client = ", ".join(f"{name} {number}" for name, number in libraries.items())
    return _mark(
        "caller",
        f"the figures are {tool}'s own ({tool} {version}{f' on {client}' if client else ''}): no "
        "reply was compared with the contract, and the tool defines where times begin and end",
    )


def _own_client(trial: Trial) -> Check:
    """What the figures of a language's own client are worth."""
    libraries = trial.engine.libraries or {}
    client = ", ".join(f"{name} {number}" for name, number in sorted(libraries.items()))
    stamps = trial.engine.stamps or {}
    missing = sorted(name for name, source in stamps.items() if source == "unavailable")
    lacking = f"; not reported by the library: {', '.join(missing)}" if missing else ""
    return Check(
        "caller",
        "ok",
        f"calls by {client} on {trial.engine.runtime}; every reply was decoded and compared with "
        f"the contract{lacking}",
    )


def _build(trial: Trial) -> Check | None:
    if _caller(trial) != ENGINE:
        return None
    profile = trial.engine.profile
    if profile is None:
        return Check.unmeasurable("engine build", "the record does not name the engine's profile")
    return Check.judge(
        "engine build",
        profile == "release",
        f"the engine is a {profile} build"
        + ("" if profile == "release" else "; its times and CPU are not those of a release build"),
    )


def _identity(trial: Trial) -> Check | None:
    """Whether the service had proven that it does the same as all others."""
    identity = trial.service.identity
    if identity is None:
        return None
    if identity.unverified is not None:
        return _mark("identity", f"the service is not verified: {identity.unverified}")
    calls = sum((identity.calls or {}).values())
    gaps = len(identity.gaps or ())
    answered = format_count(calls, "call")
    reason = f"this binary answered {answered} of an examination according to the contract"
    but = f", except for {gaps} known {plural(gaps, 'gap')}" if gaps else ""
    return Check.judge("identity", True, reason + but)


def _check_service_end(trial: Trial) -> Check | None:
    """Whether all processes of a command ended with it."""
    left = trial.service.left
    if not left:
        return None
    return _mark(
        "service end",
        f"the service left {format_count(len(left), 'process')} outside its session behind, which "
        f"wirelab ended: {', '.join(left)}",
    )


def _check_interruption(trial: Trial) -> Check:
    stopped = bool(trial.engine.interrupted)
    reason = "stopped before its window closed" if stopped else "the window was completed"
    return Check.judge("interrupted", not stopped, reason)


def _check_window(trial: Trial) -> Check | None:
    """Whether a window of calls held all of them, and any window an end."""
    planned = trial.result.calls_planned
    if trial.engine.interrupted:
        return None
    if trial.result.ended == 0 and trial.result.ok:
        return _mark("window", "no call ended within it, so there is no rate")
    if planned is None:
        return None
    held, what = arrivals(trial.result)
    return Check.judge(
        "window",
        held >= planned,
        f"the window held {held:,} of {planned:,} {what}"
        + ("" if held >= planned else ": its time limit (max) closed it"),
    )


def _errors(trial: Trial) -> Check:
    calls, errors = trial.result.calls, trial.result.errors
    if calls == 0:
        return _mark("errors", "no call began within the window")
    share = binomial_interval(errors, calls)
    kinds = trial.result.errors_by_kind
    named = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()) if count)
    reason = f"{of_all(errors, calls, 'call')} failed ({_percent(share.estimate)}; 95 % interval "
    reason += f"{_percent(share.low or 0.0)} to {_percent(share.high or 0.0)})"
    return Check.judge("errors", errors == 0, reason + (f": {named}" if named else ""))


def _resent(trial: Trial) -> Check | None:
    """Calls that went out again since the server had not processed them: their times hold all
    attempts, and the server's limits rather than its work."""
    calls, resent = trial.result.calls, trial.result.resent
    if resent is None or not calls:
        return None
    share = resent / calls
    reason = (
        f"{of_all(resent, calls, 'call')} sent again after GOAWAY or REFUSED_STREAM "
        f"({_percent(share)}, at most {_percent(RESENT_SHARE_MAX)})"
    )
    return Check.judge("resent calls", share <= RESENT_SHARE_MAX, reason)


def _backlog(trial: Trial) -> Check:
    return _of_response(trial, "engine backlog", "backlog", "p99")


def _lag(trial: Trial) -> Check | None:
    """Of few calls the 99th percentile; their largest lag is a matter of pauses."""
    if _is_closed(trial):
        return None
    percentile = "p99.9" if trial.time_ns("lag", "p99.9") is not None else "p99"
    return _of_response(trial, "schedule lag", "lag", percentile)


def _of_response(trial: Trial, name: str, which: str, percentile: str) -> Check:
    own, response = trial.time_ns(which, percentile), trial.time_ns("response", "p99")
    if own is None or response is None or response <= 0.0:
        missing, needed = (which, percentile) if own is None else ("response", "p99")
        if missing not in trial.result.times and _caller(trial) != ENGINE:
            return Check.unmeasurable(name, f"{_caller(trial)} has no timestamps for its {missing}")
        times = trial.result.times.get(missing)
        few = format_count(times.count if times else 0, "sample")
        return Check.unmeasurable(name, f"{missing}: {few}, too few for {needed}")
    share = own / response
    reason = (
        f"{which} {percentile} {_us(own)} is {_percent(share)} of the response p99 "
        f"{_us(response)} (at most {_percent(SHARE_OF_RESPONSE)})"
    )
    return Check.judge(name, share <= SHARE_OF_RESPONSE, reason)


def _check_bottleneck(trial: Trial) -> Check | None:
    """Which side was the limit of a closed load that leaves no pause."""
    if not _is_saturating(trial):
        return None
    client, service = client_use(trial), service_use(trial)
    if client is None:
        return Check.unmeasurable(
            BOUND, f"{_client(trial)}'s CPU time within the window is not in the record"
        )
    threads = "engine threads" if _caller(trial) == ENGINE else _caller(trial)
    reason = f"{threads} {_percent(client)} busy{_describe_spinning(trial)}, "
    if service is None:
        reason += "service's CPU time unknown"
        if client > SATURATED:
            return _mark(BOUND, f"{reason}: client-bound as far as is known, a lower bound")
        return Check.unmeasurable(BOUND, reason)
    reason += f"service {_percent(service)} of its processors"
    if client > SATURATED >= service:
        return _mark(BOUND, f"{reason}: client-bound, a lower bound, never a ranking")
    if client > SATURATED:
        return _mark(BOUND, f"{reason}: both near their limit: a lower bound, never a ranking")
    limit = "server-bound" if service > SATURATED else "neither is the limit; calls wait"
    return Check(BOUND, "ok", f"{reason}: {limit}")


def client_use(trial: Trial) -> float | None:
    """CPU of the engine's load threads, or of the tool on its processors, over their time in
    the window: 1 is all of it. What the engine spent spinning is time that it had to spare."""
    cpu_s = trial.result.cpu_s
    return None if cpu_s is None else _of_client(trial, max(0.0, cpu_s - _spare_s(trial)))


def _spare_s(trial: Trial) -> float:
    """CPU seconds that the engine spun with nothing to do. Under a quota they are used up
    as any others are."""
    rationed = trial.point.axes.client.cpu_percent is not None
    return 0.0 if rationed else trial.engine.spin_s or 0.0


def _describe_spinning(trial: Trial) -> str:
    share = _of_client(trial, _spare_s(trial)) or 0.0
    return f" (and spinning for {_percent(share)} with nothing to do)" if share >= 0.005 else ""


def _of_client(trial: Trial, seconds: float) -> float | None:
    """Seconds over the time that the client's processors had in the window."""
    processors = trial.engine.processors or _engine_cores(trial)
    return _use(seconds, trial, _count_processors(trial.point.axes.client, processors))


def service_use(trial: Trial) -> float | None:
    """CPU of the service over its processors' time in the window: 1 is all of it."""
    processors = _count_processors(trial.point.axes.server, trial.placement.processors)
    return _use(trial.service.cpu_window_s, trial, processors)


def _count_processors(side: SocketAxes, processors: int | None) -> float | None:
    """The processors that a side may use: a share of one where it has a quota."""
    return cgroups.share(side.cpu_percent) or processors


def _use(cpu_s: float | None, trial: Trial, processors: float | None) -> float | None:
    called = trial.called_s
    if cpu_s is None or not called or not processors:
        return None
    return float(cpu_s) / (called * processors)


def _idle_cpu(trial: Trial) -> Check | None:
    """Whether a service worked while another one was called."""
    if trial.slices is None:
        return None
    reason = "the service used {} CPU seconds per second while others were called"
    return _judge_idle_cpu(IDLE_CPU, trial.slices.idle_cpu, reason)


def _others_cpu(trial: Trial) -> Check | None:
    """Whether other services took processors from one that was called."""
    if trial.slices is None:
        return None
    reason = "other services used {} CPU seconds per second while this one was called"
    return _judge_idle_cpu(OTHERS_CPU, trial.slices.others_cpu, reason)


def _judge_idle_cpu(name: str, used: float | None, reason: str) -> Check:
    if used is None:
        return Check.unmeasurable(name, "too few samples of the services' CPU time")
    shown = reason.format(f"{used:.3g}")
    return Check.judge(name, used <= IDLE_CPU_MAX, f"{shown} (at most {IDLE_CPU_MAX:g})")


def _concurrency(trial: Trial) -> Check | None:
    """Little's law against the plan: users of a closed load are always in a call."""
    if not _is_saturating(trial):
        return None
    users, window = trial.point.load.users or 0, trial.result.window_s
    mean = trial.time_ns("response", "mean")
    if not users or not window or mean is None:
        return Check.unmeasurable("concurrency", "no response time within the window")
    under_way = littles_law(trial.result.calls / window, mean * 1e-9)
    # The service does not distinguish groups.
    seen = None if trial.background else trial.service.concurrency_seen
    reason = f"calls/s x mean response time gives {under_way:.2f} under way, planned {users}"
    if seen is not None:
        reason += f"; the service measured {float(seen):.2f}"
        if float(seen) > users * (1.0 + WITHIN):
            return _mark("concurrency", f"{reason}, which is more than were sent")
    off = abs(little_ratio(under_way, users) - 1.0)
    reason += f" (off by {_percent(off)})"
    uncertain = _edges(trial, mean, users, window)
    if WITHIN < off <= uncertain:
        return Check.unmeasurable(
            "concurrency",
            f"calls across the ends of this short window shift it by up to "
            f"{_percent(uncertain)}: {reason}",
        )
    return Check.judge("concurrency", off <= WITHIN, reason)


def _edges(trial: Trial, mean_ns: float, users: int, window_s: float) -> float:
    """How far the ends of the window can shift the concurrency, as a share, at the 0.1 % level.

    A user's calls overshoot the end and miss the start by a part of one call each: two
    uniform shares, of standard deviation ``W / sqrt(6)`` together, independent among users.
    Every slice has its own two ends. ``W`` is the p99 where it can be had, for long calls are the
    ones that cross the ends. A sequence belongs to the window with all its calls, so that it is
    the one that crosses.
    """
    sequences = trial.result.sequences
    if sequences is not None and sequences.count:
        longest = float(sequences.response.max_ns)
    else:
        longest = max(mean_ns, trial.time_ns("response", "p99") or 0.0)
        if longest == mean_ns:
            longest = trial.time_ns("response", "max") or mean_ns
    windows = trial.slices.count if trial.slices else 1
    return 3.3 * longest * 1e-9 * sqrt(windows) / sqrt(6.0 * users) / window_s


def _rate(trial: Trial) -> Check | None:
    """Achieved against planned arrivals of an open load."""
    planned = trial.result.rate_planned_per_s
    window = trial.result.window_s
    if _is_closed(trial) or not planned or not window:
        return None
    count, what = arrivals(trial.result)
    achieved = count / window
    off = abs(little_ratio(achieved, planned) - 1.0)
    # Poisson counts vary by their root: a short window cannot be held to 1 %.
    noise = 3.3 / max(1.0, (planned * window) ** 0.5)
    allowed = max(WITHIN, noise) if trial.point.load.kind == "poisson" else WITHIN
    reason = (
        f"{achieved:,.1f} {what}/s arrived, {planned:,.1f} planned "
        f"(off by {_percent(off)}, at most {_percent(allowed)})"
    )
    return Check.judge("achieved rate", off <= allowed, reason)


def _check_backlog(trial: Trial) -> Check | None:
    """Whether as many calls of an open load ended within the window as arrived in it."""
    window, ended = trial.result.window_s, trial.result.ended
    if _is_closed(trial) or not window or ended is None:
        return None
    calls = trial.result.calls
    behind, allowed = count_unfinished(trial.result, trial.point.load.in_flight_max or 0)
    if trial.point.load.kind == "bursts":
        # The window may end within one.
        allowed = max(allowed, float(trial.point.load.calls or 0))
    reason = (
        f"{calls / window:,.1f} calls/s arrived and {ended / window:,.1f} ended within the window"
    )
    if behind > allowed:
        reason += (
            f"; {behind:,} more calls were unfinished at its end than at its start: the service or "
            "the load's limit of calls in flight did not keep up, and a longer window has longer "
            "response times"
        )
    return Check.judge(KEPT_UP, behind <= allowed, reason)


def _counters(trial: Trial) -> Check:
    """The service's own counter against the engine's, over the whole run."""
    seen, made = trial.service.calls_seen, trial.total(lambda one: one.calls_whole_run)
    if seen is None or made is None:
        side = "the service" if seen is None else _client(trial)
        return Check.unmeasurable("calls counted", f"{side}'s count is not in the record")
    reason = f"the service counted {format_count(int(seen), 'call')}, "
    reason += f"{_client(trial)} made {made:,}"
    if trial.point.axes.http_cache == "proxy":
        reason = f"{reason}; {trial.point.axes.via} answered the others from its cache"
        return Check.judge("calls counted", 1 <= seen <= max(1.0, CACHE_MISSES * made), reason)
    missing, errors = made - int(seen), trial.total(lambda one: one.errors) or 0
    if missing > 0 and errors > 0:
        return Check.judge(
            "calls counted",
            missing <= errors,
            f"{reason}; {errors} failed calls may not have reached the service's code",
        )
    return Check.judge("calls counted", missing == 0, reason)


def _stationarity(trial: Trial) -> Check | None:
    if _varies(trial):
        return None
    found = stationary(whole_slots(trial.result))
    if found.stationary is None:
        return Check.unmeasurable("stationarity", found.reason)
    return Check.judge("stationarity", found.stationary, found.reason)


def whole_slots(group: GroupResult) -> Sequence[float]:
    """The series of a group's result between the ends of the window.

    Where the load began with the window, nothing ends in it for about one response time; what
    ended in a warm window counts, whenever it began.
    """
    last = int(group.window_s / SLOT_S + 1e-9)
    if group.ended is not None and group.warmup.seconds > 0.0:
        return group.series[:last]
    response = group.times.get("response")
    mean_ns = response.mean_ns if response and response.count else 0.0
    # A first slot that misses less than a third of its calls is kept.
    first = ceil(mean_ns * 1e-9 / SLOT_S - 0.33)
    return group.series[first:last]


def _warmup(trial: Trial) -> Check:
    warmup = trial.result.warmup
    if trial.point.axes.start == "cold":
        return Check("warm-up", "ok", "omitted because of start=cold")
    if _has_an_end(trial):
        reason = "none: the window opens with the load, so its start is measured too"
        return Check("warm-up", "ok", reason)
    lasted = format_seconds(warmup.seconds)
    took = f"after {lasted} and {format_count(warmup.calls, 'call')}"
    if _is_foreign(trial):
        return Check.unmeasurable(
            "warm-up",
            f"{_caller(trial)} has none: it was measured in a separate process with new "
            f"connections, {took} of another process that warmed only the service",
        )
    if warmup.stationary is None:
        return Check.unmeasurable("warm-up", f"{_client(trial)} did not report on it")
    if warmup.stationary and trial.point.axes.language == "java" and (warmup.seconds < JVM_WARM_S):
        return _mark(
            "warm-up",
            f"the rate was stationary {took}, but a JVM compiles a service's code during "
            f"{JVM_WARM_S:g} s of load or more; the window may hold warm-up",
        )
    if warmup.stationary:
        return _check_warmup(trial, f"the rate was stationary {took}")
    rounds = ", or users had not ended three calls each" if _is_closed(trial) else ""
    return _mark(
        "warm-up", f"the rate was still changing {took}{rounds}; the window may hold warm-up"
    )


def _check_warmup(trial: Trial, reason: str) -> Check:
    """The beginning of the window against its end, of loads whose rate is a result."""
    found = movement(whole_slots(trial.result)) if _is_saturating(trial) else None
    if found is None:
        return Check("warm-up", "ok", reason)
    moved = f"{100.0 * found.growth:+.1f} %"
    reason += f"; from the first third of the window to the last it moved by {moved}"
    return Check.judge("warm-up", not found.is_warming, reason)


def _connections(trial: Trial) -> Check:
    """The declared policy against the counters of both sides."""
    opened = trial.total(lambda one: one.connections_opened)
    policy = trial.point.axes.connection
    if opened is None:
        return Check.unmeasurable("connections", "the engine's count is not in the record")
    expected = find_connection_bounds(trial, policy)
    if expected is None:
        return Check.unmeasurable("connections", explain_no_bound(policy))
    low, high = expected
    needed = f"{low}" if low == high else f"{low} to {high}"
    ordered = _is_foreign(trial)
    reason = f"{opened} {'requested from ' + _caller(trial) if ordered else 'opened'}, "
    reason += f"{needed} expected by connection={policy}"
    seen = trial.service.connections_seen
    proxy = trial.point.axes.via
    by = f" from {proxy}, which has connections of its own" if proxy != "none" else ""
    reason += f", the service accepted {int(seen)}{by}" if seen is not None else ""
    sides = "the service alone" if ordered else "both sides"
    reason += f" (by the counters of {sides})"
    spare = spare_connections(trial)
    right = low <= opened <= high + spare
    agreed = seen is None or bool(by) or abs(int(seen) - opened) <= spare
    return Check.judge("connections", right and agreed, reason)


def _resumption(trial: Trial) -> Check | None:
    """Whether handshakes resumed sessions where the stack has that: all but those of the first
    connections, which have no session yet."""
    if not trial.point.axes.client.tls_resumption:
        return None
    name = "TLS resumption"
    opened = trial.total(lambda one: one.connections_opened)
    resumed = trial.total(lambda one: one.connections_resumed)
    peak = trial.total(lambda one: one.connections_peak)
    if opened is None or resumed is None or peak is None:
        return Check.unmeasurable(name, "the engine's counts are not in the record")
    reason = f"{resumed:,} of {format_count(opened, 'handshake')} resumed a session"
    if opened <= peak:
        reason += "; every connection is kept, so that none had one to resume"
        return Check.judge(name, False, reason)
    return Check.judge(name, opened - resumed <= peak + spare_connections(trial), reason)


def _agreement(trial: Trial) -> Check | None:
    """Whether the service agreed to the compression of WebSocket that the stack has."""
    if trial.point.axes.compression != "permessage-deflate":
        return None
    answers: Counter[str] = Counter()
    for group in (trial.result, *trial.background):
        answers.update(group.websocket_extensions or {})
    if not answers:
        return Check.unmeasurable("compression", "the engine's counts are not in the record")
    opened = format_count(answers.total(), "connection")
    if declined := answers["none"]:
        reason = f"the service declined permessage-deflate on {declined:,} of {opened}"
        return Check.judge("compression", False, reason)
    return Check.judge("compression", True, f"{opened} with {', '.join(sorted(answers))}")


def _steal(trial: Trial) -> Check:
    steal, window = trial.engine.steal_s, trial.whole_s
    if steal is None or not window:
        return Check.unmeasurable("steal time", "it is not in the record")
    share = float(steal) / window
    reason = f"the hypervisor took {float(steal):.3f} core-seconds, {_percent(share)} of the window"
    # The kernel counts in ticks: fewer than three may be one at each end of the window.
    right = share <= WITHIN or float(steal) < (STEAL_TICKS - 0.5) * TICK_S
    return Check.judge("steal time", right, reason)


_CHECKS: Sequence[Callable[[Trial], Check | None]] = (
    _identity,
    _build,
    _foreign,
    _check_service_end,
    _check_interruption,
    _check_window,
    _errors,
    _resent,
    replies.check,
    periods.check,
    background.check,
    clients.check,
    _counters,
    _resumption,
    _agreement,
    _check_bottleneck,
    _idle_cpu,
    _others_cpu,
    _concurrency,
    _rate,
    _check_backlog,
    _backlog,
    _lag,
    _warmup,
    _stationarity,
    _connections,
    _steal,
    *system_noise.CHECKS,
    *link_checks.CHECKS,
    *wire_checks.CHECKS,
)
"""Every check, in the order in which they are shown."""


def _is_closed(trial: Trial) -> bool:
    return trial.point.load.is_closed


def _varies(trial: Trial) -> bool:
    """Whether the load is to change within the window."""
    load = trial.point.load
    return load.kind == "bursts" or _has_an_end(trial)


def _has_an_end(trial: Trial) -> bool:
    """Whether the load begins and ends with its window, without a warm-up."""
    return bool(trial.point.load.stages or trial.point.load.iterations)


def _is_saturating(trial: Trial) -> bool:
    load = trial.point.load
    changes = load.think_s or load.stages or load.iterations
    return _is_closed(trial) and not changes


def _engine_cores(trial: Trial) -> int | None:
    """Of the placement table; an unpinned engine has one load thread, and so has each of several
    clients."""
    if trial.clients is not None:
        return len(trial.clients.clients)
    cores = trial.placement.engine
    if cores is None:
        return None
    return len(cores) if isinstance(cores, tuple) and cores else 1


def _mark(name: str, reason: str) -> Check:
    return Check.judge(name, False, reason)


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _us(time_ns: float) -> str:
    return format_seconds(time_ns / 1e9)
