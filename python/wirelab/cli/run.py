"""``wirelab run``, ``demo`` and ``report``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.error_handling import err, exit_with_code
from wirelab.cli.options.clients import CLIENTS, FARM, ClientsOptions, FarmOptions
from wirelab.cli.options.common import (
    AS_JSON,
    DIRECTORY,
    OPTIONS,
    PATH,
    READY_TIMEOUT,
    SHARE,
    VERBOSE,
    DirectoryOptions,
    GroupedCommand,
    option_group,
)
from wirelab.cli.options.completion import complete_experiment
from wirelab.cli.options.run import EXPORT, RunOptions
from wirelab.cli.options.thresholds import THRESHOLDS, ThresholdOptions
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from wirelab.clients.ray_connection import Cluster
    from wirelab.experiment.model import Experiment
    from wirelab.run.progress import Progress

DEMO, DEMO_QUICK = (
    Path(__file__).parent.parent / "experiments" / name for name in ("demo.yaml", "demo-quick.yaml")
)


@click.command(cls=GroupedCommand)
@click.argument(
    "file",
    type=PATH,
    shell_complete=complete_experiment,
    help="Experiment file, or the name of one that comes with wirelab.",
)
@DIRECTORY
@option_group("options", RunOptions, OPTIONS)
@CLIENTS
@FARM
@option_group("thresholds", ThresholdOptions, THRESHOLDS)
@EXPORT
@AS_JSON
@exit_with_code
def run(
    file: Path,
    directory: DirectoryOptions,
    options: RunOptions,
    clients: ClientsOptions,
    farm: FarmOptions,
    thresholds: ThresholdOptions,
    export: Sequence[Path],
    as_json: bool,
) -> int:
    """Run an experiment, or continue it where it was interrupted."""
    places = Places(clients, farm)
    return _run(file, directory, options, places, thresholds, export, as_json=as_json)


@click.command(cls=GroupedCommand)
@DIRECTORY
@click.option("--quick", is_flag=True, help="Small messages only: an answer in 20 seconds.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Trials per cell, in place of the demo's.",
)
@READY_TIMEOUT
@SHARE
@AS_JSON
@exit_with_code
def demo(
    directory: DirectoryOptions,
    quick: bool,
    repeats: int | None,
    ready_timeout_s: float | None,
    share: bool,
    as_json: bool,
) -> int:
    """Measure REST with JSON against gRPC on the services in Rust."""
    return _run(
        DEMO_QUICK if quick else DEMO,
        directory,
        RunOptions(repeats=repeats, ready_timeout_s=ready_timeout_s, share=share),
        Places(ClientsOptions(), FarmOptions()),
        ThresholdOptions(),
        (),
        as_json=as_json,
    )


@click.command(cls=GroupedCommand)
@click.argument("directory", type=PATH, metavar="DIR", help="Run directory.")
@option_group("thresholds", ThresholdOptions, THRESHOLDS)
@click.option(
    "--picture",
    type=PATH,
    metavar="FILE",
    help="Also write the main chart as SVG.",
)
@EXPORT
@VERBOSE
@AS_JSON
@exit_with_code
def report(
    directory: Path,
    thresholds: ThresholdOptions,
    picture: Path | None,
    export: Sequence[Path],
    verbose: bool,
    as_json: bool,
) -> int:
    """Print the results of a run or reproduction again and rewrite its report."""
    from wirelab.cli.output import run as results
    from wirelab.run import finished as finished_run
    from wirelab.study import manifest as study_manifest

    conditions = thresholds.conditions()
    if picture is not None:
        results.accept_picture(picture)
    for target in export:
        results.accept_export(target)
    if study_manifest.is_reproduction(directory):
        from wirelab.cli.output import reproduce as reproduced
        from wirelab.study import reproduction

        if conditions:
            raise UsageError(
                f"--fail-if: {directory} is a reproduction, which is evaluated by its own findings",
                "give the folder of one of its parts",
            )
        made = reproduction.read(directory)
        if export:
            raise UsageError(
                f"--export: {directory} is a reproduction, which consists of several runs",
                f"give one of them, e.g. {directory / made.found.study.parts[0]}",
            )
        if picture is not None:
            results.draw(directory / made.found.study.parts[0], picture)
        return reproduced.show(made, as_json=as_json, verbose=verbose)
    found = finished_run.read(directory)
    if picture is not None:
        results.draw(directory, picture)
    shown = results.show(found, as_json=as_json, conditions=conditions, junit=thresholds.junit)
    for target in export:
        results.export(found, target)
    return shown


def _run(
    file: Path,
    directory: DirectoryOptions,
    options: RunOptions,
    places: Places,
    thresholds: ThresholdOptions,
    export: Sequence[Path],
    *,
    as_json: bool,
) -> int:
    directory.check()
    places.check(options)
    conditions = thresholds.conditions()
    from wirelab import installation
    from wirelab.cli.output import run as results

    for target in export:
        results.accept_export(target)
    file = installation.experiment(file)
    from wirelab.experiment import loading as experiment_file

    source = experiment_file.read(file)
    from wirelab.cli.output.named_services import with_number

    source = with_number(source, "repeats", options.repeats)
    source = with_number(source, "clients", places.clients.clients)
    experiment = experiment_file.parse(source, str(places.name(file)))
    if options.plan:
        from wirelab.cli.output import plan

        return plan.show(experiment, as_json=as_json)
    test_findings = options.test_findings or experiment.test_findings
    if test_findings:
        places.refuse_test()
        _accept_test(experiment, file)
    folder = directory.folder(experiment.name)
    err.print(f"run directory: {folder}")

    from wirelab.run.progress import OnConsole

    progress = OnConsole(err)
    tested = EXIT_OK
    if (cluster := places.cluster()) is not None:
        from wirelab.farm.host import HostOptions
        from wirelab.run.farming import run_on_farm

        finished = run_on_farm(
            experiment,
            folder,
            cluster,
            source=source,
            options=HostOptions(options.unverified, options.ready_timeout_s, options.share),
            progress=progress,
            retry_failed=directory.retry_failed,
        )
    else:
        from wirelab.cli.output.monitoring import serve_metrics
        from wirelab.run import runner as running

        with (
            serve_metrics(progress, options.metrics_port) as watched,
            places.clients.open_pool() as pool,
        ):
            finished = running.run(
                experiment,
                folder,
                source=source,
                progress=watched,
                unverified=options.unverified,
                retry_failed=directory.retry_failed,
                postgres=options.postgres,
                any_target=options.any_target,
                ready_timeout_s=options.ready_timeout_s,
                share=options.share,
                clients=pool,
            )
            tested = _test_findings(folder, watched, options) if test_findings else EXIT_OK
    shown = results.show(
        finished,
        as_json=as_json,
        reported=progress.reported,
        conditions=conditions,
        junit=thresholds.junit,
    )
    for target in export:
        results.export(finished, target)
    return EXIT_FAILED if EXIT_FAILED in (shown, tested) else shown or tested


@dataclass(frozen=True)
class Places:
    """Where the load of a trial is made, and where the trials run."""

    clients: ClientsOptions
    farm: FarmOptions

    def cluster(self) -> Cluster | None:
        """Of the farm; None: trials run on this machine. Raises :class:`UsageError`."""
        return self.farm.cluster(insecure=self.clients.insecure_ray)

    def name(self, file: Path) -> Path:
        """The experiment file, by which other hosts find the files that it names."""
        return file if self.farm.farm is None else file.absolute()

    def check(self, options: RunOptions) -> None:
        """Raises :class:`UsageError` for options that a farm cannot follow."""
        if self.cluster() is None:
            return
        self.clients.refuse_farm()
        reasons = {
            "--postgres": (options.postgres, "trials of all hosts would share one server"),
            "--metrics-port": (
                options.metrics_port is not None,
                "the metrics are those of one trial under way, and a farm has many",
            ),
            "--plan": (options.plan, "it starts nothing, on any host"),
        }
        for name, (given, reason) in reasons.items():
            if given:
                raise UsageError(f"{name} with --farm: {reason}", "leave one of the two out")

    def refuse_test(self) -> None:
        """Raises :class:`UsageError` for a test of findings, whose trials would follow here."""
        if self.cluster() is not None:
            raise UsageError(
                "findings are tested on this machine, which is not a host of the farm",
                "leave out --test-findings and test_findings with --farm",
            )


def _accept_test(experiment: Experiment, file: Path) -> None:
    """Raises :class:`UsageError` for an experiment whose findings cannot be tested."""
    from wirelab.experiment.capture_ends import NO_CAPTURE

    if set(experiment.capture) == {NO_CAPTURE}:
        raise UsageError(f"--test-findings: {file} captures no packets", "add `capture: client`")
    if experiment.external_services:
        raise UsageError(
            f"--test-findings: {file} has services of your own, and the test changes settings that "
            "only services of wirelab have",
            "leave --test-findings out",
        )


def _test_findings(folder: Path, progress: Progress, options: RunOptions) -> int:
    """Tests the packet findings and returns the exit code. The results are shown in any case."""
    from wirelab.run.adaptive import testing

    try:
        made = testing.intervene(
            folder,
            progress=progress,
            unverified=options.unverified,
            postgres=options.postgres,
            ready_timeout_s=options.ready_timeout_s,
            share=options.share,
        )
    except UsageError as error:
        progress.note(f"nothing was tested: {error.message}")
        return EXIT_OK
    return EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]
