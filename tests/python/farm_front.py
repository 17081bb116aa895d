"""Ends the front of a farm in the middle of its run, and runs the same command again: ``python -m
tests.python.farm_front SIGNAL OUT COMMAND...``. No engine may be left after 2 s. Exits as the
second command does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.python.engine_processes import find_engines, wait_for

LINES = 3
"""Of the journal, after which the front is ended."""
ENDS_S = 2.0


def main() -> int:
    number, out, *command = sys.argv[1:]
    journal = Path(out) / "trials.jsonl"

    def has_lines() -> bool:
        return journal.exists() and journal.read_bytes().count(b"\n") >= LINES

    with subprocess.Popen(command) as front:
        wait_for(has_lines, 90.0)
        wait_for(lambda: bool(find_engines()), 30.0)
        front.send_signal(int(number))
        if int(number) == 9:
            wait_for(lambda: not find_engines(), ENDS_S)
        code = front.wait(30)
        wait_for(lambda: not find_engines(), ENDS_S)
    kept = journal.read_bytes()
    lines = kept.count(b"\n")
    print(f"front ended with {code} after {lines} trials", flush=True)
    again = subprocess.run(command, timeout=120, check=False)
    if not journal.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1]):
        print("the journal was written again", flush=True)
        return 1
    return again.returncode


if __name__ == "__main__":
    sys.exit(main())
