"""The published studies measured on one machine: ``make studies``.

``python -m tools.studies [STUDY ...] [--minutes 60] [--plan]`` prints the plan, and then measures
what ``runs/studies`` does not have yet. It ends after that many minutes, and the same command
continues. First come the repeats of the study's files. Their variance determines how many more
there are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from wirelab.cli.error_handling import err
from wirelab.errors import UsageError, WirelabError
from wirelab.experiment import matrix
from wirelab.format.units import format_minutes
from wirelab.run import directory
from wirelab.run.manifest import MANIFEST
from wirelab.run.progress import OnConsole
from wirelab.run.time_limit import TimeLimit
from wirelab.stack import manifests
from wirelab.study import catalogue as studies
from wirelab.study import pilot, plan, reproduction
from wirelab.study.plan import Plan

TOTAL_S = 37_800.0
"""Longest time of all studies together: ten hours for the five of the literature, and half an hour
for streams2026."""
MINUTES_MAX = 60.0
"""Of one call."""


def main(words: Sequence[str] | None = None) -> int:
    """Prints the plan and measures; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="by default, all")
    parser.add_argument("--minutes", type=float, default=MINUTES_MAX, help="of this call")
    parser.add_argument("--plan", action="store_true", help="print the plan only")
    parser.add_argument("--out", type=Path, default=Path("runs/studies"))
    options = parser.parse_args(words)
    if not 0 < options.minutes <= MINUTES_MAX:
        parser.error(f"--minutes is from 0 to {MINUTES_MAX:g}")
    try:
        plans = {name: plan.plan(studies.load(name), None, quick=False) for name in studies.names()}
        chosen = options.studies or list(plans)
        for name in chosen:
            studies.load(name)
        print("\n".join(describe(plans, chosen, options.minutes)))
        if options.plan:
            return 0
        refuse_other_cpu(options.out)
        return measure({name: plans[name] for name in chosen}, plans, options)
    except WirelabError as error:
        print(f"{error.message}\n{error.remedy}", file=sys.stderr)
        return 1


def seconds(planned: Plan) -> float:
    """The planned length of a study with the repeats of its files."""
    return sum(planned.lengths_s.values())


def total_s(plans: dict[str, Plan], name: str) -> float:
    """What a study may take of :data:`TOTAL_S`: the share that it has of all plans."""
    return TOTAL_S * seconds(plans[name]) / sum(map(seconds, plans.values()))


def describe(plans: dict[str, Plan], chosen: Sequence[str], minutes: float) -> Iterator[str]:
    """Trials and time of each part, of each study and of all. Raises :class:`UsageError` for
    studies that take longer than they may together."""
    catalogue = manifests.load()
    for name in chosen:
        planned = plans[name]
        yield (
            f"{name}: about {format_minutes(seconds(planned))} for the first repeats, "
            f"at most {format_minutes(total_s(plans, name))} with those that the variance calls for"
        )
        for part, experiment in planned.experiments.items():
            trials = matrix.schedule(experiment, catalogue).trials
            shared = sum(len(trial.cells) > 1 for trial in trials)
            slices = f", {shared} of them in slices" if shared else ""
            yield (
                f"  {part}: {experiment.repeats} repeats, {len(trials)} trials{slices}, "
                f"about {format_minutes(planned.lengths_s[part])}"
            )
    every = sum(map(seconds, plans.values()))
    yield (
        f"All studies: about {every / 3600:.1f} h for the first repeats, "
        f"at most {TOTAL_S / 3600:g} h in total. This call: at most {minutes:g} min."
    )
    if every > TOTAL_S:
        raise UsageError(
            f"the studies take {every / 3600:.1f} h, more than {TOTAL_S / 3600:g} h",
            "shorten a part",
        )


def refuse_other_cpu(out: Path) -> None:
    """All studies are measured on one CPU model. Raises :class:`RunDirectoryError`."""
    for path in sorted(out.glob(f"*/*/{MANIFEST}")):
        directory.refuse_other_cpu(path.parent, directory.read_manifest(path.parent))


def read_repeats(folder: Path) -> dict[str, int]:
    """The repeats of parts that have begun: after the pilot, more than those of their files."""
    found = {}
    for path in folder.glob(f"*/{MANIFEST}"):
        repeats = directory.read_manifest(path.parent).experiment.get("repeats")
        if isinstance(repeats, int):
            found[path.parent.name] = repeats
    return found


def measure(chosen: dict[str, Plan], plans: dict[str, Plan], options: argparse.Namespace) -> int:
    """Measures until time is up; the exit code."""
    limit = TimeLimit(60.0 * options.minutes)
    progress = OnConsole(err)
    for name in chosen:
        folder = options.out / name
        made = reproduction.reproduce(
            name, folder, progress=progress, limit=limit, repeats=read_repeats(folder)
        )
        if made.is_finished:
            repeats = pilot.plan_repeats(made, total_s(plans, name))
            print(f"{name}: repeats by part: {repeats}")
            made = reproduction.reproduce(
                name, folder, progress=progress, limit=limit, repeats=repeats
            )
        if not made.is_finished:
            print(f"{name} is not finished: {made.incomplete[0]}")
            return 0
        print(f"{name} is finished: python -m tools.study_page --keep {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
