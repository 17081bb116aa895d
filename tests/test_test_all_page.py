"""docs/reference/test-all.md: how it is written, and that it is not older than the engine."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests.disturbance import STRICT
from tools import test_all_page as writing

ROOT = Path(__file__).parents[1]
JUDGED = ("crates/load", "crates/link", "crates/trace", "crates/host")
"""What only the tests that judge times show to be right."""

RESULTS = """\
<testsuites><testsuite name="0123456789ab" time="61.5" timestamp="2026-01-02T23:59:00+00:00">
<testcase classname="tests.python.test_a" name="test_b[x|y]" time="2.25"/>
<testcase classname="tests.python.test_a" name="test_c@group" time="40"><failure/></testcase>
<testcase classname="tests.python.test_a" name="test_d" time="0.1"><error/></testcase>
<testcase classname="tests.python.test_a" name="test_e" time="0.1"><skipped message="no root"/>
</testcase>
<testcase classname="tests.python.test_a" name="test_f" time="3"><skipped
message="not judged, disturbed twice: other processes 50% of a processor"/></testcase>
</testsuite></testsuites>
"""


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip(f"no history here: {done.stderr.strip()}")
    return done.stdout.strip()


def _write_results() -> date:
    """The date of the page."""
    found = re.search(r"^- Date: (\S+)$", (ROOT / writing.PAGE).read_text(encoding="utf-8"), re.M)
    if found is None:
        pytest.skip(f"{writing.PAGE} has no date: no `make test-all` was recorded yet")
    return date.fromisoformat(found[1])


def test_counts_failures_and_the_slowest_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "alone.xml"
    file.write_text(RESULTS)
    shown = writing.page([writing.read(file)])
    assert "- Date: 2026-01-02\n" in shown
    assert "| alone | `0123456789ab` | 1 | 2 | 1 | 1 | 62 |" in shown
    failed = "- `tests/python/test_a.py::test_c`\n- `tests/python/test_a.py::test_d`\n"
    assert f"failed:\n\n{failed}" in shown
    assert "not judged:\n\n- `tests/python/test_a.py::test_f`\n" in shown
    rows = re.findall(r"^\| `(.*)` \| ([\d.]+) \|$", shown, re.M)
    assert rows[0] == ("tests/python/test_a.py::test_c", "40.0")
    assert rows[2] == (r"tests/python/test_a.py::test_b[x\|y]", "2.2")


def test_a_test_that_passes_when_it_is_repeated_has_not_failed(tmp_path: Path) -> None:
    first, second = tmp_path / "first.xml", tmp_path / "second.xml"
    first.write_text(RESULTS)
    second.write_text(
        '<testsuites><testsuite name="ba9876543210" time="1" timestamp="2026-01-03T00:00:00">'
        '<testcase classname="tests.python.test_a" name="test_d" time="1"/>'
        "</testsuite></testsuites>"
    )
    parts = [writing.read(first), writing.read(second)]
    assert writing.find_last(parts, writing.Outcome.FAILED) == ["tests/python/test_a.py::test_c"]
    shown = writing.page(parts)
    assert "| second | `ba9876543210` | 1 | 0 | 0 | 0 | 1 |" in shown
    assert "- Date: 2026-01-03\n" in shown


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.xml"
    file.write_text("<page/>")
    with pytest.raises(ValueError, match="holds no testsuite"):
        writing.read(file)


def test_the_page_begins_as_it_is_written() -> None:
    assert (ROOT / writing.PAGE).read_text(encoding="utf-8").startswith(writing.HEAD)


def test_the_page_is_not_older_than_what_only_test_all_judges() -> None:
    if os.environ.get(STRICT) == "1":
        pytest.skip("`make test-all` writes the page after its tests")
    recorded = _write_results()
    if _git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("the history is shallow: the last commit of the crates is not known")
    changed = _git("log", "-1", "--format=%cs", "--", *JUDGED)
    assert recorded >= date.fromisoformat(changed), "run make test-all and commit the page"
