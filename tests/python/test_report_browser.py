"""The page in a real browser: silent, inside its window, and no text over other text."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.python import test_report_runtime as runtime
from tests.python import test_wrap_page as wrapped
from tests.python.synthetic_packets import captured, dissected
from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    trials,
    users,
    write_reproduction,
    write_run,
)
from wirelab.report.page import write_page
from wirelab.report.section import WORD_MAX
from wirelab.study import reproduction
from wirelab.study import sections as study_page
from wirelab.trial import dissected as document
from wirelab.trial.record import GroupResult

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium in PATH: install Debian's chromium to run these"
)

LEVELS = (1, 10, 50, 100, 400)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
)

PROBE = r"""
<script>
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
parent.postMessage(JSON.stringify(seen), "*");
</script>
"""

# A browser's window has a least width above that of a phone; a frame has not.
FRAME = """<!doctype html><meta charset="utf-8"><script>
onmessage = event => document.documentElement.setAttribute("data-seen", event.data);
</script><iframe src="probed.html" style="border:0;width:WIDTHpx;height:2000px"></iframe>
"""


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


def captured_page(folder: Path) -> Path:
    """The page of a run over a link, with packets, findings and bytes."""
    every = [captured(stack, order) for order in range(2) for stack in (REST, GRPC)]
    every.append(captured(REST, 3, drops=7, device_drops={"forward": 1, "backward": 2}))
    run = write_run(folder, every)
    for one in every:
        file = run / "trials" / one.id / "dissection-client.json"
        file.write_text(document.text(dissected()), encoding="utf-8")
    return write_page(run)


def runtime_page(folder: Path) -> Path:
    """The page of a run with heap, GC pauses and threads over time."""
    every = [runtime.sampled(stack, repeat, 0.05) for repeat in range(3) for stack in (REST, GRPC)]
    return write_page(runtime.write_sampled_run(folder, every))


def wrap_page_of(folder: Path) -> Path:
    """The page of a wrapped tool."""
    folder.mkdir()
    file = folder / "report.html"
    file.write_text(wrapped.html(wrapped.measured(dissected())), encoding="utf-8")
    return file


@pytest.fixture(
    scope="module", params=[run_page, study_page_of, captured_page, runtime_page, wrap_page_of]
)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of page."""
    made: Path = request.param(tmp_path_factory.mktemp("browser") / "run")
    return made


def browse(path: Path, width: int, profile: Path) -> tuple[str, str]:
    """The page's elements after it was laid out, and what the browser logged."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={width},2000",
            "--virtual-time-budget=10000",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, done.stderr


def test_console_is_silent(page: Path, tmp_path: Path) -> None:
    """The page as it is written logs nothing, with its content policy in force."""
    shown, logged = browse(page, 1280, tmp_path)
    assert "</main>" in shown
    assert [line for line in logged.splitlines() if "CONSOLE" in line] == []


def seen_at(page: Path, width: int, tmp_path: Path) -> dict[str, Any]:
    """What the probe saw; the probe needs the content policy out of its way."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    copy = tmp_path / "probed.html"
    probe = PROBE.replace("WORD_MAX", str(WORD_MAX))
    copy.write_text(text.replace("</body>", probe + "</body>"), encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    shown, _ = browse(frame, 1400, tmp_path / "profile")
    found = re.search(r'data-seen="([^"]*)"', shown)
    assert found is not None, "the probe did not run"
    seen: dict[str, Any] = json.loads(html.unescape(found[1]))
    return seen


@pytest.mark.parametrize("width", [1200, 400, 360])
def test_layout(page: Path, width: int, tmp_path: Path) -> None:
    """Laptop and phone: nothing scrolls sideways, no word is broken in a table, no label is
    clipped, no text stands over text."""
    seen = seen_at(page, width, tmp_path)
    assert seen["width"] == width
    assert seen["over"] <= 0
    assert seen["outside"] == []
    assert seen["sideways"] == []
    assert seen["broken"] == []
    assert seen["clipped"] == []
    assert seen["overlaps"] == []


def test_the_probe_can_fail(page: Path, tmp_path: Path) -> None:
    """A page with something too wide is found out, within a table and without."""
    broken = tmp_path / "broken.html"
    wide = '<p style="width:3000px">wide</p></body>'
    broken.write_text(page.read_text(encoding="utf-8").replace("</body>", wide), encoding="utf-8")
    assert seen_at(broken, 390, tmp_path)["over"] > 0
    text = page.read_text(encoding="utf-8")
    broken.write_text(text.replace("</style>", "td{min-width:400px}</style>", 1), encoding="utf-8")
    assert seen_at(broken, 1280, tmp_path)["sideways"] != []
    narrow = "td,th{max-width:20px;overflow-wrap:anywhere}</style>"
    broken.write_text(text.replace("</style>", narrow, 1), encoding="utf-8")
    assert seen_at(broken, 1280, tmp_path)["broken"] != []
