"""Proxies between caller and service: what the axis ``via`` names.

One file per proxy holds the text of its configuration; adding one means writing such a file,
naming it here, and its value and rules in ``crates/stack``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wirelab.documents.axes import Axes
from wirelab.process import namespaces
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import Endpoint
from wirelab.process.interruption import Interruption
from wirelab.process.proxies.caddy import Caddy
from wirelab.process.proxies.haproxy import Haproxy
from wirelab.process.proxies.hop import Adapter, Hop, Installation
from wirelab.process.proxies.nginx import Nginx
from wirelab.process.proxies.running import Proxy as Proxy
from wirelab.process.proxies.running import Used as Used
from wirelab.process.proxies.running import workers

NONE = "none"
"""The value of the axis ``via`` without a proxy."""
ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter for adapter in (Nginx(), Haproxy(), Caddy())
}
"""By value of the axis ``via``."""


def find_installed(axes: Axes) -> Installation | None:
    """The proxy of a stack on this machine; None: the stack has none. Raises
    :class:`LabError` where it is not installed."""
    via = axes.via
    return None if via == NONE else Installation.find(ADAPTERS[via])


@dataclass(frozen=True)
class Place:
    """Place and size of a proxy."""

    folder: Path
    """Folder for its configuration and its log."""
    host: str = "127.0.0.1"
    """Its address."""
    namespace: str | None = None
    cores: tuple[int, ...] = ()
    connections: int = 1024
    """Largest number of callers at a time."""


@contextmanager
def start_proxy(
    axes: Axes, endpoint: Endpoint, place: Place, interruption: Interruption
) -> Iterator[tuple[Proxy | None, Endpoint]]:
    """The proxy of a stack in front of a service at ``endpoint``, and how callers reach it.
    Without one the endpoint is as it was. Raises :class:`TrialFailed`, :class:`LabError`."""
    installation = find_installed(axes)
    if installation is None:
        yield None, endpoint
        return
    listen = f"{place.host}:{namespaces.free_port(place.namespace)}"
    own = replace(
        Hop.of(axes), workers=workers(place.cores), connections=max(1024, place.connections)
    )
    with Proxy(
        installation,
        own.set_addresses(listen, endpoint.address),
        ProcessOptions(
            log=place.folder / f"{installation.adapter.name}.log",
            cores=place.cores,
            namespace=place.namespace,
        ),
        configuration=place.folder / installation.adapter.file,
        interruption=interruption,
    ) as proxy:
        yield proxy, replace(endpoint, address=listen)
