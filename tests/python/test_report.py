"""What a report says: sentences that intervals allow, tables that hide nothing, safe text."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.python.synthetic_run import GRPC, REST, World, point, trial, trials, write_run
from wirelab import report, verdicts
from wirelab.report import Picture, Row, Section, Table, UnsafePicture, interval_picture, look
from wirelab.report.canvas import spread
from wirelab.report.label import load, stacks
from wirelab.report.quantity import digits, plain, quantity
from wirelab.statistics import Interval
from wirelab.trial import Trial

SMALL = World(sizes=(14,), loads=({"kind": "closed", "users": 32},))
HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e</style>"


def client_bound(given: Trial) -> Trial:
    """The trial with the engine at its limit and the service below."""
    limited = replace(
        given,
        result={**given.result, "cpu_s": 0.98 * given.result["window_s"]},
        service={**given.service, "cpu_window_s": 0.5 * given.result["window_s"]},
        checks=(),
    )
    return replace(limited, checks=verdicts.check(limited))


def failed(given: Trial, reason: str) -> Trial:
    """The trial as one that measured nothing."""
    return replace(given, status="failed", reason=reason, result={}, checks=())


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0123, "0.0123"), (9.996, "10.0"), (999.6, "1,000"), (1234.0, "1,230"), (0.0, "0")],
)
def test_digits(value: float, shown: str) -> None:
    """Three significant digits, without an exponent."""
    assert digits(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.5e6, "ns", "1.50 ms"),
        (999_900, "ns", "1.00 ms"),
        (12_345, "1/s", "12.3 k/s"),
        (462.0, "1/s", "462/s"),
        (4.5e-5, "s", "45.0 µs"),
        (0.4, "ns", "0.400 ns"),
    ],
)
def test_quantities(value: float, unit: Any, shown: str) -> None:
    """The unit that reads best."""
    assert quantity(value, unit) == shown


def test_plain_text_cannot_steer_a_terminal() -> None:
    """Escapes, NUL and marks of direction become visible."""
    assert plain("a\x1b[31mb\x00c\u202ed\ne") == "a\ufffd[31mb\ufffdc\ufffdd\ne"


def test_short_names_stay_unmistakable() -> None:
    """What all share is left out; what differs is named; a clash falls back to references."""
    text, close = "rest@go?codec=text", "rest@go?codec=text&connection=close"
    names = stacks([point(text), point(close), point("grpc@go?server.nagle=on")])
    assert names[text] == "rest@go text"
    assert names[close] == "rest@go text close"
    assert names["grpc@go?server.nagle=on"] == "grpc@go server.nagle=on"
    clash = ["rest@go?client.writes=split", "rest@go?server.writes=split"]
    assert len(set(stacks(map(point, clash)).values())) == 2


def test_loads_in_words() -> None:
    """Closed, open, and one user."""
    assert load({"kind": "closed", "users": 1}) == "1 user"
    assert (
        load({"kind": "closed", "users": 1000, "think_s": 0.5}) == "1,000 users, 0.5 s think time"
    )
    assert load({"kind": "poisson", "rate": 1500.0}) == "1,500 calls/s, Poisson"


def test_a_known_difference_is_told() -> None:
    """REST costs 60 us a call and gRPC 84: the sentence has that ratio and its interval."""
    overview, sentence, *_ = report.sentences(trials(SMALL), 0.05)
    assert "rest@rust json was ahead of every other stack in 1" in overview
    found = re.search(r"made ([\d.]+) times as many .*? interval ([\d.]+) to ([\d.]+)\)", sentence)
    assert found is not None
    low, high = float(found[2]), float(found[3])
    assert low <= 84.0 / 60.0 * 1.005
    assert high >= 84.0 / 60.0 * 0.995
    assert low <= float(found[1]) <= high


def test_no_difference_is_told_as_such() -> None:
    """Two stacks of one cost: no word of more, fewer or faster."""
    world = replace(SMALL, call_us={REST: 70.0, GRPC: 70.0})
    told = report.sentences(trials(world), 0.05)
    assert "no difference found in calls per second" in told[1]
    assert "no stack was found to be the fastest" in told[0]
    assert not any("times as many" in sentence for sentence in told)


def test_below_the_threshold_is_no_difference() -> None:
    """A certain 40 % is none where 60 % was declared."""
    told = report.sentences(trials(SMALL), 0.60)
    assert "no difference found" in told[1]


def test_client_bound_is_never_ranked() -> None:
    """One limited trial of REST: a lower bound, and no winner, however far ahead."""
    every = trials(SMALL)
    first = next(i for i, one in enumerate(every) if one.point.stack == REST)
    every[first] = client_bound(every[first])
    told = report.sentences(every, 0.05)
    assert "no ranking" in told[1]
    assert "rest@rust json at least" in told[1]
    assert "1 of 4 trials" in told[1]
    assert not any("times as many" in sentence for sentence in told)
    ranked = {row["ranked"] for row in report.to_json(every)["comparisons"]}
    assert ranked == {False}


def test_single_trials_cannot_be_told() -> None:
    """One repeat: no interval, so nothing is compared."""
    told = report.sentences(trials(replace(SMALL, repeats=1)), 0.05)
    assert "cannot be told" in told[1]
    assert not any("ahead of every" in sentence for sentence in told)


def test_nothing_measured() -> None:
    """All trials failed: that is the finding, with the reason."""
    every = [failed(one, "the service refused codec") for one in trials(SMALL)]
    told = report.sentences(every)
    assert told[0].startswith("Nothing can be told")
    assert "8 of 8 trials failed" in told[1]
    assert "the service refused codec" in told[1]
    assert report.sentences([])[0].startswith("Nothing can be told")


def test_one_stack_alone() -> None:
    """A run without a pair compares nothing and shows what was measured."""
    told = report.sentences(trials(replace(SMALL, stacks=(GRPC,))))
    assert "none is compared" in told[0]
    assert "grpc@rust made" in told[1]


def test_a_stack_without_a_value() -> None:
    """One side failed throughout: the other is not called the winner."""
    every = [failed(one, "refused") if one.point.stack == REST else one for one in trials(SMALL)]
    told = report.sentences(every)
    assert "No trial of rest@rust json has this figure" in told[1]
    assert "ahead of every" not in told[0]


def test_many_stacks_are_ranked_pair_by_pair() -> None:
    """Of three, the slowest is told apart and the two equal ones are not."""
    third = "rest@rust?codec=text"
    world = replace(
        SMALL, stacks=(REST, GRPC, third), call_us={REST: 60.0, GRPC: 90.0, third: 60.0}
    )
    told = report.sentences(trials(world), 0.05)
    assert "a difference was found against grpc@rust" in told[1]
    assert "none against rest@rust" in told[1]


def test_closed_and_open_loads_stay_apart() -> None:
    """Both kinds in one run: each has its own sentences, and the reader is told."""
    loads = ({"kind": "closed", "users": 10}, {"kind": "constant", "rate": 2000.0})
    told = report.sentences(trials(replace(SMALL, loads=loads)))
    assert any(sentence.startswith("By calls per second") for sentence in told)
    assert any(sentence.startswith("By median response time") for sentence in told)
    assert any("never compared" in sentence for sentence in told)


def test_terminal_fits_80_columns() -> None:
    """No line is longer, nothing is cut, hostile text cannot steer the terminal."""
    every = trials(replace(SMALL, stacks=(REST, "rest@go?codec=text&connection=close", GRPC)))
    every[0] = failed(every[0], f"[bold]x[/bold] {HOSTILE}")
    limited = next(i for i, one in enumerate(every) if i and one.point.stack == GRPC)
    every[limited] = client_bound(every[limited])
    text = io.StringIO()
    console = Console(file=text, width=80, force_terminal=False)
    console.print(report.terminal_table(every))
    shown = text.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown
    assert "…" not in shown
    assert "[bold]x" in shown
    for words in ("Hello 14 B, 32 users", "calls/s", "p99", "1/3 1✗", "bound marked in 1", "≥"):
        assert words in shown


def test_json_is_complete_and_legal() -> None:
    """Every cell and figure with its interval; strict JSON even where limits are infinite."""
    every = trials(replace(SMALL, repeats=2, spread=30.0))
    shown = json.loads(json.dumps(report.to_json(every), allow_nan=False))
    assert len(shown["cells"]) == 2
    rate = shown["cells"][0]["figures"]["rate"]
    assert rate["n"] == 2
    assert rate["low"] <= rate["estimate"] <= rate["high"]
    assert {row["figure"] for row in shown["comparisons"]} >= {"rate", "response_p50"}


def test_csv_is_complete_and_harmless() -> None:
    """One line per cell and figure; a text that a spreadsheet would run is disarmed."""
    every = trials(SMALL)
    every = [replace(one, point=replace(one.point, link="=HYPERLINK(1)")) for one in every]
    rows = list(csv.DictReader(io.StringIO(report.to_csv(every))))
    assert len(rows) == 2 * 8
    assert {row["figure"] for row in rows} >= {"rate", "service_cpu"}
    assert all(row["link"].startswith("'=") for row in rows)
    assert all(float(row["low"]) <= float(row["high"]) for row in rows if row["low"])


class Page(HTMLParser):
    """Elements, ids and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


def parsed(path: Path) -> Page:
    """The page at ``path``."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which everything that comes from outside tries to break out."""
    every = trials(replace(SMALL, stacks=(REST, GRPC)))
    every[0] = failed(every[0], HOSTILE)
    every[1] = replace(every[1], service={**every[1].service, "runtime": HOSTILE})
    every[2] = client_bound(every[2])
    folder = tmp_path_factory.mktemp("hostile") / "run"
    return write_run(folder, every, name=HOSTILE, about=HOSTILE)


def test_page_runs_and_loads_nothing(hostile_run: Path) -> None:
    """No script, no handler, no address outside the page, whatever a service says."""
    page = parsed(report.write(hostile_run))
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert [link for link in page.links if not link.startswith("#")] == ["data:,"]
    text = (hostile_run / "report.html").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("</style>") == 1 + text.count("<style type=")


def test_page_is_whole(hostile_run: Path) -> None:
    """Every part is there, every anchor leads somewhere, no id is given twice."""
    page = parsed(report.write(hostile_run))
    assert len(set(page.ids)) == len(page.ids)
    targets = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert targets <= set(page.ids)
    titles = (
        "Findings",
        "Rate and response over the load",
        "Every cell",
        "CPU per call",
        "Comparisons",
        "Response time by percentile",
        "Checks",
        "Placement",
        "Machine and versions",
        "How to repeat it",
        "What the words mean",
        "Raw data",
    )
    assert {Section(title).anchor for title in titles} <= set(page.ids)


def test_page_hides_nothing(hostile_run: Path) -> None:
    """Failed and marked trials are listed with their reasons."""
    text = report.write(hostile_run).read_text(encoding="utf-8")
    assert "Failed trials" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a lower bound, never a ranking" in text


def test_page_is_the_same_every_time(hostile_run: Path) -> None:
    """Same run, same bytes."""
    first = report.write(hostile_run).read_bytes()
    assert report.write(hostile_run).read_bytes() == first


def test_extra_sections(hostile_run: Path) -> None:
    """A study adds its own parts, escaped; two of one title have two anchors."""
    drawn = interval_picture(
        [Row("keep to close", Interval(1.4, 1.3, 1.5, 8, "t"), look(0))], "Ladder", "ratio"
    )
    part = Section("Published & measured", ("a <b>",), (Table(("x",), (("<i>",),)),), (drawn,))
    page_path = report.write(hostile_run, [part, part])
    text = page_path.read_text(encoding="utf-8")
    assert "a &lt;b&gt;" in text
    assert "&lt;i&gt;" in text
    assert {"published-measured", "published-measured-2"} <= set(parsed(page_path).ids)


def test_empty_run(tmp_path: Path) -> None:
    """A run that was interrupted before its first trial has a report that says so."""
    folder = write_run(tmp_path / "run", [])
    assert "Nothing can be told" in report.write(folder).read_text(encoding="utf-8")


def test_no_run_directory(tmp_path: Path) -> None:
    """An empty folder is refused by name, and nothing is written into it."""
    from wirelab.errors import RunDirectoryError

    with pytest.raises(RunDirectoryError, match=re.escape(str(tmp_path))):
        report.write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_unreadable_histogram_is_said(tmp_path: Path) -> None:
    """A damaged histogram costs its picture, not the report."""
    every = trials(SMALL)
    folder = write_run(tmp_path / "run", every)
    log = folder / "trials" / every[0].id / "histograms.hlog"
    log.write_text("Tag=response,0,1,2,AAAA\n", encoding="utf-8")
    assert "Not shown:" in report.write(folder).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>x</script></svg>",
        '<svg onload="x"/>',
        '<svg><use href="http://example.org/a.svg#b"/></svg>',
        '<svg><path style="fill:url(http://example.org)"/></svg>',
        "<svg><style>@import 'x'</style></svg>",
        "<svg><foreignObject/></svg>",
        "<svg><path></svg>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>',
    ],
)
def test_unsafe_pictures_are_refused(svg: str) -> None:
    """A picture that could run or load something never reaches the page."""
    with pytest.raises(UnsafePicture):
        Picture(svg, "caption")


def test_tables_must_be_rectangular() -> None:
    """A row of another length is an error of the caller."""
    with pytest.raises(ValueError, match="row of 1 under 2"):
        Table(("a", "b"), (("x",),))


def test_labels_keep_their_distance() -> None:
    """Moved as little as needed, in order, inside the axes; squeezed where there is no room."""
    assert spread([0.5, 0.5, 0.1], 0.1, 0.0, 1.0) == pytest.approx([0.5, 0.6, 0.1])
    moved = spread([0.98, 0.99, 1.2], 0.1, 0.0, 1.0)
    assert moved == pytest.approx([0.8, 0.9, 1.0])
    crowded = spread([0.5] * 40, 0.1, 0.0, 1.0)
    assert min(crowded) >= -1e-9
    assert max(crowded) <= 1.0 + 1e-9
    assert spread([], 0.1, 0.0, 1.0) == []


def test_random_order_does_not_change_the_report() -> None:
    """The same trials in another order say the same."""
    every = trials(SMALL)
    assert report.to_json(every) == report.to_json(every[::-1])
    again = trial(every[0].point, every[0].repeat, every[0].order, SMALL)
    assert again == every[0]
