"""Connection data of the two ends of a stack: an address, an object, TLS files, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from wirelab.process.scratch import Scratch
from wirelab.stack.reference import Stack

ANY_PORT = "127.0.0.1:0"


@dataclass(frozen=True)
class ListenSpec:
    """Listen address and options that a service gets before it starts."""

    listen: str = ANY_PORT
    service_tls: dict[str, str] = field(default_factory=dict)
    client_tls: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """The object ``keystore`` of both ends; empty if messages are neither signed nor encrypted."""

    @classmethod
    def of(cls, stack: Stack, scratch: Scratch, host: str = "127.0.0.1") -> ListenSpec:
        """Where and how a service of that stack listens; ``host`` is the server's end of the link.
        Raises :class:`LabError` if the machine does not support it."""
        axes = stack.axes
        listen = f"unix:{scratch.socket()}" if axes.socket == "unix" else f"{host}:0"
        spec = cls(listen)
        if stack.has_keys:
            spec = replace(spec, keys=scratch.keystore().configuration())
        if axes.security == "none":
            return spec
        files = scratch.certificates()
        security = axes.security
        return replace(
            spec, service_tls=files.of_service(security), client_tls=files.of_client(security)
        )


@dataclass(frozen=True)
class Endpoint:
    """Connection data that a caller gets once the service is ready."""

    address: str
    """``127.0.0.1:43210`` or ``unix:/path``."""
    ior: str | None = None
    """Object reference, with iiop."""
    report: str | None = None
    """Address where the service reports processed calls, with one-way stacks."""
    tls: Mapping[str, str | bool] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    """As in :class:`ListenSpec`."""

    @property
    def port(self) -> int | None:
        """Host and port that calls go to; None with a Unix socket."""
        _, _, port = self.address.rpartition(":")
        return None if self.address.startswith("unix:") else int(port)

    def group(self) -> dict[str, object]:
        """The part of a group in the engine's plan that defines the target."""
        named = {"target": self.address, "object": self.ior, "report": self.report}
        group: dict[str, object] = {
            name: value for name, value in named.items() if value is not None
        }
        files = {"tls": self.tls, "keystore": self.keys}
        return {**group, **{name: value for name, value in files.items() if value}}
