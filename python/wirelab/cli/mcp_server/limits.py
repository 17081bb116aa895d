"""What a client may reach and how much load it may make, as the user of the server decided."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wirelab.drive import load_values
from wirelab.errors import UsageError
from wirelab.stack import targets
from wirelab.stack.reference import Stack

if TYPE_CHECKING:
    from wirelab.cli.options.mcp import LimitOptions, PermissionOptions


@dataclass(frozen=True)
class Limits:
    """Permissions and limits of one server."""

    root: Path
    """The only folder for files; resolved."""
    hosts: tuple[str, ...]
    """Names and addresses that may be loaded besides loopback, in lower case."""
    duration_s: float
    """Of a window and of a warm-up."""
    users: int
    calls: int
    rate: float
    """Calls per second of an open load."""
    call_s: float
    """Of a whole tool call."""

    @classmethod
    def of(cls, permissions: PermissionOptions, limits: LimitOptions) -> Limits:
        """Raises :class:`UsageError`."""
        root = permissions.root.resolve()
        if not root.is_dir():
            raise UsageError(f"--root {permissions.root} is not a folder", "name an existing one")
        return cls(
            root=root,
            hosts=tuple(host.strip("[]").lower() for host in permissions.hosts),
            duration_s=load_values.positive("--duration", limits.duration),
            users=limits.users,
            calls=limits.calls,
            rate=limits.rate,
            call_s=load_values.positive("--time", limits.time),
        )

    def to_json(self) -> dict[str, Any]:
        """For the worker."""
        return {**asdict(self), "root": str(self.root)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Limits:
        """What :meth:`to_json` wrote."""
        made = cls(**values)
        return replace(made, root=Path(made.root), hosts=tuple(made.hosts))

    def path(self, name: str, given: str) -> Path:
        """The file or folder that the parameter ``name`` gives, relative to the root. Symbolic
        links are followed first. Raises :class:`UsageError` for one outside the root."""
        try:
            found = (self.root / given).resolve()
        except (OSError, ValueError, RuntimeError) as error:  # NUL, or a loop of links
            raise UsageError(f"{name}: {given!r} is not a path: {error}") from None
        if not found.is_relative_to(self.root):
            raise UsageError(
                f"{name}: {given!r} is outside {self.root}, the folder of this server",
                "name a path in it, or start the server with another --root",
            )
        return found.relative_to(self.root)

    def tree(self, name: str, given: str) -> Path:
        """The folder or file as :meth:`path` has it. Raises :class:`UsageError` also for a symbolic
        link inside that leads out of the root, through which a command would read or write."""
        top = self.path(name, given)
        for parent, folders, files in os.walk(self.root / top):
            for inside in (Path(parent, one) for one in (*folders, *files)):
                if inside.is_symlink():
                    self.path(name, str(inside))
        return top

    def remote_host(self, service: str) -> str | None:
        """The host of a URL on another machine that may be loaded; None for loopback and for
        wirelab's own services. Raises :class:`UsageError` for any other host, and for a stack
        with more connections than the limit."""
        server = targets.parse(service)
        if isinstance(server, Stack):
            self._accept_stack(server)
            return None
        host = urlsplit(service).hostname or ""
        address = ipaddress.ip_address(server.address.rpartition(":")[0].strip("[]"))
        if address.is_loopback:
            return None
        if host in self.hosts or str(address) in self.hosts:
            return host
        raise UsageError(
            f"{host} is not on loopback, and this server does not allow it",
            f"if you may load it, start the server with --allow-host {host}",
        )

    def _accept_stack(self, stack: Stack) -> None:
        """Raises :class:`UsageError` for ``connection=pool=N`` and ``in_flight=multiplex=N`` above
        the limit of users."""
        axes = stack.axes
        for axis, number in (("connection", axes.connection.count), ("in_flight", axes.in_flight)):
            if number is not None and number > self.users:
                raise UsageError(
                    f"{axis}={stack.value(axis)} is above {self.users:,}, the limit of this server",
                    "give less, or start the server with another --users",
                )
