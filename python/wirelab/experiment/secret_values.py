"""Secrets of an experiment: in the environment (``${NAME}``) or written in the file.

The model of an experiment never holds them. Where a secret was, it has ``${NAME}`` or
``‹secret NAME›``, so everything that is written from it has no secret either. The values are here,
in memory only, and are put into the requests and the environment of a service when they are sent.

Equality needs no digest of a secret: within a file, equal values of one name get the same
``‹secret NAME›`` and different ones a number. Across processes, values are not compared, because
tokens expire.
"""

from __future__ import annotations

import csv
import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel

from wirelab.errors import ExperimentError
from wirelab.experiment import yaml_source
from wirelab.experiment.yaml_source import Path as KeyPath
from wirelab.format.untrusted import open_regular, read_bounded
from wirelab.secrets import finding
from wirelab.secrets.known import KnownSecrets
from wirelab.secrets.names import is_secret_name
from wirelab.secrets.shapes import Span

Json = dict[str, object]
Found = TypeVar("Found")

VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")
"""A value of the environment. Names of columns and carried values are not."""
FILE_BYTES_MAX = 64 << 20
"""Of the content of a request; a larger file is refused later."""
SECRET_ROWS_MAX = 2_000
"""Rows of a file of data whose secrets are hidden in what is written."""
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
_UNREVEALED = {"name"}
"""Keys that only appear in results."""
_OF_A_SHELL = {"command"}
"""Keys in which ``${NAME}`` belongs to a shell."""


@dataclass
class SecretValues:
    """The secrets of one experiment, in memory only."""

    literals: Json = field(default_factory=dict)
    """What the file has in place of each ``‹secret NAME›``."""
    variables: dict[str, str] = field(default_factory=dict)
    """Values of the environment by name."""
    of_files: dict[str, str] = field(default_factory=dict)
    """Secrets in content of other files, and what is recorded in place of each."""
    placeholders: frozenset[str] = frozenset()
    """Names of columns and carried values."""
    problems: list[tuple[KeyPath, str]] = field(default_factory=list)
    """Missing values, with the key that needs each."""

    def require(self) -> None:
        """Raises :class:`ExperimentError` if a value is missing."""
        if self.problems:
            raise ExperimentError(
                [f"{yaml_source.join_path(at)}: {why}" for at, why in self.problems]
            )

    def reveal(self, value: Found, *, of_a_shell: bool = False) -> Found:
        """A model, a document or a text with the secrets in their places, to be sent."""
        found: Any = value
        if isinstance(value, BaseModel):
            found = self._reveal_model(value)
        elif isinstance(value, dict):
            found = {k: self.reveal(v, of_a_shell=of_a_shell) for k, v in value.items()}
        elif isinstance(value, (list, tuple)):
            found = type(value)(self.reveal(one, of_a_shell=of_a_shell) for one in value)
        elif isinstance(value, str):
            found = self._reveal_text(value, of_a_shell=of_a_shell)
        return found  # type: ignore[no-any-return]  # of the type that was given

    def _reveal_model(self, model: BaseModel) -> BaseModel:
        given = {name: getattr(model, name) for name in model.model_fields_set - _UNREVEALED}
        changed = {
            name: found
            for name, value in given.items()
            if (found := self.reveal(value, of_a_shell=name in _OF_A_SHELL)) != value
        }
        if not changed:
            return model
        copy = model.model_copy(update=changed)
        for name in vars(copy).keys() - type(model).model_fields.keys():
            del vars(copy)[name]  # a cached property, made from the text without the secret
        return copy

    def _reveal_text(self, text: str, *, of_a_shell: bool) -> Any:
        if text in self.literals and not isinstance(self.literals[text], str):
            return self.literals[text]
        for mask, value in self.literals.items():
            if mask in text:
                text = text.replace(mask, str(value))
        return text if of_a_shell else VARIABLE.sub(self._value, text)

    def _value(self, match: re.Match[str]) -> str:
        return self.variables.get(match[1], match[0])

    @property
    def known(self) -> KnownSecrets:
        """The values, to be hidden in what other programs print."""
        known = KnownSecrets(self.of_files)
        for mask, value in self.literals.items():
            known.add(self._reveal_text(str(value), of_a_shell=False), mask)
        for name, value in self.variables.items():
            known.add(value, f"${{{name}}}")
        return known

    def hide_source(self, source: str) -> str:
        """The text of the experiment file without its secrets. Where a value is spelled in a way
        that cannot be replaced, the file is written again, without its comments. Raises
        :class:`ExperimentError`."""
        if not self.literals:
            return source
        known = KnownSecrets({str(value): mask for mask, value in self.literals.items()})
        hidden = known.hide(source)
        hidden = finding.replace_spans(hidden, finding.find_in_text(hidden))
        wanted = self._conceal_again(source)
        try:
            if yaml_source.read(hidden, "experiment").values == wanted:
                return hidden
        except ExperimentError:
            pass  # a short value was a part of the syntax
        dumped = yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)
        return f"# The file was written again, to leave secrets out.\n{dumped}"

    def _conceal_again(self, source: str) -> Any:
        concealer = _Concealer(self.placeholders, None)
        return concealer.experiment(yaml_source.read(source, "experiment").values)


def conceal(given: Json, folder: Path) -> tuple[Json, SecretValues]:
    """The document of an experiment without its secrets, and the secrets. Relative paths begin at
    ``folder``."""
    concealer = _Concealer(frozenset(_placeholders(given, folder)), folder)
    return concealer.experiment(given), concealer.values


class _Concealer:
    """Replaces the secrets of one experiment file, key by key."""

    def __init__(self, placeholders: frozenset[str], folder: Path | None) -> None:
        """Reads no other files without a folder."""
        self.values = SecretValues()
        self.values.placeholders = placeholders
        self._folder = folder
        self._masks: dict[tuple[str, str], str] = {}

    def experiment(self, given: Json) -> Json:
        """The whole document."""
        concealed: Json = self._each(
            given,
            (),
            {
                "services": self._map_list(self._service),
                "messages": self._map_list(self._request),
                "only": self._map_list(self._point),
                "about": self._text(finding.find_in_text),
            },
        )
        return concealed

    def _each(self, given: Any, at: KeyPath, parts: dict[str, Callable[..., Any]]) -> Any:
        """A mapping with some of its keys replaced."""
        if not isinstance(given, dict):
            return given
        return {
            key: parts[key](value, (*at, key)) if key in parts else value
            for key, value in given.items()
        }

    def _map_list(self, part: Callable[..., Any]) -> Callable[..., Any]:
        def replace(given: Any, at: KeyPath) -> Any:
            if not isinstance(given, (list, tuple)):
                return given
            return [part(one, (*at, place)) for place, one in enumerate(given)]

        return replace

    def _map_values(self, find: Callable[[str, str], Iterable[Span]]) -> Callable[..., Any]:
        """A mapping from names to texts."""

        def replace(given: Any, at: KeyPath) -> Any:
            if not isinstance(given, dict):
                return given
            return {
                name: self._replace(value, (*at, name), functools.partial(find, str(name)))
                for name, value in given.items()
            }

        return replace

    def _text(self, find: Callable[[str], Iterable[Span]]) -> Callable[..., Any]:
        return lambda given, at: self._replace(given, at, find)

    def _service(self, given: Any, at: KeyPath) -> Any:
        if isinstance(given, str):
            return self._url(given, at)
        return self._each(
            given,
            at,
            {
                "name": self._url,
                "url": self._url,
                "command": self._command,
                "env": self._map_values(finding.find_in_variable),
                "http": self._request,
                "grpc": self._request,
                "expect": self._expect,
                "ready": self._ready,
            },
        )

    def _point(self, given: Any, at: KeyPath) -> Any:
        return self._each(given, at, {"stack": self._url})

    def _ready(self, given: Any, at: KeyPath) -> Any:
        return self._each(given, at, {"http": self._text(finding.find_in_target)})

    def _request(self, given: Any, at: KeyPath) -> Any:
        parts = {
            "path": self._text(finding.find_in_target),
            "headers": self._map_values(finding.find_in_header),
            "metadata": self._map_values(finding.find_in_header),
            "body": self._text(finding.find_in_content),
            "body_file": self._body_file,
            "json": self._json,
            "expect": self._expect,
            "data": self._data,
            "mix": self._map_list(self._request),
            "steps": self._map_list(self._request),
        }
        return self._each(given, at, parts)

    def _body_file(self, given: Any, _: KeyPath) -> Any:
        """Notes the secrets of the content; a file that cannot be read is reported later."""
        if isinstance(given, str) and self._folder is not None:
            try:
                content = read_bounded(self._folder / given, FILE_BYTES_MAX)
                text = content.decode("utf-8", "replace")
            except (OSError, ValueError):
                return given
            for span in finding.find_in_content(text):
                self.values.of_files[text[span.start : span.end]] = finding.mask(span.name)
        return given

    def _expect(self, given: Any, at: KeyPath) -> Any:
        parts = {
            "headers": self._map_values(finding.find_in_header),
            "json": self._json,
            "message": self._json,
        }
        return self._each(given, at, parts)

    def _data(self, given: Any, at: KeyPath) -> Any:
        if isinstance(given, dict) and isinstance(given.get("file"), str) and self._folder:
            for column, value in _secret_columns(self._folder / given["file"]):
                self.values.of_files[value] = finding.mask(column)
        return self._each(given, at, {"random": self._random_rows})

    def _random_rows(self, given: Any, at: KeyPath) -> Any:
        def fields(columns: Any, at: KeyPath) -> Any:
            if not isinstance(columns, dict):
                return columns
            return {
                name: self._json_named(str(name), values, (*at, name))
                for name, values in columns.items()
            }

        return self._each(given, at, {"fields": fields})

    def _json_named(self, column: str, values: Any, at: KeyPath) -> Any:
        if not isinstance(values, dict) or "choice" not in values:
            return values
        name = column if is_secret_name(column) else ""
        choice = finding.replace_in_json(values["choice"], self._mask, name)
        return {**values, "choice": choice}

    def _url(self, given: Any, at: KeyPath) -> Any:
        if not isinstance(given, str) or "://" not in given:
            return given
        return self._replace(given, at, finding.find_in_target)

    def _command(self, given: Any, at: KeyPath) -> Any:
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
            return given
        for place, word in enumerate(given):
            self._require_value(word, (*at, place))
        return finding.replace_in_words(given, self._mask)

    def _json(self, given: Any, at: KeyPath) -> Any:
        for path, text in _texts(given, at):
            self._require_value(text, path)
            self._read_variables(text, path)
        return finding.replace_in_json(given, self._mask)

    def _replace(self, given: Any, at: KeyPath, find: Callable[[str], Iterable[Span]]) -> Any:
        """In a text, or in each of the values of a repeated header."""
        if isinstance(given, (list, tuple)):
            return [self._replace(one, (*at, n), find) for n, one in enumerate(given)]
        if not isinstance(given, str):
            return given
        if self._require_value(given, at):
            return given
        self._read_variables(given, at)
        return finding.replace_spans(given, find(given), self._mask)

    def _mask(self, name: str, secret: Any) -> Any:
        """What is written in place of a secret. A text of placeholders only is not one."""
        if isinstance(secret, str) and (finding.MARK in secret or _is_placeholder(secret)):
            return secret
        mask = self._masks.get((name, repr(secret)))
        if mask is None:
            mask = plain = finding.mask(name)
            number = 1
            while mask in self.values.literals:
                number += 1
                mask = f"{plain[:-1]} {number}›"
            self._masks[name, repr(secret)] = mask
            self.values.literals[mask] = secret
        return mask

    def _require_value(self, text: str, at: KeyPath) -> bool:
        """Notes a place where an earlier run left a secret out."""
        if finding.MARK not in text:
            return False
        why = "the secret was left out when this file was written"
        remedy = "write the value, or ${NAME} for an environment variable"
        self.values.problems.append((at, f"{why}; {remedy}"))
        return True

    def _read_variables(self, text: str, at: KeyPath) -> None:
        for name in VARIABLE.findall(text):
            if name in self.values.placeholders or name in self.values.variables:
                continue
            if name in os.environ:
                self.values.variables[name] = os.environ[name]
                continue
            why = f"the environment variable {name} is not set, and ${{{name}}} needs its value"
            self.values.problems.append((at, f"{why}; set it, e.g. export {name}=…"))


def _is_placeholder(text: str) -> bool:
    """Whether it only has placeholders, and the name of a scheme of authentication."""
    if not _PLACEHOLDER.search(text):
        return False
    if re.fullmatch(rf"[\w.-]*:{_PLACEHOLDER.pattern}", text):
        return True  # a user and the placeholder of a password, in a URL
    rest = _PLACEHOLDER.sub("", text)
    return re.fullmatch(r"(?i:\s*(?:bearer|basic|token|apikey)\b)?[\s:;,=&]*", rest) is not None


def _texts(value: Any, at: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """All texts of a document, with their keys."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*at, key))
    elif isinstance(value, (list, tuple)):
        for place, one in enumerate(value):
            yield from _texts(one, (*at, place))


def _placeholders(given: Json, folder: Path) -> Iterator[str]:
    """Names of columns and carried values: ``${NAME}`` is theirs first."""
    messages = given.get("messages")
    for message in messages if isinstance(messages, (list, tuple)) else ():
        yield from _of_message(message, folder)


def _of_message(message: Any, folder: Path) -> Iterator[str]:
    if not isinstance(message, dict):
        return
    for carry in _list(message.get("carry")):
        if isinstance(carry, dict):
            yield str(carry.get("to"))
    yield from _columns(message.get("data"), folder)
    for part in (*_list(message.get("mix")), *_list(message.get("steps"))):
        yield from _of_message(part, folder)


def _list(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def _columns(data: Any, folder: Path) -> Iterator[str]:
    if not isinstance(data, dict):
        return
    random = data.get("random")
    if isinstance(random, dict) and isinstance(random.get("fields"), dict):
        yield from map(str, random["fields"])
    if isinstance(data.get("file"), str):
        yield from _columns_of_file(folder / data["file"])


def _secret_columns(path: Path) -> Iterator[tuple[str, str]]:
    """Columns of a file of data whose names are those of secrets, with their values in the first
    rows; none of a file that cannot be read, which is reported later."""
    try:
        with open_regular(path) as file, TextIOWrapper(file, "utf-8", newline="") as text:
            rows = csv.DictReader(text) if path.suffix == ".csv" else map(json.loads, text)
            for row in islice(rows, SECRET_ROWS_MAX):
                pairs = row.items() if isinstance(row, dict) else ()
                yield from ((str(k), str(v)) for k, v in pairs if v and is_secret_name(str(k)))
    except (OSError, ValueError, RecursionError, csv.Error):
        return


def _columns_of_file(path: Path) -> Iterator[str]:
    """Columns of the first row; none of a file that cannot be read, which is reported later."""
    try:
        with open_regular(path) as file, TextIOWrapper(file, "utf-8", newline="") as rows:
            if path.suffix == ".csv":
                yield from next(csv.reader(rows), [])
            else:
                first = json.loads(rows.readline())
                yield from first if isinstance(first, dict) else ()
    except (OSError, ValueError, RecursionError, csv.Error):
        return
