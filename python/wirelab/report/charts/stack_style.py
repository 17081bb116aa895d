"""The style of each stack, colour, mark and dash, so that no reader depends on colour; and the
legend that shows it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

# Okabe & Ito 2008, "Color Universal Design": distinguishable with every kind of colour blindness.
# Yellow is left out, for it is too faint on white; the order puts the strongest contrast first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


@dataclass(frozen=True)
class Look:
    """How one stack is drawn."""

    colour: str
    marker: str
    dash: str | tuple[float, tuple[float, ...]]
    letter: str
    """Stands for the stack where its name does not fit."""


def look(index: int) -> Look:
    """The look of the stack number ``index``, from 0; colours repeat with another dash."""
    row = index // len(COLOURS)
    return Look(
        COLOURS[index % len(COLOURS)],
        _MARKERS[(index + row) % len(_MARKERS)],
        _DASHES[row % len(_DASHES)],
        chr(ord("A") + index) if index < 26 else f"S{index + 1}",
    )


_SHAPES = {
    "o": '<circle cx="18" cy="8" r="4.5"/>',
    "s": '<rect x="14" y="4" width="8" height="8"/>',
    "^": '<polygon points="18,3 23,12 13,12"/>',
    "D": '<polygon points="18,2.5 23.5,8 18,13.5 12.5,8"/>',
    "v": '<polygon points="18,13 23,4 13,4"/>',
    "P": '<path d="M16 3h4v3h3v4h-3v3h-4v-3h-3v-4h3z"/>',
    "X": '<path d="M14 4l2-2 2 3 2-3 2 2-2 4 2 4-2 2-2-3-2 3-2-2 2-4z"/>',
}


@dataclass(frozen=True)
class Entry:
    """One stack of the legend."""

    look: Look
    name: str
    reference: str

    @property
    def ink(self) -> str:
        """Its colour, as a variable of the page's style."""
        return f"var(--c{COLOURS.index(self.look.colour)})"

    @property
    def mark(self) -> Markup:
        """Line and mark as they are drawn; made of constants only."""
        dash = "" if isinstance(self.look.dash, str) else ",".join(map(str, self.look.dash[1]))
        return Markup(
            '<svg class="mark" viewBox="0 0 36 16" aria-hidden="true">'
            f'<g stroke="{self.ink}" fill="{self.ink}">'
            f'<path d="M1 8h34" stroke-width="1.6" stroke-dasharray="{dash}"/>'
            f"{_SHAPES[self.look.marker]}</g></svg>"
        )
