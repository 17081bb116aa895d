"""Packet captures of a trial, into files, at one end of the link or at both.

Each capture is a process (docs/reference/process.md, "Capture process") in the network
namespace of its end. On loopback both ends are the same interface, which is captured once.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from wirelab.documents.capture import Config
from wirelab.documents.capture_line import Captured, Line
from wirelab.errors import LabError, TrialFailed
from wirelab.experiment.capture_ends import SIDES, WHERE, CaptureChoice
from wirelab.process import engine_binary
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.records.link import CaptureRecord, Side
from wirelab.trial.stages.link import AnyLink, End, Loopback
from wirelab.trial.stages.recording import Recording


@dataclass(frozen=True)
class CaptureSpec:
    """What to capture, and into which file."""

    side: Side
    end: End
    file: Path
    port: int | None
    """TCP port whose packets are kept; None: all packets."""


class Capture(Recording[Line]):
    """One running capture. Use as a context manager."""

    model = Line

    def __init__(
        self, spec: CaptureSpec, *, cores: tuple[int, ...], log: Path, interruption: Interruption
    ) -> None:
        """Captures the packets of a TCP port into a file. Raises :class:`TrialFailed`,
        :class:`Refused` if capturing is not possible, and :class:`StorageError` if the disk is
        full."""
        self.noun = f"the capture {WHERE[spec.side]}"
        self.file = spec.file
        config = Config(
            interface=spec.end.interface,
            file=str(spec.file.absolute()),
            port=spec.port,
            cores=cores,
        )
        super().__init__(
            [str(engine_binary.find()), "capture"],
            config,
            ProcessOptions(log=log, namespace=spec.end.namespace),
            interruption=interruption,
        )

    def finish(self) -> CaptureRecord:
        """Its record after the trial. Raises :class:`TrialFailed` if it prints none, and
        :class:`StorageError` if the disk was full."""
        captured = self.final_message(_Ended).captured
        return CaptureRecord(
            packets=captured.packets,
            bytes=captured.bytes,
            drops=captured.drops,
            freezes=captured.freezes,
            file=self.file.name,
            interface=self.ready.interface,
            cpu_s=captured.cpu_s,
        )


class _Ended(msgspec.Struct, frozen=True):
    """Last line of a capture that ended normally."""

    captured: Captured


class Captures:
    """All captures of a trial. Use as a context manager."""

    def __init__(
        self,
        choice: CaptureChoice,
        link: AnyLink,
        folder: Path,
        *,
        port: int | None,
        upstream: int | None = None,
        cores: tuple[int, ...],
        interruption: Interruption,
    ) -> None:
        """``choice`` is the value in the experiment: none, client, server or both. ``upstream`` is
        the port of a service behind a proxy; its packets are captured too if any are."""
        self._taken: dict[Side, Capture] = {}
        self._stack = ExitStack()
        sides = SIDES[choice][:1] if isinstance(link, Loopback) else SIDES[choice]
        ends: list[tuple[Side, End, int | None]] = [
            (side, link.client if side == "client" else link.server, port) for side in sides
        ]
        if sides and upstream is not None:
            # Proxy and service are in one namespace, and talk over its loopback.
            ends.append(("upstream", End(namespace=link.server.namespace), upstream))
        with ExitStack() as unwound:
            for side, end, number in ends:
                capture = Capture(
                    CaptureSpec(side, end, folder / f"capture-{side}.pcapng", number),
                    cores=cores,
                    log=folder / f"capture-{side}.log",
                    interruption=interruption,
                )
                self._taken[side] = unwound.enter_context(capture)
            self._stack = unwound.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def tick(self) -> None:
        """Raises :class:`TrialFailed` or :class:`StorageError` if one has ended."""
        for capture in self._taken.values():
            capture.tick()

    def finish(self) -> dict[Side, CaptureRecord]:
        """The record of each capture, by side. Raises :class:`TrialFailed` and
        :class:`StorageError`."""
        return {side: capture.finish() for side, capture in self._taken.items()}


def try_out(folder: Path, interruption: Interruption) -> None:
    """Captures briefly on loopback. Raises :class:`LabError` with reason and remedy if that is not
    possible."""
    file, log = folder / "try-out.pcapng", folder / "try-out.log"
    spec = CaptureSpec("client", End(), file, port=1)
    try:
        with Capture(spec, cores=(), log=log, interruption=interruption) as capture:
            capture.finish()
            return
    except Refused as refused:
        reason, remedy = refused.message, refused.remedy
    except TrialFailed as failure:
        reason, remedy = failure.reason, "`wirelab doctor` reports what this machine supports"
    raise LabError(
        f"packets cannot be captured here: {reason}", f"{remedy}; or write `capture: none`"
    )
