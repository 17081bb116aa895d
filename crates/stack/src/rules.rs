//! Which points of the axis table exist: what protocols, sockets and callers allow, as data.

use std::sync::LazyLock;

use crate::axes::{KEYED, Side, TABLE, find};
use crate::axis_map::AxisMap;
use crate::bindings::BINDINGS;
use crate::proxies::of_proxies;
pub use crate::rule::{Condition, Rule};
use crate::rule::{belongs, is, not, rule};

/// All rules, in the order in which they are checked.
pub static RULES: LazyLock<Vec<Rule>> =
    // Bindings come first: their repairs change transport and codec, on which later rules
    // depend.
    LazyLock::new(|| {
        [
            of_bindings(),
            of_connections(),
            of_sockets(),
            of_proxies(),
            of_callers(),
        ]
        .concat()
    });

/// The first rule that these axes break.
#[must_use]
pub fn first_broken(axes: &AxisMap) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.is_broken(axes))
}

fn of_bindings() -> Vec<Rule> {
    let mut rules = Vec::new();
    for row in BINDINGS {
        // Transports before codecs, each in a loop of its own: where both are wrong, the
        // transport is reported first for every binding.
        let (binding, transports) = (row.name.name(), names(row.transports, |t| t.name()));
        rules.push(rule(
            [is("binding", &[binding]), not("transport", &transports)],
            row.transports_because,
            ("transport", transports[0]),
        ));
    }
    for row in BINDINGS {
        let (binding, codecs) = (row.name.name(), names(row.codecs, |c| c.name()));
        rules.push(rule(
            [is("binding", &[binding]), not("codec", &codecs)],
            format!("{binding} serves {} only", codecs.join(", ")),
            ("codec", codecs[0]),
        ));
    }
    rules.extend([
        belongs(
            "soap",
            &[not("binding", &["soap"])],
            "only binding soap has versions of SOAP",
        ),
        rule(
            // SOAP 1.2 moved its encoding to an adjunct (part 2, section 3) with other
            // names and rules. That would be one more codec.
            [is("soap", &["1.2"]), is("codec", &["soap-encoded"])],
            "soap-encoded is the encoding of SOAP 1.1 section 5",
            ("soap", "1.1"),
        ),
        belongs(
            "compression",
            &[is("binding", &["iiop"])],
            "GIOP 1.2 has no compression",
        ),
        rule(
            [
                is("binding", &["websocket"]),
                is("compression", &["gzip", "zstd"]),
            ],
            "messages of WebSocket have one compression, which both sides agree on (RFC 7692)",
            ("compression", "permessage-deflate"),
        ),
        rule(
            [
                not("binding", &["websocket"]),
                is("compression", &["permessage-deflate"]),
            ],
            "permessage-deflate is an extension of WebSocket (RFC 7692)",
            ("compression", "none"),
        ),
        rule(
            [is("binding", &["connect"]), is("compression", &["zstd"])],
            "connect-go compresses by gzip unless a service brings another compression",
            ("compression", "gzip"),
        ),
        belongs(
            "byte_order",
            &[not("binding", &["iiop"])],
            "only GIOP lets a sender choose its byte order",
        ),
        belongs(
            "store_pool",
            &[is("store", &["memory"])],
            "a store in memory has no connections",
        ),
        belongs(
            "max_connections",
            &[not("store", &["postgres"])],
            "only PostgreSQL limits its connections",
        ),
        belongs(
            "repository",
            &[is("store", &["memory"])],
            "rows in memory are reached without a library",
        ),
        belongs(
            "fetch",
            &[is("store", &["memory"])],
            "rows in memory are read without statements",
        ),
        belongs(
            "parser",
            &[not("binding", &["soap"])],
            "only binding soap has a parser of XML to choose",
        ),
        rule(
            [
                is("parser", &["xerces-sax", "crimson-sax"]),
                not("codec", &["soap-encoded"]),
            ],
            "a parser with SAX is for codec soap-encoded, whose library reads by SAX",
            ("parser", "default"),
        ),
        rule(
            [
                is("parser", &["jdk", "woodstox", "aalto"]),
                is("codec", &["soap-encoded"]),
            ],
            "a parser with StAX is for codecs soap-literal and soap-rpc: the library of \
             soap-encoded reads by SAX",
            ("parser", "default"),
        ),
        belongs(
            "token_source",
            &[not("codec", &["token-xml"])],
            "only token-xml has a source to choose",
        ),
        belongs(
            "token_cache",
            &[not("codec", &["token-xml"])],
            "only token-xml has a cache",
        ),
        belongs(
            "http_cache",
            &[not("binding", &["rest"])],
            "caches of HTTP keep replies to GET (RFC 9111 section 3), which only rest has",
        ),
        belongs(
            "ws_security",
            &[not("binding", &["soap"])],
            "only messages of soap have a header for it",
        ),
        belongs(
            "reply",
            &[not("binding", &["raw"])],
            "only raw has a report of what was processed, which calls without a reply need",
        ),
        belongs(
            "client.writes",
            &[is("binding", &["iiop", "raw", "websocket"])],
            "the client's iiop, raw and websocket messages go out in one send",
        ),
        belongs(
            "flush",
            &[not("binding", &["rest", "sse"])],
            "only replies of rest and sse are written item by item into one body; the libraries \
             of the other bindings send each message themselves",
        ),
        rule(
            [is("flush", &["library"]), not("compression", &["none"])],
            "a compressor that is not flushed keeps items until its own block is full, \
             which is not a setting of the library that sends",
            ("flush", "item"),
        ),
        belongs(
            "end_of_message",
            &[is("binding", &["websocket"])],
            "messages of WebSocket have an end of their own (RFC 6455 section 5.2)",
        ),
        belongs(
            "end_of_message",
            &[is("binding", &["connect"])],
            "the libraries of Connect choose themselves how a reply ends",
        ),
    ]);
    rules
}

fn names<T: Copy>(values: &[T], name: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    values.iter().map(|value| name(*value)).collect()
}

fn of_connections() -> Vec<Rule> {
    vec![
        rule(
            [
                is("transport", &["http/1.0"]),
                not("connection", &["close"]),
            ],
            "HTTP/1.0 ends every connection after its reply (RFC 1945 section 1.3)",
            ("connection", "close"),
        ),
        rule(
            [is("reply", &["one-way"]), is("connection", &["close"])],
            "what was processed is reported by connection, which must stay",
            ("connection", "keep"),
        ),
        rule(
            [
                is("end_of_message", &["chunked"]),
                // The narrower rule goes first: without it the next one would report chunks
                // over HTTP/2 with a reason that is about closing.
                not("transport", &["http/1.1"]),
            ],
            "chunks exist in HTTP/1.1 only (RFC 9112 section 7.1)",
            ("end_of_message", "content-length"),
        ),
        belongs(
            "end_of_message",
            &[not("transport", &["http/1.0", "http/1.1"])],
            "only HTTP/1.x replies can end with their connection",
        ),
        rule(
            [
                is("end_of_message", &["until-close"]),
                not("connection", &["close"]),
            ],
            "a reply that ends with its connection needs one per call",
            ("connection", "close"),
        ),
        belongs(
            "close_delay",
            &[
                not("transport", &["http/1.0"]),
                not("end_of_message", &["until-close"]),
            ],
            "the service closes connections with transport=http/1.0 or end_of_message=until-close \
             only",
        ),
        rule(
            // Also with HTTP/1.1, which could pipeline before the close: the server ends
            // the connection after the first reply.
            [is("connection", &["close"]), not("in_flight", &["1"])],
            "a connection per call carries one call",
            ("in_flight", "1"),
        ),
        rule(
            [is("binding", &["websocket"]), not("in_flight", &["1"])],
            "messages of WebSocket have no numbers: one stream at a time on a connection",
            ("in_flight", "1"),
        ),
        rule(
            // The repair names no number: the one that was given is kept.
            [is("in_flight", &["pipeline"]), is("transport", &["http/2"])],
            "HTTP/2 interleaves calls and does not pipeline them",
            ("in_flight", "multiplex"),
        ),
        rule(
            [is("in_flight", &["pipeline"]), is("binding", &["iiop"])],
            // CORBA 3.3 part 2 section 9.4: a Reply carries the request_id of its Request.
            "GIOP numbers its calls and answers them in any order",
            ("in_flight", "multiplex"),
        ),
        rule(
            [
                is("in_flight", &["multiplex"]),
                not("transport", &["http/2"]),
                not("binding", &["iiop"]),
            ],
            "HTTP/1.x and raw answer in order and cannot multiplex",
            ("in_flight", "pipeline"),
        ),
    ]
}

fn of_sockets() -> Vec<Rule> {
    let unix = [not("socket", &["tcp"])];
    let mut rules: Vec<Rule> = ["client.h2_window", "server.h2_window"]
        .map(|axis| {
            belongs(
                axis,
                &[not("transport", &["http/2"])],
                "only HTTP/2 has a flow-control window of its own",
            )
        })
        .into();
    rules.push(belongs(
        "client.h2_wait_settings",
        &[not("transport", &["http/2"])],
        "only HTTP/2 has SETTINGS",
    ));
    rules.push(belongs(
        "client.tls_resumption",
        &[is("security", &["none"])],
        "there is no TLS session to resume",
    ));
    rules.push(rule(
        [is("socket", &["unix"]), is("reply", &["one-way"])],
        // The report names connections by the port of the peer (contracts/README.md, Raw).
        "what was processed is reported by port, and Unix sockets have none",
        ("socket", "tcp"),
    ));
    // From the table, so that a new axis of links cannot be forgotten here.
    let of_links = TABLE.iter().filter(|axis| axis.side == Side::Link);
    // SO_RCVBUF can be set on a Unix socket, but has no effect there (unix(7)).
    let of_tcp = [
        "client.nagle",
        "server.nagle",
        "client.quickack",
        "client.tcp_window",
        "server.tcp_window",
    ];
    for axis in of_tcp.into_iter().chain(of_links.map(|axis| axis.name)) {
        rules.push(belongs(
            axis,
            &unix,
            format!("{axis} is an option of TCP, not of Unix sockets"),
        ));
    }
    rules
}

/// What one caller other than the engine can do.
struct Caller {
    name: &'static str,
    bindings: &'static [&'static str],
    codecs: Option<&'static [&'static str]>,
    transports: Option<&'static [&'static str]>,
    compression: &'static [&'static str],
    connections: &'static [&'static str],
    /// The one value of `work`.
    work: &'static str,
    /// Why it has only these connections, and why only that work.
    because: [&'static str; 2],
}

/// Every caller but the engine. A value that a caller ignored would make two cells differ by
/// name alone, so that what it does not honour is refused.
const CALLERS: &[Caller] = &[
    Caller {
        name: "go",
        bindings: &["rest", "grpc"],
        codecs: Some(&["json", "protobuf", "text"]),
        transports: Some(&["http/1.1", "http/2"]),
        compression: &["none"],
        connections: &["keep", "close"],
        work: "decode",
        because: [
            "each user of this caller has a client of its own",
            "this caller decodes every reply",
        ],
    },
    Caller {
        name: "java",
        bindings: &["rest", "grpc", "soap", "iiop"],
        // `of_java` has what each of its libraries can do.
        codecs: None,
        transports: None,
        compression: &["none"],
        connections: &["keep", "close"],
        work: "decode",
        because: [
            "a user of this caller makes one call at a time",
            "this caller decodes every reply",
        ],
    },
    Caller {
        name: "ghz",
        bindings: &["grpc"],
        codecs: None,
        transports: None,
        compression: &["none", "gzip"],
        connections: &["keep"],
        work: "decode",
        because: [
            "ghz keeps its connections, one per user",
            "ghz decodes every reply",
        ],
    },
    Caller {
        name: "ab",
        bindings: &["rest"],
        codecs: None,
        transports: Some(&["http/1.0"]),
        compression: &["none"],
        connections: &["close"],
        work: "frame",
        because: [
            "ab sends HTTP/1.0",
            "ab compares no more than the length of a reply",
        ],
    },
    Caller {
        name: "wrk",
        bindings: &["rest"],
        codecs: None,
        transports: Some(&["http/1.1"]),
        compression: &["none"],
        connections: &["keep", "close"],
        work: "frame",
        because: [
            "wrk shares no connection among users",
            "wrk looks at the status of a reply only",
        ],
    },
    Caller {
        name: "h2load",
        bindings: &["rest"],
        codecs: None,
        transports: Some(&["http/2", "http/1.1"]),
        compression: &["none"],
        connections: &["keep"],
        work: "frame",
        because: [
            "h2load keeps its connections",
            "h2load looks at the status of a reply only",
        ],
    },
    Caller {
        name: "jmeter",
        bindings: &["rest"],
        codecs: None,
        transports: Some(&["http/1.1"]),
        compression: &["none"],
        connections: &["keep", "close"],
        work: "frame",
        because: [
            "each user of jmeter has a connection of its own",
            "jmeter looks at the status of a reply only",
        ],
    },
];

fn of_callers() -> Vec<Rule> {
    let mut rules = vec![of_engine()];
    rules.extend(CALLERS.iter().flat_map(of_caller));
    rules.extend(of_java());
    rules
}

/// What the engine cannot do, and another caller can.
fn of_engine() -> Rule {
    rule(
        [is("caller", &["engine"]), is("ws_security", &KEYED)],
        "the engine neither signs nor encrypts messages: no maintained library in Rust has \
         WS-Security",
        ("caller", "java"),
    )
}

/// What the libraries of `caller=java` cannot do.
fn of_java() -> Vec<Rule> {
    let java = is("caller", &["java"]);
    // java.net.http, which RestClient and CXF use, has no prior knowledge of HTTP/2 (RFC 9113
    // section 3.3), only the upgrade that the same RFC took away.
    let by_jdk = |reason: &str, transport| {
        rule(
            [
                java.clone(),
                is("binding", &["rest", "soap"]),
                not("codec", &["soap-encoded"]),
                is("transport", &[transport]),
            ],
            format!("{reason}: with caller=java transport can only be http/1.1"),
            ("transport", "http/1.1"),
        )
    };
    vec![
        rule(
            [
                java.clone(),
                is("binding", &["rest"]),
                not("codec", &["json", "protobuf", "text"]),
            ],
            "java has no other codec: with caller=java codec can only be json or protobuf or text",
            ("codec", "json"),
        ),
        by_jdk(
            "the JDK's HttpClient reaches HTTP/2 without TLS by an upgrade alone, which services \
             lack",
            "http/2",
        ),
        by_jdk("the JDK's HttpClient sends no HTTP/1.0", "http/1.0"),
        rule(
            [
                java.clone(),
                is("codec", &["soap-encoded"]),
                is("transport", &["http/2"]),
            ],
            "Axis 1.4 is older than HTTP/2: with caller=java and soap-encoded transport can only \
             be http/1.1 or http/1.0",
            ("transport", "http/1.1"),
        ),
        rule(
            [
                java.clone(),
                is("codec", &["soap-encoded"]),
                not("ws_security", &["none"]),
            ],
            "Axis 1.4 has no WS-Security of its own: with caller=java and soap-encoded ws_security \
             can only be none",
            ("ws_security", "none"),
        ),
        rule(
            [java, is("binding", &["iiop"]), not("byte_order", &["big"])],
            "JacORB sends its numbers most significant byte first: with caller=java byte_order can \
             only be big",
            ("byte_order", "big"),
        ),
    ]
}

fn of_caller(caller: &Caller) -> Vec<Rule> {
    let name = caller.name;
    let this = is("caller", &[name]);
    let [connections, work] = caller.because;
    let mut rules = vec![rule(
        [this.clone(), not("binding", caller.bindings)],
        format!("{name} {}", speaks(caller.bindings)),
        ("caller", "engine"),
    )];
    let mut only = |axis, values: &[&'static str], because: String| {
        let listed = values.join(" or ");
        rules.push(rule(
            [this.clone(), not(axis, values)],
            format!("{because}: with caller={name} {axis} can only be {listed}"),
            (axis, values[0]),
        ));
    };
    if let Some(transports) = caller.transports {
        // gRPC has one transport, which its binding demands.
        only(
            "transport",
            transports,
            format!("{name} has no other transport"),
        );
    }
    if !caller.connections.contains(&"close") {
        // Such a reply needs a connection per call, so that it goes before the connections.
        only(
            "end_of_message",
            &["content-length", "chunked"],
            connections.to_owned(),
        );
    }
    only("connection", caller.connections, connections.to_owned());
    only("work", &[caller.work], work.to_owned());
    if let Some(codecs) = caller.codecs {
        only("codec", codecs, format!("{name} has no other codec"));
    }
    // The last one is nearest to what was asked for, which was some compression.
    let (listed, nearest) = (caller.compression.join(" or "), caller.compression.last());
    rules.push(rule(
        [this.clone(), not("compression", caller.compression)],
        format!("{name} knows no other: with caller={name} compression can only be {listed}"),
        ("compression", nearest.copied().unwrap_or("none")),
    ));
    let fixed = [
        (
            "in_flight",
            "a user waits for its reply on a connection of its own",
        ),
        ("http_cache", "it keeps no replies"),
        ("ws_security", "it writes no header of SOAP"),
        ("security", "the lab hands it no certificates"),
        ("socket", "the lab gives it an address and a port"),
    ];
    let of_clients = TABLE
        .iter()
        // Every axis of the client, from the table: a new one is refused until a caller
        // is known to honour it. Shares of a core are the lab's to give, so they stay.
        .filter(|axis| axis.name.starts_with("client.") && axis.side == Side::Caller)
        .map(|axis| (axis.name, "it has no switch for it"));
    // `of_java` has what its libraries can do.
    let fixed = fixed
        .into_iter()
        .filter(|(axis, _)| (name, *axis) != ("java", "ws_security"));
    for (axis, because) in fixed.chain(of_clients) {
        let default = find(axis).expect("an axis of the table").default;
        let reason = format!("{because}: with caller={name} {axis} can only be {default}");
        rules.push(belongs(axis, std::slice::from_ref(&this), reason));
    }
    rules
}

fn speaks(bindings: &[&str]) -> String {
    match bindings {
        ["grpc"] => "speaks gRPC only".to_owned(),
        [others @ .., last] if !others.is_empty() => {
            format!("speaks {} and {last} only", others.join(", "))
        }
        _ => format!("speaks {} only", bindings.concat()),
    }
}
