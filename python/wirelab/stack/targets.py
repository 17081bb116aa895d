"""The target of ``wirelab drive``: a service of wirelab, or any server by URL."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, quote, urlsplit

from wirelab.errors import UsageError
from wirelab.secrets.finding import hide_target
from wirelab.stack.reference import Stack

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "grpc": 50051, "grpcs": 50051}
"""Default ports by scheme; gRPC's is the port that its documentation uses."""
SECURE = ("https", "wss", "grpcs")
"""Schemes that use TLS."""
VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
"""Characters that a path is sent with as they are."""
LINKS = ipaddress.IPv4Network("198.18.0.0/15")
"""Addresses of links, which are not routed (RFC 2544, RFC 6890)."""


@dataclass(frozen=True)
class Server:
    """A running server that wirelab did not start."""

    kind: Literal["http", "grpc"]
    address: str
    """IP address and port."""
    authority: str
    """Host and port as the user wrote them."""
    path: str
    """Path and query; for gRPC ``/package.Service/Method``."""
    local: bool
    """On loopback, or at the other end of one of wirelab's links."""
    secure_name: str | None = None
    """With TLS: the name that its certificate must be valid for."""


def parse(text: str, address: str = "") -> Stack | Server:
    """Parses a stack reference or a URL, whose host has that IP address, if it is given. Raises
    :class:`UsageError`."""
    if "://" not in text:
        if "@" in text.partition("?")[0]:
            return Stack.parse(text)
        raise UsageError(
            f"{hide_target(text)!r} is neither a URL nor a stack",
            "write http://127.0.0.1:8080/path, grpc://127.0.0.1:50051/package.Service/Method "
            "or a stack such as rest@rust",
        )
    if any(ord(one) < 0x20 or ord(one) == 0x7F for one in text):
        # urlsplit would leave tabs and ends of lines out.
        raise UsageError(
            f"{hide_target(text)!r} contains a control character", "write it percent-encoded"
        )
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise UsageError(
            f"{hide_target(text)!r} is not a URL: {error}", "write http://host:port/path"
        ) from None
    return _server(text, url, port, address)


def _server(text: str, url: SplitResult, port: int | None, known: str) -> Server:
    if url.scheme not in PORTS:
        schemes = ", ".join(f"{scheme}://" for scheme in PORTS)
        raise UsageError(
            f"{hide_target(text)!r}: unknown scheme {url.scheme!r}", f"use one of {schemes}"
        )
    if not url.hostname:
        raise UsageError(
            f"{hide_target(text)!r} names no host", "write for example http://127.0.0.1:8080/"
        )
    if url.username is not None:
        raise UsageError(
            f"{hide_target(text)!r} contains a user name", "use --header for credentials"
        )
    path = _encode_ascii(url.path or "/")
    is_grpc = url.scheme.startswith("grpc")
    if is_grpc and not re.fullmatch(r"/[\w.]+/\w+", path):
        raise UsageError(
            f"{hide_target(text)!r} names no method",
            "write grpc://host:port/package.Service/Method",
        )
    if url.query:
        path = f"{path}?{_encode_ascii(url.query)}"
    address = ipaddress.ip_address(known) if known else _resolve(url.hostname)
    number = port or PORTS[url.scheme]
    written = f"[{address}]" if address.version == 6 else str(address)
    return Server(
        kind="grpc" if is_grpc else "http",
        address=f"{written}:{number}",
        authority=url.netloc,
        path=path,
        local=address.is_loopback or address in LINKS,
        secure_name=url.hostname if url.scheme in SECURE else None,
    )


def _encode_ascii(part: str) -> str:
    """Percent-encoded where a browser would do so (RFC 3987, section 3.1)."""
    return quote(part, safe=VISIBLE)


def _resolve(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The host's address; IPv4 if it has both, because most local servers listen on IPv4."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"host {host!r} cannot be resolved: {error}", "check the spelling of the host"
        ) from None
    addresses = [ipaddress.ip_address(entry[4][0]) for entry in found]
    return min(addresses, key=lambda address: address.version)


def system_authorities() -> str:
    """The system's file of certificate authorities; empty if there is none."""
    import ssl  # loads OpenSSL, needed only for TLS

    return ssl.get_default_verify_paths().cafile or ""
