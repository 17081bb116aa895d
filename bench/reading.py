"""One run of one tool against the service: what it did and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

BUSY = 0.85


@dataclass(frozen=True)
class Count:
    """What a tool says of its own run."""

    calls: int
    """Calls that ended well: the divisor of CPU per call."""
    errors: int
    rate_per_s: float
    bytes_per_call: float | None = None
    """Sent and received on the sockets; None from a tool that does not say."""
    p50_us: float | None = None
    """Median response time; None from a tool that was not asked."""
    spin_s: float = 0.0
    """CPU seconds that the tool says it spun with nothing to do."""


@dataclass(frozen=True)
class Reading:
    """A tool's own count, and what the kernel says of both processes."""

    tool: str
    command: tuple[str, ...]
    calls: int
    errors: int
    rate_per_s: float
    client_cpu_s: float
    server_cpu_s: float
    wall_s: float
    others_cpu_s: float = 0.0
    """What else ran on the two cores while this was taken, interrupts and stolen time included."""
    bytes_per_call: float | None = None
    """As the tool counted them."""
    p50_us: float | None = None
    """As the tool found it."""
    spin_s: float = 0.0
    """As the tool says: of its CPU, what no call needed. CPU per call counts it all the same."""

    def working(self) -> Reading:
        """Without what the tool spun with nothing to do, which no call needed."""
        return replace(self, client_cpu_s=self.client_cpu_s - self.spin_s, spin_s=0.0)

    @property
    def others_share(self) -> float:
        """Of the two cores' time, the part that neither client nor server had."""
        return max(0.0, self.others_cpu_s) / (2 * self.wall_s)

    @property
    def client_us_per_call(self) -> float:
        """Client CPU per call in microseconds, start and end of the process included."""
        return self.client_cpu_s / self.calls * 1e6

    @property
    def bound(self) -> str:
        """Which process was the limit: the busier one, if it was busy 85 % of the time. A
        client that spins with nothing to do is not busy."""
        busy_s = self.client_cpu_s - self.spin_s
        client, server = busy_s / self.wall_s, self.server_cpu_s / self.wall_s
        if max(client, server) < BUSY:
            return "latency-bound"
        return "server-bound" if server >= client else "client-bound"
