"""Runs a study again and reports which of its findings hold.

A reproduction is a folder: one run directory per part, ``study.json`` that
names what was run, ``findings.json`` with every judgement, and report.html.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirelab.errors import NotInstalled, UsageError
from wirelab.explain.cell_selector import CellSelector, level_words
from wirelab.explain.explanation import Explanation, explain
from wirelab.format.counting import format_count, of_all
from wirelab.records.trial import Trial
from wirelab.run import directory as run_directory
from wirelab.run import journal, keeping
from wirelab.run import runner as running
from wirelab.run.finished import GO_ON
from wirelab.run.manifest import MANIFEST
from wirelab.run.progress import Progress, Silent
from wirelab.run.runner import Run
from wirelab.run.time_limit import TimeLimit
from wirelab.study import catalogue as studies
from wirelab.study import claims as findings
from wirelab.study import crossover, published_comparison, winners
from wirelab.study import manifest as study_manifest
from wirelab.study import plan as planning
from wirelab.study.catalogue import Found
from wirelab.study.claims import Judgement
from wirelab.study.model import Claim, PairEntry, Study, WinnersEntry
from wirelab.study.winners import Contest, Square

FINDINGS = "findings.json"
QUICK_S = 210.0
"""Most seconds of a first look's trials. With starting and reporting it ends within four
minutes."""
FEW_CALLS = 5.0
"""Calls per user below which a cell is pointed out."""


@dataclass(frozen=True)
class WinnerTable:
    """The study's table of winners for one pair of arms."""

    pair: PairEntry
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class Reproduction:
    """What came out."""

    found: Found
    scale: float
    folder: Path
    runs: Mapping[str, Run]
    lines: tuple[published_comparison.Line, ...]
    tables: tuple[WinnerTable, ...]
    judgements: tuple[Judgement, ...]
    explanations: tuple[Explanation, ...]
    notes: tuple[str, ...]
    is_quick: bool = False
    """A first look: the parts, cells and repeats that the study names for it."""
    chosen: tuple[str, ...] = ()
    """The parts that were named; empty: those that the study runs by itself."""

    @property
    def incomplete(self) -> tuple[str, ...]:
        """What is missing, torn or was repeated, in sentences; in the notes too."""
        return _incomplete(self.parts, self.runs)

    @property
    def is_finished(self) -> bool:
        """True where every part was run to its end."""
        return _is_finished(self.parts, self.runs)

    @property
    def is_kept(self) -> bool:
        """True where the folders of the trials are left out."""
        return any(keeping.is_kept(run.folder) for run in self.runs.values())

    @property
    def parts(self) -> tuple[str, ...]:
        """What is run."""
        return planning.parts(self.found, quick=self.is_quick, chosen=self.chosen)

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that measured nothing."""
        return tuple(trial for run in self.runs.values() for trial in run.failed)

    def to_json(self) -> dict[str, object]:
        """For ``--json`` and findings.json."""
        return {
            "study": self.found.study.name,
            "scale": self.scale,
            "quick": self.is_quick,
            "parts": list(self.parts),
            "findings": [judgement.to_json() for judgement in self.judgements],
            "winners": [_table_json(table) for table in self.tables],
            "explanations": [explanation.to_json() for explanation in self.explanations],
            "not_rerun": [entry.model_dump() for entry in self.found.study.not_rerun],
            "notes": list(self.notes),
        }


def reproduce(
    name: str,
    out: Path,
    *,
    scale: float | None = None,
    quick: bool = False,
    progress: Progress | None = None,
    where: Path | None = None,
    retry_failed: bool = False,
    postgres: str = "",
    ready_timeout_s: float | None = None,
    share: bool = False,
    limit: TimeLimit | None = None,
    repeats: Mapping[str, int] | None = None,
    parts: Sequence[str] = (),
) -> Reproduction:
    """Runs every part that ``out`` does not hold yet, with ``retry_failed`` also the trials
    that it holds as failed, and judges all of it.

    ``scale`` is the share of the published calls; the study's default when None. ``quick`` runs
    what the study names for a first look, at no scale, and no longer than :data:`QUICK_S`.
    ``parts`` are run in place of those that the study runs by itself.
    ``postgres``, ``ready_timeout_s`` and ``share`` are those of :func:`wirelab.run.runner.run`;
    ``limit`` is the time for all parts together. ``repeats`` of a part are at least those of its
    file. Raises :class:`UsageError` for a name that is not a study, a scale that is not a share,
    and a first look or a part that the study does not have, and what
    :func:`wirelab.run.runner.run` raises. A part whose services are not installed is left out,
    unless no other part is left.
    """
    plan = planning.plan(
        studies.load(name, where), scale, quick=quick, repeats=repeats, chosen=parts
    )
    heard = progress or Silent()
    if limit is None:
        limit = TimeLimit(QUICK_S, counts_preparation=False) if quick else TimeLimit()
    _begin(out, plan)
    _refuse_other_cpu(out, plan.texts)
    for line in plan.announcement():
        heard.note(line)
    absent: list[NotInstalled] = []
    for number, (part, text) in enumerate(plan.texts.items(), 1):
        if limit.left_s <= 0:
            break
        heard.note(f"part {number} of {len(plan.texts)}: {part}")
        experiment = plan.experiments[part]
        try:
            running.run(
                experiment,
                out / part,
                source=text,
                progress=heard,
                retry_failed=retry_failed,
                whole=out,
                postgres=postgres if experiment.uses_postgres else "",
                ready_timeout_s=ready_timeout_s,
                share=share,
                limit=limit,
                # Its time is better spent on further cells.
                repeat_spoilt=not quick,
            )
        except NotInstalled as missing:
            absent.append(missing)
            heard.note(f"part {part} is not measured: {missing.message}; {missing.remedy}")
    if len(absent) == len(plan.texts):
        raise absent[0]
    return read(out, where)


def read(folder: Path, where: Path | None = None) -> Reproduction:
    """Judges the reproduction in a folder, finished or not, and writes findings.json.
    Raises :class:`UsageError` where there is none."""
    judged = judge_folder(folder, where)
    _write(folder / FINDINGS, judged.to_json())
    return judged


def judge_folder(folder: Path, where: Path | None = None) -> Reproduction:
    """The same, and writes nothing."""
    manifest = study_manifest.read(folder)
    found = studies.load(manifest.study, where)
    runs = {
        part: running.read(folder / part)
        for part in planning.parts(found, quick=manifest.quick, chosen=manifest.parts)
        if (folder / part / MANIFEST).exists()
    }
    return judge(found, manifest.scale, folder, runs, quick=manifest.quick, chosen=manifest.parts)


def judge(
    found: Found,
    scale: float,
    folder: Path,
    runs: Mapping[str, Run],
    *,
    quick: bool = False,
    chosen: tuple[str, ...] = (),
) -> Reproduction:
    """All that the study asks, on the runs that there are. Pure, except that it reads the study."""
    study = found.study

    def trials(*parts: str) -> list[Trial]:
        return [trial for part in parts if part in runs for trial in runs[part].trials]

    lines = tuple(
        line
        for entry in study.published
        for line in published_comparison.lines(
            found.published, trials(*entry.parts), entry, study.arms
        )
    )
    parts = planning.parts(found, quick=quick, chosen=chosen)
    contest = study.winners if study.winners and study.winners.part in parts else None
    tables = _tables(contest, found, trials(contest.part)) if contest else ()
    judgements = tuple(
        _judge(found, claim, trials(*study.parts_of(claim)))
        for claim in study.every_finding
        if set(study.parts_of(claim)) <= set(parts)
    )
    explanations = tuple(
        explain(trials(entry.part), ladder)
        for entry in study.every_ladder
        if entry.part in parts
        for ladder in entry.ladders(study.threshold)
    )
    incomplete = _incomplete(parts, runs)
    left = () if _is_finished(parts, runs) else _describe_omissions(judgements)
    kept = any(keeping.is_kept(run.folder) for run in runs.values())
    notes = (
        *((keeping.LEFT_OUT,) if kept else ()),
        *(() if quick else _others(study, parts)),
        *incomplete,
        *left,
        *_notes(runs, trials(*parts)),
    )
    return Reproduction(
        found, scale, folder, runs, lines, tables, judgements, explanations, notes, quick, chosen
    )


def _judge(found: Found, claim: Claim, trials: Sequence[Trial]) -> Judgement:
    crossing = claim.to_crossing(found.study.arms, found.study.threshold)
    if crossing is not None:
        return crossover.evaluate(trials, crossing)
    return findings.evaluate(trials, claim.finding(found.study.arms, found.study.threshold))


def _tables(entry: WinnersEntry, found: Found, trials: Sequence[Trial]) -> tuple[WinnerTable, ...]:
    return tuple(
        WinnerTable(
            pair,
            tuple(
                winners.square(
                    trials,
                    _contest(entry, found, pair, test),
                    figure,
                    entry.published[prop][test],
                    found.study.threshold,
                )
                for prop, figure in entry.properties.items()
                for test in entry.tests
            ),
        )
        for pair in entry.pairs
    )


def _contest(entry: WinnersEntry, found: Found, pair: PairEntry, test: str) -> Contest:
    a, b = (
        CellSelector.of({"stack": found.study.arms[arm].stack}).change(entry.tests[test])
        for arm in (pair.a, pair.b)
    )
    return Contest(test, a, b, entry.vary, entry.levels)


def _notes(runs: Mapping[str, Run], trials: Sequence[Trial]) -> tuple[str, ...]:
    """What a reader must know before believing: failures, thin cells, what was left out."""
    notes = [
        f"{of_all(len(run.failed), len(run.trials), 'trial')} of part {part} failed; the first: "
        f"{run.failed[0].reason}"
        for part, run in runs.items()
        if run.failed
    ]
    notes += [f"Part {part}: {why}" for part, run in runs.items() for why in run.unavailable]
    thin = _thin(trials)
    if thin:
        fewest, trial = min(thin, key=lambda entry: entry[0])
        notes.append(
            f"In {of_all(len(thin), len(trials), 'trial')}, users made fewer than {FEW_CALLS:g} "
            f"calls each within the window. The lowest average is {fewest:.1f} calls, with "
            f"{_cell_words(trial)}."
        )
    return tuple(notes)


def _is_finished(parts: Sequence[str], runs: Mapping[str, Run]) -> bool:
    return all(part in runs and runs[part].is_finished for part in parts)


def _describe_omissions(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    """The findings for which trials are missing."""
    left = [judged.finding.id for judged in judgements if not judged.is_measured]
    if not left:
        return ()
    return (f"It left {of_all(len(left), len(judgements), 'finding')}: {', '.join(left)}.",)


def _others(study: Study, parts: Sequence[str]) -> tuple[str, ...]:
    """The parts that were not to be run, and how they are."""
    left = [part for part in study.every_part if part not in parts]
    if not left:
        return ()
    names = f"{format_count(len(left), 'part')} ({', '.join(left)})"
    command = f"`wirelab reproduce {study.name} --part NAME`"
    return (f"Not in this run: {names}. {command} measures one.",)


def _incomplete(parts: Sequence[str], runs: Mapping[str, Run]) -> tuple[str, ...]:
    missing = [f"Part {part} has not been run yet. {GO_ON}" for part in parts if part not in runs]
    torn = [f"Part {part}: {why}" for part, run in runs.items() for why in run.incomplete]
    return (*missing, *torn)


def _cell_words(trial: Trial) -> str:
    point = trial.point
    level = {"bytes": point.bytes, "users": point.load.users}
    return f"{point.stack}, {point.operation}, {level_words(level)}"


def _thin(trials: Sequence[Trial]) -> list[tuple[float, Trial]]:
    """Calls per user, where few."""
    shares = [
        (trial.result.calls / (trial.point.load.users or 1), trial)
        for trial in trials
        if trial.status == "measured" and trial.point.load.users
    ]
    return [(share, trial) for share, trial in shares if share < FEW_CALLS]


def _begin(out: Path, plan: planning.Plan) -> None:
    """Begins the folder or takes it up again; another study, scale or choice is refused."""
    found = plan.found
    described = study_manifest.Reproduced(
        found.study.name, plan.scale, found.sha256, plan.is_quick, plan.chosen
    )
    if study_manifest.is_reproduction(out):
        before = study_manifest.read(out)
        if before != described:
            raise UsageError(
                f"{out} holds {before.study} at scale {before.scale}, or other parts, or the "
                "study's files have changed since",
                "give another --out",
            )
        return
    refused = run_directory.refusal(out, "reproduction")
    if refused is not None:
        raise refused
    try:
        run_directory.make_private(out)
    except OSError as error:
        raise UsageError(f"{out} cannot be made: {error.strerror}", "give another --out") from error
    _write(out / study_manifest.NAME, msgspec.to_builtins(described))


def _refuse_other_cpu(out: Path, parts: Iterable[str]) -> None:
    """All parts are measured on one CPU model. Raises :class:`RunDirectoryError`."""
    for part in parts:
        if (out / part / MANIFEST).exists():
            manifest = run_directory.read_manifest(out / part)
            run_directory.refuse_other_cpu(out / part, manifest)


def _write(path: Path, content: Mapping[str, object]) -> None:
    try:
        run_directory.write_whole(path, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise journal.storage_error(error, path) from error


def _table_json(table: WinnerTable) -> dict[str, object]:
    return {
        "pair": table.pair.label,
        "tally": winners.tally(table.squares),
        "squares": [
            {
                "test": entry.test,
                "property": entry.property,
                "published": entry.published,
                "verdict": entry.verdict,
                "reason": entry.reason,
                "winner": entry.winner,
                "scores": [
                    {
                        "rule": score.rule,
                        "estimate": score.interval.estimate if score.interval else None,
                        "low": score.interval.low if score.interval else None,
                        "high": score.interval.high if score.interval else None,
                        "verdict": score.verdict,
                        "reason": score.reason,
                    }
                    for score in entry.scores
                ],
            }
            for entry in table.squares
        ],
    }
