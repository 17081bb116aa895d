"""The tools, each with the command that loads a URL for a few seconds, and how it connects."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

USERS = 4
REQUESTS = 1600
"""About 2 s at 5 ms for each request."""
RATE = 400
SECONDS = 4


@dataclass(frozen=True)
class Tool:
    """One contender."""

    name: str
    command: tuple[str, ...]
    """``URL`` is replaced. A pipeline is a script of ``sh -c``."""
    program: str
    protocols: frozenset[str]
    """``http``, ``https``, ``h2c``."""

    def absence(self) -> str | None:
        """Why it cannot run; None if it can."""
        found = shutil.which(self.program)
        return None if found else f"{self.program} is not installed"


_HTTP, _HTTPS, _H2C = frozenset({"http"}), frozenset({"http", "https"}), frozenset({"h2c"})
_VEGETA = (
    f"echo 'GET URL' | vegeta attack -insecure -rate={RATE} -duration={SECONDS}s | vegeta report"
)


def _of(
    name: str, words: str, protocols: frozenset[str] = _HTTPS, program: str | None = None
) -> Tool:
    command = tuple(words.split())
    return Tool(name, command, program or command[0], protocols)


TOOLS = (
    _of("ab", f"ab -q -n {REQUESTS} -c {USERS} URL"),
    _of("ab -k", f"ab -q -k -n {REQUESTS} -c {USERS} URL"),
    _of("wrk", f"wrk --latency -t2 -c{USERS} -d{SECONDS}s URL"),
    _of("h2load --h1", f"h2load --h1 -n {REQUESTS} -c {USERS} URL", _HTTP),
    _of("h2load", f"h2load -n {REQUESTS} -c {USERS} -m 2 URL", _H2C),
    _of("hey", f"hey -n {REQUESTS} -c {USERS} URL"),
    Tool("vegeta", ("sh", "-c", _VEGETA), "vegeta", _HTTPS),
    _of("bombardier", f"bombardier -k -l -n {REQUESTS} -c {USERS} URL"),
    _of("autocannon", f"autocannon -l -c {USERS} -a {REQUESTS} URL", _HTTP),
)
"""oha, artillery and fortio have no adapter: their figures are not compared."""
