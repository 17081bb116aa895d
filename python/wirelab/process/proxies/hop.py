"""What a proxy between caller and service is asked to do, and what an adapter knows of one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from wirelab.documents.axes import Axes
from wirelab.errors import LabError, ToolMissing

FOREVER_S = 3600
"""Of timeouts of a proxy: longer than any call, which the caller gives up itself."""
UNLIMITED = 1_000_000_000
"""Calls of a connection that a proxy would otherwise close after a thousand."""
VERSION_S_MAX = 10.0
SBIN = "/usr/sbin"
"""Where Debian has servers; not in the PATH of every user."""


@dataclass(frozen=True)
class Hop:
    """The way from the caller through a proxy to the service."""

    front: str
    """Version of HTTP that the caller speaks."""
    back: str
    """Version of HTTP that the service is spoken to by."""
    is_grpc: bool = False
    is_websocket: bool = False
    buffering: bool = True
    keepalive: bool = True
    caches: bool = False
    """Whether the proxy keeps replies and answers for the service."""
    workers: int = 1
    """Threads or processes that carry calls."""
    connections: int = 1024
    """Of callers at a time, at most."""
    listen: str = ""
    """Address and port of the proxy."""
    upstream: str = ""
    """Address and port of the service."""

    @classmethod
    def of(cls, axes: Axes) -> Hop:
        """As a stack's axes have it; addresses are not known yet."""
        same = axes.via_upstream == "same"
        return cls(
            front=axes.transport,
            back=axes.transport if same else axes.via_upstream,
            is_grpc=axes.binding == "grpc",
            is_websocket=axes.binding == "websocket",
            buffering=axes.via_buffering,
            keepalive=axes.via_keepalive,
            caches=axes.http_cache == "proxy",
        )

    @property
    def upstream_port(self) -> int:
        """Of the service."""
        return int(self.upstream.rpartition(":")[2])

    def set_addresses(self, listen: str, upstream: str) -> Hop:
        """With its two addresses."""
        return replace(self, listen=listen, upstream=upstream)


class Adapter(Protocol):
    """How one proxy is configured and started: text only, no process."""

    name: str
    """Value of the axis ``via``."""
    package: str
    """Debian's package."""
    file: str
    """Name of its configuration in a trial's folder."""
    forks: bool
    """Whether its workers are processes of their own."""
    version_option: str
    version_pattern: str
    """Regular expression with the version as its only group."""

    def configuration(self, hop: Hop, folder: Path) -> str:
        """The whole text; ``folder`` is for temporary files of the proxy."""

    def command(self, program: Path, configuration: Path, folder: Path) -> list[str]:
        """What starts it in the foreground."""


@dataclass(frozen=True)
class Installation:
    """A proxy's program on this machine."""

    adapter: Adapter
    program: Path
    version: str

    @classmethod
    def find(cls, adapter: Adapter, path: str | None = None) -> Installation:
        """In ``path``, by default PATH and Debian's folder of servers. Raises
        :class:`ToolMissing` where there is none, with the package that has it."""
        where = f"{os.environ.get('PATH', os.defpath)}:{SBIN}" if path is None else path
        found = shutil.which(adapter.name, path=where)
        if found is None:
            raise ToolMissing(
                f"via={adapter.name} needs {adapter.name}, which is not installed",
                f"install it (Debian: `apt install {adapter.package}`), or remove via",
            )
        program = Path(found).resolve()
        return cls(adapter, program, _version(program, adapter))


def _version(program: Path, adapter: Adapter) -> str:
    command = [str(program), adapter.version_option]
    printed = subprocess.run(
        command, capture_output=True, text=True, timeout=VERSION_S_MAX, check=False
    )
    text = f"{printed.stdout}{printed.stderr}"
    match = re.search(adapter.version_pattern, text)
    if not match:
        raise LabError(
            f"{' '.join(command)} printed {text.strip()[:80]!r}, no version",
            "is that program what its name says?",
        )
    return match.group(1)
