"""One look per stack: colour, mark and dash, so that no reader depends on colour."""

from __future__ import annotations

from dataclasses import dataclass

# Okabe & Ito 2008, "Color Universal Design": told apart with every kind of colour blindness.
# Yellow is left out, for it is too faint on white; the order puts the strongest contrast first.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    row = index // len(_COLOURS)
    return Look(
        _COLOURS[index % len(_COLOURS)],
        _MARKERS[(index + row) % len(_MARKERS)],
        _DASHES[row % len(_DASHES)],
        chr(ord("A") + index) if index < 26 else f"S{index + 1}",
    )
