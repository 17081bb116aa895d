"""The documentation site in a real browser, at the width of a laptop and of a phone, in light and
dark: nothing scrolls sideways, texts have the contrast of WCAG 2.1 AA, and nothing is loaded from
elsewhere."""

from __future__ import annotations

import html
import json
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests import site_pages
from tests.python.test_report_browser import CHROMIUM, FLAGS

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no chromium in PATH: install Debian's chromium to run these"
    ),
]
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
FRAME = "/frame.html"
"""Where the server has a page that looks at the others; the query is its request as JSON."""

PROBE = r"""<!doctype html><meta charset="utf-8"><title>frame</title>
<body style="margin:0"><script>
const wanted = JSON.parse(decodeURIComponent(location.search.slice(1)));
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
function contrast(element, view) {
  const layers = [];
  let opacity = 1;
  for (let e = element; e; e = e.parentElement) {
    const style = view.getComputedStyle(e);
    opacity *= Number(style.opacity);
    layers.push(colour(style.backgroundColor));
  }
  const ground = layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  const [r, g, b, a] = colour(view.getComputedStyle(element).color);
  const [x, y] = [luminance(over([r, g, b, a * opacity], ground)), luminance(ground)];
  return [(Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05), opacity];
}
function look(view, doc) {
  const seen = {width: view.innerWidth, pale: [], outside: [], texts: 0,
                over: doc.documentElement.scrollWidth - view.innerWidth,
                loads: view.performance.getEntriesByType("resource").map(e => e.name)};
  const texts = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  for (let node; node = texts.nextNode();) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, noscript, template, svg")) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const range = doc.createRange();
    range.selectNodeContents(node);
    if (!range.getClientRects().length) continue;
    const [ratio, opacity] = contrast(element, view);
    if (opacity < 0.01) continue;
    seen.texts += 1;
    const style = view.getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      seen.pale.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ` +
                     node.data.trim().slice(0, 30));
  }
  for (const part of doc.querySelectorAll("article :is(h1, h2, h3, p, li)")) {
    const box = part.getBoundingClientRect();
    if (!part.closest("table") && box.width && box.right > view.innerWidth + 0.5)
      seen.outside.push(part.textContent.slice(0, 40));
  }
  return seen;
}
const pause = time => new Promise(done => setTimeout(done, time));
async function visit(page, scheme) {
  const frame = document.createElement("iframe");
  frame.style = `border:0;width:${wanted.width}px;height:2000px`;
  frame.src = "/" + page;
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  const doc = frame.contentDocument;
  const still = doc.createElement("style");
  still.textContent =
    "*, ::before, ::after {transition: none !important; animation: none !important}" + wanted.style;
  doc.head.append(still);
  doc.body.setAttribute("data-md-color-scheme", scheme);
  await pause(500);
  const seen = look(frame.contentWindow, doc);
  frame.remove();
  return seen;
}
(async () => {
  const seen = [];
  for (const page of wanted.pages)
    for (const scheme of wanted.schemes)
      seen.push({page, scheme, ...await visit(page, scheme)});
  document.documentElement.setAttribute("data-seen", JSON.stringify(seen));
})().catch(error => document.documentElement.setAttribute("data-failed", String(error.stack)));
</script>
"""


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, and the page that looks at them."""

    def do_GET(self) -> None:
        if not self.path.startswith(FRAME):
            super().do_GET()
            return
        body = PROBE.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The browser's requests are no output of the tests."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site on a server of this machine."""
    folder = site_pages.built(tmp_path_factory.mktemp("site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _seen(
    address: str, width: int, folder: Path, pages: Sequence[str] = PAGES, style: str = ""
) -> list[dict[str, Any]]:
    """What the probe saw of each page, in light and in dark."""
    wanted = {"width": width, "pages": pages, "schemes": ["default", "slate"], "style": style}
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1400,2000",
            # Names of other machines are not resolved.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--virtual-time-budget=120000",
            "--dump-dom",
            f"{address}{FRAME}?{quote(json.dumps(wanted))}",
        ],
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    failed = re.search(r'data-failed="([^"]*)"', done.stdout)
    assert failed is None, html.unescape(failed[1])
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found is not None, "the probe did not end"
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    seen: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return seen


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_can_be_read(address: str, width: int, tmp_path: Path) -> None:
    seen = _seen(address, width, tmp_path)
    assert len(seen) == 2 * len(PAGES)
    pale = {f"{page['scheme']}: {text}" for page in seen for text in page["pale"]}
    assert not pale, "\n".join(sorted(pale))
    for page in seen:
        name = f"{page['page']}, {page['scheme']}"
        assert page["width"] == width, name
        assert page["texts"] > 10, name
        assert page["over"] <= 0, name
        assert page["outside"] == [], name
        assert page["loads"], name
        assert [one for one in page["loads"] if not one.startswith(address)] == [], name


def test_the_probe_can_fail(address: str, tmp_path: Path) -> None:
    """A page with pale texts and something too wide is found out, in light and in dark."""
    style = "article p {color: #888 !important; background: #777; width: 3000px}"
    for page in _seen(address, 390, tmp_path, ("start.html",), style):
        assert page["pale"] != []
        assert page["outside"] != []
