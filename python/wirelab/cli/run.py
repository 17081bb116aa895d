"""``wirelab run``, ``demo`` and ``report``."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.error_handling import err, exit_with_code
from wirelab.cli.options import AS_JSON, OUT, PATH, RETRY_FAILED, UNVERIFIED, VERBOSE
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError

DEMO = Path(__file__).parent.parent / "experiments" / "demo.yaml"


@click.command()
@click.argument("file", type=PATH, help="Experiment file.")
@OUT
@UNVERIFIED
@RETRY_FAILED
@click.option(
    "--test-findings",
    is_flag=True,
    help="Then test what its packets show, as `dissect --test` does, with its exit code.",
)
@AS_JSON
@exit_with_code
def run(
    file: Path,
    directory: Path | None,
    unverified: bool,
    retry_failed: bool,
    test_findings: bool,
    as_json: bool,
) -> int:
    """Run an experiment, or go on with it where it was interrupted."""
    return _run(
        file,
        directory,
        as_json,
        unverified=unverified,
        retry_failed=retry_failed,
        test_findings=test_findings,
    )


@click.command()
@OUT
@RETRY_FAILED
@AS_JSON
@exit_with_code
def demo(directory: Path | None, retry_failed: bool, as_json: bool) -> int:
    """Measure REST with JSON beside gRPC on the embedded services."""
    return _run(DEMO, directory, as_json, retry_failed=retry_failed)


@click.command()
@click.argument("directory", type=PATH, metavar="DIR", help="Run directory.")
@click.option(
    "--picture",
    type=PATH,
    metavar="FILE",
    help="Write the main picture too, as an SVG file.",
)
@VERBOSE
@AS_JSON
@exit_with_code
def report(directory: Path, picture: Path | None, verbose: bool, as_json: bool) -> int:
    """Print the results of a run or a reproduction again and write its report anew."""
    from wirelab.cli import run_output as results
    from wirelab.run import finished as finished_run
    from wirelab.study import manifest as study_manifest

    if picture is not None:
        results.accept_picture(picture)
    if study_manifest.is_reproduction(directory):
        from wirelab.cli import reproduce_output as reproduced
        from wirelab.study import reproduction

        made = reproduction.read(directory)
        if picture is not None:
            results.draw(directory / made.found.study.parts[0], picture)
        return reproduced.show(made, as_json=as_json, verbose=verbose)
    found = finished_run.read(directory)
    if picture is not None:
        results.draw(directory, picture)
    return results.show(found, as_json=as_json)


def _run(
    file: Path,
    directory: Path | None,
    as_json: bool,
    *,
    unverified: bool = False,
    retry_failed: bool = False,
    test_findings: bool = False,
) -> int:
    from wirelab.cli.directories import accept_retry, default_directory

    accept_retry(retry_failed, directory)
    from wirelab.experiment import loading as experiment_file
    from wirelab.experiment.capture_ends import NO_CAPTURE

    experiment = experiment_file.load(file)
    test_findings = test_findings or experiment.test_findings
    if test_findings and set(experiment.capture) == {NO_CAPTURE}:
        raise UsageError(f"--test-findings: {file} captures nothing", "add `capture: client`")
    folder = directory or default_directory(experiment.name)
    source = file.read_text(encoding="utf-8")
    err.print(f"run directory: {folder}")

    from wirelab.cli import run_output as results
    from wirelab.run import runner as running
    from wirelab.run.progress import OnConsole

    progress = OnConsole(err)
    finished = running.run(
        experiment,
        folder,
        source=source,
        progress=progress,
        unverified=unverified,
        retry_failed=retry_failed,
    )
    tested = EXIT_OK
    if test_findings:
        from wirelab.run import adaptive as intervention

        try:
            made = intervention.intervene(folder, progress=progress, unverified=unverified)
            tested = EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]
        except UsageError as error:  # what was measured is shown all the same
            progress.note(f"nothing was tested: {error.message}")
    return results.show(finished, as_json=as_json, told=progress.told) or tested
