"""Explains a capture without requests: what the packets show instead, and what to change."""

from __future__ import annotations

from wirelab.documents.dissection import Dissection
from wirelab.format.counting import format_count
from wirelab.wrap import target
from wirelab.wrap.session import Measured

HOW_TO_GET_SECRETS = (
    "curl, Python and programs with rustls or NSS write them to the file that SSLKEYLOGFILE names, "
    "and Node by NODE_OPTIONS=--tls-keylog=FILE; wirelab sets both. A program in Go needs "
    "KeyLogWriter in its tls.Config, and one in Java an agent for it. Otherwise load a port of "
    "the server without TLS"
)


def is_encrypted(document: Dissection) -> bool:
    """Whether no request was read because its connections are TLS without secrets."""
    return document.exchanges.count == 0 and document.tls.connections > 0


def explain_encryption(measured: Measured) -> str:
    """What is missing to read the requests, and how to get it."""
    seen = format_count(measured.document.tls.connections, "connection")
    asked = "COMMAND wrote no secrets of it" if measured.keylog else "--no-keylog was given"
    return f"{seen} used TLS and {asked}. {HOW_TO_GET_SECRETS}"


def explain_silence(measured: Measured) -> str:
    """Why no request was found."""
    document, port = measured.document, measured.port
    seen = format_count(document.flows.count, "connection")
    if not document.capture.tcp_packets:
        return _explain_interface(measured)
    if document.flows.refused:
        attempts = format_count(document.flows.refused, "attempt")
        return f"the server refused {attempts} to connect: nothing listens on port {port} there"
    if document.flows.unanswered:
        silent = format_count(document.flows.unanswered, "attempt")
        return f"{silent} to connect to port {port} got no answer: a firewall or a wrong address"
    return f"no request was recognised on {seen}"


def _explain_interface(measured: Measured) -> str:
    interface, port = measured.capture.interface, measured.port
    nothing = f"no packet of port {port} was seen on {interface}"
    for host in target.hosts(measured.command):
        other = target.interface_to(host)
        if other is not None and other != interface:
            return f"{nothing}: {host} is reached through {other}; give --interface {other}"
    return f"{nothing}; --port and --interface select where to look"
