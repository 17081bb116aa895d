"""`wirelab drive`: users and rates over time, bursts, pauses, mixes, steps and data."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pytest

from tests.python.counting_server import serve_counting
from wirelab.cli import main
from wirelab.cli.drive import read_amount, read_call
from wirelab.cli.options.drive import Options
from wirelab.documents.plan import Plan
from wirelab.stack import targets

Json = dict[str, Any]

CLOSED = {
    "kind": "closed",
    "users": 1,
    "think_s": 0.0,
    "think": "constant",
    "calls_per_pause": 1,
    "iterations": None,
    "stages": [],
    "seed": 1,
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """Options that commands were given, of which none is run."""
    found: list[Options] = []

    def note(options: Options) -> int:
        found.append(options)
        return 0

    monkeypatch.setattr("wirelab.cli.drive.run", note)
    return found


def _stages(*stages: tuple[float, float]) -> list[Json]:
    return [{"to": to, "duration_s": duration_s} for to, duration_s in stages]


@pytest.mark.parametrize(
    ("arguments", "load", "window"),
    [
        ("", {}, {"duration_s": 3.0}),
        ("--users 4 --think 100ms", {"users": 4, "think_s": 0.1}, {"duration_s": 3.0}),
        (
            "--think exponential:2s --calls-per-pause 3 --seed 7",
            {"think_s": 2.0, "think": "exponential", "calls_per_pause": 3, "seed": 7},
            {"duration_s": 3.0},
        ),
        (
            "--users 5 --iterations 10 --max-time 1min",
            {"users": 5, "iterations": 10},
            {"calls": {"calls": 50, "max_s": 60.0}},
        ),
        (
            "--stage 30s:100 --stage 1min:100 --stage 0s:20 --stage 500ms:0",
            {"users": 100, "stages": _stages((100, 30), (100, 60), (20, 0), (0, 0.5))},
            {"duration_s": 90.5},
        ),
        (
            "--stage 10s:500/s --stage 5s:0.5/s --start-rate 100 --connections 8",
            {
                "kind": "stages",
                "from": 100.0,
                "stages": _stages((500, 10), (0.5, 5)),
                "in_flight_max": 8,
            },
            {"duration_s": 15.0},
        ),
        (
            "--stage 1s:5/s --poisson --seed 3",
            {"kind": "stages", "from": 0.0, "stages": _stages((5, 1)), "in_flight_max": 1,
             "seed": 3},
            {"duration_s": 1.0},
        ),
        (
            "--burst 50 --gap uniform:1s --connections 4 --in-flight 2 --duration 5s",
            {"kind": "bursts", "calls": 50, "rate": None, "gap_s": 1.0, "gaps": "uniform",
             "in_flight_max": 8, "seed": 1},
            {"duration_s": 5.0},
        ),
        (
            "--burst 200ms --rate 2000 --gap 1s --calls 900",
            {"kind": "bursts", "calls": 400, "rate": 2000.0, "gap_s": 1.0, "gaps": "constant",
             "in_flight_max": 1, "seed": 1},
            {"calls": {"calls": 900, "max_s": 600.0}},
        ),
    ],
)  # fmt: skip
def test_options_become_the_plans_load(
    parsed: list[Options], arguments: str, load: Json, window: Json
) -> None:
    assert main(["drive", "rest@rust", *arguments.split()]) == 0
    amount = read_amount(parsed[0])
    assert amount.load() == (load if "kind" in load else {**CLOSED, **load})
    assert amount.window() == window
    group = {**amount.group(), "stack": {"binding": "rest"}, "workload": _workload(parsed[0])}
    assert msgspec.convert({"groups": [group]}, Plan).groups[0].name == "drive"


def _workload(options: Options) -> Json:
    workload: Json = read_call(options, targets.parse("rest@rust")).request.workload
    return workload


def _operation(name: str, size: int = 0) -> Json:
    contract = "petclinic" if "Pet" in name or "Owner" in name else "transfer"
    return {"kind": "contract", "contract": contract, "operation": name, "bytes": size}


@pytest.mark.parametrize(
    ("arguments", "workload"),
    [
        ("", _operation("Hello", 14)),
        (
            "--mix ListPetTypes@3 --mix ListOwners --seed 5",
            {
                "kind": "mix",
                "seed": 5,
                "parts": [
                    {"weight": 3.0, "workload": _operation("ListPetTypes")},
                    {"weight": 1.0, "workload": _operation("ListOwners")},
                ],
            },
        ),
        (
            "--mix Hello@2 --mix Submit:1kB@0.5",
            {
                "kind": "mix",
                "seed": 1,
                "parts": [
                    {"weight": 2.0, "workload": _operation("Hello", 14)},
                    {"weight": 0.5, "workload": _operation("Submit", 1000)},
                ],
            },
        ),
        (
            "--step AddOwner --step AddPetToOwner:ownerId=id --step GetOwner:id=id@0",
            {
                "kind": "steps",
                "contract": "petclinic",
                "steps": [
                    {"operation": "AddOwner", "bytes": 0, "carry": []},
                    {
                        "operation": "AddPetToOwner",
                        "bytes": 0,
                        "carry": [{"from": "id", "to": "ownerId"}],
                    },
                    {
                        "operation": "GetOwner",
                        "bytes": 0,
                        "carry": [{"from": "id", "to": "id", "step": 0}],
                    },
                ],
            },
        ),
        (
            (
                "--operation AddPetType --data-random name=text:8 --data-random id=integer:-1:9 "
                "--data-random city=choice:Oslo,Bergen --data-rows 5 --data-per user"
            ),
            {
                **_operation("AddPetType"),
                "data": {
                    "per": "user",
                    "rows": {
                        "kind": "random",
                        "count": 5,
                        "seed": 1,
                        "fields": {
                            "name": {"kind": "text", "length": 8},
                            "id": {"kind": "integer", "min": -1, "max": 9},
                            "city": {"kind": "choice", "values": ["Oslo", "Bergen"]},
                        },
                    },
                },
            },
        ),
    ],
)
def test_options_become_the_plans_workload(
    parsed: list[Options], arguments: str, workload: Json
) -> None:
    assert main(["drive", "rest@rust", *arguments.split()]) == 0
    assert _workload(parsed[0]) == workload


def test_a_file_of_rows_is_found_from_the_current_folder(
    parsed: list[Options], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("owners.csv").write_text("city\nOslo\n", encoding="utf-8")
    command = ["drive", "rest@rust", "--operation", "AddOwner", "--data-file", "owners.csv"]
    assert main(command) == 0
    rows = {"kind": "file", "path": str((tmp_path / "owners.csv").resolve())}
    assert _workload(parsed[0])["data"] == {"per": "call", "rows": rows}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--stage 30:100", "--stage: '30' has no unit"),
        ("--stage 30s", "--stage 30s is not a stage write a time and a level"),
        ("--stage 30s:many", "is not a stage"),
        ("--stage 30s:1.5", "1.5 is not a number of users"),
        ("--stage 30s:0", "call nobody"),
        ("--stage 0s:5", "stages of 0 s take no time"),
        ("--stage 1s:5 --stage 1s:5/s", "some stages are of users and some of a rate"),
        (" ".join(["--stage 1s:5"] * 101), "at most 100 stages"),
        ("--stage 1s:5 --users 3", "--stage and --users exclude each other: stages set"),
        ("--stage 1s:5/s --rate 3", "--stage and --rate exclude each other: stages set"),
        ("--stage 1s:5 --duration 3s", "is measured from its beginning to its end"),
        ("--stage 1s:5 --calls 3", "--stage and --calls exclude"),
        ("--stage 1s:5 --warmup 1s", "add a stage that lasts as long"),
        ("--stage 1s:5 --iterations 3", "--iterations and --stage exclude"),
        ("--stage 1s:5/s --burst 3 --gap 1s", "--stage and --burst exclude"),
        ("--stage 1s:5/s --think 1s", "--think is for closed loads, but --stage TIME:RATE/s makes"),
        ("--stage 1s:5 --start-rate 3", "--start-rate needs --stage TIME:RATE/s"),
        ("--stage 1s:5/s --start-rate -1", "--start-rate -1 is not a rate"),
        ("--stage 1s:5 --poisson", "--poisson needs --rate or --stage TIME:RATE/s"),
        ("--start-rate 0", "--start-rate needs"),
        ("--burst 5", "--burst needs --gap, the time between two bursts"),
        ("--gap 1s", "--gap needs --burst"),
        ("--burst 0 --gap 1s", "neither a number of calls nor a time"),
        ("--burst 1s --gap 1s", "give --rate CALLS_PER_SECOND too"),
        ("--burst 1ms --rate 5 --gap 1s", "holds less than one call"),
        ("--burst 5 --gap 0s", "--gap 0s is not above 0"),
        ("--burst 5 --gap 1s --poisson --rate 5", "for random gaps between bursts give"),
        ("--burst 5 --gap 1s --users 3", "--users is for closed loads, but --burst makes an open"),
        ("--think 2", "--think: '2' has no unit"),
        ("--think 0s", "--think 0s is not above 0"),
        ("--think normal:2s", "there is no distribution 'normal' give one of constant, exp"),
        ("--think 1s --rate 5", "--think is for closed loads, but --rate makes an open load"),
        ("--calls-per-pause 3", "--calls-per-pause needs --think"),
        ("--iterations 3 --duration 3s", "--max-time limits iterations"),
        ("--iterations 3 --calls 3", "--iterations and --calls exclude"),
        ("--iterations 3 --warmup 1s", "--iterations and --warmup exclude"),
        ("--iterations 3 --rate 5", "--iterations is for closed loads"),
        ("--seed 0", "--seed needs --poisson, --mix"),
        ("--seed 3 --think 1s", "--seed needs --poisson, --mix"),
        ("--mix ListOwners --operation Hello", "--mix and --operation exclude"),
        ("--mix ListOwners --step ListPets", "--mix and --step exclude"),
        ("--step AddOwner --sequence Credit", "--step and --sequence exclude"),
        ("--mix Submit --size 1kB", "write the size after the operation, e.g. Submit:1kB"),
        ("--mix ListOwner", "--mix ListOwner: there is no operation 'ListOwner'. Did you mean"),
        ("--mix ListOwners@many", "'many' is not a weight"),
        ("--mix ListOwners@0", "--mix: mix.0.weight: should be greater than 0"),
        ("--mix Submit:5", "--mix Submit:5: '5' has no unit"),
        ("--mix ListOwners:5B", "ListOwners has a fixed size"),
        ("--mix ListOwners --mix Hello", "of one contract, not of petclinic and transfer"),
        ("--mix Hello:5B --mix Hello:6B", "one text of Hello"),
        ("--step AddOwner --step GetOwner:id=", "'id=' carries nothing"),
        ("--step AddOwner --step GetOwner:id=id@first", "carries nothing"),
        ("--step Submit:5B:6B", "has two sizes, '5B' and '6B'"),
        ("--data-random name=text:8 --mix AddPetType", "each part of a mix may have data"),
        ("--data-random name=text:8 --sequence Credit", "rows replace fields of --operation"),
        ("--data-random name=text:8 --data-file x.csv", "each is a source of rows"),
        ("--data-random name=words:8", "does not say which values the field has"),
        ("--data-random text:8", "does not say which values"),
        ("--data-random id=integer:5", "does not say which values"),
        ("--data-random id=integer:5:1", "the first value must not exceed the second"),
        ("--data-random name=text:0", "greater than or equal to 1"),
        ("--data-file nothing.csv", "--data-file nothing.csv is not a file"),
        ("--data-rows 5", "--data-rows needs --data-random"),
        ("--data-per user", "--data-per needs --data-file or --data-random"),
    ],
)
def test_impossible_loads_are_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    assert main(["drive", "rest@rust", *arguments.split()]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "arguments", ["--mix ListOwners", "--step ListOwners", "--data-random name=text:8"]
)
def test_messages_of_contracts_are_not_for_urls(
    capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    assert main(["drive", "http://127.0.0.1:1/", *arguments.split()]) == 2
    option = arguments.split()[0]
    assert f"{option} applies only to services of wirelab" in capsys.readouterr().err


# -- with the real engine ---------------------------------------------------

live = pytest.mark.usefixtures("real_engine", "no_orphans")


def _drive(capsys: pytest.CaptureFixture[str], target: str, arguments: str) -> Json:
    code = main(["drive", target, *arguments.split(), "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    said: Json = json.loads(shown.out)
    return said


def _drive_counted(
    capsys: pytest.CaptureFixture[str], arguments: str, delay_s: float = 0.005
) -> tuple[Json, list[float]]:
    """The result, and the arrivals at a server, in seconds since the first."""
    with serve_counting(delay_s) as (address, arrivals):
        said = _drive(capsys, f"http://{address}/", arguments)
    return said, [(at - arrivals[0]) / 1e9 for at in arrivals]


@live
def test_users_come_in_stages(capsys: pytest.CaptureFixture[str]) -> None:
    stages = "--stage 500ms:8 --stage 1s:8 --stage 0s:2 --stage 1s:2"
    said, arrivals = _drive_counted(capsys, stages, delay_s=0.02)
    assert said["window_s"] == pytest.approx(2.5, abs=0.1)
    planned = [stage["users_planned"] for stage in said["stages"]]
    assert planned == pytest.approx([4.5, 8.0, 2.0])
    users = [stage["users"] for stage in said["stages"]]
    assert users == pytest.approx(planned, rel=0.15, abs=0.4)
    assert len(arrivals) == said["calls"] == sum(stage["calls"] for stage in said["stages"])
    assert said["stages"][1]["calls"] > 2 * said["stages"][2]["calls"]


@live
@pytest.mark.parametrize("gaps", ["", "--poisson --seed 3"])
def test_a_rate_comes_in_stages(capsys: pytest.CaptureFixture[str], gaps: str) -> None:
    stages = f"--stage 1s:200/s --stage 1s:200/s --start-rate 100 --connections 16 {gaps}"
    said, arrivals = _drive_counted(capsys, stages)
    planned = [stage["rate_planned_per_s"] for stage in said["stages"]]
    assert planned == pytest.approx([150.0, 200.0])
    # 350 arrivals; random ones within five standard deviations of Poisson's.
    assert len(arrivals) == said["calls"] == pytest.approx(350, abs=94 if gaps else 2)
    sent = [stage["rate_sent_per_s"] for stage in said["stages"]]
    assert sent == pytest.approx(planned, rel=0.5 if gaps else 0.1)


@live
def test_bursts_have_gaps_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    said, arrivals = _drive_counted(capsys, "--burst 30 --gap 500ms --duration 2s --connections 30")
    assert [burst["calls_planned"] for burst in said["bursts"]] == [30.0] * 4
    assert len(arrivals) == said["calls"] == 120
    for number in range(4):
        assert sum(0.5 * number - 0.2 < at < 0.5 * number + 0.3 for at in arrivals) == 30


@live
def test_a_burst_lasts_at_its_rate(capsys: pytest.CaptureFixture[str]) -> None:
    said, arrivals = _drive_counted(
        capsys, "--burst 250ms --rate 200 --gap exponential:250ms --duration 2s --connections 8"
    )
    assert said["bursts"][0]["calls_planned"] == 50.0
    assert len(arrivals) == said["calls"] == sum(burst["sent"] for burst in said["bursts"])
    assert sum(at < 0.235 for at in arrivals) == pytest.approx(48, abs=3)


@live
def test_users_end_after_their_iterations(capsys: pytest.CaptureFixture[str]) -> None:
    said, arrivals = _drive_counted(capsys, "--users 5 --iterations 12")
    assert len(arrivals) == said["calls"] == 60
    assert said["window_s"] < 5.0
    assert said["connections_opened"] == 5


@live
def test_users_pause_after_a_number_of_calls(capsys: pytest.CaptureFixture[str]) -> None:
    pauses = "--users 1 --iterations 9 --think 200ms --calls-per-pause 3"
    said, arrivals = _drive_counted(capsys, pauses)
    gaps = [after - before for before, after in pairwise(arrivals)]
    assert said["calls"] == 9
    assert [gap > 0.19 for gap in gaps] == [False, False, True] * 2 + [False, False]


@live
def test_random_pauses_follow_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    """Uniform pauses of 50 to 150 ms, the same ones with the same seed."""

    def pauses(seed: int) -> list[float]:
        think = f"--iterations 9 --think uniform:100ms --seed {seed}"
        _, arrivals = _drive_counted(capsys, think, delay_s=0.0)
        return [after - before for before, after in pairwise(arrivals)]

    def apart(one: list[float], other: list[float]) -> float:
        # Of single pauses a busy machine may prolong some.
        return median(abs(a - b) for a, b in zip(one, other, strict=True))

    first, again, other = pauses(1), pauses(1), pauses(2)
    assert all(gap >= 0.049 for gap in first)
    assert apart(first, again) < 0.01 < apart(first, other)


@live
def test_a_mix_has_its_shares(capsys: pytest.CaptureFixture[str]) -> None:
    mix = "--mix ListPetTypes@3 --mix ListOwners@1 --calls 400 --users 4"
    said = _drive(capsys, "rest@rust", mix)
    calls = {one["operation"]: one["calls"] for one in said["operations"]}
    assert sum(calls.values()) == said["ok"] == 400
    # 300, within five standard deviations of the binomial distribution.
    assert calls["ListPetTypes"] == pytest.approx(300, abs=44)
    assert all(one["latency_ms"]["p50"] > 0 for one in said["operations"])


@live
@pytest.mark.parametrize("reference", ["rest@rust", "grpc@rust"])
def test_steps_carry_values_of_replies(capsys: pytest.CaptureFixture[str], reference: str) -> None:
    """Who adds an owner can delete it, once; nobody can delete the first one again and again."""
    steps = "--step AddOwner --step DeleteOwner{} --iterations 10 --users 2"
    said = _drive(capsys, reference, steps.format(":id=id"))
    assert (said["calls"], said["errors"]) == (40, 0), said["error_examples"]
    assert said["sequences"]["count"] == 20
    said = _drive(capsys, reference, steps.format(""))
    assert said["errors"] == said["sequences"]["errors"] == 19


OWNERS = """\
firstName,lastName,address,city,telephone
Ada,Byron,1 Square,London,letters
Alan,Turing,2 Lane,Wilmslow,1234567890
Grace,Hopper,3 Road,Arlington,1234567890
Emmy,Noether,4 Street,Erlangen,1234567890
"""


@live
@pytest.mark.parametrize(("per", "refused"), [("call", 5), ("user", 10)])
def test_calls_or_users_take_rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, per: str, refused: int
) -> None:
    """The service refuses the telephone of the first of four rows: of 20 calls a quarter, or all
    of the first of two users."""
    file = tmp_path / "owners.csv"
    file.write_text(OWNERS, encoding="utf-8")
    rows = f"--operation AddOwner --data-file {file} --data-per {per} --users 2 --iterations 10"
    said = _drive(capsys, "rest@rust", rows)
    assert said["calls"] == 20
    assert said["errors_by_kind"] == {"application": refused}


@live
def test_random_rows_follow_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    """The service refuses one of two telephones."""

    def count_refused(seed: int) -> int:
        values = f"--data-random telephone=choice:1234567890,letters --data-rows 40 --seed {seed}"
        said = _drive(capsys, "rest@rust", f"--operation AddOwner {values} --calls 40")
        assert said["errors_by_kind"] == {"application": said["errors"]}
        return int(said["errors"])

    counts = [count_refused(seed) for seed in (1, 1, 2, 3, 4)]
    assert counts[0] == counts[1]
    assert len(set(counts)) > 1
    # 20, within five standard deviations of the binomial distribution.
    assert all(4 < count < 36 for count in counts)


@live
def test_a_column_that_no_request_has_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "owners.csv"
    file.write_text("colour\nred\n", encoding="utf-8")
    command = ["drive", "rest@rust", "--operation", "AddOwner", "--data-file", str(file)]
    assert main(command) == 2
    assert "colour" in capsys.readouterr().err


@live
def test_people_see_stages_bursts_and_operations(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        ("--stage 300ms:2 --stage 300ms:0", "stage 2, 300 ms to 600 ms: "),
        ("--burst 5 --gap 100ms --duration 300ms", "3 bursts: 15 of 15 calls sent, each within "),
        ("--mix ListPetTypes --mix ListOwners --calls 50", "ListOwners: "),
    ):
        assert main(["drive", "rest@rust", *arguments.split()]) == 0
        shown = capsys.readouterr().out
        assert words in shown
        assert max(map(len, shown.splitlines())) <= 80


@live
def test_a_stage_that_cannot_be_reached_is_pointed_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One call of 50 ms at a time, where 100 per second arrive."""
    said, _ = _drive_counted(capsys, "--stage 0s:100/s --stage 1s:100/s", delay_s=0.05)
    assert any("reached the least" in hint and "--connections" in hint for hint in said["hints"])


@live
def test_response_times_are_shown_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    """A server that answers after 2 ms: 20 users make about 2,000 calls in half a second."""
    with serve_counting(0.005) as (address, _):
        said = _drive(capsys, f"http://{address}/", "--users 20 --duration 1s")
    medians = said["latency_over_time"]["p50"]
    assert sum(point["calls"] for point in medians) == said["ended_in_window"]
    assert medians[0]["start_s"] == 0.0
    assert sum(point["duration_s"] for point in medians) == pytest.approx(said["window_s"])
    assert all(point["ms"] >= 5.0 * 0.984 for point in medians)
    lowest, highest = (pick(point["ms"] for point in medians) for pick in (min, max))
    assert lowest * 0.984 <= said["latency_ms"]["p50"] <= highest * 1.016
