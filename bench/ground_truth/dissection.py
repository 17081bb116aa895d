"""What the diagnosis says of a capture: ``wirelab-engine dissect FILE --json``."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ground_truth.occurrence import Key
from wirelab.errors import TrialFailed
from wirelab.process import engine_binary

SECONDS_MAX = 120.0
FLOWS_MAX = 1_000

Json = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One exchange that the diagnosis blames a cause for."""

    cause: str
    key: Key
    ms: float
    packets: tuple[int, ...]


def findings(capture: Path, port: int) -> list[Finding]:
    """All that it finds on the flows to that port. Raises :class:`TrialFailed` when the
    engine fails or leaves some out."""
    command = [
        *(str(engine_binary.find()), "dissect", str(capture), "--json", "--all-findings"),
        *("--port", str(port), "--flows", str(FLOWS_MAX)),
    ]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise TrialFailed(f"dissect ended with {done.returncode}: {said}")
    return read(json.loads(done.stdout))


def read(document: Json) -> list[Finding]:
    """The findings of a dissection. Raises :class:`TrialFailed` where occurrences were
    counted but not listed."""
    ports = {
        flow["flow"]: int(flow["client"].rpartition(":")[2]) for flow in document["flows"]["list"]
    }
    found = []
    for finding in document["findings"]:
        where = finding["where"]
        if len(where) < finding["occurrences"]:
            raise TrialFailed(
                f"{finding['cause']}: {finding['occurrences']} occurrences, {len(where)} listed"
            )
        for one in where:
            key = (ports[one["flow"]], one["exchange"] or 0)
            found.append(Finding(finding["cause"], key, one["ms"], tuple(one["packets"])))
    return found
