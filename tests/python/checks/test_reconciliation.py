"""Calls compared with their packets: when calls are logged, what is kept, judged and shown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.python.synthetic_packets import make_dissection
from tests.python.synthetic_run import World, trial
from wirelab.checks import load as verdicts
from wirelab.cli import main
from wirelab.documents.axes import Axes
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.records.line import to_line
from wirelab.records.link import LinkRecord
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Point, Trial
from wirelab.records.wire import CallTimes, WireRecord
from wirelab.report.section import Table
from wirelab.report.sections import time_split
from wirelab.report.source import Source
from wirelab.run import runner as running
from wirelab.run.manifest import Manifest
from wirelab.stack.manifests import load
from wirelab.trial import dissected as document
from wirelab.trial import reconciliation
from wirelab.trial.reconciliation import CALLS_MAX, LOG, CallLog

Json = dict[str, Any]

FILE = """\
name: compared
services: [rest@rust]
messages: [{{operation: Hello, bytes: 14 B}}]
loads: [{load}]
capture: {capture}
window: {window}
warmup: {{min: 0 s, max: {warmup}}}
repeats: 1
"""


OPEN = "poisson: {rate: RATE, in_flight_max: 8}"


def _log(
    load_: str = "closed: {users: 1}",
    capture: str = "client",
    window: str = "{calls: 1000}",
    warmup: str = "1 s",
) -> CallLog:
    text = FILE.format(load=load_, capture=capture, window=window, warmup=warmup)
    experiment, catalogue = experiment_file.parse(text), load()
    (planned,) = planning.schedule(experiment, catalogue).trials
    return reconciliation.call_log(experiment, planned.cell, Path("trials/one"))


def test_calls_are_logged_where_packets_are_captured() -> None:
    """In the trial's folder, whose path the engine gets whole."""
    log = _log()
    assert log == CallLog(Path("trials/one").absolute() / LOG)
    assert _log(capture="none") == CallLog(None)


@pytest.mark.parametrize(
    ("given", "is_logged"),
    [
        ({"window": "{calls: 1900000}"}, True),
        ({"window": "{calls: 2100000}"}, False),
        ({"window": "{duration: 18 s}"}, True),
        ({"window": "{duration: 21 s}"}, False),
        ({"window": "{duration: 10 s}", "warmup": "15 s"}, False),
        ({"load_": "poisson: {rate: 1000, in_flight_max: 8}", "window": "{duration: 900 s}"}, True),
        (
            {"load_": "poisson: {rate: 50000, in_flight_max: 8}", "window": "{duration: 60 s}"},
            False,
        ),
    ],
)
def test_too_many_calls_are_not_logged_and_the_reason_is_given(
    given: dict[str, str], is_logged: bool
) -> None:
    """A log takes about 120 B a call."""
    log = _log(**given)
    assert (log.path is not None) == is_logged
    assert is_logged or f"at most {CALLS_MAX:,} are logged" in log.left_out


def _part(phase: str, mean: float, share: float) -> Json:
    return {"phase": phase, "share": share, **_make_times(mean)}


def _quantiles(us: float) -> Json:
    return {"p50": us, "p90": us, "p99": us, "max": us, "n": 1}


def _make_times(mean: float) -> Json:
    return {"mean_us": mean, "p50_us": mean, "p99_us": mean, "max_us": mean}


def _make_result(server_us: float = 80.0, residual_us: float = 0.0, **calls: int) -> Json:
    """2,000 calls of 100 us that were all compared with their packets, unless given otherwise."""
    names = ("unanswered", "outside", "encrypted", "without_port", "unmatched", "given_up")
    counts: Json = dict.fromkeys((*names, "damaged_lines"), 0) | calls
    logged = 2_000
    counts |= {"logged": logged, "error": None}
    counts["matched"] = logged - sum(counts[name] for name in names)
    parts = [_part("queueing", 5.0, 0.05), _part("server", server_us, server_us / 100.0)]
    whole = {"calls": counts["matched"], "response": _make_times(100.0), "phases": parts}
    whole = {"name": "", **whole, "residual": _make_times(residual_us)}
    return {
        "calls": counts,
        "exchanges": {"seen": 2_000, "matched": counts["matched"], "unanswered": 0}
        | {"unmatched": 0, "given_up": 0},
        "handshake_us": {"to_server": None, "to_client": None},
        "clock_us": {"low": -1.0, "high": 5.0},
        "all": whole if counts["matched"] else None,
        "operations": [{**whole, "name": "Hello"}] if counts["matched"] else [],
        "stalls": [],
    }


def test_of_both_ends_the_difference_is_the_network() -> None:
    """The server's part at the client's end less that at the server's end."""
    kept = _both(_make_result(server_us=80.0), _make_result(server_us=30.0))
    assert kept.at_server_us == 30.0
    assert time_split.round_trip(_trial(kept)) == (50.0, "from the captures at both ends")


def _end(write: float, wire: float, server: float, read: float, **other: float) -> Json:
    """The same 2,000 calls of 1,000 us, as one end's capture shows them."""
    found = _make_result()
    stalls = other.get("stalls", 0.0)
    reply = 1_000.0 - write - wire - server - read - stalls
    means = {"client-write": write, "request-on-wire": wire, "server": server}
    means |= {"stalls": stalls, "reply-on-wire": reply, "client-read": read}
    whole = found["all"] | {"response": _make_times(1_000.0)}
    whole["calls"] = other.get("calls", 2_000)
    whole["phases"] = [_part(phase, mean, mean / 1_000.0) for phase, mean in means.items()]
    return {**found, "all": whole}


def _both(client: Json, server: Json) -> CallTimes:
    ends = [make_dissection(reconciliation=client), make_dissection(reconciliation=server)]
    kept = reconciliation.summarize(ends)
    assert kept is not None
    return kept


def _times(found: Json) -> CallTimes:
    """As a trial's record keeps it."""
    kept = reconciliation.summarize([make_dissection(reconciliation=found)])
    assert kept is not None
    return kept


def _table(trial: Trial) -> Table:
    (table,) = time_split.section(Source(Path("run"), Manifest(format=1), (trial,))).tables
    return table


def test_captures_at_both_ends_tell_the_ways_from_the_server() -> None:
    """The last packet of the request was 300 us later at the server's end, the first of the
    reply 200 us later at the client's. The parts are still the whole response time."""
    kept = _both(_end(40.0, 100.0, 620.0, 30.0), _end(330.0, 110.0, 120.0, 250.0))
    whole = reconciliation.split(kept)
    assert whole is not None
    means = {part.phase: part.mean_us for part in whole.phases}
    printed = {name: means[name] for name in ("request-way", "server", "reply-way")}
    assert printed == pytest.approx({"request-way": 300.0, "server": 120.0, "reply-way": 200.0})
    assert sum(means.values()) == pytest.approx(1_000.0)
    assert sum(part.share for part in whole.phases) == pytest.approx(1.0)
    shown = "\n".join(time_split.lines(kept))
    assert "request's way" in shown
    assert "reply's way" in shown
    table = _table(_trial(kept, "wlan"))
    ways = [row for row in table.rows if row[0].endswith("way")]
    assert [row[1:3] for row in ways] == [["300 µs", "30.0 %"], ["200 µs", "20.0 %"]]
    assert not any("round trip" in row[0] for row in table.rows)


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (_end(330.0, 110.0, 120.0, 250.0, calls=1_990), "the same calls"),
        (_end(330.0, 110.0, 120.0, 250.0, stalls=50.0), "stalls of different length"),
        (_end(20.0, 100.0, 120.0, 250.0), "before they were sent"),
        (_end(330.0, 110.0, 620.0, 20.0), "before they were sent"),
    ],
)
def test_ways_that_two_captures_do_not_show_are_not_guessed(server: Json, words: str) -> None:
    """The round trip as a whole is shown as before, and why."""
    kept = _both(_end(40.0, 100.0, 620.0, 30.0), server)
    whole = reconciliation.split(kept)
    assert whole is not None
    assert kept.all is not None
    assert whole.phases == kept.all.phases
    table = _table(_trial(kept, "wlan"))
    assert words in table.caption
    assert any("round trip" in row[0] for row in table.rows)


def test_a_run_joins_the_captures_of_each_trial() -> None:
    """By their folders, in any order; others stay as they are."""
    ends = {"client": _end(40.0, 100.0, 620.0, 30.0), "server": _end(330.0, 110.0, 120.0, 250.0)}
    documents = [
        make_dissection(file=f"run/trials/{trial}/capture-{side}.pcapng", reconciliation=ends[side])
        for trial, side in (("a", "client"), ("a", "server"), ("b", "client"), ("c", "server"))
    ]
    joined = reconciliation.join_dissections(documents)
    assert joined[0].reconciliation is not None
    assert reconciliation.ways(joined[0].reconciliation)
    assert "request-way" in document.text(joined)
    assert joined[1:] == documents[1:]
    alone = [make_dissection(file="x.pcapng")]
    assert reconciliation.join_dissections(alone) == alone


def test_without_a_log_nothing_is_kept() -> None:
    assert reconciliation.summarize([]) is None
    assert reconciliation.summarize([make_dissection()]) is None


def test_why_calls_were_not_logged_is_read_from_older_records_too() -> None:
    wire = WireRecord.of({"reconciliation": {"left_out": "too many"}})
    assert wire == WireRecord(not_reconciled="too many")
    assert WireRecord.of(wire.to_json()) == wire


def _trial(found: CallTimes | None, link: str = "loopback", measured: Json | None = None) -> Trial:
    axes = Axes.of({"binding": "rest", "language": "rust"})
    load_ = LoadRecord(kind="closed", users=1, think_s=0.0)
    at = Point("rest@rust", axes, "Hello", 14, load_, link=link)
    wire = WireRecord(reconciliation=found, protocols=("tls",))
    made = replace(trial(at, 0, 1, World()), wire=wire, checks=())
    return replace(made, link=LinkRecord.of({"measured": measured} if measured else {}))


def _check(found: Json) -> Check:
    return _check_of(_trial(_times(found)))


def _check_of(trial: Trial) -> Check:
    checks = verdicts.check(trial)
    (check,) = (one for one in checks if one.name == "calls and packets")
    return check


def test_a_trial_whose_calls_are_explained_is_right() -> None:
    """Every call has its packets, and no stamp contradicts another."""
    check = _check(_make_result())
    assert check.outcome == "ok"
    assert "2,000 of 2,000 calls" in check.reason
    assert _check(_make_result(unmatched=20)).outcome == "ok"


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (_make_result(residual_us=51.0), "marked"),
        (_make_result(unmatched=21), "marked"),
        ({**_make_result(), "clock_us": {"low": 2.0, "high": 9.0}}, "marked"),
        ({**_make_result(), "clock_us": {"low": -9.0, "high": -2.0}}, "marked"),
        (_make_result(encrypted=2_000), "not-measurable"),
        (_make_result(unmatched=2_000), "not-measurable"),
    ],
)
def test_a_trial_with_unexplained_calls_is_marked(found: Json, outcome: str) -> None:
    """Each way of going wrong."""
    assert _check(found).outcome == outcome


def test_calls_that_were_not_logged_cannot_be_explained() -> None:
    trial = _trial(None)
    trial = replace(trial, wire=WireRecord(not_reconciled="too many", protocols=("tls",)))
    assert _check_of(trial).outcome == "not-measurable"


def test_a_log_that_broke_off_marks_the_trial() -> None:
    """A full disk, say."""
    found = _make_result()
    found["calls"]["error"] = "no space left"
    assert _check(found).outcome == "marked"


def test_on_a_link_the_round_trip_is_what_was_measured_before() -> None:
    """Or what the handshakes took; on loopback it is not separated."""
    measured = {"rtt_ms": {"p50": 2.5}}
    way = time_split.round_trip(_trial(_times(_make_result()), "wlan", measured))
    assert way == (2_500.0, "as measured before the trial")
    found = _make_result()
    found["handshake_us"] = {"to_server": _quantiles(2_600.0), "to_client": _quantiles(10.0)}
    assert time_split.round_trip(_trial(_times(found), "wlan")) == (
        2_610.0,
        "from the handshakes",
    )
    assert time_split.round_trip(_trial(_times(_make_result()))) is None


def test_a_terminal_shows_every_part_within_eighty_columns() -> None:
    """And what was not laid side by side."""
    shown = list(time_split.lines(_times(_make_result(unmatched=3, outside=2))))
    text = "\n".join(shown)
    assert max(map(len, shown)) <= 80
    for words in ("queueing", "server", "residual", "1,995 of 2,000", "3 calls have no exchange"):
        assert words in text


@pytest.mark.parametrize(("handshake_us", "printed"), [(70.0, True), (5.0, False), (200.0, False)])
def test_a_terminal_shows_how_much_of_the_server_part_is_the_network(
    handshake_us: float, printed: bool
) -> None:
    """Of 80 us: where the SYN's answer took a tenth of that or more, and no longer."""
    found = _make_result()
    found["handshake_us"] = {"to_server": _quantiles(handshake_us), "to_client": _quantiles(1.0)}
    shown = [line for line in time_split.lines(_times(found)) if "round trip" in line]
    assert shown == (
        ["  70.0 µs of the server's part is network round trip (from handshakes)"] * printed
    )
    assert all(len(line) <= 80 for line in shown)


def test_few_calls_have_no_percentiles() -> None:
    """Ten calls must lie above one that is shown."""
    found = _make_result()
    found["operations"][0]["calls"] = 44
    rows = [line.split() for line in time_split.lines(_times(found)) if line.startswith("  server")]
    assert rows == [["server", "80.0", "µs", "80.0", "%", "80.0", "µs", "—"]]


# -- live ------------------------------------------------------------------

LIVE = """\
name: live
services:
  - rest@rust
  - "grpc@rust?connection=pool=2&in_flight=multiplex=8"
  - iiop@rust
  - "raw@rust?connection=pool=1&in_flight=pipeline=4"
messages: [{operation: Hello, bytes: 200 B}]
loads: [closed: {users: 8}]
capture: client
window: {calls: 1500}
warmup: {min: 0 s, max: 0.1 s}
repeats: 1
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
@pytest.mark.usefixtures("no_orphans")
def test_live_calls_are_explained_by_their_packets(
    tmp_path: Path, real_engine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every call of four bindings finds its exchange, multiplexed and pipelined ones too."""
    helped = subprocess.run([real_engine, "dissect", "--help"], capture_output=True, check=True)
    if b"--calls" not in helped.stdout:
        pytest.skip(f"{real_engine} does not compare calls and packets: build it again")
    out = tmp_path / "run"
    run = running.run(experiment_file.parse(LIVE), out, source=LIVE, unverified=True)
    assert len(run.trials) == 4
    for one in run.trials:
        assert one.status == "measured", one.reason
        _check_explained(one)
    assert "Where a call" in _report(out)
    assert main(["dissect", str(out)]) == 0
    assert capsys.readouterr().out.count("Where each call's time went") == 4


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
    reason="links need root, iproute2 and /dev/net/tun",
)
@pytest.mark.usefixtures("no_orphans")
def test_live_the_ways_over_a_link_are_separated_from_the_server(
    tmp_path: Path, real_engine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten ms there and three back; a server of no work takes less than either."""
    helped = subprocess.run([real_engine, "dissect", "--help"], capture_output=True, check=True)
    if b"--calls" not in helped.stdout:
        pytest.skip(f"{real_engine} does not compare calls and packets: build it again")
    link = "{name: uneven, forward: {delay_ms: 10}, backward: {delay_ms: 3}}"
    text = FILE.format(
        load="closed: {users: 2}", capture="both", window="{calls: 60}", warmup="0 s"
    )
    text += f"links: [{link}]\n"
    run = running.run(experiment_file.parse(text), tmp_path / "run", source=text, unverified=True)
    (one,) = run.trials
    assert one.status == "measured", one.reason
    whole = reconciliation.split(_read_call_times(one))
    assert whole is not None
    means = {part.phase: part.mean_us for part in whole.phases}
    assert means["request-way"] == pytest.approx(10_000.0, abs=2_500.0)
    assert means["reply-way"] == pytest.approx(3_000.0, abs=2_500.0)
    assert means["server"] < 2_500.0
    together = sum(means.values()) + whole.residual.mean_us
    assert together == pytest.approx(whole.response.mean_us)
    assert main(["dissect", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.count("request's way") == 1


def _read_call_times(one: Trial) -> CallTimes:
    assert one.wire is not None
    assert one.wire.reconciliation is not None
    return one.wire.reconciliation


def _check_explained(one: Trial) -> None:
    found, calls = _read_call_times(one), _read_call_times(one).calls
    assert calls.logged == one.result.calls_whole_run == calls.matched, calls
    assert found.exchanges.seen == calls.matched, found.exchanges
    whole = found.all
    assert whole is not None
    parts = sum(part.mean_us for part in whole.phases)
    together = parts + whole.residual.mean_us
    assert together == pytest.approx(whole.response.mean_us)
    assert whole.residual.p99_us <= 50.0
    assert found.clock_us is not None
    assert found.clock_us.low <= 0.0 <= found.clock_us.high
    shares = {str(part.phase): part.share for part in whole.phases}
    assert set(shares) == set(time_split.NAMES) - {"report", "request-way", "reply-way"}
    assert shares["server"] > 0.0
    assert json.dumps(to_line([one]))


def _report(folder: Path) -> str:
    from wirelab.report.page import write_page

    return write_page(folder).read_text(encoding="utf-8")
