"""Secrets by name: headers, query and form parameters, JSON fields and environment variables."""

from __future__ import annotations

import re
from collections.abc import Iterable

Pairs = Iterable[tuple[str, str]]

NAME_MAX = 1_000
"""Characters of a name. A longer one is treated as that of a secret."""

_NAMES = re.compile(
    r"(?:^|[-_.\[ ])(?:(?:\w*[-_])?authorization|auth|cookies?|set-cookie2?|"
    r"api[-_]?keys?|apikey|\w*access[-_]?key|"
    r"(?:private|signing|encryption|master|service|account|storage|subscription|functions|license)"
    r"[-_]?key|"
    r"\w*token|\w*secrets?|\w*passw(?:or)?d|passphrase|passcode|pwd|pass|session|"
    r"\w*sess(?:ion)?[-_]?id|sid|session[-_]state|"
    r"credentials?|signature|sig|hmac|jwt|bearer|csrf|xsrf|otp|totp|pin|code[-_]verifier|"
    r"(?:client[-_])?assertion|saml[-_]?response|device[-_]code|access[-_]?key[-_]id|"
    r"(?:card|cc)[-_]?(?:number|num|no)|cvv2?|cvc2?|ssn)(?:$|[-_.\] ])"
)
_ABOUT = re.compile(
    r"[-_. ](?:type|count|counts|limit|url|uri|endpoint|path|file|dir|expires?|expiry|expiration|"
    r"lifetime|ttl|age|length|size|bytes|min|max|timeout|policy|enabled|required|method|methods|"
    r"supported|algorithm|alg|format|header|name|prefix|source|cache|in)$"
)
"""Ends of names that describe a secret: ``token_type``, ``password_policy``."""
_ENVIRONMENT = re.compile(
    r"TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?(?:$|_)|(?:^|_)[A-Z0-9]*(?<!COM)(?<!BY)PASS$"
    r"|(?:^|_)(?:[A-Z0-9]*API|ACCESS|PRIVATE|SIGNING|ENCRYPTION)_?KEY(?:$|_)|(?:^|_)KEY$|(?:^|_)JWT"
    r"|(?:^|_)AUTH$|(?:^|_)COOKIE$|(?:^|_)PWD$"
)
_ENVIRONMENT_PLAIN = re.compile(
    r"^(?:OLD)?PWD$|(?:PRIMARY|PUBLIC|PARTITION|SORT|CACHE|FOREIGN|ROUTING|HASH|SHARD)_KEY$"
    r"|^SSLKEYLOGFILE$|(?:^|_)(?:MAX_)?TOKENS?_(?:LIMIT|COUNT|MAX)$|TOKENIZERS?|MAX_\w*TOKENS$"
)
_OAUTH = {
    *("redirect_uri", "grant_type", "code_verifier", "session_state", "response_type"),
    "code_challenge",
}
"""Parameters next to ``code`` and ``state`` in requests of OAuth 2.0 (RFC 6749)."""
CODE_CHARACTERS_MIN = 10
"""Least length of an authorization code where nothing else shows OAuth."""
STATE_CHARACTERS_MIN = 16
"""As :data:`CODE_CHARACTERS_MIN`, of ``state``, which often is a word or the name of a region."""


def is_secret_name(name: str) -> bool:
    """Whether a header, parameter or field of that name holds a credential."""
    if len(name) > NAME_MAX:
        return True
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).lower()
    return _NAMES.search(words) is not None and not _ABOUT.search(words)


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable of that name holds a credential."""
    upper = name.upper()
    if _ENVIRONMENT_PLAIN.search(upper) or _ABOUT.search(name.lower()):
        return False
    return _ENVIRONMENT.search(upper) is not None


def secret_parameters(pairs: Pairs) -> set[str]:
    """Names among the parameters of one request, or the fields of one object, that hold
    credentials. ``code`` and ``state`` do where they belong to OAuth or look random."""
    given = {name: value for name, value in pairs if value}
    found = {name for name in given if is_secret_name(name)}
    code, state = given.get("code", ""), given.get("state", "")
    is_oauth = bool(_OAUTH & given.keys())
    is_code = bool(code) and (
        is_oauth
        or (len(code) >= CODE_CHARACTERS_MIN and is_random(code))
        or (bool(state) and len(code) >= 6 and is_random(code))
    )
    if is_code:
        found.add("code")
    if state and (is_code or is_oauth or (len(state) >= STATE_CHARACTERS_MIN and is_random(state))):
        found.add("state")
    return found


def is_random(text: str) -> bool:
    """Whether a word mixes letters with digits, or the cases of letters within it; a UUID and a
    sentence do not count."""
    if re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        return False
    if re.search(r"\s", text):
        return False
    has_digit, has_letter = re.search(r"\d", text), re.search(r"[A-Za-z]", text)
    mixes_case = re.search(r"[a-z][A-Z]{1,3}[a-z]", text) is not None
    return bool(has_letter and (has_digit or mixes_case))
