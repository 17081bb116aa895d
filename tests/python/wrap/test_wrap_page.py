"""The page of a wrapped tool: its parts, and nothing in it that runs, whoever said it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.python.synthetic_packets import FINDING, TIMELINE, S, change_dissection, make_dissection
from tests.python.synthetic_run import HOSTILE
from tests.python.wrap.test_wrap_tools import output
from wirelab import wrap as wrapping
from wirelab.documents.dissection import Dissection
from wirelab.process.children import Ended
from wirelab.process.metrics import Sample
from wirelab.records.link import CaptureRecord, LinkRecord
from wirelab.records.service import IdentityRecord
from wirelab.wrap import Measured, Order, page
from wirelab.wrap.process import Ran, Threads
from wirelab.wrap.session import WrappedService

AB = ("ab", "-k", "-n", "2000", "-c", "1", "http://127.0.0.1/transfer/hello")


def make_measured(
    document: Dissection, command: tuple[str, ...] = AB, printed: str = "", **more: Any
) -> Measured:
    """As if that command had been wrapped."""
    ran = Ran(
        how="ended",
        ended=Ended(0, 0.5, 0.0, 0),
        seconds=2.0,
        output=printed or output("ab-k"),
        cut=False,
        cpu=[Sample(10 * S, 0.0), Sample(12 * S, 0.5)],
        threads=[Threads(10 * S, {1: 0.0}), Threads(12 * S, {1: 0.5})],
    )
    return Measured(
        order=Order(command),
        command=command,
        port=80,
        ran=ran,
        capture=CaptureRecord(packets=4000, interface="lo"),
        document=document,
        machine_busy=0.5,
        cores=2,
        **more,
    )


def html(given: Measured) -> str:
    """The page of what was measured."""
    return page.html(wrapping.result(given))


class Elements(HTMLParser):
    """Tags, attributes, anchors and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += f"{data}\n"

    def values(self, *names: str) -> set[str]:
        """Of those attributes."""
        return {value for name, value in self.attributes if name in names and value}


def test_every_part_of_the_terminals_report_is_there() -> None:
    seen = Elements(html(make_measured(make_dissection())))
    expected = {"can-it-be-trusted", "connections", "requests", "load", "latency"}
    expected |= {"what-the-packets-suggest-not-tested-by-a-change", "bytes-and-packets"}
    expected |= {"one-exchange", "output-of-the-tool"}
    assert expected <= seen.values("id")
    for words in (
        "requests in flight, mean",
        "gap between requests, mean",
        "Closed (each request waits for a reply)",
        "GET /transfer/hello",
        "127.0.0.1:40000",
        "nagle-delayed-ack",
        "TCP_NODELAY",
        "1,000 of 2,000",
        "not tested",
        "wirelab wrap",
        "Keep-Alive requests",
        "2.05 s",
    ):
        assert words in seen.words, words


def test_the_tools_figures_are_next_to_those_of_the_packets() -> None:
    given = make_measured(make_dissection())
    record = wrapping.result(given)
    assert record.report is not None
    words = Elements(page.html(record)).words.split("\n")
    head = words.index("ratio")
    assert words[head - 2 : head] == ["packets", "ab"]
    assert {"agrees", "off"} & set(words)
    assert record.verdict.words in words


def test_a_tool_without_a_report_has_a_page() -> None:
    """Nothing is compared, and that is said."""
    given = make_measured(make_dissection(), ("curl", "http://127.0.0.1/"), "hello")
    seen = Elements(html(given))
    assert "not compared" in seen.words
    assert "hello" in seen.words


def test_a_capture_without_a_request_has_a_page() -> None:
    nothing = make_dissection(
        exchanges__count=0,
        exchanges__by_name=[],
        exchanges__latency_us=None,
        exchanges__latency_bins=[],
        flows__count=0,
        flows__list=[],
        accounting__per_exchange=None,
        capture__tcp_packets=0,
        findings=[],
        timeline=[],
        timeline_of=None,
        interarrival=[],
        load={"requests": 0, "seconds": 0.0, "connections_open_max": 0},
    )
    seen = Elements(html(make_measured(nothing, printed=" ")))
    assert "No verdict: no request was found in the packets." in seen.words
    assert "latency" not in seen.values("id")


SVG = f"</svg><img src=x onerror=alert(1)>{HOSTILE}"


@pytest.mark.parametrize("text", [HOSTILE, SVG, "{{ 7 * 7 }}{% raw %}", "x" * 5000])
def test_no_text_of_a_third_party_runs_as_script(text: str) -> None:
    """Neither the command, nor what it printed, nor names in packets."""
    document = make_dissection(
        findings=[{**FINDING, "words": text}],
        timeline=[{**rung, "note": text, "flags": text} for rung in TIMELINE],
        timeline_of__name=text,
        flows__list=[{**change_dissection()["flows"]["list"][0], "client": text, "server": text}],
        exchanges__by_name=[
            {**change_dissection()["exchanges"]["by_name"][0], "name": text, "status": {text: 1}}
        ],
        exchanges__endings={text: 1},
        interarrival=[{**change_dissection()["interarrival"][0], "flags": text}],
    )
    service = WrappedService(text, text, text, text, IdentityRecord(unverified=text))
    link = LinkRecord(name=text, driver=text, device_drops={"forward": 1, "backward": 0})
    given = make_measured(
        document, ("curl", text, "\udcff"), f"{text}\r\n", service=service, link=link
    )
    given.stopped = text
    shown = html(given)
    seen = Elements(shown)
    assert seen.tags.count("script") == 1, "the page's own, which its content policy names"
    assert not {"img", "iframe", "object", "foreignObject"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert [link for link in seen.values("href", "src") if not link.startswith("#")] == ["data:,"]
    assert shown.count("</style>") == 1 + shown.count("<style type=")
    assert not {"\x1b", "\u202e", "\udcff"} & set(shown)
    assert seen.words.count(text.split("\x1b")[0]) > 10


def test_only_the_end_of_much_output_is_shown() -> None:
    printed = "beginning\n" + "x\n" * page.OUTPUT_MAX + "last"
    words = Elements(html(make_measured(make_dissection(), ("curl", "x"), printed))).words
    assert f"The last {page.OUTPUT_MAX:,} of" in words
    assert "beginning" not in words
    assert "last" in words


def test_a_long_command_is_whole_at_the_head_and_short_in_the_title() -> None:
    command = ("curl", *(f"http://127.0.0.1/{n}" for n in range(100)))
    shown = html(make_measured(make_dissection(), command, "said"))
    assert " ".join(command) in shown.replace("<wbr>", "")
    title = shown.partition("<title>")[2].partition("</title>")[0]
    assert len(title) < 150


def test_the_same_record_gives_the_same_bytes() -> None:
    given = make_measured(make_dissection())
    assert html(given) == html(given)


def test_marked_checks_are_first_and_highlighted() -> None:
    given = make_measured(make_dissection(exchanges__count=3000))
    record = wrapping.result(given)
    marked = [check.name for check in record.checks if check.outcome == "marked"]
    assert "requests" in marked
    text = page.html(record)
    assert text.count('class="highlighted"') == len(marked)
    assert text.index('class="highlighted"') < text.index("+ ok")
    words = Elements(text).words.split("\n")
    assert words.index("! marked") < words.index("+ ok")
    shown = [line[2:] for line in wrapping.lines(record) if line.startswith(("! ", "+ ", "? "))]
    assert [line.partition(":")[0] for line in shown[: len(marked)]] == marked
    healthy = page.html(
        wrapping.result(make_measured(make_dissection(), ("curl", "http://127.0.0.1/"), "x"))
    )
    assert 'class="highlighted"' not in healthy


def test_the_terminal_has_one_unit_one_value_and_plain_words() -> None:
    finding = {**FINDING, "words": "It took 5.93 µs (median).", "test": None}
    by_name = {
        **change_dissection()["exchanges"]["by_name"][0],
        "status": {"200/0": 7, "200/14": 3},
    }
    given = make_measured(make_dissection(findings=[finding], exchanges__by_name=[by_name]))
    given.ran.ended = Ended(-9, 0.5, 0.0, 0)
    text = "\n".join(wrapping.lines(wrapping.result(given)))
    assert "5.93 µs" in text
    assert not re.search(r"\d us\b", text)
    assert "200 with grpc-status 0: 7, 200 with grpc-status 14: 3" in " ".join(text.split())
    assert text.count("signal SIGKILL") == 2
    assert "exit code -9" not in text


def test_the_cost_of_the_capture_is_shown() -> None:
    given = make_measured(make_dissection(), watching_cpu_s=0.1)
    given.capture = CaptureRecord(packets=4000, interface="lo", cpu_s=0.5)
    seen = " ".join(Elements(html(given)).words.split())
    assert "600 ms CPU for the capture and for watching (0.30 cores)" in seen
