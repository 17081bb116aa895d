"""Makes captures of known truth, and compares what the diagnosis says of them.

``.venv/bin/python -m bench.ground_truth`` makes a corpus and prints the table;
``--score DIR`` compares a corpus again, for instance with another engine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench import machine
from bench.ground_truth import page, scoring
from bench.ground_truth.captures import capturing, corpus
from bench.ground_truth.captures.capturing import Maker
from bench.ground_truth.captures.making import Making, is_impossible
from bench.ground_truth.captures.places import LOOPBACK, PROFILES
from bench.ground_truth.captures.recipes import CLEAN, MAKERS
from bench.ground_truth.labels import occurrence as causes
from bench.ground_truth.scoring import findings
from wirelab.errors import Interrupted, LabError
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests

CAPTURES = 60
"""Per cause, where each has several occurrences."""
CAPTURES_OF = {
    CLEAN: 400,
    causes.SYN: 100,
    causes.DATA: 120,
    causes.TCP_WINDOW: 80,
    causes.SLOW_START: 100,
    causes.IDLE_RESTART: 80,
}
"""Of the others, so that each cause has 150 occurrences."""
ABOUT = "corpus.json"


def main() -> int:
    """The exit status: 1 where precision or recall is below its aim, 2 where it could not
    be determined, 130 after Ctrl-C."""
    options = _options()
    out: Path = options.score or options.out or Path(tempfile.mkdtemp(prefix="wirelab-truth-"))
    try:
        with Interruption() as interruption:
            if options.score is None:
                _make(options, out, interruption)
            if options.capture_only:
                return 0
            return _judge(options, out, interruption)
    except Interrupted:
        print(f"interrupted; the captures made so far are in {out}", file=sys.stderr)
        return 130
    except LabError as error:
        print(error, file=sys.stderr)
        return 2


def _options() -> argparse.Namespace:
    aims = list(MAKERS)
    parser = argparse.ArgumentParser(prog="bench.ground_truth", description=__doc__)
    parser.add_argument(
        "--captures",
        type=int,
        help=f"per cause, and of clean ones (default {CAPTURES}; of some more: "
        f"{', '.join(f'{aim} {count}' for aim, count in CAPTURES_OF.items())})",
    )
    parser.add_argument("--causes", default=",".join(aims), help="of these (default: all)")
    parser.add_argument(
        "--places",
        default="",
        help=f"of {', '.join((LOOPBACK, *PROFILES))} (default: all); loopback needs no root",
    )
    parser.add_argument("--out", type=Path, help="folder for captures (default: a new one)")
    parser.add_argument("--score", type=Path, metavar="DIR", help="compare a corpus again")
    parser.add_argument("--capture-only", action="store_true", help="do not compare")
    parser.add_argument("--publish", action="store_true", help="write the page in docs again")
    parser.add_argument("--all", action="store_true", help="print every disagreement")
    options = parser.parse_args()
    options.causes = [name for name in options.causes.split(",") if name]
    options.places = frozenset(name for name in options.places.split(",") if name)
    if unknown := [name for name in options.causes if name not in aims]:
        parser.error(f"--causes: there is no {', '.join(unknown)}; there are {', '.join(aims)}")
    if unknown := sorted(options.places - {LOOPBACK, *PROFILES}):
        parser.error(f"--places: there is no {', '.join(unknown)}")
    if options.captures is not None and options.captures < 1:
        parser.error("--captures: at least 1")
    if options.publish and (lacking := page.reason_not_to_publish(options)):
        parser.error(f"--publish: {lacking}")
    if options.score is None and (missing := capturing.find_missing_tool()):
        parser.error(missing)
    return options


def _make(options: argparse.Namespace, out: Path, interruption: Interruption) -> None:
    """Makes what is asked for; captures that are in the folder already are kept."""
    out.mkdir(parents=True, exist_ok=True)
    about = {"taken": datetime.now(UTC).isoformat(), "machine": machine.facts({})}
    (out / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    started = time.monotonic()
    maker = Maker(Programs(manifests.load()), interruption)
    with Making(out, maker, interruption, _say) as making:
        for aim in options.causes:
            if is_impossible(aim, options.places):
                _say(f"{aim}: nothing to capture at {', '.join(sorted(options.places))}")
                continue
            count = options.captures or CAPTURES_OF.get(aim, CAPTURES)
            good = making.make(aim, count, options.places)
            _say(f"{aim}: {good} captures contain it, {time.monotonic() - started:.0f} s so far")
    _say(f"captures and labels: {out}")


def _judge(options: argparse.Namespace, out: Path, interruption: Interruption) -> int:
    """Compares, prints, and publishes where that is asked for."""
    judged = []
    for case in corpus.cases(out):
        interruption.check()
        judged.append((case, findings(case.capture, case.port)))
    total = scoring.score(judged)
    lines = [one.words for one in total.disagreements]
    (out / "disagreements.txt").write_text("".join(f"{line}\n" for line in lines))
    shown = lines if options.all else lines[:40]
    print(*shown, sep="\n")
    if len(shown) < len(lines):
        print(f"… {len(lines)} disagreements in all: {out / 'disagreements.txt'}")
    print(f"\n{page.terminal_table(total)}")
    short = page.short_of_aim(total)
    if short:
        print("\nbelow the aim:", *short, sep="\n  ")
    if options.publish:
        page.publish(total, [case for case, _ in judged], json.loads((out / ABOUT).read_text()))
    return int(bool(short))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
