//! Whether a configuration can be honoured. Nothing is ever set other than asked.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use wirelab_contract::workload::HELLO_BYTES_MAX;
use wirelab_contract::{Contract, Operation};
use wirelab_stack::axes::find;
use wirelab_stack::rules::first_broken;
use wirelab_stack::{
    AxisMap, Binding, Codec, Compression, Flush, HttpCache, Reply, Security, Transport,
};

use crate::connection::listener::{local, loopback};
use crate::connection::tls;
use crate::documents::config::ServiceConfig;
use crate::documents::config::{Stack, Store, StoreKind, Writes};
use crate::faults::{FaultSwitches, Wrong};
use crate::mutants;
use crate::refusal::Refusal;

/// Most threads that may be asked for.
// More than any machine of a measurement has; it only stops a mistyped number.
const PROCESSORS_MAX: u32 = 256;

/// The connection's window before any WINDOW_UPDATE (RFC 9113 section 6.9.2);
/// a server can only make it larger.
pub(crate) const H2_CONNECTION_WINDOW_MIN: u32 = 65_535;

/// Most accounts that a service holds.
const ACCOUNTS_MAX: u32 = 10_000_000;

/// What an account can hold: an int32.
const BALANCE_MAX: u32 = i32::MAX as u32;

/// Refuses what cannot be honoured, and returns the contract to serve.
///
/// # Errors
/// The first option at fault.
pub(crate) fn check(config: &ServiceConfig) -> Result<Contract, Refusal> {
    let contract: Contract = config.contract.parse().map_err(|_| {
        let message = format!("there is no contract {:?} here", config.contract);
        let remedy = "use contract=transfer, charging, calendar, records or petclinic";
        Refusal::new("contract", message, remedy)
    })?;
    // From the general to the special: the first refusal should name the widest mistake.
    check_offer(config, contract)?;
    check_text(&config.stack, contract)?;
    check_http_cache(&config.stack, contract)?;
    check_writes(config)?;
    check_windows(config)?;
    check_rules(config)?;
    check_store(config)?;
    check_database(&config.store, config.faults.mutant.is_some(), contract)?;
    check_faults(config, contract)?;
    check_codec_times(config)?;
    check_limits(config)?;
    if config.stack.security == Security::None
        && let Some((option, _)) = tls::find_file(config)
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

/// What `service.json` offers.
#[derive(Deserialize)]
struct Manifest {
    /// What an entry of `serves` has unless it states otherwise.
    defaults: Map<String, Value>,
    serves: Vec<Map<String, Value>>,
}

/// What it offers of one binding.
#[derive(Deserialize)]
struct Offer {
    binding: Binding,
    /// Where there are none: those of the binding that carry every message.
    #[serde(default)]
    codecs: Vec<Codec>,
    transports: Vec<Transport>,
    compression: Vec<Compression>,
    security: Vec<Security>,
    flushes: Vec<Flush>,
    /// Stores of the contracts that keep rows.
    stores: Vec<StoreKind>,
    contracts: Vec<String>,
}

// Compiled in: the lab plans by the same file, so that both refuse the same stacks.
static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(|| {
    let Manifest { defaults, serves } = serde_json::from_str(include_str!("../../service.json"))
        .expect("the manifest of this service");
    let complete = |stated: Map<String, Value>| {
        let mut entry = defaults.clone();
        entry.extend(stated);
        let offer = serde_json::from_value(Value::Object(entry));
        let mut offer: Offer = offer.expect("an entry of the manifest");
        if offer.codecs.is_empty() {
            let all = offer.binding.row().codecs.iter().copied();
            offer.codecs = all.filter(|codec| *codec != Codec::Text).collect();
        }
        offer
    };
    serves.into_iter().map(complete).collect()
});

fn names<T: ToString>(values: &[T]) -> String {
    let names: Vec<String> = values.iter().map(T::to_string).collect();
    names.join(", ")
}

fn check_offer(config: &ServiceConfig, contract: Contract) -> Result<(), Refusal> {
    let stack = &config.stack;
    let binding = stack.binding;
    let name = contract.to_string();
    let of_binding = || OFFERS.iter().filter(|offer| offer.binding == binding);
    // A binding may be offered in parts, by contract and codec; where none has both, the first
    // that has the contract refuses it, or the first.
    let of_contract = || of_binding().filter(|offer| offer.contracts.contains(&name));
    let offer = of_contract()
        .find(|offer| offer.codecs.contains(&stack.codec))
        .or_else(|| of_contract().next())
        .or_else(|| of_binding().next());
    let offer = offer.ok_or_else(|| {
        let message = format!("the service in Rust does not serve {binding}");
        Refusal::new("stack.binding", message, "see service.json")
    })?;
    let stores: Vec<&str> = offer.stores.iter().map(|store| store.name()).collect();
    offered("store.kind", binding, &config.store.kind.name(), &stores)?;
    offered("stack.codec", binding, &stack.codec, &offer.codecs)?;
    offered(
        "stack.transport",
        binding,
        &stack.transport,
        &offer.transports,
    )?;
    offered(
        "stack.compression",
        binding,
        &stack.compression,
        &offer.compression,
    )?;
    offered("stack.flush", binding, &stack.flush, &offer.flushes)?;
    offered("stack.security", binding, &stack.security, &offer.security)?;
    offered("contract", binding, &name, &offer.contracts)
}

/// Refuses to time a codec that has no messages, and those of the other bindings.
fn check_codec_times(config: &ServiceConfig) -> Result<(), Refusal> {
    let Stack { binding, codec, .. } = config.stack;
    if !config.codec_times || (binding == Binding::Rest && codec != Codec::Text) {
        return Ok(());
    }
    let message = format!("{binding}@rust does not time codec {codec}");
    let remedy = "leave it out, or use binding=rest with another codec than text";
    Err(Refusal::new("codec_times", message, remedy))
}

fn offered<T: PartialEq + ToString>(
    option: &str,
    binding: Binding,
    target: &T,
    offered: &[T],
) -> Result<(), Refusal> {
    if offered.contains(target) {
        return Ok(());
    }
    let (offered, target) = (names(offered), target.to_string());
    let message = format!("{binding}@rust serves {offered}, not {target}");
    // Remedies name axes, as users write them, not paths of the configuration.
    let axis = option.rsplit('.').next().unwrap_or(option);
    let first = offered.split(',').next().unwrap_or_default();
    Err(Refusal::new(option, message, format!("use {axis}={first}")))
}

/// Refuses what no service could do (the rules of `wirelab_stack`).
fn check_rules(config: &ServiceConfig) -> Result<(), Refusal> {
    let axes = axes(config);
    let Some(rule) = first_broken(&axes) else {
        return Ok(());
    };
    let (axis, value) = rule.repair;
    let option = match axis.strip_prefix("server.") {
        // Rules speak of axes; the refusal must name the option that holds the axis.
        Some(name) => format!("socket.{name}"),
        None if axis == "socket" => "listen".to_owned(),
        None if axis == "close_delay" => "stack.close_delay_ms".to_owned(),
        None => format!("stack.{axis}"),
    };
    Err(Refusal::new(
        option,
        rule.reason.clone(),
        format!("use {axis}={value}"),
    ))
}

/// The service's side of the stack; the client's is left at its defaults.
fn axes(config: &ServiceConfig) -> AxisMap {
    let (stack, socket) = (&config.stack, &config.socket);
    let mut axes = AxisMap::new(stack.binding);
    // Names of axes are those of python/wirelab/data/stack.json.
    let mut set = |axis, value: &str| axes.set(axis, value).expect("an axis and its value");
    // Every axis that a service honours, so that the rules see the stack as the lab does.
    set("codec", stack.codec.name());
    set("transport", stack.transport.name());
    set("compression", stack.compression.name());
    set("security", stack.security.name());
    set("end_of_message", stack.end_of_message.name());
    // Whether there is a proxy is not for the service to know.
    if stack.http_cache != HttpCache::None {
        set("http_cache", HttpCache::Revalidate.name());
    }
    set("flush", stack.flush.name());
    set("reply", stack.reply.name());
    // Versions and caches that are named belong to somebody, also at their default.
    if let Some(version) = stack.soap {
        set("soap", version.name());
    }
    if let Some(cache) = stack.token_cache {
        set("token_cache", cache.name());
    }
    if stack.close_delay_ms > 0 {
        set("close_delay", &stack.close_delay_ms.to_string());
    }
    if stack.closes() {
        // The rules look at the connection, which the configuration implies only.
        set("connection", "close");
    }
    if config.listen.starts_with("unix:") {
        set("socket", "unix");
    }
    if socket.nagle {
        set("server.nagle", "on");
    }
    if let Some(bytes) = socket.tcp_window {
        set("server.tcp_window", &bytes.to_string());
    }
    if let Some(bytes) = socket.h2_window {
        set("server.h2_window", &bytes.to_string());
    }
    axes
}

/// Refuses to let caches keep replies that depend on what was stored.
fn check_http_cache(stack: &Stack, contract: Contract) -> Result<(), Refusal> {
    if stack.http_cache == HttpCache::None || contract == Contract::Transfer {
        return Ok(());
    }
    let message = format!("{contract} has no reply with an entity tag: only transfer's Hello has");
    Err(Refusal::new(
        "stack.http_cache",
        message,
        "use http_cache=none",
    ))
}

fn check_text(stack: &Stack, contract: Contract) -> Result<(), Refusal> {
    if stack.codec == Codec::Text && contract != Contract::Transfer {
        let message = format!("{contract} has no operation whose messages are plain texts");
        return Err(Refusal::new("stack.codec", message, "use codec=json"));
    }
    Ok(())
}

/// Refuses to split what has no head.
fn check_writes(config: &ServiceConfig) -> Result<(), Refusal> {
    if config.stack.binding != Binding::Websocket || config.socket.writes == Writes::Joined {
        return Ok(());
    }
    let message = "each message of WebSocket goes out in one send";
    Err(Refusal::new("socket.writes", message, "use writes=joined"))
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

/// Refuses what the store of rows cannot be.
fn check_database(store: &Store, mutant: bool, contract: Contract) -> Result<(), Refusal> {
    let refuse = |option, message: &str, remedy| Err(Refusal::new(option, message, remedy));
    if store.kind == StoreKind::Memory {
        return match (&store.url, store.pool) {
            (None, None) => Ok(()),
            (Some(_), _) => refuse(
                "store.url",
                "store.kind=memory uses no database",
                "leave it out, or use store.kind=sqlite or postgres",
            ),
            (None, Some(_)) => refuse(
                "store.pool",
                "store.kind=memory has no connections",
                "leave it out, or use store.kind=sqlite or postgres",
            ),
        };
    }
    if !matches!(contract, Contract::Records | Contract::Petclinic) {
        let message = format!("{contract} keeps its state in memory");
        return refuse(
            "store.kind",
            &message,
            "use store.kind=memory, or contract=records or petclinic",
        );
    }
    // A mutant changes what the canonical model answers, and the model has no database.
    if mutant {
        let message = "mutants keep their rows in memory";
        return refuse("faults.mutant", message, "use store.kind=memory");
    }
    if store.url.as_deref().unwrap_or_default().is_empty() {
        let message = "this store needs a database, and none is named";
        let remedy = "name a file for sqlite, or a URL for postgres";
        return refuse("store.url", message, remedy);
    }
    if store.pool == Some(0) {
        return refuse(
            "store.pool",
            "no call is served by 0 connections",
            "use at least 1",
        );
    }
    // Every call that has to wait at all would then be unavailable.
    if store.timeout_ms == 0 {
        return refuse("store.timeout_ms", "no call takes 0 ms", "use at least 1");
    }
    Ok(())
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
    if config.stack.reply == Reply::OneWay
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
    .find_map(|(option, requested)| requested.then_some(option))
}

/// Windows and delays that no axis has.
fn check_windows(config: &ServiceConfig) -> Result<(), Refusal> {
    // AxisMap::set would panic on these below: the table's bounds are checked first, with a
    // message of their own.
    let windows = [
        (
            "socket.tcp_window",
            "server.tcp_window",
            config.socket.tcp_window,
        ),
        (
            "socket.h2_window",
            "server.h2_window",
            config.socket.h2_window,
        ),
    ];
    for (option, axis, bytes) in windows {
        let Some(bytes) = bytes else { continue };
        if !find(axis).is_some_and(|axis| axis.takes(&bytes.to_string())) {
            let message = format!("no window has {bytes} bytes");
            let remedy = "use 1 to 2147483647 bytes, or null";
            return Err(Refusal::new(option, message, remedy));
        }
    }
    let delay = config.stack.close_delay_ms;
    if !find("close_delay").is_some_and(|axis| axis.takes(&delay.to_string())) {
        let message = format!("{delay} ms are longer than anybody waits");
        return Err(Refusal::new(
            "stack.close_delay_ms",
            message,
            "use at most 60000",
        ));
    }
    Ok(())
}

fn check_limits(config: &ServiceConfig) -> Result<(), Refusal> {
    if !(1..=PROCESSORS_MAX).contains(&config.processors) {
        let message = format!("{} threads cannot be had", config.processors);
        return Err(Refusal::new("processors", message, "use 1 to 256"));
    }
    Ok(())
}

/// Refuses what a Unix socket does not have.
fn check_unix(config: &ServiceConfig) -> Result<(), Refusal> {
    let socket = &config.socket;
    let requested = [
        ("socket.quickack", socket.quickack.is_some()),
        ("faults.reset", config.faults.reset.is_some()),
    ];
    match requested.into_iter().find(|(_, requested)| *requested) {
        None => Ok(()),
        Some((option, _)) => {
            let message = "a Unix socket has nothing of the kind";
            let remedy = "listen on 127.0.0.1:0, or leave it out";
            Err(Refusal::new(option, message, remedy))
        }
    }
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
