"""One HTML file that opens offline, loads nothing and runs only its own script.

The reports of runs, studies and wrapped tools share one template, one style and one script. All
text on it is escaped; pictures are what :class:`Picture` has proven harmless. The content policy
names the script by its hash, so that no other one runs. Without script the page shows all it has
but the interactive charts, of which it has static ones.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from wirelab.format.numbers import sanitize
from wirelab.report.charts.stack_style import COLOURS, Entry
from wirelab.report.section import WORD_MAX, Picture, Section, longest_word, split_at_joints

HEADS_MAX = 16
"""Columns whose heads page.css repeats on a phone."""


@dataclass(frozen=True)
class Placed:
    """A section with an anchor of its own on the page."""

    section: Section
    anchor: str


@dataclass(frozen=True)
class HtmlPage:
    """Everything that is on it."""

    title: str
    sections: Sequence[Section]
    kind: str = "report"
    """What it is, one or two words above the title."""
    about: str = ""
    facts: Sequence[tuple[str, str]] = ()
    """Names and values at its head."""
    legend: Sequence[Entry] = ()
    """Of the stacks; shown where a section asks for it."""
    data: Mapping[str, object] = field(default_factory=dict)
    """What the interactive charts draw; none of them where it is empty."""

    def html(self) -> str:
        """The file's text; the same page gives the same bytes."""
        environment = Environment(
            loader=PackageLoader("wirelab.report", "assets"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        script = _script(_INTERACTIVE if self.data else _PLAIN)
        environment.filters["sanitize"] = sanitize
        pictures = Pictures()
        environment.filters["drawn"] = pictures.draw
        environment.filters["heads"] = _heads
        environment.filters["unbroken"] = _unbroken
        environment.filters["jointed"] = _escape_joints
        environment.filters["coded"] = _escape_code
        return environment.get_template("page.html.j2").render(
            style=Markup(_text("page.css")),
            glyphs=pictures.glyphs,
            script=Markup(script),
            script_hash=_hash(script),
            data=_json(self.data) if self.data else "",
            answered=any(section.lead for section in self.sections),
            kind=self.kind,
            title=self.title,
            about=self.about,
            facts=self.facts,
            legend=self.legend,
            sections=_place(self.sections),
        )


def script_hashes() -> tuple[str, ...]:
    """The scripts of pages of this version, as a content policy names them."""
    return tuple(_hash(_script(parts)) for parts in (_INTERACTIVE, _PLAIN))


_PLAIN = ("page.js",)
_INTERACTIVE = ("charts.js", *_PLAIN)


def _script(parts: tuple[str, ...]) -> str:
    """In a scope of its own, so that no element's id is taken for one of its names."""
    return f'(() => {{\n"use strict";\n{"".join(map(_text, parts))}}})();\n'


def _text(name: str) -> str:
    """One of the files that make the page."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """As a content policy names a script: over the bytes of its element."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _json(data: Mapping[str, object]) -> Markup:
    """JSON that cannot end its element, whatever the strings in it hold."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _place(sections: Sequence[Section]) -> list[Placed]:
    """Anchors that are unique on the page."""
    seen: dict[str, int] = {}
    placed = []
    for section in sections:
        count = seen[section.anchor] = seen.get(section.anchor, 0) + 1
        anchor = section.anchor if count == 1 else f"{section.anchor}-{count}"
        placed.append(Placed(section, anchor))
    return placed


_INKS = {
    **{colour.lower(): f"c{at}" for at, colour in enumerate(COLOURS)},
    "#e4e4e4": "grid",
    "#666666": "axis",
    "#333333": "label",
    "#1b1b1b": "ink",
    "#5a5a5a": "soft",
    "#f3f3f3": "window",
    "#999999": "grey",
    "#bbbbbb": "open",
    "#ffffff": "paper",
}
"""Colours of pictures, and the variable of page.css that has a second one for dark pages."""
_INK = re.compile("|".join(_INKS), re.IGNORECASE)
_WORDS_OF_STACK = re.compile(r'(<g style="fill: var\(--)c')
"""Outlines of letters: their colours need more contrast than those of lines."""
_PREFIX = re.compile(r'id="(p[0-9a-f]{8})-')
_GLYPH = re.compile(r'<path id="p[0-9a-f]{8,}-(DejaVuSans[\w-]*)"([^>]*)/>')
_SHIFT = re.compile(r'transform="translate\(([\d.]+)(?: 0)?\)"')


class Pictures:
    """The pictures of one page, which share the outlines of their letters."""

    def __init__(self) -> None:
        self._glyphs: dict[str, str] = {}
        self._drawn: Counter[str] = Counter()

    def draw(self, picture: Picture) -> Markup:
        """The SVG, which :class:`Picture` has proven harmless, hidden from screen readers in
        favour of the words next to it, in the colours of the page."""
        svg = picture.svg[picture.svg.index("<svg") :]
        svg = svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
        svg = self._unique(svg)
        svg = _GLYPH.sub(self._collect_glyph, svg).replace("<defs></defs>", "")
        svg = re.sub(
            r'<use xlink:href="#p[0-9a-f]{8,}-(DejaVuSans[\w-]*)"', r'<use href="#\1"', svg
        )
        svg = _SHIFT.sub(r'x="\1"', svg)
        return Markup(_WORDS_OF_STACK.sub(r"\1t", _INK.sub(_variable, svg)))

    def glyphs(self) -> Markup:
        """The outlines that the pictures drawn so far refer to."""
        paths = (f'<path id="{name}"{shape}/>' for name, shape in self._glyphs.items())
        return Markup("".join(paths))

    def _unique(self, svg: str) -> str:
        """With ids of its own where the same picture is on the page already."""
        found = _PREFIX.search(svg)
        if found is None:
            return svg
        self._drawn[found[1]] += 1
        number = self._drawn[found[1]]
        return svg if number == 1 else svg.replace(found[1], f"{found[1]}{number}")

    def _collect_glyph(self, glyph: re.Match[str]) -> str:
        """Nothing, because the page has the outline once, for all pictures: its name consists of
        font and character."""
        self._glyphs[glyph[1]] = glyph[2]
        return ""


def _variable(ink: re.Match[str]) -> str:
    return f"var(--{_INKS[ink[0].lower()]})"


def _heads(columns: Sequence[str]) -> str:
    """The heads as strings of a style, for phones, where each value is next to its head.
    Every character but letters and digits is escaped by its code."""
    return "".join(
        f"--h{at}:'{''.join(map(_style_character, sanitize(head)))}';"
        for at, head in enumerate(columns, 1)
        if at <= HEADS_MAX
    )


def _style_character(character: str) -> str:
    plain = character.isascii() and character.isalnum()
    return character if plain else f"\\{ord(character):06x}"


def _unbroken(text: str) -> bool:
    """True for a text that has a word so long that it must be broken somewhere."""
    return longest_word(text) > WORD_MAX


_CODE = re.compile(r"`([^`]+)`")


def _escape_joints(text: str) -> Markup:
    """The text, escaped. A line may end where its parts meet; text between backticks is code."""
    return _with_code(
        Markup("<wbr>").join(escape(part) for part in split_at_joints(sanitize(text)))
    )


def _escape_code(text: str) -> Markup:
    """The text, escaped; text between backticks is code."""
    return _with_code(escape(sanitize(text)))


def _with_code(escaped: Markup) -> Markup:
    return Markup(_CODE.sub(r"<code>\1</code>", str(escaped)))
