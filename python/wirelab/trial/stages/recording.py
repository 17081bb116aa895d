"""A process that records something during a trial into a file: packets, or what threads do."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from wirelab.errors import StorageError, TrialFailed
from wirelab.process.managed import ManagedProcess


class _Failure(msgspec.Struct, frozen=True):
    message: str
    out_of_room: bool


class _Line(msgspec.Struct, frozen=True):
    """A line that a recording prints when it ends early; all other keys are ignored."""

    failed: _Failure | None = None


R = TypeVar("R", bound=msgspec.Struct)


class Recording(ManagedProcess[R]):
    """One running recording. Use as a context manager."""

    stop_s = 10.0
    """Time to write the ring buffer to the file at the end."""

    def tick(self) -> None:
        """Raises :class:`TrialFailed` if it has ended, or :class:`StorageError` if it ended because
        the disk is full."""
        death = self.death()
        if death:
            self.accept(self.child.line(0.0) or b"")
            raise TrialFailed(f"{death} during the trial")

    def accept(self, line: bytes) -> None:
        """Raises :class:`StorageError` for a full disk, which is not a failure of the trial: it can
        be measured when there is space, and until then no other trial can."""
        try:
            failed = msgspec.json.decode(line, type=_Line).failed
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return
        if failed is not None and failed.out_of_room:
            raise StorageError(
                f"{self.noun} cannot be written: {failed.message}",
                "finished trials are kept; free disk space and repeat the command to continue",
            )
