//! Which points of the axis table exist, how they are written, and what a refusal says.

use serde_json::{Value, json};
use wirelab_stack::axes::TABLE;
use wirelab_stack::bindings::BINDINGS;
use wirelab_stack::rules::RULES;
use wirelab_stack::{AxisMap, Binding, Codec, Connection, Stack, Transport};

fn parse(of: &Value) -> Result<Stack, String> {
    serde_json::from_value(of.clone()).map_err(|error| error.to_string())
}

#[test]
fn every_binding_has_its_defaults() {
    for binding in Binding::ALL {
        let stack = Stack::resolve(AxisMap::new(*binding)).expect("defaults are legal");
        assert_eq!(stack.codec, binding.row().codecs[0]);
        assert_eq!(stack.transport, binding.row().transports[0]);
        assert_eq!(stack.connection, Connection::Keep);
        assert_eq!(stack.in_flight, 1);
    }
    // `row` panics for a binding without a row; this finds a row too many.
    assert_eq!(BINDINGS.len(), Binding::ALL.len());
}

#[test]
fn every_value_of_the_table_has_its_type() {
    for binding in Binding::ALL {
        for axis in TABLE {
            for word in axis.names {
                let mut axes = AxisMap::new(*binding);
                axes.set(axis.name, word).expect("a value of the table");
                // Most of these points are illegal by themselves, so the result says
                // nothing. A word that its type lacks would panic.
                let _ = Stack::resolve(axes);
            }
        }
    }
}

#[test]
fn every_axis_reaches_the_resolved_stack() {
    let stack = parse(&json!({
        "binding": "grpc", "connection": "pool=4", "in_flight": "multiplex=10",
        "client.h2_window": "65536", "client.quickack": "on", "client.nagle": "on",
        "client.writes": "split", "client.h2_wait_settings": "on", "work": "frame",
    }))
    .expect("a stack");
    assert_eq!(stack.transport, Transport::Http2);
    assert_eq!(stack.codec, Codec::Protobuf);
    assert_eq!(stack.connection, Connection::Pool(4));
    assert_eq!(stack.in_flight, 10);
    assert_eq!(stack.client.h2_window, Some(65_536));
    assert_eq!(stack.client.quickack, Some(true));
    assert!(stack.client.nagle);
    assert!(stack.client.h2_wait_settings);
    assert_eq!(stack.server.tcp_window, None);
}

#[test]
fn a_stack_is_written_as_it_was_read() {
    // No axis at its default, or it would not be seen whether defaults are added.
    let text = json!({"binding": "raw", "codec": "token-xml", "reply": "one-way"});
    let stack = parse(&text).expect("a stack");
    assert_eq!(serde_json::to_value(&stack).expect("JSON"), text);
}

#[test]
fn legal_stacks_are_taken() {
    for legal in [
        json!({"binding": "rest", "codec": "xml", "transport": "http/1.0", "connection": "close"}),
        json!({"binding": "rest", "codec": "protobuf", "transport": "http/2"}),
        json!({"binding": "rest", "codec": "cbor", "compression": "zstd"}),
        json!({"binding": "rest", "codec": "msgpack", "security": "mtls"}),
        json!({"binding": "rest", "codec": "avro", "end_of_message": "chunked"}),
        json!({"binding": "rest", "store": "h2", "repository": "jdbc", "fetch": "join"}),
        json!({"binding": "grpc", "mapper": "off", "validation": "off"}),
        json!({"binding": "soap", "soap": "1.2", "codec": "soap-rpc"}),
        json!({"binding": "soap", "codec": "soap-encoded"}),
        json!({"binding": "grpc", "compression": "gzip"}),
        json!({"binding": "sse", "flush": "library"}),
        json!({"binding": "websocket", "compression": "permessage-deflate"}),
        json!({"binding": "rest", "flush": "item", "compression": "zstd"}),
        json!({"binding": "iiop", "byte_order": "big", "in_flight": "multiplex=10"}),
        json!({"binding": "raw", "connection": "close"}),
        json!({"binding": "raw", "codec": "token-xml", "token_source": "text"}),
        json!({"binding": "raw", "reply": "one-way", "in_flight": "pipeline=64"}),
    ] {
        assert_eq!(parse(&legal).err(), None, "{legal}");
    }
}

#[test]
fn impossible_stacks_are_refused_with_the_smallest_repair() {
    for (impossible, reason, repair) in [
        (
            json!({"binding": "rest", "codec": "cdr"}),
            "rest serves",
            "codec=json",
        ),
        (
            json!({"binding": "soap", "codec": "json"}),
            "soap serves",
            "codec=soap-literal",
        ),
        (
            json!({"binding": "grpc", "codec": "xml"}),
            "grpc serves",
            "codec=protobuf",
        ),
        (
            json!({"binding": "iiop", "codec": "xml"}),
            "iiop serves",
            "codec=cdr",
        ),
        (
            json!({"binding": "raw", "codec": "soap-rpc"}),
            "raw serves",
            "codec=soap-literal",
        ),
        (
            json!({"binding": "grpc", "flush": "library"}),
            "libraries of the other bindings",
            "flush=item",
        ),
        (
            json!({"binding": "sse", "flush": "library", "compression": "gzip"}),
            "a compressor",
            "flush=item",
        ),
        (
            json!({"binding": "websocket", "compression": "gzip"}),
            "both sides agree on",
            "compression=permessage-deflate",
        ),
        (
            json!({"binding": "sse", "compression": "permessage-deflate"}),
            "extension of WebSocket",
            "compression=none",
        ),
        (
            json!({"binding": "iiop", "compression": "zstd"}),
            "compression",
            "compression=none",
        ),
        (
            json!({"binding": "grpc", "transport": "http/1.1"}),
            "HTTP/2 only",
            "transport=http/2",
        ),
        (
            json!({"binding": "soap", "transport": "tcp"}),
            "over HTTP",
            "transport=http/1.1",
        ),
        (
            json!({"binding": "raw", "transport": "http/2"}),
            "without HTTP",
            "transport=tcp",
        ),
        (
            json!({"binding": "raw", "connection": "close", "in_flight": "pipeline=2"}),
            "carries one call",
            "in_flight=1",
        ),
        (
            json!({"binding": "rest", "repository": "jdbc"}),
            "rows in memory",
            "repository=data-jpa",
        ),
        (
            json!({"binding": "rest", "parser": "jdk"}),
            "only binding soap",
            "parser=default",
        ),
        (
            json!({"binding": "soap", "parser": "crimson-sax"}),
            "for codec soap-encoded",
            "parser=default",
        ),
        (
            json!({"binding": "soap", "codec": "soap-encoded", "parser": "aalto"}),
            "parser with StAX",
            "parser=default",
        ),
        (
            json!({"binding": "rest", "fetch": "join"}),
            "rows in memory",
            "fetch=eager",
        ),
        (
            json!({"binding": "rest", "transport": "http/1.0"}),
            "RFC 1945",
            "connection=close",
        ),
        (
            json!({"binding": "rest", "reply": "one-way"}),
            "only raw",
            "reply=two-way",
        ),
        (
            json!({"binding": "raw", "reply": "one-way", "connection": "close"}),
            "must stay",
            "connection=keep",
        ),
        (
            json!({"binding": "rest", "soap": "1.2"}),
            "versions of SOAP",
            "soap=1.1",
        ),
        (
            json!({"binding": "soap", "soap": "1.2", "codec": "soap-encoded"}),
            "SOAP 1.1 section 5",
            "soap=1.1",
        ),
        (
            json!({"binding": "raw", "byte_order": "big"}),
            "byte order",
            "byte_order=little",
        ),
        (
            json!({"binding": "raw", "token_source": "text"}),
            "token-xml",
            "token_source=message",
        ),
    ] {
        let message = parse(&impossible).expect_err("refused");
        assert!(message.contains(reason), "{impossible}: {message}");
        assert!(
            message.contains(&format!("use {repair}")),
            "{impossible}: {message}"
        );
    }
}

#[test]
fn what_the_table_lacks_is_refused_by_name() {
    for (wrong, name) in [
        (json!({"codec": "json"}), "binding"),
        (json!({"binding": "smtp"}), "smtp"),
        (json!({"binding": "rest", "colour": "red"}), "colour"),
        (json!({"binding": "rest", "codec": "yaml"}), "yaml"),
        // Numbers at and beyond their bounds, and a form that only `str::parse` takes.
        (json!({"binding": "rest", "connection": "pool=0"}), "pool=0"),
        (
            json!({"binding": "rest", "connection": "pool=+1"}),
            "pool=+1",
        ),
        (
            json!({"binding": "grpc", "client.h2_window": "0"}),
            "client.h2_window",
        ),
        (
            json!({"binding": "grpc", "client.h2_window": "2147483648"}),
            "client.h2_window",
        ),
    ] {
        let found = parse(&wrong).expect_err("refused");
        assert!(found.contains(name), "{wrong}: {found}");
    }
}

#[test]
fn every_repair_of_a_rule_is_a_value() {
    for rule in RULES.iter() {
        let (name, value) = rule.repair;
        let axis = TABLE.iter().find(|axis| axis.name == name);
        let axis = axis.unwrap_or_else(|| panic!("{name} is not an axis"));
        // A repair names the word alone, since the number that was given is kept.
        let counted = format!("{value}=8");
        let legal = axis.takes(value) || axis.takes(&counted);
        assert!(legal, "{name} has no value {value}");
    }
}
