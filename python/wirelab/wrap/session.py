"""One wrapped command: its target, its capture, and the results of both."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import psutil

from wirelab import installation
from wirelab.documents.dissection import Dissection
from wirelab.documents.link import Measure
from wirelab.errors import LabError, StackError, TrialFailed, UsageError
from wirelab.experiment.placement import available_cores
from wirelab.process import metrics
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.process.metrics import Sample
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Programs, Service, Settings
from wirelab.records.link import CaptureRecord, LinkRecord
from wirelab.records.service import IdentityRecord
from wirelab.secrets import given
from wirelab.secrets.known import KnownSecrets
from wirelab.stack import manifests
from wirelab.stack.link_names import LOOPBACK
from wirelab.stack.reference import Stack
from wirelab.trial import dissection, secrets
from wirelab.trial.dissection import Look
from wirelab.trial.stages import link as links
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import AnyLink, End, LinkSpec
from wirelab.wrap import process, target
from wirelab.wrap.other_clients import OtherClients, write_ends
from wirelab.wrap.process import Ran, Stopping
from wirelab.wrap.target import ServiceAddress
from wirelab.wrap.wake_ups import WakeUps

CAPTURE_BYTES_MAX = 4_000_000_000
"""Maximum size of a capture; more ends the command."""
FREE_BYTES_MIN = 200_000_000
"""Minimum free space on the disk of the capture; less ends the command."""
PATHS = {"transfer": "/transfer/hello"}
"""Path of ``{url}`` for REST, by contract."""
GRPC_PATHS = {"transfer": "/wirelab.transfer.v1.Transfer/Hello"}
SAMPLE = 20_000
"""Number of requests by whose times the load is classified."""
SETTLE_S = 0.1
"""Time from the command's end to the end of the capture, for the last packets."""


@dataclass(frozen=True)
class Order:
    """Arguments of ``wirelab wrap``."""

    command: tuple[str, ...]
    serve: Stack | None = None
    contract: str = "transfer"
    hello_bytes: int = 14
    link: str = LOOPBACK
    interface: str = "lo"
    port: int | None = None
    seconds_max: float | None = None
    keylog: bool = True
    """The command is asked to write its secrets of TLS."""
    ready_timeout_s: float | None = None
    """For the service; see :class:`wirelab.process.children.ProcessOptions`."""


@dataclass(frozen=True)
class WrappedService:
    """The wirelab service that the command loaded."""

    stack: str
    address: str
    language: str
    sha256: str
    proof: IdentityRecord
    """Proof of its verification, or the reason why there is none."""


@dataclass(frozen=True)
class OthersLeftOut:
    """Connections of other processes to the same port, which no figure includes."""

    connections: int
    processes: tuple[str, ...]
    """Described."""


@dataclass
class Measured:
    """All data when the command has ended."""

    order: Order
    command: tuple[str, ...]
    """The command with placeholders replaced."""
    port: int
    ran: Ran
    capture: CaptureRecord
    document: Dissection
    """The dissection."""
    stopped: str | None = None
    """Why wirelab ended the command, apart from interruption and time limit."""
    service: WrappedService | None = None
    service_cpu: list[Sample] = field(default_factory=list)
    link: LinkRecord | None = None
    machine_busy: float | None = None
    """Share of the machine's CPU time that was not idle while the command ran."""
    wall_offset_ns: int = 0
    """CLOCK_MONOTONIC minus CLOCK_REALTIME."""
    cores: int = 1
    keylog: Path | None = None
    """The file that the command was asked to write its secrets of TLS to."""
    secrets: int = 0
    """Connections of which it has secrets."""
    others: OthersLeftOut | None = None
    late_s: Sequence[float] = ()
    """How late a thread that only slept was woken meanwhile (:mod:`wirelab.wrap.wake_ups`)."""
    watching_cpu_s: float = 0.0
    """CPU time of wirelab itself, without the capture, while the command ran."""

    @cached_property
    def known_secrets(self) -> KnownSecrets:
        """The secrets on the command line, which no output repeats."""
        return given.of_command(self.command)

    def window_ns(self) -> tuple[int, int] | None:
        """From the first request to the start of the last, or to the end of the command,
        CLOCK_MONOTONIC; of encrypted requests from the first packet to the last. None without
        them."""
        load, capture = self.document.load, self.document.capture
        if load.first_at_ns is None:
            if not self.document.tls.connections or capture.first_at_ns is None:
                return None
            start = capture.first_at_ns + self.wall_offset_ns
            return start, start + round(capture.seconds * 1e9)
        start = load.first_at_ns + self.wall_offset_ns
        return start, min(start + round(load.seconds * 1e9), self.ran.cpu[-1].at_ns)


def wrap(
    order: Order,
    folder: Path,
    *,
    out: BinaryIO,
    err: BinaryIO,
    note: Callable[[str], None],
    interruption: Interruption,
    on_build: OnBuild = ignore,
) -> Measured:
    """Runs the command under capture; capture and output are stored in ``folder``. ``note``
    receives messages, and ``on_build`` what a build of the service does.
    Raises :class:`UsageError`, :class:`LabError`, :class:`Interrupted`."""
    _refuse(order)
    try:
        with ExitStack() as stack:
            return _Session(order, folder, stack, note, interruption, on_build).measure(out, err)
    except Refused as refused:
        raise LabError(refused.message, refused.remedy) from refused
    except TrialFailed as failure:
        raise LabError(
            failure.reason, "`wirelab doctor` reports what this machine supports"
        ) from None


def _refuse(order: Order) -> None:
    if not order.command:
        raise UsageError(
            "COMMAND is missing", "for example: wirelab wrap -- ab -n 100 http://127.0.0.1:8080/"
        )
    if order.serve is None:
        target.refuse_placeholders(order.command)
        if order.link != LOOPBACK:
            raise UsageError(
                "--link needs a wirelab service at its other end",
                "give --serve REF, or leave --link out",
            )
        return
    target.require_placeholder(order.command)
    if order.port is not None:
        raise UsageError(
            "--port applies only to running servers", "leave it out: --serve chooses its own port"
        )
    if order.interface != "lo":
        raise UsageError(
            "--interface applies only to running servers",
            "leave it out: --serve uses loopback, or the other end of --link",
        )
    axes = order.serve.axes
    if axes.socket == "unix":
        raise StackError(f"{order.serve}: a Unix socket has no packets", "remove socket=unix")
    if axes.caller != "engine":
        raise StackError(f"{order.serve}: COMMAND is the caller", "remove caller")
    if axes.via != "none":
        raise StackError(
            f"{order.serve}: `wirelab wrap` captures only between COMMAND and the service",
            "remove via, or measure it with `wirelab run`",
        )


class _Session:
    """Runs everything from the link to the dissection."""

    def __init__(
        self,
        order: Order,
        folder: Path,
        stack: ExitStack,
        note: Callable[[str], None],
        interruption: Interruption,
        on_build: OnBuild,
    ) -> None:
        self._order = order
        self._folder = folder
        self._stack = stack
        self._note = note
        self._on_build = on_build
        self._interruption = interruption
        self._stopped: str | None = None

    def measure(self, out: BinaryIO, err: BinaryIO) -> Measured:
        order = self._order
        link = self._link()
        service, service_record = self._service(link)
        command = list(order.command)
        if service is not None:
            command = target.fill_placeholders(
                command, _service_address(order, service.ready.address)
            )
            number = int(service.ready.address.rpartition(":")[2])
        else:
            number = order.port or target.port(command)
        command[0] = _program(command[0])
        capture = self._capture(link, number)
        pid = service.ready.pid if service else _listener(number)
        keylog = self._keylog()
        cpu: list[Sample] = []
        began_ns = time.monotonic_ns()
        offset_ns = time.monotonic_ns() - time.time_ns()
        _sample(pid, cpu)
        others = OtherClients(number)
        # Nobody else is in a namespace of its own.
        has_others = link.client.namespace is None

        def tick(own_pids: Callable[[], set[int]]) -> None:
            self._tick(capture, pid, cpu)
            if has_others:
                others.look(own_pids)

        own_s = time.process_time()
        with _machine_busy() as busy, WakeUps() as wake_ups:
            ran = process.run(
                command,
                namespace=link.client.namespace,
                folder=self._folder,
                out=out,
                err=err,
                seconds_max=order.seconds_max,
                interruption=self._interruption,
                on_tick=tick,
                environment={} if keylog is None else secrets.environment(keylog),
            )
        own_s = time.process_time() - own_s
        _sample(pid, cpu)
        link.settle()
        time.sleep(SETTLE_S)
        if has_others:
            others.look(set, now=True)
        caught = capture.finish()
        known = 0 if keylog is None else secrets.connections(keylog)
        linked = link.finish(began_ns, time.monotonic_ns()) if order.link != LOOPBACK else None
        document, others_left_out = self._dissect_own(number, keylog if known else None, others)
        return Measured(
            order=order,
            command=tuple(command),
            port=number,
            ran=ran,
            capture=caught,
            document=document,
            others=others_left_out,
            stopped=self._stopped,
            service=service_record,
            service_cpu=cpu if pid else [],
            link=linked,
            machine_busy=busy(),
            wall_offset_ns=offset_ns,
            cores=len(available_cores()),
            keylog=keylog,
            late_s=wake_ups.late_s,
            watching_cpu_s=own_s,
            secrets=known,
        )

    def _keylog(self) -> Path | None:
        """The file for the command's secrets: the user's own, if the variable is set."""
        if not self._order.keylog:
            return None
        own = os.environ.get(secrets.VARIABLE)
        return Path(own) if own else secrets.create(self._folder / "keys.log")

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
        programs = Programs(manifests.load(), self._on_build)
        program = programs.program(order.serve, self._interruption, order.contract)
        proof = self._proof(programs, order.serve)
        listen = ListenSpec.of(order.serve, scratch, link.server.address)
        service = Service(
            program,
            _settings(order, program).configuration(order.serve, order.contract, listen),
            ProcessOptions(
                log=self._folder / "service.log",
                namespace=link.server.namespace,
                ready_timeout_s=order.ready_timeout_s,
            ),
            interruption=self._interruption,
        )
        self._stack.enter_context(service)
        ready = service.ready
        return service, WrappedService(
            str(order.serve), ready.address, ready.language, program.sha256, proof
        )

    def _proof(self, programs: Programs, stack: Stack) -> IdentityRecord:
        from wirelab.identity import Admission  # imports pydantic, needed only with --serve

        admission = Admission(
            programs,
            self._interruption,
            unverified=True,
            ready_timeout_s=self._order.ready_timeout_s,
        )
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
            raise LabError(death, "`wirelab doctor` reports what this machine supports")
        elif capture.file.stat().st_size > CAPTURE_BYTES_MAX:
            self._stopped = f"the capture reached {CAPTURE_BYTES_MAX // 10**9} GB"
        if self._stopped is not None:
            raise Stopping(self._stopped)

    def _dissect_own(
        self, number: int, keylog: Path | None, others: OtherClients
    ) -> tuple[Dissection, OthersLeftOut | None]:
        """Without connections of other processes; with them if nothing else is there, because a
        command may let another process send its requests."""
        if others.seen_ns:
            without = write_ends(self._folder / "others.txt", others.seen_ns)
            document = self._dissect(number, keylog, without)
            if document.flows.count:
                names = tuple(others.processes.values())
                return document, OthersLeftOut(len(others.seen_ns), names)
        return self._dissect(number, keylog), None

    def _dissect(self, number: int, keylog: Path | None, without: Path | None = None) -> Dissection:
        # An interruption has ended the command; a second one ends the dissection.
        with Interruption() as again:
            return dissection.dissect(
                self._folder / "capture.pcapng",
                Look(port=number, keylog=keylog, sample=SAMPLE, without=without),
                log=self._folder / "dissect.log",
                interruption=again,
            )


def _settings(order: Order, program: Program) -> Settings:
    """The service may use the whole machine, like the command."""
    return Settings(
        hello_bytes=order.hello_bytes,
        processors=len(available_cores()),
        collector=program.manifest.collector,
    )


def _service_address(order: Order, address: str) -> ServiceAddress:
    assert order.serve is not None  # checked by the caller
    axes = order.serve.axes
    paths = {"rest": PATHS, "grpc": GRPC_PATHS}.get(axes.binding, {})
    scheme = "http" if axes.security == "none" else "https"
    return ServiceAddress(address, paths.get(order.contract), scheme)


def _program(name: str) -> str:
    """The program in PATH, otherwise one that wirelab has built."""
    found = shutil.which(name)
    if found is None and "/" not in name:
        found = shutil.which(name, path=str(installation.cache() / "bin"))
    return found or name


def _listener(number: int) -> int | None:
    """The process that listens on that port, if the machine reveals it."""
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
    """Yields a function that returns the share of all CPU time that was not idle so far."""
    before = psutil.cpu_times()
    shares: list[float] = []

    def share() -> float | None:
        return shares[0] if shares else None

    yield share
    after = psutil.cpu_times()
    grown = [b - a for a, b in zip(before, after, strict=True)]
    idle = grown[after._fields.index("idle")] + grown[after._fields.index("iowait")]
    # guest times are included in user and nice (proc_stat(5)).
    whole = sum(
        g for g, name in zip(grown, after._fields, strict=True) if not name.startswith("guest")
    )
    if whole > 0:
        shares.append(1.0 - idle / whole)
