"""``wirelab run``, ``demo`` and ``report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirelab import experiment_file
from wirelab.cli import results
from wirelab.cli.edges import err, told
from wirelab.progress import OnConsole

DEMO = Path(__file__).parent.parent / "experiments" / "demo.yaml"

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Run directory; an unfinished run in it goes on.", metavar="DIR"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@told
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file.", metavar="FILE")],
    directory: Out = None,
    as_json: AsJson = False,
) -> int:
    """Run an experiment, or go on with it where it was interrupted."""
    return _run(file, directory, as_json)


@told
def demo(directory: Out = None, as_json: AsJson = False) -> int:
    """Measure REST with JSON beside gRPC on the embedded services."""
    return _run(DEMO, directory, as_json)


@told
def report(
    directory: Annotated[Path, typer.Argument(help="Run directory.", metavar="DIR")],
    as_json: AsJson = False,
) -> int:
    """Print a run's results again and write its report anew."""
    from wirelab import running

    return results.show(running.read(directory), as_json=as_json)


def _run(file: Path, directory: Path | None, as_json: bool) -> int:
    from wirelab import running

    experiment = experiment_file.load(file)
    folder = directory or default_directory(experiment.name)
    source = file.read_text(encoding="utf-8")
    err.print(f"run directory: {folder}", markup=False, soft_wrap=True)
    finished = running.run(experiment, folder, source=source, progress=OnConsole(err))
    return results.show(finished, as_json=as_json)


def default_directory(name: str) -> Path:
    """``runs/<name>-<UTC time>``."""
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
