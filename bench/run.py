"""`make bench`: races the engine against its peers, prints ratios, saves every figure."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import machine, table
from bench.bounds import MISSED, UNDECIDED
from bench.pages import engine_tax, publish
from bench.peers import find_peer
from bench.process import BenchError, NotHere
from bench.races import CLIENT_CORE, SERVER_CORE, Race, run_race
from bench.record import (
    Row,
    build_row,
    capture_row,
    clients_row,
    codecs_row,
    host_row,
    links_row,
    live_row,
    memory_row,
    packets_row,
    race_row,
    service_xml_row,
    startup_row,
    streams_row,
    tax_row,
    xml_writers_row,
)
from bench.rows import (
    build,
    captures,
    clients,
    codecs,
    host,
    links,
    live,
    memory,
    packets,
    peer_races,
    startup,
    streams,
    tax,
    xml_services,
)
from bench.servers import ENGINE

OUT = Path(__file__).resolve().parent / "out"
MEMORY_KEYS = ("connections", "calls")
CODECS_KEY = "codecs"
NETWORK_KEYS = ("packets", "links", "capture", "live", "host")
STARTUP_KEY = "startup"
BUILD_KEY = "build"
CLIENTS_KEY = "clients"
STREAMS_KEY = "streams"
TSHARK = "tshark"


@dataclass(frozen=True)
class Scale:
    """How much is measured: rounds per race, and at most where those say too little, seconds
    per run of one; pairs of the other rows, seconds per run of the capture row and of a tax
    row, pairs and calls of the memory rows, packets of the capture that is read."""

    rounds: int
    rounds_max: int
    race_s: int
    pairs: int
    capture_s: int
    tax_s: float
    memory_pairs: int
    calls: tuple[int, int]
    packets: int


FULL = Scale(
    rounds=12,
    rounds_max=40,
    race_s=1,
    pairs=6,
    capture_s=2,
    tax_s=0.5,
    memory_pairs=5,
    calls=(1_000_000, 5_000_000),
    packets=4_000_000,
)
QUICK = Scale(
    rounds=1,
    rounds_max=1,
    race_s=1,
    pairs=1,
    capture_s=1,
    tax_s=0.2,
    memory_pairs=1,
    calls=(20_000, 100_000),
    packets=1_000_000,
)


def main() -> int:
    """0 when every bound holds, 1 when one is broken or a row could not be taken, 2 before that."""
    if missing := _find_missing_tool():
        print(f"bench: {missing}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        races = peer_races.races(Path(scratch))
        options = _options([race.key for race in races])
        scale = QUICK if options.quick else FULL
        chosen = [race for race in races if race.key in options.rows]
        programs = _programs(chosen, options.rows)
        facts = machine.facts(_versions(chosen, programs))
        done, failed, skipped = _take(_jobs(chosen, options.rows, programs, scale))
    path = _save(options.out, done, failed, skipped, facts)
    if options.publish:
        for undone in publish.publish(json.loads(path.read_text()), options.rows):
            print(f"bench: {undone}", file=sys.stderr)
    return _verdict(done, failed, path, quick=options.quick)


def _find_missing_tool() -> str | None:
    """What keeps the bench from running here, and the remedy."""
    if not ENGINE.exists():
        return f"{ENGINE} is not there: run make setup"
    if not {SERVER_CORE, CLIENT_CORE} <= os.sched_getaffinity(0):
        return "cores 0 and 1 are needed, one for the server and one for the client"
    return None


def _options(races: list[str]) -> argparse.Namespace:
    keys = [*races, *MEMORY_KEYS, *tax.STACKS, CODECS_KEY, *engine_tax.XML_ROWS, *NETWORK_KEYS]
    keys += [STARTUP_KEY, BUILD_KEY, CLIENTS_KEY, STREAMS_KEY]
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short pair: smoke, no figures")
    parser.add_argument(
        "--rows", default=",".join(keys), help=f"of {', '.join(keys)}; tax: all tax-*"
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write the rows tax-* and codecs to the docs and to the data of reports; the rows "
        "build, capture, host, links, startup, and those of other tools (see docs/reference) to "
        "the docs",
    )
    parser.add_argument("--out", type=Path, help="file for the JSON (default: bench/out/TIME.json)")
    options = parser.parse_args()
    options.rows = [key for part in options.rows.split(",") for key in _row_keys(part)]
    if unknown := [key for key in options.rows if key not in keys]:
        parser.error(f"--rows: no row {', '.join(unknown)}; there are {', '.join(keys)}")
    if options.publish and (
        lacking := publish.reason_not_to_publish(options.rows, quick=options.quick)
    ):
        parser.error(f"--publish: {lacking}")
    return options


def _row_keys(part: str) -> list[str]:
    """One key, or all rows of the engine overhead under the name of their group."""
    return list(tax.STACKS) if part == "tax" else [part]


def _programs(races: list[Race], keys: list[str]) -> dict[str, str]:
    """Paths of the peers that the rows need, as far as they could be had."""
    names = sorted({peer.program for race in races for peer in race.peers})
    names += [TSHARK] if "packets" in keys else []
    names += startup.PEERS if STARTUP_KEY in keys else []
    names += [streams.H2LOAD] if STREAMS_KEY in keys else []
    found = {name: find_peer(name) for name in names}
    return {name: path for name, path in found.items() if path is not None}


def _jobs(
    races: list[Race], keys: list[str], programs: dict[str, str], scale: Scale
) -> dict[str, Callable[[], Row]]:
    """What is to be taken, by the row's key."""
    jobs: dict[str, Callable[[], Row]] = {
        race.key: partial(_race_row, race, programs, scale) for race in races
    }
    if "connections" in keys:
        jobs["connections"] = lambda: memory_row(memory.connections(scale.memory_pairs, 3))
    if "calls" in keys:
        jobs["calls"] = lambda: memory_row(memory.calls(scale.memory_pairs, *scale.calls))
    for key in filter(tax.STACKS.__contains__, keys):
        jobs[key] = partial(_tax_row, key, scale)
    if CODECS_KEY in keys:
        jobs[CODECS_KEY] = lambda: codecs_row(codecs.run(quick=scale is QUICK))
    if "service-xml" in keys:
        jobs["service-xml"] = lambda: service_xml_row(xml_services.services(scale is QUICK))
    if "xml-writers" in keys:
        jobs["xml-writers"] = lambda: xml_writers_row(xml_services.writers(scale is QUICK))
    if STARTUP_KEY in keys:
        jobs[STARTUP_KEY] = lambda: startup_row(startup.run(scale.pairs, programs))
    if BUILD_KEY in keys:
        jobs[BUILD_KEY] = lambda: build_row(build.run(quick=scale is QUICK))
    if CLIENTS_KEY in keys:
        jobs[CLIENTS_KEY] = lambda: clients_row(clients.run(5 if scale is QUICK else 100))
    if STREAMS_KEY in keys:
        jobs[STREAMS_KEY] = lambda: streams_row(
            streams.run(scale.memory_pairs, scale.rounds, programs)
        )
    return jobs | {
        key: partial(_network_row, key, programs, scale) for key in NETWORK_KEYS if key in keys
    }


def _network_row(key: str, programs: dict[str, str], scale: Scale) -> Row:
    """What the network's side of the lab promises, or costs."""
    if key == "packets":
        return packets_row(packets.run(scale.pairs, scale.packets, programs.get(TSHARK)))
    if key == "links":
        return links_row(links.run(quick=scale is QUICK))
    if key == "host":
        return host_row(host.run(scale.pairs, scale.capture_s))
    if key == "live":
        return live_row(live.run(scale.pairs, scale.capture_s))
    return capture_row(captures.run(scale.pairs, scale.capture_s))


def _tax_row(key: str, scale: Scale) -> Row:
    return tax_row(tax.run(key, scale.pairs, scale.tax_s))


def _race_row(race: Race, programs: dict[str, str], scale: Scale) -> Row:
    return race_row(run_race(race, programs, scale.rounds, scale.rounds_max, scale.race_s))


def _take(
    jobs: dict[str, Callable[[], Row]],
) -> tuple[list[Row], dict[str, str], dict[str, str]]:
    """Takes the rows one by one: those that were taken, those that failed, and those that this
    machine cannot have. None of them keeps the others from running."""
    done: list[Row] = []
    failed: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for key, job in jobs.items():
        try:
            row = job()
        except NotHere as reason:
            skipped[key] = str(reason)
            print(f"\n{key}: left out: {reason}", flush=True)
            continue
        except BenchError as error:
            failed[key] = str(error)
            print(f"\n{key}: not taken: {error}", flush=True)
            continue
        done.append(row)
        print("\n".join(row.lines), flush=True)
    return done, failed, skipped


def _save(
    out: Path | None,
    done: list[Row],
    failed: dict[str, str],
    skipped: dict[str, str],
    facts: dict[str, Any],
) -> Path:
    """Writes every raw figure, with what it depends on."""
    taken = datetime.now(UTC)
    path = out or OUT / f"{taken:%Y%m%dT%H%M%SZ}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "taken": taken.isoformat(),
        "machine": facts,
        "rows": {row.key: row.raw for row in done},
        "failed": failed,
        "skipped": skipped,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def _versions(races: list[Race], programs: dict[str, str]) -> machine.Programs:
    peers = {
        peer.program: (programs[peer.program], peer.version)
        for race in races
        for peer in race.peers
        if peer.program in programs
    }
    return peers | ({TSHARK: (programs[TSHARK], ("--version",))} if TSHARK in programs else {})


def _verdict(done: list[Row], failed: dict[str, str], path: Path, quick: bool) -> int:
    """Prints which bounds are broken, missed and undecided; a quick run has too few pairs to
    judge any."""
    print(f"\nevery figure: {path}")
    broken = _lines(done, "BROKEN")
    missed = _lines(done, MISSED)
    undecided = _lines(done, UNDECIDED)
    if quick:
        print("quick: one short pair judges no bound")
        return int(bool(failed))
    if broken:
        print("broken bounds:", *broken, sep="\n  ")
    if missed:
        print("missed aims:", *missed, sep="\n  ")
    if undecided:
        why = "the bound lies within the interval; more rounds may decide"
        print(f"undecided ({why}):", *undecided, sep="\n  ")
    if not broken and not missed and not undecided:
        print("every bound that could be judged holds")
    return int(bool(failed or broken))


def _lines(done: list[Row], verdict: str) -> list[str]:
    """The ratios with that verdict, each with its row."""
    return [
        f"{row.key}: {table.ratio_line(one).strip()}"
        for row in done
        for one in row.ratios
        if one.verdict == verdict
    ]


if __name__ == "__main__":
    sys.exit(main())
