use super::*;

/// The option that is refused when `changes` are made to a good configuration.
fn find_refusal(changes: &str) -> Option<String> {
    let mut config = serde_json::json!({
        "contract": "transfer",
        "stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/2"},
    });
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    let read = ServiceConfig::parse(&config.to_string());
    let error = read.and_then(|config| check(&config)).err()?;
    assert!(!error.message.is_empty() && !error.remedy.is_empty());
    Some(error.option)
}

#[test]
fn what_can_be_honoured_is_not_refused() {
    for changes in [
        "{}",
        r#"{"socket": {"writes": "split", "h2_window": 16384, "quickack": true}}"#,
        r#"{"listen": "[::1]:0", "processors": 2, "collector": {}}"#,
        r#"{"listen": "unix:/tmp/x", "faults": {"hang": {"every": 1}}}"#,
        r#"{"stack": {"binding": "rest", "codec": "text", "transport": "http/2"}}"#,
        r#"{"faults": {"delay_us": 1, "delay_operation": "Hello"}}"#,
        r#"{"contract": "petclinic"}"#,
        r#"{"contract": "stream", "stack": {"binding": "sse", "codec": "json", "transport": "http/2", "flush": "library"}}"#,
        r#"{"contract": "stream", "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1", "compression": "zstd"}}"#,
        r#"{"contract": "petclinic", "store": {"kind": "sqlite", "url": "/tmp/rows"}}"#,
        r#"{"contract": "petclinic", "stack": {"binding": "rest", "codec": "json", "transport": "http/2"}}"#,
    ] {
        assert_eq!(find_refusal(changes), None, "{changes}");
    }
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    for (changes, option) in [
        (
            r#"{"contract": "petclinic", "stack": {"binding": "iiop", "codec": "cdr", "transport": "tcp"}}"#,
            "contract",
        ),
        (
            r#"{"contract": "petclinic", "stack": {"binding": "rest", "codec": "xml", "transport": "http/1.1"}}"#,
            "stack.codec",
        ),
        (
            r#"{"contract": "petclinic", "store": {"kind": "postgres", "url": "postgres://x/y"}}"#,
            "store.kind",
        ),
        (
            r#"{"contract": "stream", "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1", "flush": "library", "compression": "gzip"}}"#,
            "stack.flush",
        ),
        (
            r#"{"stack": {"binding": "rest", "codec": "json", "transport": "http/1.1", "flush": "library"}}"#,
            "stack.flush",
        ),
        (
            r#"{"contract": "stream", "stack": {"binding": "sse", "codec": "json", "transport": "http/1.1", "flush": "often"}}"#,
            "stack.flush",
        ),
        (
            r#"{"contract": "stream", "stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/2", "flush": "library"}}"#,
            "stack.flush",
        ),
        (r#"{"contrct": "transfer"}"#, "contrct"),
        (r#"{"store": {"accounts": 0}}"#, "store.accounts"),
        (r#"{"store": {"balance": 2147483648}}"#, "store.balance"),
        (
            r#"{"store": {"username": "u", "password": "p"}}"#,
            "store.username",
        ),
        (r#"{"store": {"username": "u"}}"#, "store.password"),
        (r#"{"tls": {"key": "/k"}}"#, "tls.key"),
        (r#"{"faults": {"mutant": "none-such"}}"#, "faults.mutant"),
        (
            r#"{"faults": {"mutant": "json-camel-case"}}"#,
            "faults.mutant",
        ),
        (
            r#"{"faults": {"mutant": "debit-doubled"}}"#,
            "faults.mutant",
        ),
        (
            r#"{"contract": "calendar", "faults": {"text_check_ns_per_kb": 1}}"#,
            "faults.text_check_ns_per_kb",
        ),
        (
            r#"{"faults": {"delay_us": 1, "delay_operation": "Book"}}"#,
            "faults.delay_operation",
        ),
        (
            r#"{"faults": {"delay_operation": "Hello"}}"#,
            "faults.delay_operation",
        ),
        (r#"{"listen": "0.0.0.0:0"}"#, "listen"),
        (r#"{"listen": "localhost:0"}"#, "listen"),
        (r#"{"metrics_listen": "192.168.1.1:0"}"#, "metrics_listen"),
        (
            r#"{"store": {"hello_bytes": 67108865}}"#,
            "store.hello_bytes",
        ),
        (r#"{"store": {"hello_bytes": -1}}"#, "store.hello_bytes"),
        (r#"{"processors": 0}"#, "processors"),
        (r#"{"collector": {"gogc": 100}}"#, "collector.gogc"),
        (r#"{"socket": {"writes": "twice"}}"#, "socket.writes"),
        (r#"{"socket": {"h2_window": 0}}"#, "socket.h2_window"),
        (
            r#"{"socket": {"h2_window": 2147483648}}"#,
            "socket.h2_window",
        ),
        (r#"{"socket": {"tcp_window": 0}}"#, "socket.tcp_window"),
        (
            r#"{"listen": "unix:/tmp/x", "socket": {"nagle": true}}"#,
            "socket.nagle",
        ),
        (
            r#"{"listen": "unix:/tmp/x", "faults": {"reset": {"every": 3}}}"#,
            "faults.reset",
        ),
        (
            r#"{"faults": {"reset": {"every": 0}}}"#,
            "faults.reset.every",
        ),
        (
            r#"{"faults": {"wrong": {"every": 1, "what": "colour"}}}"#,
            "faults.wrong.what",
        ),
        (r#"{"faults": {"delay": 3}}"#, "faults.delay"),
    ] {
        assert_eq!(find_refusal(changes).as_deref(), Some(option), "{changes}");
    }
}

/// A stack that would do, with these axes changed; `key=value` for others.
fn stack(binding: &str, changes: &[(&str, serde_json::Value)]) -> String {
    let mut stack = match binding {
        "rest" => serde_json::json!({"codec": "json", "transport": "http/1.1"}),
        "soap" => serde_json::json!({"codec": "soap-literal", "transport": "http/1.1"}),
        "grpc" => serde_json::json!({"codec": "protobuf", "transport": "http/2"}),
        "iiop" => serde_json::json!({"codec": "cdr", "transport": "tcp"}),
        _ => serde_json::json!({"codec": "token-xml", "transport": "tcp"}),
    };
    stack["binding"] = binding.into();
    for (axis, value) in changes {
        stack[axis] = value.clone();
    }
    serde_json::json!({ "stack": stack }).to_string()
}

#[test]
fn every_binding_has_stacks() {
    for (binding, changes) in [
        ("rest", &[][..]),
        (
            "rest",
            &[("codec", "xml".into()), ("compression", "zstd".into())],
        ),
        (
            "rest",
            &[
                ("transport", "http/1.0".into()),
                ("close_delay_ms", 100.into()),
            ],
        ),
        ("rest", &[("end_of_message", "until-close".into())]),
        (
            "soap",
            &[("soap", "1.2".into()), ("codec", "soap-rpc".into())],
        ),
        (
            "soap",
            &[("soap", "1.1".into()), ("codec", "soap-encoded".into())],
        ),
        ("soap", &[("transport", "http/2".into())]),
        ("grpc", &[("compression", "zstd".into())]),
        ("iiop", &[]),
        (
            "raw",
            &[("compression", "gzip".into()), ("reply", "one-way".into())],
        ),
        ("raw", &[("codec", "soap-literal".into())]),
    ] {
        let changes = stack(binding, changes);
        assert_eq!(find_refusal(&changes), None, "{changes}");
    }
}

#[test]
fn axes_that_do_not_go_together_are_refused_by_name() {
    for (binding, axis, value) in [
        ("rest", "codec", "cdr".into()),
        ("rest", "codec", "soap-literal".into()),
        ("rest", "transport", "tcp".into()),
        ("rest", "transport", "http/3".into()),
        ("rest", "soap", "1.2".into()),
        ("rest", "reply", "one-way".into()),
        ("rest", "compression", "br".into()),
        ("rest", "security", "ssl".into()),
        ("rest", "close_delay_ms", 60_001.into()),
        ("soap", "codec", "xml".into()),
        ("soap", "soap", "1.3".into()),
        ("grpc", "codec", "json".into()),
        ("grpc", "transport", "http/1.1".into()),
        ("grpc", "end_of_message", "chunked".into()),
        ("grpc", "close_delay_ms", 1.into()),
        ("iiop", "codec", "protobuf".into()),
        ("iiop", "compression", "gzip".into()),
        ("iiop", "transport", "http/1.1".into()),
        ("raw", "codec", "json".into()),
        ("raw", "end_of_message", "until-close".into()),
    ] {
        let changes = stack(binding, &[(axis, value)]);
        assert_eq!(
            find_refusal(&changes),
            Some(format!("stack.{axis}")),
            "{changes}"
        );
    }
    let old = [
        ("transport", "http/1.0".into()),
        ("end_of_message", "chunked".into()),
    ];
    let found = find_refusal(&stack("rest", &old));
    assert_eq!(found.as_deref(), Some("stack.end_of_message"));
    let both = [("soap", "1.2".into()), ("codec", "soap-encoded".into())];
    assert_eq!(
        find_refusal(&stack("soap", &both)).as_deref(),
        Some("stack.soap")
    );
}

/// A stack that would do, and another key.
fn with(binding: &str, axes: &[(&str, serde_json::Value)], key: &str, value: &str) -> String {
    let mut config: serde_json::Value = serde_json::from_str(&stack(binding, axes)).unwrap();
    config[key] = serde_json::from_str(value).unwrap();
    config.to_string()
}

#[test]
fn other_keys_are_refused_where_the_stack_has_no_use_for_them() {
    let one_way = [("reply", "one-way".into())];
    let text = [("codec", "text".into())];
    for (changes, option) in [
        (
            with("rest", &[], "socket", r#"{"h2_window": 65535}"#),
            "socket.h2_window",
        ),
        (
            with("raw", &[], "socket", r#"{"h2_window": 65535}"#),
            "socket.h2_window",
        ),
        (
            with(
                "rest",
                &[],
                "faults",
                r#"{"wrong": {"every": 9, "what": "trailers"}}"#,
            ),
            "faults.wrong.what",
        ),
        (
            with("raw", &one_way, "faults", r#"{"garbage": {"every": 9}}"#),
            "faults.garbage",
        ),
        (with("raw", &one_way, "listen", "\"unix:/tmp/x\""), "listen"),
        (
            with("rest", &text, "contract", "\"charging\""),
            "stack.codec",
        ),
    ] {
        assert_eq!(find_refusal(&changes).as_deref(), Some(option), "{changes}");
    }
}

#[test]
fn files_for_tls_are_refused_by_name() {
    let mut config: serde_json::Value =
        serde_json::from_str(&stack("rest", &[("security", "tls".into())])).unwrap();
    config["contract"] = "transfer".into();
    let option = |config: &serde_json::Value| {
        let config = ServiceConfig::parse(&config.to_string()).unwrap();
        check(&config).unwrap();
        tls::tls_config(&config).unwrap_err().option
    };
    assert_eq!(option(&config), "tls.certificate");
    config["tls"] = serde_json::json!({"certificate": "/nowhere/at/all", "key": "/nowhere"});
    assert_eq!(option(&config), "tls.certificate");
    // No file in PEM.
    config["tls"] = serde_json::json!({"certificate": "/proc/self/stat", "key": "/nowhere"});
    assert_eq!(option(&config), "tls.certificate");
}
