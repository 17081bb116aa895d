//! Failures of the lab itself, each with its remedy.

use std::io;

use crate::call::result::{Fault, FaultKind};

pub(crate) fn plan(message: impl Into<String>, remedy: impl Into<String>) -> Fault {
    Fault {
        kind: FaultKind::Plan,
        message: message.into(),
        remedy: remedy.into(),
    }
}

pub(crate) fn internal(message: &str) -> Fault {
    Fault {
        kind: FaultKind::Internal,
        message: message.into(),
        remedy: "this is a defect of wirelab-engine: keep the plan and what it printed".into(),
    }
}

pub(crate) fn too_many_connections(needed: u64, limit: u64) -> Fault {
    limited(
        format!("{needed} connections need more than the {limit} open files allowed"),
        "ask for fewer connections, or raise the limit (ulimit -n)",
    )
}

/// Threads cannot have tables of open files of their own here.
pub(crate) fn one_file_table(needed: u64, limit: u64, error: &io::Error) -> Fault {
    let why = format!("and threads may have no open files of their own (unshare: {error})");
    let Fault {
        message, remedy, ..
    } = too_many_connections(needed, limit);
    limited(format!("{message}, {why}"), remedy)
}

/// Threads with open files of their own would hold the connections, but a group has too
/// few for that number of threads.
pub(crate) fn unsplit(needed: u64, limit: u64, cause: Fault) -> Fault {
    let Fault { message, .. } = too_many_connections(needed, limit);
    limited(
        format!("{message} in one thread, and {}", cause.message),
        "give each group as many users and connections as threads, or raise the limit (ulimit -n)",
    )
}

pub(crate) fn too_few_ports(needed: u64, target: &str, ports: u64) -> Fault {
    limited(
        format!("{needed} connections to {target} need more than the {ports} local ports"),
        "ask for fewer connections, or widen net.ipv4.ip_local_port_range",
    )
}

fn limited(message: String, remedy: impl Into<String>) -> Fault {
    Fault {
        kind: FaultKind::Limit,
        message,
        remedy: remedy.into(),
    }
}

pub(crate) fn pinning(core: usize, error: &io::Error) -> Fault {
    plan(
        format!("cores: cannot pin to core {core}: {error}"),
        "name cores that this machine has, or none",
    )
}

pub(crate) fn machine(error: &io::Error) -> Fault {
    let (kind, remedy) = match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => (
            FaultKind::Limit,
            "too many open files: ask for fewer connections, or raise ulimit -n",
        ),
        // The end that closes first keeps its port in TIME_WAIT for 60 s (TCP_TIMEWAIT_LEN),
        // and Linux has about 28,000 of them (net.ipv4.ip_local_port_range).
        Some(libc::EADDRNOTAVAIL) => (
            FaultKind::Limit,
            "no local port is free: with connection=close lower the rate or the users, or shorten the window",
        ),
        Some(libc::ENOMEM | libc::ENOBUFS) => (
            FaultKind::Limit,
            "the kernel has no memory for more sockets",
        ),
        _ => (
            FaultKind::Internal,
            "see the message of the operating system",
        ),
    };
    Fault {
        kind,
        message: error.to_string(),
        remedy: remedy.into(),
    }
}
