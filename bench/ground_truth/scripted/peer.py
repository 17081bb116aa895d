"""One side of scripted conversations, as a process: ``python -m bench.ground_truth.scripted.peer``.

Takes one JSON object on standard input, and prints JSON lines: a server its port first, then
both sides what they waited for, by the client's port.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench.ground_truth.scripted import lookups, proxied, scenarios
from bench.ground_truth.scripted.scenarios import Scenario, Side
from bench.ground_truth.scripted.script import Script

CONNECT_S_MAX = 10.0
SMALL_BUFFER = 4_096

Json = dict[str, Any]
_printing = threading.Lock()


def main() -> None:
    """Plays one side."""
    config = json.loads(sys.stdin.readline())
    scenario = scenarios.BY_NAME[config["scenario"]]
    if "certificate" in config:
        _serve(scenario, config)
    else:
        _call(scenario, config)


def say(line: Json) -> None:
    """One line, whole."""
    with _printing:
        print(json.dumps(line), flush=True)


def _serve(scenario: Scenario, config: Json) -> None:
    """Until standard input ends."""
    with socket.create_server((config["address"], 0), backlog=64) as listener:
        port = listener.getsockname()[1]
        if not scenario.refused:
            accepting = threading.Thread(
                target=_accept, args=(listener, scenario, config), daemon=True
            )
            accepting.start()
        else:
            listener.close()
        if scenario.looked_up:
            lookups.Resolver(config["address"], config["seed"])
        say({"port": port})
        sys.stdin.read()


def _accept(listener: socket.socket, scenario: Scenario, config: Json) -> None:
    while True:
        connection, (_, port, *_) = listener.accept()
        answer = (connection, port, scenario, config)
        threading.Thread(target=_answer, args=answer, daemon=True).start()


def _answer(connection: socket.socket, port: int, scenario: Scenario, config: Json) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if config["proxied"]:
        port = proxied.client_port(connection)
    script = Script(random.Random(f"{config['seed']} server {port}"))
    with connection, contextlib.suppress(OSError):
        if scenario.handshake is not None:
            script.pause("slow-tls", scenario.handshake)
        with scenarios.wrap_tls(connection, scenario, config["certificate"]) as stream:
            _play(scenario.server, stream, script, is_captured=not config["proxied"])
    say({"client": port, "waits": script.waits})


def _call(scenario: Scenario, config: Json) -> None:
    with ThreadPoolExecutor(scenario.parallel) as pool:
        numbers = range(config["count"])
        list(pool.map(lambda number: _conversation(scenario, config, number), numbers))


def _conversation(scenario: Scenario, config: Json, number: int) -> None:
    script = Script(random.Random(f"{config['seed']} client {number}"))
    time.sleep(script.random.uniform(0.0, 0.02))
    connection = socket.socket()
    if "zero-window" in scenario.causes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    connection.settimeout(CONNECT_S_MAX)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.bind((config["own"], 0))
    port = connection.getsockname()[1]
    with connection, contextlib.suppress(OSError):
        if scenario.looked_up:
            lookups.look_up(config["address"], config["own"], script)
        try:
            connection.connect((config["address"], config["port"]))
        except ConnectionRefusedError:
            script.note("connection-refused")
        else:
            with scenarios.wrap_tls(connection, scenario, None) as stream:
                _play(scenario.client, stream, script)
    say({"client": port, "waits": script.waits})


def _play(side: Side, stream: socket.socket, script: Script, *, is_captured: bool = True) -> None:
    try:
        side(stream, script)
    finally:
        if is_captured:
            script.note_repetitions(stream)


if __name__ == "__main__":
    main()
