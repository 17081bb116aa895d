"""`wirelab browse` in a real browser: clicks, keys, runs that grow while the page is open."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.browse.test_browse import append, hold_lock
from tests.python.chromium import Browser, Tab, needs_chromium
from tests.python.hostile_runs import SLOWER, SMALL, sessions_of_day, write_hostile, write_run
from tests.python.synthetic_run import World, trials, users
from wirelab.browse.server import BrowseServer, listen
from wirelab.browse.site import Site

pytestmark = needs_chromium

CONTRAST_MIN = 4.5
"""Of text (WCAG 2.2, 1.4.3, level AA)."""
TARGET_PX_MIN = 24
"""Of what is clicked (WCAG 2.2, 2.5.8, level AA)."""
LOOK = """
(() => {
  const light = text => {
    const parts = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map(one => one / 255)
      .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = node => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const seen = {over: document.documentElement.scrollWidth - innerWidth, sideways: [],
                pale: [], small: [], outside: [], unnamed: []};
  for (const one of document.querySelectorAll(".scroll"))
    if (one.scrollWidth > one.clientWidth) seen.sideways.push(one.getAttribute("aria-label"));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = texts.nextNode();) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(".spoken, script, style")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.right > innerWidth + 0.5) seen.outside.push(node.data.trim().slice(0, 40));
    const pair = [light(getComputedStyle(parent).color), light(ground(parent))].sort();
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (contrast < CONTRAST) seen.pale.push([node.data.trim().slice(0, 40), contrast]);
  }
  for (const one of document.querySelectorAll("button, .choice:has(input)")) {
    const box = one.getBoundingClientRect();
    if (Math.min(box.width, box.height) < TARGET) seen.small.push(one.outerHTML);
  }
  for (const one of document.querySelectorAll("a, button, input"))
    if (!(one.textContent || one.closest("label")?.textContent || "").trim())
      seen.unnamed.push(one.outerHTML);
  return seen;
})()
""".replace("CONTRAST", str(CONTRAST_MIN)).replace("TARGET", str(TARGET_PX_MIN))
GOOD = {"over": 0, "sideways": [], "pale": [], "small": [], "outside": [], "unnamed": []}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A page that asks no server after the test."""
    made = browser.open()
    yield made
    made.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BrowseServer]:
    """A server of two runs of one experiment."""
    root = tmp_path / "runs"
    write_run(root / "first", trials(SMALL), sessions=sessions_of_day(1))
    write_run(root / "second", trials(SLOWER), sessions=sessions_of_day(2))
    with listen(Site(root), 0) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def root_of(server: BrowseServer) -> Path:
    """The folder that it serves."""
    return server.site._root


def open_page(tab: Tab, url: str, width: int = 1280, scheme: str = "light") -> None:
    """Opens an address in a window of that width."""
    tab.resize(width)
    tab.prefer(scheme)
    tab.open(url)


def box_of(name: str) -> str:
    """The check box in the row of that run, as a selector."""
    return f'tr:has(a[data-name="{name}"]) input'


def mark_rows(tab: Tab) -> None:
    """Marks the links of the rows with their texts, so that selectors can name them."""
    tab.evaluate(
        "document.querySelectorAll('tbody th a').forEach(a => a.dataset.name = a.textContent)"
    )


def test_two_runs_are_compared_by_clicks(tab: Tab, server: BrowseServer) -> None:
    open_page(tab, server.url)
    mark_rows(tab)
    for name in ("first", "second"):
        tab.click(box_of(name))
    tab.click("button")
    tab.wait("location.pathname === '/compare' && document.readyState === 'complete'")
    assert tab.evaluate("document.querySelector('h2').textContent") == "second over first"
    verdicts = tab.evaluate(
        "[...document.querySelectorAll('.verdict')].map(one => one.textContent)"
    )
    assert "higher" in verdicts
    tab.click("nav li:nth-child(2) a")
    tab.wait("document.querySelector('h2')?.textContent === 'first over second'")
    tab.click("header .kind a")
    tab.wait("location.pathname === '/' && document.readyState === 'complete'")
    assert tab.logged == []


def test_the_button_without_two_runs_states_what_to_do(tab: Tab, server: BrowseServer) -> None:
    open_page(tab, server.url)
    tab.click("button")
    tab.wait("location.pathname === '/compare' && document.readyState === 'complete'")
    assert "Choose at least two" in tab.evaluate("document.querySelector('main').textContent")


def test_the_keyboard_is_enough(tab: Tab, server: BrowseServer) -> None:
    """Tab reaches the button, the boxes and the links in their order; Space and Enter use them."""
    open_page(tab, server.url)
    focus = "document.activeElement.name || document.activeElement.textContent"
    reached = []
    chosen = 0
    for _ in range(20):
        tab.press("Tab")
        if tab.evaluate("document.activeElement === document.body"):
            break
        reached.append(tab.evaluate(focus))
        outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached
        if reached[-1] == "run":
            tab.press("Space")
            chosen += 1
    assert chosen == 2
    assert {"second", "first", "Compare the chosen runs"} <= set(reached)
    tab.evaluate("document.querySelector('button').focus()")
    tab.press("Enter")
    tab.wait("location.pathname === '/compare' && document.readyState === 'complete'")


def test_a_report_reacts_in_an_origin_of_its_own(tab: Tab, server: BrowseServer) -> None:
    open_page(tab, server.url)
    tab.click("tbody td a")
    tab.wait("location.pathname.startsWith('/report/') && document.readyState === 'complete'")
    assert tab.evaluate("document.querySelector('h1').textContent") == "synthetic"
    assert tab.evaluate("self.origin") == "null"
    before = tab.evaluate("document.documentElement.dataset.theme ?? ''")
    tab.evaluate(
        "[...document.querySelectorAll('button')].find(b => /Theme/.test(b.textContent)).click()"
    )
    assert tab.evaluate("document.documentElement.dataset.theme ?? ''") != before
    assert tab.logged == []


def test_an_open_page_follows_a_run_to_its_report(tab: Tab, server: BrowseServer) -> None:
    """A run that starts while the list is open appears there. Its page shows each new trial, and
    becomes the report."""
    every = trials(SMALL)
    open_page(tab, server.url)
    folder = write_run(
        root_of(server) / "growing", [], trials_planned=len(every), sessions=sessions_of_day(3)
    )
    with hold_lock(folder):
        text = "document.querySelector('tbody tr')?.textContent.replace(/\\s+/g, ' ') ?? ''"
        tab.wait(f"({text}).includes('under way')")
        assert tab.evaluate(text).split()[:1] == ["compare"]
        append(folder, every[:1])
        tab.wait(f"({text}).includes('1 of 12')")
        tab.click("tbody th a")
        tab.wait("document.querySelector('progress')?.value === 1")
        (folder / "trials" / "the-next-one").mkdir(parents=True)
        for done in range(2, 6):
            append(folder, every[done - 1 : done])
            tab.wait(f"document.querySelector('progress').value === {done}")
        rows = "document.querySelectorAll('[data-field=cells] tr').length"
        points = {json.dumps(one.point.to_json(), sort_keys=True) for one in every[:5]}
        tab.wait(f"{rows} === {len(points)}")
        shown = tab.evaluate("document.querySelector('main').textContent")
        assert "5 of 12 trials" in shown
        assert "the-next-one" in shown
        assert " left" in shown
        assert tab.evaluate(LOOK) == GOOD
        append(folder, every[5:])
        tab.wait("document.querySelector('progress').value === 12")
    tab.wait("location.pathname.startsWith('/report/') && document.readyState === 'complete'")
    assert tab.evaluate("document.querySelector('h1').textContent") == "synthetic"
    assert tab.logged == []


def test_an_interrupted_run_and_a_server_that_ended_are_shown(
    tab: Tab, server: BrowseServer
) -> None:
    every = trials(SMALL)
    folder = write_run(
        root_of(server) / "cut", every[:3], trials_planned=12, sessions=sessions_of_day(3)
    )
    with hold_lock(folder):
        open_page(tab, server.url)
        tab.click("tbody th a")
        tab.wait("document.querySelector('main')?.dataset.status === 'under way'")
    tab.wait("document.querySelector('main')?.dataset.status === 'interrupted'")
    assert "3 of 12 trials are done" in tab.evaluate("document.body.textContent")
    tab.open(server.url)
    server.shutdown()
    server.server_close()
    notice = "document.querySelector('[data-field=notice]')"
    tab.wait(f"!{notice}.hidden")
    assert "does not answer" in tab.evaluate(f"{notice}.textContent")


def test_a_choice_survives_a_change_of_the_list(tab: Tab, server: BrowseServer) -> None:
    open_page(tab, server.url)
    tab.click("tbody input")
    write_run(root_of(server) / "third", trials(SMALL)[:4], sessions=sessions_of_day(3))
    notice = "document.querySelector('[data-field=notice]')"
    tab.wait(f"{notice}.textContent.includes('The list has changed')")
    assert tab.evaluate("document.querySelector('tbody input').checked")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_layout_and_contrast(
    width: int, scheme: str, tab: Tab, server: BrowseServer, tmp_path: Path
) -> None:
    """Nothing scrolls sideways, text is readable, targets are large enough, also with hostile
    names and long stacks."""
    stacks = ("rest@go?codec=text&connection=close&end_of_message=chunked", "rest@go?codec=text")
    world = World(stacks, (14, 3_000_000), tuple(map(users, (1, 400))), repeats=2)
    keys = []
    for name, day in (("long-1", 4), ("long-2", 5)):
        write_run(root_of(server) / name, trials(world), sessions=sessions_of_day(day))
    write_hostile(root_of(server))
    open_page(tab, server.url, width, scheme)
    tab.wait("!document.querySelector('.unread [data-status=\"reading…\"]')")
    assert tab.evaluate(LOOK) == GOOD
    mark_rows(tab)
    for name in ("long-1", "long-2", "damaged/no-trial"):
        keys.append(tab.evaluate(f"document.querySelector('[data-name=\"{name}\"]').pathname")[5:])
    for target in (
        *(f"run/{key}" for key in keys),
        f"compare?run={keys[0]}&run={keys[1]}",
        "nosuch",
    ):
        tab.open(server.url + target)
        assert tab.evaluate(LOOK) == GOOD, target
    assert [one for one in tab.logged if "404" not in one] == []


def test_the_look_can_fail(tab: Tab, server: BrowseServer) -> None:
    open_page(tab, server.url)
    tab.evaluate(
        "document.querySelector('h1').style.color = '#999';"
        "document.querySelector('h1').style.width = '3000px';"
        "document.querySelector('button').style.minHeight = '8px';"
        "document.querySelector('button').style.height = '8px';"
        "document.querySelector('tbody a').textContent = '';"
    )
    seen = tab.evaluate(LOOK)
    assert seen["over"] > 0
    assert seen["pale"]
    assert seen["small"]
    assert seen["unnamed"]
