"""``python -m bench.foreign FOLDER`` dissects all captures in a folder and lists what tshark
reads differently, the most milliseconds first."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.foreign import tshark
from bench.foreign.comparison import Compared, compare
from wirelab.documents.dissection import Dissection
from wirelab.errors import LabError
from wirelab.process.interruption import Interruption
from wirelab.trial.dissection import Look, dissect

PACKETS_MIN = 10
"""A capture with fewer packets of TCP, or without payload, shows nothing to compare."""
FLOWS_MAX = 100_000


@dataclass(frozen=True)
class Result:
    """One file."""

    capture: Path
    compared: Compared | None = None
    """None for a file that has too little of TCP."""
    failure: str = ""


def main() -> int:
    """1 where a file could not be dissected or tshark reads another figure."""
    options = _options()
    captures = sorted(path for path in options.folder.rglob("*") if path.is_file())
    if not captures:
        print(f"{options.folder} has no files", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(_examine, captures))
    _print(results, options.folder, options.lines)
    return int(any(result.failure or _differs(result) for result in results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of captures, and folders of it")
    parser.add_argument("--lines", type=int, default=200, help="disagreements to print")
    parser.add_argument("--jobs", type=int, default=2, help="files at once")
    return parser.parse_args()


def _differs(result: Result) -> bool:
    return result.compared is not None and bool(result.compared.disagreements)


def _examine(capture: Path) -> Result:
    with tempfile.NamedTemporaryFile(suffix=".log") as log, Interruption() as interruption:
        try:
            look = Look(flows=FLOWS_MAX)
            document = dissect(capture, look, log=Path(log.name), interruption=interruption)
            if not _has_enough(document):
                return Result(capture)
            return Result(capture, compare(capture, document, tshark.read(capture)))
        except LabError as error:
            return Result(capture, failure=str(error))


def _has_enough(document: Dissection) -> bool:
    payload = document.accounting.total.payload
    has_payload = payload.message_bytes + payload.overhead_bytes + payload.encrypted_bytes
    return document.capture.tcp_packets >= PACKETS_MIN and has_payload + payload.unknown_bytes > 0


def _print(results: list[Result], folder: Path, lines: int) -> None:
    compared = [(result, result.compared) for result in results if result.compared is not None]
    found = [one for _, comparison in compared for one in comparison.disagreements]
    found.sort(key=lambda one: (-one.ms, one.capture, one.figure))
    for one in found[:lines]:
        print(one.text())
    for result in results:
        if result.failure:
            print(f"not dissected: {result.capture.name}: {result.failure}")
    packages = {result.capture.relative_to(folder).parts[:-1][:1] for result, _ in compared}
    equal = sum(not comparison.disagreements for _, comparison in compared)
    print(
        f"{len(results)} files, {len(compared)} with at least {PACKETS_MIN} packets of TCP and "
        f"payload, from {len(packages)} folders; {equal} agree in every figure"
    )
    print(
        f"{sum(c.figures for _, c in compared)} figures compared, waits of "
        f"{sum(c.timed for _, c in compared)} connections among them"
    )
    returned = [ms for _, comparison in compared for ms in comparison.returned_ms]
    print(
        f"{len(returned)} of those waits hold the way of replies to the client, "
        f"{sum(returned):.1f} ms in all"
    )
    for figure, count in Counter(one.figure for one in found).most_common():
        files = len({one.capture for one in found if one.figure == figure})
        print(f"  {figure}: {count} disagreements in {files} files")


if __name__ == "__main__":
    sys.exit(main())
