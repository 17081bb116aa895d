//! Whether a configuration can be honoured. Nothing is ever set other than asked.

use wirelab_contract::workload::HELLO_BYTES_MAX;
use wirelab_contract::{Contract, Operation};

use crate::config::ServiceConfig;
use crate::faults::{FaultSwitches, Wrong};
use crate::listener::{local, loopback};
use crate::mutants;
use crate::refusal::Refusal;
use crate::stack::{
    Binding, Codec, Compression, EndOfMessage, ReplyWay, Security, SoapVersion, Stack, Transport,
};
use crate::tls;

/// Most threads that may be asked for.
const PROCESSORS_MAX: u32 = 256;

/// Largest HTTP/2 window (RFC 9113 section 6.9.1).
const H2_WINDOW_MAX: u32 = (1 << 31) - 1;

/// The connection's window before any WINDOW_UPDATE (RFC 9113 section 6.9.2);
/// a server can only make it larger.
pub(crate) const H2_CONNECTION_WINDOW_MIN: u32 = 65_535;

/// Most accounts that a service holds.
const ACCOUNTS_MAX: u32 = 10_000_000;

/// What an account can hold: an int32.
const BALANCE_MAX: u32 = i32::MAX as u32;

/// Longest wait before a close, in milliseconds.
const CLOSE_DELAY_MS_MAX: u64 = 600_000;

/// Refuses what cannot be honoured, and tells which contract is to be served.
///
/// # Errors
/// The first option at fault.
pub(crate) fn check(config: &ServiceConfig) -> Result<Contract, Refusal> {
    let contract: Contract = config.contract.parse().map_err(|_| {
        let message = format!("there is no contract {:?} here", config.contract);
        let remedy = "use contract=transfer, charging or calendar";
        Refusal::new("contract", message, remedy)
    })?;
    check_binding(&config.stack)?;
    check_variants(&config.stack, contract)?;
    check_ending(&config.stack)?;
    check_store(config)?;
    check_faults(config, contract)?;
    check_limits(config)?;
    if config.stack.security == Security::None
        && let Some((option, _)) = tls::named(config)
    {
        let message = "security=none uses no files";
        return Err(Refusal::new(
            option,
            message,
            "leave it out, or use security=tls",
        ));
    }
    loopback("metrics_listen", &config.metrics_listen)?;
    if config.listen.starts_with("unix:") {
        check_unix(config)?;
    } else {
        local(&config.listen)?;
    }
    Ok(contract)
}

/// What a binding goes with: its name, codecs and transports.
fn offer(binding: Binding) -> (&'static str, &'static [Codec], &'static [Transport]) {
    const WEB: &[Transport] = &[Transport::Http11, Transport::Http10, Transport::Http2];
    match binding {
        Binding::Rest => (
            "rest",
            &[Codec::Json, Codec::Text, Codec::Protobuf, Codec::Xml],
            WEB,
        ),
        Binding::Soap => (
            "soap",
            &[Codec::SoapLiteral, Codec::SoapRpc, Codec::SoapEncoded],
            WEB,
        ),
        Binding::Grpc => ("grpc", &[Codec::Protobuf], &[Transport::Http2]),
        Binding::Iiop => ("iiop", &[Codec::Cdr], &[Transport::Tcp]),
        Binding::Raw => (
            "raw",
            &[Codec::SoapLiteral, Codec::TokenXml],
            &[Transport::Tcp],
        ),
    }
}

/// The name of an axis' value, as configurations write it.
fn name(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("values of axes are names, not {other:?}"),
    }
}

fn names<T: serde::Serialize + Copy>(values: &[T]) -> String {
    let names: Vec<String> = values.iter().map(|value| name(*value)).collect();
    names.join(", ")
}

fn check_binding(stack: &Stack) -> Result<(), Refusal> {
    let (binding, codecs, transports) = offer(stack.binding);
    let refuse = |axis: &str, offered: String, asked: String| {
        let message = format!("{binding}@rust serves {offered}, not {asked}");
        let remedy = format!(
            "use {axis}={}",
            offered.split(',').next().unwrap_or_default()
        );
        Err(Refusal::new(format!("stack.{axis}"), message, remedy))
    };
    if !codecs.contains(&stack.codec) {
        return refuse("codec", names(codecs), name(stack.codec));
    }
    if !transports.contains(&stack.transport) {
        return refuse("transport", names(transports), name(stack.transport));
    }
    if stack.binding == Binding::Iiop && stack.compression != Compression::None {
        return refuse("compression", "none".to_owned(), name(stack.compression));
    }
    Ok(())
}

fn check_variants(stack: &Stack, contract: Contract) -> Result<(), Refusal> {
    if stack.codec == Codec::Text && contract != Contract::Transfer {
        let message = format!("{contract} has no operation whose messages are plain texts");
        return Err(Refusal::new("stack.codec", message, "use codec=json"));
    }
    if stack.soap.is_some() && stack.binding != Binding::Soap {
        let message = "only binding soap has versions of SOAP";
        return Err(Refusal::new(
            "stack.soap",
            message,
            "leave it out, or use binding=soap",
        ));
    }
    if stack.token_cache.is_some() && stack.codec != Codec::TokenXml {
        let message = "only codec token-xml has a cache";
        let remedy = "leave it out, or use codec=token-xml";
        return Err(Refusal::new("stack.token_cache", message, remedy));
    }
    if stack.soap == Some(SoapVersion::V12) && stack.codec == Codec::SoapEncoded {
        let message = "soap-encoded is SOAP 1.1 only (its section 5)";
        return Err(Refusal::new(
            "stack.soap",
            message,
            "use soap=1.1, or codec=soap-literal",
        ));
    }
    if stack.reply == ReplyWay::OneWay && stack.binding != Binding::Raw {
        let message = "only raw has calls without a reply";
        return Err(Refusal::new(
            "stack.reply",
            message,
            "use reply=two-way, or binding=raw",
        ));
    }
    Ok(())
}

fn check_ending(stack: &Stack) -> Result<(), Refusal> {
    let refuse = |message: &str, remedy| Err(Refusal::new("stack.end_of_message", message, remedy));
    let web = matches!(stack.binding, Binding::Rest | Binding::Soap) && stack.http1();
    match (stack.end_of_message, stack.transport) {
        (EndOfMessage::ContentLength, _) => {}
        (EndOfMessage::Chunked, Transport::Http10) => {
            return refuse(
                "HTTP/1.0 has no chunks",
                "use transport=http/1.1, or until-close",
            );
        }
        (EndOfMessage::Chunked | EndOfMessage::UntilClose, _) if !web => {
            let message = "only HTTP/1.x can tell the end of a reply in another way";
            return refuse(
                message,
                "use end_of_message=content-length, or transport=http/1.1",
            );
        }
        (EndOfMessage::Chunked | EndOfMessage::UntilClose, _) => {}
    }
    let (option, delay) = ("stack.close_delay_ms", stack.close_delay_ms);
    if delay > 0 && !web {
        let message = "only in HTTP/1.x does the service close connections";
        let remedy = "use 0, or transport=http/1.0";
        return Err(Refusal::new(option, message, remedy));
    }
    if delay > CLOSE_DELAY_MS_MAX {
        let message = format!("{delay} ms are longer than anybody waits");
        return Err(Refusal::new(option, message, "use at most 600000"));
    }
    Ok(())
}

fn check_store(config: &ServiceConfig) -> Result<(), Refusal> {
    let store = &config.store;
    if store.hello_bytes > HELLO_BYTES_MAX {
        let message = format!(
            "{} bytes are more than {HELLO_BYTES_MAX}",
            store.hello_bytes
        );
        return Err(Refusal::new(
            "store.hello_bytes",
            message,
            "use at most 67108864",
        ));
    }
    if !(1..=ACCOUNTS_MAX).contains(&store.accounts) {
        let message = format!("{} accounts cannot be had", store.accounts);
        return Err(Refusal::new("store.accounts", message, "use 1 to 10000000"));
    }
    if store.balance > BALANCE_MAX {
        let message = format!("{} is more than an account can hold", store.balance);
        return Err(Refusal::new(
            "store.balance",
            message,
            "use at most 2147483647",
        ));
    }
    let (option, other) = match (&store.username, &store.password) {
        (Some(_), None) => ("store.password", "store.username is given without it"),
        (None, Some(_)) => ("store.username", "store.password is given without it"),
        (Some(_), Some(_)) if config.stack.binding != Binding::Soap => (
            "store.username",
            "only binding soap carries a UsernameToken",
        ),
        _ => return Ok(()),
    };
    Err(Refusal::new(
        option,
        other,
        "give both with binding=soap, or neither",
    ))
}

fn check_faults(config: &ServiceConfig, contract: Contract) -> Result<(), Refusal> {
    let faults = &config.faults;
    let wrong = faults.wrong.map(|wrong| wrong.what);
    if wrong == Some(Wrong::Trailers) && config.stack.binding != Binding::Grpc {
        return Err(Refusal::new(
            "faults.wrong.what",
            "only gRPC has trailers to leave out",
            "use what=content, length or status, or binding=grpc",
        ));
    }
    if faults.text_check_ns_per_kb.is_some() && contract != Contract::Transfer {
        let message = format!("{contract} has no Hello");
        let remedy = "leave it out, or use contract=transfer";
        return Err(Refusal::new("faults.text_check_ns_per_kb", message, remedy));
    }
    if let Some(name) = &faults.delay_operation {
        let option = "faults.delay_operation";
        if let Err(unknown) = Operation::of(contract, name) {
            return Err(Refusal::new(
                option,
                unknown.to_string(),
                "use one of these",
            ));
        }
        if faults.delay_us.is_none() {
            let message = "it names which calls are delayed, but no delay is given";
            return Err(Refusal::new(
                option,
                message,
                "give faults.delay_us, or leave it out",
            ));
        }
    }
    if config.stack.reply == ReplyWay::OneWay
        && let Some(option) = fault_of_a_reply(faults)
    {
        let message = "a one-way call has no reply to be wrong";
        return Err(Refusal::new(
            option,
            message,
            "leave it out, or use reply=two-way",
        ));
    }
    match &faults.mutant {
        Some(mutant) => mutants::check(mutant, contract, &config.stack),
        None => Ok(()),
    }
}

fn fault_of_a_reply(faults: &FaultSwitches) -> Option<&'static str> {
    [
        ("faults.wrong", faults.wrong.is_some()),
        ("faults.close_mid_reply", faults.close_mid_reply.is_some()),
        ("faults.endless", faults.endless.is_some()),
        ("faults.garbage", faults.garbage.is_some()),
    ]
    .into_iter()
    .find_map(|(option, wanted)| wanted.then_some(option))
}

fn check_limits(config: &ServiceConfig) -> Result<(), Refusal> {
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
    let refuse = |message: &str, remedy| Err(Refusal::new("socket.h2_window", message, remedy));
    match (config.socket.h2_window, config.stack.transport) {
        (None, _) => Ok(()),
        (Some(window), Transport::Http2) if (1..=H2_WINDOW_MAX).contains(&window) => Ok(()),
        (Some(_), Transport::Http2) => {
            refuse("no window has that size", "use 1 to 2147483647 bytes")
        }
        (Some(_), _) => refuse(
            "only HTTP/2 has a window of its own",
            "use transport=http/2, or leave it null",
        ),
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
        // Reports name connections by the peer's port.
        ("stack.reply", config.stack.reply == ReplyWay::OneWay),
    ];
    match wanted.into_iter().find(|(_, wanted)| *wanted) {
        None => Ok(()),
        Some((option, _)) => {
            let message = "a Unix socket has nothing of the kind";
            let remedy = "listen on 127.0.0.1:0, or leave it out";
            Err(Refusal::new(option, message, remedy))
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
