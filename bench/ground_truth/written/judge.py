"""What a dissection says of a written capture, compared with what is true."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ground_truth.written.conversation import Conversation
from bench.ground_truth.written.scenario import Scenario
from wirelab.errors import TrialFailed
from wirelab.process import engine_binary

SHARE_OFF_MAX = 0.05
"""Of the largest part, between what is said and what is true."""
UNTRUE_MAX = 0.05
"""A finding that is not true may have this share of the time."""
SECONDS_MAX = 60.0
LOOKUPS = "name-resolution"
MESSAGES_MAX = 1_000
"""Of a written capture, which has fewer."""
GAP_OFF_MAX_US = 1.0
"""Of the time before a message, whose packets have whole microseconds."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """On one capture."""

    is_named: bool
    """The largest part is the true one, with its share, and no finding is missing."""
    untrue: tuple[str, ...]
    """Findings that are not, with more than their share of the time."""
    words: str
    """What differs; empty where nothing does."""


def dissect(capture: Path) -> Json:
    """The document of `wirelab-engine dissect`. Raises :class:`TrialFailed` if it fails."""
    command = [
        *(str(engine_binary.find()), "dissect", str(capture), "--json", "--all-findings"),
        *("--messages", str(MESSAGES_MAX)),
    ]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise TrialFailed(f"{capture}: {done.stderr.decode('utf-8', 'replace').strip()}")
    document: Json = json.loads(done.stdout)
    return document


def judge(scenario: Scenario, truth: Conversation, document: Json) -> Verdict:
    """Compares both."""
    waits = document["waits"]
    parts = Counter[str](waits["connections"]["parts_ms"])
    # Lookups that no connection waited for are in the first line, too.
    parts[LOOKUPS] += waits["lookups_ms"]
    true = Counter({part: us / 1e3 for part, us in truth.parts.items()})
    # Without parts, the findings alone are compared.
    whole, true_whole = sum(parts.values()), sum(true.values())
    largest = max(true, key=lambda part: true[part], default="")
    share, true_share = (parts[largest] / whole, true[largest] / true_whole) if true else (0.0, 0.0)
    found = {one["cause"]: float(one["ms_total"]) for one in document["findings"]}
    missing = [cause for cause in scenario.causes if cause not in found]
    true_causes = {*scenario.causes, *scenario.may}
    untrue = tuple(
        cause for cause, ms in found.items() if cause not in true_causes and ms > UNTRUE_MAX * whole
    )
    said = max(parts, key=lambda part: parts[part]) if true else ""
    is_close = said == largest and abs(share - true_share) <= SHARE_OFF_MAX
    words = [f"{said} instead of {largest}"] if said != largest else []
    if said == largest and not is_close:
        words.append(f"{largest} {share:.3f} instead of {true_share:.3f}")
    words += [f"{cause} missing" for cause in missing] + [f"{cause} untrue" for cause in untrue]
    off = _compare_gaps(truth.gaps_us, document)
    words += [off] if off else []
    return Verdict(is_close and not missing and not off, untrue, "; ".join(words))


def _compare_gaps(true_us: Sequence[int], document: Json) -> str:
    """How the times before messages differ; empty where they do not, or the capture has none."""
    if not true_us:
        return ""
    found = sorted(one["time"]["elapsed_ms"] * 1e3 for one in document["messages"]["slowest"])
    if len(found) != len(true_us):
        return f"{len(found)} messages instead of {len(true_us)}"
    pairs = zip(found, sorted(true_us), strict=True)
    off = max(abs(one - other) for one, other in pairs)
    return f"the time before a message is off by {off:.1f} us" if off > GAP_OFF_MAX_US else ""
