"""The packets of one exchange as a ladder diagram: client left, server right, time downwards."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from wirelab.documents.dissection import Dissection, Rung
from wirelab.format.counting import format_count
from wirelab.format.numbers import quantity, sanitize
from wirelab.report.section import Picture

ROW = 30
"""Height of a packet."""
TOP = 34
CLIENT, SERVER, WIDTH = 84, 236, 440
LAYERS_MAX = 30
"""Characters of what a packet carries that fit next to it."""
_INK, _SOFT, _WAIT = "#1b1b1b", "#5a5a5a", "#D55E00"
_ON_DARK = (
    f'<style>@media (prefers-color-scheme: dark) {{ [fill="{_INK}"] {{ fill: #e6e6e6 }} '
    f'[fill="{_SOFT}"] {{ fill: #a8a8a8 }} [stroke="{_INK}"] {{ stroke: #e6e6e6 }} }}</style>'
)
"""Colours where the reader has chosen a dark background; style sheets override attributes (SVG 2,
section 6.6)."""
_WAIT_SHARE = 0.2
"""A gap of more than this share of the exchange is set in colour: that is where time went."""
EXCHANGE = "exchange"
"""The phase of a packet between set-up and tear-down of its connection."""


def picture(document: Dissection, title: str) -> Picture | None:
    """The exchange that a dissection shows; None where it shows none."""
    rungs = document.timeline
    if not rungs:
        return None
    return Picture(_svg(rungs), caption(document, title), alt(rungs, title))


def file_content(drawn: Picture) -> str:
    """The drawing as a file of its own, for light and dark backgrounds."""
    head, end, rest = drawn.svg.partition(">")
    return f"{head}{end}{_ON_DARK}{rest}"


def caption(document: Dissection, title: str) -> str:
    """What is shown, and why this exchange."""
    of = document.timeline_of
    if of is None:
        return title
    why = "the exchange of median latency" if of.chosen == "median" else "as requested"
    took = of.latency_us
    lasted = f", {quantity(took * 1e3, 'ns')} from its first byte to its last" if took else ""
    rest = f"; without {format_count(of.omitted, 'packet')} in the middle" if of.omitted else ""
    return f"{title}: {why}{lasted}{rest}"


def alt(rungs: Sequence[Rung], title: str) -> str:
    """The ladder in words, for those who cannot see it."""
    return f"{title}, {format_count(len(rungs), 'packet')}: " + "; ".join(
        f"{'client' if _is_request(rung) else 'server'} {sanitize(rung.flags)}, {rung.bytes} B"
        for rung in rungs[:12]
    )


def layers(rung: Rung) -> str:
    """What a packet's payload is: ``HTTP head 120, JSON 51``."""
    return ", ".join(f"{sanitize(part.layer)} {part.bytes:,}" for part in rung.layers)


def _is_request(rung: Rung) -> bool:
    return rung.direction == "request"


def _svg(rungs: Sequence[Rung]) -> str:
    height = TOP + ROW * len(rungs) + 8
    own = [rung.at_us for rung in rungs if rung.phase == EXCHANGE]
    wait_us = _WAIT_SHARE * (max(own) - min(own)) if own else 0.0
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="10">'
        ),
        _text(CLIENT, 14, "client", anchor="middle", weight="600"),
        _text(SERVER, 14, "server", anchor="middle", weight="600"),
        *(_line(x, 20, x, height - 4, "#999999") for x in (CLIENT, SERVER)),
    ]
    for place, rung in enumerate(rungs):
        inside = place > 0 and rung.phase == rungs[place - 1].phase == EXCHANGE
        lines += _packet(rung, TOP + ROW * place, inside and rung.gap_us > wait_us)
    return "".join([*lines, "</svg>"])


def _packet(rung: Rung, top: int, is_wait: bool) -> list[str]:
    start, end = (CLIENT, SERVER) if _is_request(rung) else (SERVER, CLIENT)
    y, toward = top + 14, 1 if end > start else -1
    words = f"{sanitize(rung.flags)} {rung.bytes:,} B" if rung.bytes else sanitize(rung.flags)
    carried = ", ".join(part for part in (layers(rung), sanitize(rung.note)) if part)
    head = f"{end},{y + 6} {end - 7 * toward},{y + 2} {end - 7 * toward},{y + 9}"
    return [
        _text(4, y, _format_time(rung.at_us), colour=_SOFT),
        _text(4, y + 11, f"+{_format_time(rung.gap_us)}", colour=_WAIT if is_wait else _SOFT,
              weight="600" if is_wait else "400"),
        _line(start, y + 1, end, y + 6, _INK),
        f'<polygon points="{head}" fill="{_INK}"/>',
        _text((CLIENT + SERVER) // 2, y - 2, words, anchor="middle"),
        _text(SERVER + 8, y, _cut(carried), colour=_INK, title=carried),
        *([] if rung.phase == EXCHANGE else
          [_text(SERVER + 8, y + 11, rung.phase.replace("-", " "), colour=_SOFT)]),
    ]  # fmt: skip


def _format_time(microseconds: float) -> str:
    return quantity(microseconds * 1e3, "ns") if microseconds else "0"


def _cut(text: str) -> str:
    return text if len(text) <= LAYERS_MAX else text[: LAYERS_MAX - 1] + "…"


def _line(x1: int, y1: int, x2: int, y2: int, colour: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1"/>'


def _text(
    x: int,
    y: int,
    words: str,
    *,
    anchor: str = "start",
    colour: str = _INK,
    weight: str = "400",
    title: str = "",
) -> str:
    tooltip = f"<title>{escape(title, quote=False)}</title>" if title else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{tooltip}{escape(words, quote=False)}</text>"
    )
