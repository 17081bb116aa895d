"""Options of a load that several engines make together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.cli.options.common import COUNT, option, option_group
from wirelab.errors import UsageError

if TYPE_CHECKING:
    from wirelab.clients.ray_cluster import ClientsSpec
    from wirelab.clients.ray_connection import Cluster
    from wirelab.clients.together import ClientPool


@dataclass(frozen=True)
class ClientsOptions:
    """How many engines make the load, and where they run."""

    clients: int | None = option(
        "--clients",
        type=COUNT,
        help="Divide the load among this many engines, each with one thread. Needs Ray: "
        "pip install 'wirelab[ray]'. [default: one engine without Ray]",
    )
    hosts: str | None = option(
        "--hosts",
        metavar="ray:ADDRESS",
        help="Nodes of this Ray cluster, one client on each. [default: this machine]",
    )
    insecure_ray: bool = option(
        "--insecure-ray", is_flag=True, help="Allow a Ray cluster without token authentication."
    )

    def refuse_farm(self) -> None:
        """Raises :class:`UsageError`: a farm has a trial on each node, and these options divide the
        load of one trial among nodes."""
        for name, value in (("--clients", self.clients), ("--hosts", self.hosts)):
            if value is not None:
                raise UsageError(
                    f"{name} with --farm: a farm has a trial on each node, and several clients "
                    "need several nodes for one trial",
                    "leave one of the two out",
                )

    def spec(self) -> ClientsSpec | None:
        """None for one engine without Ray. Raises :class:`UsageError`."""
        if self.clients is None:
            return None
        from wirelab.clients.ray_cluster import ClientsSpec

        return ClientsSpec(self.clients, self._cluster())

    def open_pool(self) -> ClientPool:
        """For runs, which start its clients when they need them. Raises :class:`UsageError`."""
        from wirelab.clients.together import ClientPool

        return ClientPool(self._cluster())

    def _cluster(self) -> Cluster:
        from wirelab.clients.ray_connection import THIS_MACHINE, Cluster, parse_hosts

        if self.hosts is None:
            if self.insecure_ray:
                raise UsageError("--insecure-ray needs --hosts", "add --hosts, or leave it out")
            return THIS_MACHINE
        return Cluster(parse_hosts(self.hosts), self.insecure_ray)


@dataclass(frozen=True)
class FarmOptions:
    """Where the trials of an experiment run."""

    farm: str | None = option(
        "--farm",
        metavar="ray:ADDRESS",
        help="Divide the trials among the nodes of this Ray cluster, one trial at a time on each. "
        "Needs Ray: pip install 'wirelab[ray]'. [default: this machine]",
    )

    def cluster(self, *, insecure: bool) -> Cluster | None:
        """None without a farm. Raises :class:`UsageError`."""
        if self.farm is None:
            return None
        from wirelab.clients.ray_connection import Cluster, parse_hosts

        return Cluster(parse_hosts(self.farm, "--farm"), insecure)


FARM = option_group("farm", FarmOptions, "Many hosts")
CLIENTS = option_group("clients", ClientsOptions, "Several clients")
