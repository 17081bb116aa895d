"""A session of the lab's own in the database of a service under examination.

It sees the rows as they are stored, whatever the service says of them, and it makes trouble: it
locks the table against writers, and ends a connection of the service.
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
"""Of contract records, whose rows are counted and locked."""
ANSWER_S_MAX = 30.0
"""A statement that takes longer is given up."""
WAITS_S_MAX = 5.0
"""So long may it take until a connection of the service waits for the lock."""
POLL_S = 0.01
END = "--end--"
"""What psql prints behind the rows of a statement."""


class Session(Closing):
    """A session. Use as a context manager; it ends with the block."""

    @abstractmethod
    def rows(self) -> int:
        """The rows that are committed. Raises :class:`TrialFailed`."""

    @abstractmethod
    def _take_lock(self) -> None:
        """Begins a transaction that keeps others from writing."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Ends the transaction."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes to the table within the block; all may read. Raises
        :class:`TrialFailed`."""
        self._take_lock()
        try:
            yield
        finally:
            self._roll_back()


class SqliteSession(Session):
    """A connection to the file by SQLite itself, which also takes up the log of a service
    that was killed (sqlite.org/wal.html)."""

    def __init__(self, path: str) -> None:
        """Raises :class:`TrialFailed` where there is no such database."""
        self._connection = sqlite3.connect(path, timeout=ANSWER_S_MAX, isolation_level=None)

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def rows(self) -> int:
        """Also checks that the file is whole."""
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
    """A session of ``psql``, which comes with every PostgreSQL."""

    def __init__(self, psql: Path, url: str, *, log: Path) -> None:
        """Connects when it is first asked. The password is not shown on the command line."""
        found = re.search(r"//[^:/@]*:([^@]*)@", url)
        password = {"PGPASSWORD": unquote(found[1])} if found else {}
        shown = re.sub(r"(//[^:/@]*):[^@]*@", r"\1@", url)
        options = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1")
        self._child = Child(
            [str(psql), *options, shown], ProcessOptions(log=log, environment=password)
        )

    def close(self) -> None:
        """Ends it; a transaction that is open is rolled back."""
        self._child.kill()

    def rows(self) -> int:
        """The rows that are committed."""
        return int(self._ask(f"SELECT count(*) FROM {TABLE}")[0])

    def end_one_that_waits(self) -> bool:
        """Ends the connection of a writer that waits for the lock of :meth:`locked`; false
        where none comes to wait. Nobody else's connection waits for that table."""
        # pg_stat_activity would be that of the transaction's begin; pg_locks is of now.
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
        # The weakest mode that keeps INSERT away (PostgreSQL documentation, Explicit Locking).
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
    """``psql`` on the PATH, else of the newest server in Debian's folders; None: there is none."""
    found = shutil.which("psql")
    if found:
        return Path(found)
    numbered = [entry for entry in root.glob("*/bin/psql") if entry.parts[-3].isdigit()]
    return max(numbered, key=lambda path: int(path.parts[-3]), default=None)


def opened(store: Store, psql: Path | None, log: Path) -> Session:
    """A session in the store of a service: ``sqlite``, or ``postgres`` by ``psql``."""
    if store.kind == "sqlite":
        return SqliteSession(store.url)
    assert psql is not None  # the caller has looked for it
    return PostgresSession(psql, store.url, log=log)
