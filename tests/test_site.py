"""The documentation site: it builds without a warning, and everything in it leads somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from tests import site_pages
from tests.site_pages import Html, read
from tools import site

ROOT = Path(__file__).resolve().parent.parent
OTHER_MACHINE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
LEFTOVER = re.compile(r"\n[-*] \S|\n\d+\. \S|\|---|\]\(|\*\*\w|```")
"""Markdown that was not understood."""
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    return site_pages.build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Html]:
    """Every page of the site; the page for a missing page has addresses of a server."""
    return {path: read(path) for path in built.rglob("*.html") if path.name != "404.html"}


def test_every_markdown_page_is_a_page_of_the_site(built: Path, pages: dict[Path, Html]) -> None:
    found = {path.relative_to(built).as_posix() for path in pages}
    expected = {
        re.sub(r"(?:^|(?<=/))README\.md$", "index.md", path.relative_to(ROOT / "docs").as_posix())
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert {path.removesuffix(".md") + ".html" for path in expected} <= found
    assert {"repository/ARCHITECTURE.html", "repository/experiments/index.html"} <= found


def test_every_page_is_in_the_navigation(built: Path, pages: dict[Path, Html]) -> None:
    """Except those that show a file or a folder, to which some page links."""
    home = built / "index.html"
    linked = {(home.parent / urldefrag(link)[0]).resolve() for link in pages[home].links}
    files = built / "repository/files"
    assert [path for path in pages if path not in linked and files not in path.parents] == [], (
        "add them to the navigation of site.yml"
    )


def test_every_link_leads_to_a_page_and_a_place(pages: dict[Path, Html]) -> None:
    broken = [
        f"{path.name}: {link}"
        for path, page in pages.items()
        for link in page.links
        if not OTHER_MACHINE.match(link)
        and not link.startswith("mailto:")
        and not _leads_somewhere(path, link, pages)
    ]
    assert broken == []


def _leads_somewhere(path: Path, link: str, pages: dict[Path, Html]) -> bool:
    place, anchor = urldefrag(link)
    target = (path.parent / unquote(place)).resolve() if place else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    return not anchor or target not in pages or unquote(anchor) in pages[target].ids


def test_the_search_of_links_is_about_something(pages: dict[Path, Html]) -> None:
    start = next(path for path in pages if path.name == "start.html")
    assert sum(len(page.links) for page in pages.values()) > 1_000
    assert not _leads_somewhere(start, "nowhere.html", pages)
    assert not _leads_somewhere(start, "guide.html#nowhere", pages)
    assert _leads_somewhere(start, "guide.html#4-read-the-results", pages)


def test_nothing_is_loaded_from_another_machine(built: Path, pages: dict[Path, Html]) -> None:
    """Pages and style sheets name files of the site only."""
    loads = {load for page in pages.values() for load in page.loads}
    assert len(loads) > 3
    assert [load for load in loads if OTHER_MACHINE.match(load)] == []
    sheets = list(built.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        names = re.findall(r"""(?:url\(|@import )['"]?([^'")]+)""", text)
        assert [name for name in names if OTHER_MACHINE.match(name)] == [], sheet.name


def test_pages_are_accessible(pages: dict[Path, Html]) -> None:
    """A language, a title of its own, one main heading, no level left out, images with texts, and
    no identifier twice."""
    titles = [page.title for page in pages.values()]
    for path, page in pages.items():
        assert page.language == "en", path
        assert page.title, path
        assert page.headings.count(1) == 1, path
        steps = zip(page.headings, page.headings[1:], strict=False)
        assert [step for step in steps if step[1] > step[0] + 1] == [], path
        assert all(page.alternatives), path
        assert len(page.ids) == len(set(page.ids)), path
    assert len(titles) == len(set(titles))


def test_all_of_the_markdown_was_understood(pages: dict[Path, Html]) -> None:
    left = [
        f"{path.name}: <{element}> {text.strip()[:80]!r}"
        for path, page in pages.items()
        for element, text in page.texts
        if LEFTOVER.search(text)
    ]
    assert left == []


def test_llms_txt_names_pages_of_the_site(built: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (built / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 10
    assert [link for link in links if not (built / urldefrag(link)[0]).is_file()] == []


@pytest.mark.parametrize("link", ["nowhere.md", "guide.md#nowhere"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    configuration = site.stage(tmp_path)
    page = tmp_path / "pages/start.md"
    page.write_text(page.read_text(encoding="utf-8") + f"\n[x]({link})\n", encoding="utf-8")
    assert site_pages.build(configuration).returncode != 0


def test_make_docs_fails_with_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failing = (sys.executable, "-c", "raise SystemExit(1)")
    monkeypatch.setattr(site, "BUILD", failing)
    assert site.main(tmp_path) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n  - b\n  c\n\nd", "- a\n    - b\n    c\n\nd"),
        ("1. a\n   ```\n   x\n   ```", "1. a\n    ```\n    x\n    ```"),
        ("a:\n- b\n- c", "a:\n\n- b\n- c"),
        ("```\nx\n```\n| a |\n|---|", "```\nx\n```\n\n| a |\n|---|"),
        ("```\na:\n- b\n  - c\n```", "```\na:\n- b\n  - c\n```"),
        ("- a\n  - b\n    - c", "- a\n    - b\n        - c"),
    ],
)
def test_lists_are_indented_for_the_site(text: str, expected: str) -> None:
    assert site.nest_lists(text) == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("reference/commands.md", "reference/commands.md"),
        ("../README.md", "README.md"),
        ("../experiments/README.md#loads", "repository/experiments/README.md#loads"),
        ("../experiments", "repository/experiments/README.md"),
        ("../services/gaps.yaml", "repository/files/services/gaps.yaml.md"),
        ("examples/orders", "repository/files/docs/examples/orders/index.md"),
        ("images/ladder.svg", "images/ladder.svg"),
        ("#here", "#here"),
        ("https://example.org/a", "https://example.org/a"),
    ],
)
def test_links_lead_to_places_of_the_site(link: str, expected: str) -> None:
    made = site.resolve_links(
        f"[x]({link}) `[x](../README.md)`", ROOT / "docs/guide.md", "guide.md"
    )
    assert made == f"[x]({expected}) `[x](../README.md)`"
