"""Finds the target of a command: its placeholders, or an address on its command line."""

from __future__ import annotations

import re
import shlex
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psutil

from wirelab.errors import UsageError
from wirelab.loadtools import shell
from wirelab.secrets.finding import replace_in_words
from wirelab.stack.targets import PORTS

PLACEHOLDERS = ("{url}", "{address}", "{host}", "{port}")
"""Replaced in COMMAND if wirelab starts the service."""
_HOST = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"
_URL = re.compile(
    rf"\b([a-z]+)://(?:[^/@\s]*@)?({_HOST})(?::(\d{{1,5}}))?(?=[/?#\s\"';,)]|$)", re.I
)
_ADDRESS = re.compile(rf"(?:--?[\w-]+=|[A-Za-z_]\w*=)?(?:dns:/*)?({_HOST}):(\d{{2,5}})(?:/\S*)?")
"""A word that is an address, or an option or variable with one."""
_PAYLOADS = frozenset(
    {
        *("-H", "--header", "--headers", "-d", "--data", "--data-raw", "--data-binary", "-b"),
        *("--cookie", "-C", "-A", "--user-agent", "--referer", "-u", "--user", "--body"),
        *("-m", "--metadata", "-body", "-header", "--data-urlencode", "--json", "-F", "--form"),
    }
)
"""Options whose value is sent to the server, and may contain anything."""
_UNIX = frozenset(
    {
        *("--unix-socket", "-unix-socket", "--abstract-unix-socket", "--socketPath"),
        *("-unix", "--unix"),
    }
)
"""Options whose value is the path of a Unix socket."""


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


def fill_placeholders(command: Sequence[str], service: ServiceAddress) -> list[str]:
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
    words = _words(command)
    if any(word.partition("=")[0] in _UNIX or word.startswith("unix:") for word in words):
        raise UsageError(
            "packets of a Unix socket cannot be captured",
            "let the server listen on a TCP port of 127.0.0.1 too, and give COMMAND that address",
        )
    found = sorted({number for _, number in _addresses(words)})
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


def hosts(command: Sequence[str]) -> list[str]:
    """The hosts on a command line, in URLs or as ``host:port``."""
    return list(dict.fromkeys(host for host, _ in _addresses(_words(command))))


def interface_to(host: str) -> str | None:
    """Name of the network interface through which packets to a host leave; None if it cannot be
    determined."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(address)  # of UDP: chooses a route, and sends nothing
            own = probe.getsockname()[0]
    except OSError:
        return None
    for name, addresses in psutil.net_if_addrs().items():
        if any(known.address.partition("%")[0] == own for known in addresses):
            return name
    return None


def _words(command: Sequence[str]) -> list[str]:
    """Without values that are sent to the server; a script of a shell as its words."""
    text = shell.find_script(command)
    script = None if text is None else shell.split(text)
    lines = [command] if script is None else [[w for w in command if w != text], *script.commands]
    return [
        word
        for line in lines
        for before, word in zip(("", *line), line, strict=False)
        if before not in _PAYLOADS and word.partition("=")[0] not in _PAYLOADS
    ]


def _addresses(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Host and port of every URL, and of every word that is an address."""
    for word in words:
        for scheme, host, number in _URL.findall(word):
            known = int(number) if number else PORTS.get(scheme.lower())
            if known and known < 65536:
                yield host.strip("[]"), known
        match = None if _URL.search(word) else _ADDRESS.fullmatch(word)
        # `12:34` is a time of day, not the port of a host.
        if match and not match[1].isdecimal() and 0 < int(match[2]) < 65536:
            yield match[1].strip("[]"), int(match[2])


def as_typed(command: Sequence[str]) -> str:
    """The command in shell syntax, without its secrets."""
    return shlex.join(replace_in_words(command))
