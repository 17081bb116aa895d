"""Bounds the output of a call. The result names what was cut and the file with the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wirelab.cli.mcp_server.limits import Limits

TEXT_BYTES_MAX = 6_000
DOCUMENT_BYTES_MAX = 12_000
"""As JSON. Together with the notes on what was cut, a call returns at most 20 kB."""
ITEMS = (100, 30, 10, 3, 1, 0)
"""Lengths that all lists are cut to, one after another, until the document fits."""
CHARACTERS_MAX = 500
"""Of one text in a document that is cut."""
NOTES_MAX = 20
NOTE_CHARACTERS_MAX = 60


@dataclass(frozen=True)
class Made:
    """What a command made."""

    text: str
    document: Any
    exit_code: int


def limit_size(tool: str, made: Made, limits: Limits) -> dict[str, Any]:
    """Text and structured result of a call, at most 20 kB. Raises :class:`OSError` if the whole
    result does not fit and cannot be written to ``runs/``."""
    document, cut = _shorten_document(_transferable(made.document))
    text = _start(made.text, TEXT_BYTES_MAX)
    whole = None
    notes = []
    if cut:
        content = json.dumps(made.document, indent=1) + "\n"
        whole = str(_write_file(tool, "json", content, limits))
        notes.append(f"The structured result is cut; {whole} is the whole document.")
    if text != made.text:
        file = _write_file(tool, "txt", made.text, limits)
        notes.append(f"This text is cut; {file} is the whole text.")
    return {
        "text": "\n".join([text, *notes]),
        "structured": {
            "document": document,
            "exit_code": made.exit_code,
            "cut": cut,
            "whole": whole,
        },
    }


def _transferable(document: Any) -> Any:
    """With what JSON and UTF-8 can express: no NaN, no infinity, no lone surrogate."""
    content = json.dumps(document, ensure_ascii=False).encode(errors="replace")
    return json.loads(content, parse_constant=lambda _: None)


def _shorten_document(document: Any) -> tuple[Any, list[str]]:
    """The document with lists short enough to fit, and what was cut; None if none fits."""
    if _bytes(document) <= DOCUMENT_BYTES_MAX:
        return document, []
    for items in ITEMS:
        shorter = _shorten(document, items)
        if _bytes(shorter) <= DOCUMENT_BYTES_MAX:
            notes = list(_notes(document, items))
            more = len(notes) - NOTES_MAX
            return shorter, notes[:NOTES_MAX] + ([f"and {more} more"] if more > 0 else [])
    return None, ["the whole document"]


def _bytes(document: Any) -> int:
    """Length in the protocol, which writes no spaces."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _shorten(value: Any, items: int) -> Any:
    if isinstance(value, dict):
        return {name: _shorten(inner, items) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shorten(inner, items) for inner in value[:items]]
    if isinstance(value, str) and len(value) > CHARACTERS_MAX:
        return value[:CHARACTERS_MAX] + "…"
    return value


def _notes(value: Any, items: int, place: str = "") -> Iterator[str]:
    """``cells.0.trials: 3 of 20``."""
    shown = place[:NOTE_CHARACTERS_MAX] or "list"
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _notes(inner, items, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        if len(value) > items:
            yield f"{shown}: {items} of {len(value)}"
        for number, inner in enumerate(value[:items]):
            yield from _notes(inner, items, f"{place}.{number}".lstrip("."))
    elif isinstance(value, str) and len(value) > CHARACTERS_MAX:
        yield f"{shown}: {CHARACTERS_MAX} of {len(value)} characters"


def _start(text: str, most: int) -> str:
    """Its first whole lines, or a part of the first line if that is too long."""
    content = text.encode(errors="replace")
    if len(content) <= most:
        return content.decode()
    start = content[:most].decode(errors="ignore")
    return start[: start.rfind("\n")] if "\n" in start else start


def _write_file(tool: str, extension: str, content: str, limits: Limits) -> Path:
    """Writes a file into ``runs/`` and returns its path, relative to the root."""
    from wirelab.run.directory import write_whole

    now = datetime.now(UTC)
    file = limits.path("runs", f"runs/mcp-{tool}-{now:%Y%m%d-%H%M%S-%f}.{extension}")
    target = limits.root / file
    target.parent.mkdir(exist_ok=True)
    write_whole(target, content)
    return file
