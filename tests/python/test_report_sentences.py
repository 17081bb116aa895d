"""What a report says in words: only what intervals allow, briefly, under unmistakable names."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    client_bound,
    failed,
    point,
    trials,
    users,
    write_run,
)
from wirelab import report
from wirelab.report import panels
from wirelab.report.label import Names, load
from wirelab.report.source import Source

SMALL = World(sizes=(14,), loads=(users(32),))


def test_short_names_stay_unmistakable() -> None:
    """What all share is left out; what differs is named; a clash falls back to references."""
    text, close = "rest@go?codec=text", "rest@go?codec=text&connection=close"
    names = Names.of([point(text), point(close), point("grpc@go?server.nagle=on")]).stacks
    assert names[text] == "rest@go text"
    assert names[close] == "rest@go text close"
    assert names["grpc@go?server.nagle=on"] == "grpc@go server.nagle=on"
    clash = ["rest@go?client.writes=split", "rest@go?server.writes=split"]
    assert len(set(Names.of(map(point, clash)).stacks.values())) == 2


def test_what_all_trials_share_is_told_once() -> None:
    """A link, option or axis of the whole run is in no label; one that differs is."""
    stacks = ("rest@go?codec=text&security=tls", "grpc@go?security=tls")
    shared: dict[str, Any] = {"link": "lan", "options": {"placement": "pinned", "faults": {}}}
    names = Names.of(point(stack, **shared) for stack in stacks)
    assert names.everywhere == ("security=tls", "link lan", "placement pinned")
    assert names.setting(point(stacks[0], **shared)) == "Hello 14 B, 10 users"
    assert set(names.stacks.values()) == {"rest@go text", "grpc@go"}
    chunked = point(stacks[0], options={"placement": "pinned", "chunk_bytes": 16_000})
    names = Names.of([chunked, point(stacks[1], options={"placement": "pinned"})])
    assert names.everywhere == ("security=tls", "placement pinned")
    assert names.setting(chunked) == "Hello 14 B, 10 users, chunk 16 kB"


def test_several_settings_in_few_words() -> None:
    """Loads of one message are counted together, and what differs stands apart."""
    one, many = {"kind": "closed", "users": 1}, {"kind": "closed", "users": 32}
    every = [point(REST, size, load) for size in (14, 3_000_000) for load in (one, many)]
    names = Names.of(every)
    assert names.settings(every[:3]) == "Hello 14 B with 1 and 32 users, Hello 3 MB with 1 user"
    opened = point(REST, 14, {"kind": "poisson", "rate": 500.0})
    told = names.settings([every[0], opened])
    assert told == "Hello 14 B with 1 user and 500 calls/s, Poisson"


def test_loads_in_words() -> None:
    """Closed, open, and one user."""
    assert load({"kind": "closed", "users": 1}) == "1 user"
    assert (
        load({"kind": "closed", "users": 1000, "think_s": 0.5}) == "1,000 users, 0.5 s think time"
    )
    assert load({"kind": "poisson", "rate": 1500.0}) == "1,500 calls/s, Poisson"


def test_a_known_difference_is_told() -> None:
    """REST costs 60 us a call and gRPC 84: the first sentence has that ratio and its interval."""
    first, *rest = report.sentences(trials(SMALL), 0.05)
    assert first.startswith("rest@rust json made more calls per second than grpc@rust: ")
    found = re.search(r"([\d.]+) times \(95 % interval ([\d.]+) to ([\d.]+)\) at Hello", first)
    assert found is not None
    low, high = float(found[2]), float(found[3])
    assert low <= 84.0 / 60.0 * 1.005
    assert high >= 84.0 / 60.0 * 0.995
    assert low <= float(found[1]) <= high
    assert rest[0].startswith("Median response time: rest@rust json shorter than grpc@rust: 0.")
    assert rest[-1] == "Differences of up to 5 % do not count."


def test_no_difference_is_told_as_such() -> None:
    """Two stacks of one cost: no word of more, fewer or faster."""
    world = replace(SMALL, call_us={REST: 70.0, GRPC: 70.0})
    told = report.sentences(trials(world), 0.05)
    assert told[0].startswith("No difference beyond 5 % in calls per second was found")
    assert re.search(
        r": grpc@rust over rest@rust json [\d.]+, 95 % interval [\d.]+ to [\d.]+\.$", told[0]
    )
    assert "Median response time: no difference found." in told
    assert not any(word in sentence for word in (" more ", "shorter") for sentence in told)


def test_settings_that_say_the_same_share_a_sentence() -> None:
    """REST leads with small messages alone: one sentence for these, one for the others."""
    world = World(sizes=(14, 30_000_000), loads=tuple(users(n) for n in (1, 8, 16, 32)))
    told = report.sentences(trials(world), 0.05)
    assert "than grpc@rust in 4 of 8 settings (Hello 14 B with 1, 8, 16 and 32 users)" in told[0]
    least, most = map(float, re.findall(r"([\d.]+) times \(", told[0]))
    assert 1.05 < least <= most < 1.5
    assert "in 4 of 8 settings (Hello 30 MB with 1, 8, 16 and 32 users)" in told[1]
    assert "grpc@rust over rest@rust json within" in told[1]
    assert any("no difference found in 4." in sentence for sentence in told[2:4])
    assert re.search(r"Holm's method upholds \d among all 8 comparisons", told[-1])


def test_only_what_holds_beside_all_comparisons_is_stated() -> None:
    """Twenty settings without a difference, and noise: by chance an interval or two excludes 1.
    The seed is one with which they do."""
    world = World(
        sizes=(14,),
        loads=tuple(users(n) for n in range(20, 40)),
        call_us={REST: 70.0, GRPC: 70.0},
        spread=0.05,
        seed=3,
    )
    every = trials(world)
    rows = [row for row in report.to_json(every, 0.0)["comparisons"] if row["figure"] == "rate"]
    alone = [row for row in rows if row["verdict"] in ("higher", "lower")]
    assert alone, "another seed is needed"
    assert not any(row["upheld"] for row in alone)
    told = report.sentences(every, 0.0)
    assert not any("more calls" in sentence for sentence in told)
    assert any("No difference in calls per second is claimed" in sentence for sentence in told)
    assert "upholds 0 among all 20 comparisons; only these count" in told[-1]


def test_below_the_threshold_is_no_difference() -> None:
    """A certain 40 % is none where 60 % was declared."""
    told = report.sentences(trials(SMALL), 0.60)
    assert told[0].startswith("No difference beyond 60 % in calls per second was found")


def test_client_bound_is_never_ranked() -> None:
    """One limited trial of REST: a lower bound, and no winner, however far ahead."""
    every = trials(SMALL)
    first = next(i for i, one in enumerate(every) if one.point.stack == REST)
    every[first] = client_bound(every[first])
    told = report.sentences(every, 0.05)
    assert told[0].startswith("No ranking at Hello 14 B with 32 users")
    assert "rest@rust json (at least" in told[0]
    assert "in 1 of 4 trials" in told[0]
    assert "Median response time: not ranked." in told
    assert not any("more calls" in sentence for sentence in told)
    ranked = {row["ranked"] for row in report.to_json(every)["comparisons"]}
    assert ranked == {False}


def test_single_trials_cannot_be_told() -> None:
    """One repeat: no interval, so nothing is compared."""
    told = report.sentences(trials(replace(SMALL, repeats=1)), 0.05)
    assert "cannot be told apart in calls per second" in told[0]
    assert not any("more calls" in sentence for sentence in told)


def test_few_trials_that_leave_a_pair_untold_are_said() -> None:
    """Else a reader sees figures far apart and `no difference`, and does not know why."""
    apart = replace(SMALL, repeats=2, spread=0.3)
    hint = "2 trials of a cell make wide intervals"
    assert any(hint in sentence for sentence in report.sentences(trials(apart), 0.02))
    for enough in (replace(apart, repeats=4), replace(SMALL, repeats=2, spread=0.0001)):
        assert not any("wide" in sentence for sentence in report.sentences(trials(enough), 0.02))


def test_nothing_measured() -> None:
    """All trials failed: that is the finding, with the reason."""
    every = [failed(one, "the service refused codec") for one in trials(SMALL)]
    told = report.sentences(every)
    assert told[0].startswith("Nothing can be told")
    assert "8 of 8 trials failed" in told[1]
    assert "the service refused codec" in told[1]
    assert report.sentences([])[0].startswith("Nothing can be told")


def test_one_stack_alone() -> None:
    """A run without a pair compares nothing and shows what was measured."""
    told = report.sentences(trials(replace(SMALL, stacks=(GRPC,))))
    assert "none is compared" in told[0]
    assert "grpc@rust made" in told[1]


def test_a_stack_without_a_value() -> None:
    """One side failed throughout: the other is not called the winner."""
    every = [failed(one, "refused") if one.point.stack == REST else one for one in trials(SMALL)]
    told = report.sentences(every)
    assert told[0].startswith("No trial measured calls per second of rest@rust json at Hello")
    assert not any("more calls" in sentence for sentence in told)


def test_many_stacks_are_ranked_pair_by_pair() -> None:
    """Of three, the slowest is told apart and the two equal ones are not."""
    third = "rest@rust?codec=text"
    world = replace(
        SMALL, stacks=(REST, GRPC, third), call_us={REST: 60.0, GRPC: 90.0, third: 60.0}
    )
    told = report.sentences(trials(world), 0.05)
    assert told[0].startswith("No stack was ahead of all others in calls per second at Hello 14 B")
    assert re.search(r"rest@rust (json|text) had the highest, not told apart from rest@", told[0])
    assert "grpc" not in told[0]


def test_a_winner_over_many_is_held_against_the_next() -> None:
    """The best of three is compared with the second, not with the last."""
    third = "rest@rust?codec=text"
    world = replace(
        SMALL, stacks=(REST, GRPC, third), call_us={REST: 60.0, GRPC: 90.0, third: 120.0}
    )
    told = report.sentences(trials(world), 0.05)
    assert "rest@rust json made more calls per second than every other stack" in told[0]
    assert re.search(r"1\.[45]\d times that of the next, grpc@rust,", told[0])


def test_a_large_run_has_few_sentences() -> None:
    """Six stacks in fifteen settings: what is found still fits a screen of 80 columns."""
    axes = ("", "?connection=close", "?server.nagle=on")
    stacks = tuple(f"{name}{axis}" for name in ("rest@go", "grpc@go") for axis in axes)
    costs = {stack: 60.0 + 10.0 * place for place, stack in enumerate(stacks)}
    loads = tuple(users(n) for n in (1, 10, 50, 100, 400))
    world = World(stacks, (14, 150_000, 3_000_000), loads, call_us=costs, spread=0.05)
    lines = [line for told in report.sentences(trials(world)) for line in textwrap.wrap(told, 78)]
    assert len(lines) <= 20


def test_closed_and_open_loads_stay_apart() -> None:
    """Both kinds in one run: each has its own sentences, and the reader is told."""
    loads = ({"kind": "closed", "users": 10}, {"kind": "constant", "rate": 2000.0})
    told = report.sentences(trials(replace(SMALL, loads=loads)))
    assert any("in calls per second" in sentence or "more calls" in sentence for sentence in told)
    assert any("a shorter median response time than" in sentence for sentence in told)
    assert any("never compared" in sentence for sentence in told)


def test_calls_without_a_reply_are_not_ranked_with_others() -> None:
    """They are done when the service has processed them, not when its reply is read."""
    raw, pera = "raw@rust", "raw@rust?reply=one-way"
    world = replace(SMALL, stacks=(raw, REST, pera), call_us={raw: 40.0, REST: 60.0, pera: 5.0})
    every = trials(world)
    pairs = report.to_json(every, 0.0)["comparisons"]
    assert pairs
    assert not any("one-way" in str(pair) for pair in pairs)
    assert not any("one-way" in sentence for sentence in report.sentences(every, 0.0))
    names = Names.of(one.point for one in every)
    assert names.setting(point(pera)) == "Hello 14 B, 10 users, reply one-way"
    assert names.setting(point(raw)) == "Hello 14 B, 10 users, reply two-way"


def test_calls_without_a_reply_have_pictures_of_their_own(tmp_path: Path) -> None:
    """Under a heading that says so."""
    world = replace(SMALL, stacks=("raw@rust", REST, "raw@rust?reply=one-way"))
    source = Source.read(write_run(tmp_path / "run", trials(world)))
    drawn = [picture for part in panels.panels(source, panels.SHOWN) for picture in part.figures]
    assert len(drawn) == 2 * len(panels.SHOWN)
    told = [f"{picture.caption} {picture.alt} {picture.svg}" for picture in drawn]
    assert sum("reply one-way" in words for words in told) == len(panels.SHOWN)
