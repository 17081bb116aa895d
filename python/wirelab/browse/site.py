"""The answers of `wirelab browse`: one page or document for each address."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs

from wirelab.browse import comparing, contents, live, pages, reports, tree
from wirelab.browse.contents import Unreadable
from wirelab.browse.live import Watcher
from wirelab.browse.reports import Reports
from wirelab.browse.summary import Reader
from wirelab.browse.tree import Entry, Tree
from wirelab.report import html_page

RESPONSE_BYTES_MAX = 64_000_000
INDEX_S = 1.5
"""Time that the list of runs may spend on directories that were not read yet; the page asks again
for the rest."""
WORK_S = 60.0
"""Maximum time that a request waits for another one to end."""
SCAN_S = 1.0
"""Age up to which the list of directories is used again."""
HTML, CSS, JAVASCRIPT, JSON = (
    f"{kind}; charset=utf-8"
    for kind in ("text/html", "text/css", "text/javascript", "application/json")
)
OWN_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FILE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts; script-src "
    + " ".join(f"'{one}'" for one in html_page.script_hashes())
)
"""Of a page that may be a file from a run directory, whose author is unknown: only the scripts of
reports run, in an opaque origin."""
_ID = rf"[0-9a-f]{{{tree.ID_DIGITS}}}"
_FIELDS_MAX = 2 * comparing.RUNS_MAX


@dataclass(frozen=True)
class Response:
    """What is sent back."""

    status: HTTPStatus
    kind: str
    """Media type."""
    body: bytes
    policy: str = OWN_POLICY
    """Content security policy."""


class Site:
    """The pages of one folder, for several threads. One request at a time reads runs or makes
    reports."""

    def __init__(self, root: Path) -> None:
        """``root`` is an absolute path without symbolic links."""
        self._root = root
        self._reader = Reader()
        self._watcher = Watcher()
        self._reports = Reports()
        self._working = threading.Lock()
        self._tree = Tree(root)
        self._scanned_s = float("-inf")
        self._routes: list[tuple[re.Pattern[str], Callable[..., Response]]] = [
            (re.compile(pattern), answer)
            for pattern, answer in (
                (r"/", self._index),
                (r"/runs\.json", self._runs),
                (rf"/run/({_ID})", self._run),
                (rf"/state/({_ID})", self._state),
                (rf"/report/({_ID})", self._report),
                (rf"/dissection/({_ID})/([0-9]{{1,4}})", self._dissection),
                (r"/compare\?(.*)", self._compare),
            )
        ]

    def respond(self, target: str) -> Response:
        """The answer to a request for ``target``, a path with an optional query."""
        if target == "/browse.css":
            return Response(HTTPStatus.OK, CSS, pages.style().encode())
        if target == "/browse.js":
            return Response(HTTPStatus.OK, JAVASCRIPT, pages.script().encode())
        for pattern, answer in self._routes:
            if match := pattern.fullmatch(target):
                return self._answer_within_limits(partial(answer, *match.groups()))
        return refuse(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _answer_within_limits(self, answer: Callable[[], Response]) -> Response:
        try:
            with self._turn():
                made = contents.attempt(answer)
        except _Refused as error:
            return refuse(error.status, str(error))
        except Unreadable as error:
            return refuse(HTTPStatus.UNPROCESSABLE_ENTITY, f"This cannot be shown: {error}.")
        if len(made.body) > RESPONSE_BYTES_MAX:
            text = f"This page has {len(made.body):,} bytes, more than {RESPONSE_BYTES_MAX:,}."
            return refuse(HTTPStatus.INSUFFICIENT_STORAGE, text)
        return made

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._working.acquire(timeout=WORK_S):
            raise _Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "Another page is still being made; try again later."
            )
        try:
            yield
        finally:
            self._working.release()

    def _scan(self) -> Tree:
        if time.monotonic() - self._scanned_s > SCAN_S:
            self._tree = tree.scan(self._root)
            self._scanned_s = time.monotonic()
        return self._tree

    def _entry(self, key: str) -> Entry:
        entry = self._scan().entries.get(key)
        if entry is None:
            # It may be newer than the last search.
            self._scanned_s = float("-inf")
            entry = self._scan().entries.get(key)
        if entry is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "This run directory no longer exists.")
        return entry

    def _rows(self) -> list[pages.Line]:
        found = self._reader.all(self._scan(), time.monotonic() + INDEX_S)
        return pages.lines(self._tree, found)

    def _index(self) -> Response:
        return _page(pages.index(self._scan(), self._rows()))

    def _runs(self) -> Response:
        rows = [{"id": row.entry.id, **row.values} for row in self._rows()[: pages.LISTED_MAX]]
        return _json({"runs": rows})

    def _run(self, key: str) -> Response:
        entry = self._entry(key)
        found = self._reader.all(self._scan(), time.monotonic() + INDEX_S)
        summary = found[key] or self._reader.of(entry)
        state = self._watcher.state(entry) if entry.kind == "run" else None
        facts = []
        if state is not None and not state.problem:
            facts = live.facts(contents.read_manifest(entry.folder))
        below = [row for row in pages.lines(self._tree, found) if row.entry.parent == key]
        return _page(pages.run(entry, summary, state, facts, reports.dissections(entry), below))

    def _state(self, key: str) -> Response:
        entry = self._entry(key)
        if entry.kind != "run":
            raise _Refused(HTTPStatus.NOT_FOUND, "This directory has no trials of its own.")
        return _json(self._watcher.state(entry).to_json())

    def _report(self, key: str) -> Response:
        return Response(HTTPStatus.OK, HTML, self._reports.page(self._entry(key)), FILE_POLICY)

    def _dissection(self, key: str, number: str) -> Response:
        files = reports.dissections(self._entry(key))
        if int(number) >= len(files):
            raise _Refused(HTTPStatus.NOT_FOUND, "There is no such dissection.")
        page = reports.dissection(files[int(number)])
        return Response(HTTPStatus.OK, HTML, page, FILE_POLICY)

    def _compare(self, query: str) -> Response:
        try:
            fields = parse_qs(query, max_num_fields=_FIELDS_MAX)
        except ValueError as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, _CHOOSE) from error
        keys = list(dict.fromkeys(fields.get("run", [])))
        if not 2 <= len(keys) <= comparing.RUNS_MAX:
            raise _Refused(HTTPStatus.BAD_REQUEST, _CHOOSE)
        entries = [self._entry(key) for key in keys]
        if any(entry.kind != "run" for entry in entries):
            text = "Only runs can be compared; choose the runs inside these directories."
            raise _Refused(HTTPStatus.BAD_REQUEST, text)
        base = fields.get("base", [""])[0]
        return _page(pages.compare(*comparing.compare(entries, base)))


_CHOOSE = f"Choose at least two and at most {comparing.RUNS_MAX} runs to compare."


class _Refused(Unreadable):
    """The request has no answer."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


def refuse(status: HTTPStatus, text: str) -> Response:
    """A page with the reason why the request has no answer."""
    return Response(status, HTML, pages.message(status.phrase, text).encode("utf-8", "replace"))


def _page(text: str) -> Response:
    return Response(HTTPStatus.OK, HTML, text.encode("utf-8", "replace"))


def _json(document: object) -> Response:
    return Response(HTTPStatus.OK, JSON, json.dumps(document).encode())
