"""Rows of a file for the requests of a test plan: CSV Data Set Config of JMeter
(https://jmeter.apache.org/usermanual/component_reference.html#CSV_Data_Set_Config)."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

from wirelab.errors import UsageError
from wirelab.experiment.fields import Json
from wirelab.experiment.secret_values import SECRET_ROWS_MAX
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.http_request import NotImportable
from wirelab.imports.jmeter_values import Values
from wirelab.imports.jmx_tree import Element
from wirelab.imports.left_out import PLACEHOLDER
from wirelab.secrets.finding import is_secret

ROWS_MAX = 100_000
"""Of a file that is read here; an experiment may have more."""
END = ".csv"
"""Of the name of a file that is written next to the experiment."""
_REMEDY = "name a file of your own in data.file"
_COLUMN = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_DELIMITERS = {"\\t": "\t", "": ","}


@dataclass(frozen=True)
class Rows:
    """A file of rows."""

    data: Json
    """Key ``data`` of a message."""
    columns: frozenset[str]
    unsafe: frozenset[str]
    """Columns with values that are written in another way in a form or a query."""
    notes: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Table:
    """A file as JMeter reads it."""

    path: Path
    columns: list[str]
    rows: list[list[str]]
    is_usable: bool
    """Whether the experiment can read the file as it is."""


def read(element: Element, values: Values, files: ContentFiles) -> Rows:
    """The rows that a CSV Data Set Config names. Raises :class:`NotImportable`."""
    table = _read_table(element, values, files)
    unsafe = {
        column
        for at, column in enumerate(table.columns)
        if any(quote_plus(row[at]) != row[at] for row in table.rows)
    }
    columns, notes = frozenset(table.columns), _notes(element)
    if table.is_usable:
        return Rows({"file": str(table.path)}, columns, frozenset(unsafe), notes)
    secret = _secrets(table)
    if secret:
        notes += (f"{element.title}: the values of {', '.join(secret)} are secrets: {_REMEDY}",)
    content = {END: _write(table, secret)}
    return Rows({"file": END}, columns, frozenset(unsafe), notes, content)


def _read_table(element: Element, values: Values, files: ContentFiles) -> _Table:
    name = values.fill(element.text("filename"))
    try:
        content = files.read(name)
    except UsageError as error:
        raise NotImportable(f"its file cannot be read: {error.message}; {error.remedy}") from None
    delimiter = values.fill(element.text("delimiter", ","))
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise NotImportable(f"the delimiter {delimiter[:80]!r} is not one character")
    text = _decode(content, values.fill(element.text("fileEncoding")))
    is_quoted = element.is_set("quotedData")
    lines = _split(text, delimiter, is_quoted=is_quoted)
    given = values.fill(element.text("variableNames"))
    columns = [one.strip() for one in given.split(",")] if given else lines[0] if lines else []
    _check_columns(columns)
    has_head = not given or element.is_set("ignoreFirstLine")
    rows = lines[1:] if has_head else lines
    if not rows:
        raise NotImportable(f"{name} has no rows")
    short = next((n for n, row in enumerate(rows, 1) if len(row) < len(columns)), None)
    if short is not None:
        raise NotImportable(f"row {short} of {name} has fewer than {len(columns)} values")
    path = (files.folder / name).absolute()
    is_plain = delimiter == "," and (is_quoted or '"' not in text) and text.encode() == content
    is_even = all(len(row) == len(columns) for row in rows)
    is_plain = is_plain and is_even and path.suffix == END
    is_usable = has_head and lines[0] == columns and is_plain
    return _Table(path, columns, rows, is_usable)


def _secrets(table: _Table) -> list[str]:
    """Columns with secrets."""
    looked = table.rows[:SECRET_ROWS_MAX]
    return [
        column
        for at, column in enumerate(table.columns)
        if any(row[at] and is_secret(column, row[at]) for row in looked)
    ]


def _write(table: _Table, secret: list[str]) -> bytes:
    """The rows as the experiment reads them, without secrets."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        values = zip(table.columns, row, strict=False)
        writer.writerow([PLACEHOLDER if name in secret and v else v for name, v in values])
    return written.getvalue().encode()


def _notes(element: Element) -> tuple[str, ...]:
    found = []
    if not element.is_set("recycle", default=True):
        found.append("rows are taken from the first again when all were used; JMeter takes none")
    if element.text("shareMode") == "shareMode.thread":
        found.append("all users share the rows; in JMeter each takes them from the first")
    return tuple(f"{element.title}: {note}" for note in found)


def _decode(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding or "utf-8-sig")
        text.encode()  # some codecs make half a character
        return text
    except (LookupError, UnicodeError) as error:
        raise NotImportable(f"its file is not text in {encoding or 'UTF-8'}: {error}") from None


def _split(text: str, delimiter: str, *, is_quoted: bool) -> list[list[str]]:
    """Lines that are not empty. Raises :class:`NotImportable`."""
    if "\0" in text:
        raise NotImportable("its file has a NUL, so it is not text")
    lines = io.StringIO(text, newline="")
    rows = (
        csv.reader(lines, delimiter=delimiter)
        if is_quoted
        else csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    )
    found = []
    try:
        for row in rows:
            if row:
                found.append(row)
            if len(found) > ROWS_MAX:
                raise NotImportable(f"its file has more than {ROWS_MAX:,} rows; {_REMEDY}")
    except csv.Error as error:
        raise NotImportable(f"its file is not CSV: {error}") from None
    return found


def _check_columns(columns: list[str]) -> None:
    for name in columns:
        if not _COLUMN.fullmatch(name):
            raise NotImportable(f"{name[:80]!r} is not a name of a column")
    if len(set(columns)) < len(columns):
        raise NotImportable("two columns have the same name")
