//! Whether a configuration can be honoured. Nothing is ever set other than asked.

use wirelab_contract::workload::HELLO_BYTES_MAX;

use crate::config::{Binding, Codec, ServiceConfig, Transport};
use crate::faults::Wrong;
use crate::listener::loopback;
use crate::refusal::Refusal;

/// Most threads that may be asked for.
const PROCESSORS_MAX: u32 = 256;

/// Largest HTTP/2 window (RFC 9113 section 6.9.1).
const H2_WINDOW_MAX: u32 = (1 << 31) - 1;

/// The connection's window before any WINDOW_UPDATE (RFC 9113 section 6.9.2);
/// a server can only make it larger.
pub(crate) const H2_CONNECTION_WINDOW_MIN: u32 = 65_535;

/// Refuses what cannot be honoured.
///
/// # Errors
/// The first option at fault.
pub(crate) fn check(config: &ServiceConfig) -> Result<(), Refusal> {
    if config.contract != "transfer" {
        let message = format!("there is no contract {:?} here", config.contract);
        return Err(Refusal::new("contract", message, "use contract=transfer"));
    }
    check_stack(config)?;
    check_limits(config)?;
    loopback("metrics_listen", &config.metrics_listen)?;
    if config.listen.starts_with("unix:") {
        check_unix(config)
    } else {
        loopback("listen", &config.listen).map(drop)
    }
}

fn check_stack(config: &ServiceConfig) -> Result<(), Refusal> {
    let stack = &config.stack;
    match (stack.binding, stack.codec, stack.transport) {
        (Binding::Rest, Codec::Protobuf, _) => Err(Refusal::new(
            "stack.codec",
            "rest@rust serves text and json, not protobuf",
            "use codec=json or codec=text",
        )),
        (Binding::Grpc, Codec::Text | Codec::Json, _) => Err(Refusal::new(
            "stack.codec",
            "grpc@rust serves protobuf only",
            "use codec=protobuf",
        )),
        (Binding::Grpc, _, Transport::Http11) => Err(Refusal::new(
            "stack.transport",
            "gRPC needs HTTP/2",
            "use transport=http/2",
        )),
        (Binding::Rest, _, _) if wrong(config) == Some(Wrong::Trailers) => Err(Refusal::new(
            "faults.wrong.what",
            "rest@rust has no trailers to leave out",
            "use what=content, length or status, or binding=grpc",
        )),
        _ => Ok(()),
    }
}

fn wrong(config: &ServiceConfig) -> Option<Wrong> {
    config.faults.wrong.map(|wrong| wrong.what)
}

fn check_limits(config: &ServiceConfig) -> Result<(), Refusal> {
    let hello_bytes = config.store.hello_bytes;
    if hello_bytes > HELLO_BYTES_MAX {
        let message = format!("{hello_bytes} bytes are more than {HELLO_BYTES_MAX}");
        return Err(Refusal::new(
            "store.hello_bytes",
            message,
            "use at most 67108864",
        ));
    }
    if !(1..=PROCESSORS_MAX).contains(&config.processors) {
        let message = format!("{} threads cannot be had", config.processors);
        return Err(Refusal::new("processors", message, "use 1 to 256"));
    }
    if config.socket.tcp_window == Some(0) {
        let remedy = "use a size in bytes, or null for the kernel's";
        return Err(Refusal::new(
            "socket.tcp_window",
            "a window of 0 takes nothing",
            remedy,
        ));
    }
    check_h2_window(config)
}

fn check_h2_window(config: &ServiceConfig) -> Result<(), Refusal> {
    let refuse = |message: &str, remedy| Err(Refusal::new("socket.h2_window", message, remedy));
    match (config.socket.h2_window, config.stack.transport) {
        (Some(_), Transport::Http11) => refuse(
            "HTTP/1.1 has no window of its own",
            "use transport=http/2, or leave it null",
        ),
        (Some(window), _) if !(1..=H2_WINDOW_MAX).contains(&window) => {
            refuse("no window has that size", "use 1 to 2147483647 bytes")
        }
        _ => Ok(()),
    }
}

/// Refuses what a Unix socket does not have.
fn check_unix(config: &ServiceConfig) -> Result<(), Refusal> {
    let socket = &config.socket;
    let wanted = [
        ("socket.nagle", socket.nagle),
        ("socket.quickack", socket.quickack.is_some()),
        ("socket.tcp_window", socket.tcp_window.is_some()),
        ("faults.reset", config.faults.reset.is_some()),
    ];
    match wanted.into_iter().find(|(_, wanted)| *wanted) {
        None => Ok(()),
        Some((option, _)) => {
            let message = "a Unix socket has nothing of the kind";
            Err(Refusal::new(
                option,
                message,
                "listen on 127.0.0.1:0, or leave it out",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The option that is refused when `changes` are made to a good configuration.
    fn refused(changes: &str) -> Option<String> {
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
        ] {
            assert_eq!(refused(changes), None, "{changes}");
        }
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (changes, option) in [
            (r#"{"contract": "charging"}"#, "contract"),
            (r#"{"contrct": "transfer"}"#, "contrct"),
            (
                r#"{"stack": {"binding": "soap", "codec": "json", "transport": "http/2"}}"#,
                "stack.binding",
            ),
            (
                r#"{"stack": {"binding": "rest", "codec": "xml", "transport": "http/2"}}"#,
                "stack.codec",
            ),
            (
                r#"{"stack": {"binding": "rest", "codec": "protobuf", "transport": "http/2"}}"#,
                "stack.codec",
            ),
            (
                r#"{"stack": {"binding": "grpc", "codec": "json", "transport": "http/2"}}"#,
                "stack.codec",
            ),
            (
                r#"{"stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/3"}}"#,
                "stack.transport",
            ),
            (
                r#"{"stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/1.1"}}"#,
                "stack.transport",
            ),
            (
                r#"{"stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/2", "security": "tls"}}"#,
                "stack.security",
            ),
            (
                r#"{"stack": {"binding": "grpc", "codec": "protobuf", "transport": "http/2", "compression": "zstd"}}"#,
                "stack.compression",
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
            (
                r#"{"stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"}, "socket": {"h2_window": 65535}}"#,
                "socket.h2_window",
            ),
            (
                r#"{"stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"}, "faults": {"wrong": {"every": 9, "what": "trailers"}}}"#,
                "faults.wrong.what",
            ),
        ] {
            assert_eq!(refused(changes).as_deref(), Some(option), "{changes}");
        }
    }
}
