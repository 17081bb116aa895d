"""Runs ``wirelab compare``, prints its result and writes its files."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.checks.marks import marks_of, marks_text
from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.options.compare import PAIRS_MAX, PAIRS_PRECISE
from wirelab.cli.output.diff import figure_named
from wirelab.cli.output.named_services import ExperimentText, of_pair, with_number
from wirelab.comparisons import outputs
from wirelab.comparisons.guards import ERRORS
from wirelab.comparisons.pairs import Answer, Question, compare
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.format import wrapping
from wirelab.format.counting import of_all
from wirelab.format.sanitize import sanitize
from wirelab.report.page import write_page
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole
from wirelab.statistics.cell import cells
from wirelab.trial.labels import Names

if TYPE_CHECKING:
    from wirelab.cli.options.clients import ClientsOptions
    from wirelab.cli.options.common import AcceptOptions, DirectoryOptions, LoadOptions, PairOptions
    from wirelab.cli.options.compare import OutputOptions, QuestionOptions

EXIT_BY_OUTCOME = {
    "better": EXIT_OK,
    "equivalent": EXIT_OK,
    "worse": EXIT_FAILED,
    "failed": EXIT_FAILED,
    "undecided": EXIT_UNDECIDED,
}
STYLES = {
    "better": "green",
    "equivalent": "green",
    "worse": "red",
    "failed": "red",
    "undecided": "yellow",
}


def run(
    services: tuple[str, ...],
    service: PairOptions,
    load: LoadOptions,
    question: QuestionOptions,
    output: OutputOptions,
    clients: ClientsOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    _check_folders(output)
    given = of_pair("compare", services, service, load)
    experiment = replace(given, text=with_number(given.text, "clients", clients.clients))
    folder = directory.folder("compare")
    err.print(f"run directory: {folder}")
    with clients.open_pool() as pool:
        answer = compare(
            read_question(experiment, question),
            folder,
            progress=OnConsole(err),
            any_target=accept.any_target,
            unverified=accept.unverified,
            retry_failed=directory.retry_failed,
            ready_timeout_s=accept.ready_timeout_s,
            share=accept.share,
            clients=pool,
        )
    _write(answer, output)
    page = write_page(folder)
    if as_json:
        print(json.dumps(document(answer, folder), indent=1))
    else:
        show(answer, page)
    return EXIT_BY_OUTCOME[answer.gate.outcome]


def read_question(experiment: ExperimentText, question: QuestionOptions) -> Question:
    """The question that the options ask. Raises :class:`UsageError`."""
    return Question(
        experiment.text,
        experiment.name,
        None if question.figure is None else figure_named(question.figure),
        question.threshold,
        question.pairs_max or (PAIRS_PRECISE if question.precision else PAIRS_MAX),
        guards(question.guard),
        question.precision,
        question.budget_s,
    )


def guards(text: str) -> tuple[str, ...]:
    """Names of the guards in ``p99,errors``; none for ``none``. Raises :class:`UsageError`."""
    names = [name.strip() for name in text.split(",")]
    if names == ["none"]:
        return ()
    return tuple(
        dict.fromkeys(name if name == ERRORS else figure_named(name).name for name in names)
    )


def document(answer: Answer, folder: Path) -> dict[str, object]:
    """What ``--json`` prints."""
    marks = dict(zip("ab", find_marks(answer), strict=True))
    return {
        "directory": str(folder),
        "names": answer.names,
        **answer.gate.to_json(),
        "marks": marks,
    }


def find_marks(answer: Answer) -> tuple[str, str]:
    """What marked the compared figure of each service; empty if nothing did."""
    every, made = cells(answer.run.trials), answer.gate
    named = Names.of(cell.point for cell in every)

    def of(name: str) -> str:
        own = (cell for cell in every if named.stacks[cell.point.stack] == name)
        return "; ".join(marks_text(marks_of(cell, made.figure, made.threshold)) for cell in own)

    return of(answer.names[0]), of(answer.names[1])


def show(answer: Answer, page: Path) -> None:
    """Prints the answer and the path of its report."""
    made = answer.gate
    first, *others = outputs.sentences(made, answer.names)
    out.print(fold(first, out.width), STYLES[made.outcome])
    marks = find_marks(answer)
    values_of = made.pairs.a, made.pairs.b
    for name, values, mark in zip(answer.names, values_of, marks, strict=True):
        if values:
            rest = f" {outputs.mean(values, made):>12}  {outputs.MEAN}"
            for line in wrapping.fold_row(name, 28, rest):
                out.print(line)
        if values and mark:
            text = f"{name}: {made.figure.title} is marked: {mark}; the report has the reasons."
            out.print(fold(text, out.width), "yellow")
    for sentence in others:
        out.print(fold(sentence, out.width))
    for which, calls in zip(answer.names, made.pairs.calls, strict=True):
        if calls.failed:
            text = f"{of_all(calls.failed, calls.made, 'call')} of {which} failed."
            out.print(fold(text, out.width), "yellow")
    for reason in answer.run.unavailable if not made.pairs.a else ():
        out.print(fold(sanitize(reason), out.width), "red")
    for reason in dict.fromkeys(made.pairs.failed):
        out.print(fold(f"A pair could not be measured: {reason}", out.width), "red")
    out.print(f"report: {page}")


def _check_folders(output: OutputOptions) -> None:
    """Raises :class:`UsageError`, before anything is measured, if a file cannot be created."""
    for option, file in (
        ("--markdown", output.markdown),
        ("--junit", output.junit),
        ("--bmf", output.bmf),
    ):
        if file is not None and not os.access(file.parent, os.W_OK | os.X_OK):
            raise UsageError(
                f"{option}: cannot create files in the folder {file.parent}",
                "create the folder or correct its permissions, or give another path",
            )


def _write(answer: Answer, output: OutputOptions) -> None:
    for option, file, text in (
        (
            "--markdown",
            output.markdown,
            outputs.markdown(answer.gate, answer.names, find_marks(answer)),
        ),
        ("--junit", output.junit, outputs.junit(answer.gate, answer.names)),
        ("--bmf", output.bmf, outputs.bencher(answer.gate, answer.names)),
    ):
        if file is not None:
            try:
                write_whole(file, text)
            except OSError as error:
                raise UsageError(f"{option} {file} cannot be written: {error.strerror}") from error
