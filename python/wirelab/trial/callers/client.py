"""A language's own client libraries as the caller of a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirelab.documents import to_json
from wirelab.documents.plan import Plan
from wirelab.process import metrics, usage
from wirelab.process.callers import ClientDrive
from wirelab.process.children import ProcessOptions
from wirelab.process.engine import RunObserver
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, histogram_log
from wirelab.trial.callers.caller import Called, CallerPlace
from wirelab.trial.observer import window_ns
from wirelab.trial.plans import hide_secrets, plan
from wirelab.trial.setup import TrialSetup


@dataclass(frozen=True)
class ClientCaller:
    """A caller in Go or Java. The kernel measures its cost."""

    setup: TrialSetup

    def make_calls(self, place: CallerPlace, observer: RunObserver) -> Called:
        """See :class:`wirelab.trial.callers.caller.Caller`."""
        setup = self.setup
        program = setup.lab.callers.program(setup.axes.caller, setup.interruption)
        full = plan(setup.experiment, setup.planned, setup.table, place.endpoint)
        # The runtime chooses its threads; wirelab pins the process.
        client_plan = Plan(groups=full.groups, progress_ms=full.progress_ms)
        setup.write_json("plan.json", hide_secrets(to_json(client_plan)))
        drive = ClientDrive(
            program,
            client_plan,
            ProcessOptions(
                log=setup.folder / "caller.log",
                cores=setup.table.engine,
                namespace=place.namespace,
                group=place.group,
            ),
            interruption=setup.interruption,
            observer=observer,
        )
        outcome = drive.outcome()
        setup.write_json("result.json", to_json(outcome))
        group = GroupResult.of(outcome.groups[0])
        setup.write_text("histograms.hlog", histogram_log(group))
        cpu_s = metrics.growth(drive.usage.cpu, *window_ns(group))
        costs = self._read_costs(drive, window_ns(group), cpu_s)
        record = replace(
            costs,
            processors=outcome.processors,
            interrupted=outcome.interrupted,
            caller=outcome.caller,
            version=outcome.version,
            runtime=outcome.runtime,
            stamps=outcome.stamps,
            libraries=outcome.libraries,
            sha256=program.sha256,
        )
        return Called((replace(group, cpu_s=cpu_s),), record)

    def _read_costs(
        self, drive: ClientDrive, window: tuple[int, int], cpu_s: float | None
    ) -> CallerRecord:
        """Usage of the ended process; ``cpu_s`` is that of the window."""
        ended = drive.ended
        assert ended is not None  # outcome() waited for it
        user_s, system_s = usage.split(ended, cpu_s)
        return CallerRecord(
            cpu_user_s=user_s,
            cpu_system_s=system_s,
            cpu_process_s=ended.cpu_user_s + ended.cpu_system_s,
            rss_max_bytes=drive.usage.rss_max_bytes,
            switches_involuntary=ended.switches_involuntary,
            steal_s=metrics.growth(drive.usage.steal, *window),
            run_delay_s=metrics.growth(drive.usage.run_delay, *window),
            cores=self.setup.table.engine,
        )
