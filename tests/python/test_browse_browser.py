"""`wirelab browse` in a real browser: clicks, keys, runs that grow while the page is open."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.chromium import Tab, tab
from tests.python.hostile_runs import SLOWER, SMALL, at, write_hostile, write_run
from tests.python.synthetic_run import World, trials, users
from tests.python.test_browse import append, under_way
from tests.python.test_report_browser import CHROMIUM
from wirelab.browse.server import BrowseServer, listen
from wirelab.browse.site import Site

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium in PATH: install Debian's chromium to run these"
)

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
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """One browser for all tests."""
    with tab(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BrowseServer]:
    """A server of two runs of one experiment."""
    root = tmp_path / "runs"
    write_run(root / "first", trials(SMALL), sessions=at(1))
    write_run(root / "second", trials(SLOWER), sessions=at(2))
    with listen(Site(root), 0) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def root_of(server: BrowseServer) -> Path:
    """The folder that it serves."""
    return server.site._root


def opened(browser: Tab, url: str, width: int = 1280, scheme: str = "light") -> None:
    """Opens an address in a new window, with an empty log."""
    # The page of an earlier test may still ask its server.
    browser.open("about:blank")
    browser.logged.clear()
    browser.window(width, scheme=scheme)
    browser.open(url)


def box_of(name: str) -> str:
    """The check box in the row of that run, as a selector."""
    return f'tr:has(a[data-name="{name}"]) input'


def mark_rows(browser: Tab) -> None:
    """Marks the links of the rows with their texts, so that selectors can name them."""
    browser.evaluate(
        "document.querySelectorAll('tbody th a').forEach(a => a.dataset.name = a.textContent)"
    )


def test_two_runs_are_compared_by_clicks(browser: Tab, server: BrowseServer) -> None:
    opened(browser, server.url)
    mark_rows(browser)
    for name in ("first", "second"):
        browser.click(box_of(name))
    browser.click("button")
    browser.wait("location.pathname === '/compare' && document.readyState === 'complete'")
    assert browser.evaluate("document.querySelector('h2').textContent") == "second over first"
    verdicts = browser.evaluate(
        "[...document.querySelectorAll('.verdict')].map(one => one.textContent)"
    )
    assert "higher" in verdicts
    browser.click("nav li:nth-child(2) a")
    browser.wait("document.querySelector('h2')?.textContent === 'first over second'")
    browser.click("header .kind a")
    browser.wait("location.pathname === '/' && document.readyState === 'complete'")
    assert browser.logged == []


def test_the_button_without_two_runs_states_what_to_do(browser: Tab, server: BrowseServer) -> None:
    opened(browser, server.url)
    browser.click("button")
    browser.wait("location.pathname === '/compare' && document.readyState === 'complete'")
    assert "Choose at least two" in browser.evaluate("document.querySelector('main').textContent")


def test_the_keyboard_is_enough(browser: Tab, server: BrowseServer) -> None:
    """Tab reaches the button, the boxes and the links in their order; Space and Enter use them."""
    opened(browser, server.url)
    focus = "document.activeElement.name || document.activeElement.textContent"
    reached = []
    chosen = 0
    for _ in range(20):
        browser.press("Tab")
        if browser.evaluate("document.activeElement === document.body"):
            break
        reached.append(browser.evaluate(focus))
        outline = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached
        if reached[-1] == "run":
            browser.press("Space")
            chosen += 1
    assert chosen == 2
    assert {"second", "first", "Compare the chosen runs"} <= set(reached)
    browser.evaluate("document.querySelector('button').focus()")
    browser.press("Enter")
    browser.wait("location.pathname === '/compare' && document.readyState === 'complete'")


def test_a_report_reacts_in_an_origin_of_its_own(browser: Tab, server: BrowseServer) -> None:
    opened(browser, server.url)
    browser.click("tbody td a")
    browser.wait("location.pathname.startsWith('/report/') && document.readyState === 'complete'")
    assert browser.evaluate("document.querySelector('h1').textContent") == "synthetic"
    assert browser.evaluate("self.origin") == "null"
    before = browser.evaluate("document.documentElement.dataset.theme ?? ''")
    browser.evaluate(
        "[...document.querySelectorAll('button')].find(b => /Theme/.test(b.textContent)).click()"
    )
    assert browser.evaluate("document.documentElement.dataset.theme ?? ''") != before
    assert browser.logged == []


def test_an_open_page_follows_a_run_to_its_report(browser: Tab, server: BrowseServer) -> None:
    """A run that starts while the list is open appears there. Its page shows each new trial, and
    becomes the report."""
    every = trials(SMALL)
    opened(browser, server.url)
    folder = write_run(root_of(server) / "growing", [], trials_planned=len(every), sessions=at(3))
    with under_way(folder):
        text = "document.querySelector('tbody tr')?.textContent.replace(/\\s+/g, ' ') ?? ''"
        browser.wait(f"({text}).includes('under way')")
        assert browser.evaluate(text).split()[:1] == ["compare"]
        append(folder, every[:1])
        browser.wait(f"({text}).includes('1 of 12')")
        browser.click("tbody th a")
        browser.wait("document.querySelector('progress')?.value === 1")
        (folder / "trials" / "the-next-one").mkdir(parents=True)
        for done in range(2, 6):
            append(folder, every[done - 1 : done])
            browser.wait(f"document.querySelector('progress').value === {done}")
        rows = "document.querySelectorAll('[data-field=cells] tr').length"
        points = {json.dumps(one.point.to_json(), sort_keys=True) for one in every[:5]}
        browser.wait(f"{rows} === {len(points)}")
        shown = browser.evaluate("document.querySelector('main').textContent")
        assert "5 of 12 trials" in shown
        assert "the-next-one" in shown
        assert " left" in shown
        assert browser.evaluate(LOOK) == GOOD
        append(folder, every[5:])
        browser.wait("document.querySelector('progress').value === 12")
    browser.wait("location.pathname.startsWith('/report/') && document.readyState === 'complete'")
    assert browser.evaluate("document.querySelector('h1').textContent") == "synthetic"
    assert browser.logged == []


def test_an_interrupted_run_and_a_server_that_ended_are_shown(
    browser: Tab, server: BrowseServer
) -> None:
    every = trials(SMALL)
    folder = write_run(root_of(server) / "cut", every[:3], trials_planned=12, sessions=at(3))
    with under_way(folder):
        opened(browser, server.url)
        browser.click("tbody th a")
        browser.wait("document.querySelector('main')?.dataset.status === 'under way'")
    browser.wait("document.querySelector('main')?.dataset.status === 'interrupted'")
    assert "3 of 12 trials are done" in browser.evaluate("document.body.textContent")
    browser.open(server.url)
    server.shutdown()
    server.server_close()
    notice = "document.querySelector('[data-field=notice]')"
    browser.wait(f"!{notice}.hidden")
    assert "does not answer" in browser.evaluate(f"{notice}.textContent")


def test_a_choice_survives_a_change_of_the_list(browser: Tab, server: BrowseServer) -> None:
    opened(browser, server.url)
    browser.click("tbody input")
    write_run(root_of(server) / "third", trials(SMALL)[:4], sessions=at(3))
    notice = "document.querySelector('[data-field=notice]')"
    browser.wait(f"{notice}.textContent.includes('The list has changed')")
    assert browser.evaluate("document.querySelector('tbody input').checked")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_layout_and_contrast(
    width: int, scheme: str, browser: Tab, server: BrowseServer, tmp_path: Path
) -> None:
    """Nothing scrolls sideways, text is readable, targets are large enough, also with hostile
    names and long stacks."""
    stacks = ("rest@go?codec=text&connection=close&end_of_message=chunked", "rest@go?codec=text")
    world = World(stacks, (14, 3_000_000), tuple(map(users, (1, 400))), repeats=2)
    keys = []
    for name, day in (("long-1", 4), ("long-2", 5)):
        write_run(root_of(server) / name, trials(world), sessions=at(day))
    write_hostile(root_of(server))
    opened(browser, server.url, width, scheme)
    browser.wait("!document.querySelector('.unread [data-status=\"reading…\"]')")
    assert browser.evaluate(LOOK) == GOOD
    mark_rows(browser)
    for name in ("long-1", "long-2", "damaged/no-trial"):
        keys.append(
            browser.evaluate(f"document.querySelector('[data-name=\"{name}\"]').pathname")[5:]
        )
    for target in (
        *(f"run/{key}" for key in keys),
        f"compare?run={keys[0]}&run={keys[1]}",
        "nosuch",
    ):
        browser.open(server.url + target)
        assert browser.evaluate(LOOK) == GOOD, target
    assert [one for one in browser.logged if "404" not in one] == []


def test_the_look_can_fail(browser: Tab, server: BrowseServer) -> None:
    opened(browser, server.url)
    browser.evaluate(
        "document.querySelector('h1').style.color = '#999';"
        "document.querySelector('h1').style.width = '3000px';"
        "document.querySelector('button').style.minHeight = '8px';"
        "document.querySelector('button').style.height = '8px';"
        "document.querySelector('tbody a').textContent = '';"
    )
    seen = browser.evaluate(LOOK)
    assert seen["over"] > 0
    assert seen["pale"]
    assert seen["small"]
    assert seen["unnamed"]
