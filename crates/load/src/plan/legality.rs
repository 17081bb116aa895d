//! What a stack needs of its group and of its target, and what they cannot give it.

use std::fs;

use wirelab_stack::axes::KEYED;
use wirelab_stack::{Binding, Reply, Security, Stack};

use crate::call::fault;
use crate::call::result::Fault;
use crate::plan::Group;
use crate::plan::target::Target;

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

/// Checks the properties of a group apart from its stack.
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
    if group.username.is_some() && stack.binding != Binding::Soap {
        return refuse(
            "username: only soap carries a UsernameToken",
            "leave username and password out, or use binding soap",
        );
    }
    check_ws_security(group)
}

/// The rules of stacks let other callers have them.
fn check_ws_security(group: &Group) -> Result<(), Fault> {
    if KEYED.contains(&group.stack.axes().value("ws_security")) {
        return refuse(
            "stack.ws_security: the engine neither signs nor encrypts messages",
            "use caller=java",
        );
    }
    match group.keystore {
        None => Ok(()),
        Some(_) => refuse(
            "keystore: the engine neither signs nor encrypts messages",
            "leave it out, or use caller=java",
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
    match (&tls.ca, tls.insecure) {
        (Some(_), false) | (None, true) => {}
        (None, false) => {
            return refuse(
                "tls.ca: nothing says which certificates are right",
                "name the PEM file of the certificate authority, or set tls.insecure",
            );
        }
        (Some(_), true) => {
            return refuse(
                "tls.insecure: with it no certificate is checked, and tls.ca is of no use",
                "leave one of them out",
            );
        }
    }
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

/// An option that is required exactly where something else is.
fn belongs(name: &str, given: bool, required: bool, to: &str, how: &str) -> Result<(), Fault> {
    match (given, required) {
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
        ("nagle", stack.client.nagle),
        ("quickack", stack.client.quickack.is_some()),
        ("tcp_window", stack.client.tcp_window.is_some()),
        ("reply=one-way", stack.reply == Reply::OneWay),
    ];
    if let (Target::Unix(_), Some((name, _))) = (target, of_tcp.iter().find(|(_, set)| *set)) {
        return refuse(
            format!("{name}: a Unix socket has no such option"),
            format!("leave {name} out, or use a TCP target"),
        );
    }
    // setsockopt(2) would cut a larger one without an error (socket(7), SO_RCVBUF).
    let kernel_max = receive_buffer_max();
    if let Some(bytes) = stack.client.tcp_window.filter(|bytes| *bytes > kernel_max) {
        return refuse(
            format!("tcp_window = {bytes}: this kernel gives at most {kernel_max} bytes"),
            "use less, or raise net.core.rmem_max",
        );
    }
    Ok(())
}

/// Largest SO_RCVBUF that the kernel gives, in bytes (socket(7)).
fn receive_buffer_max() -> u32 {
    let text = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    // Where the kernel does not say, it decides.
    text.and_then(|text| text.trim().parse().ok())
        .unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "legality_tests.rs"]
mod tests;
