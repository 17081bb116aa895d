"""Experiments and options that a farm cannot do, each with the reason."""

from __future__ import annotations

from wirelab.errors import UsageError
from wirelab.experiment.matrix import Schedule
from wirelab.experiment.model import Experiment


def refuse_impossible(experiment: Experiment, planned: Schedule) -> None:
    """Raises :class:`UsageError`."""
    if experiment.clients > 1:
        raise UsageError(
            "clients: several clients need several nodes for one trial, and a farm has a trial on "
            "each node",
            "remove clients, or give --clients with --hosts instead of --farm",
        )
    for cell in planned.cells:
        if cell.external is not None and cell.external.url is not None:
            name, url = cell.external.name, cell.external.url
            where = (
                "each host would call itself"
                if cell.external.is_local
                else ("all hosts would load it at the same time")
            )
            raise UsageError(
                f"service {name} is at {url}: {where}",
                "use `command`, so that each host starts its own, or leave --farm out",
            )
