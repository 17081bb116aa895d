"""What a report shows: figures that read well, tables that hide nothing, safe text."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.python.synthetic_run import (
    GRPC,
    HOSTILE,
    REST,
    World,
    client_bound,
    fail_trial,
    trial,
    trials,
    users,
    write_reproduction,
    write_run,
)
from wirelab.cli import main
from wirelab.format.numbers import digits, quantity, sanitize
from wirelab.report import explorer
from wirelab.report.charts.canvas import spread
from wirelab.report.charts.intervals import Row, interval_picture
from wirelab.report.charts.stack_style import look
from wirelab.report.export import to_csv, to_json
from wirelab.report.page import write_page
from wirelab.report.section import Picture, Section, Table, UnsafePicture, longest_word
from wirelab.statistics.figure import FIGURES, GOOD_CALLS
from wirelab.statistics.interval import Interval

SMALL = World(sizes=(14,), loads=(users(32),))


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
    assert sanitize("a\x1b[31mb\x00c\u202ed\ne") == "a\ufffd[31mb\ufffdc\ufffdd\ne"


def test_json_is_complete_and_legal() -> None:
    """Every cell and figure with its interval; strict JSON even where limits are infinite."""
    every = trials(replace(SMALL, repeats=2, spread=30.0))
    shown = json.loads(json.dumps(to_json(every, 0.05), allow_nan=False))
    assert len(shown["cells"]) == 2
    rate = shown["cells"][0]["figures"]["rate"]
    assert rate["n"] == 2
    assert rate["low"] <= rate["estimate"] <= rate["high"]
    assert {row["figure"] for row in shown["comparisons"]} >= {"rate", "response_p50"}


def test_csv_is_complete_and_harmless() -> None:
    """One line per cell and figure; a text that a spreadsheet would run is disarmed."""
    every = trials(SMALL)
    every = [replace(one, point=replace(one.point, link="=HYPERLINK(1)")) for one in every]
    rows = list(csv.DictReader(io.StringIO(to_csv(every))))
    # No call failed, so that good calls have no figures of their own.
    assert len(rows) == 2 * (len(FIGURES) - len(GOOD_CALLS))
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
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs))
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


def parse_page(path: Path) -> Page:
    """The page at ``path``."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which everything that comes from outside tries to break out."""
    every = trials(replace(SMALL, stacks=(REST, GRPC)))
    every[0] = fail_trial(every[0], HOSTILE)
    every[1] = replace(every[1], service=replace(every[1].service, runtime=HOSTILE))
    every[2] = client_bound(every[2])
    folder = tmp_path_factory.mktemp("hostile") / "run"
    return write_run(folder, every, name=HOSTILE, about=HOSTILE)


def test_the_page_loads_nothing_and_runs_only_its_own_script(hostile_run: Path) -> None:
    """No other script, no handler, no address outside the page, whatever a service returns."""
    page = parse_page(write_page(hostile_run))
    assert page.tags.count("script") == 2
    assert page.scripts[0] == {"type": "application/json", "id": "data"}
    assert page.scripts[1] == {}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert [link for link in page.links if not link.startswith("#")] == ["data:,"]
    text = (hostile_run / "report.html").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("</style>") == 1 + text.count("<style type=")


def test_the_content_policy_names_the_script_by_its_hash(hostile_run: Path) -> None:
    text = write_page(hostile_run).read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; ")
    assert f"; script-src 'sha256-{digest}'; " in policy


def test_data_of_the_charts_are_json_that_cannot_end_its_element(hostile_run: Path) -> None:
    text = write_page(hostile_run).read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert not set("<>&") & set(data)
    found = json.loads(data)
    assert [stack["name"] for stack in found["stacks"]] == ["grpc@rust", "rest@rust json"]
    names = [figure["name"] for figure in found["figures"]]
    assert names[:3] == ["rate", "response_p50", "response_p99"]
    rates = [cell["figures"][0] for cell in found["cells"]]
    assert all(low <= estimate <= high for estimate, low, high in rates)
    assert all(len(cell["curves"]) == cell["trials"] for cell in found["cells"])


def test_of_neighbours_over_time_the_largest_is_kept_where_a_mean_would_hide_it() -> None:
    points = [(float(at), 1.0) for at in range(10)]
    points[4] = (4.0, 99.0)
    peaks = explorer.thin_out(points, 5, peaks=True)
    assert peaks == [(0.5, 1.0), (2.5, 1.0), (4.5, 99.0), (6.5, 1.0), (8.5, 1.0)]
    assert explorer.thin_out(points, 5, peaks=False)[2] == (4.5, 50.0)
    assert explorer.thin_out(points, 10, peaks=False) == points


def test_page_is_whole(hostile_run: Path) -> None:
    """Every part is there, every anchor leads somewhere, no id is given twice."""
    page = parse_page(write_page(hostile_run))
    assert len(set(page.ids)) == len(page.ids)
    targets = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert targets <= set(page.ids)
    titles = (
        "Findings",
        "Rate and response time by load",
        "Every cell",
        "CPU per call",
        "Cost per million calls",
        "Comparisons",
        "Response time by percentile",
        "Checks",
        "System noise",
        "Placement",
        "Machine and versions",
        "Repeat the run",
        "Definitions",
        "Raw data",
    )
    assert {Section(title).anchor for title in titles} <= set(page.ids)


def test_page_hides_nothing(hostile_run: Path) -> None:
    """Failed and marked trials are listed with their reasons."""
    text = write_page(hostile_run).read_text(encoding="utf-8")
    assert "Failed trials" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a lower bound, never a ranking" in text


def test_page_is_the_same_every_time(hostile_run: Path) -> None:
    """Same run, same bytes."""
    first = write_page(hostile_run).read_bytes()
    assert write_page(hostile_run).read_bytes() == first


def test_extra_sections(hostile_run: Path) -> None:
    """A study adds its own parts, escaped; two of one title have two anchors."""
    drawn = interval_picture(
        [Row("keep to close", Interval(1.4, 1.3, 1.5, 8, "t"), look(0))], "Ladder", "ratio"
    )
    part = Section("Published & measured", ("a <b>",), (Table(("x",), (("<i>",),)),), (drawn,))
    page_path = write_page(hostile_run, [part, part])
    text = page_path.read_text(encoding="utf-8")
    assert "a &lt;b&gt;" in text
    assert "&lt;i&gt;" in text
    assert {"published-measured", "published-measured-2"} <= set(parse_page(page_path).ids)


def test_empty_run(tmp_path: Path) -> None:
    """A run that was interrupted before its first trial has a report that states this."""
    folder = write_run(tmp_path / "run", [])
    assert "No trial measured anything" in write_page(folder).read_text(encoding="utf-8")


def test_no_run_directory(tmp_path: Path) -> None:
    """An empty folder is refused by name, and nothing is written into it."""
    from wirelab.errors import RunDirectoryError

    with pytest.raises(RunDirectoryError, match=re.escape(str(tmp_path))):
        write_page(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_not_written_through_a_link(tmp_path: Path) -> None:
    """A folder from elsewhere can contain links under any name that the report uses."""
    folder = write_run(tmp_path / "run", [])
    other = tmp_path / "other"
    other.write_text("keep")
    for name in ("report.html", ".report.html.unfinished"):
        (folder / name).symlink_to(other)
    assert not write_page(folder).is_symlink()
    assert other.read_text() == "keep"


def test_unreadable_histogram_is_said(tmp_path: Path) -> None:
    """A damaged histogram costs its picture, not the report."""
    every = trials(SMALL)
    folder = write_run(tmp_path / "run", every)
    log = folder / "trials" / every[0].id / "histograms.hlog"
    log.write_text("Tag=response,0,1,2,AAAA\n", encoding="utf-8")
    assert "Not shown, because it cannot be read" in write_page(folder).read_text("utf-8")


@pytest.mark.parametrize("content", [None, b"", bytes(range(256)) * 4])
def test_a_lost_histogram_is_said_and_the_others_are_drawn(
    tmp_path: Path, content: bytes | None
) -> None:
    every = trials(SMALL)
    folder = write_run(tmp_path / "run", every)
    before = write_page(folder).read_text("utf-8")
    log = folder / "trials" / every[0].id / "histograms.hlog"
    log.unlink() if content is None else log.write_bytes(content)
    page = write_page(folder).read_text("utf-8")
    assert "no histogram of response times" in page
    assert "no histogram of response times" not in before
    assert page.count("<svg") == before.count("<svg")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("manifest.json", b"{}\n", "manifest.json: 'format' is missing"),
        ("manifest.json", b"[1]\n", "manifest.json: it is not a mapping"),
        ("manifest.json", b'{"format": 1,', "it is not valid JSON: .* in column"),
        ("manifest.json", b"\xff\xfe", "it is not UTF-8 text"),
        ("manifest.json", b'{"format": 1,\n"a": }', "in line 2, column 6"),
        (
            "manifest.json",
            b'{"format": 1, "threshold": "x"}',
            r"Expected `float \| null`, got `str` - at `\$.threshold`",
        ),
        (
            "manifest.json",
            b'{"format": 1, "sessions": {}}',
            r"Expected `array`, got `object` - at `\$.sessions`",
        ),
        ("trials.jsonl", b"{}\n{}\n", "trials.jsonl:1 is not a trial record .*'point' is missing"),
        ("trials.jsonl", b"[]\n[]\n", "trials.jsonl:1 .*: it is not a mapping"),
        ("trials.jsonl", b'{"point":{"x":1}}\n{}\n', "it has unexpected keys or types"),
        ("trials.jsonl", b'{"point":{},"result":null}\n{}\n', "unexpected keys or types"),
    ],
)
def test_a_damaged_run_is_reported_in_plain_words(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    from wirelab.errors import RunDirectoryError

    folder = write_run(tmp_path / "run", trials(SMALL))
    (folder / name).write_bytes(content)
    with pytest.raises(RunDirectoryError, match=said):
        write_page(folder)


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


def test_a_table_that_does_not_fit_a_phone_becomes_a_list() -> None:
    """Names and values fit; ten columns, or three of sentences, do not."""
    assert not Table(("", "value"), [("kernel", "6.1 " * 40)]).long
    assert not Table(("check", "ok", "marked"), [("warm-up", "12", "0")], "", (1, 2)).long
    assert Table(("Verdict", "Claim", "Measured"), [("holds", "a " * 40, "b " * 40)]).long
    assert Table([f"column {n}" for n in range(10)], [["1.23 ms"] * 10]).long


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("rest@go", 7),
        ("rest@go?codec=text&connection=close", 17),
        ("684 to 712 calls/s", 7),
        ("http://127.0.0.1:80/transfer/hello", 19),
        ("split-writes", 6),
    ],
)
def test_a_line_ends_between_words_and_where_parts_of_a_reference_meet(
    text: str, letters: int
) -> None:
    """Nowhere else, unless a word is longer than a column."""
    assert longest_word(text) == letters


def test_the_head_of_a_page_shows_what_all_trials_share(tmp_path: Path) -> None:
    """Once, and nowhere else."""
    every = [
        replace(one, point=replace(one.point, options={"placement": "pinned"}))
        for one in trials(World())
    ]
    text = write_page(write_run(tmp_path / "run", every)).read_text(encoding="utf-8")
    assert text.count("placement pinned") == 1
    assert "placement=pinned" not in text


def test_libraries_are_grouped_by_role_and_older_runs_keep_theirs(tmp_path: Path) -> None:
    """Before libraries had roles, a run recorded a map of names to versions."""
    first, second, *_ = trials(SMALL)
    older = replace(
        second, service=replace(second.service, libraries={"tonic": "0.12", "h2": "0.4"})
    )
    text = write_page(write_run(tmp_path / "run", [first, older])).read_text(encoding="utf-8")
    assert (
        '<div>server: hyper 1.7.0<span class="below">codec: serde_json 1.0.1</span></div>' in text
    )
    assert "<div>h2 0.4, tonic 0.12</div>" in text


def test_the_main_picture_is_self_contained(hostile_run: Path, tmp_path: Path) -> None:
    """One SVG document with title and legend, which runs and loads nothing."""
    every = trials(World())
    file = tmp_path / "picture.svg"
    folder = write_run(tmp_path / "run", every, about="Which <one> is faster?")
    assert main(["report", str(folder), "--picture", str(file)]) == 0
    svg = file.read_text(encoding="utf-8")
    Picture(svg, "checked by being made")
    assert "<title>Which &lt;one&gt; is faster?</title>" in svg
    assert svg.count("<svg ") == 1 + 1 + 3 + 1  # document, heading, three messages, legend
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert len(set(ids)) == len(ids)
    assert main(["report", str(hostile_run), "--picture", str(tmp_path / "hostile.svg")]) == 1
    Picture((tmp_path / "hostile.svg").read_text(encoding="utf-8"), "harmless")


def test_a_reproduction_gets_its_study_page_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`report` of a reproduction judges the study, and can draw its first part."""
    folder = write_reproduction(tmp_path / "out", trials(SMALL))
    picture = tmp_path / "rate.svg"
    assert main(["report", str(folder), "--picture", str(picture), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["study"] == "hamo2023"
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert 'id="findings-of-the-study"' in text
    assert picture.is_file()


def test_a_picture_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another format, or nothing to draw: exit 2, with the option named."""
    folder = write_run(tmp_path / "run", [])
    assert main(["report", str(folder), "--picture", "x.png"]) == 2
    assert main(["report", str(folder), "--picture", str(tmp_path / "x.svg")]) == 2
    assert capsys.readouterr().err.count("--picture") == 2


def test_the_command_line_starts_without_matplotlib() -> None:
    """Drawing and statistics are loaded by the commands that need them."""
    heavy = "{'matplotlib', 'scipy', 'numpy', 'jinja2'}"
    code = f"import sys, wirelab.cli, wirelab.report; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_random_order_does_not_change_the_report() -> None:
    """The same trials in another order say the same."""
    every = trials(SMALL)
    assert to_json(every, 0.05) == to_json(every[::-1], 0.05)
    again = trial(every[0].point, every[0].repeat, every[0].order, SMALL)
    assert again == every[0]
