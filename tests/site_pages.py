"""The documentation site, built for the tests, and its pages as the tests read them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools import site

ROOT = Path(__file__).resolve().parent.parent

VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"))
VOID |= {"source", "track", "wbr", "path", "circle", "rect", "use"}
"""Elements without an end tag, those of pictures included."""
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "use": "href",
    "image": "href",
}
"""Elements whose attribute names something that a browser loads."""
CODE = frozenset(("pre", "code", "script", "style"))


@dataclass
class Html:
    """What a page of the site contains."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    alternatives: list[str | None] = field(default_factory=list)
    """Texts of images."""
    texts: list[tuple[str, str]] = field(default_factory=list)
    """Element and text, without code."""
    language: str | None = None
    title: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Html()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        page = self.page
        if values.get("id"):
            page.ids.append(values["id"] or "")
        if tag == "a" and values.get("href"):
            page.links.append(values["href"] or "")
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            page.loads.append(values.get("href") or "")
        if values.get(LOADS.get(tag, "")):
            page.loads.append(values[LOADS[tag]] or "")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            page.headings.append(int(tag[1]))
        if tag == "img":
            page.alternatives.append(values.get("alt"))
        if tag == "html":
            page.language = values.get("lang")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "title" and "svg" not in self.open:
            self.page.title += data
        if not CODE.intersection(self.open):
            self.page.texts.append((inside, data))


def read(path: Path) -> Html:
    """A page. Raises :class:`OSError`."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.page


def build(configuration: Path) -> subprocess.CompletedProcess[str]:
    """Runs the builder. Skips the test where it is not installed; in CI that is a failure."""
    if importlib.util.find_spec("zensical") is None:
        reason = "zensical is not installed: `make setup` installs the group docs"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    command = (*site.BUILD, str(configuration))
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def build_site(folder: Path) -> Path:
    """The folder of the site, after a build without a warning."""
    done = build(site.stage(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"
