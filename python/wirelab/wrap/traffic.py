"""Explains a capture without requests: what the packets show instead, and what to change."""

from __future__ import annotations

from wirelab.format.counting import counted
from wirelab.wrap import target
from wirelab.wrap.session import Measured


def explain_silence(measured: Measured) -> str:
    """Why no request was found."""
    document, port = measured.document, measured.port
    seen = counted(document.flows.count, "connection")
    if not document.capture.tcp_packets:
        return _explain_interface(measured)
    if document.flows.refused:
        attempts = counted(document.flows.refused, "attempt")
        return f"the server refused {attempts} to connect: nothing listens on port {port} there"
    if document.flows.unanswered:
        silent = counted(document.flows.unanswered, "attempt")
        return f"{silent} to connect to port {port} got no answer: a firewall or a wrong address"
    if document.tls.connections or any(flow.is_tls for flow in document.flows.list):
        return f"{seen} with TLS: requests are encrypted"
    return f"no request was recognised on {seen}"


def _explain_interface(measured: Measured) -> str:
    interface, port = measured.capture.interface, measured.port
    nothing = f"no packet of port {port} was seen on {interface}"
    for host in target.hosts(measured.command):
        other = target.interface_to(host)
        if other is not None and other != interface:
            return f"{nothing}: {host} is reached through {other}; give --interface {other}"
    return f"{nothing}; --port and --interface select where to look"
