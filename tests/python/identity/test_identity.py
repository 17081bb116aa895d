"""Identity before speed: the differential test, its own test, known gaps, proofs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from wirelab import identity, installation
from wirelab.checks import load as verdicts
from wirelab.errors import BuildError, ExperimentError, StackError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.identity import Examination, Gaps, Proofs, judge
from wirelab.identity import verdict as known
from wirelab.identity.examining import examine
from wirelab.identity.finding import Exam, Finding
from wirelab.identity.verdict import Gap
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.records.service import IdentityRecord
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

MUTANTS_MIN = 30
"""Seeded mistakes that the differential test must find (all that there are)."""
CANDIDATES = (
    *("rest@rust", "rest@rust?codec=xml", "rest@rust?codec=protobuf", "soap@rust"),
    *("soap@rust?codec=soap-encoded", "grpc@rust", "iiop@rust", "raw@rust"),
)
"""Stacks on which a mutant may show, the first that fits is taken."""
CONTRACTS = ("charging", "calendar", "transfer")
BUILD_S_MAX = 900
"""Maven fetches and builds for minutes on a machine where nothing was built before."""

EXPERIMENT = """
name: identity
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [{closed: {users: 1}}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""


@pytest.fixture
def examined(real_engine: Path) -> Iterator[Callable[..., Examination]]:
    """Examines an embedded service, with a seeded mistake or without."""
    with Interruption() as interruption:
        programs = Programs(manifests.load())

        def run(reference: str, contract: str, mutant: str | None = None) -> Examination:
            stack = Stack.parse(reference)
            program = programs.program(stack, interruption, contract)
            faults = {"mutant": mutant} if mutant else {}
            return examine(
                program,
                stack,
                contract,
                interruption=interruption,
                engine_sha256="of this test",
                faults=faults,
            )

        yield run


def _mutants(examined: Callable[..., Examination]) -> list[str]:
    """Every name, as the service itself lists them when it refuses one that is none."""
    refusal = examined("rest@rust", "transfer", "no such mutant").failure
    return refusal.rpartition("use one of ")[2].split(", ")


@pytest.mark.usefixtures("no_orphans")
@pytest.mark.parametrize(
    ("reference", "contract"), [("rest@rust", "charging"), ("grpc@rust", "calendar")]
)
def test_the_embedded_services_pass(
    examined: Callable[..., Examination], reference: str, contract: str
) -> None:
    """No section without calls where there is something to call, none with findings."""
    _passes(examined(reference, contract), Gaps(), calls_min=11)


@pytest.mark.usefixtures("no_orphans")
@pytest.mark.timeout(BUILD_S_MAX)
@pytest.mark.parametrize(
    ("reference", "contract"),
    [
        ("rest@go", "charging"),
        ("soap@go", "calendar"),
        ("grpc@go", "transfer"),
        ("rest@java", "transfer"),
        ("rest@java?compression=gzip", "petclinic"),
        ("soap@java", "charging"),
        ("soap@java?codec=soap-encoded", "charging"),
        ("grpc@java", "calendar"),
        ("iiop@java", "charging"),
    ],
)
def test_the_services_in_other_languages_pass(
    examined: Callable[..., Examination], reference: str, contract: str
) -> None:
    """As the embedded ones, except for the entries of the file of gaps."""
    try:
        examination = examined(reference, contract)
    except BuildError as error:
        # What is not installed is a reason to skip; a build that fails is a failure.
        if "which is not in PATH" not in str(error):
            raise
        pytest.skip(str(error))
    # Transfer knows three errors.
    _passes(examination, known.load(), calls_min=3)


def _passes(examination: Examination, gaps: Gaps, calls_min: int) -> None:
    verdict = judge(examination, gaps)
    assert verdict.passed, verdict.reasons()
    calls = {cell.section: cell.calls for cell in verdict.cells}
    assert min(calls["operations"], calls["errors"], calls["limits"]) >= calls_min


@pytest.mark.usefixtures("no_orphans")
@pytest.mark.timeout(900)
def test_every_seeded_mistake_is_found(examined: Callable[..., Examination]) -> None:
    """The test is tested: each mutant is examined on the first stack on which it can show, and
    what was found is the mutant's: without one, nothing is found there."""
    mutants = _mutants(examined)
    assert len(mutants) >= MUTANTS_MIN
    examinations = {name: _examine_mutant(examined, name) for name in mutants}
    survivors = [name for name, seeded in examinations.items() if not _findings(seeded)]
    assert survivors == []
    for stack, contract in {(seeded.stack, seeded.contract) for seeded in examinations.values()}:
        verdict = judge(examined(stack, contract), Gaps())
        assert verdict.passed, (stack, contract, verdict.reasons())


def _examine_mutant(examined: Callable[..., Examination], mutant: str) -> Examination:
    for contract in CONTRACTS:
        for reference in CANDIDATES:
            examination = examined(reference, contract, mutant)
            if "refused faults.mutant" in examination.failure:
                continue
            assert not examination.failure, (mutant, examination.failure)
            return examination
    raise AssertionError(f"{mutant} shows on none of {CANDIDATES}")


def _findings(examination: Examination) -> list[Finding]:
    return [finding for exam in examination.exams for finding in exam.findings]


def _examination(*findings: str) -> Examination:
    found = tuple(Finding(name=name, call="c", expected="e", found="f") for name in findings)
    exam = Exam(section="errors", calls=9, findings=found)
    return Examination(
        stack="soap@go",
        contract="charging",
        sha256="s",
        engine_sha256="e",
        deep=False,
        seed=0,
        seconds=1.0,
        exams=(exam,),
    )


def _gap(finding: str, service: str = "soap@go") -> Gap:
    return Gap(
        services=(service,), contract="charging", section="errors", finding=finding, reason="so"
    )


def test_a_known_gap_is_neither_a_pass_nor_a_failure() -> None:
    """It is shown as what it is."""
    verdict = judge(_examination("a"), Gaps((_gap("a"),)))
    assert verdict.passed
    assert [cell.outcome for cell in verdict.cells] == ["gap"]


def test_an_unexpected_pass_fails() -> None:
    """The file of gaps cannot grow old."""
    verdict = judge(_examination(), Gaps((_gap("a"),)))
    assert not verdict.passed
    assert "remove the gap" in verdict.reasons()[0]


def test_a_gap_of_another_service_excuses_nothing() -> None:
    """Neither another language, nor another axis."""
    for service in ("soap@java", "soap@go?soap=1.2", "rest@go"):
        assert not judge(_examination("a"), Gaps((_gap("a", service),))).passed
    assert judge(_examination("a"), Gaps((_gap("a", "soap@go?soap=1.1"),))).passed


def test_a_service_that_did_not_start_has_not_passed() -> None:
    """An examination of nothing proves nothing."""
    nothing = replace(_examination(), exams=(), failure="it died")
    verdict = judge(nothing, Gaps())
    assert not verdict.passed
    assert verdict.reasons() == ["it died"]


def test_the_file_of_gaps_names_real_services() -> None:
    """Every reference in it can be parsed and is served."""
    catalogue = manifests.load()
    for gap in known.load().known:
        for service in gap.services:
            catalogue.manifest(Stack.parse(service), gap.contract)


def test_a_broken_file_of_gaps_is_refused(tmp_path: Path) -> None:
    """By line and key, as every other document."""
    file = tmp_path / "gaps.yaml"
    file.write_text("gaps:\n  - services: [rest@go]\n    contrct: transfer\n")
    with pytest.raises(ExperimentError, match="contrct"):
        known.load(file)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("services: [raw@rusty], contract: transfer, section: limits", "rust"),
        ("services: [iiop@go], contract: transfer, section: limits", "iiop"),
        ("services: [raw@rust], contract: transferr, section: limits", "transfer"),
        ("services: [raw@rust], contract: transfer, section: limit", "limits"),
    ],
)
def test_a_gap_that_matches_nothing_is_refused(tmp_path: Path, wrong: str, said: str) -> None:
    """It would stay in the file for good."""
    file = tmp_path / "gaps.yaml"
    file.write_text(f"gaps: [{{{wrong}, finding: x, reason: y}}]\n")
    with pytest.raises(ExperimentError, match=said):
        known.load(file)


def test_a_proof_is_for_one_binary_one_stack_one_contract(tmp_path: Path) -> None:
    """Another engine's proofs do not count either."""
    verdict = judge(_examination(), Gaps())
    proofs = Proofs("e", tmp_path)
    proofs.keep(verdict)
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text())["calls"] == {"errors": 9}
    again = Proofs("e", tmp_path)
    other = Proofs("another engine", tmp_path)
    stack = Stack.parse("soap@go")

    class Binary:
        sha256 = "s"

    assert again.find(Binary, stack, "charging") is not None  # type: ignore[arg-type]
    assert other.find(Binary, stack, "charging") is None  # type: ignore[arg-type]
    assert again.find(Binary, stack, "transfer") is None  # type: ignore[arg-type]
    assert again.find(Binary, Stack.parse("soap@go?soap=1.2"), "charging") is None  # type: ignore[arg-type]


def test_identity_does_not_depend_on_the_client_or_on_waiting() -> None:
    """One proof serves all of these."""
    for reference in (
        "soap@rust?connection=close",
        "soap@rust?client.nagle=on&server.writes=split&work=frame&start=cold",
    ):
        assert str(identity.identity_stack(Stack.parse(reference))) == "soap@rust"
    one_way = identity.identity_stack(Stack.parse("raw@rust?reply=one-way&codec=token-xml"))
    assert str(one_way) == "raw@rust?codec=token-xml"
    old = identity.identity_stack(Stack.parse("rest@rust?transport=http/1.0&connection=close"))
    assert str(old) == "rest@rust?transport=http/1.0&connection=close"


def test_every_point_of_the_manifests_is_legal_and_served() -> None:
    """What --all examines."""
    catalogue = manifests.load()
    points = list(identity.points(catalogue))
    assert len(points) == len(set(points))
    for stack, contract in points:
        catalogue.manifest(stack, contract)
    references = {str(stack) for stack, contract in points if contract == "petclinic"}
    for axes in ("store=h2&repository=jdbc", "store=h2&fetch=join", "mapper=off", "validation=off"):
        assert f"rest@java?{axes}" in references


def test_a_reference_stands_for_each_contract_that_its_stack_speaks_once() -> None:
    """A binding that is offered in parts is not examined twice."""
    contracts = [contract for _, contract in identity.choose_points(["rest@go"])]
    assert contracts == ["transfer", "charging", "calendar", "records", "petclinic", "stream"]
    assert [contract for _, contract in identity.choose_points(["rest@go?codec=text"])] == [
        "transfer"
    ]
    with pytest.raises(StackError, match="not charging"):
        identity.choose_points(["rest@go?codec=text"], "charging")


def test_an_unknown_contract_is_refused() -> None:
    """With the nearest name."""
    with pytest.raises(UsageError, match="charging"):
        identity.choose_points(["rest@rust"], "chargin")


def _run(out: Path, *, unverified: bool = False) -> running.Run:
    experiment = experiment_file.parse(EXPERIMENT)
    return running.run(experiment, out, source=EXPERIMENT, unverified=unverified)


@pytest.mark.usefixtures("no_orphans")
def test_an_unverified_service_is_not_measured(
    tmp_path: Path, stand_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is forced; then every trial states it."""
    monkeypatch.setattr(installation, "cache", lambda: tmp_path / "cache")
    stand_in("service-wrong")
    refused = _run(tmp_path / "refused")
    assert [trial.status for trial in refused.trials] == ["failed"]
    assert "not verified" in refused.trials[0].reason
    forced = _run(tmp_path / "forced", unverified=True)
    (trial,) = forced.trials
    assert trial.status == "measured"
    (mark,) = [check for check in trial.checks if check.name == "identity"]
    assert mark.outcome == "marked"


@pytest.mark.usefixtures("no_orphans")
def test_the_proof_travels_with_the_trial(
    tmp_path: Path, stand_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the journal, with the hash of what was examined."""
    monkeypatch.setattr(installation, "cache", lambda: tmp_path / "cache")
    stand_in()
    (trial,) = _run(tmp_path / "run").trials
    assert trial.service.identity is not None
    assert trial.service.identity.sha256 == trial.service.sha256
    assert trial.service.identity.contract == "transfer"
    unverified = replace(trial.service, identity=IdentityRecord(unverified="forced"))
    without = replace(trial, service=unverified)
    assert "identity" in {check.name for check in verdicts.find_marks(replace(without, checks=()))}
