use serde_json::{Value, json};

use super::*;

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

/// Legal, but not for the engine.
fn sign_by_java() -> Value {
    json!({
        "binding": "soap",
        "codec": "soap-literal",
        "transport": "http/1.1",
        "ws_security": "signature",
        "caller": "java",
    })
}

fn iiop() -> Value {
    json!({"binding": "iiop", "codec": "cdr", "transport": "tcp"})
}

fn raw() -> Value {
    json!({"binding": "raw", "codec": "token-xml", "transport": "tcp"})
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
fn options_that_a_stack_needs_are_required_and_others_are_refused() {
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
        (
            sign_by_java(),
            json!({"keystore": {"path": "a", "password": "p"}}),
            "stack.ws_security: the engine neither signs nor encrypts",
        ),
        (
            soap(),
            json!({"keystore": {"path": "a", "password": "p"}}),
            "keystore: the engine neither signs nor encrypts",
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
