"""The bench on a terminal."""

from __future__ import annotations

from collections import Counter
from statistics import median

from bench.bounds import Ratio
from bench.process import Reading
from bench.races import Raced
from bench.rows.build import Built
from bench.rows.captures import Ablation
from bench.rows.clients import ADDED, Divided
from bench.rows.codecs import Timed
from bench.rows.host import HostAblation
from bench.rows.links import Exactness
from bench.rows.live import Followed
from bench.rows.memory import Weighed
from bench.rows.packets import Pass, Read
from bench.rows.startup import Started
from bench.rows.streams import Streamed, ns_per_message
from bench.rows.tax import Taxed
from bench.rows.xml_services import Decoded, Written

DISTURBED = 0.1
"""Share of the two cores that went to neither side, above which the table states it."""


def race_lines(raced: Raced) -> list[str]:
    """Every contender's medians, then the ratios, then what disturbed them."""
    lines = ["", f"{raced.race.title}  [{raced.race.key}]"]
    for name in raced.rounds[0]:
        lines.append(_contender_line(name, [rnd[name] for rnd in raced.rounds], raced.megabytes))
    lines += [ratio_line(ratio) for ratio in raced.ratios]
    return lines + _warn_of_disturbance(
        raced.others_share, "requests/s and what is bound by what say little"
    )


def _warn_of_disturbance(others_share: float, therefore: str) -> list[str]:
    """What follows where too much of the cores went to others."""
    if others_share <= DISTURBED:
        return []
    return [f"  disturbed: other work had {others_share:.0%} of the cores; {therefore}"]


def _contender_line(name: str, readings: list[Reading], megabytes: float) -> str:
    """Large replies are counted by the megabyte, small ones by the call."""
    cost = median(reading.client_us_per_call for reading in readings)
    large = megabytes >= 1
    bound = Counter(reading.bound for reading in readings).most_common(1)[0][0]
    return (
        f"  {name:<24}{cost / megabytes if large else cost:>10.2f} µs CPU/"
        f"{'MB  ' if large else 'call'}"
        f"{median(reading.rate_per_s for reading in readings):>12,.0f} req/s   {bound}"
    )


def memory_lines(weighed: Weighed) -> list[str]:
    """Every run's peak, then the figures."""
    lines = ["", f"{weighed.title}  [{weighed.key}]"]
    for held in weighed.runs:
        lines.append(
            f"  {held.connections:>6,} connections {held.calls:>10,} calls "
            f"{held.rss_peak_bytes / 1e6:>9.2f} MB peak"
        )
    return lines + [ratio_line(figure) for figure in weighed.figures]


def streams_lines(streamed: Streamed) -> list[str]:
    """What a message costs each program, then the figures."""
    lines = ["", "10,000 open streams, and streams read at once  [streams]"]
    for name in streamed.rounds[0] if streamed.rounds else ():
        costs = [ns_per_message(rnd[name]) for rnd in streamed.rounds]
        lines.append(f"  {name:<24}{plain(median(costs)):>10} ns CPU/message")
    return lines + [ratio_line(figure) for figure in streamed.figures]


def tax_lines(taxed: Taxed) -> list[str]:
    """What a call costs the engine, and the bytes that it moved."""
    lines = ["", f"Engine overhead: {taxed.stack}, 50 users  [{taxed.key}]"]
    for name in taxed.rounds[0]:
        readings = [rnd[name] for rnd in taxed.rounds]
        moved = median(reading.bytes_per_call or 0.0 for reading in readings)
        lines.append(f"{_contender_line(name, readings, 0.0)}   {moved:,.0f} B/call")
    return lines + [ratio_line(ratio) for ratio in taxed.ratios]


def codec_lines(every: list[Timed]) -> list[str]:
    """Every codec and message: ours, and the peer."""
    lines = ["", "Encode and decode a request, one at a time  [codecs]"]
    for timed in every:
        peer = ""
        if timed.peer is not None:
            peer = f"  {median(timed.peer_us):>10.2f} µs  {timed.peer}"
        lines.append(
            f"  {timed.codec + ', ' + timed.message:<42}{median(timed.ours_us):>10.2f} µs{peer}"
        )
    return lines + [ratio_line(ratio) for timed in every for ratio in timed.ratios]


def service_xml_lines(every: list[Decoded]) -> list[str]:
    """Every document: the service, the program, and their ratio."""
    lines = [
        "",
        "The Rust services decode XML, next to a short program on quick-xml  [service-xml]",
    ]
    for decoded in every:
        lines.append(
            f"  {decoded.codec + ', ' + decoded.message:<42}"
            f"{median(decoded.service_us):>10.2f} µs  {median(decoded.program_us):>10.2f} µs"
        )
    return lines + [ratio_line(decoded.ratio) for decoded in every]


def xml_writers_lines(every: list[Written]) -> list[str]:
    """What the engine's decoding takes, by the service that wrote the reply."""
    lines = ["", "The engine decodes replies of every service that writes XML  [xml-writers]"]
    for written in every:
        lines.append(
            f"  {written.stack:<32}{written.bytes:>8,} B{median(written.engine_us):>10.2f} µs"
            f"  {written.writer}"
        )
    return lines


def packets_lines(read: Read) -> list[str]:
    """Every program's speed and memory, then the figures."""
    lines = ["", f"A capture of {read.packets:,} packets, read on one core  [packets]"]
    for name in read.rounds[0]:
        speed = median(rnd[name].millions_per_s for rnd in read.rounds)
        of = read.rounds[0][name].packets
        lines.append(f"  {name:<24}{speed:>10.3f} M packets/s of a core, of {of:,}")
    lines += [_format_pass(one) for one in read.held]
    lines += [ratio_line(figure) for figure in read.figures]
    return lines + _warn_of_disturbance(read.others_share, "CPU time counts, which is dearer then")


def _format_pass(one: Pass) -> str:
    return f"  {one.reader:<24}{one.packets:>12,} packets{one.rss_peak_bytes / 1e6:>9.2f} MB peak"


def links_lines(exact: Exactness) -> list[str]:
    """Every promise with its tries."""
    lines = ["", "The links' emulator compared with its promises  [links]"]
    lines += [ratio_line(figure) for figure in exact.figures]
    return lines + _warn_of_disturbance(
        exact.others_share, "what needs a prompt caller says little"
    )


def startup_lines(started: Started) -> list[str]:
    """Every command with its bound."""
    lines = ["", "Whole commands, from start to end  [startup]"]
    lines += [ratio_line(figure) for figure in started.figures]
    return lines + _warn_of_disturbance(started.others_share, "commands waited for a core")


def build_lines(built: Built) -> list[str]:
    """The figures of the build, and its longest units."""
    lines = ["", "A cold build of what `make setup` builds  [build]"]
    lines += [ratio_line(figure) for figure in built.figures]
    lines += [f"  {unit.name} {unit.target}: {unit.seconds:.1f} s" for unit in built.units]
    return lines + _warn_of_disturbance(built.others_share, "the build had less than two cores")


def capture_lines(every: list[Ablation]) -> list[str]:
    """What a capture did to each load, and what it cost itself."""
    lines = ["", "A load under a capture over the same load without  [capture]"]
    for one in every:
        lines += [ratio_line(ratio) for ratio in one.ratios]
        lines.append(
            f"  {'captured':<24}{one.packets_per_s:>10,.0f} packets/s"
            f"{one.capture_us:>10.2f} µs CPU/packet{one.drops:>10,} drops"
        )
        lines += _warn_of_disturbance(
            one.others_share, "the intervals tell how much these ratios say"
        )
    return lines


def host_lines(every: list[HostAblation]) -> list[str]:
    """What a record of the host did to each load, and what it cost itself."""
    lines = ["", "A load under a record of the host over the same load without  [host]"]
    for one in every:
        lines.append(ratio_line(one.ratio))
        lines.append(
            f"  {'recorded':<24}{one.records_per_call:>10.1f} records/call"
            f"{one.record_us:>10.2f} µs CPU/record{one.drops:>10,} drops"
        )
        lines += _warn_of_disturbance(
            one.others_share, "the intervals tell how much these ratios say"
        )
    return lines


def live_lines(followed: Followed) -> list[str]:
    """What was taken from the kernel under both, then the ratio."""
    lines = ["", "A load dissected live, over the same load captured  [live]"]
    for name in followed.rounds[0]:
        drops = followed.drops(name)
        lines.append(
            f"  {name:<24}{followed.median_per_s(name):>10,.0f} packets/s{drops:>10,} drops"
        )
    lines += [ratio_line(figure) for figure in followed.figures]
    return lines + _warn_of_disturbance(
        followed.others_share, "both share the two cores with the load"
    )


def clients_lines(divided: Divided) -> list[str]:
    """How far apart two clients start, and the cost of a sum."""
    return [
        "",
        "Two clients of one load on this machine  [clients]",
        f"  {'start skew, median':<24}{plain(median(divided.late_ms)):>10} ms",
        f"  {f'sum of {ADDED} results':<24}{plain(median(divided.merge_ms)):>10} ms",
        *(ratio_line(figure) for figure in divided.figures),
    ]


def ratio_line(ratio: Ratio) -> str:
    """Median, its interval and verdict."""
    low, high = ratio.interval
    label = f"{ratio.figure} / {ratio.peer}" if ratio.peer else ratio.figure
    return (
        f"  {label:<46}{plain(ratio.median):>7}"
        f"  [{plain(low)} … {plain(high)}]  {ratio.format_bound():<14}  {ratio.verdict}"
    ).rstrip()


def plain(value: float) -> str:
    """Three decimals of what is small, none of what is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}"
