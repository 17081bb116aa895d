"""Plays scripted conversations, captures them, and compares what the diagnosis says.

``.venv/bin/python -m bench.ground_truth.scripted`` prints the table; ``--publish`` writes it
into docs/reference/diagnosis-truth.md. As root, about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import machine
from bench.ground_truth.captures import places
from bench.ground_truth.captures.places import FAR, LOOPBACK, WLAN, NetworkPath
from bench.ground_truth.page import PAGE
from bench.ground_truth.scoring import Finding, read
from bench.ground_truth.scripted import proxied, relayed
from bench.ground_truth.scripted.proxied import PROXY
from bench.ground_truth.scripted.relayed import RELAY
from bench.ground_truth.scripted.scenarios import (
    BY_NAME,
    FAR_ONLY,
    NOT_PROXIED,
    SCENARIOS,
    Scenario,
)
from bench.pages import marked_parts
from wirelab.errors import Interrupted, LabError, TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.statistics.distributions import binomial_interval
from wirelab.trial.stages.capture import Capture, CaptureSpec

PLACES = (LOOPBACK, PROXY, WLAN, FAR, RELAY)
COUNT = 60
"""Connections of each scenario at each of three places."""
LATE_MS_MAX = 20.0
"""Less than any pause by plan: what the machine itself may add to a packet's way."""
TRIES = 4
"""Of a capture during which the machine was later than that."""
SECONDS_MAX = 180.0
SETTLE_S = 0.4
LONG_PATH = "long-path"
CAPTURE = "capture.pcapng"
CAUSES = tuple(dict.fromkeys(cause for one in SCENARIOS for cause in one.causes))
LIMIT = 0.95
"""Least lower end of the intervals of precision and recall."""
UNATTRIBUTED_MAX = 0.02

Json = dict[str, Any]


@dataclass
class Tally:
    """Of one cause."""

    right: int = 0
    missed: int = 0
    false: int = 0


@dataclass
class Total:
    """Of all captures."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in CAUSES})
    clean: int = 0
    """Connections of clean captures."""
    alarms: int = 0
    """Of those with a finding of one of these causes."""
    elapsed_ms: float = 0.0
    unattributed_ms: float = 0.0
    sums_off: int = 0
    """Captures whose parts do not add up to their elapsed time."""
    captures: int = 0
    repeated: int = 0
    """Captures that were made again because the machine held packets up."""
    disturbed: int = 0
    """That count although it did, each time."""
    disagreements: list[str] = field(default_factory=list)


def main() -> int:
    """1 where a limit is missed, 2 where it could not be measured, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="connections per capture")
    parser.add_argument("--scenarios", default="", help="of these (default: all)")
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--out", type=Path, help="folder for captures (default: a new one)")
    parser.add_argument("--publish", action="store_true", help="write the page's part again")
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="wirelab-scripted-"))
    chosen = [BY_NAME[name] for name in filter(None, options.scenarios.split(","))] or SCENARIOS
    total = Total()
    try:
        with Interruption() as interruption:
            for name in filter(None, options.places.split(",")):
                play_at_place(name, list(chosen), options.count, out, total, interruption)
    except Interrupted:
        print(f"interrupted; the captures made so far are in {out}", file=sys.stderr)
        return 130
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    print(*total.disagreements[:60], sep="\n")
    print(*table(total), sep="\n")
    if options.publish:
        lines = [_describe_machine(), "", *table(total)]
        PAGE.write_text(marked_parts.replace_part(PAGE.read_text(), "scripted", lines))
    return 1 if _misses(total) else 0


def play_at_place(
    name: str,
    chosen: list[Scenario],
    count: int,
    out: Path,
    total: Total,
    interruption: Interruption,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        log = out / f"link-{name}.log"
        place = _place(name, log, held, interruption)
        certificate = _certificate(out)
        for scenario in chosen:
            if name not in places_of(scenario):
                continue
            folder = out / f"{scenario.name}-{name}"
            folder.mkdir(exist_ok=True)
            number = count * math.ceil(3 / len(places_of(scenario)))
            play = partial(
                _play_scenario, scenario, place, number, folder, certificate, interruption
            )
            port, truth = _play_undisturbed(play, total)
            if scenario.name in FAR_ONLY:
                for waits in truth.values():
                    waits.append((LONG_PATH, place.rtt_ns / 1e6))
            _judge(scenario, name, folder, port, truth, total)


def _place(name: str, log: Path, held: ExitStack, interruption: Interruption) -> NetworkPath:
    if name == PROXY:
        return proxied.place()
    if name == RELAY:
        return held.enter_context(relayed.open_relay(log, interruption))
    return held.enter_context(places.open_place(name, (), log, interruption))


def places_of(scenario: Scenario) -> tuple[str, ...]:
    """Where it can be played with a useful result."""
    if scenario.relayed:
        return (RELAY,)
    if scenario.name in FAR_ONLY:
        return (FAR,)
    if scenario.looked_up:
        return (WLAN, FAR)  # captured without a port, loopback shows what else is there
    if scenario.name.startswith("clean"):
        return (LOOPBACK, PROXY, WLAN)  # the path itself is long at the other
    if scenario.name in NOT_PROXIED:
        return (LOOPBACK, WLAN, FAR)
    return (LOOPBACK, PROXY, WLAN, FAR)


def _certificate(out: Path) -> Path:
    """Key and certificate of a server, in one file."""
    file = out / "server.pem"
    if not file.exists():
        command = [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=service", "-keyout", str(file)),
            *("-out", str(out / "certificate.pem")),
        ]
        subprocess.run(command, check=True, capture_output=True)
        file.write_text(file.read_text() + (out / "certificate.pem").read_text())
    return file


Truth = dict[int, list[tuple[str, float]]]


def _play_undisturbed(
    play: Callable[[int], tuple[int, Truth, float]], total: Total
) -> tuple[int, Truth]:
    """Plays until the machine held no packet up; after some tries it counts as it is."""
    for attempt in range(TRIES):
        port, truth, late_ms = play(attempt)
        if late_ms <= LATE_MS_MAX:
            return port, truth
        total.repeated += 1
    total.repeated -= 1
    total.disturbed += 1
    return port, truth


def _play_scenario(
    scenario: Scenario,
    place: NetworkPath,
    count: int,
    folder: Path,
    certificate: Path,
    interruption: Interruption,
    attempt: int,
) -> tuple[int, Truth, float]:
    """Plays and captures one scenario; what each connection waited for, and how late the
    machine was with packets, ms."""
    (folder / CAPTURE).unlink(missing_ok=True)
    address = place.server.address or "127.0.0.1"
    config: Json = {
        "scenario": scenario.name,
        "address": address,
        "seed": f"{place.name} {attempt}",
    }
    with ExitStack() as held:
        server = _peer(place.server.namespace, folder / "server.log")
        held.callback(server.kill)
        is_proxied = place.name == PROXY
        serving = {**config, "certificate": str(certificate), "proxied": is_proxied}
        server.say(json.dumps(serving).encode() + b"\n")
        port = _line(server, interruption)["port"]
        if is_proxied:
            port = held.enter_context(proxied.open_proxy(port, folder, interruption))
        # Fragments behind the first have no port, and lookups another one.
        kept = None if scenario.relayed or scenario.looked_up else port
        spec = CaptureSpec("client", place.client, folder / CAPTURE, port=kept)
        capture = held.enter_context(
            Capture(spec, cores=(), log=folder / "capture.log", interruption=interruption)
        )
        canary = _canary(place, folder / "canary.log")
        held.callback(canary.kill)
        _line(canary, interruption)
        client = _peer(place.client.namespace, folder / "client.log")
        held.callback(client.kill)
        own = place.client.address or "127.0.0.1"
        calling = {**config, "port": port, "count": count, "own": own}
        client.say(json.dumps(calling).encode() + b"\n")
        truth: Truth = {}
        for _ in range(count):
            _note(truth, _line(client, interruption))
        for _ in range(0 if scenario.refused else count):
            _note(truth, _line(server, interruption))
        time.sleep(SETTLE_S)
        canary.close_input()
        late_ms = float(_line(canary, interruption)["late_ms"])
        dropped = capture.finish().drops
        if dropped:
            raise TrialFailed(f"{scenario.name}: the capture lost {dropped} packets")
    (folder / "truth.json").write_text(json.dumps(truth, indent=1))
    return port, truth, late_ms


def _canary(place: NetworkPath, log: Path) -> Child:
    command = [sys.executable, "-m", "bench.ground_truth.scripted.canary"]
    child = Child(command, ProcessOptions(log=log))
    ends = {"client": place.client, "server": place.server}
    config = {
        side: {"address": end.address, "namespace": end.namespace} for side, end in ends.items()
    }
    child.say(json.dumps(config).encode() + b"\n")
    return child


def _peer(namespace: str | None, log: Path) -> Child:
    command = [sys.executable, "-m", "bench.ground_truth.scripted.peer"]
    return Child(command, ProcessOptions(log=log, namespace=namespace))


def _line(child: Child, interruption: Interruption) -> Json:
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        interruption.check()
        line = child.line(POLL_S)
        if line == b"":
            raise TrialFailed(f"a peer ended: {child.log_tail()}")
        if line:
            made: Json = json.loads(line)
            return made
    raise TrialFailed("a peer printed nothing")


def _note(truth: Truth, line: Json) -> None:
    truth.setdefault(line["client"], []).extend((cause, ms) for cause, ms in line["waits"])


def _judge(
    scenario: Scenario, place: str, folder: Path, port: int, truth: Truth, total: Total
) -> None:
    command = [
        *(str(engine_binary.find()), "dissect", str(folder / CAPTURE), "--json"),
        *("--all-findings", "--flows", "100000"),
        # Lookups have a port of their own.
        *(() if scenario.looked_up else ("--port", str(port))),
    ]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=True)
    document = json.loads(done.stdout)
    total.captures += 1
    _add_account(total, document)
    found = [one for one in read(document) if one.cause in CAUSES]
    alarmed = set()
    for cause in CAUSES:
        expected = {client for client, waits in truth.items() if cause in dict(waits)}
        if cause == LONG_PATH and not expected and place == FAR:
            continue  # it is long there, whether or not it matters compared with the pause
        alarmed |= _compare(f"{scenario.name} at {place}", cause, expected, found, total)
    if not scenario.causes:
        total.clean += len(truth)
        total.alarms += len(alarmed)


def _compare(
    where: str, cause: str, expected: set[int], found: list[Finding], total: Total
) -> set[int]:
    """Returns the connections with a false alarm."""
    named = {one.key[0] for one in found if one.cause == cause}
    tally = total.tallies[cause]
    tally.right += len(expected & named)
    tally.missed += len(expected - named)
    tally.false += len(named - expected)
    total.disagreements += [f"{where}: {cause} missed, port {one}" for one in expected - named]
    total.disagreements += [f"{where}: {cause} false, port {one}" for one in named - expected]
    return named - expected


def _add_account(total: Total, document: Json) -> None:
    whole = document["waits"]["connections"]
    parts = sum(whole["parts_ms"].values())
    total.sums_off += abs(parts - whole["elapsed_ms"]) > 1e-6 * max(1.0, whole["elapsed_ms"])
    total.elapsed_ms += whole["elapsed_ms"]
    total.unattributed_ms += whole["parts_ms"].get("unattributed", 0.0)


def table(total: Total) -> Iterator[str]:
    """For the page, and a terminal."""
    yield "| cause | occurrences | found | false | missed | precision | recall |"
    yield "|---|---|---|---|---|---|---|"
    for cause, one in total.tallies.items():
        if not one.right + one.missed + one.false:
            continue
        yield (
            f"| `{cause}` | {one.right + one.missed} | {one.right} | {one.false} | {one.missed} "
            f"| {_share(one.right, one.right + one.false)} "
            f"| {_share(one.right, one.right + one.missed)} |"
        )
    yield ""
    yield (
        f"Clean connections: {total.clean}, {total.alarms} of them with a false alarm. Account of "
        f"time: {total.captures} captures, {total.sums_off} whose parts do not add up to their "
        f"elapsed time; {100 * _sum_unattributed(total):.2f} % of {total.elapsed_ms / 1e3:.0f} s "
        "unexplained. "
        f"{_captures(total.repeated)} made again because the machine held packets up for more than "
        f"{LATE_MS_MAX:.0f} ms; {_captures(total.disturbed)} so disturbed each time and counted."
    )


def _captures(count: int) -> str:
    return f"{count} capture was" if count == 1 else f"{count} captures were"


def _sum_unattributed(total: Total) -> float:
    return total.unattributed_ms / total.elapsed_ms if total.elapsed_ms else 0.0


def _share(hits: int, of: int) -> str:
    if not of:
        return "–"
    interval = binomial_interval(hits, of)
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _misses(total: Total) -> bool:
    for one in total.tallies.values():
        for hits, of in ((one.right, one.right + one.false), (one.right, one.right + one.missed)):
            low = binomial_interval(hits, of).low if of else None
            if low is not None and low < LIMIT:
                return True
    share = total.alarms / total.clean if total.clean else 0.0
    return bool(total.sums_off) or share > 0.01 or _sum_unattributed(total) > UNATTRIBUTED_MAX


def _describe_machine() -> str:
    facts = machine.facts({})
    return (
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {facts['processor']}, {len(facts['cores'])} "
        f"cores, Linux {facts['kernel']}."
    )
