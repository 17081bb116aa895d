"""A separate session in the database of a service under examination.

It reads the rows as they are stored, independently of the service. It also injects failures: it
locks the table against writers, and terminates a connection of the service.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from wirelab.errors import TrialFailed
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.databases import DEBIAN, Closing, Store

TABLE = "allocations"
"""Table of contract records, whose rows are counted and locked."""
ANSWER_S_MAX = 30.0
"""Time limit of a statement."""
WAITS_S_MAX = 5.0
"""Time limit until a connection of the service waits for the lock."""
POLL_S = 0.01
END = "--end--"
"""Marker that psql prints after the rows of a statement."""


class Session(Closing):
    """A session. Use as a context manager; it ends with the block."""

    @abstractmethod
    def rows(self) -> int:
        """Number of committed rows. Raises :class:`TrialFailed`."""

    @abstractmethod
    def _take_lock(self) -> None:
        """Begins a transaction that blocks writers."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Ends the transaction."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """No other session can write to the table within the block; all can read. Raises
        :class:`TrialFailed`."""
        self._take_lock()
        try:
            yield
        finally:
            self._roll_back()


class SqliteSession(Session):
    """A connection to the file through SQLite itself, which also recovers the log of a killed
    service (sqlite.org/wal.html)."""

    def __init__(self, path: str) -> None:
        """Raises :class:`TrialFailed` if the database does not exist."""
        self._connection = sqlite3.connect(path, timeout=ANSWER_S_MAX, isolation_level=None)

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def rows(self) -> int:
        """Also checks the integrity of the file."""
        (state,) = self._ask("PRAGMA quick_check")
        if state != "ok":
            raise TrialFailed(f"the SQLite file is damaged: {state}")
        (count,) = self._ask(f"SELECT count(*) FROM {TABLE}")
        return int(count)

    def _take_lock(self) -> None:
        self._ask("BEGIN IMMEDIATE")

    def _roll_back(self) -> None:
        self._ask("ROLLBACK")

    def _ask(self, statement: str) -> tuple[str, ...]:
        try:
            row = self._connection.execute(statement).fetchone()
        except sqlite3.Error as error:
            raise TrialFailed(f"SQLite: {statement}: {error}") from error
        return tuple(map(str, row or ()))


class PostgresSession(Session):
    """A session of ``psql``, which is part of every PostgreSQL."""

    def __init__(self, psql: Path, url: str, *, log: Path) -> None:
        """Connects with the first statement. The password does not appear on the command line."""
        found = re.search(r"//[^:/@]*:([^@]*)@", url)
        password = {"PGPASSWORD": unquote(found[1])} if found else {}
        shown = re.sub(r"(//[^:/@]*):[^@]*@", r"\1@", url)
        options = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1")
        self._child = Child(
            [str(psql), *options, shown], ProcessOptions(log=log, environment=password)
        )

    def close(self) -> None:
        """Ends it; an open transaction is rolled back."""
        self._child.kill()

    def rows(self) -> int:
        """Number of committed rows."""
        return int(self._ask(f"SELECT count(*) FROM {TABLE}")[0])

    def end_one_that_waits(self) -> bool:
        """Terminates the connection of a writer that waits for the lock of :meth:`lock`; False if
        no writer waits. Only connections of the service wait for that table."""
        # pg_stat_activity is a snapshot from the start of the transaction; pg_locks is current.
        waiting = (
            f"SELECT pid FROM pg_locks WHERE NOT granted AND relation = '{TABLE}'::regclass LIMIT 1"
        )
        deadline = time.monotonic() + WAITS_S_MAX
        while time.monotonic() < deadline:
            if self._ask(f"SELECT pg_terminate_backend(pid) FROM ({waiting}) AS waiting") == ["t"]:
                return True
            time.sleep(POLL_S)
        return False

    def _take_lock(self) -> None:
        # The weakest mode that blocks INSERT (PostgreSQL documentation, Explicit Locking).
        self._ask("BEGIN", f"LOCK TABLE {TABLE} IN SHARE MODE")

    def _roll_back(self) -> None:
        self._ask("ROLLBACK")

    def _ask(self, *statements: str) -> list[str]:
        """The rows of the statements, as lines. Raises :class:`TrialFailed`."""
        self._child.say("".join(f"{one};\n" for one in statements).encode())
        self._child.say(f"\\echo {END}\n".encode())
        lines: list[str] = []
        while (line := self._child.line(ANSWER_S_MAX)) is not None:
            if not line:
                raise TrialFailed(f"psql: {statements[-1]}: {self._child.log_tail()}")
            text = line.decode("utf-8", "replace").strip()
            if text == END:
                return lines
            lines.append(text)
        raise TrialFailed(f"psql: {statements[-1]}: no answer within {ANSWER_S_MAX:.0f} s")


def find_psql(root: Path = DEBIAN) -> Path | None:
    """``psql`` in PATH, otherwise of the newest server in Debian's folders; None if missing."""
    found = shutil.which("psql")
    if found:
        return Path(found)
    numbered = [entry for entry in root.glob("*/bin/psql") if entry.parts[-3].isdigit()]
    return max(numbered, key=lambda path: int(path.parts[-3]), default=None)


def open_session(store: Store, psql: Path | None, log: Path) -> Session:
    """A session in the store of a service: ``sqlite``, or ``postgres`` with ``psql``."""
    if store.kind == "sqlite":
        return SqliteSession(store.url)
    assert psql is not None  # checked by the caller
    return PostgresSession(psql, store.url, log=log)
