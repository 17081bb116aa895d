"""The list of classes, and that the commands of the Makefile leave no test out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests import classes
from tests.classes import Classes, TestClass, parse
from tests.conftest import COLLECTED

ROOT = Path(__file__).parents[1]
MAKE_TEST = "not long and not alone"
MAKE_TEST_ALL = ("not alone", "alone")
MAKE_CHECK = "not slow"


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> list[str]:
    """All tests of the modules of this session. Skips where only some tests of one were named."""
    if any("::" in argument for argument in request.config.args):
        pytest.skip("needs whole modules: some tests were named")
    return request.config.stash[COLLECTED]


def is_selected(expression: str, test_class: TestClass) -> bool:
    """Whether ``-m expression`` runs tests of that class."""
    return Expression.compile(expression).evaluate(lambda name, /, **_: name in test_class.markers)


def test_the_last_line_that_matches_decides() -> None:
    known = Classes(
        parse(
            "# a comment\n"
            "slow python/test_a\n"
            "long python/test_a::test_b  # a reason\n"
            "slow python/test_a::test_b[*java*]\n"
            "alone python/test_a::test_c[x*y]\n"
        )
    )
    expected = {
        "python/test_a::test_z": "slow",
        "python/test_a::test_b": "long",
        "python/test_a::test_b[go]": "long",
        "python/test_a::test_b2": "slow",
        "python/test_a::test_b[rest@java]": "slow",
        "python/test_a::test_c[x and y]": "alone",
        "python/test_a::test_c[x]": "slow",
        "python/test_ab::test_b": "fast",
    }
    assert {test: str(known.class_of(test)) for test in expected} == expected


@pytest.mark.parametrize("line", ["long", "never python/test_a", "long python/test_a # reason"])
def test_a_line_that_is_not_an_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 1|never"):
        parse(line)


def test_modules_of_the_list_are_sorted() -> None:
    modules = [entry.module for entry in classes.load().entries]
    assert modules == sorted(modules)


def test_every_module_of_the_list_exists() -> None:
    modules = {entry.module for entry in classes.load().entries}
    assert [one for one in modules if not (classes.FOLDER / f"{one}.py").is_file()] == []


def test_every_entry_decides_about_a_test(collected: list[str]) -> None:
    known = classes.load()
    used = {known.entry_of(test) for test in collected}
    modules = {test.partition("::")[0] for test in collected}
    idle = [one for one in known.entries if one.module in modules and one not in used]
    assert [f"line {one.line}: {one.pattern}" for one in idle] == []


def test_every_module_leaves_a_test_to_make_test_or_says_why(collected: list[str]) -> None:
    known = classes.load()
    left = Counter(
        test.partition("::")[0]
        for test in collected
        if is_selected(MAKE_TEST, known.class_of(test))
    )
    modules = {test.partition("::")[0] for test in collected}
    without = {one for one in modules if not left[one]}
    reasons = {one.module for one in known.entries if one.reason}
    assert without - reasons == set()


def test_every_class_is_in_make_test_all_once() -> None:
    for test_class in TestClass:
        parts = [one for one in MAKE_TEST_ALL if is_selected(one, test_class)]
        assert len(parts) == 1, test_class


def test_commands_select_the_classes_that_they_should() -> None:
    selected = {
        command: [str(one) for one in TestClass if is_selected(command, one)]
        for command in (MAKE_CHECK, MAKE_TEST, *MAKE_TEST_ALL)
    }
    assert selected == {
        "not slow": ["fast"],
        "not long and not alone": ["fast", "slow"],
        "not alone": ["fast", "slow", "long"],
        "alone": ["alone"],
    }


def test_every_class_is_run_by_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if "-m pytest" in line or "$(TEST_ALL)" in line]
    expressions = re.findall(r' -m (?:"([^"]+)"|(alone))', "\n".join(lines))
    assert expressions
    selections = [quoted or bare for quoted, bare in expressions]
    for test_class in TestClass:
        assert any(is_selected(one, test_class) for one in selections), test_class


def test_a_group_of_tests_shares_a_worker(pytester: pytest.Pytester) -> None:
    """Not so with every version of pytest and pytest-xdist (its issue 1386)."""
    pytester.makepyfile("""
        import os, pathlib, pytest

        @pytest.mark.xdist_group("one")
        @pytest.mark.parametrize("number", range(8))
        def test_worker(number):
            pathlib.Path("workers", os.environ["PYTEST_XDIST_WORKER"]).touch()
    """)
    (pytester.path / "workers").mkdir()
    result = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup")
    result.assert_outcomes(passed=8)
    assert len(list((pytester.path / "workers").iterdir())) == 1
