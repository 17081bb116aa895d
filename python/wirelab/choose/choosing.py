"""Generates, builds, examines and measures the stacks of a message, and answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import get_args

from wirelab.choose import plan, samples
from wirelab.choose.answer import Choice, NothingMeasured, Prices, choose
from wirelab.choose.candidates import (
    USUAL_TRANSPORT,
    Candidate,
    candidates,
    find_candidate,
    path,
    select,
)
from wirelab.choose.examination import WrongService, examine
from wirelab.choose.plan import CLOSED, SCREENING, Conditions, Depth, plan_at_rate
from wirelab.choose.samples import Exchange, Sample, Seen
from wirelab.contracts.codecs.avro_schema import write_schema
from wirelab.errors import LabError, UsageError
from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.experiment.external import ExternalService
from wirelab.experiment.model import Experiment
from wirelab.experiment.yaml_model import FOLDER
from wirelab.format.units import format_minutes
from wirelab.generate.languages import LANGUAGES
from wirelab.generate.project import Project
from wirelab.process.interruption import Interruption
from wirelab.records.trial import Trial
from wirelab.run import runner
from wirelab.run.directory import write_whole
from wirelab.run.finished import Run
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.stack.link_names import LOOPBACK, ProfileName
from wirelab.statistics.figure import BYTES, RATE, SERVICE_CPU, Figure

QUESTION = "question.json"
"""File in the folder of the answer that says what its trials are of."""
FINALISTS = 4
"""Stacks that are measured again after the first look."""
REPEATS_MIN = 5
"""Trials of each before a decision ends the measurement."""
TRIALS_MIN = 3
"""Trials of each, also where the time is over: fewer give no verdict."""
CLOSED_SHARE = 0.3
"""Of the time after the first look, for the closed load where there is a rate too."""


@dataclass(frozen=True)
class Question:
    """What the user asked."""

    sample: Sample
    languages: tuple[str, ...]
    patterns: tuple[str, ...]
    figure: Figure
    conditions: Conditions
    compressions: tuple[str, ...]
    http2: bool
    today: str
    """Reference of the stack that is used today; empty: not given."""
    budget_s: float
    """Of both measurements, after the builds."""
    prices: Prices
    share: bool = False

    @property
    def at_rate(self) -> bool:
        """Whether the load at the user's rate decides; else the closed load does."""
        return self.conditions.rate is not None and self.figure is not RATE

    def identity(self) -> dict[str, object]:
        """What trials of the same folder must have in common; budget and prices may change."""
        sample = self.sample
        return {
            "proto": sample.proto,
            "request": repr(sample.request),
            "reply": repr(sample.reply),
            "languages": list(self.languages),
            "stacks": list(self.patterns),
            "figure": self.figure.name,
            "conditions": asdict(self.conditions),
            "compressions": list(self.compressions),
            "http2": self.http2,
            "today": self.today,
        }


@dataclass(frozen=True)
class Answer:
    """What was found, and the runs that it rests on."""

    question: Question
    choice: Choice
    screening: Run
    closed: Run
    paced: Run | None
    """At the user's rate; None where none was given."""
    left_out: Mapping[str, str]
    """Stacks that were not measured again, or not at all, each with its reason."""
    ladder: tuple[Candidate, ...] = ()
    """From today's stack to the recommended one; empty where neither is known."""
    folder: Path = field(default_factory=Path)
    projects: Mapping[str, Project] = field(default_factory=dict)
    """The built service of each language."""

    @property
    def is_dynamic(self) -> bool:
        """Whether the services are dynamic code."""
        return any(project.is_dynamic for project in self.projects.values())

    @property
    def runs(self) -> tuple[Run, ...]:
        """That which the choice rests on first."""
        every = (self.paced, self.closed) if self.choice.at_rate else (self.closed, self.paced)
        return (*(run for run in every if run is not None), self.screening)


def answer(question: Question, folder: Path, progress: Progress) -> Answer:
    """Raises :class:`WirelabError`; what was measured is kept in ``folder``, and the same call
    continues it."""
    every = _candidates(question)
    today = find_candidate(question.today, every) if question.today else None
    exchanges = samples.exchanges(question.sample, question.conditions.seed)
    _accept(question, folder)
    with Interruption() as interruption:
        projects = _build(question, folder, progress, interruption)
        _examine_all(question, every, projects, exchanges, folder, progress, interruption)
    end = time.monotonic() + question.budget_s
    measure = _Measuring(question, projects, folder, progress)
    looked = measure.run("screening", every, SCREENING)
    ranked, left_out = _rank(question, looked.trials, every)
    count = max(1, FINALISTS // len(question.compressions))
    way = _select_path(today, ranked, every)
    chosen = plan.finalists(ranked, way, question.compressions, count)
    progress.note(f"measuring again: {', '.join(one.reference for one in chosen)}")
    rate = question.conditions.rate
    left_s = end - time.monotonic()
    closed_s = CLOSED_SHARE * left_s if question.at_rate else left_s
    closed = measure.measure_within(
        "closed", chosen, CLOSED, closed_s, decides=not question.at_rate
    )
    at_rate = None
    if rate is not None:
        left_s = end - time.monotonic()
        at_rate = measure.measure_within(
            "paced", chosen, plan_at_rate(rate), left_s, decides=question.at_rate
        )
    found = _choose(question, (*closed.trials, *(at_rate.trials if at_rate else ())), chosen)
    left_out |= _find_failed((closed, at_rate), chosen)
    left_out |= {one.reference: NOT_AMONG for one in ranked if not _is_in(one, chosen)}
    ladder = path(today, found.recommended) if today and found.recommended else ()
    return Answer(question, found, looked, closed, at_rate, left_out, ladder, folder, projects)


NOT_AMONG = "not among the best of a first look"


def _is_in(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    return any(one.compress_with("none") == candidate for one in chosen)


def _find_failed(runs: Sequence[Run | None], chosen: Sequence[Candidate]) -> dict[str, str]:
    """Those of which every trial of a run failed, each with the first reason."""
    found = {}
    for one in chosen:
        for run in filter(None, runs):
            trials = [trial for trial in run.trials if trial.point.stack == one.name]
            if trials and all(trial.status == "failed" for trial in trials):
                found[one.reference] = trials[0].reason
    return found


def _select_path(
    today: Candidate | None, ranked: Sequence[Candidate], every: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Today's stack, and those between it and the best of the first look."""
    if today is None:
        return ()
    known = {one.compress_with("none") for one in every}
    return tuple(one for one in path(today, ranked[0]) if one.compress_with("none") in known)


def _build(
    question: Question, folder: Path, progress: Progress, interruption: Interruption
) -> dict[str, Project]:
    """The built service of each language."""
    built = {}
    for name in question.languages:
        built[name] = LANGUAGES[name].build(
            question.sample.contract,
            question.sample.proto,
            folder / "services" / name,
            interruption,
            progress.building,
        )
        progress.building("")
    return built


def _accept(question: Question, folder: Path) -> None:
    """Makes the folder. Raises :class:`UsageError` for a link that does not exist, and for a folder
    with the answer to another question."""
    link = question.conditions.link
    if link not in get_args(ProfileName):
        raise UsageError(f"--link {link}: unknown", f"use {', '.join(get_args(ProfileName))}")
    asked = json.dumps(question.identity(), indent=1) + "\n"
    file = folder / QUESTION
    if file.is_file() and file.read_text(encoding="utf-8") != asked:
        raise UsageError(
            f"{folder} has the answer to another question",
            "give another folder with --out; only --budget, --price, --map and --limit may change",
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(file, asked)
    write_whole(folder / plan.PROTO, question.sample.proto)
    write_whole(folder / plan.AVRO_SCHEMA, write_schema(question.sample.contract))


def _candidates(question: Question) -> tuple[Candidate, ...]:
    every = [
        one
        for name in question.languages
        for one in candidates((name,), LANGUAGES[name].stacks, http2=question.http2)
    ]
    return select(every, question.patterns)


def _examine_all(
    question: Question,
    every: Sequence[Candidate],
    projects: Mapping[str, Project],
    exchanges: Sequence[Exchange],
    folder: Path,
    progress: Progress,
    interruption: Interruption,
) -> None:
    """Writes replies and requests of each stack; those over HTTP are examined first."""
    sample = question.sample
    examined = dict.fromkeys(replace(one, transport=USUAL_TRANSPORT[one.binding]) for one in every)
    for one in examined:
        (folder / plan.reply_file(one)).parent.mkdir(parents=True, exist_ok=True)
        samples.write_reply(sample, one, folder / plan.reply_file(one))
        seen: tuple[Seen, ...] = ()
        if one.binding != "grpc":
            progress.building(f"examining {one.reference}")
            declared = plan.service(sample, one, projects[one.language], SCREENING)
            service = ExternalService.model_validate(declared, context={FOLDER: folder})
            seen = examine(sample, one, service, exchanges, folder, interruption)
        samples.write_requests(sample, one, exchanges, seen, folder / plan.requests_file(one))
    progress.building("")


def _text(
    name: str,
    question: Question,
    every: Sequence[Candidate],
    projects: Mapping[str, Project],
    depth: Depth,
) -> str:
    method = question.sample.contract.method
    about = f"Which stack is best for {method}: {question.figure.title}?"
    of = {one: projects[one.language] for one in every}
    return plan.experiment(name, about, question.sample, of, question.conditions, depth)


@dataclass(frozen=True)
class _Measuring:
    """Runs experiments whose files are next to their runs."""

    question: Question
    projects: Mapping[str, Project]
    folder: Path
    progress: Progress

    def run(
        self,
        name: str,
        every: Sequence[Candidate],
        depth: Depth,
        enough: Callable[[Sequence[Trial]], bool] | None = None,
    ) -> Run:
        """One experiment."""
        experiment, text = self._write(name, every, depth)
        made = runner.run(
            experiment,
            self.folder / name,
            source=text,
            progress=self.progress,
            share=self.question.share,
            enough=enough,
            whole=self.folder,
        )
        _refuse_wrong(made.trials)
        return made

    def _write(self, name: str, every: Sequence[Candidate], depth: Depth) -> tuple[Experiment, str]:
        """The experiment and its text, which is kept next to its run."""
        text = _text(name, self.question, every, self.projects, depth)
        file = self.folder / f"{name}.yaml"
        write_whole(file, text)
        return loading.load(file), text

    def _count_repeats(self, name: str) -> int:
        """Repeats of a run of this name that is continued; 0: there is none."""
        file = self.folder / f"{name}.yaml"
        return loading.load(file).repeats if file.is_file() else 0

    def measure_within(
        self, name: str, every: Sequence[Candidate], depth: Depth, seconds: float, *, decides: bool
    ) -> Run:
        """As many repeats as fit into that time, at least :data:`TRIALS_MIN`. ``decides``: it ends
        early once the answer is known."""
        begun = self._count_repeats(name)
        experiment, _ = self._write(name, every, replace(depth, repeats=1))
        planned = planning.schedule(experiment, manifests.load()).trials
        one_s = sum(planning.seconds(experiment, trial) for trial in planned)
        repeats = max(TRIALS_MIN, min(depth.repeats, int(seconds / one_s)), begun)
        if TRIALS_MIN * one_s > seconds:
            least = format_minutes(TRIALS_MIN * one_s)
            self.progress.note(f"the budget is short: {TRIALS_MIN} trials of each take {least}")
        end = time.monotonic() + seconds

        def is_enough(trials: Sequence[Trial]) -> bool:
            counts = [sum(t.point.stack == one.name for t in trials) for one in every]
            if min(counts) < TRIALS_MIN:
                return False
            if time.monotonic() > end:
                return True
            if not decides or min(counts) < REPEATS_MIN:
                return False
            return _choose(self.question, trials, every).is_decided

        return self.run(name, every, replace(depth, repeats=repeats), is_enough)


def _refuse_wrong(trials: Sequence[Trial]) -> None:
    """Raises :class:`WrongService` if a service gave a wrong reply. Calls that failed otherwise,
    such as by their timeout, are in the table."""
    for trial in trials:
        if trial.status == "measured" and (count := trial.result.errors_by_kind.get("wrong")):
            raise WrongService(
                f"{trial.point.stack}: {count:,} of its replies were wrong, so nothing is compared",
                "this is a fault of the generated service; the run in the folder has examples",
            )


def _rank(
    question: Question, trials: Sequence[Trial], every: Sequence[Candidate]
) -> tuple[list[Candidate], dict[str, str]]:
    """The stacks by the figure of the first look, the best first; and why others are missing.

    On loopback that is the service's CPU per call, which is the limit there and, unlike a rate,
    is hardly changed by other work of the machine."""
    proxy = SERVICE_CPU if question.conditions.link == LOOPBACK else RATE
    figure = question.figure if question.figure in (SERVICE_CPU, BYTES) else proxy
    by_name = {one.name: one for one in every}
    known: dict[Candidate, float] = {}
    missing = {}
    for trial in trials:
        one = by_name[trial.point.stack]
        value = figure.of(trial) if trial.status == "measured" else None
        if value is None:
            missing[one.reference] = trial.reason or "no call had a reply in time"
        else:
            known[one] = value
    if not known:
        raise LabError("no stack gave a right reply", next(iter(missing.values()), ""))
    best = sorted(known, key=lambda one: known[one], reverse=figure.better == "higher")
    return best, missing


def _choose(question: Question, trials: Sequence[Trial], chosen: Sequence[Candidate]) -> Choice:
    try:
        return choose(
            [trial for trial in trials if trial.status == "measured"],
            {one.name: one for one in chosen},
            question.figure,
            has_rate=question.conditions.rate is not None,
            threshold=question.conditions.threshold,
            prices=question.prices,
        )
    except NothingMeasured as error:
        raise LabError(
            str(error), "the runs in the folder have the reasons; a longer --budget may help"
        ) from error


def refuse_languages(names: Sequence[str]) -> None:
    """Raises :class:`UsageError` for a language without a generator, and for one that would be
    dynamic code next to generated code."""
    for name in names:
        if name not in LANGUAGES:
            raise UsageError(f"--language {name}: unknown", f"use {', '.join(LANGUAGES)}")
    dynamic = [name for name in names if LANGUAGES[name].is_dynamic]
    if dynamic and len(dynamic) < len(names):
        raise UsageError(
            f"--language {','.join(names)}: this machine has no compiler for {', '.join(dynamic)}, "
            "and dynamic code is not ranked with generated code",
            f"give --language {','.join(dynamic)} alone, or install Rust",
        )


def time_words(question: Question) -> str:
    """What is said before anything is done."""
    return f"at most about {format_minutes(question.budget_s)} after the builds"
