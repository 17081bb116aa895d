"""Each check of a link or a capture marks what it is there for, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tests.python.synthetic_run import REST, World, point, trial
from wirelab.checks.link import dead
from wirelab.checks.load import check
from wirelab.documents.link_ready import Ready
from wirelab.experiment.link_profiles import OwnProfile
from wirelab.records.link import CaptureRecord, LinkRecord, PlacementRecord, Side
from wirelab.records.trial import Json, Trial

LINK: Json = {
    "name": "wlan",
    "driver": "emulator",
    "profile": {"name": "wlan", "both": {"delay_ms": 1.25, "rate_kbit": 1000.0}},
    "nominal": {
        "rtt_ms": 2.5,
        "loss_percent": 1.0,
        "rate_kbit": {"forward": 1000.0, "backward": None},
    },
    "measured": {
        "rtt_ms": {"p50": 2.6, "mean": 3.5, "p99": 4.0, "n": 50},
        "loss_percent": {"value": 1.1, "low": 0.6, "high": 1.9, "n": 1000},
        "rate_kbit": {"forward": 1010.0, "backward": 900_000.0},
    },
    "congestion": {"client": "cubic", "server": "cubic"},
    "tcp": {
        side: {"initial_window": 64, "receive_window": 96_000, "after_idle": "keep"}
        for side in ("client", "server")
    },
    "device_drops": {"forward": 0, "backward": 0},
    "lateness_us": {"p50": 20.0, "p99": 90.0, "max": 900.0, "n": 4000},
    "cpu_window_s": 0.2,
}
NAMES = {
    *("link round trip", "link loss", "link rate", "link drops", "congestion control"),
    *("initial window", "window after a pause"),
    *("emulator lateness", "emulator CPU", "capture"),
}


WHOLE: dict[Side, CaptureRecord] = {"client": CaptureRecord(packets=100)}


def _trial(
    link: Json = LINK,
    placement: PlacementRecord = PlacementRecord(),  # noqa: B008 (frozen)
    captures: dict[Side, CaptureRecord] = WHOLE,
) -> Trial:
    stack = f"{REST}&congestion=cubic&initial_window=64&after_idle=keep"
    at = replace(point(stack, 14), link="wlan")
    made = replace(trial(at, 0, 1, World()), checks=(), captures=captures)
    made = replace(made, link=LinkRecord.of(link))
    return replace(made, placement=placement) if placement.rule else made


def _outcomes(given: Trial) -> dict[str, str]:
    return {found.name: found.outcome for found in check(given) if found.name in NAMES}


def _change(path: str, value: object) -> Json:
    """The link with one value replaced, e.g. ``measured.rtt_ms.p50``."""
    head, _, rest = path.partition(".")
    return _replace_value(LINK, [head, *filter(None, rest.split("."))], value)


def _replace_value(part: Json, keys: list[str], value: object) -> Json:
    head, *rest = keys
    return {**part, head: _replace_value(part[head], rest, value) if rest else value}


def test_a_link_that_was_as_asked_for_is_ok() -> None:
    assert _outcomes(_trial()) == dict.fromkeys(NAMES, "ok")


def test_a_driver_whose_effect_was_never_measured_marks_the_trial() -> None:
    netem = {**LINK, "driver": "netem", "verified": False}
    (found,) = [each for each in check(_trial(netem)) if each.name == "link driver"]
    assert found.outcome == "marked"
    assert "netem (not verified)" in found.reason
    emulator = {**LINK, "verified": True}
    assert not [each for each in check(_trial(emulator)) if each.name == "link driver"]


def test_records_without_the_mark_are_judged_by_the_drivers_name() -> None:
    """Links did not report whether their driver is verified before they named one that is not."""
    assert LinkRecord(driver="netem").driver_text() == "netem (not verified)"
    assert LinkRecord(driver="emulator").driver_text() == "emulator"


def test_loopback_without_a_capture_has_none_of_these_checks() -> None:
    loopback = replace(point(REST, 14))
    assert _outcomes(replace(trial(loopback, 0, 1, World()), checks=())) == {}


@pytest.mark.parametrize(
    ("path", "value", "marked"),
    [
        ("measured.rtt_ms.p50", 2.91, "link round trip"),
        ("measured.rtt_ms.p50", 2.09, "link round trip"),
        ("measured.loss_percent.low", 1.05, "link loss"),
        ("measured.loss_percent.high", 0.9, "link loss"),
        ("measured.rate_kbit.forward", 880.0, "link rate"),
        ("congestion.server", "bbr", "congestion control"),
        ("tcp.server.initial_window", 10, "initial window"),
        ("tcp.client.receive_window", 64_000, "initial window"),
        ("tcp.client.after_idle", "restart", "window after a pause"),
        ("device_drops.backward", 1, "link drops"),
        ("lateness_us.p99", 401.0, "emulator lateness"),
        ("cpu_window_s", 0.7, "emulator CPU"),
    ],
)
def test_a_link_that_differs_from_its_order_marks_the_trial(
    path: str, value: object, marked: str
) -> None:
    # The emulator's core is the engine's; the synthetic window is 2 s long.
    placement = PlacementRecord("cores", service=(0,), engine=(1,), emulator=(1,))
    outcomes = _outcomes(_trial(_change(path, value), placement=placement))
    assert {name for name, outcome in outcomes.items() if outcome == "marked"} == {marked}


def _syn_loss(offered: int, lost: int, percent: float = 2.9) -> tuple[str, str]:
    link = _change("nominal.syn_loss_percent", {"forward": 0.0, "backward": percent})
    none = {"offered": 0, "lost": 0}
    link["syns"] = {"forward": none, "backward": {"offered": offered, "lost": lost}}
    (found,) = (found for found in check(_trial(link)) if found.name == "link SYN loss")
    return found.outcome, found.reason


def test_the_loss_of_syns_is_judged_by_those_of_the_trial() -> None:
    """0 of 258 SYNs would be within the interval of 2.9 %, 0 of 259 are not."""
    outcome, reason = _syn_loss(1000, 31)
    assert outcome == "ok"
    assert "backward 31 of 1,000 SYNs lost in the trial (interval 1.6 to 5.33 %)" in reason
    assert _syn_loss(1000, 55)[0] == "marked"
    assert _syn_loss(1000, 10)[0] == "marked"
    assert _syn_loss(259, 0)[0] == "marked"


def test_few_syns_tell_nothing_unless_too_many_are_lost() -> None:
    outcome, reason = _syn_loss(2, 0)
    assert (outcome, "0 of 2 SYNs" in reason) == ("not-measurable", True)
    assert _syn_loss(0, 0)[0] == "not-measurable"
    assert _syn_loss(258, 0)[0] == "not-measurable"
    assert _syn_loss(10, 6)[0] == "marked"
    assert _syn_loss(1, 1, 100.0)[0] == "ok"


def test_a_link_that_did_not_count_syns_is_reported() -> None:
    link = _change("nominal.syn_loss_percent", {"forward": 0.0, "backward": 2.9})
    (found,) = (found for found in check(_trial(link)) if found.name == "link SYN loss")
    assert found.outcome == "not-measurable"
    assert "did not count SYNs" in found.reason


def test_a_slow_link_may_be_off_and_late_by_a_share_of_its_round_trip() -> None:
    slow = _change("nominal.rtt_ms", 850.0)
    slow = {**slow, "measured": {"rtt_ms": {"p50": 930.0}}, "lateness_us": {"p99": 42_000.0}}
    outcomes = _outcomes(_trial(slow))
    assert outcomes["link round trip"] == "ok"
    assert outcomes["emulator lateness"] == "ok"


def test_a_delay_that_varies_is_judged_by_its_mean() -> None:
    assert _outcomes(_trial(_change("profile.both.jitter_ms", 0.5)))["link round trip"] == "marked"


def test_an_emulator_on_a_core_of_its_own_may_use_all_of_it() -> None:
    busy = _change("cpu_window_s", 1.9)
    apart = PlacementRecord("cores", service=(0,), engine=(1,), emulator=(2,))
    assert _outcomes(_trial(busy, placement=apart))["emulator CPU"] == "ok"
    loose = PlacementRecord("cores", service=(0,), engine=(1,), emulator="unpinned")
    assert _outcomes(_trial(busy, placement=loose))["emulator CPU"] == "marked"


def test_a_capture_that_dropped_marks_the_trial() -> None:
    captures: dict[Side, CaptureRecord] = {
        "client": CaptureRecord(packets=100),
        "server": CaptureRecord(packets=90, drops=3),
    }
    found = next(c for c in check(_trial(captures=captures)) if c.name == "capture")
    assert found.outcome == "marked"
    assert "90 packets at the server's end and 3 dropped" in found.reason


def test_link_figures_without_a_measurement_are_not_measurable() -> None:
    bare = {"name": "wlan", "driver": "emulator", "congestion": LINK["congestion"]}
    outcomes = _outcomes(_trial(bare))
    assert outcomes["link round trip"] == "not-measurable"
    assert outcomes["emulator lateness"] == "not-measurable"
    assert outcomes["emulator CPU"] == "not-measurable"


def test_bare_veth_has_no_emulator_to_judge() -> None:
    outcomes = _outcomes(_trial(_change("driver", "veth")))
    assert not {"emulator lateness", "emulator CPU"} & set(outcomes)


def _ready(nominal: float, pings: int, probes: int) -> Ready:
    """The ready line of a link that lost all of its echoes."""
    share = {"value": 100.0, "low": 0.0, "high": 100.0, "n": probes}
    loss = {**share, "forward": share, "backward": share} if probes else None
    none = dict.fromkeys(("min", "mean", "p50", "p90", "p99", "max"), 0.0)
    end = {"interface": "wl", "address": "10.0.0.1", "namespace": "wl-1-c"}
    tcp = {"initial_window": 10, "receive_window": 65536, "after_idle": "restart"}
    both = {"forward": 0.0, "backward": 0.0}
    line = {
        "ready": True,
        "pid": 1,
        "name": "wlan",
        "profile": {"name": "wlan"},
        "seed": 1,
        "driver": "emulator",
        "verified": True,
        "removed_namespaces": [],
        "mtu": 1500,
        "offloads": "off",
        "client": end,
        "server": end,
        "tcp": {"client": tcp, "server": tcp},
        "congestion": {"client": "cubic", "server": "cubic"},
        "nominal": {
            "loss_percent": nominal,
            "rtt_ms": 2.5,
            "syn_loss_percent": both,
            "rate_kbit": {"forward": None, "backward": None},
        },
        "measured": {
            "base_rtt_ms": 0.1,
            "rtt_ms": {"n": 0, "lost": pings, **none},
            "loss_percent": loss,
        },
    }
    return msgspec.convert(line, Ready)


@pytest.mark.parametrize(
    ("direction", "key"),
    [
        ({"loss": {"kind": "random", "percent": 100}}, "both.loss.percent: 100"),
        ({"corrupt_percent": 100}, "both.corrupt_percent: 100"),
        (
            {"loss": {"kind": "gilbert-elliott", "p_percent": 1, "r_percent": 0}},
            "both.loss, 100 % in the long run",
        ),
    ],
)
def test_a_link_that_loses_everything_is_dead_by_its_profiles_key(
    direction: Json, key: str
) -> None:
    profile = OwnProfile.model_validate({"name": "gone", "both": direction})
    assert dead(profile, _ready(100.0, 10, 1000)) == (
        "no packet passes link gone: all 1,010 echoes before the trial were lost, a "
        f"measured loss of 100 %; its profile has {key}"
    )


def test_a_link_that_ought_to_live_is_dead_when_nothing_comes_back() -> None:
    shown = dead("wlan", _ready(0.0, 50, 0))
    assert shown.startswith("no packet passes link wlan: all 50 echoes")
    assert shown.endswith("a measured loss of 100 %; 0 % is nominal")


def test_bad_luck_is_not_death() -> None:
    """Ten echoes over a link that loses three quarters of them are all lost in 6 % of cases;
    a thousand never are."""
    assert dead("wlan", _ready(75.0, 10, 0)) == ""
    assert dead("wlan", _ready(75.0, 10, 1000))
    assert dead("wlan", _ready(0.0, 0, 0)) == ""
