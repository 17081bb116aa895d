"""An exchange that a cause delayed, and the circumstances of a capture."""

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
    """From where on a delay counts. A delay that is short, also compared with the whole exchange,
    is not an occurrence; a slightly longer one may be classified either way."""

    least_ms: float
    """Below, there is none."""
    sure_ms: float
    """From here on there is one, if it is also SURE_SHARE of the exchange."""
    short_ms: float | None = None
    """From here on it counts neither way where it is LARGE_SHARE of its exchange."""

    def judge(
        self, cause: str, port: int, ordinal: int, ns: int, of_ns: int | None = None
    ) -> Occurrence | None:
        """The occurrence of ``ns`` in an exchange of ``of_ns``, if it is one."""
        ms = ns / NS_PER_MS
        share = ns / of_ns if of_ns else 1.0
        is_long = ms >= self.least_ms and share >= LEAST_SHARE
        is_large = self.short_ms is not None and ms >= self.short_ms and share >= LARGE_SHARE
        if not is_long and not is_large:
            return None
        certain = ms >= self.sure_ms and share >= SURE_SHARE
        return Occurrence(cause, port, ordinal, round(ms, 3), certain)


LEAST_SHARE, SURE_SHARE, LARGE_SHARE = 0.03, 0.10, 0.15


SEGMENT_BYTES_LOOPBACK = 65_483
SEGMENT_BYTES_ETHERNET = 1_448
"""MTU 1500 less IP and TCP headers, timestamps among them (RFC 7323)."""


@dataclass(frozen=True)
class Drop:
    """One packet that the link did not deliver."""

    at: int
    """ns of the Unix epoch."""
    port: int
    """The client's."""
    is_forward: bool
    """It was on its way to the server."""
    is_syn: bool
    bytes: int
    """Of payload."""


@dataclass(frozen=True)
class Circumstances:
    """Of one capture."""

    rtt_ns: int
    """Of the link, as it was measured; not with any load."""
    segment_bytes: int
    drops: tuple[Drop, ...] = ()
    is_steady: bool = True
    """The link's delay does not vary, unless the machine is too busy to keep it."""

    @property
    def one_way_ns(self) -> int:
        return self.rtt_ns // 2

    def is_clean(self, port: int, start: int, end: int) -> bool:
        """No packet of the connection was lost in that time."""
        return not any(drop.port == port and start <= drop.at <= end for drop in self.drops)
