"""One wrapped command: what it talks to, its capture, and what came out of both."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

from wirelab import checkout
from wirelab.documents.dissection import Dissection
from wirelab.documents.link import Measure
from wirelab.errors import LabError, StackError, TrialFailed, UsageError
from wirelab.experiment.placement import available_cores
from wirelab.process import metrics
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.process.metrics import Sample
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Programs, Service, Settings
from wirelab.stack import manifests
from wirelab.stack.link_names import LOOPBACK
from wirelab.stack.reference import Stack
from wirelab.trial import dissection
from wirelab.trial import link as links
from wirelab.trial.capture import Capture, CaptureSpec
from wirelab.trial.dissection import Look
from wirelab.trial.link import AnyLink, End, LinkSpec
from wirelab.trial.link_record import CaptureRecord, LinkRecord
from wirelab.trial.record import IdentityRecord
from wirelab.wrap import process, target
from wirelab.wrap.process import Ran, Stopping
from wirelab.wrap.target import ServiceAddress

CAPTURE_BYTES_MAX = 4_000_000_000
"""A capture that has grown beyond ends the command."""
FREE_BYTES_MIN = 200_000_000
"""Of the disk that the capture is written to; with less the command is ended."""
PATHS = {"transfer": "/transfer/hello"}
"""Of REST: what ``{url}`` ends with, by contract."""
GRPC_PATHS = {"transfer": "/wirelab.transfer.v1.Transfer/Hello"}
SETTLE_S = 0.1
"""From the command's end to the capture's: the last packets are still on their way."""


@dataclass(frozen=True)
class Order:
    """What ``wirelab wrap`` was asked to do."""

    command: tuple[str, ...]
    serve: Stack | None = None
    contract: str = "transfer"
    hello_bytes: int = 14
    link: str = LOOPBACK
    interface: str = "lo"
    port: int | None = None
    seconds_max: float | None = None


@dataclass(frozen=True)
class WrappedService:
    """The lab's service that the command loaded."""

    stack: str
    address: str
    language: str
    sha256: str
    proof: IdentityRecord
    """That it does what its contract says, or why there is none."""


@dataclass
class Measured:
    """Everything that is known when the command has ended."""

    order: Order
    command: tuple[str, ...]
    """Placeholders filled."""
    port: int
    ran: Ran
    capture: CaptureRecord
    document: Dissection
    """The dissection."""
    stopped: str | None = None
    """Why the lab ended the command, beyond interruption and time limit."""
    service: WrappedService | None = None
    service_cpu: list[Sample] = field(default_factory=list)
    link: LinkRecord | None = None
    machine_busy: float | None = None
    """Share of the machine's CPU time that was not idle, while the command ran."""
    wall_offset_ns: int = 0
    """CLOCK_MONOTONIC minus CLOCK_REALTIME."""
    cores: int = 1

    def window_ns(self) -> tuple[int, int] | None:
        """From the first request to the last one's begin, CLOCK_MONOTONIC; None without."""
        load = self.document.load
        if load.first_at_ns is None:
            return None
        start = load.first_at_ns + self.wall_offset_ns
        return start, start + round(load.seconds * 1e9)


def wrap(
    order: Order,
    folder: Path,
    *,
    out: BinaryIO,
    err: BinaryIO,
    note: Callable[[str], None],
    interruption: Interruption,
) -> Measured:
    """Runs the command under capture; the capture and the command's output stay in ``folder``.
    Raises :class:`UsageError`, :class:`LabError`, :class:`Interrupted`."""
    _refuse(order)
    try:
        with ExitStack() as stack:
            return _Session(order, folder, stack, note, interruption).measure(out, err)
    except Refused as refused:
        raise LabError(refused.message, refused.remedy) from refused
    except TrialFailed as failure:
        raise LabError(failure.reason, "`wirelab doctor` tells what this machine can do") from None


def _refuse(order: Order) -> None:
    if not order.command:
        raise UsageError(
            "there is no COMMAND", "for example: wirelab wrap -- ab -n 100 http://127.0.0.1:8080/"
        )
    if order.serve is None:
        target.refuse_placeholders(order.command)
        if order.link != LOOPBACK:
            raise UsageError(
                "--link needs a server at its other end", "give --serve REF, or leave --link out"
            )
        return
    target.require_placeholder(order.command)
    if order.port is not None:
        raise UsageError("--port is of servers that run already", "--serve chooses its own")
    if order.interface != "lo":
        raise UsageError(
            "--interface is of servers that run already",
            "--serve listens on loopback, or at the other end of --link",
        )
    axes = order.serve.axes
    if axes["socket"] == "unix":
        raise StackError(f"{order.serve}: a Unix socket has no packets", "leave socket=unix out")
    if axes["caller"] != "engine":
        raise StackError(f"{order.serve}: COMMAND is the caller", "leave caller out")
    if axes["via"] != "none":
        raise StackError(
            f"{order.serve}: `wirelab wrap` captures between COMMAND and the service alone",
            "leave via out, or measure it by `wirelab run`",
        )


class _Session:
    """From the link to the dissection."""

    def __init__(
        self,
        order: Order,
        folder: Path,
        stack: ExitStack,
        note: Callable[[str], None],
        interruption: Interruption,
    ) -> None:
        self._order = order
        self._folder = folder
        self._stack = stack
        self._note = note
        self._interruption = interruption
        self._stopped: str | None = None

    def measure(self, out: BinaryIO, err: BinaryIO) -> Measured:
        order = self._order
        link = self._link()
        service, service_record = self._service(link)
        command = list(order.command)
        if service is not None:
            command = target.filled(command, _service_address(order, service.ready.address))
            number = int(service.ready.address.rpartition(":")[2])
        else:
            number = order.port or target.port(command)
        command[0] = _program(command[0])
        capture = self._capture(link, number)
        pid = service.ready.pid if service else _listener(number)
        cpu: list[Sample] = []
        began_ns = time.monotonic_ns()
        offset_ns = time.monotonic_ns() - time.time_ns()
        _sample(pid, cpu)
        with _machine_busy() as busy:
            ran = process.run(
                command,
                namespace=link.client.namespace,
                folder=self._folder,
                out=out,
                err=err,
                seconds_max=order.seconds_max,
                interruption=self._interruption,
                on_tick=lambda: self._tick(capture, pid, cpu),
            )
        _sample(pid, cpu)
        link.settle()
        time.sleep(SETTLE_S)
        caught = capture.finish()
        linked = link.finish(began_ns, time.monotonic_ns()) if order.link != LOOPBACK else None
        return Measured(
            order=order,
            command=tuple(command),
            port=number,
            ran=ran,
            capture=caught,
            document=self._dissect(number),
            stopped=self._stopped,
            service=service_record,
            service_cpu=cpu if pid else [],
            link=linked,
            machine_busy=busy(),
            wall_offset_ns=offset_ns,
            cores=len(available_cores()),
        )

    def _link(self) -> AnyLink:
        link = links.open_link(
            LinkSpec(self._order.link, measure=Measure(pings=links.PINGS_MIN)),
            cores=(),
            log=self._folder / "link.log",
            interruption=self._interruption,
        )
        self._stack.enter_context(link)
        return link

    def _service(self, link: AnyLink) -> tuple[Service | None, WrappedService | None]:
        order = self._order
        if order.serve is None:
            return None, None
        scratch = self._stack.enter_context(Scratch())
        programs = Programs(manifests.load())
        program = programs.program(order.serve, self._interruption, order.contract)
        proof = self._proof(programs, order.serve)
        listen = ListenSpec.of(order.serve, scratch, link.server.address)
        service = Service(
            program,
            _settings(order, program).configuration(order.serve, order.contract, listen),
            ProcessOptions(log=self._folder / "service.log", namespace=link.server.namespace),
            interruption=self._interruption,
        )
        self._stack.enter_context(service)
        ready = service.ready
        return service, WrappedService(
            str(order.serve), ready.address, ready.language, program.sha256, proof
        )

    def _proof(self, programs: Programs, stack: Stack) -> IdentityRecord:
        from wirelab.identity import Admission  # pydantic, which no command without --serve needs

        admission = Admission(programs, self._interruption, unverified=True)
        admission.prepare(stack, self._order.contract, self._note)
        return admission.of(stack, self._order.contract)

    def _capture(self, link: AnyLink, number: int) -> Capture:
        end = link.client
        if self._order.link == LOOPBACK:
            end = End(interface=self._order.interface)
        capture = Capture(
            CaptureSpec("client", end, self._folder / "capture.pcapng", port=number),
            cores=(),
            log=self._folder / "capture.log",
            interruption=self._interruption,
        )
        return self._stack.enter_context(capture)

    def _tick(self, capture: Capture, pid: int | None, cpu: list[Sample]) -> None:
        _sample(pid, cpu)
        if self._stopped is not None:
            return
        death = capture.death()
        free = shutil.disk_usage(self._folder).free
        if free < FREE_BYTES_MIN:
            self._stopped = f"the disk of {self._folder} has only {free // 1_000_000} MB left"
        elif death:
            raise LabError(death, "`wirelab doctor` tells what this machine can do")
        elif capture.file.stat().st_size > CAPTURE_BYTES_MAX:
            self._stopped = f"the capture reached {CAPTURE_BYTES_MAX // 10**9} GB"
        if self._stopped is not None:
            raise Stopping(self._stopped)

    def _dissect(self, number: int) -> Dissection:
        # Interruption has ended the command; a second one ends the dissection.
        with Interruption() as again:
            return dissection.dissect(
                self._folder / "capture.pcapng",
                Look(port=number),
                log=self._folder / "dissect.log",
                interruption=again,
            )


def _settings(order: Order, program: Program) -> Settings:
    """The service may use the whole machine, as the command does."""
    return Settings(
        hello_bytes=order.hello_bytes,
        processors=len(available_cores()),
        collector=program.manifest.collector,
    )


def _service_address(order: Order, address: str) -> ServiceAddress:
    assert order.serve is not None  # who calls has a service
    axes = order.serve.axes
    paths = {"rest": PATHS, "grpc": GRPC_PATHS}.get(axes["binding"], {})
    scheme = "http" if axes["security"] == "none" else "https"
    return ServiceAddress(address, paths.get(order.contract), scheme)


def _program(name: str) -> str:
    """The program in PATH, else one that the lab has built for itself."""
    found = shutil.which(name)
    folder = checkout.find()
    if found is None and "/" not in name and folder is not None:
        found = shutil.which(name, path=str(folder / ".cache" / "bin"))
    return found or name


def _listener(number: int) -> int | None:
    """The process that listens on that port, where the machine tells."""
    try:
        sockets = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return None
    return next(
        (s.pid for s in sockets if s.status == psutil.CONN_LISTEN and s.laddr[1:2] == (number,)),
        None,
    )


def _sample(pid: int | None, samples: list[Sample]) -> None:
    cpu = metrics.cpu_seconds(pid) if pid else 0.0
    if cpu is not None:
        samples.append(Sample(time.monotonic_ns(), cpu))


@contextmanager
def _machine_busy() -> Iterator[Callable[[], float | None]]:
    """Gives the share of all CPU time that was not idle while it lasted."""
    before = psutil.cpu_times()
    shares: list[float] = []

    def share() -> float | None:
        return shares[0] if shares else None

    yield share
    after = psutil.cpu_times()
    grown = [b - a for a, b in zip(before, after, strict=True)]
    idle = grown[after._fields.index("idle")] + grown[after._fields.index("iowait")]
    # guest times are in user and nice already (proc_stat(5)).
    whole = sum(
        g for g, name in zip(grown, after._fields, strict=True) if not name.startswith("guest")
    )
    if whole > 0:
        shares.append(1.0 - idle / whole)
