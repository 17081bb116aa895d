"""How fast a capture is read, and dissected whole, compared with tshark; and in what memory."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.bounds import Ratio
from bench.process import BenchError, Finished, build_example, busy_s, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE
from bench.rows.memory import SAME_MEMORY
from bench.servers import ENGINE

EXAMPLE = "read_speed"
READING, DISSECT, TSHARK = "reading", "dissect", "tshark"
M_PACKETS_S_MIN = 1.5
DISSECTED_M_PACKETS_S_MIN = 2.0
"""Of the whole dissection, with the account of time."""
DECRYPT_EXAMPLE = "decrypt_speed"
DECRYPTED_MB_S_MIN = 400.0
"""Payload of TLS that is decrypted and dissected, per CPU second, whatever the suite."""
DECRYPTED_MB = 60
TSHARK_PACKETS = 400_000
"""tshark gets no more: it is slow, and its memory grows with what it reads."""
SHORTER = 4
"""Packets of the longer capture per packet of the shorter one; the peak memory of both is taken."""
FEWER = {DISSECT: "dissect, fewer packets", TSHARK: "tshark, fewer packets"}
"""The same programs on a quarter of the packets: the difference has no start-up in it, of which
tshark has 0.36 s."""


@dataclass(frozen=True)
class Reader:
    """A program that reads a capture, and where it says how many packets that held."""

    name: str
    command: tuple[str, ...]
    packets: Callable[[Finished], int]
    count: int
    """Packets that it reads."""


@dataclass(frozen=True)
class Pass:
    """One run of one program over one capture."""

    reader: str
    packets: int
    cpu_s: float
    wall_s: float
    rss_peak_bytes: int
    others_share: float
    """Of the two cores' time, what went to anything else."""

    @property
    def millions_per_s(self) -> float:
        """Packets per CPU second: what a core does that the program has to itself."""
        return self.packets / self.cpu_s / 1e6


@dataclass(frozen=True)
class Read:
    """Every pass of the row, and the figures that follow from them."""

    packets: int
    rounds: list[dict[str, Pass]]
    held: list[Pass]
    """Passes of which the peak memory was taken: shorter, longer, shorter, longer …"""
    figures: list[Ratio]

    @property
    def others_share(self) -> float:
        """Median over the rounds."""
        return median(one.others_share for rnd in self.rounds for one in rnd.values())


def run(pairs: int, packets: int, tshark: str | None) -> Read:
    """Writes the captures, has every program read them in turn, `pairs` times.

    `tshark` is its path; None leaves it out.

    Raises:
        BenchError: a program could not be built, failed, or saw another number of packets.
    """
    example = build_example("wirelab-trace", EXAMPLE)
    with tempfile.TemporaryDirectory() as scratch:
        long = _write_capture(example, Path(scratch) / "long.pcapng", packets)
        short = _write_capture(example, Path(scratch) / "short.pcapng", packets // SHORTER)
        field = readers(example, long, packets, tshark)
        field += shorter_readers(example, short, packets, tshark)
        for reader in field:
            _pass(reader)
        rounds = [_round(field, number) for number in range(pairs)]
        held = [
            _pass(reader, memory=True)
            for _ in range(min(pairs, 3))
            for path, count in ((short, packets // SHORTER), (long, packets))
            for reader in readers(example, path, count, None)
        ]
    figures = [*speeds(rounds), *growth(held, packets), *decryption(pairs)]
    return Read(packets, rounds, held, figures)


def _write_capture(example: str, path: Path, packets: int) -> Path:
    command = [example, "--write", str(path), "--packets", str(packets)]
    finished = run_on_core(CLIENT_CORE, command)
    if finished.exit_code != 0:
        raise BenchError(f"{EXAMPLE} --write: {finished.errors.strip()}")
    return path


def readers(example: str, capture: Path, packets: int, tshark: str | None) -> list[Reader]:
    """Ours; and tshark as it reads fastest: no names, no list of packets, one count at the
    end. It follows connections and dissects what they carry then, as ours does."""
    path = str(capture)
    field = [
        Reader(READING, (example, "--read", path), _packets_read, packets),
        Reader(DISSECT, (str(ENGINE), "dissect", "--json", path), _packets_dissected, packets),
    ]
    if tshark is not None:
        least = min(packets, TSHARK_PACKETS)
        words = (tshark, "-n", "-q", "-z", "io,stat,0", "-c", str(least), "-r", path)
        field.append(Reader(TSHARK, words, _packets_of_tshark, least))
    return field


def shorter_readers(example: str, capture: Path, packets: int, tshark: str | None) -> list[Reader]:
    """Those that are compared, on a quarter of what :func:`readers` read."""
    if tshark is None:
        return []
    every = readers(example, capture, min(packets, TSHARK_PACKETS) // SHORTER, tshark)
    fewer = [replace(one, name=FEWER[one.name]) for one in every if one.name in FEWER]
    return [
        replace(one, count=packets // SHORTER) if one.name == FEWER[DISSECT] else one
        for one in fewer
    ]


def _packets_read(finished: Finished) -> int:
    return int(json.loads(finished.output)["packets"])


def _packets_dissected(finished: Finished) -> int:
    return int(json.loads(finished.output)["capture"]["tcp_packets"])


def _packets_of_tshark(finished: Finished) -> int:
    """Of its table's one row: `| 0.0 <> 0.1 | 100000 | 14325000 |`."""
    found = re.search(r"<>[^|]*\|\s*(\d+)\s*\|", finished.output)
    return int(found[1]) if found else 0


def _round(field: list[Reader], number: int) -> dict[str, Pass]:
    order = field if number % 2 == 0 else field[::-1]
    return {reader.name: _pass(reader) for reader in order}


def _pass(reader: Reader, memory: bool = False) -> Pass:
    packets = reader.count
    before = busy_s((SERVER_CORE, CLIENT_CORE))
    finished = run_on_core(CLIENT_CORE, reader.command, memory=memory)
    others_s = busy_s((SERVER_CORE, CLIENT_CORE)) - before - finished.cpu_s
    if finished.exit_code != 0:
        raise BenchError(f"{reader.name} ended with {finished.exit_code}: {finished.errors[-200:]}")
    if (seen := reader.packets(finished)) != packets:
        raise BenchError(f"{reader.name} saw {seen} packets of {packets}")
    if memory and not finished.rss_peak_bytes:
        raise BenchError(f"{reader.name} ended before its memory could be read: too few packets")
    share = max(0.0, others_s) / (2 * finished.wall_s)
    return Pass(
        reader.name, packets, finished.cpu_s, finished.wall_s, finished.rss_peak_bytes, share
    )


def speeds(rounds: list[dict[str, Pass]]) -> list[Ratio]:
    """Ours in millions of packets per second; and the dissection over tshark, which dissects too,
    by the CPU time of each further packet."""
    figures = []
    for name, least in ((READING, M_PACKETS_S_MIN), (DISSECT, DISSECTED_M_PACKETS_S_MIN)):
        ours = tuple(rnd[name].millions_per_s for rnd in rounds)
        figures.append(Ratio("M packets/s of a core", name, ours, at_least=least))
    if TSHARK in rounds[0]:
        over = tuple(_further_s(rnd, TSHARK) / _further_s(rnd, DISSECT) for rnd in rounds)
        figures.append(Ratio("further packets/s, dissect", TSHARK, over))
    return figures


def _further_s(rnd: dict[str, Pass], name: str) -> float:
    """CPU seconds of a further packet."""
    many, few = rnd[name], rnd[FEWER[name]]
    return (many.cpu_s - few.cpu_s) / (many.packets - few.packets)


def decryption(pairs: int) -> list[Ratio]:
    """Megabytes of TLS per CPU second, by cipher suite.

    Raises:
        BenchError: the program could not be built, or failed.
    """
    example = build_example("wirelab-trace", DECRYPT_EXAMPLE)
    rounds = [_measure_decryption(example) for _ in range(pairs)]
    return [
        Ratio(
            "MB/s decrypted",
            suite,
            tuple(rnd[suite] for rnd in rounds),
            at_least=DECRYPTED_MB_S_MIN,
        )
        for suite in rounds[0]
    ]


def _measure_decryption(example: str) -> dict[str, float]:
    finished = run_on_core(CLIENT_CORE, (example, str(DECRYPTED_MB)))
    if finished.exit_code != 0:
        raise BenchError(f"{DECRYPT_EXAMPLE} ended with {finished.exit_code}: {finished.errors}")
    return parse_decryption(finished.output)


def parse_decryption(output: str) -> dict[str, float]:
    """By suite, of the lines that the program prints."""
    lines = map(json.loads, output.splitlines())
    return {line["suite"]: float(line["decrypted_mb_per_s"]) for line in lines}


def growth(held: list[Pass], packets: int) -> list[Ratio]:
    """Peak memory of the longer capture over the shorter one's."""
    figures = []
    label = f"{packets:,} packets over {packets // SHORTER:,}"
    for name in (READING, DISSECT):
        peaks = [one.rss_peak_bytes for one in held if one.reader == name]
        grown = tuple(long / short for short, long in zip(peaks[::2], peaks[1::2], strict=True))
        figures.append(Ratio(f"memory, {name}", label, grown, at_most=SAME_MEMORY))
    return figures
