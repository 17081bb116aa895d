"""What becomes of a test that judges a time and fails, on simulated disturbances."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tests.disturbance import Disturbance, Machine, Repetition, read_own_s

QUIET = Disturbance(wall_s=2.0, delay_s=0.01, others_s=0.01, steal_s=0.0)
BUSY = Disturbance(wall_s=2.0, delay_s=0.5, others_s=1.5, steal_s=0.0)
STOLEN = Disturbance(wall_s=2.0, delay_s=0.0, others_s=0.0, steal_s=0.2)
OWN_DELAY = Disturbance(wall_s=2.0, delay_s=1.5, others_s=0.02, steal_s=0.0)

FAILING = """
    import pytest

    @pytest.mark.alone
    def test_judged(): assert False
"""
FAILING_ONCE = """
    import pytest

    tries = []

    @pytest.fixture(scope="module")
    def made(): return object()

    @pytest.mark.alone
    def test_judged(made, tmp_path):
        tries.append(made)
        assert len(tries) == 2

    def test_other(): pass
"""


class Script:
    """A meter that finds what it is given, one after another."""

    def __init__(self, *found: Disturbance) -> None:
        self._found = iter(found)

    def start(self) -> None:
        """A test begins."""

    def stop(self) -> Disturbance:
        """It has ended."""
        return next(self._found)


def run(
    pytester: pytest.Pytester, source: str, *found: Disturbance, strict: bool = False
) -> pytest.RunResult:
    """A session of those tests."""
    pytester.makeini("[pytest]\nmarkers = alone")
    pytester.makepyfile(source)
    plugin = Repetition(Script(*found), strict)
    return pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider", plugins=[plugin])


def test_an_undisturbed_failure_is_a_failure(pytester: pytest.Pytester) -> None:
    done = run(pytester, FAILING, QUIET)
    done.assert_outcomes(failed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_a_delay_by_the_tests_own_processes_does_not_excuse_a_failure(
    pytester: pytest.Pytester,
) -> None:
    run(pytester, FAILING, OWN_DELAY).assert_outcomes(failed=1)


@pytest.mark.parametrize("first", [BUSY, STOLEN])
def test_a_disturbed_failure_is_repeated(pytester: pytest.Pytester, first: Disturbance) -> None:
    done = run(pytester, FAILING_ONCE, first, QUIET)
    done.assert_outcomes(passed=2)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["*test_judged: judged at the second try (other processes*"])


def test_a_disturbed_failure_below_other_folders_is_repeated(pytester: pytest.Pytester) -> None:
    """pytest keeps the plugins that other folders have from the hooks of a test, in a set."""
    other = pytester.mkpydir("other")
    (other / "conftest.py").write_text("")
    (other / "test_other.py").write_text("def test_unrelated(): pass")
    done = run(pytester, FAILING_ONCE, BUSY, QUIET)
    done.assert_outcomes(passed=3)
    assert done.ret == pytest.ExitCode.OK


def test_an_undisturbed_failure_of_the_second_try_is_a_failure(pytester: pytest.Pytester) -> None:
    done = run(pytester, FAILING, BUSY, QUIET)
    done.assert_outcomes(failed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_a_test_that_was_disturbed_twice_is_not_judged(pytester: pytest.Pytester) -> None:
    done = run(pytester, FAILING, BUSY, STOLEN)
    done.assert_outcomes(skipped=1)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(
        [
            "1 of 1 are not judged, more than 5%: *",
            "*test_judged: not judged, disturbed twice: other processes 75% of a processor, *",
            "SKIPPED*not judged*",
        ]
    )


@pytest.mark.parametrize(("passing", "outcome"), [(18, 1), (19, 0)])
def test_too_many_that_are_not_judged_fail_a_strict_session(
    pytester: pytest.Pytester, passing: int, outcome: int
) -> None:
    source = f"""
        import pytest

        @pytest.mark.alone
        @pytest.mark.parametrize("number", range({passing + 1}))
        def test_judged(number): assert number
    """
    done = run(pytester, source, BUSY, *[QUIET] * passing, BUSY, strict=True)
    done.assert_outcomes(passed=passing, skipped=1)
    assert done.ret == outcome
    assert ("are not judged, more than 5%" in done.stdout.str()) == bool(outcome)


def test_other_tests_are_not_measured(pytester: pytest.Pytester) -> None:
    run(pytester, "def test_other(): pass").assert_outcomes(passed=1)


def test_processor_time_of_ended_children_is_the_tests_own() -> None:
    before_s = read_own_s()
    code = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-S", "-E", "-c", code], check=True)
    assert read_own_s() - before_s >= 0.5


def test_a_machine_measures_what_it_reads() -> None:
    machine = Machine()
    machine.start()
    time.sleep(0.3)
    found = machine.stop()
    assert found.wall_s >= 0.3
    assert found.delay_s > 0.0
    assert min(found.others_s, found.steal_s) >= 0.0
