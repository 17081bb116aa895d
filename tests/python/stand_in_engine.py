#!/usr/bin/env python3
"""A scripted engine and service, for tests of how the lab handles processes.

``WIRELAB_STAND_IN`` names what goes wrong: a comma-separated list of the words below.
It measures nothing: its figures only have the right shape.
"""

from __future__ import annotations

import http.server
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

WORDS = set(filter(None, os.environ.get("WIRELAB_STAND_IN", "").split(",")))
SECONDS = float(os.environ.get("WIRELAB_STAND_IN_SECONDS", "0.1"))
stopped = threading.Event()


def say(**event: Any) -> None:
    """One line of standard output."""
    print(json.dumps(event), flush=True)


def times(count: int) -> dict[str, Any]:
    """A distribution without a histogram."""
    some = {"count": count, "mean_ns": 1e5, "min_ns": 9, "max_ns": 10**6, "hdr": ""}
    return {**some, "percentiles_ns": {"p50": 10**5, "p99": 10**6}}


def drive() -> int:
    """``wirelab-engine drive``."""
    plan = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    if "refuse-plan" in WORDS:
        say(event="error", kind="plan", message="groups[0].load: no", remedy="say yes")
        return 2
    if "engine-limit" in WORDS:
        say(event="error", kind="limit", message="too many open files", remedy="fewer users")
        return 3
    if "engine-garbage" in WORDS:
        print("what is a plan?", flush=True)
    if "engine-dies" in WORDS:
        print("the engine had enough", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if "engine-hangs" in WORDS:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(600)
    start = time.monotonic_ns()
    while time.monotonic_ns() - start < SECONDS * 1e9 and not stopped.is_set():
        elapsed_s = (time.monotonic_ns() - start) / 1e9
        say(event="progress", phase="measure", elapsed_s=elapsed_s, calls=1, errors=0, in_flight=1)
        stopped.wait(0.02)
    window = (time.monotonic_ns() - start) / 1e9
    group = {
        "name": plan["groups"][0]["name"],
        "load": "closed",
        "window_s": window,
        "window_start_ns": start,
        "calls": 100,
        "ok": 100,
        "errors": 0,
        "errors_by_kind": {},
        "error_examples": [],
        "rate_per_s": 100 / window,
        "rate_planned_per_s": None,
        "concurrency": 1.0,
        "queue_max": 0,
        "connections_opened": 1,
        "connections_peak": 1,
        "bytes_sent": 1,
        "bytes_received": 1,
        "messages": 0,
        "calls_whole_run": 100,
        "warmup": {"seconds": 0.0, "calls": 0, "stationary": True},
        "times": {name: times(100) for name in ("response", "service", "lag", "backlog")},
        "series": [10] * 10,
        "cpu_s": 0.01,
    }
    process = {"cpu_user_s": 0.01, "cpu_system_s": 0.01, "rss_max_bytes": 10**6, "cores": []}
    process |= {"spin_s": 0.0}
    process |= {"switches_involuntary": 0, "steal_s": 0.0}
    if "engine-paused" in WORDS:
        process |= {"pauses": {"count": 1, "total_s": 0.3, "longest_s": 0.3, "longest_at_s": 0.01}}
    shape = {"engine": "0", "profile": "stand-in", "interrupted": stopped.is_set()}
    say(event="result", **shape, process=process, groups=[group])
    return 0


METRICS = b"""\
wirelab_calls_total{operation="Hello"} 100
wirelab_errors_total{operation="Hello"} 0
wirelab_call_seconds_total 1.5
wirelab_calls_in_flight 2
wirelab_store_connections{state="in_use"} 3
process_cpu_seconds_total 1.25
process_resident_memory_bytes 90000000
jvm_memory_committed_bytes{area="heap",id="Eden"} 40000000
jvm_memory_committed_bytes{area="heap",id="Old"} 20000000
jvm_memory_committed_bytes{area="nonheap",id="Metaspace"} 7000000
jvm_memory_used_bytes{area="heap",id="Eden"} 30000000
jvm_gc_pause_seconds_sum{action="end of minor GC"} 0.5
jvm_gc_pause_seconds_count{action="end of minor GC"} 4
jvm_threads_live_threads 17
tokio_tasks_alive 5
"""
"""Of a service with a JVM; nothing changes."""


class Metrics(http.server.BaseHTTPRequestHandler):
    """``GET /metrics``."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(METRICS)))
        self.end_headers()
        self.wfile.write(METRICS)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


LIBRARIES = [
    {"role": "server", "name": "http.server", "version": platform.python_version()},
    {"role": "codec", "name": "json", "version": platform.python_version()},
]
"""On the request path of the stand-in for a service."""


def serve() -> int:
    """``wirelab-rust-service``."""
    config = json.loads(sys.stdin.readline())
    if "service-fails" in WORDS:
        print("no use", file=sys.stderr, flush=True)
        return 70
    if "service-refuses" in WORDS:
        say(refused={"option": "listen", "message": "port is taken", "remedy": "use port 0"})
        return 2
    if "service-garbage" in WORDS:
        print("hello?", flush=True)
    if "service-silent" in WORDS:
        time.sleep(600)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    metrics = f"127.0.0.1:{server.server_port}"
    address = config["listen"].replace(":0", ":1")
    ready = {"address": address, "metrics": metrics, "pid": os.getpid()}
    say(ready=True, **ready, language="rust", runtime="", libraries=LIBRARIES, set={})
    if "service-dies" in WORDS:
        time.sleep(SECONDS / 2)
        os._exit(70)
    if "service-clings" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    sys.stdin.read()
    return 0


def verify() -> int:
    """``wirelab-engine verify``: the service is as it should be, unless the words say other."""
    json.loads(sys.stdin.readline())
    if "service-wrong" in WORDS:
        finding = {"name": "the text", "call": "Hello", "expected": "this", "found": "that"}
        exam = {"section": "operations", "calls": 1, "findings": [finding], "left_out": []}
    else:
        exam = {"section": "operations", "calls": 1, "findings": [], "left_out": []}
    say(event="verified", exams=[exam])
    return 0


def link() -> int:
    """``wirelab-engine link``: two namespaces with nothing between them."""
    config = json.loads(sys.stdin.readline())
    if "link-refuses" in WORDS:
        say(refused={"option": "profile", "message": "not permitted", "remedy": "run as root"})
        return 2
    # The end of its input is enough: the signal could come in the middle of cleaning up.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ends = {"client": f"wl-{os.getpid()}-c", "server": f"wl-{os.getpid()}-s"}
    for name in ends.values():
        subprocess.run(["ip", "netns", "add", name], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
    said = {
        side: {"namespace": name, "interface": "lo", "address": f"198.18.0.{number}"}
        for number, (side, name) in enumerate(ends.items(), 1)
    }
    profile = config["profile"]
    rtt: dict[str, Any] = {"min": 2.5, "p50": 2.6, "p90": 2.8, "p99": 2.9, "max": 3.0, "mean": 2.6}
    rtt |= {"n": 50, "lost": 0}
    loss: dict[str, Any] | None = None
    if "link-dead" in WORDS:
        rtt = {**dict.fromkeys(rtt, 0.0), "n": 0, "lost": 50}
        share = {"value": 100.0, "low": 99.0, "high": 100.0, "n": 1000}
        loss = {**share, "forward": share, "backward": share}
    end = {
        "initial_window": config.get("initcwnd") or 10,
        "receive_window": 1_500_000,
        "after_idle": config.get("after_idle", "restart"),
    }
    congestion = config.get("congestion", "cubic")
    name = profile if isinstance(profile, str) else profile["name"]
    say(
        ready=True,
        pid=os.getpid(),
        name=name,
        profile={"name": name},
        seed=1,
        driver="emulator",
        verified=True,
        removed_namespaces=[],
        mtu=1500,
        offloads="off",
        nominal={
            "rtt_ms": 2.5,
            "loss_percent": 0.0,
            "syn_loss_percent": {"forward": 0.0, "backward": 0.0},
            "rate_kbit": {"forward": None, "backward": None},
        },
        measured={"base_rtt_ms": 0.1, "rtt_ms": rtt, "loss_percent": loss},
        congestion={"client": congestion, "server": congestion},
        tcp={"client": end, "server": end},
        **said,
    )
    if "link-dies" in WORDS and config["measure"].get("pings", 50) > 1:
        time.sleep(SECONDS / 2)
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
    for name in ends.values():
        subprocess.run(["ip", "netns", "delete", name], check=True)
    none = {"forward": 0, "backward": 0}
    say(
        link={
            "packets": none,
            "bytes": none,
            "device_drops": none,
            "dropped": [],
            "seconds": 1.0,
            "cpu_s": 0.1,
            "syns": None,
            "lateness_us": {"p50": 9.0, "p99": 20.0, "max": 30.0, "n": 9},
        }
    )
    return 0


def capture() -> int:
    """``wirelab-engine capture``: a file with nothing in it."""
    config = json.loads(sys.stdin.readline())
    Path(config["file"]).touch()
    say(ready=True, pid=os.getpid(), interface=config["interface"], link_type="ethernet")
    if "capture-dies" in WORDS and "try-out" not in config["file"]:
        time.sleep(SECONDS / 2)
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
    drops = 7 if "capture-drops" in WORDS else 0
    say(captured={"packets": 100, "bytes": 9_000, "drops": drops, "freezes": 0, "cpu_s": 0.0})
    return 0


def dissect() -> int:
    """``wirelab-engine dissect``: of a file in which nothing is."""
    say(**NOTHING, file=sys.argv[2])
    return 0


def _none(words: str) -> dict[str, Any]:
    return dict.fromkeys(words.split(), 0)


CLASS = _none(
    "bytes ip_bytes ip_header_bytes link_header_bytes packets payload_bytes tcp_header_bytes"
)
DIRECTION = {
    **dict.fromkeys(
        ["ack", "all", "data", "fin", "pure_tcp", "retransmitted", "rst", "syn"], CLASS
    ),
    "payload": {
        **_none("encrypted_bytes message_bytes overhead_bytes retransmitted_bytes"),
        **_none("unknown_bytes unread_bytes"),
        "overhead": {},
    },
    "units": {},
}
NOTHING: dict[str, Any] = {
    "dissection": 1,
    "capture": {
        **_none("bytes other_packets packets seconds tcp_packets truncated"),
        "link_types": [],
    },
    "flows": {
        **_none("closed count opened reused"),
        "list": [],
        "one_sided": _none("requests replies"),
    },
    "accounting": {"request": DIRECTION, "reply": DIRECTION, "total": DIRECTION},
    "exchanges": {
        "count": 0,
        "by_name": [],
        "endings": {},
        "unpaired": _none("requests replies"),
        "writes": _none("requests_joined requests_split replies_joined replies_split"),
        "connections": _none("closed_by_server exchanges_max in_flight_max unused used used_once"),
    },
    "load": _none("connections_open_max requests seconds"),
    "findings": [],
    "timeline": [],
    "interarrival": [],
    "interarrival_of": _none("exchanges not_followed of shapes"),
}
"""The dissection of a file in which nothing is."""


VERBS = {
    "drive": drive,
    "service": serve,
    "verify": verify,
    "link": link,
    "capture": capture,
    "dissect": dissect,
}

if __name__ == "__main__":
    sys.exit(VERBS[sys.argv[1]]())
