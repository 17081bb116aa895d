"""wirelab's engine as the caller of a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from wirelab.documents import to_json
from wirelab.documents.event import Outcome
from wirelab.documents.plan import Plan
from wirelab.experiment.matrix import PlannedTrial
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import Endpoint
from wirelab.process.engine import Drive, RunObserver
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, histogram_log
from wirelab.trial import secrets
from wirelab.trial.callers.caller import Called, CallerPlace
from wirelab.trial.plans import hide_secrets, plan
from wirelab.trial.setup import TrialSetup


@dataclass(frozen=True)
class EngineCaller:
    """The only caller with background groups, a log of calls and secrets of TLS."""

    setup: TrialSetup

    def make_calls(self, place: CallerPlace, observer: RunObserver) -> Called:
        """See :class:`wirelab.trial.callers.caller.Caller`."""
        setup = self.setup
        self.write_plan(place.endpoint)
        drive = Drive(
            self.reveal_plan(place.endpoint),
            ProcessOptions(
                log=setup.folder / "engine.log",
                cores=setup.table.engine,
                namespace=place.namespace,
                group=place.group,
                environment=self._make_environment(),
            ),
            interruption=setup.interruption,
            observer=observer,
        )
        outcome = drive.outcome()
        setup.write_json("result.json", to_json(outcome))
        return self.read_outcome(outcome)

    def write_plan(self, endpoint: Endpoint) -> None:
        """Writes the plan, without secrets, into the trial's folder."""
        self.setup.write_json("plan.json", hide_secrets(to_json(self.plan_for(endpoint))))

    def plan_for(self, endpoint: Endpoint) -> Plan:
        """The plan as it is recorded, without secrets."""
        return self._make_plan(endpoint, self.setup.planned)

    def reveal_plan(self, endpoint: Endpoint) -> Plan:
        """The plan with its secrets, for the engine's standard input only."""
        return self._make_plan(endpoint, self._reveal_secrets())

    def write_histograms(self, group: GroupResult, suffix: str = "") -> None:
        """Writes the histograms of a group into the trial's folder."""
        self.setup.write_text(f"histograms{suffix}.hlog", histogram_log(group))

    def _make_plan(self, endpoint: Endpoint, planned: PlannedTrial) -> Plan:
        made = plan(self.setup.experiment, planned, self.setup.table, endpoint)
        calls = self.setup.call_log.path
        return made if calls is None else msgspec.structs.replace(made, call_log=str(calls))

    def _reveal_secrets(self) -> PlannedTrial:
        """The trial with the secrets of its service and message, for the engine's standard input
        only."""
        cell, secrets_of_file = self.setup.cell, self.setup.experiment.secrets
        revealed = replace(
            cell,
            external=secrets_of_file.reveal(cell.external),
            message=secrets_of_file.reveal(cell.message),
        )
        return replace(self.setup.planned, cells=(revealed,))

    def _make_environment(self) -> dict[str, str]:
        """Asks the engine for its secrets of TLS where they can be captured."""
        if self.setup.axes.security == "none" or not self.setup.has_captures:
            return {}
        return {secrets.VARIABLE: str(secrets.create(self.setup.keylog))}

    def read_outcome(self, outcome: Outcome) -> Called:
        """The measurements, whose histograms are written into the trial's folder."""
        groups = tuple(map(GroupResult.of, outcome.groups))
        for number, group in enumerate(groups):
            self.write_histograms(group, f"-{group.name}" if number else "")
        caller = replace(
            CallerRecord.of(outcome.process), version=outcome.engine, profile=outcome.profile
        )
        error = outcome.call_log.error if outcome.call_log else None
        return Called(
            groups,
            caller,
            call_log_error=error or "",
            over_time=outcome.groups[0].response_over_time,
        )
