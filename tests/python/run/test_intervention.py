"""Findings tested by intervention: what is proposed, what is shown, and one live stall found,
predicted and confirmed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tests.python.synthetic_stall import (
    FLIPPED,
    JOINED,
    NAGLE,
    NEITHER,
    SMALL_BUFFER,
    SPLIT,
    STALL,
    STALLED,
    finding_of,
    point_of,
    proposal_of,
    text_of,
    trial_of,
    trials_of,
)
from wirelab.cli import main
from wirelab.errors import ExperimentError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.model import Experiment
from wirelab.records.line import to_line
from wirelab.records.trial import Trial
from wirelab.report import section as page_section
from wirelab.report.sections import tested_findings as report_tested
from wirelab.report.source import Source
from wirelab.run import journal
from wirelab.run import runner as running
from wirelab.run.adaptive import recorded, testing
from wirelab.run.adaptive.outcome import Outcome, judge
from wirelab.run.adaptive.proposal import Proposal, propose
from wirelab.run.adaptive.record import Interventions, Spot
from wirelab.run.adaptive.recorded import FOLDER
from wirelab.run.manifest import FORMAT
from wirelab.stack import manifests
from wirelab.statistics.cell import point_key
from wirelab.trial.plans import settings

# -- what is proposed ------------------------------------------------------


def _reason(text: str, finding: dict[str, Any]) -> str:
    record = proposal_of(text, finding).record
    assert not record.tests
    return record.untested[0].words


def test_a_finding_is_tested_by_the_switch_that_it_blames() -> None:
    (test,) = proposal_of(text_of(), STALL).record.tests
    assert test.change == "server.nagle=off"
    assert (test.was, test.before.stack, test.after.stack) == ("on", STALLED, FLIPPED)
    assert test.claim.ms_per_call == pytest.approx(36.0)
    assert test.claim.share == pytest.approx(0.9)


def test_a_small_finding_is_left_untested_unless_requested() -> None:
    small = finding_of(SPLIT, 100, 12.0, "server.writes", "joined")
    record = proposal_of(text_of(), STALL, small).record
    assert [test.claim.cause for test in record.tests] == [NAGLE]
    assert [one.claim.cause for one in record.untested] == [SPLIT]
    assert record.untested[0].possible
    record = proposal_of(text_of(), STALL, small, causes=[SPLIT]).record
    assert [test.claim.cause for test in record.tests] == [SPLIT]


def test_a_cause_that_was_not_found_is_refused() -> None:
    with pytest.raises(UsageError, match="no such finding"):
        proposal_of(text_of(), STALL, causes=["nagle"])


@pytest.mark.parametrize(
    ("stack", "finding", "reason"),
    [
        ("rest@rust", STALL, "the stack already has server.nagle=off"),
        (
            "rest@rust?transport=http/1.0&connection=close",
            finding_of("connection-per-call", 100, 3000.0, "connection", "keep"),
            "HTTP/1.0 ends every connection",
        ),
        (
            "rest@rust",
            finding_of("server-think-time", 100, 3000.0),
            "no setting of this cell makes",
        ),
        ("rest@rust", finding_of("client-not-reading", 100, 3000.0), "no setting of this cell"),
        ("rest@rust", SMALL_BUFFER, "the stack already has server.tcp_window=kernel"),
        (
            "rest@rust",
            finding_of("slow-start", 100, 3000.0),
            "loopback uses the machine's initial_window",
        ),
        (
            "rest@rust",
            finding_of("idle-restart", 100, 3000.0),
            "loopback uses the machine's after_idle",
        ),
        (
            "rest@rust",
            finding_of("data-retransmission", 9, 900.0),
            "loopback does not lose packets on purpose",
        ),
    ],
)
def test_a_finding_without_a_switch_states_why_it_cannot_be_tested(
    stack: str, finding: dict[str, Any], reason: str
) -> None:
    words = _reason(text_of(stack), finding)
    assert words.startswith("cannot be tested here, because ")
    assert reason in words


def test_a_switch_that_the_service_lacks_is_reported() -> None:
    """The value that needs a switch cannot be set on a service without one."""
    catalogue = manifests.load()
    rust = catalogue.by_language["rust"]
    bare = tuple(structs.replace(served, server_options=()) for served in rust.serves)
    changed = structs.replace(rust, serves=bare)
    without = replace(catalogue, by_language={"rust": changed})
    experiment = experiment_file.parse(text_of("rest@rust"))
    (planned,) = planning.schedule(experiment, without).trials
    finding = finding_of(NAGLE, 90, 3600.0, "server.nagle", "on")
    record = propose(experiment, without, [trial_of(planned, [finding])]).record
    assert not record.tests
    assert "rest@rust has no switch for server.nagle" in record.untested[0].words


def test_axes_that_end_with_the_flipped_one_go_with_it() -> None:
    """close_delay exists only where the service closes: content-length takes it along, and the
    test reports it."""
    stack = "rest@rust?connection=close&end_of_message=until-close&close_delay=20"
    finding = finding_of("read-until-close", 100, 2500.0, "end_of_message", "content-length")
    (test,) = proposal_of(text_of(stack), finding).record.tests
    assert test.after.stack == "rest@rust?connection=close"
    assert test.lapses == {"close_delay": "0"}
    keep = finding_of("connection-per-call", 100, 2500.0, "connection", "keep")
    assert "needs one per call" in _reason(text_of(stack), keep)


def test_causes_that_one_switch_ends_are_predicted_together() -> None:
    lossy = "{name: bad, both: {delay_ms: 5, loss: {kind: random, percent: 2}}}"
    found = [finding_of(f"{what}-retransmission", 9, 900.0) for what in ("syn", "data")]
    record = proposal_of(text_of("rest@rust", lossy), *found).record
    assert [test.ms_predicted for test in record.tests] == pytest.approx([18.0, 18.0])
    assert record.tests[0].beside == ("data-retransmission",)
    assert record.tests[1].beside == ("syn-retransmission",)
    assert not record.together


def test_an_upper_bound_from_packets_is_predicted_as_a_limit() -> None:
    """Of 36 ms per call nothing, a third, or all is certain."""
    shown = {}
    for least in (0.0, 1200.0, 3600.0):
        found = {**STALL, "test": {**STALL["test"], "ms_least": least}}
        (test,) = proposal_of(text_of(), found).record.tests
        assert test.ms_predicted == pytest.approx(36.0)
        assert test.least == pytest.approx(least / 100)
        trials = trials_of(STALLED, [40.0, 40.4, 39.8, 40.2], found)
        trials += trials_of(FLIPPED, [24.0, 24.2, 23.9, 24.1])
        outcome = judge(proposal_of(text_of(), found).record, trials)
        text = "\n".join(report_tested.lines(outcome))
        shown[least] = re.search(r"predicted (.+) less per call", text), outcome.tested[0]
    words = [match[1] if match else "" for match, _ in shown.values()]
    assert words == ["up to 36.0 ms", "12.0 ms to 36.0 ms", "36.0 ms"]
    assert [tested.prediction for _, tested in shown.values()] == ["met", "met", "less"]


def test_losses_are_tested_by_the_same_link_without_loss() -> None:
    lossy = (
        "{name: bad, both: {delay_ms: 5, jitter_ms: 1, distribution: normal,"
        " loss: {kind: random, percent: 2}, syn_loss_percent: 1}}"
    )
    loss = finding_of("data-retransmission", 9, 900.0)
    proposal = proposal_of(text_of("rest@rust", lossy), loss)
    (test,) = proposal.record.tests
    assert test.change == "link=bad-without-loss"
    derived = _derive(text_of("rest@rust", lossy), proposal)
    clean = derived.links[1]
    assert not isinstance(clean, str)
    assert clean.both is not None
    assert (clean.both.delay_ms, clean.both.jitter_ms) == (5.0, 1.0)
    assert (clean.both.loss, clean.both.syn_loss_percent) == (None, 0.0)
    assert "cannot be switched off separately" in _reason(text_of("rest@rust", "routed-wlan"), loss)


def test_a_finding_may_blame_the_link() -> None:
    blamed = finding_of("data-retransmission", 9, 900.0, "link", "lan")
    (test,) = proposal_of(text_of("rest@rust", "wlan"), blamed).record.tests
    assert (test.axis, test.was, test.after.link) == ("link", "wlan", "lan")
    assert "the calls already crossed wlan" in _reason(
        text_of("rest@rust", "wlan"), finding_of("data-retransmission", 9, 900.0, "link", "wlan")
    )
    nowhere = finding_of("data-retransmission", 9, 900.0, "link", "moon")
    assert "there is no link 'moon'" in _reason(text_of("rest@rust", "wlan"), nowhere)


WINDOW = finding_of("slow-start", 100, 3000.0, "initial_window", "1000")
PAUSE = finding_of("idle-restart", 100, 3000.0, "after_idle", "keep")
THINKING = finding_of("server-think-time", 100, 3000.0)
SILENT = finding_of("client-not-reading", 100, 3000.0)
SLOW = "faults: {delay_us: 30000, wrong: {every: 9, what: content}}\n"


@pytest.mark.parametrize(
    ("stack", "more", "finding", "change", "was", "after"),
    [
        ("", "", WINDOW, "initial_window=1000", "kernel", "?initial_window=1000"),
        ("?initial_window=2", "", WINDOW, "initial_window=1000", "2", "?initial_window=1000"),
        ("", "", finding_of("slow-start", 9, 900.0), "initial_window=1000", "kernel", None),
        ("", "", PAUSE, "after_idle=keep", "restart", "?after_idle=keep"),
        ("?server.cpu=20%", "", THINKING, "server.cpu=all", "20%", ""),
        ("?client.cpu=20%", "", SILENT, "client.cpu=all", "20%", ""),
        ("", SLOW, THINKING, "faults.delay_us=off", "30000", ""),
        ("?server.cpu=20%", SLOW, THINKING, "server.cpu=all", "20%", ""),
    ],
)
def test_a_cause_with_a_switch_in_the_cell_is_tested_there(
    stack: str, more: str, finding: dict[str, Any], change: str, was: str, after: str | None
) -> None:
    """And the experiment that tests it has both points as the prediction names them."""
    text = text_of("rest@rust" + stack, "wlan") + more
    proposal = proposal_of(text, finding)
    (test,) = proposal.record.tests
    assert (test.change, test.was) == (change, was)
    assert test.ms_predicted == pytest.approx(finding["ms_total"] / 100)
    if after is not None:
        assert test.after.stack == "rest@rust" + after
    planned = planning.schedule(_derive(text, proposal), manifests.load()).trials
    spots = {point_key(trial.cell.point) for trial in planned}
    assert spots == {point_key(spot.point) for spot in (test.before, test.after)}


def test_a_fault_that_makes_the_service_slow_is_switched_off_alone() -> None:
    text = text_of("rest@rust") + SLOW
    proposal = proposal_of(text, THINKING)
    (test,) = proposal.record.tests
    assert test.before.options["faults"]["delay_us"] == 30000
    assert test.after.options["faults"] == {"wrong": {"every": 9, "what": "content"}}
    derived = _derive(text, proposal)
    table = placement.choose("pinned")
    shown = {
        trial.cell.point.options["faults"].get("delay_us"): settings(derived, trial, table, {})
        for trial in planning.schedule(derived, manifests.load()).trials
    }
    assert set(shown) == {30000, None}
    assert shown[30000].faults["delay_us"] == 30000
    assert "delay_us" not in shown[None].faults
    with pytest.raises(ExperimentError, match="reset is not listed in faults"):
        experiment_file.parse(text + 'only: [{stack: "rest@rust", faults_off: [reset]}]\n')


def test_a_fault_and_an_axis_are_flipped_together_too() -> None:
    text = text_of() + "faults: {delay_us: 30000}\n"
    record = proposal_of(text, STALL, THINKING).record
    (together,) = record.together
    assert set(together.changes) == {"server.nagle=off", "faults.delay_us=off"}
    assert together.after.stack == FLIPPED
    assert "faults" not in together.after.options


@pytest.mark.parametrize(
    ("stack", "more", "finding"),
    [
        ("rest@rust", "", WINDOW),
        ("rest@rust", "", PAUSE),
        ("rest@rust?server.cpu=20%", "", THINKING),
        ("rest@rust?client.cpu=20%", "", SILENT),
        ("rest@rust", SLOW, THINKING),
    ],
)
def test_worlds_tell_whether_the_switch_was_the_cause(
    stack: str, more: str, finding: dict[str, Any]
) -> None:
    """Where it is, 30 ms go; where it is none, nothing does, and that is said."""
    (test,) = proposal_of(text_of(stack, "wlan") + more, finding).record.tests
    record = Interventions(minimum_share=0.05, tests=(test,))
    slow = _trials_at(test.before, [40.0, 40.4, 39.8, 40.2], finding)
    for times, verdict, occurrences in (
        ([10.0, 10.2, 9.9, 10.1], "holds", 0.0),
        ([40.1, 39.9, 40.3, 40.0], "does not hold", 1.0),
    ):
        left = [finding] if occurrences else []
        (tested,) = judge(record, [*slow, *_trials_at(test.after, times, *left)]).tested
        assert tested.verdict == verdict
        assert tested.occurrences == pytest.approx((1.0, occurrences))


def _trials_at(spot: Spot, times_ms: Sequence[float], *findings: dict[str, Any]) -> list[Trial]:
    """Trials of that point."""
    trials = trials_of(spot.stack, times_ms, *findings)
    return [replace(trial, point=spot.point) for trial in trials]


def test_an_ablation_of_captures_is_one_point() -> None:
    """What was captured at either end is tested once; what was not captured, not at all."""
    proposal = proposal_of(text_of(capture="[none, client, server]"), STALL)
    assert len(proposal.record.tests) == 1
    assert proposal.record.tests[0].before.options["capture"] == "client"


def test_without_a_capture_there_is_nothing_to_test() -> None:
    with pytest.raises(
        UsageError, match="no trial of this run captured packets of a wirelab service"
    ):
        proposal_of(text_of(capture="none"), STALL)


def test_two_causes_are_tested_one_by_one_and_together() -> None:
    split = finding_of(SPLIT, 100, 400.0, "server.writes", "joined")
    record = proposal_of(text_of(), STALL, split).record
    assert [test.after.stack for test in record.tests] == [FLIPPED, JOINED]
    (together,) = record.together
    assert together.after.stack == NEITHER
    assert together.changes == ("server.nagle=off", "server.writes=joined")


def test_the_test_is_an_experiment_of_exactly_those_points() -> None:
    """What is written is read again, plans each point once a repeat, and names the points as
    the predictions do."""
    split = finding_of(SPLIT, 100, 400.0, "server.writes", "joined")
    proposal = proposal_of(text_of(), STALL, split)
    derived = _derive(text_of(), proposal, repeats=3)
    planned = planning.schedule(derived, manifests.load()).trials
    record = Interventions.model_validate(derived.interventions)
    assert record == proposal.record
    spots = {point_key(trial.cell.point) for trial in planned}
    named = [spot for test in record.tests for spot in (test.before, test.after)]
    named += [record.together[0].after]
    assert spots == {point_key(spot.point) for spot in named}
    assert len(planned) == 3 * len(spots) == 12
    assert {trial.cell.message for trial in planned} == set(
        experiment_file.parse(text_of()).messages
    )


def _derive(text: str, proposal: Proposal, repeats: int = 2) -> Experiment:
    written = proposal.matrix.text(documents.read(text, "file").values, proposal.record, repeats)
    return experiment_file.parse(written, "derived")


# -- the experiment's new keys ---------------------------------------------


def test_predictions_do_not_shape_the_trials() -> None:
    plain, text = experiment_file.parse(text_of()), text_of()
    noted = experiment_file.parse(text + "interventions: {minimum_share: 0.05}\n")
    tested = experiment_file.parse(text + "test_findings: true\n")
    assert plain.digest() == noted.digest() == tested.digest()
    fewer = experiment_file.parse(text + f'only: [{{stack: "{STALLED}"}}]\n')
    assert fewer.digest() != plain.digest()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("only: [{stack: grpc@rust}]\n", "must be an entry of services"),
        (f'only: [{{stack: "{STALLED}", load: 1}}]\n', "use an index from 0 to 0"),
        (f'only: [{{stack: "{STALLED}", link: -1}}]\n', "greater than or equal to 0"),
        (f'only: [{{stack: "{STALLED}"}}]\naxes: {{codec: [json]}}\n', "without axes"),
    ],
)
def test_points_outside_the_matrix_are_refused(more: str, problem: str) -> None:
    with pytest.raises(ExperimentError, match=problem):
        experiment_file.parse(text_of() + more)


def test_findings_without_packets_cannot_be_tested() -> None:
    with pytest.raises(ExperimentError, match="add `capture: client`"):
        experiment_file.parse(text_of(capture="none") + "test_findings: true\n")


# -- what is shown ---------------------------------------------------------


def _outcome() -> Outcome:
    split = finding_of(SPLIT, 100, 12.0, "server.writes", "joined")
    think = finding_of("server-think-time", 100, 400.0)
    record = proposal_of(text_of(), STALL, split, think).record
    trials = trials_of(STALLED, [40.0, 40.4, 39.8, 40.2], STALL)
    return judge(record, trials + trials_of(FLIPPED, [4.0, 4.2, 3.9, 4.1]))


def test_a_terminal_of_80_columns_shows_prediction_and_outcome() -> None:
    lines = list(report_tested.lines(_outcome()))
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert f"{NAGLE}, server.nagle=off: holds" in text
    assert "predicted 36.0 ms less per call (90.0 % of a call)" in text
    assert re.search(r"found     36\.[01] ms \(95 %: 35\.7 ms to 36\.4 ms\)", text)
    assert "cannot be tested here" in " ".join(text.split())
    assert SPLIT in text


def test_the_outcome_can_be_had_as_json() -> None:
    shown = json.loads(json.dumps(_outcome().to_json()))
    assert shown["tested"][0]["verdict"] == "holds"
    assert shown["tested"][0]["claim"]["ms_per_call"] == pytest.approx(36.0)
    assert {one["claim"]["cause"] for one in shown["untested"]} == {SPLIT, "server-think-time"}


def _run_directory(folder: Path, text: str, trials: Sequence[Trial], **more: Any) -> Path:
    """A run as the lab leaves it, as far as reports read it."""
    experiment = experiment_file.parse(text)
    folder.mkdir(parents=True)
    content = experiment.model_dump(mode="json")
    manifest = {"format": FORMAT, "experiment": content, "threshold": 0.02, **more}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "experiment.yaml").write_text(text)
    lines = (json.dumps(to_line([trial])) + "\n" for trial in trials)
    (folder / journal.NAME).write_text("".join(lines))
    return folder


def test_a_report_names_no_cause_that_was_not_tested(tmp_path: Path) -> None:
    """Without a test every finding of the page is shown as `not tested`; with one, its verdict."""
    trials = trials_of(STALLED, [40.0], STALL)
    run = _run_directory(tmp_path / "run", text_of(), trials)
    source = Source.read(run)
    assert report_tested.section(source) == page_section.Section("Findings tested")
    assert report_tested.verdict(source, point_of(STALLED), NAGLE) == "not tested"
    proposal = proposal_of(text_of(), STALL)
    derived = proposal.matrix.text(documents.read(text_of(), "x").values, proposal.record, 4)
    after = trials_of(FLIPPED, [4.0, 4.2, 3.9, 4.1])
    before = trials_of(STALLED, [40.0, 40.4, 39.8, 40.2], STALL)
    _run_directory(run / FOLDER, derived, [*before, *after])
    source = Source.read(run)
    assert report_tested.verdict(source, point_of(STALLED), NAGLE) == "holds"
    assert report_tested.verdict(source, point_of(STALLED), SPLIT) == "not tested"
    (table,) = report_tested.section(source).tables
    assert table.rows[0][1] == NAGLE
    assert table.rows[0][-1].startswith("holds")
    own = recorded.read(run / FOLDER)
    assert own is not None
    assert own.tested[0].verdict == "holds"


def _plain() -> list[Trial]:
    """A run whose page shows no packets."""
    return [replace(trial, wire=None) for trial in trials_of(STALLED, [40.0])]


@pytest.mark.parametrize(
    ("after_ms", "code"),
    [
        ([4.0, 4.2, 3.9, 4.1], 0),  # the time went
        ([40.1, 39.9, 40.3, 40.0], 1),  # it did not
        ([4.0, 90.0, 1.0, 60.0], 5),  # nobody knows
        ([], 5),  # nothing was measured
    ],
)
def test_the_exit_code_of_a_test_is_that_of_its_verdict(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    after_ms: list[float],
    code: int,
) -> None:
    """`dissect --test` and `run --test-findings`: 0 holds, 1 does not hold, 5 undecided; what
    was measured before does not change it."""
    trials = trials_of(STALLED, [40.0, 40.4, 39.8, 40.2], STALL) + trials_of(FLIPPED, after_ms)
    outcome = judge(proposal_of(text_of(), STALL).record, trials)
    folder = _run_directory(tmp_path / "run", text_of(), _plain())
    made = testing.Intervention(None, outcome)
    monkeypatch.setattr(testing, "intervene", lambda *_, **__: made)
    assert main(["dissect", str(folder), "--test"]) == code
    assert json.loads(json.dumps(made.to_json()))["tested"][0]["reason"]
    finished = running.read(folder)
    monkeypatch.setattr(running, "run", lambda *_, **__: finished)
    (tmp_path / "file.yaml").write_text(text_of())
    arguments = ["run", str(tmp_path / "file.yaml"), "--out", str(folder)]
    assert main([*arguments, "--test-findings"]) == code
    assert main(arguments) == 0
    capsys.readouterr()


def test_a_failed_trial_of_a_test_ends_it_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it always has, whatever the verdict."""
    folder = _run_directory(tmp_path / "run", text_of(), _plain())
    (trial,) = trials_of(FLIPPED, [4.0])
    failed = replace(trial, status="failed", reason="refused")
    made = testing.Intervention(None, _outcome(), (failed,))
    monkeypatch.setattr(testing, "intervene", lambda *_, **__: made)
    assert main(["dissect", str(folder), "--test"]) == 1
    capsys.readouterr()


def test_findings_that_could_not_be_tested_have_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _run_directory(tmp_path / "run", text_of(), _plain())
    made = testing.Intervention(None, judge(Interventions(minimum_share=0.05), ()))
    monkeypatch.setattr(testing, "intervene", lambda *_, **__: made)
    assert main(["dissect", str(folder), "--test"]) == 0
    capsys.readouterr()


def test_a_capture_alone_cannot_be_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.pcapng").write_bytes(b"")
    assert main(["dissect", str(tmp_path / "x.pcapng"), "--test"]) == 2
    assert "cannot be run again" in " ".join(capsys.readouterr().err.split())
    assert main(["dissect", str(tmp_path / "x.pcapng"), "--cause", NAGLE]) == 2
    assert "--cause belongs to --test" in " ".join(capsys.readouterr().err.split())


# -- live ------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_live_stall_is_found_predicted_and_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nagle's algorithm against delayed acknowledgments: about 40 ms in nearly every call."""
    file = tmp_path / "live.yaml"
    file.write_text(text_of())
    out = tmp_path / "run"
    arguments = ["run", str(file), "--out", str(out), "--unverified", "--test-findings", "--json"]
    assert main(arguments) == 0
    shown = json.loads(capsys.readouterr().out)["findings_tested"]
    nagle = next(one for one in shown["tested"] if one["claim"]["cause"] == NAGLE)
    assert nagle["axis"] == "server.nagle"
    assert nagle["claim"]["ms_per_call"] > 30.0
    assert nagle["claim"]["occurrences_per_call"] > 0.8
    assert nagle["verdict"] == "holds", nagle
    assert nagle["found_ms_per_call"]["low"] > 20.0
    assert nagle["occurrences_per_call"][1] <= 0.1 * nagle["occurrences_per_call"][0]
    assert "Findings tested" in (out / "report.html").read_text()
    assert len((out / FOLDER / journal.NAME).read_text().splitlines()) == 2 * testing.REPEATS
    # Given again, it measures nothing again.
    assert main(["dissect", str(out), "--test", "--unverified"]) == 0
    assert f"{NAGLE}, server.nagle=off" in capsys.readouterr().out
    assert len((out / FOLDER / journal.NAME).read_text().splitlines()) == 2 * testing.REPEATS
