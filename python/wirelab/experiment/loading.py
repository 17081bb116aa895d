"""Reads experiment files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_model as typed_documents
from wirelab.experiment.json_schema import experiment_schema
from wirelab.experiment.model import Experiment
from wirelab.experiment.yaml_source import Document, join_path
from wirelab.experiment.yaml_source import Path as KeyPath
from wirelab.stack import external, manifests
from wirelab.stack.suggestions import did_you_mean

SCHEMA = Path(__file__).parent.parent / "schemas" / "experiment.schema.json"
"""The committed JSON Schema for editors, written by :func:`schema_text`."""


def load(path: Path) -> Experiment:
    """Reads an experiment file. Raises :class:`ExperimentError` with all its problems."""
    return typed_documents.load(path, Experiment, "an experiment", _further_problems)


def read(path: Path) -> str:
    """The text of an experiment file. Raises :class:`ExperimentError` where it cannot be read."""
    return typed_documents.read(path)


def parse(text: str, name: str = "experiment", *, needs_secrets: bool = True) -> Experiment:
    """Reads the text of an experiment file; without ``needs_secrets`` the environment may lack
    values. Raises :class:`ExperimentError`."""
    further = _problems if needs_secrets else _duplicates
    return typed_documents.parse(text, name, Experiment, "an experiment", further)


def _further_problems(experiment: Experiment, document: Document) -> list[str]:
    return (
        _problems(experiment, document)
        or _unknown_languages(experiment, document)
        or _impossible(experiment, document)
    )


def _problems(experiment: Experiment, document: Document) -> list[str]:
    return _list_missing_secrets(experiment, document) or _duplicates(experiment, document)


def _list_missing_secrets(experiment: Experiment, document: Document) -> list[str]:
    """Secrets that are neither in the file nor in the environment."""
    return [
        f"{document.place(path)}: {join_path(path)}: {why}"
        for path, why in experiment.secrets.problems
    ]


def _unknown_languages(experiment: Experiment, document: Document) -> list[str]:
    """Names of languages in which there are no services."""
    lab = set(manifests.load().by_language)
    keys: dict[tuple[str, ...], tuple[Iterable[str], set[str]]] = {
        ("collector",): (experiment.collector, lab),
        ("warmup", "by_language"): (experiment.warmup.by_language, lab | {external.LANGUAGE}),
    }
    return [
        f"{document.place((*path, name))}: {join_path((*path, name))}: there are no services in "
        f"{name!r}. {did_you_mean(name, known)}"
        for path, (names, known) in keys.items()
        for name in names
        if name not in known
    ]


def _impossible(experiment: Experiment, document: Document) -> list[str]:
    """Impossible combinations, each reported at the key that requests it."""
    if experiment.skip_illegal:
        return []
    problems = [
        f"{document.place(refused.where)}: {join_path(refused.where)}: {refused.reason}"
        for refused in planning.impossible(experiment, manifests.load())
    ]
    return [*problems, f"{document.name}: {planning.REMEDY}"] if problems else []


def _duplicates(experiment: Experiment, document: Document) -> list[str]:
    """Duplicate entries of a list, also in different spelling. They would be the same trials, and
    the reason for the missing ones would not be visible."""
    lists: dict[tuple[str, ...], Sequence[object]] = {
        ("services",): experiment.services,
        ("messages",): experiment.messages,
        ("loads",): experiment.loads,
        ("placement",): experiment.placement,
        ("capture",): experiment.capture,
        **{("axes", name): values for name, values in experiment.axes.items()},
    }
    problems = []
    for path, values in lists.items():
        seen: dict[object, int] = {}
        for index, value in enumerate(values):
            first = seen.setdefault(value, index)
            if first < index:
                problems.append(_duplicate_message(document, (*path, first), (*path, index)))
    return problems


def _duplicate_message(document: Document, first: KeyPath, second: KeyPath) -> str:
    spellings = document.value(first), document.value(second)
    same = "" if spellings[0] == spellings[1] else ", spelled differently"
    line = document.place(first).rpartition(":")[2]
    return (
        f"{document.place(second)}: {join_path(second)}: the same as {join_path(first)} in line "
        f"{line}{same}; remove one"
    )


def schema_text() -> str:
    """The JSON Schema of experiment files, as it is committed."""
    return json.dumps(experiment_schema(), indent=2, sort_keys=True) + "\n"
