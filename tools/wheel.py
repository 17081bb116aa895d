"""The wheels of a release, in ``dist``: ``make wheel``.

``python -m tools.wheel BIN OUT`` builds wirelab with the files that it reads, and a companion wheel
for each language whose services are not in Rust. ``BIN`` is the folder with
maturin, ziglang and wheel. The engine is linked by zig against an old glibc, so that it also runs
on older systems; maturin checks its symbols (PEP 600).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirelab import installation
from wirelab.process import builds, rust_programs
from wirelab.process.interruption import Interruption
from wirelab.stack import manifests
from wirelab.stack.manifests import CallerManifest, Manifest

ROOT = Path(__file__).resolve().parents[1]
GLIBC = "2_28"
"""The oldest that the engine runs with: RHEL 8, Debian 10, Ubuntu 20.04."""
TAGS = {"go": f"py3-none-manylinux_2_17_{platform.machine()}", "java": "py3-none-any"}
"""Companion wheels. The Go programs are static; jars contain their libraries for every platform."""
LEFT_OUT = "vectors"
"""Golden vectors, which only tests use."""


def main(arguments: Sequence[str]) -> int:
    """Builds all wheels. Raises :class:`subprocess.CalledProcessError`, :class:`BuildError`."""
    tools, out = (Path(argument).resolve() for argument in arguments)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("wirelab*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        _engine(tools, Path(scratch), out)
        for language in TAGS:
            _companion(language, tools, Path(scratch), out)
    for made in sorted(out.glob("wirelab*.whl")):
        print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    return 0


def _run(*command: str | Path, **environment: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment})


# -- wirelab -----------------------------------------------------------------


def _engine(tools: Path, scratch: Path, out: Path) -> None:
    """maturin puts files of the package and the engine into a wheel; the other programs in Rust and
    the rest are added here."""
    tree = _unpack(tools, scratch)
    scripts = tree / f"{tree.name}.data" / "scripts"
    for program in rust_programs.PROGRAMS.values():
        other = _unpack(tools, scratch, program.folder)
        for script in (other / f"{other.name}.data" / "scripts").iterdir():
            shutil.copy2(script, scripts / script.name)
    for path in resources():
        target = tree / "wirelab" / installation.RESOURCES.name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    _run(tools / "wheel", "pack", "--dest-dir", out, tree)


def _unpack(tools: Path, scratch: Path, crate: str | None = None) -> Path:
    """The contents of the wheel that maturin makes of a crate's program, or of wirelab."""
    made = Path(tempfile.mkdtemp(dir=scratch))
    _run(
        *(tools / "maturin", "build", "--release", "--locked", "--strip"),
        *("--zig", "--compatibility", f"manylinux_{GLIBC}", "--out", made),
        *(("--manifest-path", f"{crate}/Cargo.toml") if crate else ()),
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
    )
    (bare,) = made.glob("*.whl")
    _run(tools / "wheel", "unpack", "--dest", made, bare)
    (tree,) = (path for path in made.iterdir() if path.is_dir())
    return tree


def resources() -> Iterator[Path]:
    """Committed files that the program reads, as paths in the checkout. Of the services these are
    the manifests."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", *installation.FOLDERS],
        check=True,
        capture_output=True,
        text=True,
    )
    for path in map(Path, filter(None, listed.stdout.split("\0"))):
        is_manifest = path.name in ("service.json", "caller.json", "gaps.yaml")
        if LEFT_OUT not in path.parts and (path.parts[0] != "services" or is_manifest):
            yield path


# -- companions --------------------------------------------------------------


@dataclass(frozen=True)
class Companion:
    """The contents of one companion wheel."""

    name: str
    version: str
    language: str
    tag: str

    @property
    def metadata(self) -> str:
        """Core metadata (packaging.python.org)."""
        return "\n".join(
            (
                "Metadata-Version: 2.1",
                f"Name: {self.name}",
                f"Version: {self.version}",
                f"Summary: The services of wirelab in {self.language.title()}, built",
                "Requires-Python: >=3.11",
                f"Requires-Dist: wirelab (=={self.version})",
                "",
            )
        )

    @property
    def wheel(self) -> str:
        """The file WHEEL (PEP 427)."""
        pure = str(self.tag.endswith("-any")).lower()
        return f"Wheel-Version: 1.0\nGenerator: wirelab\nRoot-Is-Purelib: {pure}\nTag: {self.tag}\n"


def _companion(language: str, tools: Path, scratch: Path, out: Path) -> None:
    catalogue = manifests.load()
    folder = catalogue.folders[language]
    made = Companion(builds.package_name(folder), version(), language, TAGS[language])
    module = made.name.replace("-", "_")
    tree = scratch / f"{module}-{made.version}"
    programs: list[Manifest | CallerManifest] = [catalogue.by_language[language]]
    programs += [caller for caller, home in manifests.callers().values() if home == folder]
    for manifest in programs:
        built = _build(manifest, folder, scratch, made.version)
        shutil.copytree(built, tree / module / manifest.cache_name)
    summary = f"The services of wirelab in {language.title()}; `wirelab` finds them here."
    (tree / module / "__init__.py").write_text(f'"""{summary}"""\n', encoding="utf-8")
    described = tree / f"{module}-{made.version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(made.metadata, encoding="utf-8")
    (described / "WHEEL").write_text(made.wheel, encoding="utf-8")
    _run(tools / "wheel", "pack", "--dest-dir", out, tree)


def _build(manifest: Manifest | CallerManifest, folder: Path, scratch: Path, version: str) -> Path:
    """Builds with the version of the sources, which may be newer than the installed one."""
    # Go programs: static, and without their symbol tables.
    os.environ["CGO_ENABLED"] = "0"
    stripped = tuple(part.replace("-ldflags=", "-ldflags=-s -w ") for part in manifest.build)
    manifest = msgspec.structs.replace(manifest, build=stripped)
    builds.require(manifest)
    built = scratch / "built" / manifest.cache_name
    built.parent.mkdir(exist_ok=True)
    with Interruption() as interruption:
        builds.build_into(built, manifest, folder, interruption, version=version)
    return built / builds.OUT


def version() -> str:
    """Of the sources."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(cargo["workspace"]["package"]["version"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
