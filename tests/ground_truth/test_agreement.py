"""The diagnosis compared with system calls on a small new corpus: services, engine, strace,
links and captures are real. ``make ground-truth`` judges by sixty captures per cause."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.ground_truth import scoring
from bench.ground_truth.captures import capturing, corpus, places
from bench.ground_truth.captures.capturing import Maker
from bench.ground_truth.captures.making import Making
from bench.ground_truth.captures.recipes import CLEAN
from bench.ground_truth.labels import occurrence as causes
from bench.ground_truth.scoring import Score, findings
from wirelab.errors import EngineMissing
from wirelab.process import engine_binary, namespaces
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests

CAPTURES = 3
"""Per cause; the first that contain it. Not those whose every capture takes seconds: SYN
retransmission and idle restart."""
AIMS = (
    CLEAN,
    causes.NAGLE,
    causes.SPLIT,
    causes.PER_CALL,
    causes.UNTIL_CLOSE,
    causes.DATA,
    causes.TCP_WINDOW,
    causes.H2_WINDOW,
    causes.SLOW_START,
    causes.THINK,
    causes.NOT_READING,
)
WRONG_SHARE, WRONG = 0.2, 2
"""This share of the occurrences of a cause may be wrong, or this number: on a busy machine
there is always one that nobody can be sure of. A cause that is not found at all has at least
one wrong for each capture."""


def _find_missing_tool() -> str | None:
    """Why this machine cannot make captures; None when it can."""
    if missing := capturing.find_missing_tool():
        return missing
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "links and captures need root and iproute2"
    try:
        engine = engine_binary.find()
    except EngineMissing as error:
        return str(error)
    said = subprocess.run([engine, "--help"], capture_output=True, text=True, check=False).stdout
    return None if "dissect" in said else "the engine is older than its captures: run `make setup`"


LACKING = _find_missing_tool()
pytestmark = [
    pytest.mark.skipif(LACKING is not None, reason=str(LACKING)),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def score(tmp_path_factory: pytest.TempPathFactory) -> Score:
    """Of a small corpus."""
    folder: Path = tmp_path_factory.mktemp("truth")
    said: list[str] = []
    with Interruption() as interruption:
        maker = Maker(Programs(manifests.load()), interruption)
        with Making(folder, maker, interruption, said.append) as making:
            for aim in AIMS:
                assert making.make(aim, CAPTURES, frozenset()) == CAPTURES, (aim, said)
    return scoring.score((case, findings(case.capture, case.port)) for case in corpus.cases(folder))


@pytest.mark.parametrize("cause", [aim for aim in AIMS if aim != CLEAN])
def test_the_diagnosis_finds_what_the_system_calls_tell(score: Score, cause: str) -> None:
    tally = score.tallies[cause]
    shown = [one.words for one in score.disagreements if one.cause == cause]
    bound = max(WRONG, WRONG_SHARE * (tally.right + tally.missed))
    assert tally.captures >= CAPTURES > WRONG
    assert tally.missed <= bound, shown
    assert tally.false <= bound, shown


def test_clean_captures_give_few_alarms(score: Score) -> None:
    shown = [one.words for one in score.disagreements if one.case.startswith(CLEAN)]
    assert score.clean_captures == CAPTURES
    assert score.clean_alarms <= 0.05 * score.clean_exchanges, shown


def test_nothing_of_a_link_is_left(tmp_path: Path) -> None:
    with (
        Interruption() as interruption,
        places.open_place(places.LAN, (), tmp_path / "link.log", interruption) as place,
    ):
        folders = [namespaces.FOLDER / str(end.namespace) for end in (place.client, place.server)]
        assert all(folder.exists() for folder in folders)
    assert not any(folder.exists() for folder in folders)
