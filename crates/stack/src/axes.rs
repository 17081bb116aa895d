//! The axis table: every factor by which two stacks can differ.
//!
//! Only axes and values that can be measured today are in it. A new value is a row here, and
//! code in the engine or a service that honours it.

use serde::Serialize;

use crate::bindings::Codec;
use crate::values::{
    ByteOrder, Compression, EndOfMessage, Flush, HttpCache, Reply, Security, SoapVersion,
    SocketKind, TokenCache, TokenSource, Transport, Work, Writes,
};

/// One factor.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// Its name in references: `client.writes`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The value when unnamed. Of codec and transport: see [`BINDINGS`](crate::bindings::BINDINGS).
    pub default: &'static str,
    /// Values that are names.
    pub names: &'static [&'static str],
    /// Words that take a number, as `pool` in `pool=8`.
    pub counted: &'static [&'static str],
    /// What a number means where one is a value too.
    pub number: Option<Number>,
    /// Who honours it.
    pub side: Side,
    /// Words that people write for the axis.
    pub meant: &'static [&'static str],
}

/// The unit and the range of values that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Number {
    /// What is counted.
    pub unit: Unit,
    /// The smallest value.
    pub min: u32,
    /// The largest.
    pub max: u32,
}

/// What the number of an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Whole milliseconds.
    Milliseconds,
    /// Per cent of one core; written `25%`.
    Percent,
    /// Full segments of TCP.
    Segments,
    /// Connections to a database.
    Connections,
}

/// Who honours an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Caller and service.
    Both,
    /// The caller alone.
    Caller,
    /// The service alone.
    Service,
    /// The link.
    Link,
    /// The lab: control groups, warm-up, who calls.
    Lab,
}

/// The largest N in `pool=N`, `pipeline=N` and `multiplex=N`.
pub const COUNT_MAX: u32 = 1_000_000;

/// The largest window: RFC 9113 section 6.9.1, and `int` of setsockopt(2).
const WINDOW: Number = Number {
    unit: Unit::Bytes,
    min: 1,
    max: (1 << 31) - 1,
};
const CLOSE_DELAY: Number = Number {
    unit: Unit::Milliseconds,
    min: 0,
    max: 60_000,
};
/// The kernel gives 1 ms of a period of 10 ms at least.
const CPU: Number = Number {
    unit: Unit::Percent,
    min: 10,
    max: 100,
};
const SEGMENTS: Number = Number {
    unit: Unit::Segments,
    min: 1,
    max: 1000,
};

const CONNECTIONS: Number = Number {
    unit: Unit::Connections,
    min: 1,
    max: 10_000,
};

/// PostgreSQL takes 262143 at most and reserves a few for itself.
const SERVER_CONNECTIONS: Number = Number {
    unit: Unit::Connections,
    min: 10,
    max: 100_000,
};

const SWITCH: &[&str] = &["off", "on"];
/// A switch whose default is `on`.
const ON: &[&str] = &["on", "off"];
const QUICKACK: &[&str] = &["kernel", "off", "on"];

const fn axis(
    name: &'static str,
    about: &'static str,
    side: Side,
    names: &'static [&'static str],
) -> Axis {
    Axis {
        name,
        about,
        default: if names.is_empty() { "" } else { names[0] },
        names,
        counted: &[],
        number: None,
        side,
        meant: &[],
    }
}

impl Axis {
    const fn with_counted(self, counted: &'static [&'static str]) -> Axis {
        Axis { counted, ..self }
    }

    const fn with_number(self, number: Number) -> Axis {
        Axis {
            number: Some(number),
            ..self
        }
    }

    const fn default(self, default: &'static str) -> Axis {
        Axis { default, ..self }
    }

    const fn meant(self, meant: &'static [&'static str]) -> Axis {
        Axis { meant, ..self }
    }
}

/// Values of `ws_security` for which both ends need keys.
pub const KEYED: [&str; 3] = ["signature", "encryption", "signature-encryption"];

/// All axes but binding and language, in the order of references.
pub const TABLE: &[Axis] = &[
    axis(
        // Neither default below holds for every binding: `axis_map::default` takes the
        // first codec and transport of the binding's row. These two are rest's.
        "codec",
        "how messages become bytes",
        Side::Both,
        Codec::NAMES,
    )
    .default("json"),
    axis(
        "soap",
        "version of SOAP, with binding soap",
        Side::Both,
        SoapVersion::NAMES,
    ),
    axis(
        "compression",
        "of message bodies; permessage-deflate: of messages of WebSocket, where the service agrees",
        Side::Both,
        Compression::NAMES,
    )
    .meant(&["deflate"]),
    axis(
        "transport",
        "what carries them; tcp: a stream of bytes without HTTP",
        Side::Both,
        Transport::NAMES,
    )
    .default("http/1.1")
    .meant(&["http"]),
    axis(
        "socket",
        "what the transport runs on: TCP over loopback, or a Unix socket",
        Side::Both,
        SocketKind::NAMES,
    )
    .meant(&["unix"]),
    axis(
        "connection",
        "close: one per call; keep: one per user; pool=N: N for all users",
        Side::Caller,
        &["close", "keep"],
    )
    .default("keep")
    .with_counted(&["pool"])
    .meant(&["pool"]),
    axis(
        "in_flight",
        "calls under way per connection",
        Side::Caller,
        &["1"],
    )
    .with_counted(&["pipeline", "multiplex"]),
    axis(
        "end_of_message",
        "how HTTP/1.x replies end; until-close: by the end of the connection",
        Side::Service,
        EndOfMessage::NAMES,
    ),
    axis(
        "http_cache",
        "of replies to GET: revalidate: the caller has the reply and asks whether it is still right \
         (ETag, 304); proxy: a proxy keeps it and answers for the service",
        Side::Both,
        HttpCache::NAMES,
    ),
    axis(
        "flush",
        "of a streamed reply of rest and sse; item: each item is sent at once; library: when its \
         library sends by itself",
        Side::Service,
        Flush::NAMES,
    )
    .meant(&["flushing"]),
    axis(
        "close_delay",
        "milliseconds that the service waits before it closes a connection",
        Side::Service,
        &[],
    )
    .default("0")
    .with_number(CLOSE_DELAY),
    axis(
        "reply",
        "one-way: none; a call ends when the service reports that it has processed it",
        Side::Both,
        Reply::NAMES,
    )
    .meant(&["one-way"]),
    axis(
        "client.writes",
        "header and body in one send, or two",
        Side::Caller,
        Writes::NAMES,
    )
    .meant(&["writes"]),
    axis(
        "server.writes",
        "header and body in one send, or two",
        Side::Service,
        Writes::NAMES,
    ),
    axis(
        // Off, because that is what users of the usual clients have: Go's net package,
        // libcurl since 7.50.2 and gRPC set TCP_NODELAY.
        "client.nagle",
        "Nagle's algorithm (RFC 896)",
        Side::Caller,
        SWITCH,
    ),
    axis(
        "server.nagle",
        "Nagle's algorithm (RFC 896)",
        Side::Service,
        SWITCH,
    ),
    axis(
        // After every receive, because the option is not permanent (tcp(7)): the kernel may
        // leave quickack mode at any later segment.
        "client.quickack",
        "TCP_QUICKACK set again after every receive",
        Side::Caller,
        QUICKACK,
    ),
    axis(
        "client.tcp_window",
        "SO_RCVBUF in bytes",
        Side::Caller,
        &["kernel"],
    )
    .with_number(WINDOW),
    axis(
        "server.tcp_window",
        "SO_RCVBUF in bytes",
        Side::Service,
        &["kernel"],
    )
    .with_number(WINDOW),
    axis(
        // RFC 9113 section 6.9.2 starts with 65,535 bytes. A client that kept it would make
        // every large reply wait for its WINDOW_UPDATE, and its own window would be what is
        // measured.
        "client.h2_window",
        "HTTP/2 window offered for replies, bytes; engine: 2^30 - 1, never the limit",
        Side::Caller,
        &["engine"],
    )
    .with_number(WINDOW),
    axis(
        // RFC 9113 section 3.4 lets a client send before the server's SETTINGS have come, and
        // most do: waiting costs a round trip per connection.
        "client.h2_wait_settings",
        "open streams only after the server's SETTINGS, so that none exceeds its limit",
        Side::Caller,
        SWITCH,
    ),
    axis(
        // A connection per call would else measure a handshake that clients without a store of
        // tickets do not have.
        "client.tls_resumption",
        "handshakes of TLS resume an earlier session of the client (RFC 8446 section 2.2)",
        Side::Caller,
        SWITCH,
    ),
    axis(
        "server.h2_window",
        "HTTP/2 window offered for requests, bytes",
        Side::Service,
        &["library"],
    )
    .with_number(WINDOW),
    axis(
        // The three axes below are settings of a network namespace or of a route. A link
        // has namespaces of its own; on loopback they would change the whole machine.
        "congestion",
        "TCP's congestion control at both ends of a link; loopback has the machine's",
        Side::Link,
        &["cubic", "bbr", "reno"],
    ),
    axis(
        // initcwnd of ip-route(8); RFC 6928 made 10 segments the usual value.
        "initial_window",
        "segments that a new connection may send at once, at both ends of a link",
        Side::Link,
        &["kernel"],
    )
    .with_number(SEGMENTS),
    axis(
        // net.ipv4.tcp_slow_start_after_idle: RFC 5681 section 4.1 restarts the window
        // after a pause longer than one retransmission timeout.
        "after_idle",
        "of a pause, at both ends of a link; restart: it shrinks TCP's congestion window",
        Side::Link,
        &["restart", "keep"],
    ),
    axis(
        "security",
        "of the transport; mtls: the client shows a certificate too",
        Side::Both,
        Security::NAMES,
    )
    .meant(&["tls"]),
    axis(
        "ws_security",
        "of SOAP messages (OASIS WS-Security); username-token: name and password in their header; \
         the others: of their bodies, by certificates",
        Side::Both,
        &["none", "username-token", KEYED[0], KEYED[1], KEYED[2]],
    ),
    axis(
        "via",
        "proxy between caller and service, started by the lab; none: calls go straight to the service",
        Side::Lab,
        &["none", "nginx", "haproxy", "caddy"],
    )
    .meant(&["proxy", "gateway", "hop"]),
    axis(
        "via_upstream",
        "version of HTTP from the proxy to the service; same: the caller's, which is the axis transport",
        Side::Lab,
        &["same", "http/1.0", "http/1.1", "http/2"],
    )
    .meant(&["upstream"]),
    axis(
        "via_buffering",
        "on: the proxy may collect a reply before it forwards it; off: it forwards what arrives",
        Side::Lab,
        ON,
    )
    .meant(&["buffering"]),
    axis(
        "via_keepalive",
        "whether the proxy keeps its connections to the service for further calls",
        Side::Lab,
        ON,
    )
    .meant(&["upstream_keepalive"]),
    axis(
        "store",
        "where a service of records or petclinic keeps its rows; all but memory are databases",
        Side::Service,
        &["memory", "sqlite", "h2", "hsqldb", "postgres"],
    )
    .meant(&["database", "db"]),
    axis(
        "store_pool",
        "connections of the service to its database at most; driver: the library's default",
        Side::Service,
        &["driver"],
    )
    .with_number(CONNECTIONS),
    axis(
        "max_connections",
        "connections that PostgreSQL accepts; its own default is 100",
        Side::Lab,
        &[],
    )
    .default("100")
    .with_number(SERVER_CONNECTIONS),
    axis(
        "repository",
        "library by which a Java service of petclinic reaches the rows of its database",
        Side::Service,
        &["data-jpa", "jpa", "jdbc"],
    )
    .meant(&["orm", "persistence"]),
    axis(
        "fetch",
        "how ListOwners of petclinic reads pets and visits; join: with the owners, by one statement",
        Side::Service,
        &["eager", "join"],
    ),
    axis(
        "mapper",
        "whether petclinic has data transfer objects between its entities and messages",
        Side::Service,
        ON,
    )
    .meant(&["dto", "mapstruct"]),
    axis(
        "validation",
        "whether petclinic checks the fields of requests against their limits",
        Side::Service,
        ON,
    ),
    axis(
        // Named for what the service instantiates. Nothing is looked up on the class path,
        // where the order of jars would decide.
        "parser",
        "XML parser of a SOAP service in Java, for requests; default: what its library takes",
        Side::Service,
        &[
            "default",
            "xerces-sax",
            "crimson-sax",
            "jdk",
            "woodstox",
            "aalto",
        ],
    )
    .meant(&["xml", "sax", "stax"]),
    axis(
        "token_source",
        "what the client encodes token-xml from: the message, or its XML text",
        Side::Caller,
        TokenSource::NAMES,
    ),
    axis(
        "token_cache",
        "what both ends of a token-xml connection keep; names: as the study of 2003 did",
        Side::Both,
        TokenCache::NAMES,
    ),
    axis(
        "byte_order",
        "of the client's GIOP messages",
        Side::Caller,
        ByteOrder::NAMES,
    ),
    axis(
        "work",
        "decode: every reply in full; frame: status, length and frame only",
        Side::Caller,
        Work::NAMES,
    ),
    axis(
        "start",
        "cold: measured from the first call of a fresh process",
        Side::Lab,
        &["warm", "cold"],
    ),
    axis(
        "client.cpu",
        "share of one core that the caller gets, for slow devices; all: whatever is there",
        Side::Lab,
        &["all"],
    )
    .with_number(CPU),
    axis(
        // Caller and service are in control groups of their own, so each can be slow
        // without the other.
        "server.cpu",
        "share of one core that the service gets, for slow devices; all: whatever is there",
        Side::Lab,
        &["all"],
    )
    .with_number(CPU),
    axis(
        "caller",
        "who makes the calls; go: net/http and grpc-go; java: Spring's RestClient, grpc-java, CXF, \
         Axis and JacORB; the others: load tools, windows included",
        Side::Lab,
        &[
            "engine", "go", "java", "ghz", "ab", "wrk", "h2load", "jmeter",
        ],
    ),
];

/// The axis of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Axis> {
    TABLE.iter().find(|axis| axis.name == name)
}
