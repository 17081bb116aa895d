"""What a trial's record keeps of its proxy: what it used, and what the packets on both of its
sides show together."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from wirelab.documents.hops import Held, Hops, HopSide, HopTime
from wirelab.errors import LabError, StackError
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.process import engine_binary
from wirelab.process.proxies import Proxy
from wirelab.records.link import CaptureRecord, Side
from wirelab.records.proxy import HopsRecord, HopTimes, ProxyRecord
from wirelab.records.wire import (
    HELD_BY_PROXY,
    FindingPlace,
    FindingTest,
    PacketFinding,
    WireRecord,
)
from wirelab.stack.reference import Stack
from wirelab.trial import dissected

NAME = "hops.json"
"""Of the comparison, in a trial's folder."""
SWITCH = ("via_buffering", "off")
"""The axis that tests ``held-by-proxy``, and its value."""
PER_CALL, KEPT = "connection-per-call", ("via_keepalive", "on")
"""A cause that behind a proxy has another switch than in front."""
UPSTREAM: Side = "upstream"
SECONDS_MAX = 600.0
"""For two captures of millions of packets."""
UNMATCHED = 0.01
"""Share of calls that may lack a counterpart: those at the edges of a capture."""


def record(proxy: Proxy | None, window: tuple[int, int]) -> ProxyRecord | None:
    """What the proxy was, and what it used; the window's ends are of CLOCK_MONOTONIC."""
    if proxy is None:
        return None
    used = proxy.measure_usage(*window)
    return ProxyRecord(
        kind=proxy.name,
        version=proxy.installation.version,
        configuration=proxy.configuration.name,
        workers=proxy.hop.workers,
        cpu_s=used.cpu_s,
        cpu_window_s=used.cpu_window_s,
        rss_max_bytes=used.rss_max_bytes,
    )


@dataclass(frozen=True)
class BothSides:
    """The captures in front of a proxy and behind it."""

    front: Path
    back: Path

    def compare(self) -> Hops:
        """What the engine says of them. Raises :class:`LabError`."""
        command = [str(engine_binary.find()), "hops", str(self.front), str(self.back)]
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
        try:
            if done.returncode == 0:
                return msgspec.json.decode(done.stdout, type=Hops)
        except msgspec.MsgspecError:
            pass
        reason = done.stderr.decode("utf-8", "replace").strip() or "it printed no comparison"
        raise LabError(
            f"{self.front} and {self.back.name} cannot be compared: {reason}",
            "are the engine and the front of one version? run `make setup`",
        )


def sides(taken: Mapping[Side, CaptureRecord], folder: Path, link: Profile) -> BothSides | str:
    """The captures of a trial around its proxy; or why there are none to be compared. The
    client's end of a link is not a side of a proxy: what the link adds lies between."""
    front = taken.get("server") or (taken.get("client") if link == LOOPBACK else None)
    back = taken.get(UPSTREAM)
    if front is None or back is None:
        return "packets were not captured at the proxy: write `capture: both`"
    return BothSides(folder / front.file, folder / back.file)


def compare_sides(
    sides: BothSides | str, proxy: ProxyRecord, wire: WireRecord, stack: Stack
) -> tuple[ProxyRecord, WireRecord]:
    """Both records with what the two captures show together, or why they show nothing. The
    whole comparison is kept next to them. Raises :class:`LabError`."""
    if isinstance(sides, str):
        return replace(proxy, hops=HopsRecord(left_out=sides)), wire
    found = sides.compare()
    text = msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
    (sides.front.parent / NAME).write_text(f"{text}\n", encoding="utf-8")
    held = finding(found, stack)
    front = [*map(_of_caller, wire.findings), *([held] if held else [])]
    known = {one.cause for one in front}
    behind = (one for one in _find_behind_proxy(sides, stack) if one.cause not in known)
    findings = (*front, *behind)
    return replace(proxy, hops=_to_record(found)), msgspec.structs.replace(wire, findings=findings)


def _of_caller(found: PacketFinding) -> PacketFinding:
    """A finding in front of a proxy; its server is the proxy, which axes of the service are not
    for."""
    if found.test is None or not found.test.axis.startswith("server."):
        return found
    return msgspec.structs.replace(found, test=None)


def _find_behind_proxy(sides: BothSides, stack: Stack) -> Iterator[PacketFinding]:
    """Findings between proxy and service whose switch is the service's, or the proxy's."""
    document = sides.front.parent / f"dissection-{UPSTREAM}.json"
    if not document.is_file():
        return
    for found in dissected.brief(dissected.read(document)).findings:
        test = found.test
        if found.cause == PER_CALL:
            test = _switch(stack, *KEPT, "the proxy keeps its connections to the service")
        elif test is None or not test.axis.startswith("server."):
            continue
        words = f"Between proxy and service: {found.words}"
        yield msgspec.structs.replace(found, words=words, test=test)


def _to_record(hops: Hops) -> HopsRecord:
    return HopsRecord(
        calls=hops.front.exchanges,
        matched=hops.matched,
        left_out=_doubt(hops),
        connections_front=hops.front.connections,
        connections_back=hops.back.connections,
        per_call_front=_connections_per_call(hops.front),
        per_call_back=_connections_per_call(hops.back),
        added=_times(hops.added),
        request=_times(hops.request),
        reply=_times(hops.reply),
        first_byte=_times(hops.first_byte),
    )


def _doubt(hops: Hops) -> str:
    """Why the times are not those of all calls; empty where they are."""
    calls = max(hops.front.exchanges, hops.back.exchanges)
    missing = calls - hops.matched
    if missing <= UNMATCHED * calls:
        return ""
    return f"{missing:,} of {calls:,} calls were found on one side of the proxy only"


def _connections_per_call(side: HopSide) -> float | None:
    return side.connections_per_call


def _times(time: HopTime | None) -> HopTimes | None:
    return None if time is None else HopTimes(time.mean_us, time.p50_us, time.p99_us)


def finding(hops: Hops, stack: Stack) -> PacketFinding | None:
    """Replies, or parts of streams, that the proxy held back, whichever took more time, as a
    finding in packets; None where it held none."""
    held = max(hops.held, hops.held_parts, key=lambda one: one.ms_total)
    if not held.occurrences or held.ms_median is None:
        return None
    is_stream = held is hops.held_parts
    what = "an event of a stream" if is_stream else "the first byte of a reply"
    return PacketFinding(
        cause=HELD_BY_PROXY,
        occurrences=held.occurrences,
        exchanges=0 if is_stream else held.occurrences,
        ms_total=held.ms_total,
        ms_median=held.ms_median,
        words=_describe_held(hops, held, stack.axes.via),
        test=_switch(stack, *SWITCH, f"{what} comes sooner by the time held"),
        where=tuple(FindingPlace((place.front_packet,), place.ms) for place in held.where),
    )


def _describe_held(hops: Hops, held: Held, proxy: str) -> str:
    times = f"for {held.ms_median or 0:.1f} ms in the median."
    if held is hops.held_parts:
        return (
            f"{proxy} held parts of streams of events in its buffer and forwarded them only when "
            f"later ones had come: {held.occurrences:,} times, {times}"
        )
    return (
        f"{proxy} had the first byte of the reply and forwarded it only when the "
        f"service had sent more: in {held.occurrences:,} of {hops.matched:,} calls, {times}"
    )


def _switch(stack: Stack, axis: str, value: str, predict: str) -> FindingTest | None:
    """Where the stack can have that value, and has another one."""
    if stack.value(axis) == value:
        return None
    try:
        stack.with_axes({axis: value})
    except StackError:
        return None
    return FindingTest(axis, value, predict)
