"""Where a command's requests go: its placeholders, or what its own words say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.errors import UsageError

PLACEHOLDERS = ("{url}", "{address}", "{host}", "{port}")
"""Replaced in COMMAND when the lab starts the service."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "grpc": 50051, "grpcs": 50051}
"""Default ports of URLs by scheme."""
_HOST = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"
_URL = re.compile(
    rf"\b([a-z]+)://(?:[^/@\s]*@)?({_HOST})(?::(\d{{1,5}}))?(?=[/?#\s\"';,)]|$)", re.I
)
_ADDRESS = re.compile(rf"(?<![\w./@-]){_HOST}:(\d{{2,5}})(?=[/?\s\"';,)]|$)")


@dataclass(frozen=True)
class ServiceAddress:
    """Where the lab's service is."""

    address: str
    path: str | None
    """What ``{url}`` ends with; None where the binding has no URL."""
    scheme: str = "http"

    def values(self) -> dict[str, str | None]:
        """By placeholder."""
        host, _, port = self.address.rpartition(":")
        url = None if self.path is None else f"{self.scheme}://{self.address}{self.path}"
        return dict(zip(PLACEHOLDERS, (url, self.address, host, port), strict=True))


def filled(command: Sequence[str], service: ServiceAddress) -> list[str]:
    """The command with its placeholders replaced. Raises :class:`UsageError` where it has no
    URL for one."""
    words = list(command)
    for name, value in service.values().items():
        if not any(name in word for word in words):
            continue
        if value is None:
            raise UsageError(
                f"{name} is of services that have a URL, and this one has none",
                "use {address}, {host} or {port}",
            )
        words = [word.replace(name, value) for word in words]
    return words


def require_placeholder(command: Sequence[str]) -> None:
    """Raises :class:`UsageError` for a command that would not find the lab's service."""
    if not any(name in word for word in command for name in PLACEHOLDERS):
        raise UsageError(
            "--serve starts a service at a port of its own, and COMMAND does not ask where",
            f"write {', '.join(PLACEHOLDERS[:-1])} or {PLACEHOLDERS[-1]} where COMMAND has its "
            "target",
        )


def refuse_placeholders(command: Sequence[str]) -> None:
    """Raises :class:`UsageError` for placeholders that nobody fills."""
    for name in PLACEHOLDERS:
        if any(name in word for word in command):
            raise UsageError(
                f"COMMAND has {name}, and no service is started",
                "give --serve REF, or write the target itself",
            )


def port(command: Sequence[str]) -> int:
    """The one TCP port that a command's words name, as a URL or as ``host:port``. Raises
    :class:`UsageError` where they name none or several."""
    found = sorted({number for word in command for number in _ports(word)})
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            "COMMAND names no URL and no host:port, so that its packets cannot be told apart",
            "give --port N, the TCP port of its server",
        )
    named = ", ".join(map(str, found))
    raise UsageError(
        f"COMMAND names several ports: {named}", "give --port N, the one to be watched"
    )


def _ports(word: str) -> set[int]:
    numbers: set[int] = set()
    for scheme, _, number in _URL.findall(word):
        known = int(number) if number else PORTS.get(scheme.lower())
        numbers |= {known} if known else set()
    rest = _URL.sub(" ", word)
    numbers |= {int(match[1]) for match in _ADDRESS.finditer(rest)}
    return {number for number in numbers if 0 < number < 65536}


def as_typed(command: Sequence[str]) -> str:
    """The command as a shell would take it."""
    return shlex.join(command)
