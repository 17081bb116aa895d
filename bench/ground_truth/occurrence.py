"""One exchange that one cause delayed, as the system calls tell it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

NS_PER_MS = 1_000_000

NAGLE = "nagle-delayed-ack"
SPLIT = "split-writes"
PER_CALL = "connection-per-call"
UNTIL_CLOSE = "read-until-close"
SYN = "syn-retransmission"
DATA = "data-retransmission"
TCP_WINDOW = "tcp-window-exhausted"
H2_WINDOW = "h2-window-exhausted"
SLOW_START = "slow-start"
IDLE_RESTART = "idle-restart"
THINK = "server-think-time"
NOT_READING = "client-not-reading"
CAUSES = (
    *(NAGLE, SPLIT, PER_CALL, UNTIL_CLOSE, SYN, DATA, TCP_WINDOW, H2_WINDOW),
    *(SLOW_START, IDLE_RESTART, THINK, NOT_READING),
)

Key = tuple[int, int]
"""The client's port and the exchange's ordinal on that connection."""


@dataclass(frozen=True)
class Occurrence:
    """What is known of one exchange and one cause."""

    cause: str
    port: int
    ordinal: int
    ms: float
    """What the cause cost; 0 for a pattern that is merely there."""
    is_certain: bool = True
    """False: too near to the bound to be called either way. It counts neither for the
    diagnosis nor against it."""

    @property
    def key(self) -> Key:
        return self.port, self.ordinal

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Bound:
    """From where on a delay counts, ms."""

    least: float
    """Below, there is none."""
    sure: float
    """From here on, there is one."""

    def judge(self, cause: str, port: int, ordinal: int, ns: int) -> Occurrence | None:
        """The occurrence of that length, if it is one."""
        ms = ns / NS_PER_MS
        if ms < self.least:
            return None
        return Occurrence(cause, port, ordinal, round(ms, 3), is_certain=ms >= self.sure)
