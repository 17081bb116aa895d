"""What each service says of itself: ``services/<language>/service.json``.

The manifest names the language, what building needs, how to build and start,
and what it serves. The lab learns a new language from this file alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wirelab import checkout
from wirelab.errors import LabError, StackError
from wirelab.spelling import did_you_mean
from wirelab.stacks import Stack

NEEDS_OPTION: Mapping[str, tuple[str, str]] = {
    "server.nagle": ("nagle", "off"),
    "server.writes": ("writes", "joined"),
    "server.h2_window": ("h2_window", "library"),
}
"""Axes that a service must have a switch for: name of the switch, value that needs none."""


class Served(BaseModel):
    """What a service offers under one binding."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    binding: str
    codecs: tuple[str, ...]
    transports: tuple[str, ...]
    compression: tuple[str, ...] = ("none",)
    soap: tuple[str, ...] = ("1.1",)
    """Versions of SOAP; says nothing where the binding is not soap."""
    security: tuple[str, ...] = ("none",)
    sockets: tuple[str, ...] = ("tcp",)
    end_of_message: tuple[str, ...] = ("content-length",)
    replies: tuple[str, ...] = ("two-way",)
    contracts: tuple[str, ...] = ("transfer",)
    server_options: tuple[str, ...] = ()


class Manifest(BaseModel):
    """One service of one language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    requires: tuple[str, ...] = ()
    """Programs that building needs, looked up in PATH."""
    build: tuple[str, ...] = ()
    """Command, run in the manifest's folder; ``{out}`` is the file or folder to make."""
    start: tuple[str, ...]
    """Command; ``{out}`` as above, ``{engine}`` is the engine's binary."""
    serves: tuple[Served, ...]
    faults: tuple[str, ...] = ()
    """Fault switches that it has; ``*`` is all of them."""
    remedy: str = ""
    """What to do when something in ``requires`` is missing."""
    collector: dict[str, Any] = Field(default_factory=dict)
    """Settings of the garbage collector when the experiment names none."""

    def unknown_faults(self, faults: Iterable[str]) -> list[str]:
        """Those that the service has no switch for."""
        return [] if "*" in self.faults else sorted(set(faults) - set(self.faults))

    def refusal(self, stack: Stack) -> tuple[str, dict[str, str]] | None:
        """Why this service cannot be that stack, with the change that would do; else None."""
        axes = stack.axes
        offers = [served for served in self.serves if served.binding == axes["binding"]]
        if not offers:
            names = ", ".join(sorted({served.binding for served in self.serves}))
            return f"{self.language} serves {names}, not {axes['binding']}", {}
        refusals = [_refusal(served, stack) for served in offers]
        return None if None in refusals else refusals[0]


@dataclass(frozen=True)
class Catalogue:
    """All manifests of the checkout."""

    by_language: Mapping[str, Manifest]
    folders: Mapping[str, Path]

    def manifest(self, stack: Stack) -> Manifest:
        """The service's manifest. Raises :class:`StackError` when the stack is not served."""
        language = stack.axes["language"]
        found = self.by_language.get(language)
        if found is None:
            raise StackError(
                f"{stack}: there is no service in {language!r}",
                did_you_mean(language, self.by_language),
            )
        refused = found.refusal(stack)
        if refused is not None:
            reason, change = refused
            near = f"the nearest legal stack is {stack.with_axes(change)}" if change else ""
            raise StackError(f"{stack} cannot be measured: {reason}", near)
        return found


def load(folder: Path | None = None) -> Catalogue:
    """Reads every ``services/*/service.json``. Raises :class:`LabError` on a broken one."""
    services = folder if folder is not None else checkout.root() / "services"
    manifests = {path.parent: _read(path) for path in sorted(services.glob("*/service.json"))}
    if not manifests:
        raise LabError(f"no services/*/service.json under {services}", "is the checkout complete?")
    return Catalogue(
        {manifest.language: manifest for manifest in manifests.values()},
        {manifest.language: path for path, manifest in manifests.items()},
    )


def _read(path: Path) -> Manifest:
    try:
        return Manifest.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, ValidationError) as error:
        raise LabError(f"{path} is not a service manifest: {error}", "correct that file") from error


def _refusal(served: Served, stack: Stack) -> tuple[str, dict[str, str]] | None:
    axes = stack.axes
    name = f"{axes['binding']}@{axes['language']}"
    transport = stack.service_stack()["transport"]
    for axis, value, offered in (
        ("codec", axes["codec"], served.codecs),
        ("transport", transport, served.transports),
        ("compression", axes["compression"], served.compression),
        ("security", axes["security"], served.security),
        ("end_of_message", axes["end_of_message"], served.end_of_message),
    ):
        if value not in offered:
            return f"{name} serves {axis} {', '.join(offered)}, not {value}", {axis: offered[0]}
    for axis, (option, without) in NEEDS_OPTION.items():
        if axes[axis] != without and option not in served.server_options:
            return f"{name} has no switch for {axis}", {axis: without}
    return None
