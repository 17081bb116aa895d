"""How the report words findings in packets: tested by a change, or limited by lost packets."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.python.synthetic_packets import (
    FINDING,
    NO_SWITCH,
    capture_trial,
    findings,
    make_dissection,
)
from tests.python.synthetic_run import GRPC, REST, write_run
from wirelab.checks import load as verdicts
from wirelab.cli import app
from wirelab.records.trial import Trial
from wirelab.report import dissection_text as text
from wirelab.report.page import write_page
from wirelab.report.sections import costs, packet_advice, packet_findings
from wirelab.report.sections.packet_findings import Standing
from wirelab.report.source import Source
from wirelab.run.adaptive import outcome, recorded
from wirelab.run.adaptive.record import Claim, Interventions, Planned, Spot
from wirelab.run.manifest import Manifest
from wirelab.trial import dissection

CAUSE = str(FINDING["cause"])


def test_an_untested_finding_is_not_reported_as_a_cause() -> None:
    printed = list(text.lines(make_dissection()))
    assert packet_findings.UNTESTED in printed
    assert packet_findings.TESTED not in printed
    assert "What cost time" not in printed
    said = " ".join(line.strip() for line in printed)
    assert "Packets alone prove no cause" in said
    assert "`wirelab dissect RUN --test`" in said
    assert "change: set TCP_NODELAY on the server's sockets" in said
    assert "Then 41 ms less" in said
    assert "server.nagle" not in said, "a switch of the lab changes no other program"


def test_the_switch_that_tests_a_finding_of_a_run_is_named() -> None:
    (finding,) = findings(FINDING)
    assert packet_findings.remedy(finding, Standing(of_lab=True)) == (
        "test: server.nagle=off; 41 ms less in each second call"
    )


def test_every_advice_names_the_side_that_has_to_change() -> None:
    (finding,) = findings(FINDING)
    held = {"axis": "client.nagle", "value": "off", "predict": "", "ms_least": 0.0}
    (of_client,) = findings({**FINDING, "test": held})
    assert "on the server's sockets" in packet_advice.advice(finding)
    assert "on the client's sockets" in packet_advice.advice(of_client)
    window = {"axis": "server.h2_window", "value": "library", "predict": "", "ms_least": 0.0}
    (upload,) = findings({**FINDING, "cause": "h2-window-exhausted", "test": window})
    assert "HTTP/2 window of the server" in packet_advice.advice(upload)
    (expecting,) = findings({**FINDING, "cause": "expect-continue", "test": None})
    known = packet_advice.advice(expecting)
    assert all(name in known for name in ("curl", "Go", "Node.js", "Java", "nginx"))
    (unknown,) = findings({**FINDING, "cause": "server-think-time", "test": None})
    assert packet_advice.advice(unknown) == ""


def test_tested_findings_are_listed_separately_with_their_verdict() -> None:
    standing = Standing({CAUSE: "holds"})
    printed = list(packet_findings.lines(findings(NO_SWITCH, FINDING), standing))
    assert printed[0] == packet_findings.TESTED
    assert printed[1].startswith(f"• {CAUSE}, tested: holds.")
    rest = printed[printed.index(packet_findings.UNTESTED) :]
    assert rest[1].startswith("• server-think-time. ")
    assert not any(CAUSE in line for line in rest)


def test_no_test_is_suggested_if_all_findings_are_tested() -> None:
    printed = list(packet_findings.lines(findings(FINDING), Standing({CAUSE: "does not hold"})))
    assert packet_findings.UNTESTED not in printed
    assert not any("prove no cause" in line for line in printed)
    assert not packet_findings.section(
        findings(FINDING), 2000, Standing({CAUSE: "holds"})
    ).paragraphs


def test_nothing_found_needs_no_test() -> None:
    assert list(packet_findings.lines([], Standing())) == [packet_findings.NOTHING]
    assert packet_findings.section([], 0, Standing()).paragraphs == (packet_findings.NOTHING,)


def test_a_pattern_that_cost_no_time_by_itself_is_given_none() -> None:
    pattern = {**FINDING, "cause": "split-writes", "ms_total": 0.0, "ms_median": 0.0}
    of_pattern, of_finding = findings(pattern, FINDING)
    assert packet_findings.figures(of_pattern, 40)[1:] == ("—", "—")
    assert "—" not in packet_findings.figures(of_finding, 40)


def test_every_line_of_a_dissection_fits_80_columns() -> None:
    long = "a finding of " + "many words " * 40
    document = make_dissection(findings=[{**FINDING, "words": long}, NO_SWITCH])
    printed = list(text.lines(document, Standing({CAUSE: "holds"}, "how to test " * 20)))
    assert max(map(len, printed)) <= 80


def test_one_of_everything_is_in_the_singular() -> None:
    document = make_dissection(exchanges__count=1, capture__packets=1, capture__drops=1)
    said = " ".join(text.lines(document))
    assert "1 packet, 600,000 B" in said
    assert "1 exchange on 1 connection; 1 connection opened" in said
    assert "lost by whoever captured: 1 packet;" in said
    assert "sent again: 1 packet in all" in said


def test_the_test_of_a_run_is_named_and_its_verdicts_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict belongs to the cell of the capture, and to no other."""
    own, other = capture_trial(REST, 1), capture_trial(GRPC, 2)
    run = write_run(tmp_path / "my run", [own, other])
    assert packet_findings.of_run(_capture(run, own), run).verdicts == {}
    assert f"dissect '{run}' --test" in packet_findings.of_run(_capture(run, own), run).remedy
    monkeypatch.setattr(recorded, "read", lambda folder: _outcome(own))
    assert packet_findings.of_run(_capture(run, own), run).verdicts == {CAUSE: "holds"}
    assert packet_findings.of_run(_capture(run, other), run).verdicts == {}


def test_dissect_of_a_run_separates_tested_from_untested_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = capture_trial(REST, 1)
    run = write_run(tmp_path / "run", [own])
    file = _capture(run, own)
    file.write_bytes(b"")
    monkeypatch.setattr(dissection, "dissect", lambda *_, **__: make_dissection(file=str(file)))
    printed = CliRunner().invoke(app, ["dissect", str(run)]).output
    assert packet_findings.TESTED not in printed
    assert f"dissect {run} --test" in " ".join(printed.split())
    monkeypatch.setattr(recorded, "read", lambda folder: _outcome(own))
    printed = CliRunner().invoke(app, ["dissect", str(run)]).output
    assert printed.index(packet_findings.TESTED) < printed.index(f"{CAUSE}, tested: holds")
    assert printed.index(packet_findings.UNTESTED) < printed.index("server-think-time")


def _capture(run: Path, trial: Trial) -> Path:
    return run / "trials" / trial.id / "capture-client.pcapng"


def _outcome(trial: Trial) -> outcome.Outcome:
    """One finding of the trial's cell, tested."""
    claim = Claim(cause=CAUSE, ms_per_call=20.0, occurrences_per_call=0.5, share=0.9, trials=4)
    spot = Spot.of(trial.point)
    planned = Planned(
        claim=claim,
        axis="server.nagle",
        was="on",
        becomes="off",
        before=spot,
        after=spot,
        ms_predicted=20.0,
    )
    tested = outcome.Tested(planned, None, (0.5, 0.0), None, "holds", "it went")
    return outcome.Outcome(Interventions(minimum_share=0.05), (tested,), ())


@pytest.mark.parametrize(
    ("lost", "check"),
    [
        ({"drops": 7}, "capture"),
        ({"device_drops": {"forward": 0, "backward": 7}}, "link drops"),
    ],
)
def test_lost_packets_mark_the_trial_on_the_page(
    tmp_path: Path, lost: dict[str, object], check: str
) -> None:
    """By the ring or by a device: the packets' section states what it means, and the checks name
    the trial and the number."""
    whole, torn = capture_trial(REST, 1), capture_trial(REST, 2, **lost)
    assert check not in {mark.name for mark in verdicts.find_marks(whole)}
    assert check in {mark.name for mark in verdicts.find_marks(torn)}
    page = write_page(write_run(tmp_path / "run", [whole, torn])).read_text(encoding="utf-8")
    assert "The capture or a device of the link dropped packets in 1 of 2 captured trials" in page
    (reason,) = [mark.reason for mark in verdicts.find_marks(torn) if mark.name == check]
    assert "7" in reason
    assert reason.replace("'", "&#39;") in page


def test_without_losses_nothing_is_said(tmp_path: Path) -> None:
    page = write_page(write_run(tmp_path / "run", [capture_trial()])).read_text(encoding="utf-8")
    assert "On the wire" in page
    assert "dropped packets" not in page
    assert "not tested" in page


def test_bytes_and_their_limits_are_in_one_unit() -> None:
    source = Source(
        Path("run"), Manifest(format=1), tuple(capture_trial(order=order) for order in (1, 2))
    )
    (table,) = costs.traffic_section(source).tables
    shown = dict(zip(table.columns, table.rows[0], strict=True))["received per call"]
    estimate, _, limits = shown.partition("\n")
    low, high = (int(limit.replace(",", "")) for limit in limits.split("–"))
    assert low <= int(estimate.removesuffix(" B").replace(",", "")) <= high
