use serde_json::{Value, json};

use super::*;

fn stack(of: Value) -> Stack {
    serde_json::from_value(of).expect("a stack")
}

fn with(mut base: Value, more: Value) -> Value {
    for (name, value) in more.as_object().expect("options") {
        base[name] = value.clone();
    }
    base
}

fn rest() -> Value {
    json!({"binding": "rest", "codec": "json", "transport": "http/1.1"})
}

fn soap() -> Value {
    json!({"binding": "soap", "codec": "soap-literal", "transport": "http/1.1"})
}

fn grpc() -> Value {
    json!({"binding": "grpc", "codec": "protobuf", "transport": "http/2"})
}

fn iiop() -> Value {
    json!({"binding": "iiop", "codec": "cdr", "transport": "tcp"})
}

fn raw() -> Value {
    json!({"binding": "raw", "codec": "token-xml", "transport": "tcp"})
}

#[test]
fn every_stack_of_the_contracts_is_legal() {
    let gzip = json!({"compression": "gzip"});
    let zstd = json!({"compression": "zstd"});
    for legal in [
        rest(),
        with(rest(), json!({"codec": "xml", "transport": "http/1.0"})),
        with(rest(), json!({"codec": "protobuf", "transport": "http/2"})),
        with(rest(), zstd.clone()),
        soap(),
        with(soap(), json!({"soap": "1.2", "codec": "soap-rpc"})),
        with(
            soap(),
            json!({"soap": "1.1", "codec": "soap-encoded", "transport": "http/1.0"}),
        ),
        grpc(),
        with(grpc(), gzip.clone()),
        iiop(),
        with(
            iiop(),
            json!({"byte_order": "big", "connection": {"in_flight": 10}}),
        ),
        raw(),
        with(
            raw(),
            json!({"codec": "soap-literal", "connection": {"close": true}}),
        ),
        with(
            raw(),
            json!({"token_source": "text", "compression": "gzip"}),
        ),
        with(
            raw(),
            json!({"reply": "one-way", "connection": {"in_flight": 64}}),
        ),
        with(rest(), json!({"security": "mtls"})),
    ] {
        assert_eq!(
            check_stack(&stack(legal.clone())).err().map(|e| e.message),
            None,
            "{legal}"
        );
    }
}

#[test]
fn impossible_stacks_are_refused_with_the_nearest_legal_one() {
    for (impossible, message, remedy) in [
        (
            with(rest(), json!({"codec": "cdr"})),
            "codec: rest",
            "codec=json",
        ),
        (
            with(soap(), json!({"codec": "json"})),
            "codec: soap",
            "codec=soap-literal",
        ),
        (
            with(grpc(), json!({"codec": "xml"})),
            "codec: grpc",
            "codec=protobuf",
        ),
        (
            with(iiop(), json!({"codec": "xml"})),
            "codec: iiop",
            "codec=cdr",
        ),
        (
            with(raw(), json!({"codec": "soap-rpc"})),
            "codec: raw",
            "codec=soap-literal",
        ),
        (
            with(iiop(), json!({"compression": "zstd"})),
            "compression",
            "compression=none",
        ),
        (
            with(grpc(), json!({"transport": "http/1.1"})),
            "transport: grpc",
            "http/2",
        ),
        (
            with(soap(), json!({"transport": "tcp"})),
            "transport",
            "http/1.1",
        ),
        (
            with(raw(), json!({"transport": "http/2"})),
            "transport",
            "transport=tcp",
        ),
        (
            with(
                raw(),
                json!({"connection": {"close": true, "in_flight": 2}}),
            ),
            "close",
            "keep",
        ),
        (
            with(
                rest(),
                json!({"transport": "http/1.0", "connection": {"in_flight": 2}}),
            ),
            "pipelining",
            "http/1.1",
        ),
        (
            with(rest(), json!({"connection": {"in_flight": 0}})),
            "in_flight",
            "1 or more",
        ),
        (
            with(rest(), json!({"reply": "one-way"})),
            "one-way",
            "binding raw",
        ),
        (
            with(
                raw(),
                json!({"reply": "one-way", "connection": {"close": true}}),
            ),
            "one-way",
            "keep",
        ),
        (with(rest(), json!({"soap": "1.1"})), "soap", "binding soap"),
        (
            with(soap(), json!({"soap": "1.2", "codec": "soap-encoded"})),
            "soap=1.2",
            "soap=1.1",
        ),
        (
            with(raw(), json!({"byte_order": "big"})),
            "byte_order",
            "binding iiop",
        ),
        (
            with(
                raw(),
                json!({"codec": "soap-literal", "token_source": "text"}),
            ),
            "token_source",
            "token-xml",
        ),
    ] {
        let fault = check_stack(&stack(impossible.clone())).expect_err("refused");
        assert!(fault.message.contains(message), "{impossible}: {fault:?}");
        assert!(fault.remedy.contains(remedy), "{impossible}: {fault:?}");
    }
}

fn group(stack: Value, more: Value) -> Group {
    let base = json!({
        "name": "g", "target": "127.0.0.1:9", "stack": stack,
        "workload": {"kind": "http", "method": "GET", "path": "/"},
        "load": {"kind": "closed", "users": 1}, "window": {"duration_s": 1.0}
    });
    serde_json::from_value(with(base, more)).expect("a group")
}

#[test]
fn what_a_stack_needs_beside_itself_is_asked_for_and_nothing_else_is_taken() {
    let tls = || with(rest(), json!({"security": "tls"}));
    let mtls = || with(rest(), json!({"security": "mtls"}));
    let one_way = || with(raw(), json!({"reply": "one-way"}));
    for (stack, more, message) in [
        (iiop(), json!({}), "object: binding iiop needs it"),
        (rest(), json!({"object": "IOR:00"}), "object: belongs to"),
        (one_way(), json!({}), "report: reply=one-way needs it"),
        (
            raw(),
            json!({"report": "127.0.0.1:1"}),
            "report: belongs to",
        ),
        (tls(), json!({}), "tls: security tls or mtls needs it"),
        (rest(), json!({"tls": {"ca": "a"}}), "tls: belongs to"),
        (
            mtls(),
            json!({"tls": {"ca": "a"}}),
            "tls.certificate: security mtls needs it",
        ),
        (
            mtls(),
            json!({"tls": {"ca": "a", "certificate": "b"}}),
            "tls.key: security mtls needs it",
        ),
        (
            tls(),
            json!({"tls": {"ca": "a", "key": "b"}}),
            "tls.key: belongs to",
        ),
        (soap(), json!({"username": "u"}), "one of them is missing"),
        (
            rest(),
            json!({"username": "u", "password": "p"}),
            "username: only soap",
        ),
    ] {
        let fault = check_group(&group(stack, more)).expect_err(message);
        assert!(fault.message.contains(message), "{fault:?}");
        assert!(!fault.remedy.is_empty());
    }
    for (stack, more) in [
        (iiop(), json!({"object": "IOR:00"})),
        (one_way(), json!({"report": "127.0.0.1:1"})),
        (
            mtls(),
            json!({"tls": {"ca": "a", "certificate": "b", "key": "c"}}),
        ),
        (soap(), json!({"username": "u", "password": "p"})),
    ] {
        assert!(check_group(&group(stack, more)).is_ok());
    }
}
