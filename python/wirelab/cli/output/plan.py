"""What ``wirelab run --plan`` shows: cells, trials, builds and time, without starting anything."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import fold, out
from wirelab.errors import EXIT_OK
from wirelab.experiment import matrix
from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_minutes
from wirelab.process.services import Programs
from wirelab.stack import manifests
from wirelab.trial.labels import Names

if TYPE_CHECKING:
    from wirelab.experiment.matrix import Schedule
    from wirelab.experiment.model import Experiment
    from wirelab.process.builds import PendingBuild

CELLS_SHOWN = 20
"""Cells that are listed one by one."""


def show(experiment: Experiment, *, as_json: bool) -> int:
    """Returns the exit code. Raises :class:`ExperimentError`."""
    catalogue = manifests.load()
    planned = matrix.schedule(experiment, catalogue)
    builds = _builds(planned, Programs(catalogue))
    seconds = sum(matrix.seconds(experiment, trial) for trial in planned.trials)
    building = sum(build.seconds or 0.0 for build in builds)
    names = Names.of(cell.point for cell in planned.cells)
    if as_json:
        document = {
            "cells": [
                {"stack": cell.point.stack, "setting": names.setting(cell.point)}
                for cell in planned.cells
            ],
            "trials": len(planned.trials),
            "seconds": round(seconds, 3),
            "builds": [asdict(build) for build in builds],
            "skipped": list(planned.skipped),
            "apart": list(planned.apart),
            "sizes": list(planned.sizes),
        }
        print(json.dumps(document, indent=1))
        return EXIT_OK
    _print(experiment, planned, names, builds)
    most = "at most about" if experiment.window.calls is not None else "about"
    out.print(f"trials: {len(planned.trials):,}, {most} {format_minutes(seconds)}")
    if builds:
        out.print(f"builds first: about {format_minutes(building)}")
    return EXIT_OK


def _print(
    experiment: Experiment, planned: Schedule, names: Names, builds: list[PendingBuild]
) -> None:
    cells = format_count(len(planned.cells), "cell")
    out.print(f"{experiment.name}: {cells}, {format_count(experiment.repeats, 'repeat')}", "bold")
    for cell in planned.cells[:CELLS_SHOWN]:
        text = f"• {names.stacks[cell.point.stack]}: {names.setting(cell.point)}"
        out.print(fold(sanitize(text), out.width))
    more = len(planned.cells) - CELLS_SHOWN
    if more > 0:
        out.print(f"• and {more:,} more, of {format_count(len(names.stacks), 'stack')} in all")
    for reason in planned.skipped:
        out.print(fold(f"left out: {sanitize(reason)}", out.width))
    for line in planned.sizes:
        out.print(fold(f"size: {line}", out.width))
    for reason in planned.apart:
        out.print(fold(f"one service at a time: {sanitize(reason)}", out.width))
    for build in builds:
        time = "" if build.seconds is None else f", about {format_minutes(build.seconds)}"
        out.print(f"to build: {build.title}{time}")


def _builds(planned: Schedule, programs: Programs) -> list[PendingBuild]:
    """Each once."""
    found: dict[str, PendingBuild] = {}
    for cell in planned.cells:
        if cell.external is None:
            for build in programs.list_pending_builds(cell.stack, cell.message.contract):
                found[build.title] = build
    return list(found.values())
