"""Whether a trial's link was what the experiment asked for, and whether captures are whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from wirelab.documents.link_ready import GilbertElliottLossModel, ProfileDocument
from wirelab.experiment.capture_ends import WHERE
from wirelab.format.counting import of_all
from wirelab.records.trial import Check, Trial
from wirelab.stack import link_names
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.documents.link_ready import Ready
    from wirelab.experiment.link_profiles import OwnProfile
    from wirelab.records.link import PlacementRecord

RTT_OFF_MS = 0.4
"""A round trip may differ from the nominal by this much,"""
RTT_OFF_SHARE = 0.1
"""or by this share of it, whichever is more."""
LATE_MS = 0.8
"""Both ways together the emulator's p99 may be late by this much, which is what a link
promises under load, or by :data:`RTT_OFF_SHARE` of the round trip."""
RATE_OFF = 0.1
"""Share by which the rate may differ from the nominal."""
SYN_CONFIDENCE = 0.999
"""Of the interval in which the nominal loss of SYNs must lie, as that of other packets."""
SEGMENT_BYTES = 1448
"""Payload of a full segment: an MTU of 1500 less headers and timestamps (RFC 7323)."""
CHANCE = 1e-6
"""A link that may lose packets is dead where this many of its kind at most lost all echoes."""
CPU_SHARE = 0.3
"""Of a core on which service or caller are measured."""


def driver(trial: Trial) -> Check | None:
    """Whether this project has measured what the link's driver does to packets."""
    shown = trial.link.driver_text()
    if shown == (trial.link.driver or ""):
        return None
    reason = (
        f"the link's driver is {shown}: its effect is not known, because it is not available on "
        "the machines this was developed on; use driver: emulator"
    )
    return Check.judge("link driver", False, reason)


def round_trip(trial: Trial) -> Check | None:
    """The round trip that was measured before the trial against the nominal, which is a mean:
    the median where the delay does not vary, for one late ping moves a mean."""
    if _is_loopback(trial):
        return None
    name, expected = "link round trip", trial.link.nominal.rtt_ms
    varies, measured = _varies(trial.link.profile), trial.link.measured.rtt_ms
    which = "mean" if varies else "p50"
    found = None if measured is None else measured.mean if varies else measured.p50
    if expected is None or found is None:
        return Check.unmeasurable(name, "it was not measured before the trial")
    allowed = max(RTT_OFF_MS, RTT_OFF_SHARE * expected)
    reason = (
        f"{which} {found:.4g} ms was measured before the trial, {expected:.4g} ms is nominal "
        f"(off by at most {allowed:.3g} ms)"
    )
    return Check.judge(name, abs(found - expected) <= allowed, reason)


def loss(trial: Trial) -> Check | None:
    """The loss that was measured, where it was, against the nominal."""
    found = trial.link.measured.loss_percent
    if found is None:
        return None
    expected = trial.link.nominal.loss_percent or 0.0
    reason = (
        f"{found.value:.3g} % of {found.n} packets were lost before the trial (interval "
        f"{found.low:.3g} to {found.high:.3g} %), {expected:.3g} % is nominal"
    )
    return Check.judge("link loss", found.low <= expected <= found.high, reason)


def syn_loss(trial: Trial) -> Check | None:
    """The SYNs that the emulator took in the trial itself against the nominal share: what is
    sent before it has none. Few of them cannot tell the link from one that loses none."""
    nominal = trial.link.nominal.syn_loss_percent
    expected = {way: percent for way, percent in nominal.items() if percent}
    if not expected:
        return None
    name, syns = "link SYN loss", trial.link.syns
    if not syns:
        return Check.unmeasurable(name, "the link did not count SYNs")
    fits, enough, shown = True, True, []
    for way, percent in expected.items():
        offered, lost = syns[way].offered, syns[way].lost
        low, high = _share_limits(lost, offered)
        fits &= low <= percent <= high
        enough &= _share_limits(0, offered)[1] < percent
        shown.append(
            f"{way} {of_all(lost, offered, 'SYN')} lost in the trial (interval {low:.3g} to "
            f"{high:.3g} %), {percent:.3g} % is nominal"
        )
    reason = "; ".join(shown)
    if fits and not enough:
        return Check.unmeasurable(name, f"too few SYNs to distinguish it from no loss: {reason}")
    return Check.judge(name, fits, reason)


def _share_limits(hits: int, n: int) -> tuple[float, float]:
    """Per cent; everything where there was nothing to hit."""
    # Not at the top: it is slow to load, and only a finished trial is judged.
    from wirelab.statistics.distributions import binomial_interval

    bounds = binomial_interval(hits, n, SYN_CONFIDENCE).bounds if n else None
    low, high = bounds or (0.0, 1.0)
    return 100.0 * low, 100.0 * high


def rate(trial: Trial) -> Check | None:
    """The rates that were measured, where they were, against the nominal ones."""
    found, nominal = trial.link.measured.rate_kbit or {}, trial.link.nominal.rate_kbit
    expected = {way: rate for way, rate in nominal.items() if rate and way in found}
    if not expected:
        return None
    shown = ", ".join(
        f"{way} {found[way]:.4g} kbit/s, nominal {rate:.4g}" for way, rate in expected.items()
    )
    right = all(abs(found[way] / rate - 1.0) <= RATE_OFF for way, rate in expected.items())
    return Check.judge("link rate", right, f"measured before the trial: {shown}")


def device_drops(trial: Trial) -> Check | None:
    """Whether the machine dropped packets that the profile had not asked to be lost."""
    drops = trial.link.device_drops
    if not drops:
        return None
    shown = ", ".join(f"{way} {count}" for way, count in drops.items())
    right = not any(drops.values())
    return Check.judge("link drops", right, f"packets dropped by the machine: {shown}")


def congestion(trial: Trial) -> Check | None:
    """Whether both ends had the congestion control that the stack names."""
    expected = trial.point.axes.congestion
    if _is_loopback(trial):
        return None
    found = trial.link.congestion
    shown = ", ".join(f"{side} {name}" for side, name in found.items()) or "unknown"
    right = bool(found) and all(name == expected for name in found.values())
    return Check.judge("congestion control", right, f"{shown}; {expected} was requested")


def initial_window(trial: Trial) -> Check | None:
    """Whether both ends began with the window that the stack names, and offered as much to
    each other: a receiver that offered less would have been the limit in its place."""
    expected = trial.point.axes.initial_window
    if _is_loopback(trial) or expected is None:
        return None
    ends = trial.link.tcp
    shown = "; ".join(
        f"{side} {end.initial_window} segments, and offered {end.receive_window:,} B"
        for side, end in ends.items()
    )
    least = expected * SEGMENT_BYTES
    right = bool(ends) and all(
        end.initial_window == expected and end.receive_window >= least for end in ends.values()
    )
    return Check.judge("initial window", right, f"{shown or 'unknown'}; {expected} was requested")


def check_window_after_idle(trial: Trial) -> Check | None:
    """Whether a pause did to windows at both ends what the stack names."""
    expected, ends = trial.point.axes.after_idle, trial.link.tcp
    if _is_loopback(trial) or (not ends and expected == "restart"):
        return None
    shown = ", ".join(f"{side} {end.after_idle}" for side, end in ends.items()) or "unknown"
    right = bool(ends) and all(end.after_idle == expected for end in ends.values())
    return Check.judge("window after a pause", right, f"{shown}; {expected} was requested")


def lateness(trial: Trial) -> Check | None:
    """Whether the emulator let packets out in time."""
    if trial.link.driver != "emulator":
        return None
    if trial.link.lateness_us is None:
        return Check.unmeasurable("emulator lateness", "the emulator did not report it")
    late = trial.link.lateness_us.p99
    both = 2e-3 * late
    expected = trial.link.nominal.rtt_ms or 0.0
    allowed = max(LATE_MS, RTT_OFF_SHARE * expected)
    reason = (
        f"p99 {late:.4g} µs a packet, {both:.3g} ms both ways (at most {allowed:.3g} ms at a "
        f"round trip of {expected:.4g} ms)"
    )
    return Check.judge("emulator lateness", both <= allowed, reason)


def cpu(trial: Trial) -> Check | None:
    """Whether the emulator took too much of a core on which something is measured."""
    if trial.link.driver != "emulator":
        return None
    name, window = "emulator CPU", trial.result.window_s
    used = trial.link.cpu_window_s
    if used is None or not window:
        return Check.unmeasurable(name, "its CPU time within the window is not in the record")
    share = used / window
    reason = f"the emulator used {100 * share:.3g} % of a core within the window"
    if _apart(trial.placement):
        return Check.judge(name, True, f"{reason}, on cores of its own")
    reason += f", shared with measured processes (at most {100 * CPU_SHARE:.0f} %)"
    return Check.judge(name, share <= CPU_SHARE, reason)


def capture(trial: Trial) -> Check | None:
    """Whether the captures hold every packet."""
    if not trial.captures:
        return None
    shown = ", ".join(
        f"{found.packets:,} packets {WHERE[side]} and {found.drops:,} dropped"
        for side, found in trial.captures.items()
    )
    dropped = any(found.drops for found in trial.captures.values())
    return Check.judge("capture", not dropped, shown)


def dead(profile: OwnProfile | str, ready: Ready) -> str:
    """Why nothing can be measured over a link with this ready line: no echo came back, and
    that is not chance. Empty where it lives."""
    rtt, loss = ready.measured.rtt_ms, ready.measured.loss_percent
    echoes = (rtt.lost if rtt else 0) + (loss.n if loss else 0)
    if (rtt and rtt.n) or not echoes or (loss and loss.value < 100.0):
        return ""
    nominal = ready.nominal.loss_percent
    if nominal < 100.0 and (nominal / 100.0) ** echoes > CHANCE:
        return ""
    given = link_names.document(profile)
    own = isinstance(given, dict)
    keys = ", ".join(_total_losses(msgspec.convert(given, ProfileDocument))) if own else ""
    expected = f"its profile has {keys}" if keys else f"{nominal:.3g} % is nominal"
    return (
        f"no packet passes link {link_names.name(profile)}: all {echoes:,} echoes before the "
        f"trial were lost, a measured loss of 100 %; {expected}"
    )


def _total_losses(profile: ProfileDocument) -> Iterator[str]:
    """The keys of a profile that lose every packet of a way, each with its value."""
    ways = {"both": profile.both, "forward": profile.forward, "backward": profile.backward}
    for way, direction in ways.items():
        if direction is None:
            continue
        loss = direction.loss
        if isinstance(loss, GilbertElliottLossModel):
            if _calculate_loss_percent(loss) >= 100.0:
                yield f"{way}.loss, 100 % in the long run"
        elif loss and loss.percent >= 100.0:
            yield f"{way}.loss.percent: 100"
        if direction.corrupt_percent >= 100.0:
            yield f"{way}.corrupt_percent: 100"


def _calculate_loss_percent(loss: GilbertElliottLossModel) -> float:
    """Per cent that a Gilbert-Elliott chain loses (docs/reference/links.md)."""
    p, r = loss.p_percent, loss.r_percent
    return (p * loss.loss_bad_percent + r * loss.loss_good_percent) / (p + r)


def _is_loopback(trial: Trial) -> bool:
    return trial.point.link == LOOPBACK


def _varies(profile: ProfileDocument | None) -> bool:
    ways = (profile.both, profile.forward, profile.backward) if profile else ()
    return any(way.jitter_ms for way in ways if way)


def _apart(placement: PlacementRecord) -> bool:
    """True when the emulator's cores are pinned and neither service nor engine has them."""
    emulator, service, engine = placement.emulator, placement.service, placement.engine
    if not (isinstance(emulator, tuple) and isinstance(service, tuple)):
        return False
    return isinstance(engine, tuple) and not {*emulator} & {*service, *engine}


CHECKS: Sequence[Callable[[Trial], Check | None]] = (
    driver,
    round_trip,
    loss,
    syn_loss,
    rate,
    device_drops,
    congestion,
    initial_window,
    check_window_after_idle,
    lateness,
    cpu,
    capture,
)
"""In the order in which they are shown."""
