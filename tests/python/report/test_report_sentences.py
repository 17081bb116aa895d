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
    fail_some_calls,
    fail_trial,
    point,
    trials,
    users,
    write_run,
)
from wirelab.records.load import LoadRecord
from wirelab.report.charts import load_panels
from wirelab.report.export import to_json
from wirelab.report.findings.sentences import sentences
from wirelab.report.source import Source
from wirelab.trial.labels import Names, load

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


def test_properties_that_all_trials_share_are_stated_once() -> None:
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
    """Loads of one message are counted together, and what differs is stated separately."""
    one, many = {"kind": "closed", "users": 1}, {"kind": "closed", "users": 32}
    every = [point(REST, size, load) for size in (14, 3_000_000) for load in (one, many)]
    names = Names.of(every)
    assert names.settings(every[:3]) == "Hello 14 B with 1 and 32 users, Hello 3 MB with 1 user"
    opened = point(REST, 14, {"kind": "poisson", "rate": 500.0})
    shown = names.settings([every[0], opened])
    assert shown == "Hello 14 B with 1 user and 500 calls/s, Poisson"


def test_loads_in_words() -> None:
    """Closed, open, and one user."""
    assert load(LoadRecord(kind="closed", users=1)) == "1 user"
    assert (
        load(LoadRecord(kind="closed", users=1000, think_s=0.5)) == "1,000 users, 0.5 s think time"
    )
    assert load(LoadRecord(kind="poisson", rate=1500.0)) == "1,500 calls/s, Poisson"


def _shares(text: str) -> list[float]:
    """Numbers before a per cent sign, in their order."""
    return [float(number) for number in re.findall(r"([\d.]+) %", text)]


def test_a_known_difference_is_stated_with_its_size() -> None:
    """REST costs 60 us a call and gRPC 84, so it makes 40 % more calls: the first sentence."""
    first, *rest = sentences(trials(SMALL), 0.05)
    assert re.fullmatch(
        r"rest@rust json made \d+ % more calls per second \(\d+ % to \d+ %\) than grpc@rust at "
        r"Hello 14 B with 32 users\. rest@rust json used \d+ % less service CPU per call "
        r"\(\d+ % to \d+ %\) than grpc@rust at Hello 14 B with 32 users\.",
        first,
    )
    size, low, high = _shares(first)[:3]
    assert low <= 40.5
    assert high >= 39.5
    assert low <= size <= high
    median = next(sentence for sentence in rest if "median" in sentence)
    assert median.startswith("rest@rust json had a 27 % shorter median response time (")
    assert rest[-1] == "Brackets show 95 % intervals; differences of up to 5 % do not count."


def test_equal_stacks_are_equivalent() -> None:
    """Two stacks of one cost: no one is ahead of the other."""
    world = replace(SMALL, call_us={REST: 70.0, GRPC: 70.0})
    first, *found = sentences(trials(world), 0.05)
    assert re.fullmatch(
        r"Calls per second: equivalent within 5 % "
        r"\(grpc@rust over rest@rust json 0\.9\d+ to 1\.0\d+\)\.",
        first,
    )
    assert re.match(
        r"Equivalent within 5 %: calls per second of grpc@rust and "
        r"rest@rust json at Hello 14 B with 32 users, the first [\d.]+ % (more|fewer) "
        r"\([\d.]+ % fewer to [\d.]+ % more\); median response time; "
        r"service CPU per call; client CPU per call\.$",
        found[0],
    )
    decided = [one for one in (first, *found) if not one.startswith(("Undecided", "Brackets show"))]
    assert not any(" than " in sentence for sentence in decided)


def test_an_interval_from_half_to_double_is_undecided_with_what_may_decide() -> None:
    """Noise that hides everything does not show equality."""
    found = sentences(trials(replace(SMALL, spread=0.5, seed=2)), 0.02)
    ratio = r"grpc@rust over rest@rust json 0\.\d+ to [1-9]\.\d+"
    assert re.fullmatch(rf"Calls per second: undecided \({ratio}\)\.", found[0])
    assert found[1].startswith("Undecided: calls per second of grpc@rust and rest@rust json at")
    decides = r"`--repeats (\d+)` \((\d+) more, about \d+ s\) may decide all of them\.$"
    repeats, more = map(int, re.search(decides, found[1]).groups())  # type: ignore[union-attr]
    assert repeats == SMALL.repeats + more
    assert not any("quivalent" in sentence or " than " in sentence for sentence in found)


def test_sentences_are_ordered_by_what_they_decide() -> None:
    """Differences, then equivalences, then what is undecided, then what is not compared."""
    world = World(sizes=(14, 30_000_000), loads=(users(1), users(16)))
    unranked = trials(replace(SMALL, loads=(users(64),)))
    every = [*trials(world), *map(client_bound, unranked)]
    found = [one for one in sentences(every, 0.05) if not one.startswith("Brackets show")]
    marks = (" than ", "Equivalent", "Undecided", "No ranking", "Not every stack")
    order = [next(place for place, mark in enumerate(marks) if mark in one) for one in found]
    assert order == sorted(order)
    assert set(order) >= {0, 1, 2, 3}


def test_of_several_differences_the_largest_leads() -> None:
    """A pair that differs by a factor of five goes before one that differs by a quarter."""
    costs = {REST: 60.0, GRPC: 300.0}
    near = trials(replace(SMALL, sizes=(150_000,), call_us=costs))
    far = trials(replace(SMALL, call_us={REST: 300.0, GRPC: 60.0}))
    found = sentences(near + far, 0.02)
    assert found[0].startswith("grpc@rust made 5.")
    assert "times as many calls per second" in found[0]
    assert "rest@rust json made" in "".join(found[1:])


def test_settings_with_equal_results_share_a_sentence() -> None:
    """REST leads with small messages alone: one sentence for these, one for the others."""
    world = World(sizes=(14, 30_000_000), loads=tuple(users(n) for n in (1, 8, 16, 32)))
    shown = sentences(trials(world), 0.05)
    assert "than grpc@rust in 4 of 8 settings (Hello 14 B with 1, 8, 16 and 32 users)" in shown[0]
    most, *_, least = [float(size) for size in re.findall(r"([\d.]+) % more \(", shown[0])]
    assert 5 < least <= most < 50
    equal = [one for one in shown if one.startswith("Equivalent")]
    assert "calls per second" in equal[0]
    assert "in 2 of 8 settings (Hello 30 MB with 8 and 16 users)" in equal[0]
    undecided = [one for one in shown if one.startswith("Undecided")]
    assert "in 2 of 8 settings (Hello 30 MB with 1 and 32 users)" in undecided[0]
    confirmed = (
        r"Among all 8 comparisons Holm's method confirms \d of \d differences? in calls per second"
    )
    assert re.search(confirmed, shown[-1])


def test_only_differences_that_hold_among_all_comparisons_are_stated() -> None:
    """Twenty settings without a difference, and noise: by chance an interval or two excludes 1.
    The seed is one with which they do."""
    world = World(
        sizes=(14,),
        loads=tuple(users(n) for n in range(20, 40)),
        call_us={REST: 70.0, GRPC: 70.0},
        spread=0.05,
        seed=6,
    )
    every = trials(world)
    rows = [row for row in to_json(every, 0.0)["comparisons"] if row["figure"] == "rate"]
    alone = [row for row in rows if row["p_value"] < 0.05]
    assert alone, "another seed is needed"
    for row in alone:
        assert row["verdict"] == "undecided"
        assert row["p_value_holm"] > 0.05
        assert row["reason"].startswith(
            "a difference by its own interval, not confirmed among 20 comparisons (Holm); "
        )
    found = sentences(every, 0.0)
    decided = [one for one in found if not one.startswith(("Undecided", "Brackets show"))]
    assert not any(" than " in sentence for sentence in decided)
    assert found[0].startswith("Calls per second: undecided in all 20 settings (grpc@rust over ")
    assert found[1].startswith("Undecided: calls per second of grpc@rust and rest@rust json in all")
    assert "more (Holm's method does not confirm 1 difference)" in found[1]
    assert "Among all 20 comparisons Holm's method confirms 0 of " in found[-1]


def test_below_the_threshold_is_equivalence() -> None:
    """A certain 40 % is none where 60 % was declared."""
    found = sentences(trials(SMALL), 0.60)
    assert found[0].startswith("Calls per second: equivalent within 60 % (grpc@rust over rest@rust")
    assert found[1].startswith("Equivalent within 60 %: calls per second")


def test_client_bound_is_never_ranked() -> None:
    """One limited trial of REST: a lower bound, and no winner, however far ahead."""
    every = trials(SMALL)
    first = next(i for i, one in enumerate(every) if one.point.stack == REST)
    every[first] = client_bound(every[first])
    shown = sentences(every, 0.05)
    assert shown[0].startswith("No ranking at Hello 14 B with 32 users")
    assert "rest@rust json (at least" in shown[0]
    assert "in 1 of 4 trials" in shown[0]
    touched = [one for one in shown if "calls per second" in one or "response time" in one]
    ranked = re.compile(r"(more|fewer) calls|shorter|longer")
    assert not any(ranked.search(one) for one in touched)
    assert shown[0].endswith("than grpc@rust at Hello 14 B with 32 users.")
    assert "json used 27 % less client CPU per call" in shown[0]
    rows = to_json(every, 0.05)["comparisons"]
    barred = [row for row in rows if row["figure"] == "rate" or "response" in row["figure"]]
    assert {(row["ranked"], row["verdict"]) for row in barred} == {(False, "undecided")}
    assert all(row["reason"].startswith("not ranked: the client was the limit") for row in barred)
    # What a call costs is not touched by who was the limit.
    assert {row["ranked"] for row in rows if row not in barred} == {True}


def test_single_trials_are_undecided_for_want_of_an_interval() -> None:
    """One repeat: nothing is compared, and what gives an interval is named once."""
    found = sentences(trials(replace(SMALL, repeats=1)), 0.05)
    assert found[0] == "Calls per second: undecided."
    assert found[1] == (
        "Undecided: calls per second of grpc@rust and rest@rust json at Hello 14 B with 32 users "
        "(1 and 1 trials give no interval); median response time (no interval); p99 response time "
        "(no interval); service CPU per call (no interval); client CPU per call (no interval). "
        "`--repeats 3` (2 more, about 6 s) may decide all of them."
    )


def test_a_run_without_measured_trials_is_reported() -> None:
    """All trials failed: that is the finding, with the reason."""
    every = [fail_trial(one, "the service refused codec") for one in trials(SMALL)]
    shown = sentences(every)
    assert shown[0].startswith("No trial measured anything")
    assert "8 of 8 trials failed" in shown[1]
    assert "the service refused codec" in shown[1]
    assert sentences([])[0].startswith("No trial measured anything")


def test_a_run_of_one_stack_compares_nothing() -> None:
    """A run without a pair compares nothing and shows what was measured."""
    shown = sentences(trials(replace(SMALL, stacks=(GRPC,))))
    assert "none is compared" in shown[0]
    assert "grpc@rust made" in shown[1]


def test_a_stack_without_a_value() -> None:
    """One side failed throughout: the other is not called the winner."""
    every = [
        fail_trial(one, "refused") if one.point.stack == REST else one for one in trials(SMALL)
    ]
    shown = sentences(every)
    assert shown[0].startswith("No trial measured calls per second of rest@rust json at Hello")
    assert not any("more calls" in sentence for sentence in shown)


def test_stacks_without_values_are_not_compared() -> None:
    """Of three in four settings, all that remains is one: nothing is compared."""
    third = "rest@rust?codec=text"
    loads = tuple(users(n) for n in (1, 2, 4, 8))
    world = replace(SMALL, stacks=(REST, GRPC, third), loads=loads)
    every = trials(world)
    for survivors in ((), (GRPC,)):
        left = [
            one if one.point.stack in survivors else fail_trial(one, "refused") for one in every
        ]
        found = sentences(left, 0.05)
        assert not any("Undecided" in sentence or " than " in sentence for sentence in found)
        assert any("refused" in sentence for sentence in found)


def test_stacks_that_tie_ahead_of_others_are_named_together() -> None:
    """Of three, the slowest is behind and the two equal ones are equivalent."""
    third = "rest@rust?codec=text"
    world = replace(
        SMALL, stacks=(REST, GRPC, third), call_us={REST: 60.0, GRPC: 90.0, third: 60.0}
    )
    found = sentences(trials(world), 0.05)
    assert re.match(
        r"rest@rust (json|text) made \d+ % more calls per second .* than grpc@", found[0]
    )
    assert found[0].endswith(", the largest of 2 such differences.")
    assert found[1].startswith(
        "Equivalent within 5 %: calls per second of rest@rust json and "
        "rest@rust text, ahead of all others, at Hello 14 B with 32 users"
    )


def test_a_best_stack_undecided_against_another_is_not_a_winner() -> None:
    """Of three, two lie too near each other for their noise."""
    third = "rest@rust?codec=text"
    costs = {REST: 60.0, GRPC: 300.0, third: 62.0}
    world = replace(SMALL, stacks=(REST, GRPC, third), call_us=costs, spread=0.05)
    found = sentences(trials(world), 0.02)
    undecided = next(sentence for sentence in found if sentence.startswith("Undecided"))
    assert undecided.startswith("Undecided: which stack made the most calls per second at Hello")
    assert re.search(r"had the best estimate, undecided against rest@rust \w+;", undecided)
    assert re.search(r"`--repeats \d+` \(\d+ more, about \d+ s\) may decide", undecided)
    assert "the largest of 2 such differences" in found[0]


def test_a_winner_over_many_is_compared_with_the_next() -> None:
    """The best of three is compared with the second, not with the last."""
    third = "rest@rust?codec=text"
    world = replace(
        SMALL, stacks=(REST, GRPC, third), call_us={REST: 60.0, GRPC: 90.0, third: 120.0}
    )
    shown = sentences(trials(world), 0.05)
    assert "rest@rust json made more calls per second than every other stack" in shown[0]
    assert re.search(r": [45]\d % more \(.*\) than the next, grpc@rust, at Hello", shown[0])


def test_failed_calls_are_counted_and_named_by_what_happened() -> None:
    """And the response times that hold them are labelled."""
    every = [fail_some_calls(one) if one.point.stack == REST else one for one in trials(SMALL)]
    found = sentences(every, 0.05)
    calls, errors = (
        sum(getattr(one.result, name) for one in every) for name in ("calls", "errors")
    )
    assert found[0] == (
        f"{errors:,} of {calls:,} calls failed: {errors:,} timed out. Response times of all calls "
        "include them with the time until they failed; the tables also have those of good calls."
    )
    times = [sentence for sentence in found if "response time" in sentence]
    assert all("of all calls" in sentence for sentence in times[:2])


def test_a_large_run_has_few_sentences() -> None:
    """Six stacks in fifteen settings: what is found still fits a screen of 80 columns."""
    axes = ("", "?connection=close", "?server.nagle=on")
    stacks = tuple(f"{name}{axis}" for name in ("rest@go", "grpc@go") for axis in axes)
    costs = {stack: 60.0 + 10.0 * place for place, stack in enumerate(stacks)}
    loads = tuple(users(n) for n in (1, 10, 50, 100, 400))
    world = World(stacks, (14, 150_000, 3_000_000), loads, call_us=costs, spread=0.05)
    lines = [line for shown in sentences(trials(world)) for line in textwrap.wrap(shown, 78)]
    assert len(lines) <= 20


def test_closed_and_open_loads_stay_apart() -> None:
    """Each kind has its own sentences, and the report states that both are in the run."""
    loads = ({"kind": "closed", "users": 10}, {"kind": "constant", "rate": 2000.0})
    shown = sentences(trials(replace(SMALL, loads=loads)))
    assert any("in calls per second" in sentence or "more calls" in sentence for sentence in shown)
    assert any("2,000 calls/s" in one and "shorter median response" in one for one in shown)
    assert any("never compared" in sentence for sentence in shown)


def test_calls_without_a_reply_are_not_ranked_with_others() -> None:
    """They are done when the service has processed them, not when its reply is read."""
    raw, pera = "raw@rust", "raw@rust?reply=one-way"
    world = replace(SMALL, stacks=(raw, REST, pera), call_us={raw: 40.0, REST: 60.0, pera: 5.0})
    every = trials(world)
    pairs = to_json(every, 0.0)["comparisons"]
    assert pairs
    assert not any("one-way" in str(pair) for pair in pairs)
    assert not any("one-way" in sentence for sentence in sentences(every, 0.0))
    names = Names.of(one.point for one in every)
    assert names.setting(point(pera)) == "Hello 14 B, 10 users, reply one-way"
    assert names.setting(point(raw)) == "Hello 14 B, 10 users, reply two-way"


def test_calls_through_a_proxy_are_not_ranked_with_direct_ones() -> None:
    """A proxy is one more process in the path; the report states why they are not ranked."""
    grpc, proxied = "grpc@rust", f"{REST}{'&' if '?' in REST else '?'}via=nginx"
    world = replace(
        SMALL, stacks=(grpc, REST, proxied), call_us={grpc: 40.0, REST: 60.0, proxied: 5.0}
    )
    every = trials(world)
    pairs = to_json(every, 0.0)["comparisons"]
    assert pairs
    assert not any("nginx" in str(pair) for pair in pairs)
    shown = sentences(every, 0.0)
    assert sum("are not ranked against" in sentence for sentence in shown) == 1
    direct = [trial for trial in every if trial.point.stack != proxied]
    assert not any("are not ranked against" in sentence for sentence in sentences(direct, 0.0))
    names = Names.of(one.point for one in every)
    assert names.setting(point(proxied)) == "Hello 14 B, 10 users, through a proxy"


def test_calls_without_a_reply_have_pictures_of_their_own(tmp_path: Path) -> None:
    """The heading names them."""
    world = replace(SMALL, stacks=("raw@rust", REST, "raw@rust?reply=one-way"))
    source = Source.read(write_run(tmp_path / "run", trials(world)))
    drawn = [
        picture
        for part in load_panels.panels(source, load_panels.SHOWN)
        for picture in part.figures
    ]
    assert len(drawn) == 2 * len(load_panels.SHOWN)
    shown = [f"{picture.caption} {picture.alt} {picture.svg}" for picture in drawn]
    assert sum("reply one-way" in words for words in shown) == len(load_panels.SHOWN)
