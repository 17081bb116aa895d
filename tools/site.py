"""The documentation site in ``build/site``: ``python -m tools.site``, which ``make docs`` runs.

The site shows the Markdown files of the repository, which are written for a repository browser.
This program copies them to ``build/pages`` and changes what differs on a site: pages outside
``docs/`` get a place under ``repository/``, links lead to the places of their targets, and nested
lists get the indentation that Python-Markdown demands. Entries ``folder/*`` of the navigation in
``site.yml`` become the pages of the folder. Zensical then builds the site in strict mode, without
a network.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tools import changelog

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "site.yml"
BUILD = (sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file")
OUTSIDE = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "action/README.md",
    "bench/README.md",
    "contracts/**/*.md",
    "crates/*/README.md",
    "experiments/README.md",
    "services/*/README.md",
    "studies/**/README.md",
)
"""Pages outside ``docs/`` that the site has. The start page takes the place of README.md."""
CHANGELOG = "repository/changelog.md"
SOURCE_BYTES_MAX = 200_000
"""Longer files are not shown as a page."""
CODE = r"^(?P<indent> *)(?P<fence>```+|~~~+).*?^(?P=indent)(?P=fence)[^\S\n]*$"
SPAN = r"(?P<span>`+)(?!`).+?(?<!`)(?P=span)(?!`)"
LINK = r"\]\((?P<target>[^)\s]+)\)"
MARKUP = re.compile(f"{CODE}|{SPAN}|{LINK}", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r" *(?:[-*]|\d+\.) ")
BLOCK = re.compile(r"(?:[-*]|\d+\.) |\|")
FENCE = re.compile(r" *(```+|~~~+)")


def stage(build: Path) -> Path:
    """Writes the pages and the configuration of the site into a folder. Returns the path of the
    configuration. Raises :class:`OSError`."""
    pages = build / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(
        DOCS, pages, ignore=shutil.ignore_patterns("__pycache__", "report.html", ".lock")
    )
    for page in _pages():
        text = page.read_text(encoding="utf-8")
        _write(pages / _place(page), nest_lists(resolve_links(text, page, _place(page))))
    text = nest_lists(resolve_links(_changelog(), ROOT / changelog.PAGE, CHANGELOG))
    _write(pages / CHANGELOG, text)
    for target in sorted(_find_linked_sources()):
        _write(pages / _place(target), _source(target))
    _write(pages / "llms.txt", _llms())
    written = build / "mkdocs.yml"
    _write(written, yaml.safe_dump(_configuration(), allow_unicode=True, sort_keys=False))
    return written


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _configuration() -> dict[str, Any]:
    """site.yml, with the pages of the site in its navigation."""
    content: dict[str, Any] = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    named = set(_strings(content["nav"]))
    nav = _expand(content["nav"], [_place(page) for page in _pages()], named)
    return {**content, "nav": nav, "docs_dir": "pages", "site_dir": "site"}


def resolve_links(markdown: str, origin: Path, source: str) -> str:
    """The text of the page ``source`` of the site, with the links of the file ``origin`` changed
    to places on the site. Code stays as it is."""

    def replace_link(match: re.Match[str]) -> str:
        if match["target"] is None:
            return match[0]
        path, hash_sign, anchor = match["target"].partition("#")
        target = _target(origin, path)
        if target is None:
            return match[0]
        place = posixpath.relpath(_place(target), posixpath.dirname(source))
        return f"]({place}{hash_sign}{anchor})"

    return MARKUP.sub(replace_link, markdown)


def nest_lists(markdown: str) -> str:
    """As Python-Markdown reads it: what is nested in a list is indented by four columns per level
    instead of two or three, and an empty line precedes a list or a table."""
    return "\n".join(_nest_lines(markdown.split("\n")))


def _nest_lines(lines: Iterable[str]) -> Iterator[str]:
    in_list, fence, shift, before = False, "", 0, ""
    for line in lines:
        opening = FENCE.match(line)
        if fence:
            yield " " * shift + line if line else line
            if opening and opening[1] == fence:
                fence, before = "", line
            continue
        columns = len(line) - len(line.lstrip(" "))
        if line and not columns:
            in_list = ITEM.match(line) is not None
        nested_line = in_list and columns >= 2
        shift = max(0, _columns(columns) - columns) if nested_line else 0
        if before and not nested_line and BLOCK.match(line) and not BLOCK.match(before):
            yield ""
        if opening:
            fence = opening[1]
        yield " " * shift + line if line else line
        before = line if not nested_line else "- "


def _columns(columns: int) -> int:
    """Four per level: levels begin at two or three columns, at four to six, and after that."""
    return 4 * (1 if columns < 4 else 2 if columns < 7 else 3)


def _pages() -> list[Path]:
    """Every Markdown file that the site has."""
    outside = (page for pattern in OUTSIDE for page in ROOT.glob(pattern))
    return sorted([*DOCS.rglob("*.md"), *outside])


def _target(origin: Path, path: str) -> Path | None:
    """The file or folder of the repository that a link names; None for any other link."""
    if not path or "://" in path or path.startswith(("mailto:", "/")):
        return None
    target = (origin.parent / path).resolve()
    if not target.is_relative_to(ROOT) or not target.exists():
        return None
    if target == ROOT / "README.md":
        return DOCS / "README.md"
    readme = target / "README.md"
    return readme if readme in _pages() else target


def _place(target: Path) -> str:
    """Where a file or a folder is among the sources of the site."""
    path = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        return f"repository/files/{path}/index.md"
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    return f"repository/{path}" if target.suffix == ".md" else f"repository/files/{path}.md"


def _find_linked_sources() -> set[Path]:
    """The folders, and the files outside ``docs/`` that are not pages, that some page links to."""
    pages = set(_pages())
    texts = [(page, page.read_text(encoding="utf-8")) for page in pages]
    texts.append((ROOT / "CHANGELOG.md", _changelog()))
    found = {
        target
        for page, text in texts
        for match in MARKUP.finditer(text)
        if match["target"] and (target := _target(page, match["target"].partition("#")[0]))
    }
    return {
        target for target in found - pages if target.is_dir() or not target.is_relative_to(DOCS)
    }


def _source(target: Path) -> str:
    """A page that shows a file, or the list of the files of a folder."""
    title = f"# {target.relative_to(ROOT).as_posix()}\n\n"
    if target.is_dir():
        here = posixpath.dirname(_place(target))
        return title + "".join(
            f"- {_entry(file, here)}\n" for file in sorted(target.iterdir()) if file.is_file()
        )
    text = target.read_text(encoding="utf-8")
    if len(text) > SOURCE_BYTES_MAX:
        raise ValueError(f"{target} is too long for a page of the site: remove the link to it")
    language = target.suffix.removeprefix(".").replace("cff", "yaml")
    return f"{title}~~~~~~ {language}\n{text.rstrip()}\n~~~~~~\n"


def _entry(file: Path, here: str) -> str:
    """A link to the file where the site has it, else its name."""
    if not file.is_relative_to(DOCS):
        return f"`{file.name}`"
    return f"[{file.name}]({posixpath.relpath(_place(file), here)})"


def _changelog() -> str:
    """CHANGELOG.md with the changes that are not released yet above it."""
    page = ROOT / changelog.PAGE
    text = page.read_text(encoding="utf-8") if page.exists() else changelog.HEAD
    found = changelog.fragments(ROOT / changelog.FOLDER)
    parts = ["## Not released yet\n"] if found else []
    for kind in changelog.Kind:
        items = [item for one in found if one.kind is kind for item in one.items()]
        if items:
            parts.append("\n".join((f"### {kind.value.capitalize()}\n", *items, "")))
    head, mark, history = text.partition("\n## ")
    return "\n".join((head, "", *parts)) + mark + history


def _llms() -> str:
    """llms.txt with links to the pages of the site."""
    origin = ROOT / "llms.txt"
    text = resolve_links(origin.read_text(encoding="utf-8"), origin, origin.name)
    return re.sub(r"(?:README|index)\.md(?=[#)])|(?<=\w)\.md(?=[#)])", _html, text)


def _html(match: re.Match[str]) -> str:
    return ".html" if match[0] == ".md" else "index.html"


def _strings(entries: Any) -> Iterator[str]:
    """Every page that a part of the navigation names."""
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, dict):
        for value in entries.values():
            yield from _strings(value)
    else:
        for entry in entries:
            yield from _strings(entry)


def _expand(entries: list[Any], pages: list[str], named: set[str]) -> list[Any]:
    """The navigation with pages in place of ``folder/*``; adds these pages to ``named``."""
    result: list[Any] = []
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            more = [page for page in pages if page.startswith(entry[:-1]) and page not in named]
            named.update(more)
            result += more
        elif isinstance(entry, dict):
            result.append(
                {
                    title: _expand(value, pages, named) if isinstance(value, list) else value
                    for title, value in entry.items()
                }
            )
        else:
            result.append(entry)
    return result


def main(build: Path) -> int:
    """Builds the site in ``build/site``. Returns the exit code of Zensical; 1 after warnings."""
    configuration = stage(build)
    # A page that was removed would stay in the site of an earlier build.
    shutil.rmtree(build / "site", ignore_errors=True)
    return subprocess.run([*BUILD, str(configuration)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(ROOT / "build"))
