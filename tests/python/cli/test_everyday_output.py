"""What people read every day: no wider than 80 columns, and no longer than needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.synthetic_run import write_run
from wirelab.cli.options.dissect import ViewOptions
from wirelab.cli.output import dissect, verify
from wirelab.identity.finding import Examination
from wirelab.identity.verdict import Cell, Outcome, Verdict

CAPTURE = Path(__file__).parents[3] / "crates/trace/corpus/capture/snapped.pcapng"


def _verdict(stack: str, outcomes: dict[str, Outcome]) -> Verdict:
    examination = Examination(stack, "charging", "ab" * 32, "cd" * 32, False, 1, 1.0)
    cells = (Cell(section, outcome, calls=1) for section, outcome in outcomes.items())
    return Verdict(examination, tuple(cells))


def test_sections_without_a_call_have_no_column(capsys: pytest.CaptureFixture[str]) -> None:
    long = "soap@rust?codec=soap-encoded"
    verify._show(
        [
            _verdict(long, {"operations": "pass", "money": "none"}),
            _verdict("rest@rust", {"operations": "gap", "money": "FAIL"}),
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["service", "contract", "operations", "money"]
    assert lines[1].split() == [long, "charging", "pass", "–"]
    assert lines[2].split() == ["rest@rust", "charging", "gap", "FAIL"]
    assert "no calls for: errors, limits, vectors, concurrency, outages" in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("real_engine")
def test_packets_of_a_run_wait_for_their_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    documents = dissect.read(CAPTURE, ViewOptions(timeline=1))
    assert documents[0].timeline
    dissect.show(documents, None)
    of_file = capsys.readouterr().out
    run = write_run(tmp_path / "run", [])
    dissect.show(documents, run)
    of_run = capsys.readouterr().out
    dissect.show(documents, run, timeline=1)
    chosen = capsys.readouterr().out
    assert "Packets of" in of_file
    assert "Packets of" not in of_run
    assert "--timeline N shows the packets of exchange N." in of_run
    assert "Packets of" in chosen
    assert "--timeline N" not in chosen
