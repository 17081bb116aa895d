"""Output at the end of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.checks.system_noise import spoilt_by
from wirelab.cli.error_handling import fold, out
from wirelab.cli.options.common import accept_folder
from wirelab.cli.output import thresholds as verdicts
from wirelab.errors import EXIT_FAILED, EXIT_OK, UsageError
from wirelab.format.sanitize import sanitize
from wirelab.run import directory as run_directory
from wirelab.run import finished, keeping

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Condition, Judged
    from wirelab.records.trial import Trial
    from wirelab.run.finished import Run
    from wirelab.run.manifest import Manifest

RETRY = "To measure failed trials again, use --retry-failed with the same --out."
EXPORTS = (".csv", ".parquet", ".json", ".jsonl", ".openmetrics", ".hlog")
"""File name extensions of exports."""
FAILED_MAX = 3
"""Maximum number of failed trials to list."""


def show(
    run: Run,
    *,
    as_json: bool,
    reported: Collection[str] = (),
    conditions: Sequence[Condition] = (),
    junit: Path | None = None,
) -> int:
    """Prints the results, writes the report, and writes the verdicts of ``conditions`` to
    ``junit``; returns the exit code. ``reported`` are ids of trials whose failure was already
    printed. Raises :class:`UsageError` if ``junit`` cannot be written."""
    written = Written.of(run)
    judged = _judge(run, conditions)
    if as_json:
        summary = written.document()
        if conditions:
            summary["conditions"] = [one.to_json() for one in judged]
        print(json.dumps(summary, indent=1))
    else:
        written.show(reported)
        verdicts.show_verdicts(judged, out.width)
    verdicts.write_junit(run.folder.name, judged, junit)
    return written.exit_code or verdicts.exit_code(judged)


@dataclass(frozen=True)
class Written:
    """A run whose report is written."""

    run: Run
    page: Path
    manifest: Manifest

    @classmethod
    def of(cls, run: Run) -> Written:
        """Writes the report. Raises :class:`WirelabError`."""
        from wirelab.report.page import write_page

        page = write_page(run.folder)
        return cls(run, page, run_directory.read_manifest(run.folder))

    @property
    def exit_code(self) -> int:
        """1 if trials failed, or measured only errors."""
        run = self.run
        bad = run.failed or not run.trials or any(map(_answers_nothing, run.trials))
        return EXIT_FAILED if bad else EXIT_OK

    def document(self) -> dict[str, object]:
        """What ``--json`` prints."""
        return _summary(self.run, self.page, self.manifest)

    def show(self, reported: Collection[str] = ()) -> None:
        """Prints the results; not the failures of the trials whose ids are in ``reported``."""
        failed = [trial for trial in self.run.failed if trial.id not in reported]
        _print(self.run, self.page, self.manifest, failed)


def _answers_nothing(trial: Trial) -> bool:
    """True if all calls failed, so that the trial measured only errors."""
    return trial.result.errors > 0 and trial.result.ok == 0


def _judge(run: Run, conditions: Sequence[Condition]) -> tuple[Judged, ...]:
    if not conditions:
        return ()
    from wirelab.explain import thresholds
    from wirelab.statistics.cell import cells

    return thresholds.judge(conditions, cells(run.trials))


def point(text: str, mark: str = "•", style: str = "") -> None:
    """Prints a sentence after its mark, with a hanging indent."""
    said = fold(f"{mark} {sanitize(text)}", out.width)
    out.print(said, style)


def draw(folder: Path, file: Path) -> None:
    """Writes a run's main chart. Raises :class:`UsageError` if there is nothing to draw or the
    file cannot be written."""
    from wirelab.report.charts.overview import overview_picture
    from wirelab.report.source import Source

    drawn = overview_picture(Source.read(folder))
    if drawn is None:
        raise UsageError(f"--picture: no trial in {folder} has a rate, so there is nothing to draw")
    try:
        run_directory.write_whole(file, drawn)
    except OSError as error:
        raise UsageError(f"--picture {file} cannot be written: {error.strerror}") from error


def export(run: Run, file: Path) -> None:
    """Writes every figure of a run, or its histograms, in the format of the file name extension.
    Raises :class:`UsageError` if the file cannot be written."""
    from wirelab.report import export as exports

    made: str | bytes
    if file.suffix == ".hlog":
        made = exports.to_hlog(run.folder, run.trials)
    elif file.suffix == ".json":
        made = json.dumps(_figures(run, run_directory.read_manifest(run.folder)), indent=1) + "\n"
    else:
        writers: dict[str, Callable[[Sequence[Trial]], str | bytes]] = {
            ".csv": exports.to_csv,
            ".parquet": exports.to_parquet,
            ".jsonl": exports.to_jsonl,
            ".openmetrics": exports.to_openmetrics,
        }
        made = writers[file.suffix](run.trials)
    try:
        run_directory.write_whole(file, made)
    except OSError as error:
        raise UsageError(f"--export {file} cannot be written: {error.strerror}") from error


def accept_picture(file: Path) -> None:
    """Raises :class:`UsageError` for a file that cannot be used for the chart."""
    if file.suffix != ".svg":
        raise UsageError(
            f"--picture {file} is not an SVG file", "give a file name that ends in .svg"
        )
    accept_folder("--picture", file)


def accept_export(file: Path) -> None:
    """Raises :class:`UsageError` for a file that cannot be used for the export."""
    if file.suffix not in EXPORTS:
        raise UsageError(
            f"--export {file}: unknown format",
            f"give a file name that ends in {', '.join(EXPORTS[:-1])} or {EXPORTS[-1]}",
        )
    accept_folder("--export", file)


def _print(run: Run, page: Path, manifest: Manifest, failed: Sequence[Trial]) -> None:
    from wirelab.report.findings.sentences import sentences
    from wirelab.report.sections import tested_findings
    from wirelab.report.terminal import terminal_table
    from wirelab.run.adaptive import recorded

    for sentence in run.incomplete:
        point(sentence, "!", style="yellow")
    if keeping.is_kept(run.folder):
        point(keeping.LEFT_OUT)
    first, *others = sentences(run.trials, manifest.threshold_in_use, manifest.comparison)
    out.print(fold(sanitize(first), out.width), "bold")
    out.print()
    for text, style in terminal_table(run.trials, manifest.threshold_in_use):
        out.print(text, style)
    for sentence in others:
        point(sentence)
    outcome = recorded.read(run.folder)
    for line in tested_findings.lines(outcome) if outcome else ():
        out.print(line)
    for trial in failed[:FAILED_MAX]:
        point(f"{trial.id}: {trial.reason}", "failed:")
    if len(failed) > FAILED_MAX:
        out.print(f"and {len(failed) - FAILED_MAX} more; the report lists all of them under Checks")
    if run.failed:
        out.print(fold(RETRY, out.width))
    there = finished.trials_of(run.trials, run.planned)
    out.print(f"\n{there}, {len(run.failed)} failed.")
    out.print(f"Report: {page}")


def _figures(run: Run, manifest: Manifest) -> dict[str, object]:
    """Every figure, comparison and sentence, the same in all outputs."""
    from wirelab.report.export import to_json

    return to_json(run.trials, manifest.threshold_in_use, manifest.comparison)


def _summary(run: Run, page: Path, manifest: Manifest) -> dict[str, object]:
    from wirelab.run.adaptive import recorded

    outcome = recorded.read(run.folder)
    return {
        "directory": str(run.folder),
        "report": str(page),
        "trials": len(run.trials),
        "trials_planned": run.planned,
        "torn": run.torn,
        "repeated": [
            {"id": trial.id, "reason": trial.reason or spoilt_by(trial)} for trial in run.repeated
        ],
        "failed": [{"id": trial.id, "reason": trial.reason} for trial in run.failed],
        "skipped": list(run.skipped),
        **_figures(run, manifest),
        **({"findings_tested": outcome.to_json()} if outcome else {}),
    }
