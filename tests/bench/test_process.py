"""What a process costs is that process's, not its parent's."""

from __future__ import annotations

import os
import sys

from bench.process import run_on_core

CORE = min(os.sched_getaffinity(0))


def test_cpu_and_pinning() -> None:
    """A third of a second of spinning is seen as that, on the one core that was named."""
    spin = (
        "import os, time\nprint(os.sched_getaffinity(0))\nwhile time.process_time() < 0.3: pass\n"
    )
    done = run_on_core(CORE, [sys.executable, "-S", "-c", spin])
    assert done.exit_code == 0
    assert done.output.strip() == f"{{{CORE}}}"
    assert 0.3 <= done.cpu_s < 0.6


def test_memory_is_not_inherited_from_the_parent() -> None:
    """A small child of a large parent is small: ru_maxrss would say otherwise."""
    ballast = bytearray(200_000_000)
    done = run_on_core(CORE, ["sleep", "0.3"], memory=True)
    assert len(ballast) > done.rss_peak_bytes * 10 > 0


def test_input_and_exit_code_pass_through() -> None:
    """What is given is read, and a failure keeps its exit code and its words."""
    done = run_on_core(CORE, ["sh", "-c", "cat; echo why >&2; exit 3"], "given")
    assert (done.exit_code, done.output, done.errors) == (3, "given", "why\n")
