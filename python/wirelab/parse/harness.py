"""The programs that time parsers, one per language: built once, started once per trial."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from wirelab import checkout
from wirelab.errors import TrialFailed
from wirelab.process import builds
from wirelab.process.build_progress import BuildReport, OnBuild, ignore
from wirelab.process.children import Child, ProcessOptions, describe_exit, run_to_end
from wirelab.process.interruption import Interruption
from wirelab.stack.manifests import Manifest, load

DRIFT_MAX = 0.05
"""Maximum relative difference between the last and the first block of a process."""


class Times(msgspec.Struct, frozen=True):
    """Times of one document in one process."""

    name: str
    fingerprint: str
    parses: int
    elapsed_ns: int
    block_ns: tuple[float, ...]
    """The mean parse of each block."""

    @property
    def mean_ns(self) -> float:
        """Number of all parses."""
        return self.elapsed_ns / self.parses


class Timed(msgspec.Struct, frozen=True):
    """Measurements of one process."""

    implementation: str
    library: str
    runtime: str
    first_ns: int
    """Time of the first parse of the process, including creation of the parser."""
    warmup_ns: int
    calm: bool
    """Whether the last rounds of warm-up took equally long."""
    documents: tuple[Times, ...]

    @property
    def restless(self) -> bool:
        """Whether its last blocks differ from its first ones: it was not warm, or disturbed."""
        first = fmean(one.block_ns[0] for one in self.documents)
        last = fmean(one.block_ns[-1] for one in self.documents)
        return abs(last / first - 1.0) > DRIFT_MAX


@dataclass(frozen=True)
class Windows:
    """How long a process measures."""

    warmup_s: float
    """Maximum length of the warm-up."""
    window_s: float
    """For each document."""
    blocks: int

    def arguments(self) -> list[str]:
        """Arguments for the programs."""
        return [str(int(self.warmup_s * 1e9)), str(int(self.window_s * 1e9)), str(self.blocks)]


Commands = Mapping[str, Sequence[str]]
"""Command that starts the program of each language."""


def build(
    languages: Sequence[str], interruption: Interruption, on_build: OnBuild = ignore
) -> Commands:
    """Builds the programs. Raises :class:`BuildError`."""
    return {language: BUILDERS[language](interruption, on_build) for language in languages}


OPTIONS_OF_OTHERS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Environment variables that a JVM reads; the services' launcher unsets them too."""
MACHINE = (
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+UseSerialGC",  # uses no separate thread
    "-Xms512m",
    "-Xmx6g",  # for the tree of a 64 MiB file that is mostly tags
)
"""Garbage collector and heap of the JVM, instead of its own choice."""


def _java(interruption: Interruption, on_build: OnBuild) -> list[str]:
    catalogue = load()
    manifest, folder = catalogue.by_language["java"], catalogue.folders["java"]
    out = builds.build(manifest, folder, interruption, on_build)
    jar = out / "lib" / "wirelab-java-parse-1.jar"
    unset = [part for name in OPTIONS_OF_OTHERS for part in ("-u", name)]
    java = os.environ.get("JAVA") or "java"
    return ["env", *unset, java, *MACHINE, "-cp", str(jar), "wirelab.parse.Main"]


def _go(interruption: Interruption, on_build: OnBuild) -> list[str]:
    manifest = Manifest(
        language="parse-go",
        requires=("go",),
        build=("go", "build", "-v", "-trimpath", "-o", "{out}/wirelab-parse", "./cmd/parse"),
        start=(),
        serves=(),
        remedy="install Go 1.26 or newer",
    )
    folder = checkout.root() / "services" / "go"
    out = builds.build(manifest, folder, interruption, on_build)
    return [str(out / "wirelab-parse")]


def _rust(interruption: Interruption, on_build: OnBuild) -> list[str]:
    """Cargo detects changes itself, in all crates that the program depends on."""
    target = checkout.root() / ".cache" / "parse" / "rust"
    cargo = ("cargo", "build", "--release", "--locked", "--package", "wirelab-parse")
    places = ("--manifest-path", str(checkout.root() / "Cargo.toml"), "--target-dir", str(target))
    manifest = Manifest(
        language="parse-rust",
        requires=("cargo",),
        build=(*cargo, *places),
        start=(),
        serves=(),
        remedy="install Rust",
    )
    builds.require(manifest)
    target.mkdir(parents=True, exist_ok=True)
    log = target / "build.log"
    report = BuildReport(manifest.title, log, None)
    builds.run_builder(manifest.title, manifest.build, log, interruption, report, on_build)
    return [str(target / "release" / "wirelab-parse")]


BUILDERS: Mapping[str, Callable[[Interruption, OnBuild], list[str]]] = {
    "java": _java,
    "go": _go,
    "rust": _rust,
}


def time_parser(
    command: Sequence[str], log: Path, seconds_max: float, interruption: Interruption
) -> Timed:
    """Runs one process to its end. Raises :class:`TrialFailed` if it fails, crashes, hangs or
    prints something else, and :class:`Interrupted`."""
    log.unlink(missing_ok=True)
    child = Child(command, ProcessOptions(log=log))
    try:
        child.close_input()
        code = run_to_end(child, seconds_max, interruption)
        if code is None:
            raise TrialFailed(f"no result within {seconds_max:.0f} s")
        if code != 0:
            raise TrialFailed(child.log_tail() or f"it ended with {describe_exit(code)}")
        line = child.line(1.0) or b""
    finally:
        child.kill()
    try:
        return msgspec.json.decode(line, type=Timed)
    except msgspec.MsgspecError as error:
        raise TrialFailed(f"it printed no result: {error}") from error
