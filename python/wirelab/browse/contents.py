"""Reads a run directory whose author is unknown. The contents are checked and bounded; the result
is the contents or a reason why there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from wirelab.browse import tree
from wirelab.errors import WirelabError
from wirelab.format.sanitize import damage, sanitize
from wirelab.records.trial import Point, Trial
from wirelab.run import journal
from wirelab.run.manifest import MANIFEST, Manifest
from wirelab.trial import dissected

T = TypeVar("T")
Document = TypeVar("Document", bound=msgspec.Struct)

JOURNAL_BYTES_MAX = journal.BYTES_MAX
DOCUMENT_BYTES_MAX = dissected.BYTES_MAX
"""Maximum size of a manifest, a dissection or a report."""
TRIALS_MAX = 20_000
PAIRS_MAX = 20_000
"""Maximum number of pairs of stacks that are compared for one report."""
SETTINGS_MAX = 300
"""Maximum number of settings of a report, which takes about 0.1 s for each."""
TEXT_MAX = 4_000
"""Maximum number of characters of a text in a point; a report of longer ones takes seconds."""
REASON_MAX = 400
"""Maximum number of characters of a reason."""


class Unreadable(Exception):
    """A run directory cannot be shown; the message is the reason."""


class NotShown(Unreadable):
    """It may be undamaged, but exceeds a limit, or is not read for safety."""


def attempt(work: Callable[[], T]) -> T:
    """The result of ``work``. Raises :class:`Unreadable` instead of anything else: records that are
    valid JSON of the right types can still have values that no calculation accepts."""
    try:
        return work()
    except Unreadable:
        raise
    except WirelabError as error:
        raise Unreadable(shorten(error.message)) from error
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(shorten(damage(error))) from error
    except Exception as error:
        print(f"wirelab browse: {type(error).__name__}: {sanitize(error)}", file=sys.stderr)
        reason = f"its records have values that cannot be processed ({type(error).__name__})"
        raise Unreadable(reason) from error


def shorten(text: str) -> str:
    """The text, cut to a bounded length."""
    return text if len(text) <= REASON_MAX else f"{text[: REASON_MAX - 1]}…"


def accept(path: Path, bytes_max: int = DOCUMENT_BYTES_MAX) -> None:
    """Raises :class:`NotShown` for a file that is not regular, or larger than ``bytes_max``, and
    :class:`FileNotFoundError`."""
    found = path.lstat()
    if not tree.is_regular(path):
        raise NotShown(f"{path.name} is not a regular file")
    if found.st_size > bytes_max:
        raise NotShown(f"{path.name} has {found.st_size:,} bytes, more than {bytes_max:,}")


def read_manifest(folder: Path) -> Manifest:
    """Raises :class:`Unreadable`."""
    from wirelab.run import directory

    accept(folder / MANIFEST)
    return attempt(lambda: directory.read_manifest(folder))


def accept_journal(folder: Path) -> None:
    """Raises :class:`NotShown` for a journal that is not read. A run may have none yet."""
    try:
        accept(journal.file_in(folder), JOURNAL_BYTES_MAX)
    except FileNotFoundError:
        return


def accept_trials(trials: tuple[Trial, ...]) -> None:
    """Raises :class:`Unreadable` for trials whose ids are not names of folders, or that are too
    many to compare, or have texts that are too long."""
    if len(trials) > TRIALS_MAX:
        raise NotShown(f"it has {len(trials):,} trials, more than {TRIALS_MAX:,}")
    for trial in trials:
        if not journal.is_folder_name(trial.id):
            raise Unreadable(f"{tree.display_name(trial.id)!r} is not the id of a trial")
    from wirelab.statistics.cell import setting_key

    stacks: dict[str, set[str]] = {}
    for trial in trials:
        named = stacks.setdefault(setting_key(trial.point), set())
        if trial.point.stack not in named:
            _accept_texts(trial.point)
            named.add(trial.point.stack)
    pairs = sum(len(named) * (len(named) - 1) // 2 for named in stacks.values())
    if pairs > PAIRS_MAX:
        raise NotShown(f"it has {pairs:,} pairs of stacks, more than {PAIRS_MAX:,}")


def accept_settings(trials: tuple[Trial, ...]) -> None:
    """Raises :class:`NotShown` for trials of too many settings for one report."""
    from wirelab.statistics.cell import setting_key

    count = len({setting_key(trial.point) for trial in trials})
    if count > SETTINGS_MAX:
        raise NotShown(
            f"it has {count:,} settings, more than {SETTINGS_MAX}; `wirelab report` reports them"
        )


def _accept_texts(point: Point) -> None:
    longest = max(map(len, _texts(msgspec.to_builtins(point))), default=0)
    if longest > TEXT_MAX:
        raise NotShown(f"it has a name of {longest:,} characters, more than {TEXT_MAX:,}")


def _texts(value: object) -> Iterator[str]:
    """All texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from (name, *_texts(inner))
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


def read_document(path: Path, kind: type[Document]) -> Document:
    """The keys of a JSON document that ``kind`` has; others are ignored. Raises
    :class:`Unreadable`."""

    def read() -> Document:
        accept(path)
        return msgspec.json.decode(path.read_bytes(), type=kind)

    return attempt(read)
