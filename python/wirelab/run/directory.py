"""A run directory: manifest.json, trials.jsonl and trials/<id>/.

Measurements are never overwritten. A trial's folder without a line in the journal belongs to an
interrupted trial and is renamed; so is the folder of a trial that is repeated. The manifest
is written atomically and makes a folder a run directory: without it, the run starts from the
beginning.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wirelab.errors import RunDirectoryError, StorageError, WirelabError
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import parse_json, read_bounded
from wirelab.process import engine_binary
from wirelab.process.engine_binary import binary_digest
from wirelab.process.scratch import sweep
from wirelab.records.trial import now
from wirelab.run import journal
from wirelab.run.journal import Journal
from wirelab.run.manifest import (
    FORMAT,
    FORMATS,
    MANIFEST,
    Comparison,
    EngineBinary,
    Manifest,
    Session,
)

if TYPE_CHECKING:
    from wirelab.experiment.model import Experiment

EXPERIMENT = "experiment.yaml"
LOCK = ".lock"

MANIFEST_BYTES_MAX = 8_000_000
_NAMED_MAX = 6
"""Maximum number of runs that a message lists."""


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run. Raises :class:`RunDirectoryError`."""
    path = folder / MANIFEST
    try:
        content = parse_json(read_bounded(path, MANIFEST_BYTES_MAX).decode())
        if not isinstance(content, dict):
            raise ValueError("it is not a mapping")
        if content["format"] not in FORMATS:
            known = " and ".join(map(str, FORMATS))
            raise ValueError(
                f"format {content['format']}, but this version of wirelab reads formats {known}"
            )
        manifest = msgspec.convert(content, Manifest)
        manifest.check()
        return manifest
    except FileNotFoundError as error:
        missing = f"it has no {MANIFEST}" if folder.is_dir() else "the directory does not exist"
        raise _no_run(folder, missing) from error
    except OSError as error:
        raise _no_run(folder, f"{MANIFEST}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_run(folder, f"{MANIFEST}: {damage(error)}") from error


def _no_run(folder: Path, reason: str) -> RunDirectoryError:
    remedy = "give a directory written by `wirelab run`, `wirelab demo` or `wirelab reproduce`"
    inside = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}"))
    if inside:
        more = f" and {len(inside) - _NAMED_MAX} more" if len(inside) > _NAMED_MAX else ""
        remedy = f"it contains runs, give one of them: {', '.join(inside[:_NAMED_MAX])}{more}"
    return RunDirectoryError(f"{folder} is not a run directory: {reason}", remedy)


def refusal(folder: Path, kind: str) -> RunDirectoryError | None:
    """Why no run can start in ``folder``, checked before anything in it is changed; ``kind`` is
    used in the message. None for a new or an empty folder, and for the remains of a run that could
    not write its manifest."""
    remedy = "give a new or an empty directory with --out"
    try:
        others = [path for path in folder.iterdir() if path.name not in _BEGUN]
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return RunDirectoryError(f"{folder} is a file, or is below a file", remedy)
    except OSError as error:
        return RunDirectoryError(f"{folder} cannot be read: {error.strerror}", remedy)
    if others:
        return RunDirectoryError(f"{folder} contains files and is not a {kind}", remedy)
    return None


def refuse_other_cpu(
    folder: Path, manifest: Manifest, hosts: Mapping[str, str | int | None] | None = None
) -> None:
    """Raises :class:`RunDirectoryError` where the run was begun on another CPU model: its trials
    would not be comparable with further ones. Models that are not known are accepted. ``hosts``
    describes the machines that measure, where this one does not."""
    from wirelab.process import machine

    begun = manifest.machine.get("cpu")
    here, who = (
        (machine.cpu_model(), "this machine")
        if hosts is None
        else (
            hosts.get("cpu"),
            "the farm",
        )
    )
    if begun and here and begun != here:
        raise RunDirectoryError(
            f"{folder} was begun on {begun}, and {who} has {here}",
            "continue it on a machine with that CPU model, or give another directory with --out",
        )


def make_private(folder: Path) -> None:
    """Creates a folder, with its parents, that only this user can read: what a service prints may
    be private, and a capture has whole requests. An existing folder keeps its mode. Raises
    :class:`OSError`."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=0o700)
    folder.mkdir(exist_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file atomically, text in UTF-8, and waits until it is on the disk."""
    unfinished = _name_unfinished(path)
    try:
        # Of a process that was killed, or a link to another file in a folder from elsewhere.
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        # Error messages must name the requested file.
        error.filename, error.filename2 = str(path), None
        raise


def _name_unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


_BEGUN = {LOCK, _name_unfinished(Path(MANIFEST)).name}
"""Files that a run writes before its manifest."""


class RunDirectory:
    """The directory of one run, locked while the context is active."""

    def __init__(
        self,
        folder: Path,
        experiment: Experiment,
        source: str,
        comparison: Comparison | None = None,
        machine: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """``source`` is the text of the experiment file, stored without its secrets next to the
        manifest, which keeps ``comparison``. ``machine`` describes the hosts that measure; by
        default this machine does."""
        self.folder = folder
        self._experiment = experiment
        self._source = experiment.secrets.hide_source(source)
        self._comparison = comparison
        self._machine = machine
        self._lock: int | None = None

    def __enter__(self) -> RunDirectory:
        """Takes the lock; starts or continues the run. Raises
        :class:`RunDirectoryError` or :class:`StorageError`. A run that could not start leaves no
        files."""
        try:
            self._refuse_other_files()
            make_private(self.folder)
            self._take_lock()
            self._begin_or_resume()
            self.journal = Journal(self.folder / journal.NAME)
        except OSError as error:
            self._give_up()
            raise self._unwritable(error) from error
        except BaseException:
            self._give_up()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.journal.close()
        finally:
            self._release()

    def fresh_folder(self, trial_id: str) -> Path:
        """An empty folder for a trial. A folder of an unfinished or repeated trial is renamed,
        without the database rows of a killed run."""
        folder = self.folder / "trials" / trial_id
        if folder.exists():
            aside = self._aside(folder)
            folder.rename(aside)
            sweep(aside)
        folder.mkdir(parents=True)
        return folder

    def _aside(self, folder: Path) -> Path:
        """``<id>.failed-2`` or ``<id>.spoilt-2`` for the folder of the trial's second line in the
        journal, ``<id>.unfinished-1`` for a folder without a line."""
        lines = self.journal.lines_of(folder.name)
        if lines:
            kind = "failed" if lines[-1][0].status == "failed" else "spoilt"
            kept = folder.with_name(f"{folder.name}.{kind}-{len(lines)}")
            if not kept.exists():
                return kept
        count = 1
        while (aside := folder.with_name(f"{folder.name}.unfinished-{count}")).exists():
            count += 1
        return aside

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._lock, 32).decode("ascii", "replace").strip() or "unknown"
            self._release()
            raise RunDirectoryError(
                f"{self.folder} is in use by another run (process {holder})",
                "wait until it has ended, or give another directory with --out",
            ) from None
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"{os.getpid()}\n".encode())

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _give_up(self) -> None:
        """Removes all files of a run that has not started; the lock of another run stays."""
        if self._lock is not None and not self._has_manifest():
            with contextlib.suppress(OSError):
                (self.folder / LOCK).unlink()
                self.folder.rmdir()
        self._release()

    def _unwritable(self, error: OSError) -> WirelabError:
        """A full disk is a storage error; other errors concern the given directory."""
        if error.errno in journal.FULL and self._has_manifest():
            return journal.storage_error(error, self.folder)
        if error.errno in journal.FULL:
            return StorageError(
                f"{self.folder} cannot be written: {error.strerror}",
                "nothing was started; free disk space and repeat the command",
            )
        return RunDirectoryError(
            f"{self.folder} cannot be written: {error.strerror}",
            "give another directory with --out",
        )

    def _has_manifest(self) -> bool:
        return (self.folder / MANIFEST).exists()

    def _refuse_other_files(self) -> None:
        refused = None if self._has_manifest() else refusal(self.folder, "run directory")
        if refused is not None:
            raise refused

    def _begin_or_resume(self) -> None:
        if self._has_manifest():
            self._resume()
        else:
            self._refuse_other_files()
            self._begin()
        if not (self.folder / EXPERIMENT).exists():
            write_whole(self.folder / EXPERIMENT, self._source)

    def _begin(self) -> None:
        from wirelab.process import machine

        engine = engine_binary.find()
        self._write_manifest(
            Manifest(
                format=FORMAT,
                experiment=self._experiment.model_dump(mode="json"),
                experiment_sha256=self._experiment.digest(),
                seed=self._experiment.seed,
                threshold=self._experiment.threshold,
                machine=dict(self._machine or machine.describe()),
                versions=machine.versions(),
                git_revision=machine.git_revision(),
                engine=EngineBinary(binary_digest(engine)),
                sessions=(Session(now(), binary_digest(engine)),),
                comparison=self._comparison,
            )
        )

    def _resume(self) -> None:
        manifest = read_manifest(self.folder)
        refuse_other_cpu(self.folder, manifest, self._machine)
        if manifest.experiment_sha256 != self._experiment.digest():
            manifest = self._accept_more_repeats(manifest)
        engine = engine_binary.find()
        sessions = (*manifest.sessions, Session(now(), binary_digest(engine)))
        comparison = self._comparison or manifest.comparison
        self._write_manifest(
            msgspec.structs.replace(
                # Lines of a run that an earlier version began stay as they are.
                manifest,
                format=FORMAT,
                sessions=sessions,
                comparison=comparison,
            )
        )

    def _accept_more_repeats(self, manifest: Manifest) -> Manifest:
        """Accepts a manifest of the same experiment with more repeats, the first of which are those
        of the run. Raises :class:`RunDirectoryError` if anything else differs."""
        before = manifest.experiment.get("repeats")
        was = self._experiment.model_copy(update={"repeats": before})
        if (
            not isinstance(before, int)
            or before > self._experiment.repeats
            or was.digest() != manifest.experiment_sha256
        ):
            raise RunDirectoryError(
                f"{self.folder} contains a run of another experiment, or of an older file",
                "give another directory with --out, or restore the experiment file "
                f"({self.folder / EXPERIMENT} is what was run); only repeats may be increased",
            )
        write_whole(self.folder / EXPERIMENT, self._source)
        return msgspec.structs.replace(
            manifest,
            experiment=self._experiment.model_dump(mode="json"),
            experiment_sha256=self._experiment.digest(),
        )

    def _write_manifest(self, manifest: Manifest) -> None:
        text = manifest.text().encode()
        if len(text) > MANIFEST_BYTES_MAX:
            raise RunDirectoryError(
                f"{self.folder / MANIFEST} would have {len(text):,} bytes, and the limit is "
                f"{MANIFEST_BYTES_MAX:,}",
                "give the experiment shorter messages, or fewer combinations",
            )
        write_whole(self.folder / MANIFEST, text)

    def note(self, trials: int, skipped: Sequence[str], unavailable: Sequence[str]) -> None:
        """Adds to the manifest the number of trials of the run, and what it leaves out."""
        manifest = read_manifest(self.folder)
        noted = msgspec.structs.replace(
            manifest,
            trials_planned=trials,
            skipped=tuple(skipped),
            unavailable=tuple(unavailable),
        )
        if noted != manifest:
            self._write_manifest(noted)
