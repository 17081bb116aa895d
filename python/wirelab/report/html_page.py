"""One HTML file that opens offline, runs nothing and loads nothing.

The reports of runs, studies and wrapped tools share one template and one style. All
text on it is escaped; pictures are what :class:`Picture` has proven harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from wirelab.format.numbers import sanitize
from wirelab.report.charts.stack_style import Entry
from wirelab.report.section import WORD_MAX, Picture, Section, jointed, longest_word


@dataclass(frozen=True)
class Placed:
    """A section with an anchor of its own on the page."""

    section: Section
    anchor: str


@dataclass(frozen=True)
class HtmlPage:
    """Everything that stands on it."""

    title: str
    sections: Sequence[Section]
    kind: str = "report"
    """What it is, in a word or two, above the title."""
    about: str = ""
    facts: Sequence[tuple[str, str]] = ()
    """Names and values at its head."""
    legend: Sequence[Entry] = ()
    """Of the stacks; shown where a section asks for it."""

    def html(self) -> str:
        """The file's text; the same page gives the same bytes."""
        environment = Environment(
            loader=PackageLoader("wirelab.report", "."),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["sanitize"] = sanitize
        environment.filters["drawn"] = _drawn
        environment.filters["unbroken"] = _unbroken
        environment.filters["jointed"] = _jointed
        return environment.get_template("page.html.j2").render(
            style=Markup((Path(__file__).parent / "page.css").read_text(encoding="utf-8")),
            kind=self.kind,
            title=self.title,
            about=self.about,
            facts=self.facts,
            legend=self.legend,
            sections=_placed(self.sections),
        )


def _placed(sections: Sequence[Section]) -> list[Placed]:
    """Anchors that are unique on the page."""
    seen: dict[str, int] = {}
    placed = []
    for section in sections:
        count = seen[section.anchor] = seen.get(section.anchor, 0) + 1
        anchor = section.anchor if count == 1 else f"{section.anchor}-{count}"
        placed.append(Placed(section, anchor))
    return placed


def _drawn(picture: Picture) -> Markup:
    """The SVG, which :class:`Picture` has proven harmless, hidden from screen readers in
    favour of the words next to it."""
    svg = picture.svg[picture.svg.index("<svg") :]
    return Markup(svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1))


def _unbroken(text: str) -> bool:
    """True for a text with a word so long that it must be broken somewhere."""
    return longest_word(text) > WORD_MAX


def _jointed(text: str) -> Markup:
    """The text, escaped, with leave to end a line where its parts meet."""
    return Markup("<wbr>").join(escape(part) for part in jointed(sanitize(text)))
