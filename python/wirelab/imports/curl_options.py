"""The options of curl 7.88 to 8 (https://curl.se/docs/manpage.html), and how curl reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirelab.errors import UsageError


def _names(text: str) -> tuple[str, ...]:
    """``LETTER:NAME`` or ``NAME`` of each option."""
    return tuple(text.split())


_IGNORED_FLAGS = _names("""
    a:append B:use-ascii ftp-pasv basic cert-status compressed-ssh create-dirs
    q:disable disable-eprt disable-epsv disallow-username-in-url doh-cert-status doh-insecure
    f:fail fail-early fail-with-body false-start ftp-create-dirs ftp-pret
    ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control http0.9 http1.1 ignore-content-length i:include
    k:insecure 4:ipv4 6:ipv6 j:junk-session-cookies keepalive l:list-only L:location
    location-trusted mail-rcpt-allowfails N:no-buffer buffer clobber progress-meter sessionid
    alpn npn no-alpn no-npn no-sessionid no-keepalive no-clobber no-progress-meter Z:parallel
    parallel-immediate post301 post302 post303 #:progress-bar proxy-anyauth proxy-basic
    proxy-digest proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast
    proxy-ssl-auto-client-cert proxy-tlsv1 raw J:remote-header-name O:remote-name remote-name-all
    R:remote-time remove-on-error retry-all-errors retry-connrefused sasl-ir S:show-error s:silent
    skip-existing ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd
    ssl-revoke-best-effort 2:sslv2 3:sslv3 styled-output suppress-connect-headers tcp-fastopen
    tcp-nodelay tftp-no-options 1:tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 trace-ids trace-time
    v:verbose xattr ca-native proxy-ca-native mptcp
""")
_IGNORED_VALUES = _names("""
    alt-svc cacert capath cert-type ciphers connect-timeout c:cookie-jar create-file-mode crlfile
    curves delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url D:dump-header
    ech egd-file engine etag-save expect100-timeout ftp-account ftp-alternative-to-user ftp-method
    P:ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms hostpubmd5 hostpubsha256 hsts interface
    ip-tos keepalive-cnt keepalive-time key-type krb libcurl limit-rate local-port login-options
    mail-auth mail-from mail-rcpt max-filesize max-redirs m:max-time noproxy o:output output-dir
    parallel-max parallel-max-host pass pinnedpubkey proto proto-redir proxy-cacert proxy-capath
    proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type
    proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype
    proxy-tlspassword proxy-tlsuser U:proxy-user pubkey Q:quote random-file rate retry retry-delay
    retry-max-time sasl-authzid service-name sigalgs socks5-gssapi-service Y:speed-limit
    y:speed-time stderr t:telnet-option tftp-blksize tls-max tls13-ciphers tlsauthtype tlspassword
    tlsuser trace trace-ascii trace-config vlan-priority w:write-out
""")
_READ_FLAGS = _names("""
    anyauth compressed crlf digest G:get g:globoff I:head 0:http1.0 http2 http2-prior-knowledge
    negotiate n:netrc netrc-optional ntlm ntlm-wb path-as-is form-escape tr-encoding
""")
_READ_VALUES = _names("""
    b:cookie connect-to d:data data-ascii data-binary data-raw data-urlencode F:form form-string
    H:header json netrc-file oauth2-bearer proto-default r:range e:referer X:request
    request-target resolve T:upload-file url url-query u:user A:user-agent
""")
_PROXY = "the request would go through a proxy", "leave it out, or write via: for a service"
_CERTIFICATE = "certificates belong to the service", "write tls: there"
_OTHER = "it changes the connection", "leave it out"
_NOT_HTTP = "it is not about a request", "leave it out"
_REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("abstract-unix-socket", "unix-socket"), _OTHER),
    **dict.fromkeys(("E:cert", "key"), _CERTIFICATE),
    **dict.fromkeys(
        ("preproxy", "x:proxy", "proxy1.0", "socks4", "socks4a", "socks5", "socks5-hostname"),
        _PROXY,
    ),
    "aws-sigv4": ("curl signs each request", "sign it yourself, and give the headers"),
    "C:continue-at": ("where it continues depends on a file", "write --range FROM-"),
    "K:config": ("options in a file are not read", "write them on the command line"),
    "etag-compare": ("the header depends on a file", "write --header 'If-None-Match: …'"),
    "variable": ("variables of curl are not known", "write the values"),
    "z:time-cond": ("the date is one of curl's own form", "write --header 'If-Modified-Since: …'"),
    "h:help": _NOT_HTTP,
}
_REFUSED_FLAGS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("haproxy-protocol", "http3", "http3-only"), _OTHER),
    **dict.fromkeys(
        ("p:proxytunnel", "socks5-basic", "socks5-gssapi", "socks5-gssapi-nec"), _PROXY
    ),
    **dict.fromkeys(("M:manual", "V:version", "metalink"), _NOT_HTTP),
}


@dataclass(frozen=True)
class Option:
    """An option as curl knows it."""

    name: str
    """The long one, without dashes."""
    has_value: bool
    is_read: bool = False
    """Whether it has an effect on the request."""
    refusal: tuple[str, str] = ("", "")
    """Why it cannot be imported, and the remedy."""


@dataclass(frozen=True)
class Given:
    """An option of a command, or a URL (``url``)."""

    name: str
    value: str = ""
    is_on: bool = True
    """False of ``--no-NAME``."""


def _table() -> tuple[dict[str, Option], dict[str, Option]]:
    """Options by their long name, and by their letter."""
    long: dict[str, Option] = {}
    short: dict[str, Option] = {}

    def add(written: str, option_of: Option) -> None:
        letter, colon, name = written.partition(":")
        option = Option(
            name if colon else letter, option_of.has_value, option_of.is_read, option_of.refusal
        )
        long[option.name] = option
        if colon:
            short[letter] = option

    for names, kind in (
        (_IGNORED_FLAGS, Option("", False)),
        (_IGNORED_VALUES, Option("", True)),
        (_READ_FLAGS, Option("", False, True)),
        (_READ_VALUES, Option("", True, True)),
    ):
        for written in names:
            add(written, kind)
    for written, why in _REFUSED.items():
        add(written, Option("", True, False, why))
    for written, why in _REFUSED_FLAGS.items():
        add(written, Option("", False, False, why))
    return long, short


LONG, SHORT = _table()


def groups(words: list[str]) -> list[list[Given]]:
    """The options and URLs of each request, which ``--next`` separates. Raises
    :class:`UsageError` for an option that cannot be imported, by its name."""
    found: list[list[Given]] = [[]]
    for given in _read(words):
        if given.name == "next":
            found.append([])
        else:
            found[-1].append(given)
    return found


def _read(words: list[str]) -> Iterator[Given]:
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (Given("url", url) for url in rest)
        elif word in ("--next", "-:"):
            yield Given("next")
        elif word.startswith("--"):
            yield from _long(word, rest)
        elif word.startswith("-") and len(word) > 1:
            yield from _letters(word, rest)
        else:
            yield Given("url", word)


def _long(word: str, rest: Iterator[str]) -> Iterator[Given]:
    name = word[2:]
    option = LONG.get(name)
    is_on = True
    if option is None and name.startswith("no-") and not name.removeprefix("no-").startswith("no-"):
        option, is_on = LONG.get(name.removeprefix("no-")), False
    if option is None:
        fitting = [one for one in LONG if name and one.startswith(name)]
        if len(fitting) != 1:
            raise _unknown(word, fitting)
        option = LONG[fitting[0]]
    yield from _read_option(option, word, rest, is_on=is_on)


def _letters(word: str, rest: Iterator[str]) -> Iterator[Given]:
    at = 1
    while at < len(word):
        letter = word[at]
        at += 1
        if letter == ":":
            yield Given("next")
            continue
        option = SHORT.get(letter)
        if option is None:
            raise _unknown(f"-{letter}", [])
        if option.has_value and at < len(word):
            yield from _read_option(option, f"-{letter}", iter((word[at:],)), is_on=True)
            return
        yield from _read_option(option, f"-{letter}", rest, is_on=True)


def _read_option(
    option: Option, spelled: str, rest: Iterator[str], *, is_on: bool
) -> Iterator[Given]:
    if option.refusal[0]:
        raise UsageError(f"curl {spelled}: {option.refusal[0]}", option.refusal[1])
    value = next(rest, None) if option.has_value else ""
    if value is None:
        raise UsageError(f"curl {spelled}: its value is missing", "add it")
    if option.is_read:
        yield Given(option.name, value, is_on)


def _unknown(spelled: str, fitting: list[str]) -> UsageError:
    if fitting:
        names = ", ".join(f"--{one}" for one in fitting[:5])
        return UsageError(f"curl {spelled}: it may be {names}", "write the whole name")
    return UsageError(
        f"curl {spelled}: this option is not known", "leave it out if a request does not need it"
    )
