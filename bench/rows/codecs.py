"""The cost of encoding and decoding a request, compared with the best-known library."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bounds import Ratio
from bench.process import BenchError, build_example, run_on_core
from bench.races import CLIENT_CORE

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "codec_speed"
JUDGED = "Submit 200 B"
"""The message for which a codec may take US_MAX."""
US_MAX = 2.0


@dataclass(frozen=True)
class Timed:
    """One codec and message: microseconds per encode and decode, one a round."""

    codec: str
    message: str
    bytes: int
    ours_us: tuple[float, ...]
    peer: str | None
    """Name and version; None where no library reads and writes the format."""
    peer_us: tuple[float, ...]

    @property
    def ratios(self) -> list[Ratio]:
        """Ours over the peer's, and at 200 B the time itself, which is judged."""
        found = []
        label = f"{self.codec}, {self.message}"
        if self.message == JUDGED:
            found.append(Ratio("us", label, self.ours_us, at_most=US_MAX, aim=True))
        if self.peer is not None:
            pairs = zip(self.ours_us, self.peer_us, strict=True)
            values = tuple(ours / peer for ours, peer in pairs)
            found.append(Ratio(label, self.peer, values))
        return found


def run(quick: bool = False) -> list[Timed]:
    """Builds the program, runs it on the client's core and reads what it says.

    Raises:
        BenchError: it cannot be built, or did not end well.
    """
    command = [build_example("wirelab-wire", EXAMPLE), *(["--quick"] if quick else [])]
    finished = run_on_core(CLIENT_CORE, command)
    if finished.exit_code != 0:
        said = finished.errors.strip() or "nothing"
        raise BenchError(f"{EXAMPLE} ended with {finished.exit_code}: {said}")
    return read_times(json.loads(finished.output), versions((ROOT / "Cargo.lock").read_text()))


def read_times(said: dict[str, Any], versions: dict[str, str]) -> list[Timed]:
    """The program's answer, with the peers' versions."""
    return [
        Timed(
            case["codec"],
            case["message"],
            case["bytes"],
            tuple(ns / 1e3 for ns in case["ours_ns"]),
            case["peer"] and f"{case['peer']} {versions[case['peer']]}",
            tuple(ns / 1e3 for ns in case["peer_ns"]),
        )
        for case in said["cases"]
    ]


def versions(lock: str) -> dict[str, str]:
    """Version by crate, of a Cargo.lock."""
    return {package["name"]: package["version"] for package in tomllib.loads(lock)["package"]}
