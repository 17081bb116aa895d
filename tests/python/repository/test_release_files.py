"""The files that platforms read: citation, issue forms, workflow, container, metadata."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.python import actionlint

ROOT = Path(__file__).resolve().parents[3]
GITHUB = ROOT / ".github"
RELEASE = GITHUB / "workflows" / "release.yml"
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").iterdir()) if path.stem != "config"]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LICENSES = {"MIT", "Apache-2.0"}


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_licenses_of_the_workspace() -> None:
    """The rest of it was validated by cffconvert against the schema of CFF 1.2.0."""
    citation = yaml.safe_load(read("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["authors"] == [{"name": "The wirelab developers"}]
    assert citation["version"] == CARGO["workspace"]["package"]["version"]
    assert set(citation["license"]) == LICENSES


def test_the_licenses_are_the_same_everywhere() -> None:
    assert PROJECT["license"] == CARGO["workspace"]["package"]["license"] == "MIT OR Apache-2.0"
    assert read("LICENSE-MIT").startswith("MIT License")
    assert "Apache License" in read("LICENSE-APACHE")[:200]


def test_the_package_is_described() -> None:
    assert len(PROJECT["description"]) <= 512, "PyPI's limit of a summary"
    assert (ROOT / PROJECT["readme"]).is_file()
    assert PROJECT["keywords"]
    # PEP 639: the expression in `license` takes their place.
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License ::")]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_legal(path: Path) -> None:
    """GitHub's syntax of forms: it shows a form with an error to nobody."""
    form: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form.keys() <= {"name", "description", "labels", "body", "title"}
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields
    for field in fields:
        assert field["type"] in {"input", "textarea", "dropdown", "checkboxes"}
        assert field["attributes"]["label"]
        assert field.get("validations", {}).keys() <= {"required"}
        if field["type"] == "dropdown":
            assert all(isinstance(option, str) for option in field["attributes"]["options"])
    for key in ("id", "label"):
        values = [field.get(key) or field["attributes"].get(key) for field in fields]
        assert len(set(values)) == len(values), f"{key} twice"


def test_actions_of_the_release_are_pinned_to_commits() -> None:
    used = re.findall(r"uses: (\S+)(.*)", RELEASE.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action}: name its version"


def test_actionlint_accepts_the_release(tmp_path: Path) -> None:
    actionlint.accepts(RELEASE, tmp_path)


def test_the_release_builds_wheels_for_two_processors_and_waits_for_both() -> None:
    jobs = yaml.safe_load(RELEASE.read_text(encoding="utf-8"))["jobs"]
    building = {
        name: job
        for name, job in jobs.items()
        if any(step.get("run") == "make wheel" for step in job["steps"])
    }
    assert sorted(job["runs-on"] for job in building.values()) == [
        "ubuntu-24.04",
        "ubuntu-24.04-arm",
    ]
    assert set(jobs["publish"]["needs"]) == {*building, "audit"}
    uploaded = [
        step["with"]["name"]
        for job in building.values()
        for step in job["steps"]
        if "upload-artifact" in step.get("uses", "")
    ]
    (download,) = (step for step in jobs["publish"]["steps"] if "uses" in step)
    assert len(set(uploaded)) == 2
    assert all(fnmatch(name, download["with"]["pattern"]) for name in uploaded)


def test_a_release_has_three_numbers_and_the_tag_of_the_action_is_none() -> None:
    workflow = yaml.safe_load(RELEASE.read_text(encoding="utf-8"))
    (pattern,) = workflow[True]["push"]["tags"]  # YAML 1.1 reads `on` as true
    assert fnmatch("v0.2.0", pattern)
    assert not fnmatch("v0", pattern)


def test_publishing_names_no_host_and_only_programs_that_exist() -> None:
    section = read("CONTRIBUTING.md").partition("## Publishing")[2].partition("\n## ")[0]
    assert not re.search(r"https?://|\b[\w-]+\.(?:com|org|io|net|dev)\b", section)
    targets = re.findall(r"^\$ make (.*)$", section, re.MULTILINE)
    assert targets
    for target in " ".join(targets).split():
        assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), target
    stage = re.search(r"--target (\w+)", section)
    assert stage is not None
    assert f" AS {stage[1]}\n" in read("Containerfile")


def test_images_have_the_toolchains_of_the_checkout() -> None:
    rust = tomllib.loads(read("rust-toolchain.toml"))["toolchain"]["channel"]
    go = re.search(r"^go (\d+\.\d+)", read("services/go/go.mod"), re.MULTILINE)
    assert go is not None
    for file in ("Containerfile", ".github/workflows/release.yml"):
        assert set(re.findall(r"rust:([\d.]+)-bookworm", read(file))) == {rust}, file
    assert f"golang:{go[1]}-bookworm" in read("Containerfile")


def test_the_development_container_names_a_stage() -> None:
    text = read(".devcontainer/devcontainer.json")
    container = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    stages = re.findall(r"^FROM \S+ AS (\S+)", read("Containerfile"), re.MULTILINE)
    assert container["build"]["target"] in stages
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()


def test_wheels_are_built_with_the_maturin_of_the_sources() -> None:
    (required,) = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    tools = re.search(r"^WHEEL_TOOLS := (.*)$", read("Makefile"), re.MULTILINE)
    assert tools is not None
    assert required in tools[1].split()
    assert all(re.fullmatch(r"[a-z]+==[\d.]+", tool) for tool in tools[1].split())


ECOSYSTEMS = {
    "Cargo.lock": "cargo",
    "go.mod": "gomod",
    "uv.lock": "uv",
}
"""What Dependabot calls the tool of each file that fixes versions; Maven has one at the top."""


def test_updates_are_proposed_for_every_place_that_fixes_versions() -> None:
    updates = yaml.safe_load(read(".github/dependabot.yml"))["updates"]
    proposed = {
        (one["package-ecosystem"], folder)
        for one in updates
        for folder in one.get("directories", [one.get("directory")])
    }
    listed = subprocess.run(
        ["git", "ls-files", *(f"*{name}" for name in ECOSYSTEMS)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    fixed = {Path(line) for line in listed.stdout.split() if Path(line).name in ECOSYSTEMS}
    assert {path.name for path in fixed} == set(ECOSYSTEMS)
    folders = {(ECOSYSTEMS[path.name], f"/{path.parent}".rstrip(".")) for path in fixed}
    assert folders <= proposed
    assert {("maven", "/services/java"), ("github-actions", "/")} <= proposed
    assert (ROOT / "services/java/pom.xml").exists()


def test_a_release_is_audited_and_waits_for_it() -> None:
    jobs = yaml.safe_load(RELEASE.read_text(encoding="utf-8"))["jobs"]
    steps = [step.get("run", "") for step in jobs["audit"]["steps"]]
    assert "make audit AUDIT=--strict" in steps
    assert any("cargo-deny" in step for step in steps)
    assert "audit" in jobs["publish"]["needs"]


def test_an_audit_that_cannot_run_is_reported_and_fails_a_release(tmp_path: Path) -> None:
    """Without the tools, and with a proxy that nobody listens at."""
    environment = {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
    }
    for options, code in (((), 0), (("--strict",), 1)):
        done = subprocess.run(
            [sys.executable, ROOT / ".ci/audit", *options],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert [line.split(": ")[1:3] for line in lines] == [
            ["cargo deny", "not audited"],
            ["pip-audit", "not audited"],
            ["govulncheck", "not audited"],
        ]
