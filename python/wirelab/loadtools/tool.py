"""Finds, installs and identifies a third-party load tool."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from wirelab import installation
from wirelab.errors import ToolMissing
from wirelab.process.children import Child, ProcessOptions, describe_exit, run_to_end
from wirelab.process.engine_binary import binary_digest
from wirelab.process.interruption import Interruption

INSTALL_S_MAX = 900.0
"""Time limit of an installation, which may have to fetch dependencies first."""
VERSION_S_MAX = 10.0


@dataclass(frozen=True)
class Recipe:
    """How to install a tool written in Go."""

    program: str
    package: str
    """Package for ``go install``, without the version."""
    module: str
    """The module that the package belongs to."""
    version: str
    """Version to install; an existing program may have another."""
    libraries: tuple[str, ...] = ()
    """Modules whose versions affect its measurements."""

    @property
    def pin(self) -> str:
        """``github.com/…/ghz@v0.120.0``."""
        return f"{self.package}@{self.version}"


GHZ = Recipe(
    "ghz",
    "github.com/bojand/ghz/cmd/ghz",
    "github.com/bojand/ghz",
    "v0.120.0",
    ("google.golang.org/grpc",),
)


@dataclass(frozen=True)
class Packaged:
    """A tool that distributions package; wirelab does not install it."""

    program: str
    package: str
    """Debian's."""
    version: tuple[str, ...]
    """Options that print its version."""
    pattern: str
    """Regular expression with one group that matches the version in that output."""


PACKAGED: Mapping[str, Packaged] = MappingProxyType(
    {
        "ab": Packaged("ab", "apache2-utils", ("-V",), r"Version (\S+)"),
        "wrk": Packaged("wrk", "wrk", ("-v",), r"^wrk (.+?) \["),
        "h2load": Packaged("h2load", "nghttp2-client", ("--version",), r"nghttp2/(\S+)"),
    }
)
"""Value of the axis ``caller`` -> tool."""
RECIPES: Mapping[str, Recipe] = MappingProxyType({"ghz": GHZ})
"""Value of the axis ``caller`` -> recipe."""


@dataclass(frozen=True)
class Artifacts:
    """A tool in Java, installed from Maven Central with a pom.xml in the package's data."""

    name: str
    """Name of the folder with the pom.xml, and of the program."""
    version: str
    """Version in the pom.xml."""
    launcher: str
    """Jar to run, in the folder that Maven fills."""
    libraries: tuple[str, ...] = ()
    """Artifacts whose versions affect its measurements."""


JMETER = Artifacts("jmeter", "5.6.3", "bin/ApacheJMeter.jar", ("httpclient", "httpcore"))


@dataclass(frozen=True)
class Tool:
    """An available tool, and its identity."""

    name: str
    path: Path
    version: str
    libraries: Mapping[str, str]
    sha256: str

    def identity(self) -> dict[str, object]:
        """The identity in results."""
        return {
            "caller": self.name,
            "version": self.version,
            "libraries": dict(self.libraries),
            "sha256": self.sha256,
        }


class Tools:
    """Finds or installs each tool once per run."""

    def __init__(self) -> None:
        self._found: dict[str, Tool] = {}

    def tool(
        self, name: str, interruption: Interruption, note: Callable[[str], None] = lambda _: None
    ) -> Tool:
        """The tool. Raises :class:`ToolMissing` with the reason, or :class:`Interrupted`."""
        if name in PACKAGED and name not in self._found:
            self._found[name] = _find_packaged(PACKAGED[name])
        if name == JMETER.name and name not in self._found:
            self._found[name] = _from_maven(JMETER, interruption, note)
        if name not in self._found:
            recipe = RECIPES[name]
            path = find(recipe)
            if path is None:
                note(f"installing {recipe.pin}")
                path = install(recipe, interruption)
            self._found[name] = identify(recipe, path)
        return self._found[name]


def _find_packaged(tool: Packaged) -> Tool:
    """Raises :class:`ToolMissing`."""
    path = shutil.which(tool.program)
    if path is None:
        raise ToolMissing(
            f"{tool.program} is not in PATH",
            f"install it (Debian, Ubuntu: `apt-get install {tool.package}`)",
        )
    # wrk exits with code 1 after printing its version.
    printed = subprocess.run(
        [path, *tool.version], capture_output=True, text=True, check=False, timeout=VERSION_S_MAX
    )
    found = re.search(tool.pattern, printed.stdout + printed.stderr, re.M)
    version = found[1] if found else "unknown"
    return Tool(tool.program, Path(path), version, {}, binary_digest(Path(path)))


def _from_maven(tool: Artifacts, interruption: Interruption, note: Callable[[str], None]) -> Tool:
    """Raises :class:`ToolMissing`."""
    home = _maven_home(tool)
    if shutil.which("java") is None:
        raise ToolMissing("java is not in PATH", "install a Java runtime, version 8 or newer")
    if not home.is_dir():
        note(f"fetching {tool.name} {tool.version}")
        _maven_install(tool, home, interruption)
    jars = sorted(home.rglob("*.jar"))
    total = hashlib.sha256()
    for jar in jars:
        total.update(jar.read_bytes())
    named = {name: _jar_version(name, jars) for name in tool.libraries}
    return Tool(tool.name, home / tool.launcher, tool.version, named, total.hexdigest())


def _pom(tool: Artifacts) -> Traversable:
    return resources.files("wirelab").joinpath("data", tool.name, "pom.xml")


def _maven_home(tool: Artifacts) -> Path:
    """Folder name that depends on the pom.xml."""
    content = hashlib.sha256(_pom(tool).read_bytes()).hexdigest()
    return installation.cache() / f"{tool.name}-{tool.version}-{content[:16]}"


def _maven_install(tool: Artifacts, home: Path, interruption: Interruption) -> None:
    """Fetches atomically, like :func:`install`. Raises :class:`ToolMissing`."""
    if shutil.which("mvn") is None:
        raise ToolMissing(
            f"{tool.name} could not be fetched: mvn is not in PATH",
            "install Maven 3.8 or newer (Debian: maven)",
        )
    home.parent.mkdir(parents=True, exist_ok=True)
    log = home.with_name(f"{home.name}.log")
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as fresh:
        folders = [f"-Dwirelab.target={fresh}/target", f"-Dwirelab.out={fresh}/home"]
        maven = ["mvn", "-q", "-B", "-f", str(_pom(tool)), *folders, "package"]
        child = Child(maven, ProcessOptions(log=log))
        _to_end(child, f"{tool.name} could not be fetched: mvn", "", log, interruption)
        made = Path(fresh) / "home"
        # JMeter prints an error if this is missing.
        (made / "lib" / "junit").mkdir()
        _put(made, home)


def _put(made: Path, home: Path) -> None:
    """Moves a folder into place, unless another run was faster. Raises
    :class:`OSError`."""
    try:
        made.rename(home)
    except OSError:
        if not home.is_dir():
            raise


def _jar_version(artifact: str, jars: Sequence[Path]) -> str:
    pattern = re.compile(rf"{re.escape(artifact)}-(\d[\w.]*)\.jar")
    matches = (pattern.fullmatch(jar.name) for jar in jars)
    return next((found[1] for found in matches if found), "unknown")


def find(recipe: Recipe) -> Path | None:
    """The program in PATH, otherwise where :func:`install` puts it; None if there is none."""
    path = shutil.which(recipe.program) or shutil.which(recipe.program, path=str(_bin()))
    return Path(path) if path else None


def install(recipe: Recipe, interruption: Interruption) -> Path:
    """Builds the pinned version in the cache. Raises :class:`ToolMissing`."""
    if shutil.which("go") is None:
        raise ToolMissing(
            f"{recipe.program} could not be installed: Go is not in PATH",
            f"install Go, or put {recipe.program} into PATH",
        )
    folder = _bin()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        _go_install(recipe, Path(fresh), folder / f"{recipe.program}.log", interruption)
        # Atomically, because another run may look for it at the same time.
        return (Path(fresh) / recipe.program).replace(folder / recipe.program)


def identify(recipe: Recipe, path: Path) -> Tool:
    """Reads the versions that the Go linker wrote into the program (debug/buildinfo). ghz itself
    prints ``dev`` if it was installed with ``go install``."""
    program = path.read_bytes()
    return Tool(
        recipe.program,
        path,
        _read_module_version(program, "mod", recipe.module),
        {name: _read_module_version(program, "dep", name) for name in recipe.libraries},
        binary_digest(path),
    )


def _bin() -> Path:
    return installation.cache() / "bin"


def _go_install(recipe: Recipe, fresh: Path, log: Path, interruption: Interruption) -> None:
    log.unlink(missing_ok=True)
    child = Child(["env", f"GOBIN={fresh}", "go", "install", recipe.pin], ProcessOptions(log=log))
    what = f"{recipe.program} could not be installed: go install {recipe.pin}"
    _to_end(child, what, f"; or put {recipe.program} into PATH", log, interruption)


def _to_end(child: Child, what: str, remedy: str, log: Path, interruption: Interruption) -> None:
    """Raises :class:`ToolMissing` unless the installation succeeds."""
    try:
        code = run_to_end(child, INSTALL_S_MAX, interruption)
    finally:
        child.kill()
    if code != 0:
        how = f"took more than {INSTALL_S_MAX:.0f} s" if code is None else describe_exit(code)
        raise ToolMissing(
            f"{what} failed ({how}): {child.log_tail()}", f"the complete log is {log}{remedy}"
        )


def _read_module_version(program: bytes, kind: str, module: str) -> str:
    found = re.search(rf"{kind}\t{re.escape(module)}\t(\S+)[\t\n]".encode(), program)
    return found[1].decode() if found else "unknown"
