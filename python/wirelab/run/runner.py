"""Runs an experiment into a run directory, and continues interrupted runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from wirelab.clients.ray_connection import THIS_MACHINE
from wirelab.clients.together import ClientPool
from wirelab.errors import (
    Interrupted,
    NotInstalled,
    ToolMissing,
    UsageError,
)
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.experiment.matrix import Cell, PlannedTrial, Schedule
from wirelab.experiment.model import Experiment
from wirelab.format.units import format_minutes, format_seconds
from wirelab.identity import Admission
from wirelab.process import engine_binary, proxies, rust_programs
from wirelab.process.callers import CallerPrograms
from wirelab.process.core_locks import CoreLocks
from wirelab.process.databases import MAX_CONNECTIONS, Stores
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs
from wirelab.records.trial import Trial
from wirelab.run.directory import RunDirectory
from wirelab.run.finished import Run as Run
from wirelab.run.finished import read as read
from wirelab.run.journal import Line
from wirelab.run.manifest import Comparison
from wirelab.run.progress import Progress, RemainingWork, Silent
from wirelab.run.repeating import find_done, find_spoilt, run_guarded, shares_cores
from wirelab.run.time_limit import TimeLimit
from wirelab.stack import manifests
from wirelab.stack.axes import CLIENTS, ENGINE
from wirelab.stack.link_names import LOOPBACK
from wirelab.trial.acceptance import accept_files, needs_json_library
from wirelab.trial.labels import Names
from wirelab.trial.runner import try_out
from wirelab.trial.setup import Lab
from wirelab.trial.slice_length import SliceLengths
from wirelab.trial.sliced import measure_trial


def run(
    experiment: Experiment,
    out: Path,
    *,
    source: str,
    progress: Progress | None = None,
    interruption: Interruption | None = None,
    unverified: bool = False,
    retry_failed: bool = False,
    postgres: str = "",
    any_target: bool = False,
    ready_timeout_s: float | None = None,
    share: bool = False,
    enough: Callable[[Sequence[Trial]], bool] | None = None,
    comparison: Comparison | None = None,
    whole: Path | None = None,
    limit: TimeLimit | None = None,
    repeat_spoilt: bool = True,
    clients: ClientPool | None = None,
) -> Run:
    """Measures the trials that ``out`` does not contain yet. ``source`` is the text of the
    experiment file. ``unverified`` also measures services whose verification did not pass.
    ``retry_failed`` repeats failed trials in ``out``. ``postgres`` is the URL of a running server
    for ``store=postgres``; by default wirelab starts its own. ``any_target`` allows other machines
    that the experiment lists. ``ready_timeout_s`` is the time without progress after which a
    service that is not ready is given up, in seconds; by default
    :data:`wirelab.process.readiness.READY_TIMEOUT_S`, or that in the file. ``share``, or
    ``WIRELAB_SHARE=1`` in the environment, runs next to other work on the same cores instead of
    waiting for other runs; spoilt trials are then marked and not repeated. The run ends early once
    ``enough`` returns true for the trials so far. The manifest keeps ``comparison``. ``whole`` is
    the directory that the user named, if ``out`` is a part of it. The run stays unfinished once
    ``limit`` does not allow its next trial. Without ``repeat_spoilt``, spoilt
    trials are only marked. ``clients`` divide the loads of an experiment with several; by default
    the run starts its own on this machine.

    Failed trials are recorded in the journal, and the run continues. Raises
    :class:`ExperimentError`, :class:`RunDirectoryError`, :class:`LabError`, :class:`StorageError`,
    and :class:`Interrupted` after Ctrl-C; finished trials are always on the disk.
    """
    progress, limit = progress or Silent(), limit or TimeLimit()
    share = shares_cores(share)
    repeat_spoilt = repeat_spoilt and not share
    experiment.secrets.require()
    engine_binary.find()
    catalogue = manifests.load()
    planned = planning.schedule(experiment, catalogue)
    accept_files(planned)
    distant = _accept_targets(experiment, planned, any_target=any_target)
    if postgres:
        _accept_postgres(planned)
    cores = {core for choice in experiment.placement for core in placement.choose(choice).used}
    with (
        experiment.secrets.known.hide_in_errors(),
        interruption or Interruption() as stop,
        RunDirectory(out, experiment, source, comparison) as directory,
        CoreLocks(sorted(cores), share=share, interruption=stop, on_note=progress.note) as locks,
        Scratch() as scratch,
        Stores(stop, postgres) as stores,
        _open_clients(experiment, clients) as pool,
    ):
        with limit.count_preparation():
            if any(needs_json_library(cell) for trial in planned.trials for cell in trial.cells):
                rust_programs.program(rust_programs.JSON_ENGINE, stop, progress.building)
        programs = Programs(catalogue, progress.building)
        admission = Admission(
            programs,
            stop,
            unverified=unverified,
            postgres=postgres,
            ready_timeout_s=ready_timeout_s,
        )
        lab = Lab(
            experiment,
            programs,
            admission,
            scratch,
            stop,
            stores,
            SliceLengths(experiment.slice),
            on_progress=progress.update,
            on_runtime=progress.runtime,
            callers=CallerPrograms(progress.building),
            clients=pool,
            ready_timeout_s=ready_timeout_s,
            other_runs=locks.others,
            repeats_spoilt=repeat_spoilt,
        )
        if distant:
            progress.note(distant)
        for line in planned.sizes:
            progress.note(line)
        for reason in planned.apart:
            progress.note(f"one service at a time: {reason}")
        done = find_done(directory.journal, retry_failed, repeat_spoilt=repeat_spoilt)
        with limit.count_preparation():
            planned = _callable(lab, planned, done, progress)
            try_out(lab, (trial for trial in planned.trials if trial.id not in done))
            if pool is not None and any(trial.id not in done for trial in planned.trials):
                pool.start(experiment.clients, stop)
        todo = [trial for trial in planned.trials if trial.id not in done]
        work = RemainingWork(
            [planning.seconds(experiment, trial) for trial in todo],
            len(planned.trials) - len(todo),
            at_most=experiment.window.calls is not None,
            ends_early=enough is not None,
            names=Names.of(cell.point for trial in planned.trials for cell in trial.cells).stacks,
        )
        progress.begin(work)
        with limit.count_preparation():
            _prepare(lab, planned, directory, done, progress)
        end = _End(enough or (lambda _: False), limit)
        _measure_all(lab, planned, directory, done, progress, end, whole or out)
    return read(out)


def _open_clients(
    experiment: Experiment, given: ClientPool | None
) -> AbstractContextManager[ClientPool | None]:
    """The clients of the run, if it has several. Raises :class:`UsageError`."""
    if experiment.clients > 1:
        return ClientPool() if given is None else nullcontext(given)
    if given is not None and given.cluster != THIS_MACHINE:
        raise UsageError("--hosts: one client runs on this machine", "give --clients 2 or more")
    return nullcontext()


def _accept_targets(experiment: Experiment, planned: Schedule, *, any_target: bool) -> str:
    """Describes the load on other machines; empty if there is none. Raises
    :class:`UsageError` if it is not allowed, or if the number of calls has no bound."""
    distant = [trial for trial in planned.trials if _is_distant(trial)]
    if not distant:
        return ""
    cells = (cell for trial in distant for cell in trial.cells)
    hosts = {c.external.url_host for c in cells if c.external and _is_on_another_machine(c)}
    unlisted = sorted(hosts - set(experiment.allow_targets))
    if unlisted or not any_target:
        host = (unlisted or sorted(hosts))[0]
        raise UsageError(
            f"{host} is not on this machine",
            f"if you may load it, add `allow_targets: [{host}]` to the file and give --any-target",
        )
    calls = [planning.calls_max(experiment, trial) for trial in distant]
    if None in calls:
        raise UsageError(
            "a load without a bound on its calls is not sent to another machine",
            "use `window: {calls: N}` with `warmup: {min: 0 s, max: 0 s}`, users with "
            "iterations, or a load with a rate",
        )
    seconds = sum(planning.seconds(experiment, trial) for trial in distant)
    total = sum(filter(None, calls))
    return (
        f"load on other machines: {', '.join(sorted(hosts))}; at most {total:,.0f} calls in "
        f"{len(distant)} trials, about {format_seconds(seconds)}"
    )


def _accept_postgres(planned: Schedule) -> None:
    """Raises :class:`UsageError` if a server that wirelab does not start cannot be used."""
    every = [cell for trial in planned.trials for cell in trial.cells]
    cells = [cell for cell in every if cell.stack.axes.store == "postgres"]
    if not cells:
        raise UsageError("--postgres: no service here has store=postgres", "leave --postgres out")
    problems = {}
    for cell in cells:
        if cell.link != LOOPBACK:
            problems[f"{cell.stack}, link {cell.link}"] = "its network namespace has no route"
        elif cell.stack.axes.max_connections != MAX_CONNECTIONS:
            problems[str(cell.stack)] = (
                "max_connections can be set only if wirelab starts the server"
            )
    if problems:
        lines = [f"{where}: {why}" for where, why in problems.items()]
        raise UsageError("\n".join(["--postgres:", *lines]), "leave --postgres out")


def _callable(lab: Lab, planned: Schedule, done: set[str], progress: Progress) -> Schedule:
    """The schedule without trials of programs that are not installed. They are not recorded: the
    same command measures them once the program is installed. Raises :class:`NotInstalled` or
    :class:`ToolMissing` where no others are left."""
    for name in sorted(set(map(_caller, _todo(planned, done)))):
        if name == ENGINE:
            continue
        try:
            if name in CLIENTS:
                progress.note(f"preparing the caller in {name}")
                lab.callers.program(name, lab.interruption)
            else:
                lab.tools.tool(name, lab.interruption, progress.note)
        except (NotInstalled, ToolMissing) as missing:
            planned = _drop_trials(planned, done, _caller, name, missing)
    return _reachable(_present(lab, planned, done), done)


def _present(lab: Lab, planned: Schedule, done: set[str]) -> Schedule:
    """The schedule without the trials of services that are not installed."""
    todo = {_language(cell): cell for cell in _todo(planned, done) if cell.external is None}
    for language, cell in todo.items():
        missing = lab.programs.explain_missing(cell.stack, cell.message.contract)
        if missing is not None:
            planned = _drop_trials(planned, done, _language, language, missing)
    return planned


def _reachable(planned: Schedule, done: set[str]) -> Schedule:
    """The schedule without the trials of a proxy that is not installed."""
    todo = {_proxy_name(cell): cell for cell in _todo(planned, done)}
    for name, cell in sorted(todo.items(), key=lambda each: each[0]):
        try:
            proxies.find_installed(cell.stack.axes)
        except ToolMissing as missing:
            planned = _drop_trials(planned, done, _proxy_name, name, missing)
    return planned


def _drop_trials(
    planned: Schedule,
    done: set[str],
    key: Callable[[Cell], str],
    value: str,
    missing: NotInstalled | ToolMissing,
) -> Schedule:
    """The schedule without trials that are not done and have a cell of that key. Raises ``missing``
    if no others are left."""
    kept = tuple(t for t in planned.trials if t.id in done or value not in map(key, t.cells))
    if not kept:
        raise missing
    reason = f"not measured: {missing.message}; {missing.remedy}"
    return replace(planned, trials=kept, unavailable=(*planned.unavailable, reason))


def _todo(planned: Schedule, done: set[str]) -> Iterator[Cell]:
    """Cells of the trials that are not done."""
    return (cell for trial in planned.trials if trial.id not in done for cell in trial.cells)


def _language(cell: Cell) -> str:
    """External services have none."""
    return cell.stack.axes.language if cell.external is None else ""


def _proxy_name(cell: Cell) -> str:
    return cell.stack.axes.via


def _caller(cell: Cell) -> str:
    return cell.stack.axes.caller


def _is_on_another_machine(cell: Cell) -> bool:
    return cell.external is not None and not cell.external.is_local


def _is_distant(trial: PlannedTrial) -> bool:
    return any(map(_is_on_another_machine, trial.cells))


def _prepare(
    lab: Lab, planned: Schedule, directory: RunDirectory, done: set[str], progress: Progress
) -> None:
    if directory.journal.torn:
        progress.note("the last line of the journal was incomplete; its trial is repeated")
    for reason in planned.skipped:
        progress.note(f"left out: {reason}")
    for reason in planned.unavailable:
        progress.note(reason)
    every = [cell for trial in planned.trials for cell in trial.cells if cell.external is None]
    for language in dict.fromkeys(map(_language, every)):
        progress.note(f"preparing the service in {language}")
    trials, skipped, unavailable = planned.cell_trials, planned.skipped, planned.unavailable
    run_guarded(directory.folder, lambda: directory.note(trials, skipped, unavailable))
    for cell in every:
        lab.programs.program(cell.stack, lab.interruption, cell.message.contract)
    for cell in _todo(planned, done):
        if cell.external is None:
            lab.admission.prepare(cell.stack, cell.message.contract, progress.note)


@dataclass(frozen=True)
class _End:
    """What ends a run before its last trial."""

    enough: Callable[[Sequence[Trial]], bool]
    """True: the trials so far are the complete run."""
    limit: TimeLimit
    """The run then stays unfinished."""


def _measure_all(
    lab: Lab,
    planned: Schedule,
    directory: RunDirectory,
    done: set[str],
    progress: Progress,
    end: _End,
    named: Path,
) -> None:
    todo = [trial for trial in planned.trials if trial.id not in done]
    try:
        for trial in todo:
            if end.enough(directory.journal.trials):
                directory.note(len(directory.journal.trials), planned.skipped, planned.unavailable)
                break
            planned_s = planning.seconds(lab.experiment, trial)
            if not end.limit.allows(planned_s):
                progress.note(f"time is up: the limit is {format_minutes(end.limit.seconds)}")
                break
            lab.interruption.check()
            progress.trial(trial)
            with end.limit.count_trial(planned_s):
                made = _one(lab, trial, directory, progress)
            progress.end_trial(made)
    except Interrupted as error:
        kept = len(directory.journal.trials)
        raise Interrupted(
            f"interrupted; {kept} of {planned.cell_trials} trials are kept in {named}",
            "repeat the command with the same --out to continue",
        ) from error
    finally:
        progress.end()


def _one(lab: Lab, planned: PlannedTrial, directory: RunDirectory, progress: Progress) -> Trial:
    """Measures one trial, and again if the machine's other work spoilt it. Both are in the
    journal, and the later one counts whatever it shows: the rule does not look at the figures. A
    trial on another machine is not repeated, because the number of its calls was announced.
    Returns its first cell."""
    earlier = directory.journal.lines_of(planned.id)
    line = earlier[-1] if earlier else None
    if line is None or not find_spoilt(directory.journal, line):
        line = _append(lab, planned, directory)
    spoilt = find_spoilt(directory.journal, line)
    if spoilt and lab.repeats_spoilt and not _is_distant(planned):
        progress.note(f"the trial is repeated once, because of {spoilt}")
        line = _append(lab, planned, directory, repeats=spoilt)
    return line[0]


def _append(lab: Lab, planned: PlannedTrial, directory: RunDirectory, repeats: str = "") -> Line:
    def measure() -> Line:
        return measure_trial(lab, planned, directory.fresh_folder)

    cells = run_guarded(directory.folder, measure)
    line = tuple(replace(cell, repeats=repeats) for cell in cells)
    directory.journal.append(*line)
    return line
