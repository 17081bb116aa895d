"""The golden vectors, played by any client (contracts/vectors/README.md)."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from tests.interop.hosting import Host, Hosted
from wirelab.stack.reference import Stack

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ROOT / "contracts"
VECTORS = CONTRACTS / "vectors"

Json = dict[str, Any]

SLOW = ("too much", "both errors")
"""Golden calls that take Python most of a minute to put together; `wirelab verify` makes them."""


class Refused(Exception):
    """The service answered with an application error; its text is the only argument."""


class Client(Protocol):
    """A client that somebody else wrote, in the JSON mapping of contracts/README.md."""

    def call(self, operation: str, request: Json) -> Json:
        """One call; the reply. Raises :class:`Refused`."""


Connect = Callable[[Hosted], AbstractContextManager[Client]]
"""Makes a client of a service."""


def operations(*names: str) -> list[Json]:
    """The golden calls of ``transfer`` with these operations, without :data:`SLOW`."""
    cases: list[Json] = json.loads((VECTORS / "operations.json").read_text(encoding="utf-8"))
    return [case for case in cases if case["operation"] in names and case["name"] not in SLOW]


def scripts(contract: str, language: str) -> list[Json]:
    """The golden sequences of ``charging`` or ``calendar``. Each of charging needs a fresh
    service, and a Java one starts for seconds: there the first and the one with most errors."""
    found: list[Json] = json.loads((VECTORS / "scripts.json").read_text(encoding="utf-8"))
    found = [script for script in found if script["contract"] == contract]
    if language != "java" or contract != "charging":
        return found
    return [found[0], max(found[1:], key=lambda s: sum("error" in step for step in s["steps"]))]


def pattern(length: int) -> bytes:
    """pattern(n) of contracts/README.md: SplitMix64, least significant byte first."""
    words = itertools.islice(_split_mix(), (length + 7) // 8)
    return b"".join(word.to_bytes(8, "little") for word in words)[:length]


def text(length: int) -> str:
    """text(n) of contracts/README.md."""
    if length == 14:
        return "Hello, wirelab"
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    words = itertools.islice(_split_mix(), (length + 9) // 10)
    return "".join(alphabet[word >> 6 * k & 63] for word in words for k in range(10))[:length]


def _split_mix() -> Iterator[int]:
    state, mask = 0, (1 << 64) - 1
    while True:
        state = state + 0x9E3779B97F4A7C15 & mask
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        yield z ^ z >> 31


def outcome(client: Client, operation: str, request: Json) -> Json:
    """``{"reply": …}`` or ``{"error": …}``, as the vectors have it."""
    try:
        return {"reply": client.call(operation, request)}
    except Refused as refused:
        return {"error": refused.args[0]}


def play_operation(client: Client, case: Json) -> None:
    """Makes one golden call of ``transfer`` and compares."""
    request = dict(case["request"])
    if "records_repeated" in case:
        request["records"] = request["records"] * case["records_repeated"]
    if "data_pattern_bytes" in case:
        request["data"] = base64.b64encode(pattern(case["data_pattern_bytes"])).decode()
    expected = {key: case[key] for key in ("reply", "error") if key in case}
    assert outcome(client, case["operation"], request) == expected, case["name"]


def play_script(client: Client, script: Json) -> None:
    """Makes the calls of a golden sequence and compares every reply. Names such as ``$cn1``
    stand for numbers that the service chooses, each only once."""
    known: dict[str, int] = {}
    for number, step in enumerate(script["steps"], 1):
        request = {name: known.get(value, value) for name, value in step["request"].items()}
        found = outcome(client, step["operation"], request)
        for name, value in step.get("reply", {}).items():
            if isinstance(value, str) and value.startswith("$") and value not in known:
                chosen = found["reply"][name]
                assert chosen > 0
                assert chosen not in [n for k, n in known.items() if k[:3] == value[:3]]
                known[value] = chosen
        expected = {key: step[key] for key in ("reply", "error") if key in step}
        if "reply" in expected:
            expected["reply"] = {n: _replace_known(known, v) for n, v in expected["reply"].items()}
        assert found == expected, f"{script['name']}, step {number}: {step['operation']}"


def play_scripts(host: Host, reference: str, contract: str, connect: Connect) -> None:
    """Plays them all; those that configure no store share a service, one after the other."""
    stores = itertools.groupby(scripts(contract, _language(reference)), lambda s: s["store"])
    for store, together in stores:
        apart = [[script] for script in together] if store else [list(together)]
        for group in apart:
            with host.start(reference, contract, store=store) as hosted, connect(hosted) as client:
                for script in group:
                    play_script(client, script)


def _language(reference: str) -> str:
    return Stack.parse(reference).axes.language


def _replace_known(known: dict[str, int], value: Any) -> Any:
    return known.get(value, value) if isinstance(value, str) else value
