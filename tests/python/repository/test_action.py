"""The action for pull requests: a workflow that is legal, and a script that fails the job."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.python import actionlint

ROOT = Path(__file__).resolve().parents[3]
ACTION = ROOT / "action"
STAND_IN = """#!/bin/bash
printf '%s\\n' "$@" >"$SEEN"
while [ $# -gt 0 ]; do [ "$1" = --markdown ] && page=$2; shift; done
[ -n "$OUTCOME" ] && printf '### x successful calls: %s\\n' "$OUTCOME" >"$page"
exit "$CODE"
"""
"""In place of wirelab: what it was asked, and the outcome that the test wants."""


def run(tmp_path: Path, arguments: str, outcome: str, code: int, **env: str) -> tuple[int, str]:
    """The script's exit code and what it printed."""
    program = tmp_path / "wirelab"
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", ACTION / "compare.sh"],
        env={
            "PATH": os.environ["PATH"],
            "ARGUMENTS": arguments,
            "WIRELAB": str(program),
            "SEEN": str(tmp_path / "seen"),
            "OUTCOME": outcome,
            "CODE": str(code),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("outcome", "code", "undecided", "expected"),
    [
        ("better", 0, "pass", 0),
        ("equivalent", 0, "fail", 0),
        ("worse", 1, "pass", 1),
        ("failed", 1, "pass", 1),
        ("undecided", 5, "pass", 0),
        ("undecided", 5, "fail", 5),
        ("", 2, "pass", 2),
        ("", 3, "pass", 3),
    ],
)
def test_the_job_fails_where_the_second_service_is_worse(
    outcome: str, code: int, undecided: str, expected: int, tmp_path: Path
) -> None:
    found, printed = run(tmp_path, "a b", outcome, code, UNDECIDED=undecided)
    assert found == expected, printed
    assert (tmp_path / "output").read_text() == f"outcome={outcome}\n"
    assert ("::error::" in printed) == (code == 1)
    assert ("::warning::" in printed) == (outcome == "undecided" and undecided == "pass")
    if outcome:
        assert (tmp_path / "summary").read_text().endswith(f": {outcome}\n")


def test_the_script_passes_the_arguments_on_as_one_word(tmp_path: Path) -> None:
    arguments = "--a './old --port {port}' --b \"$(touch pwned)\" --path '/a b'"
    assert run(tmp_path, arguments, "better", 0)[0] == 0
    seen = (tmp_path / "seen").read_text().splitlines()
    assert seen[:4] == ["compare", "--arguments", arguments, "--markdown"]


REAL = f"""#!/bin/bash
exec '{sys.executable}' -c 'import sys; from wirelab.cli import main; sys.exit(main())' "$@"
"""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("--a './old --port {port}", "No closing quotation"),
        ('--a "x" --b x\\', "No escaped character"),
        ("--a '$(touch pwned)' --no-such '`touch pwned`'", "No such option '--no-such'"),
        ("'a b' c d", "3 services given"),
    ],
)
def test_the_program_itself_reads_the_arguments_once(
    tmp_path: Path, arguments: str, part: str
) -> None:
    program = tmp_path / "real"
    program.write_text(REAL, encoding="utf-8")
    program.chmod(0o755)
    env = {"WIRELAB": str(program), "PYTHONPATH": os.pathsep.join(sys.path)}
    code, printed = run(tmp_path, arguments, "", 0, **env)
    assert code == 2, printed
    assert part in printed
    assert not list(ROOT.glob("pwned"))
    assert (tmp_path / "output").read_text() == "outcome=\n"


def test_the_example_names_fixed_versions() -> None:
    steps = yaml.safe_load((ACTION / "example.yml").read_text())["jobs"]["compare"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step and not step["uses"].startswith("./")]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in used)
    installs = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert installs
    assert all(re.search(r"wirelab==\d+\.\d+", one) for one in installs)


def test_a_misspelt_input_is_refused(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "a b", "better", 0, UNDECIDED="maybe")
    assert code == 2
    assert "neither fail nor pass" in printed


def test_every_input_is_used() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    assert all(f"inputs.{name}" in text for name in action["inputs"])


def test_actionlint_accepts_the_example(tmp_path: Path) -> None:
    # The action is looked for where the example names it.
    shutil.copytree(ACTION, tmp_path / "new" / "action")
    actionlint.accepts(ACTION / "example.yml", tmp_path)
