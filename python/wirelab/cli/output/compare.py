"""Runs ``wirelab compare``, prints its result and writes its files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.checks.load import marked
from wirelab.cli.error_handling import err, folded, out
from wirelab.cli.options.compare import PAIRS_MAX, PAIRS_PRECISE
from wirelab.cli.output.diff import figure_named
from wirelab.cli.output.named_services import ExperimentText, of_pair
from wirelab.comparisons import outputs
from wirelab.comparisons.guards import ERRORS
from wirelab.comparisons.pairs import Answer, Question, compare
from wirelab.errors import EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.format.counting import of_all
from wirelab.format.sanitize import sanitize
from wirelab.report.page import write_page
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole

if TYPE_CHECKING:
    from wirelab.cli.options.common import AcceptOptions, DirectoryOptions, LoadOptions, PairOptions
    from wirelab.cli.options.compare import OutputOptions, QuestionOptions
    from wirelab.records.trial import Trial

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
    directory: DirectoryOptions,
    accept: AcceptOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    _checked(output)
    experiment = of_pair("compare", services, service, load)
    folder = directory.folder("compare")
    err.print(f"run directory: {folder}")
    answer = compare(
        asked(experiment, question),
        folder,
        progress=OnConsole(err),
        any_target=accept.any_target,
        unverified=accept.unverified,
        retry_failed=directory.retry_failed,
        ready_timeout_s=accept.ready_timeout_s,
        share=accept.share,
    )
    _write(answer, output)
    page = write_page(folder)
    if as_json:
        print(json.dumps(document(answer, folder), indent=1))
    else:
        show(answer, page)
    return EXIT_BY_OUTCOME[answer.gate.outcome]


def asked(experiment: ExperimentText, question: QuestionOptions) -> Question:
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
    return {"directory": str(folder), "names": answer.names, **answer.gate.to_json()}


def show(answer: Answer, page: Path) -> None:
    """Prints the answer and the path of its report."""
    made = answer.gate
    first, *others = outputs.sentences(made, answer.names)
    out.print(folded(first, out.width), STYLES[made.outcome])
    for name, values in zip(answer.names, (made.pairs.a, made.pairs.b), strict=True):
        if values:
            out.print(f"{name:<28} {outputs.mean(values, made):>12}  {outputs.MEAN}")
    for sentence in others:
        out.print(folded(sentence, out.width))
    for which, calls in zip(answer.names, made.pairs.calls, strict=True):
        if calls.failed:
            text = f"{of_all(calls.failed, calls.made, 'call')} of {which} failed."
            out.print(folded(text, out.width), "yellow")
    if marks := _marks(answer.run.trials):
        out.print(folded(marks, out.width), "yellow")
    for reason in answer.run.unavailable if not made.pairs.a else ():
        out.print(folded(sanitize(reason), out.width), "red")
    for reason in dict.fromkeys(made.pairs.failed):
        out.print(folded(f"A pair could not be measured: {reason}", out.width), "red")
    out.print(f"report: {page}")


def _marks(trials: Sequence[Trial]) -> str:
    """``1 of 10 trials is marked: engine backlog; the report has the reasons``; empty if none
    is."""
    found = [names for trial in trials if (names := [check.name for check in marked(trial)])]
    if not found:
        return ""
    counts = Counter(name for names in found for name in names)
    measured = sum(trial.status == "measured" for trial in trials)
    verb = "is" if len(found) == 1 else "are"
    listed = ", ".join(name for name, _ in counts.most_common())
    return (
        f"{of_all(len(found), measured, 'trial')} {verb} marked: {listed}; the report has the "
        "reasons."
    )


def _checked(output: OutputOptions) -> None:
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
        ("--markdown", output.markdown, outputs.markdown(answer.gate, answer.names)),
        ("--junit", output.junit, outputs.junit(answer.gate, answer.names)),
        ("--bmf", output.bmf, outputs.bencher(answer.gate, answer.names)),
    ):
        if file is not None:
            try:
                write_whole(file, text)
            except OSError as error:
                raise UsageError(f"{option} {file} cannot be written: {error.strerror}") from error
