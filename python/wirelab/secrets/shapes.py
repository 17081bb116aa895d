"""Secrets by form: tokens with known prefixes, card numbers, passwords in URLs.

A form is on the list only if a value without the meaning hardly has it. Hexadecimal digests, UUIDs
and long numbers are therefore not secrets by form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from wirelab.secrets.names import is_random


class Span(NamedTuple):
    """A secret within a text."""

    start: int
    end: int
    name: str
    """What it is: the name of its header or parameter, or its form."""


_FORMS = {
    # JSON Web Token (RFC 7519)
    "JWT": r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
    "AWS key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "GitHub token": r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}",
    "GitLab token": r"\bgl(?:pat|ptt|dt|rt|cbt|soat|ft)-[\w-]{16,}",
    "Slack token": r"\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}",
    "Slack webhook": r"(?<=hooks\.slack\.com/services/)[A-Z0-9]+/[A-Z0-9]+/\w{16,}",
    "API key": (
        r"\b[sr]k[-_](?:live|test|proj|ant)?[-_]?\w{16,}|\bwhsec_\w{16,}|\bAIza[\w-]{30,}"
        r"|\bGOCSPX-[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[0-9a-f]{32}\b"
    ),
    "access token": (
        r"\bya29\.[\w-]{20,}|\bnpm_\w{30,}|\bpypi-[\w-]{40,}|\bhf_[A-Za-z0-9]{30,}"
        r"|\bdop_v1_[0-9a-f]{40,}|\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|\bhv[sbr]\.[\w-]{20,}"
        r"|\b(?:tok|token|secret|sess|access|refresh)[-_]"
        r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
    ),
    "private key": (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    ),
    "authorization": r"(?<![\w-])(?i:bearer|basic) [\w.~+/=-]{8,}",
}
_FORM = re.compile("|".join(f"({pattern})" for pattern in _FORMS.values()))
_FORM_NAMES = tuple(_FORMS)
_USERINFO = re.compile(r"(?<=://)[^\s/?#@'\"<>]+(?=@[\w\[])")
_AFTER = re.compile(
    r"/(?:reset|reset-password|password-reset|magic|magic-link|invite|invitation|verify|confirm|"
    r"activate|unsubscribe|token|tokens|auth|oauth|callback|webhook|webhooks|hook|hooks|bot)/"
    r"([\w.~:-]{16,})(?=[/?#;\s\"']|$)",
    re.I,
)
"""A random segment of a path after a word for a link that grants access."""
_CARD = re.compile(
    r"(?<![\w.-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{5})(?![\w-])"
)
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|(?:6011\d\d|64[4-9]\d{3}|65\d{4})\d{10}(?:\d{3})?|35(?:2[89]|[3-8]\d)\d{12}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)
"""Numbers of Visa, Mastercard, American Express, Discover, JCB, Diners Club and UnionPay
(ISO/IEC 7812)."""


def find_by_shape(text: str) -> Iterator[Span]:
    """Secrets in a text whose form is known, in any order; they may overlap."""
    for match in _FORM.finditer(text):
        yield Span(match.start(), match.end(), _FORM_NAMES[(match.lastindex or 1) - 1])
    for match in _USERINFO.finditer(text):
        yield Span(match.start(), match.end(), "user in the URL")
    for match in _AFTER.finditer(text):
        if is_random(match[1]) and not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", match[1]):
            yield Span(match.start(1), match.end(1), "token in the path")
    for match in _CARD.finditer(text):
        if is_card_number(match[0]):
            yield Span(match.start(), match.end(), "card number")


def has_secret_shape(text: str) -> bool:
    """Whether any part of the text has the form of a secret."""
    return next(find_by_shape(text), None) is not None


def is_card_number(text: str) -> bool:
    """Whether digits are a number of a payment card: a known issuer, and the check digit of Luhn
    (ISO/IEC 7812-1, annex B)."""
    digits = re.sub(r"[ -]", "", text)
    if not _ISSUERS.fullmatch(digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
