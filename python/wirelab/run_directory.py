"""A run's directory: manifest.json, trials.jsonl and trials/<id>/.

Nothing that was measured is ever overwritten: a trial's folder that has no
line in the journal belongs to a trial that was cut short, and is set aside.
"""

from __future__ import annotations

import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from wirelab import engine_binary, journal, machine
from wirelab.builds import binary_digest
from wirelab.errors import RunDirectoryError
from wirelab.experiment import Experiment
from wirelab.journal import Journal

FORMAT = 1
"""Of the directory; grows when an older lab could not read it any more."""
MANIFEST = "manifest.json"

Json = dict[str, Any]


def now() -> str:
    """ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read_manifest(folder: Path) -> Json:
    """The manifest of a run. Raises :class:`RunDirectoryError`."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise ValueError(f"format {manifest['format']}, and this lab reads {FORMAT}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunDirectoryError(
            f"{folder} is not a run directory: {path.name}: {error}",
            "name a directory that `wirelab run` or `wirelab demo` has written",
        ) from error
    return dict(manifest)


class RunDirectory:
    """The directory of one run, locked for as long as it is entered."""

    def __init__(self, folder: Path, experiment: Experiment, source: str) -> None:
        """``source`` is the text of the experiment file, kept beside the manifest."""
        self.folder = folder
        self._experiment = experiment
        self._source = source
        self._lock: int | None = None

    def __enter__(self) -> RunDirectory:
        """Takes the lock; begins the run or takes it up again. Raises
        :class:`RunDirectoryError` or :class:`StorageError`."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            self._begin_or_resume()
            self.journal = Journal(self.folder / journal.NAME)
        except OSError as error:
            self._release()
            raise journal.storage_error(error, self.folder) from error
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def fresh_folder(self, trial_id: str) -> Path:
        """An empty folder for a trial; what an unfinished one left is set aside."""
        folder = self.folder / "trials" / trial_id
        if folder.exists():
            count = 1
            while (aside := folder.with_name(f"{trial_id}.unfinished-{count}")).exists():
                count += 1
            folder.rename(aside)
        folder.mkdir(parents=True)
        return folder

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._lock, 32).decode("ascii", "replace").strip() or "unknown"
            raise RunDirectoryError(
                f"{self.folder} is in use by another run (process {holder})",
                "wait until it has ended, or give another --out",
            ) from None
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"{os.getpid()}\n".encode())

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _begin_or_resume(self) -> None:
        if (self.folder / MANIFEST).exists():
            self._resume()
        elif any(path.name != ".lock" for path in self.folder.iterdir()):
            raise RunDirectoryError(
                f"{self.folder} has files in it and is no run directory",
                "give --out an empty or a new directory",
            )
        else:
            self._begin()

    def _begin(self) -> None:
        (self.folder / "experiment.yaml").write_text(self._source, encoding="utf-8")
        engine = engine_binary.find()
        self._write_manifest(
            {
                "format": FORMAT,
                "experiment": self._experiment.model_dump(mode="json"),
                "experiment_sha256": self._experiment.digest(),
                "seed": self._experiment.seed,
                "threshold": self._experiment.threshold,
                "machine": machine.describe(),
                "versions": machine.versions(),
                "git_revision": machine.git_revision(),
                "engine": {"sha256": binary_digest(engine)},
                "sessions": [{"started": now(), "engine_sha256": binary_digest(engine)}],
            }
        )

    def _resume(self) -> None:
        manifest = read_manifest(self.folder)
        if manifest.get("experiment_sha256") != self._experiment.digest():
            raise RunDirectoryError(
                f"{self.folder} holds a run of another experiment, or of this one as it was",
                "give another --out, or restore the experiment file "
                f"({self.folder / 'experiment.yaml'} is what was run)",
            )
        engine = engine_binary.find()
        session = {"started": now(), "engine_sha256": binary_digest(engine)}
        manifest["sessions"].append(session)
        self._write_manifest(manifest)

    def _write_manifest(self, manifest: Json) -> None:
        """Whole or not at all."""
        path = self.folder / MANIFEST
        unfinished = path.with_name(f".{MANIFEST}.unfinished")
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)

    def note(self, **entries: Any) -> None:
        """Adds entries to the manifest, such as combinations that were skipped."""
        manifest = read_manifest(self.folder)
        if any(manifest.get(key) != value for key, value in entries.items()):
            self._write_manifest({**manifest, **entries})
