"""What a page is made of: sections of paragraphs, tables, pictures and words of programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from xml.etree import ElementTree

_SVG_ELEMENTS = frozenset(
    (
        *("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"),
        *("tspan", "defs", "use", "clipPath", "style", "title", "desc", "marker", "pattern"),
    )
)
_BREAKS = re.compile(r"[\s-]")
_JOINTS = re.compile(r"(?=[?&])|(?<!/)(?=/\w{3})")
"""Where the parts of a reference or an address meet: ``rest@go``, ``?codec=text``. The strokes
of ``calls/s`` and ``http://`` are none."""
_OUTSIDE = re.compile(r"url\(\s*['\"]?(?!#)|@import|expression\(|javascript:", re.IGNORECASE)

PHONE = 42
"""Characters of a table's row that fit into a window of 360 CSS pixels."""
WORD_MAX = 24
"""Letters of a word that a column of a table can hold; longer ones are broken somewhere."""
_PADDING = 2
_WRAPPED = 18
"""Characters at which wrapped text is still readable."""


def longest_word(text: str) -> int:
    """Letters of the longest word; a line may end at spaces, hyphens and joints."""
    return max(len(word) for part in split_at_joints(text) for word in _BREAKS.split(part))


def split_at_joints(text: str) -> list[str]:
    """The parts between which a line may end without a space."""
    return _JOINTS.split(text)


class UnsafePicture(ValueError):
    """An SVG that does not parse, or reaches beyond the page: script, link or external resource."""


@dataclass(frozen=True)
class Table:
    """Rows of text, of the same length as ``columns``; escaped when the page is written."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    numeric: Sequence[int] = ()
    """Columns that are set to the right, counted from 0."""
    highlighted: Sequence[int] = ()
    """Rows that are emphasized, counted from 0."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.caption!r}: a row of {len(row)} under {len(self.columns)} columns"
                )

    @classmethod
    def of_groups(
        cls,
        columns: Sequence[str],
        groups: Mapping[str, Sequence[Sequence[str]]],
        numeric: Sequence[int],
        head: str = "message",
    ) -> list[Table]:
        """The groups' rows in one table, which names the group in its second column; a single
        group is its caption. None without a row."""
        shown = {name: rows for name, rows in groups.items() if rows}
        if len(shown) < 2:
            return [cls(columns, rows, name, numeric) for name, rows in shown.items()]
        every = [[row[0], name, *row[1:]] for name, rows in shown.items() for row in rows]
        return [cls([columns[0], head, *columns[1:]], every, "", [at + 1 for at in numeric])]

    @cached_property
    def long(self) -> bool:
        """True where a row does not fit a phone; there it becomes a list of its values. Kept,
        because the template reads it for every value."""
        return sum(map(self._width, range(len(self.columns)))) > PHONE

    def _width(self, column: int) -> int:
        """Characters that a column wants at least; its text may wrap between words, its figures
        may not."""
        head = longest_word(self.columns[column])
        lines = [line for row in self.rows for line in row[column].split("\n")]
        longest = max(map(len, lines), default=0)
        if column in self.numeric:
            return _PADDING + max(head, longest)
        word = min(max(map(longest_word, lines), default=0), WORD_MAX)
        return _PADDING + max(head, word, min(longest, _WRAPPED))


@dataclass(frozen=True)
class Picture:
    """An SVG with the words for those who cannot see it."""

    svg: str
    caption: str
    alt: str = ""
    """What the picture shows, for screen readers; the caption when empty."""
    wide: bool = False
    """True: the full width of the page instead of a place among small multiples."""

    def __post_init__(self) -> None:
        _check(self.svg)


@dataclass(frozen=True)
class Badge:
    """How sure or how valid a result is, in a few words and with a link to the details."""

    tone: Literal["good", "warn", "bad"]
    """Shown as a mark too, so that no reader depends on colour."""
    words: str
    anchor: str
    """Of the section with the details."""


@dataclass(frozen=True)
class Section:
    """A part of the page with its own heading and anchor."""

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Picture] = ()
    points: Sequence[str] = ()
    """A list, one sentence an item, shown after the paragraphs."""
    sections: Sequence[Section] = field(default_factory=tuple)
    """Parts with headings one level lower."""
    verbatim: str = ""
    """What a program printed, shown as it is."""
    legend: bool = False
    """True: the stacks' marks and colours are explained above the pictures."""
    lead: str = ""
    """The sentence that answers the question, set large before all else."""
    badges: Sequence[Badge] = ()
    """Shown below it."""
    explorer: bool = False
    """True: the interactive charts are here; the figures are for readers without script."""
    folded: bool = False
    """True: only the heading is shown until the reader opens the section."""

    @property
    def anchor(self) -> str:
        """Of the heading: letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"


def _check(svg: str) -> None:
    """Raises :class:`UnsafePicture`: the page must open offline and run nothing."""
    if "<!ENTITY" in svg.upper():
        raise UnsafePicture("the picture declares entities; draw without them")
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise UnsafePicture(f"the picture is not well-formed SVG: {error}") from error
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        if name not in _SVG_ELEMENTS:
            raise UnsafePicture(f"the picture has an element <{name}>; draw without it")
        if _OUTSIDE.search(element.text or ""):
            raise UnsafePicture(f"the picture's <{name}> refers to something outside the page")
        for key, value in element.attrib.items():
            _check_attribute(key.rpartition("}")[2], value)


def _check_attribute(name: str, value: str) -> None:
    if name.lower().startswith("on") or _OUTSIDE.search(value):
        raise UnsafePicture(f"the picture's attribute {name}={value[:40]!r} could run or load")
    if name == "href" and not value.startswith("#"):
        raise UnsafePicture(f"the picture links to {value[:40]!r}; only its own parts may be used")
