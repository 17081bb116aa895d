"""An experiment with fewer calls, or with fewer cells: minutes instead of hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from wirelab.experiment import yaml_source as documents
from wirelab.format.units import parse_seconds

SHORTEST_S = 0.05
"""Minimum length of a window."""


@dataclass(frozen=True)
class Windows:
    """How the windows of calls of an experiment end at a scale."""

    default: float
    """The scale at which they end after ``max_s``, whatever is left to call."""
    max_s: float
    is_timed: bool = False
    """Whether below scale 1 time alone ends them, as services that take turns need it."""


def scale_text(text: str, name: str, scale: float, windows: Windows) -> str:
    """Text of an experiment file with its calls, or its durations, multiplied by ``scale``.

    Durations of stages are scaled like that of the window. At the default scale a window of calls
    ends after ``windows.max_s``; at other scales in proportion, and never after the bound in the
    file. From scale 1 on only the bound in the file applies. Everything else is unchanged.
    """
    values = documents.read(text, name).values
    window = dict(values["window"])
    loads = values["loads"]
    if "duration" in window:
        window["duration"] = _milliseconds(parse_seconds(window["duration"]) * scale)
        loads = [_stretch(load, scale) for load in loads]
    else:
        bound = parse_seconds(window.pop("max", "60 s"))
        if scale < 1:
            bound = min(bound, windows.max_s * scale / windows.default)
        if scale < 1 and windows.is_timed:
            del window["calls"]
            window["duration"] = _milliseconds(bound)
        else:
            window["calls"] = _calls(window["calls"], scale)
            window["max"] = _milliseconds(bound)
    return _document(f"{name} at scale {scale:g}", {**values, "loads": loads, "window": window})


def replace_keys(text: str, name: str, keys: Mapping[str, object]) -> str:
    """Text of an experiment file with the values of these keys replaced."""
    return _document(f"{name}, a first look", {**documents.read(text, name).values, **keys})


def raise_repeats(text: str, repeats: int) -> str:
    """The text of an experiment file with that number of repeats, where its own are fewer."""
    title = text.partition("\n")[0].removeprefix("# ")
    values = documents.read(text, title).values
    if repeats <= values.get("repeats", 1):
        return text
    return _document(title, {**values, "repeats": repeats})


def _document(title: str, values: Mapping[str, object]) -> str:
    shown = yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True)
    return f"# {title}\n{shown}"


def _stretch(value: Any, scale: float) -> Any:
    """A load with the durations of its stages multiplied by ``scale``."""
    if isinstance(value, list):
        return [_stretch(entry, scale) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _milliseconds(parse_seconds(entry) * scale)
        if key == "duration"
        else _stretch(entry, scale)
        for key, entry in value.items()
    }


def _calls(calls: Any, scale: float) -> Any:
    if isinstance(calls, dict):
        return {size: _calls(number, scale) for size, number in calls.items()}
    return max(1, round(calls * scale))


def _milliseconds(seconds: float) -> str:
    return f"{round(max(SHORTEST_S, seconds) * 1000)} ms"
