"""Makes one capture: service, capture and caller, both programs traced."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.ground_truth.captures.places import NetworkPath
from bench.ground_truth.captures.recipes import Recipe, Stops
from bench.ground_truth.syscalls.strace import PREFIX_BYTES, TRACED
from wirelab.errors import TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack.reference import Stack
from wirelab.trial.stages.capture import Capture, CaptureSpec

CAPTURE, CASE = "capture.pcapng", "case.json"
CLIENT_LOG, SERVER_LOG, LINK_LOG = "client.strace", "server.strace", "link.log"
CALLS_S_MAX = 60.0
SETTLE_S = 0.05

Json = dict[str, Any]


class Maker:
    """Makes captures, each in a folder of its own."""

    def __init__(self, programs: Programs, interruption: Interruption) -> None:
        self._programs = programs
        self._interruption = interruption

    def make(self, recipe: Recipe, place: NetworkPath, folder: Path) -> Json:
        """Makes a capture and returns what is to be kept with it. Raises as a trial does."""
        folder.mkdir(parents=True, exist_ok=True)
        stack = Stack.parse(recipe.stack)
        program = self._programs.program(stack, self._interruption)
        command = (*strace(folder / SERVER_LOG), *program.command)
        if recipe.accept_after_ms is not None:
            command = late_server(folder, recipe.accept_after_ms)
        settings = Settings(
            hello_bytes=recipe.bytes if recipe.operation == "Hello" else 14,
            collector=program.manifest.collector,
            faults=recipe.faults,
        )
        configuration = settings.configuration(
            stack, "transfer", ListenSpec(listen=f"{place.server.address}:0")
        )
        configuration["socket"] = {**stack.service_socket(), "tcp_window": recipe.server_window}
        with Service(
            replace(program, command=command),
            configuration,
            ProcessOptions(log=folder / "server.log", namespace=place.server.namespace),
            interruption=self._interruption,
        ) as service:
            outcome = self._capture(recipe, stack, place, service, folder)
        return self._case(recipe, place, service, outcome)

    def _capture(
        self, recipe: Recipe, stack: Stack, place: NetworkPath, service: Service, folder: Path
    ) -> Json:
        port = int(service.ready.address.rpartition(":")[2])
        side = place.server if recipe.is_at_server else place.client
        with Capture(
            CaptureSpec(
                "server" if recipe.is_at_server else "client", side, folder / CAPTURE, port=port
            ),
            cores=(),
            log=folder / "capture.log",
            interruption=self._interruption,
        ) as capture:
            outcome = self._drive(recipe, stack, place, service, folder)
            # The last FIN and its acknowledgment come after the client's last call.
            time.sleep(SETTLE_S + 2 * place.rtt_ns / 1e9)
            dropped = capture.finish().drops
        if dropped:
            raise TrialFailed(f"the capture lost {dropped} packets")
        return outcome

    def _drive(
        self, recipe: Recipe, stack: Stack, place: NetworkPath, service: Service, folder: Path
    ) -> Json:
        endpoint = service.endpoint(ListenSpec())
        plan = plan_of(recipe, stack, endpoint.group())
        command = [
            *strace(folder / CLIENT_LOG),
            *(str(engine_binary.find()), "drive"),
        ]
        child = Child(
            command, ProcessOptions(log=folder / "client.log", namespace=place.client.namespace)
        )
        try:
            child.say(json.dumps(plan).encode() + b"\n")
            child.close_input()
            with stop_after(child, recipe.stops):
                return self._outcome(child)
        finally:
            child.kill()

    def _outcome(self, child: Child) -> Json:
        deadline = time.monotonic() + CALLS_S_MAX
        while time.monotonic() < deadline:
            self._interruption.check()
            line = child.line(POLL_S)
            if line == b"":
                raise TrialFailed(f"the engine gave no result: {child.log_tail()}")
            event = json.loads(line) if line else {}
            if event.get("event") == "result":
                child.wait(2.0)
                return {**event["groups"][0], "profile": event["profile"]}
            if event.get("event") == "error":
                raise TrialFailed(f"the engine refused the plan: {event.get('message')}")
        raise TrialFailed(f"the engine went on for more than {CALLS_S_MAX:.0f} s")

    def _case(self, recipe: Recipe, place: NetworkPath, service: Service, outcome: Json) -> Json:
        return {
            "name": recipe.name,
            "recipe": recipe.to_json(),
            "place": {
                "name": place.name,
                "rtt_ns": place.rtt_ns,
                "segment_bytes": place.segment_bytes,
            },
            "vantage": "server" if recipe.is_at_server else "client",
            "address": service.ready.address,
            "calls": outcome["calls_whole_run"],
            "errors": outcome["errors"],
            "profile": outcome["profile"],
        }


def plan_of(recipe: Recipe, stack: Stack, where: Json) -> Json:
    """The engine's plan."""
    group = {
        "name": "truth",
        **where,
        "stack": stack.engine_stack(),
        "workload": {
            "kind": "contract",
            "contract": "transfer",
            "operation": recipe.operation,
            "bytes": recipe.bytes,
        },
        "load": {"kind": "closed", "users": recipe.users, "think_s": recipe.think_s},
        "window": {"calls": {"calls": recipe.calls, "max_s": CALLS_S_MAX / 2}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
        "timeout_s": 30.0,
        "drain_s": 10.0,
    }
    return {"threads": 1, "progress_ms": 0, "groups": [group]}


def late_server(folder: Path, accept_after_ms: int) -> tuple[str, ...]:
    """The scripted server that accepts late, traced."""
    script = (sys.executable, "-m", "bench.ground_truth.captures.late_server", str(accept_after_ms))
    return (*strace(folder / SERVER_LOG), *script)


def strace(out: Path) -> tuple[str, ...]:
    """What a command is started with to be traced, threads and all."""
    return (
        "strace",
        *("-f", "--seccomp-bpf", "-qq", "-yy", "-T"),
        *("-s", str(PREFIX_BYTES)),
        "--absolute-timestamps=format:unix,precision:ns",
        *("-e", f"trace={TRACED}"),
        *("-o", str(out)),
        "--",
    )


def find_missing_tool() -> str | None:
    """What is missing on this machine, in words; None when captures can be made."""
    if shutil.which("strace") is None:
        return "strace is not installed (Debian: strace)"
    return None


@contextmanager
def stop_after(strace: Child, stops: Stops | None) -> Iterator[None]:
    """While the block lasts; at its end the process goes on."""
    if stops is None:
        yield
        return
    over = threading.Event()
    stopper = threading.Thread(target=_stop_and_go, args=(strace, stops, over))
    stopper.start()
    try:
        yield
    finally:
        over.set()
        stopper.join()


def _stop_and_go(strace: Child, stops: Stops, over: threading.Event) -> None:
    """The last word is SIGCONT."""
    wait_s = stops.first_ms / 1e3
    while not over.wait(wait_s):
        pid = _find_traced(strace.pid)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                over.wait(stops.for_ms / 1e3)
                os.kill(pid, signal.SIGCONT)
        wait_s = (stops.every_ms - stops.for_ms) / 1e3


def _find_traced(strace_pid: int) -> int | None:
    """The process that this strace started; None when there is none."""
    try:
        children = Path(f"/proc/{strace_pid}/task/{strace_pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None
