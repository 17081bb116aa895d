//! Combinations that no engine could honour, each refused with the nearest legal one.

use crate::fault;
use crate::plan::{
    Binding, Codec, Compression, Group, Reply, Security, SoapVersion, Stack, Transport,
};
use crate::process::receive_buffer_max;
use crate::result::Fault;
use crate::target::Target;

/// The largest window that HTTP/2 has (RFC 9113 section 6.9.1), in bytes.
const H2_WINDOW_MAX: u32 = (1 << 31) - 1;

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

/// Checks what a stack says by itself.
pub(crate) fn check_stack(stack: &Stack) -> Result<(), Fault> {
    check_codec(stack)?;
    check_transport(stack)?;
    check_in_flight(stack)?;
    check_reply(stack)?;
    check_own_options(stack)
}

/// Codecs of a binding, and how a refusal names them.
fn codecs(binding: Binding) -> (&'static [Codec], &'static str) {
    match binding {
        Binding::Rest => (
            &[Codec::Text, Codec::Json, Codec::Protobuf, Codec::Xml],
            "codec: rest speaks text, json, protobuf and xml; use codec=json",
        ),
        Binding::Soap => (
            &[Codec::SoapLiteral, Codec::SoapRpc, Codec::SoapEncoded],
            "codec: soap speaks soap-literal, soap-rpc and soap-encoded; use codec=soap-literal",
        ),
        Binding::Grpc => (
            &[Codec::Protobuf],
            "codec: grpc carries protobuf; use codec=protobuf",
        ),
        Binding::Iiop => (&[Codec::Cdr], "codec: iiop carries cdr; use codec=cdr"),
        Binding::Raw => (
            &[Codec::SoapLiteral, Codec::TokenXml],
            "codec: raw carries soap-literal and token-xml; use codec=soap-literal",
        ),
    }
}

fn check_codec(stack: &Stack) -> Result<(), Fault> {
    let (codecs, words) = codecs(stack.binding);
    if !codecs.contains(&stack.codec) {
        let (message, remedy) = words.split_once("; ").unwrap_or((words, ""));
        return refuse(message, remedy);
    }
    match (stack.binding, stack.compression) {
        (Binding::Iiop, Compression::Gzip | Compression::Zstd) => refuse(
            "compression: GIOP 1.2 has none",
            "use compression=none with iiop",
        ),
        _ => Ok(()),
    }
}

fn check_transport(stack: &Stack) -> Result<(), Fault> {
    let http = stack.transport != Transport::Tcp;
    match (stack.binding, stack.transport) {
        (Binding::Grpc, Transport::Http10 | Transport::Http11 | Transport::Tcp) => {
            refuse("transport: grpc needs HTTP/2", "use transport=http/2")
        }
        (Binding::Rest | Binding::Soap, Transport::Tcp) => refuse(
            "transport: rest and soap need HTTP",
            "use transport=http/1.1, or binding raw",
        ),
        (Binding::Iiop | Binding::Raw, _) if http => refuse(
            "transport: iiop and raw need no HTTP",
            "use transport=tcp, or binding soap",
        ),
        _ => Ok(()),
    }
}

fn check_in_flight(stack: &Stack) -> Result<(), Fault> {
    match (
        stack.connection.in_flight.0,
        stack.connection.close,
        stack.transport,
    ) {
        (0, ..) => refuse(
            "in_flight = 0: no call could be made",
            "use in_flight 1 or more",
        ),
        (2.., true, _) => refuse(
            "connection=close carries one call per connection",
            "use in_flight=1, or connection=keep",
        ),
        (2.., _, Transport::Http10) => refuse(
            "HTTP/1.0 has no pipelining",
            "use in_flight=1, or transport=http/1.1",
        ),
        _ => Ok(()),
    }
}

fn check_reply(stack: &Stack) -> Result<(), Fault> {
    match (stack.reply, stack.binding, stack.connection.close) {
        (Reply::OneWay, Binding::Rest | Binding::Soap | Binding::Grpc | Binding::Iiop, _) => {
            refuse(
                "reply=one-way: only raw has a report of what was processed",
                "use binding raw, or reply=two-way",
            )
        }
        (Reply::OneWay, Binding::Raw, true) => refuse(
            "reply=one-way with connection=close: calls are counted by connection",
            "use connection=keep",
        ),
        _ => Ok(()),
    }
}

/// Options that only some stacks have.
fn check_own_options(stack: &Stack) -> Result<(), Fault> {
    if stack.soap.is_some() && stack.binding != Binding::Soap {
        return refuse(
            "soap: the axis belongs to binding soap",
            "leave soap out, or use binding soap",
        );
    }
    if stack.soap == Some(SoapVersion::V12) && stack.codec == Codec::SoapEncoded {
        return refuse(
            "soap=1.2 with codec=soap-encoded: the encoding is that of SOAP 1.1 section 5",
            "use soap=1.1, or codec=soap-rpc",
        );
    }
    if stack.byte_order.is_some() && stack.binding != Binding::Iiop {
        return refuse(
            "byte_order: only GIOP lets the sender choose it",
            "leave byte_order out, or use binding iiop",
        );
    }
    for (option, given) in [
        ("token_source", stack.token_source.is_some()),
        ("token_cache", stack.token_cache.is_some()),
    ] {
        if given && stack.codec != Codec::TokenXml {
            return refuse(
                format!("{option}: belongs to codec token-xml"),
                format!("leave {option} out, or use codec=token-xml"),
            );
        }
    }
    Ok(())
}

/// Checks what belongs to a group beside its stack.
pub(crate) fn check_group(group: &Group) -> Result<(), Fault> {
    let stack = &group.stack;
    let iiop = stack.binding == Binding::Iiop;
    belongs(
        "object",
        group.object.is_some(),
        iiop,
        "binding iiop",
        "give the IOR of the service's ready line, or a corbaloc",
    )?;
    belongs(
        "report",
        group.report.is_some(),
        stack.reply == Reply::OneWay,
        "reply=one-way",
        "give the report address of the service's ready line",
    )?;
    check_tls(group)?;
    if group.username.is_some() != group.password.is_some() {
        return refuse(
            "username and password: one of them is missing",
            "give both, or none",
        );
    }
    match group.username.is_some() && stack.binding != Binding::Soap {
        false => Ok(()),
        true => refuse(
            "username: only soap carries a UsernameToken",
            "leave username and password out, or use binding soap",
        ),
    }
}

fn check_tls(group: &Group) -> Result<(), Fault> {
    let security = group.stack.security;
    belongs(
        "tls",
        group.tls.is_some(),
        security != Security::None,
        "security tls or mtls",
        "name the PEM file of the certificate authority as tls.ca",
    )?;
    let Some(tls) = &group.tls else { return Ok(()) };
    for (name, given) in [
        ("tls.certificate", tls.certificate.is_some()),
        ("tls.key", tls.key.is_some()),
    ] {
        belongs(
            name,
            given,
            security == Security::Mtls,
            "security mtls",
            "name the PEM files of the client's certificate and key",
        )?;
    }
    Ok(())
}

/// An option that is wanted exactly where something else is.
fn belongs(name: &str, given: bool, wanted: bool, to: &str, how: &str) -> Result<(), Fault> {
    match (given, wanted) {
        (true, false) => refuse(
            format!("{name}: belongs to {to}"),
            format!("leave {name} out, or use {to}"),
        ),
        (false, true) => refuse(format!("{name}: {to} needs it"), how),
        _ => Ok(()),
    }
}

/// Options that the client's sockets and HTTP/2 would not honour.
pub(crate) fn check_socket(stack: &Stack, target: &Target) -> Result<(), Fault> {
    let of_tcp = [
        ("nagle", stack.nagle),
        ("quickack", stack.quickack.is_some()),
        ("tcp_window", stack.tcp_window.is_some()),
        ("reply=one-way", stack.reply == Reply::OneWay),
    ];
    if let (Target::Unix(_), Some((name, _))) = (target, of_tcp.iter().find(|(_, set)| *set)) {
        return refuse(
            format!("{name}: a Unix socket has no such option"),
            format!("leave {name} out, or use a TCP target"),
        );
    }
    let kernel_max = receive_buffer_max();
    if let Some(bytes) = stack.tcp_window.filter(|bytes| *bytes > kernel_max) {
        return refuse(
            format!("tcp_window = {bytes}: this kernel gives at most {kernel_max} bytes"),
            "use less, or raise net.core.rmem_max",
        );
    }
    match stack.h2_window {
        None | Some(1..=H2_WINDOW_MAX) => Ok(()),
        Some(bytes) => refuse(
            format!("h2_window = {bytes}: HTTP/2 has windows of 1 to {H2_WINDOW_MAX} bytes"),
            "use bytes within that range",
        ),
    }
}

#[cfg(test)]
#[path = "legality_tests.rs"]
mod tests;
