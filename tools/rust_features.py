"""Whether each program in Rust can use what was compiled for the others: ``python -m
tools.rust_features``.

cargo chooses the features of libraries for the packages of one command. Where a program that is
built by itself has other features than in the build of all, most of its libraries are compiled
again. ``crates/features`` makes them equal; each line that this prints is a feature that is missing
there. Exits with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from wirelab.process.rust_programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("wirelab-engine", *(program.package for program in PROGRAMS.values()))

Units = dict[str, set[str]]
"""By library, version and optimisation: the sets of features that it is compiled with."""


def main() -> int:
    """Prints what is missing."""
    missing = different(read_units(PACKAGES), {one: read_units([one]) for one in PACKAGES})
    for line in missing:
        print(line)
    return int(bool(missing))


def read_units(packages: Sequence[str]) -> Units:
    """The units of a release build of these packages. Raises
    :class:`subprocess.CalledProcessError`."""
    chosen = [argument for package in packages for argument in ("--package", package)]
    command = ["cargo", "build", "--release", "--locked", *chosen]
    # The graph is not yet an option of stable compilers.
    done = subprocess.run(
        [*command, "--unit-graph", "-Z", "unstable-options"],
        cwd=ROOT,
        env={**os.environ, "RUSTC_BOOTSTRAP": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found: Units = {}
    for unit in json.loads(done.stdout)["units"]:
        if unit["mode"] == "build":
            name = f"{unit['pkg_id'].rpartition('/')[2]} at {unit['profile']['opt_level']}"
            found.setdefault(name, set()).add(",".join(unit["features"]))
    return found


def different(together: Units, alone: dict[str, Units]) -> list[str]:
    """A line for each library that a package by itself has with other features."""
    return [
        f"{package}: {name} with {features or 'no features'}"
        for package, units in alone.items()
        for name, sets in units.items()
        for features in sorted(sets - together.get(name, set()))
    ]


if __name__ == "__main__":
    sys.exit(main())
