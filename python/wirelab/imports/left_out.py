"""Leaves secrets out of what an import writes; :mod:`wirelab.secrets` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from wirelab.secrets import finding, shapes

PLACEHOLDER = "left-out"
"""In place of a secret in content that cannot be understood without it."""


def json_without_secrets(
    value: Any, where: str, found: list[str], is_variable: Callable[[str], bool] = lambda _: False
) -> Any:
    """JSON with every secret replaced by :data:`PLACEHOLDER`; ``found`` gets the name of each,
    some several times. A text that ``is_variable`` has its value from elsewhere, and stays."""

    def replace(name: str, secret: object) -> str:
        if isinstance(secret, str) and is_variable(secret):
            return secret
        found.append(f"{where}.{name}")
        return PLACEHOLDER

    return finding.replace_in_json(value, replace)


def text_without_secrets(text: str, where: str, found: list[str]) -> str:
    """Text with each secret that has a known form replaced by :data:`PLACEHOLDER`."""
    spans = list(finding.find_in_text(text))
    if spans:
        _note(where, found)
    return finding.replace_spans(text, spans, lambda *_: PLACEHOLDER)


def path_without_secrets(path: str, found: list[str]) -> str:
    """The path of a URL with each segment that is a secret replaced by :data:`PLACEHOLDER`."""
    if "%" in path and (decoded := unquote(path)) != path and shapes.has_secret_shape(decoded):
        path = "/".join(map(_segment, path.split("/")))
    cleaned = text_without_secrets(path, "path", found)
    if PLACEHOLDER in cleaned:
        _note("path", found)
    return cleaned


def _segment(segment: str) -> str:
    return PLACEHOLDER if shapes.has_secret_shape(unquote(segment)) else segment


def _note(place: str, found: list[str]) -> None:
    if place not in found:
        found.append(place)
