"""The legend of a page: mark, letter and full reference of every stack."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wirelab.report.palette import Look

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
    def mark(self) -> Markup:
        """Line and mark as they are drawn; made of constants only."""
        dash = "" if isinstance(self.look.dash, str) else ",".join(map(str, self.look.dash[1]))
        return Markup(
            '<svg class="mark" viewBox="0 0 36 16" aria-hidden="true">'
            f'<g stroke="{self.look.colour}" fill="{self.look.colour}">'
            f'<path d="M1 8h34" stroke-width="1.6" stroke-dasharray="{dash}"/>'
            f"{_SHAPES[self.look.marker]}</g></svg>"
        )
