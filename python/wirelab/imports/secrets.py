"""What must not be copied from a recorded request: credentials, by their names and their form."""

from __future__ import annotations

import re
from typing import Any

NAME_MAX = 1_000
"""Characters of a name. A longer one is treated as that of a credential."""
PLACEHOLDER = "left-out"
"""In place of a secret in content that would not be understood without it."""

_NAMES = re.compile(
    r"(?:^|[-_.\[ ])(?:authorization|auth|cookies?|api[-_]?keys?|apikey|access[-_]?key|"
    r"private[-_]?key|(?:subscription|functions)[-_]key|"
    r"\w*token|\w*secrets?|\w*passw(?:or)?d|passphrase|passcode|pwd|session|"
    r"\w*sess(?:ion)?[-_]?id|sid|"
    r"credentials?|signature|sig|jwt|bearer|csrf|xsrf|otp|pin|code[-_]verifier)(?:$|[-_.\] ])"
)
_VALUES = re.compile(
    # A JSON Web Token (RFC 7519). The lookahead is of a whole word, so that a long text of many
    # beginnings is not searched from each of them to its end.
    r"(?<![\w-])(?=[\w-]++\.[\w-]{6,}+\.)(?P<before>[\w-]*?)eyJ[\w-]{6,}+\.[\w-]{6,}+\.[\w-]*"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"  # access keys of AWS
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abprs]-[\w-]{10,}|\bsk[-_](?:live|test|proj|ant)?[-_]?\w{16,}|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|(?<![\w-])(?i:bearer|basic) [\w.~+/=-]{8,}"
)


def is_secret_name(name: str) -> bool:
    """Whether a header, parameter or field of that name holds a credential."""
    if len(name) > NAME_MAX:
        return True
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).lower()
    return _NAMES.search(words) is not None


def is_secret(name: str, value: str) -> bool:
    """Whether the name or the value is that of a credential."""
    return is_secret_name(name) or _VALUES.search(value) is not None


def without_secrets(value: Any, where: str, found: list[str], name: str = "") -> Any:
    """JSON with every credential replaced by :data:`PLACEHOLDER`; ``found`` gets the place of
    each, some several times."""
    at = f"{where}.{name}" if name else where
    if isinstance(value, dict):
        return {k: without_secrets(v, at, found, str(k)) for k, v in value.items()}
    if isinstance(value, list):
        return [without_secrets(one, where, found, name) for one in value]
    if isinstance(value, bool) or value is None:
        return value
    if (name and is_secret_name(name) and value != "") or (
        isinstance(value, str) and _VALUES.search(value)
    ):
        found.append(at)
        return PLACEHOLDER
    return value


def text_without_secrets(text: str, where: str, found: list[str]) -> str:
    """Text with what has the form of a credential replaced by :data:`PLACEHOLDER`."""
    replaced, count = _VALUES.subn(rf"\g<before>{PLACEHOLDER}", text)
    if count and where not in found:
        found.append(where)
    return replaced
