"""What a dissection says of connections that are TLS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirelab.documents.dissection import Dissection, Encrypted, Tls
from wirelab.format.counting import format_count, of_all
from wirelab.format.numbers import sanitize

HOW_TO_DECRYPT = (
    "To read them, set the environment variable SSLKEYLOGFILE=FILE for the client or the server, "
    "capture again, and give --keylog FILE"
)


def sentences(document: Dissection) -> Iterator[str]:
    """How many connections are TLS, what is known of them, and what to do for more."""
    tls = document.tls
    if not tls.connections:
        return
    if not tls.secrets:
        share = of_all(tls.connections, document.flows.count, "connection")
        verb = "is" if tls.connections == 1 else "are"
        yield (
            f"{share} {verb} TLS: records, sizes and turns are known, but not messages. "
            f"{HOW_TO_DECRYPT}"
        )
        return
    yield f"TLS: {of_all(tls.decrypted, tls.connections, 'connection')} decrypted{_handshakes(tls)}"
    reasons = list(_reasons(tls.encrypted))
    if reasons:
        left = tls.connections - tls.decrypted
        yield f"TLS: {format_count(left, 'connection')} not decrypted: {', '.join(reasons)}"


def decryption(document: Dissection, keylog: str) -> str:
    """Whether a tool's connections could be decrypted; empty without TLS. ``keylog``: whether it
    wrote its secrets (``honoured``, ``ignored``), or was not asked to (``off``)."""
    tls = document.tls
    if not tls.connections:
        return ""
    share = of_all(tls.decrypted, tls.connections, "connection")
    if keylog == "honoured":
        return f"{share} decrypted: the tool wrote its secrets (SSLKEYLOGFILE){_handshakes(tls)}"
    reason = {
        "off": "the tool was not asked for its secrets (--no-keylog)",
        "ignored": "the tool wrote no secrets to the file that SSLKEYLOGFILE named",
    }[keylog]
    return f"{share} decrypted: {reason}"


def _handshakes(tls: Tls) -> str:
    if not tls.versions:
        return ""
    kinds = f"{format_count(tls.full, 'full handshake')}, {tls.resumed:,} resumed"
    return f"; {_counts(tls.versions)}; {_counts(tls.suites)}; {kinds}"


def _counts(counts: Mapping[str, int]) -> str:
    """The commonest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{sanitize(name)} ({count:,})" for name, count in ordered)


def _reasons(encrypted: Encrypted) -> Iterator[str]:
    named = (
        ("no secrets in the key log", encrypted.no_secrets),
        ("a version or cipher suite that is not supported", encrypted.unsupported_suite),
        ("a record that is not authentic", encrypted.authentication_failed),
        ("a handshake that the capture lacks", encrypted.handshake_unseen),
        ("an end before anything was encrypted", encrypted.unfinished),
    )
    return (f"{reason} ({count:,})" for reason, count in named if count)
