"""What the service's processes did during a trial, from the kernel's tracepoints, into a file.

The recording is a process (docs/reference/process.md, "Host process"); docs/reference/host.md
explains its records and what they cost.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from wirelab.documents.host import HostConfig
from wirelab.documents.host_line import HostLine, HostRecorded
from wirelab.errors import LabError, TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.records.host import NAME, HostRecord
from wirelab.trial.stages.recording import Recording


class HostRecording(Recording[HostLine]):
    """One running recording. Use as a context manager."""

    model = HostLine
    noun = "the recording of the host"

    def __init__(
        self,
        pids: tuple[int, ...],
        file: Path | None,
        *,
        cores: tuple[int, ...] = (),
        log: Path,
        interruption: Interruption,
    ) -> None:
        """Records these processes and those that they start; ``file`` None: only sums. Raises
        :class:`TrialFailed`, :class:`Refused` if recording is not possible, and
        :class:`StorageError` if the disk is full."""
        config = HostConfig(
            pids=pids, file=None if file is None else str(file.absolute()), cores=cores
        )
        super().__init__(
            [str(engine_binary.find()), "host"],
            config,
            ProcessOptions(log=log),
            interruption=interruption,
        )

    def finish(self) -> HostRecord:
        """Its record after the trial. Raises :class:`TrialFailed` if it prints none, and
        :class:`StorageError` if the disk was full."""
        recorded = self.final_message(_Ended).recorded
        return HostRecord(
            records=recorded.records,
            drops=recorded.drops,
            threads=recorded.threads,
            parts_ms={str(part): ms for part, ms in recorded.parts_ms.items()},
            cpu_s=recorded.cpu_s,
        )


class _Ended(msgspec.Struct, frozen=True):
    """Last line of a recording that ended normally."""

    recorded: HostRecorded


def records_of(capture: Path) -> Path | None:
    """The records of the trial of a capture, if the capture has the service's connections."""
    # Behind a proxy these are the ones between proxy and service.
    upstream = capture.with_name("capture-upstream.pcapng")
    file = capture.with_name(NAME)
    is_of_service = capture.name == upstream.name or not upstream.exists()
    return file if is_of_service and file.exists() else None


def try_out(folder: Path, interruption: Interruption) -> None:
    """Records this process briefly. Raises :class:`LabError` with reason and remedy if that is not
    possible."""
    try:
        with HostRecording(
            (os.getpid(),), None, log=folder / "try-out-host.log", interruption=interruption
        ) as recording:
            recording.finish()
            return
    except Refused as refused:
        reason, remedy = refused.message, refused.remedy
    except TrialFailed as failure:
        reason, remedy = failure.reason, "`wirelab doctor` reports what this machine supports"
    raise LabError(
        f"what processes do cannot be recorded here: {reason}", f"{remedy}; or remove `host: true`"
    )
