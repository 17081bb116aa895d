"""Secrets that a command line gives: in a URL, headers, content or the words of a command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.secrets import finding
from wirelab.secrets.known import KnownSecrets
from wirelab.secrets.shapes import Span


def of_request(
    target: str, headers: Iterable[tuple[str, str]] = (), content: str = ""
) -> KnownSecrets:
    """The secrets of one request to a URL."""
    known = KnownSecrets()
    if not finding.is_reference(target):
        _add(known, target, finding.find_in_target(target))
    for name, value in headers:
        _add(known, value, finding.find_in_header(name, value))
    _add(known, content, finding.find_in_content(content))
    return known


def of_command(words: Sequence[str]) -> KnownSecrets:
    """The secrets of a command line."""
    known = KnownSecrets()

    def keep(name: str, secret: str) -> str:
        known.add(secret, finding.mask(name, secret))
        return secret

    finding.replace_in_words(words, keep)
    return known


def _add(known: KnownSecrets, text: str, spans: Iterable[Span]) -> None:
    for span in spans:
        secret = text[span.start : span.end]
        known.add(secret, finding.mask(span.name, secret))
