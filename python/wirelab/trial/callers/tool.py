"""A third-party load tool as the caller of a trial."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from wirelab import loadtools
from wirelab.loadtools import ToolRequest
from wirelab.process.engine import RunObserver
from wirelab.trial.callers.caller import Called, CallerPlace
from wirelab.trial.setup import TrialSetup


@dataclass(frozen=True)
class ToolCaller:
    """An unmodified tool, such as ghz or wrk."""

    setup: TrialSetup

    def make_calls(self, place: CallerPlace, observer: RunObserver) -> Called:
        """See :class:`wirelab.trial.callers.caller.Caller`."""
        setup = self.setup
        tool = setup.lab.tools.tool(setup.axes.caller, setup.interruption)
        request = self._make_request(place)
        setup.write_json(
            "plan.json",
            {"tool": tool.identity(), "request": msgspec.to_builtins(request, enc_hook=str)},
        )
        group, caller = loadtools.drive(
            tool,
            request,
            setup.folder,
            interruption=setup.interruption,
            on_progress=observer.on_progress,
            on_tick=observer.on_tick,
        )
        result: dict[str, object] = {"process": caller.to_json(), "groups": [group.to_json()]}
        setup.write_json("result.json", result)
        return Called((group,), caller)

    def _make_request(self, place: CallerPlace) -> ToolRequest:
        """A tool has no warm-up of its own and no test for a stationary series, so its first run
        takes the longest warm-up time that the experiment allows."""
        experiment, cell, table = self.setup.experiment, self.setup.cell, self.setup.table
        return ToolRequest(
            target=place.endpoint.address,
            axes=self.setup.axes,
            operation=cell.message.name,
            users=cell.load.point().users or 1,
            window=experiment.window_of(cell.message, cell.load),
            warmup_s=experiment.warmup_of(cell.load, self.setup.axes).max,
            timeout_s=experiment.timeout,
            processors=len(table.engine or table.available),
            cores=table.engine,
            namespace=place.namespace,
            group=place.group,
        )
