"""Tables of every page in a real browser: each cell is below its heading, or next to its name
where a phone shows a row as a list."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.python.browse.test_browse import hold_lock
from tests.python.chromium import Browser, Tab, needs_chromium
from tests.python.explain.test_causes import CLOSE, LINK, times
from tests.python.hostile_runs import SLOWER, SMALL, sessions_of_day, write_run
from tests.python.report.test_report_browser import (
    run_page,
    runtime_page,
    study_page_of,
    wrap_page_of,
    write_captured_page,
)
from tests.python.synthetic_packets import make_dissection
from tests.python.synthetic_run import trials
from wirelab import facts
from wirelab.browse import pages, tree
from wirelab.browse.server import listen
from wirelab.browse.site import Site
from wirelab.cli import main
from wirelab.cli.output import facts as facts_page
from wirelab.explain import conditions
from wirelab.explain.answers import ServiceAnswer
from wirelab.report import cause_page, dissection_page
from wirelab.run import finished
from wirelab.survey.kit import Kit, write_kit

pytestmark = needs_chromium

WIDTHS = (390, 1280, 1600)
PROBE = (Path(__file__).parents[1] / "page_tables.js").read_text(encoding="utf-8")
FAULTS = ("misplaced", "unnamed", "shared")


def cause_page_of(folder: Path) -> Path:
    """The page of an explanation of two services."""
    found = times(1.0, 3.0, {"connection": (3.0, 3.0), "link": (3.0, 5.0)}, 1)
    gap = conditions.gap(found)
    assert gap is not None
    answer = ServiceAnswer(
        names=("first", "second"),
        figure="service_mean",
        gap=gap,
        shifts=tuple(conditions.shifts([CLOSE, LINK], found, {})),
        refused=(),
        cpu=dict.fromkeys(("service_cpu", "client_cpu"), (None, None)),
        connections=(None, None),
        failures=(),
        phases=(),
        no_packets="nothing was captured",
        runs={"plain": finished.read(write_run(folder / "plain", trials(SMALL)))},
    )
    return cause_page.write(answer, folder)


def _write_page(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    return file


def dissection_page_of(folder: Path) -> Path:
    """The page of a capture."""
    return _write_page(folder, dissection_page.html(make_dissection()))


def facts_page_of(folder: Path) -> Path:
    """The page of the facts of stacks."""
    return _write_page(folder, facts_page.page(facts.facts()))


def list_page_of(folder: Path) -> Path:
    """The list of runs as one file, with a run inside another folder."""
    write_runs(folder)
    found = tree.scan(folder)
    rows = pages.lines(found, dict.fromkeys(found.entries), folder / "list.html")
    return _write_page(folder, pages.index_file(found, rows))


PAGES = (
    run_page,
    study_page_of,
    write_captured_page,
    runtime_page,
    wrap_page_of,
    cause_page_of,
    dissection_page_of,
    facts_page_of,
    list_page_of,
)


def write_runs(root: Path) -> None:
    """Two runs of one experiment, and a limit with a run inside."""
    write_run(root / "first", trials(SMALL), sessions=sessions_of_day(1))
    write_run(root / "second", trials(SLOWER), sessions=sessions_of_day(2))
    write_run(root / "limit" / "closed", trials(SMALL), sessions=sessions_of_day(3))
    limit = {"objective": "p99<50ms", "limit_per_s": 12_000.0, "low_per_s": 11e3}
    (root / "limit" / "limit.json").write_text(json.dumps(limit), encoding="utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


class Refusing(http.server.BaseHTTPRequestHandler):
    """Refuses each second request."""

    counts = count()

    def do_GET(self) -> None:
        """Status 200, then 503."""
        self.send_response((200, 503)[next(self.counts) % 2])
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@contextmanager
def serve_refusing() -> Iterator[str]:
    """The address of a server that refuses half of the requests."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serve_folder(root: Path) -> Iterator[str]:
    """The address of `wirelab browse` of that folder."""
    with listen(Site(root), 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def probe_at(tab: Tab, width: int) -> dict[str, Any]:
    """What the probe sees in a window of that width."""
    tab.resize(width)
    return dict(tab.evaluate(PROBE))


def faults_in(seen: dict[str, Any]) -> list[str]:
    """Every fault, with its kind."""
    return [f"{kind}: {one}" for kind in FAULTS for one in seen[kind]]


def check_page(browser: Browser, address: str, tables: int = 1) -> None:
    """All tables of a page at every width."""
    tab = browser.open(address)
    for width in WIDTHS:
        seen = probe_at(tab, width)
        where = f"{address} at {width} px"
        assert seen["tables"] >= tables, where
        assert faults_in(seen) == [], where
    tab.close()


@pytest.mark.parametrize("make", PAGES)
def test_cells_of_a_page_are_below_their_headings(
    make: Any, browser: Browser, tmp_path: Path
) -> None:
    check_page(browser, make(tmp_path / "run").as_uri())


def test_cells_of_a_served_page_are_below_their_headings(browser: Browser, tmp_path: Path) -> None:
    write_runs(tmp_path)
    planned = len(trials(SMALL))
    cut = write_run(
        tmp_path / "cut", trials(SMALL)[:5], trials_planned=planned, sessions=sessions_of_day(4)
    )
    entries = tree.scan(tmp_path).entries.values()
    keys = {one.name: one.id for one in entries}
    with serve_folder(tmp_path) as url, hold_lock(cut):
        runs = f"compare?run={keys['first']}&run={keys['second']}"
        for page in ("", runs, f"run/{keys['cut']}", f"run/{keys['limit']}"):
            check_page(browser, url + page)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_cells_of_a_drive_page_are_below_their_headings(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with serve_refusing() as url:
        assert main(["drive", url, "--stage", "300ms:8", "--report", str(page)]) == 0
    check_page(browser, page.as_uri(), tables=3)


def test_cells_of_saved_answers_are_below_their_headings(browser: Browser, tmp_path: Path) -> None:
    """The questionnaire lists the finished tasks."""
    write_kit(tmp_path / "kit", Kit.draw(2, seed=4))
    address = (tmp_path / "kit" / "index.html").as_uri()
    tab = browser.open(address)
    row = {"participant": 1, "task": "a long name of a task", "part1": "given up", "part1_s": 1234}
    tab.evaluate(f"state.rows = [{json.dumps(row)}]; keep(); true")
    for width in WIDTHS:
        seen = probe_at(tab, width)
        assert seen["tables"] == 1
        assert faults_in(seen) == [], width
    tab.close()


def test_a_phone_shows_each_value_next_to_its_name(browser: Browser, tmp_path: Path) -> None:
    """The probe reads the names of cells in each width that has no headings."""
    write_runs(tmp_path)
    with serve_folder(tmp_path) as url:
        tab = browser.open(url)
        assert probe_at(tab, 390)["cards"] == 6 * 4
        assert probe_at(tab, 1280)["cards"] == 0
        tab.close()


@pytest.mark.parametrize(
    ("style", "width", "fault"),
    [
        ("tbody tr { display: flex; gap: 1rem }", 1280, "misplaced"),
        ("td { position: relative; left: 3px }", 1280, "misplaced"),
        (".long td::before { content: 'x' !important }", 390, "unnamed"),
    ],
)
def test_a_table_out_of_place_is_seen(
    style: str, width: int, fault: str, browser: Browser, tmp_path: Path
) -> None:
    tab = browser.open(list_page_of(tmp_path).as_uri(), width)
    assert probe_at(tab, width)[fault] == []
    tab.evaluate(
        f"document.head.append(Object.assign(document.createElement('style'),"
        f"{{textContent: {json.dumps(style)}}}))"
    )
    assert probe_at(tab, width)[fault] != []
    tab.close()


def test_a_class_shared_with_a_row_is_seen(browser: Browser, tmp_path: Path) -> None:
    tab = browser.open(list_page_of(tmp_path).as_uri())
    assert probe_at(tab, 1280)["shared"] == []
    tab.evaluate("document.querySelector('header').classList.add('runs')")
    assert probe_at(tab, 1280)["shared"] == ["runs: TABLE and HEADER"]
    tab.close()
