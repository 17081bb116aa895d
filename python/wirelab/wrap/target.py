"""Finds the target of a command: its placeholders, or an address on its command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.errors import UsageError
from wirelab.secrets.finding import replace_in_words

PLACEHOLDERS = ("{url}", "{address}", "{host}", "{port}")
"""Replaced in COMMAND if wirelab starts the service."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "grpc": 50051, "grpcs": 50051}
"""Default ports of URLs by scheme."""
_HOST = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"
_URL = re.compile(
    rf"\b([a-z]+)://(?:[^/@\s]*@)?({_HOST})(?::(\d{{1,5}}))?(?=[/?#\s\"';,)]|$)", re.I
)
_ADDRESS = re.compile(rf"(?<![\w./@-]){_HOST}:(\d{{2,5}})(?=[/?\s\"';,)]|$)")


@dataclass(frozen=True)
class ServiceAddress:
    """Address of the wirelab service."""

    address: str
    path: str | None
    """Path of ``{url}``; None if the binding has no URL."""
    scheme: str = "http"

    def values(self) -> dict[str, str | None]:
        """Values by placeholder."""
        host, _, port = self.address.rpartition(":")
        url = None if self.path is None else f"{self.scheme}://{self.address}{self.path}"
        return dict(zip(PLACEHOLDERS, (url, self.address, host, port), strict=True))


def filled(command: Sequence[str], service: ServiceAddress) -> list[str]:
    """The command with its placeholders replaced. Raises :class:`UsageError` if a placeholder has
    no value for this service."""
    words = list(command)
    for name, value in service.values().items():
        if not any(name in word for word in words):
            continue
        if value is None:
            raise UsageError(
                f"{name} needs a service with a URL, and this service has none",
                "use {address}, {host} or {port}",
            )
        words = [word.replace(name, value) for word in words]
    return words


def require_placeholder(command: Sequence[str]) -> None:
    """Raises :class:`UsageError` for a command that would not find the wirelab service."""
    if not any(name in word for word in command for name in PLACEHOLDERS):
        raise UsageError(
            "--serve starts a service on a free port, but COMMAND does not use its address",
            f"write {', '.join(PLACEHOLDERS[:-1])} or {PLACEHOLDERS[-1]} where COMMAND expects its "
            "target",
        )


def refuse_placeholders(command: Sequence[str]) -> None:
    """Raises :class:`UsageError` for placeholders that have no value."""
    for name in PLACEHOLDERS:
        if any(name in word for word in command):
            raise UsageError(
                f"COMMAND contains {name}, but no service is started",
                "give --serve REF, or write the address of the target",
            )


def port(command: Sequence[str]) -> int:
    """The only TCP port on a command line, in a URL or as ``host:port``. Raises
    :class:`UsageError` if there is none, or more than one."""
    found = sorted({number for word in command for number in _ports(word)})
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            "COMMAND contains no URL and no host:port, so its packets cannot be identified",
            "give --port N, the TCP port of its server",
        )
    named = ", ".join(map(str, found))
    raise UsageError(
        f"COMMAND contains several ports: {named}", "give --port N, the port to capture"
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
    """The command in shell syntax, without its secrets."""
    return shlex.join(replace_in_words(command))
