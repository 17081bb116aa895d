"""``wirelab run``, ``demo`` and ``report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirelab import experiment_file
from wirelab.cli import results
from wirelab.cli.edges import err, told
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError
from wirelab.experiment import NO_CAPTURE
from wirelab.progress import OnConsole

DEMO = Path(__file__).parent.parent / "experiments" / "demo.yaml"

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Run directory; an unfinished run in it goes on.", metavar="DIR"),
]
Unverified = Annotated[
    bool,
    typer.Option(
        "--unverified", help="Measure services too that did not pass `verify`; marks the results."
    ),
]
RetryFailed = Annotated[
    bool,
    typer.Option("--retry-failed", help="Measure the trials again that failed in --out."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print the study's winners and causes too.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@told
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file.", metavar="FILE")],
    directory: Out = None,
    unverified: Unverified = False,
    retry_failed: RetryFailed = False,
    test_findings: Annotated[
        bool,
        typer.Option(
            "--test-findings",
            help="Then test what its packets show, as `dissect --test` does, with its exit code.",
        ),
    ] = False,
    as_json: AsJson = False,
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


@told
def demo(directory: Out = None, retry_failed: RetryFailed = False, as_json: AsJson = False) -> int:
    """Measure REST with JSON beside gRPC on the embedded services."""
    return _run(DEMO, directory, as_json, retry_failed=retry_failed)


@told
def report(
    directory: Annotated[Path, typer.Argument(help="Run directory.", metavar="DIR")],
    picture: Annotated[
        Path | None,
        typer.Option(help="Write the main picture too, as an SVG file.", metavar="FILE"),
    ] = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> int:
    """Print the results of a run or a reproduction again and write its report anew."""
    from wirelab import reproduction, running

    if picture is not None:
        results.accept_picture(picture)
    if reproduction.is_reproduction(directory):
        from wirelab.cli.reproduce import show

        made = reproduction.read(directory)
        if picture is not None:
            results.draw(directory / made.found.study.parts[0], picture)
        return show(made, as_json=as_json, verbose=verbose)
    found = running.read(directory)
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
    from wirelab import intervention, running

    accept_retry(retry_failed, directory)
    experiment = experiment_file.load(file)
    test_findings = test_findings or experiment.test_findings
    if test_findings and set(experiment.capture) == {NO_CAPTURE}:
        raise UsageError(f"--test-findings: {file} captures nothing", "add `capture: client`")
    folder = directory or default_directory(experiment.name)
    source = file.read_text(encoding="utf-8")
    err.print(f"run directory: {folder}", markup=False, soft_wrap=True)
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
        try:
            made = intervention.intervene(folder, progress=progress, unverified=unverified)
            tested = EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]
        except UsageError as error:  # what was measured is shown all the same
            progress.note(f"nothing was tested: {error.message}")
    return results.show(finished, as_json=as_json, told=progress.told) or tested


def accept_retry(retry_failed: bool, directory: Path | None) -> None:
    """Raises :class:`UsageError` where there is nothing that could have failed."""
    if retry_failed and directory is None:
        raise UsageError("--retry-failed needs the run", "name its directory: --out DIR")


def default_directory(name: str) -> Path:
    """``runs/<name>-<UTC time>``."""
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
