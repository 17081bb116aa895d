"""What to change about a finding in a program that is not the lab's: the option of the system, and
the usual setting of common servers and clients."""

from __future__ import annotations

from wirelab.records.wire import PacketFinding

_NODELAY = (
    "set TCP_NODELAY on the {side}'s sockets, or send the message in one write. nginx: "
    "`tcp_nodelay on` (the default); Go: on by default, unless SetNoDelay(false) was called; "
    "Node.js: `socket.setNoDelay()`; Java: `socket.setTcpNoDelay(true)`; Python: "
    "`sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)`"
)
_JOINED = (
    "let the {side} send head and body in one write. nginx: `tcp_nopush on` with sendfile; Go: "
    "bufio.Writer, and flush at the end; Node.js: `cork()` and `uncork()`, or pass the body to "
    "`end()`; Java: BufferedOutputStream"
)
_H2_WINDOW = (
    "raise the HTTP/2 window of the {other} (SETTINGS_INITIAL_WINDOW_SIZE, and WINDOW_UPDATE of "
    "the connection). nginx: `http2_body_preread_size`; Go: `MaxUploadBufferPerStream` of "
    "http2.Server; grpc-go: InitialWindowSize and InitialConnWindowSize; Netty: "
    "`initialWindowSize`"
)
_ADVICE = {
    "nagle-delayed-ack": _NODELAY,
    "split-writes": _JOINED,
    "h2-window-exhausted": _H2_WINDOW,
    "connection-per-call": (
        "let the client keep its connections. nginx as a proxy: `keepalive` in `upstream`; Go: one "
        "http.Client, and read each body to its end; Node.js: `new http.Agent({keepAlive: true})`; "
        "Java: one HttpClient for all calls; Python: requests.Session"
    ),
    "expect-continue": (
        "let the client send small bodies without `Expect: 100-continue`, or the server answer "
        "100 (Continue) at once. curl: `-H 'Expect:'`; Go: leave the header out, or set "
        "`ExpectContinueTimeout` of http.Transport; Java: `expectContinue(false)` of HttpRequest; "
        ".NET: `ExpectContinue = false`; Node.js as a server: `checkContinue` must call "
        "`writeContinue()`; nginx answers 100 by itself"
    ),
    "events-in-bursts": (
        "let every part between the server and the client pass events on at once. nginx: "
        "`proxy_buffering off`, or `X-Accel-Buffering: no` in the reply, and no gzip for "
        "text/event-stream; Caddy: `flush_interval -1`; HAProxy: `option http-no-delay`; Apache: "
        "`flushpackets=on` of ProxyPass; in the server: flush after each event"
    ),
    "stream-buffered": (
        "let the proxy pass messages on at once. nginx: `proxy_buffering off`, or "
        "`X-Accel-Buffering: no` in the reply, and no gzip for text/event-stream; Caddy: "
        "`flush_interval -1`; HAProxy: `option http-no-delay`; Apache: `flushpackets=on` of "
        "ProxyPass; Envoy: no buffer filter on the route"
    ),
    "h2-head-of-line": (
        "give streams that must not wait for each other connections of their own, or use HTTP/3, "
        "whose streams wait for their own losses only"
    ),
    "read-until-close": (
        "let the server state Content-Length, or send chunks, so that the reply ends before the "
        "connection does"
    ),
    "slow-start": (
        "keep connections open, so that their congestion window has grown; or raise the initial "
        "window of the {side}: `ip route change … initcwnd 30`"
    ),
    "idle-restart": "on the {side}: `sysctl net.ipv4.tcp_slow_start_after_idle=0`",
    "tcp-window-exhausted": (
        "let the {other}'s buffer grow: raise the last figure of `net.ipv4.tcp_rmem`, and do not "
        "set SO_RCVBUF, which switches the growth off"
    ),
}
"""By cause. ``{side}`` held its message back, ``{other}`` received it."""

_OF_RECEIVER = ("h2-window-exhausted", "tcp-window-exhausted")
"""Causes whose switch belongs to the side that receives."""


def advice(finding: PacketFinding) -> str:
    """Empty where no setting is known to change it."""
    text = _ADVICE.get(finding.cause, "")
    axis = finding.test.axis if finding.test else ""
    named = "client" if axis.startswith("client.") else "server"
    opposite = "server" if named == "client" else "client"
    side, other = (opposite, named) if finding.cause in _OF_RECEIVER else (named, opposite)
    return text.replace("{side}", side).replace("{other}", other)
