"""Proxies without a process: the text of their configuration, rules, what is missing, and what
is kept of the packets on both of their sides."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from wirelab.documents.hops import Held, HeldPlace, Hops, HopSide, HopTime
from wirelab.errors import LabError, StackError, ToolMissing
from wirelab.experiment.placement import choose
from wirelab.identity.point import identity_stack
from wirelab.process.proxies import ADAPTERS, NONE
from wirelab.process.proxies.hop import Hop, Installation
from wirelab.records.link import CaptureRecord
from wirelab.records.load import LoadRecord
from wirelab.records.proxy import ProxyRecord
from wirelab.records.trial import PROXIED, Point
from wirelab.records.wire import FindingTest, PacketFinding, WireRecord
from wirelab.stack import manifests
from wirelab.stack.axes import BY_NAME
from wirelab.stack.reference import Stack
from wirelab.trial import hops

HOP = Hop("http/1.1", "http/1.1").set_addresses("127.0.0.1:8001", "127.0.0.1:8002")
FOLDER = Path("/tmp/wirelab-proxy")


def _text(via: str, hop: Hop = HOP) -> str:
    return ADAPTERS[via].configuration(hop, FOLDER)


def test_every_value_of_the_axis_has_an_adapter() -> None:
    assert set(BY_NAME["via"].names) == {NONE, *ADAPTERS}


# -- configuration ---------------------------------------------------------


def test_nginx_has_a_directive_for_every_switch() -> None:
    text = _text("nginx")
    assert "listen 127.0.0.1:8001 backlog" in text
    assert "server 127.0.0.1:8002;" in text
    assert "proxy_pass http://service;" in text
    assert "proxy_http_version 1.1;" in text
    assert "proxy_buffering on;" in text
    assert 'proxy_set_header Connection "";' in text
    assert "keepalive 1024;" in text
    off = _text("nginx", replace(HOP, buffering=False, keepalive=False, back="http/1.0"))
    assert "proxy_buffering off;" in off
    assert 'proxy_set_header Connection "close";' in off
    assert "proxy_http_version 1.0;" in off
    assert "keepalive 1024;" not in off


def test_nginx_forwards_grpc_by_grpc_pass() -> None:
    text = _text("nginx", replace(HOP, front="http/2", back="http/2", is_grpc=True))
    assert "listen 127.0.0.1:8001 http2 backlog" in text
    assert "grpc_pass grpc://service;" in text
    assert "proxy_pass" not in text
    assert "proxy_buffering" not in text


def test_nginx_forwards_upgrades_of_websocket() -> None:
    text = _text("nginx", replace(HOP, is_websocket=True))
    assert "proxy_set_header Upgrade $http_upgrade;" in text
    assert 'proxy_set_header Connection "upgrade";' in text
    assert "proxy_buffering" not in text


def test_nginx_writes_only_into_its_own_folder() -> None:
    for line in _text("nginx").splitlines():
        words = line.strip().rstrip(";").split()
        if words and (words[0].endswith("_temp_path") or words[0] == "pid"):
            assert words[1].startswith(f"{FOLDER}/")
    assert "/var" not in _text("nginx")
    assert "daemon off;" in _text("nginx")


def test_a_failed_call_is_made_once() -> None:
    assert "proxy_next_upstream off;" in _text("nginx")
    assert "retries 0" in _text("haproxy")


def test_haproxy_has_a_line_for_every_switch() -> None:
    text = _text("haproxy", replace(HOP, front="http/2", back="http/2", workers=2))
    assert "bind 127.0.0.1:8001 proto h2" in text
    assert "server service 127.0.0.1:8002 proto h2\n" in text
    assert "nbthread 2" in text
    assert "http-reuse always" in text
    off = _text("haproxy", replace(HOP, keepalive=False))
    assert "http-reuse never" in off
    assert "pool-max-conn 0" in off
    assert "option http-server-close" in off
    assert " proto h2" not in off


def test_caddy_has_a_line_for_every_switch() -> None:
    text = _text("caddy", replace(HOP, front="http/2", back="http/2"))
    assert "bind 127.0.0.1\n" in text
    assert "http://:8001 {" in text
    assert "reverse_proxy 127.0.0.1:8002 {" in text
    assert "protocols h1 h2c" in text
    assert "versions h2c 2" in text
    assert "flush_interval" not in text
    off = _text("caddy", replace(HOP, buffering=False, keepalive=False))
    assert "flush_interval -1" in off
    assert "keepalive off" in off
    assert "versions 1.1" in off
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("via", ADAPTERS)
def test_the_program_accepts_its_configuration(via: str, tmp_path: Path) -> None:
    """As the program's own check has it, for every combination of switches."""
    adapter = ADAPTERS[via]
    try:
        installation = Installation.find(adapter)
    except ToolMissing as missing:
        pytest.skip(f"{missing}")
    file = tmp_path / adapter.file
    check = {
        "nginx": ["-t", "-e", "stderr", "-p", str(tmp_path), "-c", str(file)],
        "haproxy": ["-c", "-f", str(file)],
        "caddy": ["validate", "--adapter", "caddyfile", "--config", str(file)],
    }[via]
    for reference in (
        f"rest@rust?via={via}",
        f"rest@rust?via={via}&via_keepalive=off",
        f"rest@rust?transport=http/2&via={via}&via_upstream=http/1.1",
        f"grpc@rust?via={via}",
        f"websocket@rust?via={via}",
    ):
        hop = Hop.of(Stack.parse(reference).axes).set_addresses("127.0.0.1:8001", "127.0.0.1:8002")
        file.write_text(adapter.configuration(hop, tmp_path))
        done = subprocess.run(
            [str(installation.program), *check], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{reference}\n{done.stderr}\n{file.read_text()}"
        assert "[warn" not in done.stderr.lower(), done.stderr


# -- rules -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "reason", "nearest"),
    [
        (
            "rest@rust?via=nginx&transport=http/2",
            "nginx speaks HTTP/2 to an upstream with gRPC only",
            "transport=http/2&via=nginx&via_upstream=http/1.1",
        ),
        (
            "rest@rust?via=haproxy&via_buffering=off",
            "haproxy has no switch for the buffering of replies",
            "rest@rust?via=haproxy",
        ),
        ("grpc@rust?via=nginx&via_buffering=off", "grpc_pass", "grpc@rust?via=nginx"),
        ("grpc@rust?via=nginx&via_upstream=http/1.1", "HTTP/2 only", "grpc@rust?via=nginx"),
        ("rest@rust?via_keepalive=off", "name one, as in via=nginx", "rest@rust"),
        ("iiop@rust?via=nginx", "proxies of HTTP", "iiop@rust"),
        ("rest@rust?via=nginx&security=tls", "no certificates", "rest@rust?via=nginx"),
        ("rest@rust?via=nginx&socket=unix", "two addresses", "rest@rust?via=nginx"),
        (
            "rest@rust?via=nginx&via_upstream=http/1.0",
            "HTTP/1.0 ends every connection",
            "via_upstream=http/1.0&via_keepalive=off",
        ),
    ],
)
def test_features_that_a_proxy_lacks_are_refused_by_name(
    reference: str, reason: str, nearest: str
) -> None:
    with pytest.raises(StackError) as refused:
        Stack.parse(reference)
    assert reason in refused.value.message
    assert nearest in (refused.value.remedy or "")


def test_the_service_is_configured_for_the_proxys_version_of_http() -> None:
    stack = Stack.parse("rest@rust?transport=http/2&via=nginx&via_upstream=http/1.1")
    assert stack.service_stack()["transport"] == "http/1.1"
    assert stack.engine_stack()["transport"] == "http/2"
    assert Stack.parse("grpc@rust?via=nginx").service_stack()["transport"] == "http/2"


def test_a_service_must_speak_the_proxys_version_of_http() -> None:
    catalogue = manifests.load()
    manifest = catalogue.by_language["rust"]
    (rest, *_) = (one for one in manifest.serves if one.binding == "rest")
    only = msgspec.structs.replace(rest, transports=("http/1.1",))
    limited = msgspec.structs.replace(manifest, serves=(only,))
    stack = Stack.parse("rest@rust?via=haproxy&via_upstream=http/2")
    refusal = limited.refusal(stack, "transfer")
    assert refusal is not None
    assert refusal[1] == {"via_upstream": "http/1.1"}
    assert limited.refusal(stack.with_axes(refusal[1]), "transfer") is None


def test_a_service_is_examined_through_its_proxy() -> None:
    stack = Stack.parse("rest@rust?via=nginx&connection=close&server.nagle=on")
    assert identity_stack(stack) == Stack.parse("rest@rust?via=nginx")


def test_a_proxy_is_a_semantic_class_of_its_own() -> None:
    def semantic(reference: str) -> str:
        axes = Stack.parse(reference).axes
        load = LoadRecord(kind="closed", users=1)
        return Point(reference, axes, "Hello", 14, load).semantic_class

    assert semantic("rest@rust?via=nginx") == PROXIED == "through a proxy"
    assert semantic("rest@rust") == "two-way"


def test_the_proxy_has_a_core_of_its_own_where_one_is_to_spare() -> None:
    assert choose("pinned", (0, 1)).proxy == (0,)
    assert choose("pinned", (0, 1, 2)).proxy == (2,)
    assert choose("pinned", (0, 1, 2, 3, 4)).proxy == (4,)
    assert choose("unpinned", (0, 1)).proxy == ()


# -- what is missing -------------------------------------------------------


@pytest.mark.parametrize(
    ("via", "package"), [("nginx", "nginx-light"), ("haproxy", "haproxy"), ("caddy", "caddy")]
)
def test_a_missing_proxy_is_named_with_its_package(via: str, package: str) -> None:
    with pytest.raises(ToolMissing) as missing:
        Installation.find(ADAPTERS[via], "/nowhere")
    assert via in missing.value.message
    assert f"apt install {package}" in (missing.value.remedy or "")


def test_another_program_of_that_name_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    with pytest.raises(LabError, match="printed 'hello', no version"):
        Installation.find(ADAPTERS["nginx"], str(tmp_path))


# -- both sides ------------------------------------------------------------

SIDE = HopSide(connections=4, exchanges=100, connections_per_call=0.04)
TIME = HopTime(mean_us=120.0, p50_us=100.0, p99_us=300.0)
HELD = Held(
    occurrences=80,
    ms_total=3200.0,
    ms_median=40.0,
    where=(HeldPlace(front_packet=7, back_packet=9, ms=41.0),),
)
NOTHING_HELD = Held(occurrences=0, ms_total=0.0, ms_median=None, where=())
SEEN = Hops(
    hops=1,
    front=SIDE,
    back=SIDE,
    matched=100,
    added=TIME,
    request=TIME,
    reply=TIME,
    first_byte=TIME,
    held=HELD,
    held_parts=NOTHING_HELD,
)
NGINX = Stack.parse("rest@rust?via=nginx")


def test_a_held_reply_is_a_finding_with_its_switch() -> None:
    found = hops.finding(SEEN, NGINX)
    assert found is not None
    assert found.cause == "held-by-proxy"
    assert (found.occurrences, found.ms_median) == (80, 40.0)
    assert found.test is not None
    assert (found.test.axis, found.test.value) == ("via_buffering", "off")
    assert "nginx had the first byte" in found.words
    assert found.where[0].packets == (7,)


def test_without_the_switch_there_is_no_test() -> None:
    for reference in (
        "rest@rust?via=nginx&via_buffering=off",
        "rest@rust?via=haproxy",
        "grpc@rust?via=nginx",
    ):
        found = hops.finding(SEEN, Stack.parse(reference))
        assert found is not None
        assert found.test is None


def test_a_proxy_that_held_nothing_is_not_reported() -> None:
    assert hops.finding(msgspec.structs.replace(SEEN, held=NOTHING_HELD), NGINX) is None


def test_a_held_part_of_a_stream_is_a_finding_that_names_the_buffer() -> None:
    held = msgspec.structs.replace(HELD, ms_total=9000.0, ms_median=112.5)
    found = hops.finding(msgspec.structs.replace(SEEN, held_parts=held), NGINX)
    assert found is not None
    assert found.cause == "held-by-proxy"
    assert found.ms_total == 9000.0
    assert "nginx held parts of streams of events in its buffer" in found.words
    assert "80 times, for 112.5 ms in the median" in found.words
    assert found.test is not None
    assert (found.test.axis, found.test.value) == ("via_buffering", "off")
    assert "an event of a stream comes sooner" in found.test.predict


def test_captures_at_one_side_are_not_compared(tmp_path: Path) -> None:
    own = CaptureRecord(file="a.pcapng")
    assert isinstance(hops.sides({"client": own}, tmp_path, "loopback"), str)
    assert isinstance(hops.sides({"client": own, "upstream": own}, tmp_path, "lan"), str)
    both = hops.sides({"client": own, "upstream": own}, tmp_path, "loopback")
    assert both == hops.BothSides(tmp_path / "a.pcapng", tmp_path / "a.pcapng")


def test_switches_of_the_service_test_nothing_in_front_of_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of those packets is the proxy."""
    monkeypatch.setattr(hops.BothSides, "compare", lambda _: SEEN)
    nagle = PacketFinding("nagle-delayed-ack", test=FindingTest("server.nagle", "off"))
    closed = PacketFinding("connection-per-call", test=FindingTest("connection", "keep"))
    proxy, wire = hops.compare_sides(
        hops.BothSides(tmp_path / "front", tmp_path / "back"),
        ProxyRecord("nginx"),
        WireRecord(findings=(nagle, closed)),
        NGINX,
    )
    assert [found.cause for found in wire.findings] == [
        *("nagle-delayed-ack", "connection-per-call", "held-by-proxy")
    ]
    assert wire.findings[0].test is None
    assert wire.findings[1].test == closed.test
    assert proxy.hops is not None
    assert proxy.hops.added is not None
    assert (proxy.hops.added.mean_us, proxy.hops.added.p50_us) == (120.0, 100.0)
    assert proxy.hops.per_call_back == 0.04
    assert (tmp_path / "hops.json").is_file()
