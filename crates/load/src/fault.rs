//! Failures of the lab itself, each with its remedy.

use std::io;

use crate::record::result::{Fault, FaultKind};

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
    Fault {
        kind: FaultKind::Limit,
        message: format!("{needed} connections need more than the {limit} open files allowed"),
        remedy: "ask for fewer connections, or raise the limit (ulimit -n)".into(),
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
