"""What a report says of links: asked for next to measured, and nothing over loopback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.python.synthetic_run import REST, World, point, trial
from wirelab.records.link import LinkRecord
from wirelab.records.trial import Json, Trial
from wirelab.report.sections import links
from wirelab.report.source import Source
from wirelab.report.terminal import terminal_table
from wirelab.run.manifest import Manifest
from wirelab.trial.labels import Names


def _trial(name: str, order: int, p50: float, **link: object) -> Trial:
    at = replace(point(REST), link=name)
    rates: Json = {"forward": 26.8, "backward": None}
    found: Json = {
        "driver": "emulator",
        "congestion": {"client": "cubic", "server": "reno"},
        "nominal": {"rtt_ms": 2.5, "loss_percent": 0.0, "rate_kbit": rates},
        "measured": {"rtt_ms": {"p50": p50}, "rate_kbit": {"forward": 26.5, "backward": 9e5}},
        "lateness_us": {"p99": 40.0 * order},
        "cpu_window_s": 0.2,
    }
    return replace(trial(at, 0, order, World()), link=LinkRecord.of({**found, **link}))


def _source(*trials: Trial) -> Source:
    return Source(Path("run"), Manifest(format=1), trials)


def test_measured_link_figures_are_shown_below_the_requested_ones() -> None:
    (table,) = links.section(_source(_trial("wlan", 1, 2.6), _trial("wlan", 2, 2.71))).tables
    (row,) = table.rows
    shown = dict(zip(table.columns, row, strict=True))
    assert shown["link"] == "wlan"
    assert shown["congestion"] == "cubic / reno"
    assert shown["round trip, ms"] == "2.50\n2.60 – 2.71"
    assert shown["loss, %"] == "0"
    assert shown["forward, kbit/s"] == "26.8\n26.5"
    assert shown["late, µs"] == "40.0 – 80.0"
    assert shown["CPU, %"] == "10.0"
    assert shown["trials"] == "2"


def test_the_loss_of_syns_is_nominal_and_counted_over_all_trials() -> None:
    nominal = {"rtt_ms": 13.8, "syn_loss_percent": {"forward": 0.0, "backward": 2.9}}
    trials = [
        _trial("routed-wlan", number, 13.9, nominal=nominal, syns={"backward": syns})
        for number, syns in enumerate(({"offered": 60, "lost": 1}, {"offered": 1_044, "lost": 2}))
    ]
    assert _syn_loss(*trials) == "backward 3 of 1,104 (2.90 % nominal)"
    without = _trial("routed-wlan", 1, 13.9, nominal=nominal)
    assert _syn_loss(without) == "backward not counted (2.90 % nominal)"
    none = {"syn_loss_percent": {"forward": 0.0, "backward": 0.0}}
    assert _syn_loss(_trial("wlan", 1, 2.6, nominal=none)) == "0"
    assert _syn_loss(_trial("wlan", 1, 2.6)) == "—"


def test_the_terminal_shows_the_loss_of_syns() -> None:
    nominal = {"syn_loss_percent": {"forward": 1.0, "backward": 2.9}}
    syns = {"forward": {"offered": 60, "lost": 1}, "backward": {"offered": 59, "lost": 0}}
    table = terminal_table([_trial("bad", 1, 13.9, nominal=nominal, syns=syns)])
    printed = (
        "SYNs lost by link bad: forward 1 of 60 (1.00 % nominal), backward 0 of 59 (2.90 % "
        "nominal)."
    )
    assert printed in " ".join(" ".join(line.text for line in table).split())


def _syn_loss(*trials: Trial) -> str:
    (table,) = links.section(_source(*trials)).tables
    (row,) = table.rows
    return dict(zip(table.columns, row, strict=True))["SYN loss"]


def test_a_driver_that_is_not_verified_is_marked_in_the_table() -> None:
    (table,) = links.section(_source(_trial("own", 1, 2.5, driver="netem", verified=False))).tables
    (row,) = table.rows
    assert dict(zip(table.columns, row, strict=True))["driver"] == "netem (not verified)"


def test_bare_veth_has_no_emulator_and_loopback_no_row() -> None:
    lan = _trial("lan", 1, 0.04, driver="veth", lateness_us=None)
    (table,) = links.section(_source(lan, _trial("loopback", 2, 0.0))).tables
    (row,) = table.rows
    assert row[-3:] == ["—", "—", "1"]
    assert not links.section(_source(_trial("loopback", 1, 0.0))).tables


def test_loopback_is_named_only_next_to_other_links() -> None:
    loopback, wlan = point(REST), replace(point(REST), link="wlan")
    assert "loopback" not in Names.of([loopback]).setting(loopback)
    assert "link wlan" in Names.of([wlan]).everywhere
    both = Names.of([loopback, wlan])
    assert both.setting(loopback).endswith("link loopback")
    assert both.setting(wlan).endswith("link wlan")
