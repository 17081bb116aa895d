"""What is captured: for every cause the stacks, messages and places that bring it about.

Sizes, delays and users vary from capture to capture, by a seed that the capture's name
gives: the corpus is the same every time it is made, as far as machines are.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.ground_truth.captures.places import FAR, GPRS, JITTER, LAN, LOOPBACK, ROUTED, WLAN
from bench.ground_truth.labels import occurrence as causes

CLEAN = "clean"
"""Of captures in which nothing is wrong."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Stops:
    """The client's process is stopped and goes on: it does not read meanwhile."""

    first_ms: int
    every_ms: int
    for_ms: int


@dataclass(frozen=True)
class Recipe:
    """One capture."""

    aim: str
    """The cause that it is to bring about, or CLEAN."""
    index: int
    place: str
    stack: str
    operation: str = "Hello"
    bytes: int = 14
    users: int = 1
    calls: int = 8
    """Of all users together."""
    think_s: float = 0.0
    faults: Json = field(default_factory=dict)
    server_window: int | None = None
    """SO_RCVBUF of the service's sockets, bytes."""
    accept_after_ms: int | None = None
    """A scripted server instead of the service: its accept queue is full for so long."""
    stops: Stops | None = None
    drops: tuple[Json, ...] = ()
    """Of the link's script (docs/reference/process.md, Link process)."""

    vantage: str = ""
    """The end at which packets are captured; by itself every third time the server's."""

    @property
    def name(self) -> str:
        return f"{self.aim}-{self.index:03}"

    @property
    def is_at_server(self) -> bool:
        return (self.vantage or ("server" if self.index % 3 == 1 else "client")) == "server"

    def to_json(self) -> Json:
        return asdict(self)


Dice = random.Random
Maker = Callable[[int, Dice], Json]
"""The part of a recipe that differs, by the capture's index."""


def recipe(aim: str, index: int) -> Recipe:
    """The recipe of that number for that aim."""
    return Recipe(aim=aim, index=index, **MAKERS[aim](index, Dice(f"{aim}/{index}")))


def _turn(index: int, *choices: Any) -> Any:
    """One choice after another."""
    return choices[index % len(choices)]


def _every(index: int, *lists: tuple[Any, ...]) -> tuple[Any, ...]:
    """All combinations, one after another."""
    chosen = []
    for choices in lists:
        chosen.append(choices[index % len(choices)])
        index //= len(choices)
    return tuple(chosen)


SPLIT_SERVERS = (
    "rest@rust?server.writes=split",
    "soap@rust?server.writes=split",
    "iiop@rust?server.writes=split",
    "raw@rust?server.writes=split",
    "grpc@rust?server.writes=split",
)
SPLIT_CLIENTS = (
    "rest@rust?client.writes=split",
    "soap@rust?client.writes=split",
    "grpc@go?client.writes=split",
    "rest@go?client.writes=split",
    "grpc@rust?client.writes=split",
)


def _nagle(index: int, dice: Dice) -> Json:
    place, side, which = _every(
        index, (LOOPBACK, LAN, WLAN, ROUTED), ("server", "client"), (0, 1, 2, 3, 4)
    )
    stack = (SPLIT_SERVERS if side == "server" else SPLIT_CLIENTS)[which]
    return {
        "place": place,
        "stack": f"{stack}&{side}.nagle=on",
        **({} if side == "server" else {"operation": "Submit"}),
        "bytes": dice.choice((200, 400, 900)),
        "users": dice.choice((1, 1, 2)),
        "calls": 12,
    }


def _split(index: int, dice: Dice) -> Json:
    place, which, side = _every(index, (LOOPBACK, LAN, WLAN), (0, 1, 2, 3, 4), ("server", "client"))
    server = side == "server"
    return {
        "place": place,
        "stack": (SPLIT_SERVERS if server else SPLIT_CLIENTS)[which],
        **({} if server else {"operation": "Submit"}),
        "bytes": dice.choice((200, 700, 3_000)),
        "users": dice.choice((1, 3)),
        "calls": 12,
    }


def _connect_per_call(index: int, dice: Dice) -> Json:
    place, stack = _every(
        index,
        (LOOPBACK, LAN, WLAN, ROUTED),
        ("rest@rust", "soap@go", "grpc@rust", "iiop@rust", "raw@rust", "rest@go", "grpc@go"),
    )
    return {
        "place": place,
        "stack": f"{stack}?connection=close",
        "bytes": dice.choice((14, 300, 5_000)),
        "users": dice.choice((1, 2)),
        "calls": 8,
    }


def _read_until_close(index: int, dice: Dice) -> Json:
    place, stack = _every(
        index, (LOOPBACK, LAN, WLAN, ROUTED), ("rest@rust", "soap@rust", "rest@go", "soap@go")
    )
    delay = dice.choice((0, 20, 60))
    return {
        "place": place,
        "stack": f"{stack}?connection=close&end_of_message=until-close&close_delay={delay}",
        "bytes": dice.choice((14, 2_000, 30_000)),
        "calls": 6,
    }


BINDINGS = ("rest@rust", "soap@rust", "grpc@rust", "iiop@rust", "raw@rust")


def _syn(index: int, dice: Dice) -> Json:
    if index % 6 == 5:
        return {
            "place": LOOPBACK,
            "stack": "rest@rust?codec=text&connection=close",
            "accept_after_ms": dice.choice((700, 2_400)),
            "calls": 2,
        }
    direction = ("forward", "backward")[index % 2]
    first = dice.choice((1, 2))
    return {
        "place": _turn(index, WLAN, ROUTED, LAN),
        "stack": f"{_turn(index // 2, *BINDINGS)}?connection=close",
        "bytes": 200,
        "calls": 4,
        # The repetition of the first is the next one, so this is another connection's.
        "drops": _drops(direction, "syn", first, first + 2),
        # Of a SYN that was lost on its way, the server's end sees nothing.
        "vantage": "client" if direction == "forward" else "",
    }


def _data(index: int, dice: Dice) -> Json:
    place, stack, direction = _every(index, (WLAN, ROUTED, FAR), BINDINGS, ("backward", "forward"))
    large = direction == "backward" and dice.random() < 0.4
    nth = dice.randint(3, 20) if large else dice.randint(2, 5)
    # Of small messages each call has one packet, so the second one is lost in another call.
    lost = (nth,) if large else (nth, nth + 4)
    return {
        "place": place,
        "stack": stack,
        "bytes": dice.choice((40_000, 90_000)) if large else dice.choice((14, 900)),
        "calls": 3 if large else 12,
        "drops": _drops(direction, "data", *lost),
    }


def _drops(direction: str, kind: str, *nth: int) -> tuple[Json, ...]:
    return tuple({"direction": direction, "match": kind, "nth": each} for each in nth)


def _tcp_window(index: int, dice: Dice) -> Json:
    place, stack, side = _every(index, (WLAN, ROUTED, FAR), BINDINGS, ("reply", "reply", "request"))
    window = dice.choice((4_096, 6_000, 8_192))
    reply = side == "reply"
    return {
        "place": place,
        "stack": f"{stack}?work=frame&client.tcp_window={window}" if reply else stack,
        **({} if reply else {"operation": "Submit", "server_window": window}),
        "bytes": dice.choice((30_000, 60_000, 100_000)),
        "calls": 3,
    }


def _h2_window(index: int, dice: Dice) -> Json:
    place, stack, side = _every(
        index,
        (WLAN, ROUTED, FAR),
        ("grpc@rust", "grpc@go", "rest@rust?transport=http/2", "soap@rust?transport=http/2"),
        ("client", "client", "server"),
    )
    window = dice.choice((8_000, 16_384))
    reply = side == "client"
    joined = "&" if "?" in stack else "?"
    return {
        "place": place,
        "stack": f"{stack}{joined}{side}.h2_window={window if reply else 65_535}",
        **({} if reply else {"operation": "Upload"}),
        "bytes": dice.choice((40_000, 70_000) if reply else (150_000, 250_000)),
        "calls": 3,
    }


LARGE_WINDOW = 2_000_000


def _slow_start(index: int, dice: Dice) -> Json:
    place, stack, side = _every(
        index, (ROUTED, FAR, WLAN), (*BINDINGS, "rest@go", "grpc@go"), ("reply", "reply", "request")
    )
    # The kernel's own receive window may grow too slowly; a large one is never the limit.
    axes = ["work=frame"]
    if dice.random() < 0.6:
        axes.append(f"client.tcp_window={LARGE_WINDOW}")
    if dice.random() < 0.3:
        axes.append("connection=close")
    return {
        "place": place,
        "stack": f"{stack}?{'&'.join(axes)}",
        **({} if side == "reply" else {"operation": "Submit", "server_window": LARGE_WINDOW}),
        "bytes": dice.choice((60_000, 120_000, 300_000)),
        "calls": 4,
    }


def _idle_restart(index: int, dice: Dice) -> Json:
    place, stack = _every(index, (ROUTED, FAR, WLAN), (*BINDINGS, "rest@go", "grpc@go"))
    return {
        "place": place,
        "stack": f"{stack}?work=frame&client.tcp_window={LARGE_WINDOW}",
        "bytes": dice.choice((120_000, 200_000, 300_000)),
        "think_s": dice.choice((0.9, 1.2)),
        "calls": 3,
    }


def _think(index: int, dice: Dice) -> Json:
    place, stack = _every(
        index, (LOOPBACK, LAN, WLAN, ROUTED), (*BINDINGS, "rest@go", "grpc@go", "soap@go")
    )
    return {
        "place": place,
        "stack": stack,
        "bytes": dice.choice((14, 1_000, 20_000)),
        "faults": {"delay_us": dice.choice((8_000, 15_000, 40_000, 90_000))},
        "users": dice.choice((1, 2)),
        "calls": 10,
    }


def _not_reading(index: int, dice: Dice) -> Json:
    """The receive buffer is set, because the kernel's own grows until it holds a whole reply.
    The service takes its time, so that most stops fall between a request and its reply."""
    place, stack = _every(index, (LOOPBACK, LAN, WLAN), BINDINGS)
    length = dice.choice((60, 90, 120))
    return {
        "place": place,
        "stack": f"{stack}?work=frame&client.tcp_window={dice.choice((60_000, 100_000))}",
        "bytes": 500_000,
        "calls": 16,
        "faults": {"delay_us": 1_900},
        "stops": Stops(first_ms=dice.choice((10, 15, 20)), every_ms=14 + length, for_ms=length),
    }


CLEAN_STACKS = (
    "rest@rust",
    "soap@rust",
    "grpc@rust",
    "iiop@rust",
    "raw@rust",
    "rest@go",
    "grpc@go",
    "soap@go?compression=gzip",
    "rest@rust?compression=gzip&codec=xml",
    "raw@rust?codec=token-xml",
    "rest@rust?transport=http/2",
    "rest@rust?end_of_message=chunked",
)


def _clean(index: int, dice: Dice) -> Json:
    """Every third one is nasty: a slow or jittery link, many users, short think times."""
    if index % 3 == 2:
        return _nasty(index // 3, dice)
    place, stack = _every(index, (LOOPBACK, LAN, WLAN, ROUTED), CLEAN_STACKS)
    return {
        "place": place,
        "stack": stack,
        "operation": dice.choice(("Hello", "Submit")),
        "bytes": dice.choice((120, 600, 4_000, 9_000)),
        "users": dice.choice((1, 1, 4)),
        "calls": 30,
    }


def _nasty(index: int, dice: Dice) -> Json:
    stack = BINDINGS[index % len(BINDINGS)]
    large = {"place": LOOPBACK, "stack": stack, "bytes": 1_000_000, "calls": 6}
    chosen: Json = _turn(
        index // len(BINDINGS) + index,
        {"place": GPRS, "stack": stack, "bytes": 400, "calls": 4},
        {"place": JITTER, "stack": stack, "bytes": 700, "calls": 30},
        {"place": LOOPBACK, "stack": stack, "bytes": 200, "users": 24, "calls": 240},
        {"place": LAN, "stack": stack, "faults": {"delay_us": 700}, "calls": 30},
        large,
        {"place": LAN, "stack": "grpc@rust?in_flight=multiplex=8", "users": 8, "calls": 120},
        {"place": LOOPBACK, "stack": "rest@rust?in_flight=pipeline=4", "users": 4, "calls": 80},
        {"place": ROUTED, "stack": stack, "think_s": 0.05, "users": 3, "calls": 30},
        # Nagle's algorithm alone stalls nothing where every message is one send.
        {"place": LAN, "stack": f"{stack}?client.nagle=on&server.nagle=on", "calls": 30},
        {"place": WLAN, "stack": "iiop@rust?in_flight=multiplex=4", "users": 4, "calls": 60},
    )
    return chosen


MAKERS: dict[str, Maker] = {
    CLEAN: _clean,
    causes.NAGLE: _nagle,
    causes.SPLIT: _split,
    causes.PER_CALL: _connect_per_call,
    causes.UNTIL_CLOSE: _read_until_close,
    causes.SYN: _syn,
    causes.DATA: _data,
    causes.TCP_WINDOW: _tcp_window,
    causes.H2_WINDOW: _h2_window,
    causes.SLOW_START: _slow_start,
    causes.IDLE_RESTART: _idle_restart,
    causes.THINK: _think,
    causes.NOT_READING: _not_reading,
}
"""By aim, in the order of the table."""
