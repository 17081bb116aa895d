"""Searches parsers under libFuzzer, and keeps the inputs that lead somewhere new.

    python fuzz/search.py [--seconds N] [--jobs N] [TARGET …]

Needs a nightly compiler and cargo-fuzz. What is kept is in corpus/TARGET.base64 of the
target's crate, an input a line: the tests of every change begin with it. An input that makes a
parser crash or hang ends up in fuzz/artifacts and the exit code is 1.
"""

from __future__ import annotations

import argparse
import base64
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BYTES_MAX = 16 << 10
"""Of an input; as BYTES_MAX of crates/wire/tests/fuzz/mutate.rs."""
KEPT_BYTES_MAX = 1 << 10
"""Of an input that is kept: what longer ones add are mostly counts of the same edges."""
CRATES = ("wire", "trace")
"""Those with targets, whose source is named after them."""


def targets() -> dict[str, Path]:
    """Each target and the file of its kept inputs, as fuzz/Cargo.toml names them."""
    manifest = tomllib.loads((ROOT / "fuzz/Cargo.toml").read_text(encoding="utf-8"))
    crates = {each["name"]: Path(each["path"]).stem for each in manifest["bin"]}
    corpora = {name: ROOT / "crates" / crate / "corpus" for name, crate in crates.items()}
    return {name: corpus / f"{name}.base64" for name, corpus in corpora.items()}


def write_seeds(folder: Path) -> None:
    """Writes the seeds of every target, which the tests make, into a folder per target."""
    for crate in CRATES:
        words = ["cargo", "test", "--locked", "-p", f"wirelab-{crate}", "--test", "integration"]
        environment = {**os.environ, "WIRELAB_WRITE_SEEDS": str(folder)}
        subprocess.run([*words, "fuzz::every_target"], cwd=ROOT, env=environment, check=True)


def unpack(file: Path, folder: Path) -> None:
    """Writes each input of a file of them as a file of its own, as libFuzzer names them."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in file.read_text(encoding="ascii").splitlines() if file.exists() else ():
        content = base64.b64decode(line, validate=True)
        (folder / sha256(content).hexdigest()[:40]).write_bytes(content)


def pack(folder: Path, seeds: Path, kept: Path) -> int:
    """Writes the file of a target's kept inputs, those without the seeds; returns how many."""
    own = {seed.read_bytes() for seed in seeds.iterdir()}
    every = {file.read_bytes() for file in folder.iterdir()}
    inputs = sorted(content for content in every - own if len(content) <= KEPT_BYTES_MAX)
    lines = "".join(f"{base64.b64encode(content).decode()}\n" for content in inputs)
    kept.write_text(lines, encoding="ascii")
    return len(inputs)


def keep(program: Path, seeds: Path, found: Path, kept: Path) -> int:
    """Keeps, of what was found, the fewest inputs that lead everywhere; returns how many."""
    with tempfile.TemporaryDirectory() as merged:
        _run([program, "-set_cover_merge=1", merged, seeds, found], check=True)
        return pack(Path(merged), seeds, kept)


def search(program: Path, seeds: Path, kept: Path, seconds: int) -> str | None:
    """One target for that number of seconds. Returns what it found wrong, None when nothing."""
    artifacts = ROOT / "fuzz" / "artifacts" / seeds.name
    artifacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch)
        unpack(kept, found)
        limits = [f"-max_total_time={seconds}", f"-max_len={BYTES_MAX}", "-timeout=10"]
        done = _run([program, found, seeds, *limits, f"-artifact_prefix={artifacts}/"])
        if done.returncode != 0:
            return f"{seeds.name}: see {artifacts}\n{done.stderr[-2000:]}"
        print(f"{seeds.name}: {keep(program, seeds, found, kept)} inputs kept", flush=True)
    return None


def _run(command: Iterable[str | Path], *, check: bool = False) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=check)


def build() -> Path:
    """Builds every target; returns the folder of the programs."""
    subprocess.run(["cargo", "+nightly", "fuzz", "build"], cwd=ROOT, check=True)
    version = _run(["rustc", "+nightly", "-vV"], check=True).stdout
    host = next(line.split()[1] for line in version.splitlines() if line.startswith("host:"))
    return ROOT / "fuzz" / "target" / host / "release"


def main() -> int:
    known = targets()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=_count, default=600, help="for each target [600]")
    parser.add_argument("--jobs", type=_count, default=1, help="targets at a time [1]")
    parser.add_argument("target", nargs="*", help=f"of {', '.join(known)} [all]")
    options = parser.parse_args()
    unknown = [name for name in options.target if name not in known]
    if unknown:
        parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(known)}")
    try:
        programs = build()
    except (OSError, subprocess.CalledProcessError) as error:
        parser.error(f"{error}; `cargo install cargo-fuzz`, and a nightly compiler, are needed")

    with ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as seeds:
        write_seeds(Path(seeds))

        def search_one(name: str) -> str | None:
            return search(programs / name, Path(seeds) / name, known[name], options.seconds)

        wrong = [problem for problem in pool.map(search_one, options.target or known) if problem]
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return count


if __name__ == "__main__":
    sys.exit(main())
