"""Several engines that divide the load as the caller of a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirelab.clients.together import ClientPool
from wirelab.documents import to_json
from wirelab.process.engine import RunObserver
from wirelab.trial.callers.caller import Called, CallerPlace
from wirelab.trial.callers.engine import EngineCaller
from wirelab.trial.setup import TrialSetup


@dataclass(frozen=True)
class ClientsCaller:
    """Engines with one thread each, which are not pinned."""

    setup: TrialSetup
    pool: ClientPool

    def make_calls(self, place: CallerPlace, observer: RunObserver) -> Called:
        """See :class:`wirelab.trial.callers.caller.Caller`."""
        engine = EngineCaller(self.setup)
        engine.write_plan(place.endpoint)
        made = self.pool.drive(
            self.setup.experiment.clients,
            engine.reveal_plan(place.endpoint),
            self.setup.interruption,
            observer,
        )
        self.setup.write_json("result.json", to_json(made.outcome))
        return replace(engine.read_outcome(made.outcome), clients=made.record)
