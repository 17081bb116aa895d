"""Where files are found and kept with and without a checkout, and what is not installed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tools import wheel
from wirelab import checkout, installation
from wirelab.errors import LabError, NotInstalled, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.process import builds
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.study import catalogue as studies
from wirelab.study import reproduction

ROOT = Path(__file__).resolve().parents[3]
EXPERIMENT = """\
name: mixed
services: ["rest@rust", "rest@go"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [{closed: {users: 1}}]
window: {duration: 100 ms}
warmup: {min: 50 ms, max: 50 ms}
repeats: 1
"""


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation from a wheel: no checkout, and the files that a wheel has."""
    for path in wheel.resources():
        target = tmp_path / "resources" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    monkeypatch.setattr(checkout, "find", lambda: None)
    monkeypatch.setattr(installation, "RESOURCES", tmp_path / "resources")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_wheel_has_what_the_program_reads_and_no_sources_of_services(packaged: Path) -> None:
    catalogue = manifests.load()
    assert set(catalogue.by_language) == {"go", "java", "rust"}
    assert set(manifests.callers()) == {"go", "java"}
    assert len(studies.names()) == 6
    for name in studies.names():
        assert studies.load(name).published
    files = [path for path in (packaged / "resources").rglob("*") if path.is_file()]
    assert {path.suffix for path in files if "services" in path.parts} == {".json", ".yaml"}
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_without_a_checkout_the_cache_is_the_users(
    packaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installation.cache() == packaged / "cache" / "wirelab"
    monkeypatch.setenv("HOME", str(packaged))
    for ignored in ("", "relative/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert installation.cache() == packaged / ".cache" / "wirelab"


def test_in_a_checkout_files_and_cache_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "contracts").mkdir()
    (tmp_path / checkout.MARK).write_text("")
    monkeypatch.setenv("WIRELAB_ROOT", str(tmp_path))
    assert installation.folder("contracts") == tmp_path / "contracts"
    assert installation.cache() == tmp_path / ".cache"
    with pytest.raises(LabError, match="without its studies"):
        installation.folder("studies")


def test_an_extra_is_installed_from_the_wheel_or_in_the_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert installation.extra("mcp") == "run `make develop` in the checkout"
    monkeypatch.setattr(checkout, "find", lambda: None)
    assert installation.extra("mcp") == "pip install 'wirelab[mcp]'"


def test_an_experiment_that_comes_with_wirelab_is_found_by_its_name(
    packaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packaged)
    shipped = packaged / "resources" / "experiments" / "links.yaml"
    for name in ("links", "links.yaml", "experiments/links.yaml"):
        assert installation.experiment(Path(name)) == shipped
    for name in ("other/links.yaml", "mine.yaml", str(packaged / "links")):
        assert installation.experiment(Path(name)) == Path(name)
    (packaged / "links.yaml").write_text("name: mine\n")
    assert installation.experiment(Path("links.yaml")) == Path("links.yaml")
    with pytest.raises(UsageError, match="those that do: all-stacks, "):
        installation.experiment(Path("nosuch"))


@pytest.mark.usefixtures("packaged")
def test_a_service_that_is_not_installed_names_its_package() -> None:
    wanted = metadata.version("wirelab")
    service, (caller, folder) = manifests.load().by_language["go"], manifests.callers()["go"]
    for manifest in (service, caller):
        with pytest.raises(NotInstalled, match=f"install wirelab-services-go=={wanted}"):
            builds.find_installed(manifest, folder)


@pytest.fixture
def companion(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Installs an empty companion package of a version; returns its folder."""

    def install(language: str, version: str = "") -> Path:
        module = f"wirelab_services_{language}"
        site = packaged / "site"
        described = site / f"{module}-{version or metadata.version('wirelab')}.dist-info"
        described.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {module}\n"
        text += f"Version: {version or metadata.version('wirelab')}\n"
        (described / "METADATA").write_text(text)
        monkeypatch.syspath_prepend(str(site))
        return site / module

    return install


def test_a_companion_is_used_if_it_has_the_version_of_wirelab(
    companion: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    go, java = companion("go"), companion("java")
    catalogue, callers = manifests.load(), manifests.callers()
    assert builds.find_installed(catalogue.by_language["go"], catalogue.folders["go"]) == go / "go"
    assert builds.find_installed(*callers["go"]) == go / "go-caller"
    monkeypatch.setattr(shutil, "which", lambda program: f"/usr/bin/{program}")
    assert builds.find_installed(*callers["java"]) == java / "java-caller"
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(NotInstalled, match="needs java, which is not in PATH"):
        builds.find_installed(catalogue.by_language["java"], catalogue.folders["java"])


def test_a_companion_of_another_version_is_refused(companion: Callable[..., Path]) -> None:
    companion("go", "0.0.1")
    with pytest.raises(NotInstalled, match=r"installed in version 0\.0\.1, and wirelab in"):
        builds.find_installed(*manifests.callers()["go"])


@pytest.mark.usefixtures("packaged", "no_orphans")
def test_a_run_leaves_out_services_that_are_not_installed(
    tmp_path: Path, stand_in: Callable[..., None]
) -> None:
    stand_in()
    found = _run(EXPERIMENT, tmp_path / "run")
    assert {str(trial.point.stack) for trial in found.trials} == {"rest@rust"}
    (reason,) = found.unavailable
    assert reason.startswith("not measured: the service in go is not installed")
    only_go = EXPERIMENT.replace('"rest@rust", ', "")
    with pytest.raises(NotInstalled):
        _run(only_go, tmp_path / "refused")


@pytest.mark.usefixtures("packaged")
def test_a_study_without_its_services_is_refused_and_a_part_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Path] = []

    def run(experiment: Any, out: Path, **_: Any) -> None:
        if out.name == "packets":
            raise NotInstalled("not there", "install it")
        measured.append(out)

    monkeypatch.setattr(running, "run", run)
    made = reproduction.reproduce("elfwing2002", tmp_path / "some", quick=True)
    assert [out.name for out in measured] == ["ladder"]
    assert any("Part packets has not been run" in note for note in made.notes)
    monkeypatch.setattr(running, "run", lambda *_, **__: run(None, Path("packets")))
    with pytest.raises(NotInstalled, match="not there"):
        reproduction.reproduce("elfwing2002", tmp_path / "none", quick=True)


def _run(text: str, out: Path) -> running.Run:
    experiment = experiment_file.parse(text)
    return running.run(experiment, out, source=text)
