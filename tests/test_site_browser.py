"""The documentation site in a real browser, at the width of a laptop and of a phone, in light and
dark: nothing scrolls sideways, texts have the contrast of WCAG 2.1 AA, and nothing is loaded from
elsewhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests import site_pages
from tests.python.chromium import Browser, needs_chromium

pytestmark = [pytest.mark.timeout(600), needs_chromium]
PAGES = (
    "index.html",
    "start.html",
    "questions/which-protocol.html",
    "questions/slow-grpc.html",
    "questions/slower-pull-request.html",
    "questions/capture-waiting.html",
    "guide.html",
    "atlas.html",
    "reference/experiment.html",
    "studies/hamo2023.html",
    "repository/files/services/gaps.yaml.html",
)
SCHEMES = ("default", "slate")

PROBE = r"""((scheme, style) => {
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const known = new Map();
function colour(text) {
  if (!known.has(text)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(text, [r, g, b, a / 255]);
  }
  return known.get(text);
}
const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
function luminance(rgb) {
  const [r, g, b] = rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(element) {
  const layers = [];
  let opacity = 1;
  for (let e = element; e; e = e.parentElement) {
    const style = getComputedStyle(e);
    opacity *= Number(style.opacity);
    layers.push(colour(style.backgroundColor));
  }
  const ground = layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  const [r, g, b, a] = colour(getComputedStyle(element).color);
  const [x, y] = [luminance(over([r, g, b, a * opacity], ground)), luminance(ground)];
  return [(Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05), opacity];
}
function look() {
  const seen = {scheme, width: innerWidth, pale: [], outside: [], texts: 0,
                over: document.documentElement.scrollWidth - innerWidth,
                loads: performance.getEntriesByType("resource").map(e => e.name)};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = texts.nextNode();) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, noscript, template, svg")) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (!range.getClientRects().length) continue;
    const [ratio, opacity] = contrast(element);
    if (opacity < 0.01) continue;
    seen.texts += 1;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      seen.pale.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ` +
                     node.data.trim().slice(0, 30));
  }
  for (const part of document.querySelectorAll("article :is(h1, h2, h3, p, li)")) {
    const box = part.getBoundingClientRect();
    if (!part.closest("table") && box.width && box.right > innerWidth + 0.5)
      seen.outside.push(part.textContent.slice(0, 40));
  }
  return seen;
}
const still = document.createElement("style");
still.textContent =
  "*, ::before, ::after {transition: none !important; animation: none !important}" + style;
document.head.append(still);
document.body.setAttribute("data-md-color-scheme", scheme);
return new Promise(done => setTimeout(() => done(look()), 500));
})"""


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site."""

    def log_message(self, *_: object) -> None:
        """The browser's requests are not part of the output of the tests."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site on a server of this machine."""
    folder = site_pages.build_site(tmp_path_factory.mktemp("site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


def _read_page(browser: Browser, url: str, width: int, style: str = "") -> Iterator[dict[str, Any]]:
    """What the probe sees of a page, in light and in dark."""
    for scheme in SCHEMES:
        tab = browser.open(url, width, 2000)
        yield tab.evaluate(f"{PROBE}({json.dumps(scheme)}, {json.dumps(style)})")
        assert tab.logged == []
        tab.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_can_be_read(browser: Browser, address: str, width: int) -> None:
    pale = set()
    for page in PAGES:
        for seen in _read_page(browser, f"{address}/{page}", width):
            name = f"{page}, {seen['scheme']}"
            pale |= {f"{seen['scheme']}: {text}" for text in seen["pale"]}
            assert seen["width"] == width, name
            assert seen["texts"] > 10, name
            assert seen["over"] <= 0, name
            assert seen["outside"] == [], name
            assert seen["loads"], name
            assert [one for one in seen["loads"] if not one.startswith(address)] == [], name
    assert not pale, "\n".join(sorted(pale))


def test_cells_of_tables_are_below_their_headings(browser: Browser, address: str) -> None:
    """Also in the atlas, whose tables are wider than a phone."""
    tables = (Path(__file__).parent / "python/page_tables.js").read_text(encoding="utf-8")
    for page in ("atlas.html", "studies/hamo2023.html", "reference/experiment.html"):
        tab = browser.open(f"{address}/{page}", 1280)
        for width in (390, 1280, 1600):
            tab.resize(width)
            seen = tab.evaluate(tables)
            assert seen["tables"] > 0, page
            assert seen["misplaced"] == [], f"{page} at {width} px"
        tab.close()


def test_the_probe_can_fail(browser: Browser, address: str) -> None:
    """A page with pale texts and something too wide is found out, in light and in dark."""
    style = "article p {color: #888 !important; background: #777; width: 3000px}"
    for seen in _read_page(browser, f"{address}/start.html", 390, style):
        assert seen["pale"] != []
        assert seen["outside"] != []
