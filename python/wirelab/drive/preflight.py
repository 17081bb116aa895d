"""One request before the load: where redirections lead, and which cookies a server sets.

Both are settled once. Following a redirection in every call would measure two calls as one, and
sessions of their own for users are a matter of the load's data.
"""

from __future__ import annotations

import http.client
import http.cookiejar
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from wirelab.drive.session import Call
from wirelab.errors import UsageError
from wirelab.secrets.finding import hide_target
from wirelab.stack import targets
from wirelab.stack.targets import Server

if TYPE_CHECKING:
    from email.message import Message

HOPS_MAX = 10
"""Redirections that are followed."""
ANSWER_S_MAX = 10.0
CREDENTIALS = {"authorization", "cookie"}
"""Headers that another server than the one that was named does not get."""
SAME_METHOD = (307, 308)
"""Redirections that keep method and body (RFC 9110, section 15.4); after others GET is usual."""


@dataclass(frozen=True)
class Found:
    """What is driven."""

    server: Server
    call: Call
    notes: tuple[str, ...]
    """What was followed and which cookies are sent, for people."""


def look_ahead(url: str, call: Call, *, follow: bool, cookies: bool, any_target: bool) -> Found:
    """Makes the request until no redirection answers it (``follow``), and adds the cookies that
    came to every call (``cookies``). Raises :class:`UsageError` where there is no answer, or one
    that leads where nothing may be loaded."""
    jar = http.cookiejar.CookieJar()
    hops = _Hops(any_target=any_target, follow=follow)
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPCookieProcessor(jar),
        urllib.request.HTTPSHandler(context=_context(call)),
        hops,
    )
    _server(url, any_target=any_target)
    request = urllib.request.Request(
        url, call.body, _join_headers(call.headers), method=_method(call)
    )
    try:
        with opener.open(request, timeout=ANSWER_S_MAX) as reply:
            last = reply.geturl()
    except urllib.error.HTTPError as error:  # a reply, too
        last = error.geturl()
        error.close()
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", "") or error or type(error).__name__
        raise UsageError(
            f"the request before the load was not answered: {reason}",
            "is the server running, and is the URL right?",
        ) from error
    notes = list(hops.notes)
    has_body = hops.method is None
    if hops.notes:
        kept = _keep_headers(
            _join_headers(call.headers), has_body=has_body, same_host=not hops.leaves_host
        )
        headers = tuple(pair for pair in call.headers if pair[0] in kept)
        call = replace(call, headers=headers)
    if not has_body:
        call = replace(call, method=hops.method, body=None)
    if cookies:
        asked = urllib.request.Request(last)
        jar.add_cookie_header(asked)
        sent = asked.get_header("Cookie")
        if sent is None:
            raise UsageError("--cookies: the server set none for this URL", "leave --cookies out")
        call = replace(call, headers=(*call.headers, ("cookie", sent)))
        names = ", ".join(sorted(part.partition("=")[0] for part in sent.split("; ")))
        notes.append(f"every call sends the cookies that the server set: {names}")
    return Found(_server(last, any_target=any_target), call, tuple(notes))


class _Hops(urllib.request.HTTPRedirectHandler):
    """Follows redirections within what may be loaded."""

    max_redirections = HOPS_MAX

    def __init__(self, *, any_target: bool, follow: bool) -> None:
        self.notes: list[str] = []
        self.method: str | None = None
        """After the redirections, where they change it."""
        self.leaves_host = False
        """Whether they lead to another server, who must not get what is meant for the first."""
        self._any_target, self._follow = any_target, follow

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message | http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request; None ends them with this reply."""
        if not self._follow:
            return None
        _server(newurl, any_target=self._any_target)
        self.notes.append(
            f"followed {code} from {hide_target(req.full_url)} to {hide_target(newurl)}"
        )
        keeps = code in SAME_METHOD or req.get_method() in ("GET", "HEAD")
        self.leaves_host |= urlsplit(newurl).netloc != urlsplit(req.full_url).netloc
        if not keeps:
            self.method = "GET"
        return urllib.request.Request(
            newurl,
            req.data if keeps else None,
            _keep_headers(req.headers, has_body=keeps, same_host=not self.leaves_host),
            method=req.get_method() if keeps else "GET",
        )


def _keep_headers(headers: Mapping[str, str], *, has_body: bool, same_host: bool) -> dict[str, str]:
    """What the next request still sends."""
    gone = {"host"}
    if not has_body:
        gone |= {"content-type", "content-length"}
    if not same_host:
        gone |= CREDENTIALS
    return {name: value for name, value in headers.items() if name.lower() not in gone}


def _join_headers(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """A repeated header as one list, which means the same (RFC 9110, section 5.3)."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _server(url: str, *, any_target: bool) -> Server:
    """Raises :class:`UsageError` for one that may not be loaded."""
    server = targets.parse(url) if "://" in url else None
    if not isinstance(server, Server) or server.kind != "http":
        raise UsageError(f"{hide_target(url)!r} is not HTTP", "--follow and --cookies are of HTTP")
    if not server.local and not any_target:
        raise UsageError(
            f"{server.authority} is not on this machine",
            "give --any-target if you may load that server",
        )
    return server


def _method(call: Call) -> str:
    return call.method or ("GET" if call.body is None else "POST")


def _context(call: Call) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(call.ca) if call.ca else None)
    if call.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
