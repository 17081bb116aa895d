"""docs/reference/test-all.md from the results of the last ``make test-all``.

``python -m tools.test_all_page FILE.xml…``: what ``pytest --junitxml`` wrote, a file per part; its
``junit_suite_name`` is the commit that was tested.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path("docs/reference/test-all.md")
SHOWN = 30
HEAD = """\
# The whole test suite

`make test` leaves out tests that take long or judge times; `make test-all` runs everything. \
[tests/long.txt](../../tests/long.txt) lists which tests those are. `tools/test_all_page.py` \
writes this page. A test compares its date with the last commit of the load generator, the links, \
the dissection and the host records. Of a test that was repeated, the last part counts.
"""


class Outcome(StrEnum):
    """What became of a test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Result:
    """One test of a session."""

    name: str
    seconds: float
    outcome: Outcome


@dataclass(frozen=True)
class Part:
    """One session."""

    title: str
    commit: str
    date: str
    seconds: float
    results: tuple[Result, ...]


def _outcome(case: ElementTree.Element) -> Outcome:
    if case.find("failure") is not None or case.find("error") is not None:
        return Outcome.FAILED
    skipped = case.find("skipped")
    if skipped is None:
        return Outcome.PASSED
    is_judged = "not judged" not in skipped.get("message", "")
    return Outcome.SKIPPED if is_judged else Outcome.NOT_JUDGED


def _name(case: ElementTree.Element) -> str:
    # pytest-xdist appends the group of a test to its name.
    name = re.sub(r"@\w+$", "", case.get("name", ""))
    return f"{case.get('classname', '').replace('.', '/')}.py::{name}"


def read(file: Path) -> Part:
    """A session. ValueError where the file holds none."""
    suite = ElementTree.parse(file).getroot().find("testsuite")
    if suite is None:
        raise ValueError(f"{file} holds no testsuite")
    results = tuple(
        Result(_name(case), float(case.get("time", "0")), _outcome(case))
        for case in suite.iter("testcase")
    )
    began, seconds = suite.get("timestamp", "")[:10], float(suite.get("time", "0"))
    return Part(file.stem, suite.get("name", ""), began, seconds, results)


def find_last(parts: Sequence[Part], outcome: Outcome) -> list[str]:
    """Names of the tests that ended so when they last ran."""
    last = {result.name: result.outcome for part in parts for result in part.results}
    return [name for name, ended in last.items() if ended is outcome]


def _cell(text: str) -> str:
    """A name as code in a table; names of parameters may hold anything."""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return f"`{printable.replace('`', ' ').replace('|', chr(92) + '|')}`"


def _lines(parts: Sequence[Part]) -> Iterator[str]:
    # The last date: all was tested by then.
    yield f"- Date: {max(part.date for part in parts)}"
    yield ""
    yield f"| part | commit | {' | '.join(Outcome)} | time, s |"
    yield f"|---|---|{'---|' * len(Outcome)}---|"
    for part in parts:
        counts = Counter(result.outcome for result in part.results)
        cells = " | ".join(str(counts[outcome]) for outcome in Outcome)
        yield f"| {part.title} | `{part.commit}` | {cells} | {part.seconds:.0f} |"
    every = [result for part in parts for result in part.results]
    for outcome in (Outcome.FAILED, Outcome.NOT_JUDGED):
        if names := find_last(parts, outcome):
            yield from ("", f"Tests whose outcome is {outcome}:", "")
            yield from (f"- {_cell(name)}" for name in names)
    slowest = sorted(every, key=lambda result: -result.seconds)[:SHOWN]
    yield from ("", f"The slowest {len(slowest)}:", "", "| test | time, s |", "|---|---|")
    yield from (f"| {_cell(result.name)} | {result.seconds:.1f} |" for result in slowest)


def page(parts: Sequence[Part]) -> str:
    """The page's text."""
    return f"{HEAD}\n" + "\n".join(_lines(parts)) + "\n"


def main(files: Sequence[str]) -> int:
    """Writes the page. 1 where a test failed."""
    parts = [read(Path(file)) for file in files]
    PAGE.write_text(page(parts), encoding="utf-8")
    print(f"{PAGE} is written")
    return 1 if find_last(parts, Outcome.FAILED) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
