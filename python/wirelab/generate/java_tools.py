"""Jars and compilers of the lab's own service in Java, which generated services use."""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from wirelab import installation
from wirelab.errors import BuildError
from wirelab.process import builds
from wirelab.process.build_progress import BuildReport, OnBuild, ignore
from wirelab.process.interruption import Interruption
from wirelab.stack import manifests

BINDINGS = ("rest", "soap", "grpc")
PROTOC = "com.google.protobuf:protoc"
GRPC_PLUGIN = "io.grpc:protoc-gen-grpc-java"
FETCH_SECONDS = 20.0
_JAR = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.]*?(?:-\d+|-\w+)?)\.jar")


@dataclass(frozen=True)
class Toolchain:
    """What a generated service is built with."""

    class_paths: dict[str, tuple[Path, ...]]
    """Jars by binding, without the lab's own."""
    protoc: Path
    grpc_plugin: Path

    def version(self, library: str) -> str:
        """Of the jar with that name. Raises :class:`BuildError`."""
        return _version(library, [jar for jars in self.class_paths.values() for jar in jars])


def find(interruption: Interruption | None = None, on_build: OnBuild = ignore) -> Toolchain:
    """Finds them. Builds the lab's service in Java, and fetches the compilers by Maven, unless
    that was done before. Raises :class:`BuildError`, :class:`NotInstalled`."""
    if shutil.which("javac") is None:
        raise BuildError(
            "a service in Java needs javac, which is not in PATH",
            "install a JDK, version 17 or newer (Debian: openjdk-17-jdk-headless)",
        )
    stop = interruption or Interruption()
    catalogue = manifests.load()
    manifest, folder = catalogue.by_language["java"], catalogue.folders["java"]
    libraries = builds.build(manifest, folder, stop, on_build) / "lib"
    paths = {binding: _class_path(libraries, binding) for binding in BINDINGS}
    versions = _version("protobuf-java", paths["grpc"]), _version("grpc-core", paths["grpc"])
    return Toolchain(
        paths,
        _compiler(PROTOC, versions[0], stop, on_build),
        _compiler(GRPC_PLUGIN, versions[1], stop, on_build),
    )


def _class_path(libraries: Path, binding: str) -> tuple[Path, ...]:
    """The jars that the manifest of the binding's own jar lists (JAR File Specification)."""
    with zipfile.ZipFile(libraries / f"wirelab-java-{binding}-1.jar") as jar:
        text = jar.read("META-INF/MANIFEST.MF").decode("utf-8").replace("\r\n", "\n")
    found = re.search(r"^Class-Path: (.*)$", text.replace("\n ", ""), re.M)
    names = found[1].split() if found else []
    return tuple(libraries / name for name in names if not name.startswith("wirelab-java-"))


def _version(library: str, jars: tuple[Path, ...] | list[Path]) -> str:
    for jar in jars:
        found = _JAR.fullmatch(jar.name)
        if found and found["name"] == library:
            return found["version"]
    raise BuildError(
        f"the service in Java has no library {library}",
        "a file of its build is missing: remove its folder in the cache, which builds it again",
    )


def _compiler(artifact: str, version: str, interruption: Interruption, on_build: OnBuild) -> Path:
    """The executable, from Maven's repository or fetched by Maven into the cache."""
    group, name = artifact.split(":")
    processor = {"aarch64": "aarch_64"}.get(platform.machine(), platform.machine())
    file = f"{name}-{version}-linux-{processor}.exe"
    repository = Path.home() / ".m2" / "repository" / Path(*group.split(".")) / name / version
    cache = installation.cache() / "generated-tools"
    if (cache / file).is_file():
        return cache / file
    if (repository / file).is_file():
        return _install(repository / file, cache)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        coordinates = f"{artifact}:{version}:exe:linux-{processor}"
        _fetch(coordinates, Path(fresh), cache / f"{name}.log", interruption, on_build)
        return _install(Path(fresh) / file, cache)


def _install(path: Path, cache: Path) -> Path:
    """A copy in the cache that can be run: Maven keeps files without that permission. Atomic,
    because another process may do the same."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        copy = Path(fresh) / path.name
        shutil.copyfile(path, copy)
        copy.chmod(0o755)
        return copy.replace(cache / path.name)


def _fetch(
    coordinates: str, into: Path, log: Path, interruption: Interruption, on_build: OnBuild
) -> None:
    """Copies an artifact into a folder. Raises :class:`BuildError`."""
    if shutil.which("mvn") is None:
        raise BuildError(
            f"{coordinates} is missing, and mvn is not in PATH",
            "install Maven 3.8 or newer (Debian: maven)",
        )
    command = (
        "mvn", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
        f"-Dartifact={coordinates}", f"-DoutputDirectory={into}",
    )  # fmt: skip
    title = coordinates.split(":")[1]
    report = BuildReport(title, log, FETCH_SECONDS)
    builds.run_builder(
        title, builds.enter_folder(into, command), log, interruption, report, on_build
    )
