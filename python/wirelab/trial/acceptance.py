"""What a machine must have before trials begin on it."""

from __future__ import annotations

from wirelab.errors import ExperimentError
from wirelab.experiment.external import ExternalMessage, ExternalStep
from wirelab.experiment.matrix import Cell, Schedule
from wirelab.process import open_files


def accept_files(planned: Schedule) -> None:
    """Raises :class:`ExperimentError` if a load needs more connections than a wirelab service may
    open. The limit of user-defined services is not known."""
    problems: dict[str, int] = {}
    cells = (cell for trial in planned.trials for cell in trial.cells)
    for cell in (cell for cell in cells if cell.external is None):
        load, concurrencies = cell.load.point(), cell.load.concurrencies
        needed = sum(open_files.connections(cell.stack.axes, each) for each in concurrencies)
        refused = open_files.refusal(needed)
        if refused:
            word = "users" if load.is_closed else "in_flight_max"
            amount = f"{load.kind} {word}={concurrencies[0]}"
            groups = " and its background groups" if cell.load.background else ""
            problems[f"{cell.stack}, {amount}{groups}: {refused}"] = needed
    if problems:
        raise ExperimentError([*problems, open_files.remedy(max(problems.values()))])


def needs_json_library(cell: Cell) -> bool:
    """Whether replies are validated by JSON Schema, or their values are selected by JSONPath."""
    if cell.external is None or not isinstance(cell.message, ExternalMessage):
        return False
    requests = cell.message.requests
    expected = map(cell.external.expectation, requests)
    return any(isinstance(each, ExternalStep) and each.carry for each in requests) or any(
        expect is not None and expect.json_schema is not None for expect in expected
    )
