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


class _Form(NamedTuple):
    """A form of tokens."""

    name: str
    begins: tuple[str, ...]
    """Texts, one of which each token contains: a text without them need not be searched."""
    pattern: re.Pattern[str]


def _form(name: str, begins: str, pattern: str) -> _Form:
    return _Form(name, tuple(begins.split()), re.compile(pattern))


_FORMS = (
    # JSON Web Token (RFC 7519). The lookahead is of a whole word, so that a long text of many
    # beginnings is not searched from each of them to its end.
    _form(
        "JWT",
        "eyJ",
        r"(?<![\w-])(?=[\w-]++\.[\w-]{6,}+\.)[\w-]*?"
        r"(?P<secret>eyJ[\w-]{6,}+\.[\w-]{6,}+\.[\w-]*)",
    ),
    _form("AWS key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _form(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}",
    ),
    _form(
        "GitLab token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft-",
        r"\bgl(?:pat|ptt|dt|rt|cbt|soat|ft)-[\w-]{16,}",
    ),
    _form("Slack token", "xox xapp-", r"\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}"),
    _form(
        "Slack webhook",
        "hooks.slack.com",
        r"(?<=hooks\.slack\.com/services/)[A-Z0-9]+/[A-Z0-9]+/\w{16,}",
    ),
    _form(
        "API key",
        "sk- sk_ rk- rk_ whsec_ AIza GOCSPX- SG. key-",
        r"\b[sr]k[-_](?:live|test|proj|ant)?[-_]?\w{16,}|\bwhsec_\w{16,}|\bAIza[\w-]{30,}"
        r"|\bGOCSPX-[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[0-9a-f]{32}\b",
    ),
    _form(
        "access token",
        "ya29. npm_ pypi- hf_ dop_v1_ shp hvs. hvb. hvr.",
        r"\bya29\.[\w-]{20,}|\bnpm_\w{30,}|\bpypi-[\w-]{40,}|\bhf_[A-Za-z0-9]{30,}"
        r"|\bdop_v1_[0-9a-f]{40,}|\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|\bhv[sbr]\.[\w-]{20,}",
    ),
    _form(
        "access token",
        "tok_ tok- token_ token- secret_ secret- sess_ sess- access_ access- refresh_ refresh-",
        r"\b(?:tok|token|secret|sess|access|refresh)[-_]"
        r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}",
    ),
    _form(
        "private key",
        "-----BEGIN",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    ),
    _form(
        "authorization",
        "earer EARER asic ASIC",
        r"(?<![\w-])(?i:bearer|basic) [\w.~+/=-]{8,}",
    ),
)
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
    for form in _FORMS:
        if any(begin in text for begin in form.begins):
            group = "secret" if "secret" in form.pattern.groupindex else 0
            for match in form.pattern.finditer(text):
                yield Span(match.start(group), match.end(group), form.name)
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
