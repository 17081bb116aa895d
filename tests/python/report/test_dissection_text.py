"""The account of time and the packets of an exchange as text, and the page of a capture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import msgspec
import pytest

from wirelab.documents.dissection import (
    Dissection,
    Elapsed,
    Lookup,
    Names,
    Rung,
    Series,
    TimelineOf,
    Wait,
    Waits,
)
from wirelab.errors import UsageError
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.report import dissection_page, dissection_text
from wirelab.report.section import Picture
from wirelab.report.sections import packet_waits
from wirelab.trial.dissection import Look, dissect

CORPUS = Path(__file__).parents[3] / "crates/trace/corpus/capture"


def make_elapsed(count: int, **parts: float) -> Elapsed:
    named = {part.replace("_", "-"): ms for part, ms in parts.items()}
    return msgspec.convert(
        {"count": count, "elapsed_ms": sum(parts.values()), "parts_ms": named}, Elapsed
    )


def wait(part: str, ms: float, *packets: int) -> Wait:
    return msgspec.convert({"flow": 0, "part": part, "ms": ms, "packets": packets}, Wait)


def test_one_sentence_states_where_the_time_went() -> None:
    waits = Waits(
        connections=make_elapsed(2, server=600.0, client_between_requests=400.0),
        exchanges=make_elapsed(9, server=600.0, path=30.0),
        longest=(),
        unattributed=(),
    )
    assert packet_waits.sentence(waits) == (
        "Of 1.00 s on 2 connections: 60 % server, until its first byte (600 ms), 40 % client, "
        "between requests (400 ms). Of 630 ms in 9 exchanges: 95 % server, until its first byte "
        "(600 ms)."
    )
    busy = msgspec.structs.replace(waits, connections=make_elapsed(2, server=600.0, path=30.0))
    assert packet_waits.sentence(busy) == (
        "Of 630 ms on 2 connections: 95 % server, until its first byte (600 ms)."
    )
    nothing = Waits(
        connections=make_elapsed(0), exchanges=make_elapsed(0), longest=(), unattributed=()
    )
    assert list(packet_waits.account(nothing)) == []


def test_the_first_line_covers_lookups_that_no_connection_waited_for() -> None:
    waits = Waits(
        connections=make_elapsed(1, server=1_000.0, name_resolution=1_000.0),
        exchanges=make_elapsed(1, server=1_000.0),
        longest=(),
        unattributed=(),
        lookups_ms=3_000.0,
    )
    assert packet_waits.sentence(waits) == (
        "Of 5.00 s on 1 connection and in lookups of names: 80 % name resolution (4.00 s), 20 % "
        "server, until its first byte (1.00 s)."
    )
    alone = Waits(
        connections=make_elapsed(0),
        exchanges=make_elapsed(0),
        longest=(),
        unattributed=(),
        lookups_ms=5e3,
    )
    assert packet_waits.sentence(alone) == (
        "Of 5.00 s in lookups of names: 100 % name resolution (5.00 s)."
    )


def test_connections_that_never_opened_are_counted_first() -> None:
    waits = Waits(
        connections=make_elapsed(1, syn_retransmission=999.0),
        exchanges=make_elapsed(0),
        longest=(),
        unattributed=(),
    )
    refused = packet_waits.Seen(refused=3, connections=1)
    assert packet_waits.sentence(waits, refused).startswith("3 connections refused. Of 999 ms")
    mostly_open = packet_waits.Seen(refused=1, unanswered=2, connections=40)
    assert packet_waits.sentence(waits, mostly_open).endswith(
        "1 connection refused. 2 attempts to connect unanswered."
    )


def test_of_one_direction_nothing_is_said() -> None:
    waits = Waits(
        connections=make_elapsed(1, unattributed=2_700.0),
        exchanges=make_elapsed(0),
        longest=(),
        unattributed=(),
    )
    assert packet_waits.sentence(waits, packet_waits.Seen(one_sided=True, connections=1)) == (
        "Of 2.70 s on 1 connection, nothing can be said: only one direction was captured."
    )


def test_rows_and_bar_fit_into_80_columns_and_name_every_large_part() -> None:
    parts = dict.fromkeys((name.replace("-", "_") for name in packet_waits.LABELS), 123_456.7)
    waits = Waits(
        connections=make_elapsed(3, **parts),
        exchanges=make_elapsed(3, **parts),
        longest=(wait("server", 400_000.0, 1_000_000, 1_000_001),),
        unattributed=(wait("unattributed", 123_456.7, 7, 9),),
    )
    lines = list(packet_waits.account(waits))
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert all(label in text for label in packet_waits.LABELS.values())
    assert "longest gaps: packets 7–9 (123 s)" in " ".join(text.split())


def test_unexplained_time_is_reported_with_its_packets() -> None:
    waits = Waits(
        connections=make_elapsed(1, server=900.0, unattributed=100.0),
        exchanges=make_elapsed(0),
        longest=(),
        unattributed=(wait("unattributed", 100.0, 3, 4),),
    )
    (line,) = packet_waits.describe_unexplained(waits)
    assert line == "100 ms of 1.00 s unexplained; longest gaps: packets 3–4 (100 ms)."


def test_lookups_of_names_are_shown_with_the_slowest() -> None:
    slowest = Lookup(name="shop.\x1b[31mexample", ms=420.0, packets=(1, 2))
    names = Names(queries=5, repeated=1, answered=3, failed=1, median_ms=3.0, slowest=(slowest,))
    text = " ".join(packet_waits.lookups(names))
    assert "\x1b" not in text
    assert "DNS: 5 queries, answers after 3.00 ms (median), the slowest 420 ms" in text
    assert "1 sent again, 1 failed, 1 without an answer." in text


@dataclass
class Ladder:
    """Rungs by hand."""

    made: list[Rung]

    def add(self, count: int, phase: str, direction: str, gap_us: float, size: int) -> None:
        for _ in range(count):
            at = self.made[-1].at_us + gap_us if self.made else 0.0
            rung = {
                "packet": len(self.made) + 1,
                "at_us": at,
                "gap_us": gap_us,
                "direction": direction,
                "phase": phase,
                "flags": "ACK",
                "bytes": size,
                "header_bytes": 66,
                "layers": [{"layer": "message", "bytes": size}] if size else [],
                "note": "",
            }
            self.made.append(msgspec.convert(rung, Rung))


def dissect_corpus(name: str = "micro.pcap") -> Dissection:
    with Interruption() as interruption:
        log = Path("/dev/null")
        return dissect(CORPUS / name, Look(), log=log, interruption=interruption)


@pytest.mark.usefixtures("real_engine")
def test_equal_packets_share_a_line_and_omitted_ones_are_marked() -> None:
    ladder = Ladder([])
    ladder.add(3, "set-up", "request", 10.0, 0)
    ladder.add(1, "exchange", "request", 602_000.0, 100)
    ladder.add(141, "exchange", "reply", 100.0, 28_030_000)
    of = TimelineOf(
        flow=0,
        exchange=4,
        name="GET /",
        protocol="http1",
        latency_us=1.0,
        chosen="median",
        omitted=0,
    )
    document = msgspec.structs.replace(
        dissect_corpus(), timeline=tuple(ladder.made), timeline_of=of
    )
    lines = list(dissection_text.lines(document))
    assert len(lines[next(at for at, line in enumerate(lines) if "gap" in line) :]) <= 8
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    assert "… 4 exchanges, 602 ms" in text
    assert "message; 141 packets to 145, 14.0 ms" in text
    assert f"{141 * 28_030_000:,} " in text


@pytest.mark.usefixtures("real_engine")
def test_a_single_exchange_shows_its_own_figures() -> None:
    document = dissect_corpus()
    call = document.exchanges.by_name[0]
    assert dissection_text.times(call.latency_us)[2] == "—"
    lines = list(dissection_text.lines(document))
    assert lines[0].startswith("Of 6.00 ms on 1 connection"), lines[0]


@pytest.mark.usefixtures("real_engine")
def test_a_page_has_account_connections_and_windows_and_opens_offline(tmp_path: Path) -> None:
    document = dissect_corpus()
    page = dissection_page.html(document)
    for words in ("Where the time went", "Connections", "Throughput and windows", "<svg"):
        assert words in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert page.count("<script") == 1, "the page's own"
    words = packet_waits.sentence(document.waits, packet_waits.summarize_seen(document))
    assert page.count(escape(words)) == 1, "the sentence is said once"
    at_ns = document.capture.first_at_ns
    assert at_ns is not None
    day = f"{datetime.fromtimestamp(at_ns / 1e9, UTC):%Y-%m-%d %H:%M} UTC"
    assert re.search(rf"<h1>[^<]*\.pcap(ng)?(<wbr>)?, {day}</h1>", page)
    file = tmp_path / "page.html"
    dissection_page.write(document, file)
    assert file.read_text() == page
    with pytest.raises(UsageError, match="cannot be written"):
        dissection_page.write(document, tmp_path / "absent" / "page.html")


def test_a_stacked_bar_is_as_long_as_its_parts() -> None:
    bar = packet_waits.draw_stacked_bar("Time", make_elapsed(1, server=75.0, path=25.0))
    assert isinstance(bar, Picture)
    assert 'width="330.0"' in bar.svg
    assert 'width="110.0"' in bar.svg
    assert "server, until its first byte 75 %" in bar.alt


@pytest.mark.usefixtures("real_engine")
def test_a_document_of_an_earlier_version_still_shows(tmp_path: Path) -> None:
    """Runs keep dissections; those made before the account have none."""
    raw = msgspec.json.decode(msgspec.json.encode(dissect_corpus()))
    for key in ("waits", "series", "names"):
        del raw[key]
    del raw["capture"]["tcp"]
    old = msgspec.convert(raw, Dissection)
    assert old.series == Series(
        bin_ms=0.0, request_bytes=(), reply_bytes=(), client_window=(), server_window=()
    )
    assert list(dissection_text.lines(old))
    assert dissection_page.html(old)


def test_the_ports_of_a_capture_are_listed_with_a_bound() -> None:
    with Interruption() as interruption, Scratch() as scratch:
        everything = dissect(
            CORPUS / "snapped.pcapng",
            Look(),
            log=scratch.folder / "log",
            interruption=interruption,
        )
    flow = everything.flows.list[0]

    def describe(*ports: int) -> str:
        listed = tuple(msgspec.structs.replace(flow, server=f"[::1]:{port}") for port in ports)
        flows = msgspec.structs.replace(everything.flows, list=listed, count=len(ports))
        return dissection_text.describe_unused_port(
            9, msgspec.structs.replace(everything, flows=flows)
        )

    assert describe() == "No connection uses port 9; the capture has no connections."
    assert describe(80, 443, 80) == "No connection uses port 9; the capture has 80 and 443."
    many = describe(*range(1000, 1200))
    assert many.endswith("1006, 1007 and others.")
