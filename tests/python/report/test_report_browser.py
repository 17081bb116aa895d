"""The page in a real browser: silent, inside its window, and no text over other text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.chromium import Browser, Tab, needs_chromium
from tests.python.report import test_report_runtime as runtime
from tests.python.synthetic_packets import capture_trial, make_dissection
from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    trials,
    users,
    write_reproduction,
    write_run,
)
from tests.python.wrap import test_wrap_page as wrapped
from wirelab.records.group import GroupResult
from wirelab.report.page import write_page
from wirelab.report.section import WORD_MAX
from wirelab.study import reproduction
from wirelab.study import sections as study_page
from wirelab.trial import dissected as document

pytestmark = needs_chromium

LEVELS = (1, 10, 50, 100, 400)

PROBE = r"""(() => {
for (const closed of document.querySelectorAll("details")) closed.open = true;
const seen = {width: innerWidth, over: document.documentElement.scrollWidth - innerWidth,
              clipped: [], overlaps: [], outside: [], sideways: [], broken: []};
for (const table of document.querySelectorAll(".scroll"))
  if (table.scrollWidth > table.clientWidth) seen.sideways.push(table.getAttribute("aria-label"));
for (const cell of document.querySelectorAll("th, td")) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node; node = texts.nextNode();)
    for (const word of node.data.matchAll(/[^\s\-\/?&=,]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1 && word[0].length <= WORD_MAX) seen.broken.push(word[0]);
    }
}
for (const svg of document.querySelectorAll("figure svg")) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('g[id*="text_"]')]
    .map(g => [g.id, g.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  for (const [id, box] of texts)
    if (box.left < frame.left - 0.5 || box.right > frame.right + 0.5 ||
        box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5) seen.clipped.push(id);
  texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
    if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 &&
        q.top < p.bottom - 1) seen.overlaps.push([a, b]);
  }));
}
for (const part of document.querySelectorAll("h1, h2, h3, p, li, dd, nav a, figure, .scroll")) {
  const box = part.getBoundingClientRect();
  if (!part.closest(".scroll table") && box.right > innerWidth + 0.5)
    seen.outside.push(part.tagName + " " + part.textContent.slice(0, 40));
}
return seen;
})()""".replace("WORD_MAX", str(WORD_MAX))


def run_page(folder: Path) -> Path:
    """A page with long stack names, five loads, an open load, failures and marks."""
    stacks = (
        "rest@go?codec=text",
        "rest@go?codec=text&connection=close",
        "grpc@go",
        "grpc@go?server.h2_window=65535",
    )
    world = World(stacks, (14, 3_000_000), tuple(map(users, LEVELS)), repeats=3, spread=0.05)
    every = trials(world)
    opened = replace(world, loads=({"kind": "poisson", "rate": 300.0},), sizes=(14,), seed=2)
    every += [replace(one, id=f"open-{one.id}") for one in trials(opened)]
    every[3] = replace(every[3], status="failed", reason="x" * 300, result=GroupResult(), checks=())
    return write_page(write_run(folder, every))


def study_page_of(folder: Path) -> Path:
    """The page of a study, its tables of findings and winners included."""
    stacks = (
        "grpc@go",
        "rest@go?codec=text&connection=close&end_of_message=chunked",
        "rest@go?codec=text",
    )
    world = World(stacks, (14, 3_000_000), tuple(map(users, LEVELS)), repeats=2, spread=0.05)
    return study_page.write(reproduction.read(write_reproduction(folder, trials(world))))


def write_captured_page(folder: Path) -> Path:
    """The page of a run over a link, with packets, findings and bytes."""
    every = [capture_trial(stack, order) for order in range(2) for stack in (REST, GRPC)]
    every.append(capture_trial(REST, 3, drops=7, device_drops={"forward": 1, "backward": 2}))
    run = write_run(folder, every)
    for one in every:
        file = run / "trials" / one.id / "dissection-client.json"
        file.write_text(document.text(make_dissection()), encoding="utf-8")
    return write_page(run)


def runtime_page(folder: Path) -> Path:
    """The page of a run with heap, GC pauses and threads over time."""
    every = [
        runtime.make_trial(stack, repeat, 0.05) for repeat in range(3) for stack in (REST, GRPC)
    ]
    return write_page(runtime.write_sampled_run(folder, every))


def wrap_page_of(folder: Path) -> Path:
    """The page of a wrapped tool."""
    folder.mkdir()
    file = folder / "report.html"
    file.write_text(wrapped.html(wrapped.make_measured(make_dissection())), encoding="utf-8")
    return file


@pytest.fixture(
    scope="module",
    params=[run_page, study_page_of, write_captured_page, runtime_page, wrap_page_of],
)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of page."""
    made: Path = request.param(tmp_path_factory.mktemp("browser") / "run")
    return made


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@contextmanager
def open_page(browser: Browser, page: Path, width: int) -> Iterator[Tab]:
    """The page in a window of that width, to the end of the block."""
    tab = browser.open(page.as_uri(), width, 2000)
    yield tab
    tab.close()


def test_console_is_silent(browser: Browser, page: Path) -> None:
    """The page as it is written logs nothing, with its content policy in force."""
    with open_page(browser, page, 1280) as tab:
        assert tab.evaluate("document.querySelector('main') !== null")
        assert tab.logged == []


@pytest.mark.parametrize("width", [1200, 400, 360])
def test_layout(browser: Browser, page: Path, width: int) -> None:
    """Laptop and phone: nothing scrolls sideways, no word is broken in a table, no label is
    clipped, no text lies over text."""
    with open_page(browser, page, width) as tab:
        seen = tab.evaluate(PROBE)
    assert seen["width"] == width
    assert seen["over"] <= 0
    assert seen["outside"] == []
    assert seen["sideways"] == []
    assert seen["broken"] == []
    assert seen["clipped"] == []
    assert seen["overlaps"] == []


def test_the_probe_can_fail(browser: Browser, page: Path) -> None:
    """A page with something too wide is found out, within a table and without."""
    with open_page(browser, page, 390) as tab:
        tab.evaluate("document.querySelector('p').style.width = '3000px'")
        assert tab.evaluate(PROBE)["over"] > 0
    insert = "document.styleSheets[0].insertRule({}, document.styleSheets[0].cssRules.length)"
    with open_page(browser, page, 1280) as tab:
        tab.evaluate(insert.format("'td { min-width: 400px }'"))
        assert tab.evaluate(PROBE)["sideways"] != []
    with open_page(browser, page, 1280) as tab:
        tab.evaluate(insert.format("'td, th { max-width: 20px; overflow-wrap: anywhere }'"))
        assert tab.evaluate(PROBE)["broken"] != []


def test_messages_that_the_page_logs_are_seen(browser: Browser, page: Path) -> None:
    """An error, a message, and what the content policy refuses."""
    with open_page(browser, page, 1280) as tab:
        tab.evaluate("setTimeout(() => { throw new Error('an error') })")
        tab.evaluate("console.log('a message')")
        tab.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1/'}))")
        for text in ("an error", "a message", "Content Security Policy"):
            while not any(text in one for one in tab.logged):
                browser.wait_for_event()


def test_a_chart_of_few_stacks_keeps_the_size_of_its_letters(
    browser: Browser, tmp_path: Path
) -> None:
    """One setting of two stacks is one chart, which has the whole row."""
    world = World(sizes=(14,), loads=(users(16),), repeats=3)
    page = write_page(write_run(tmp_path / "run", trials(world)))
    with open_page(browser, page, 1200) as tab:
        scales = tab.evaluate(
            "[...document.querySelectorAll('.charts svg')]"
            ".map(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
        )
    assert len(scales) == 1
    assert 0.9 <= scales[0] <= 1.31


def test_a_table_that_scrolls_shows_it(browser: Browser, tmp_path: Path) -> None:
    """Each end that has more is shaded: the shade stays where it is, and what covers it at an end
    of the table moves with the table."""
    page = write_page(write_run(tmp_path / "run", trials(World(sizes=(14,), repeats=2))))
    with open_page(browser, page, 360) as tab:
        styles = tab.evaluate(
            "[...document.querySelectorAll('.scroll')].map(one => getComputedStyle(one))"
            ".map(one => [one.backgroundAttachment, one.backgroundImage])"
        )
    assert styles
    for attachment, image in styles:
        assert attachment == "local, local, scroll, scroll"
        assert image.count("linear-gradient") == 4
