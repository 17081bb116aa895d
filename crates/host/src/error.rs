//! Why a host cannot be recorded.

use std::io;

/// Why a host cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The numbers of system calls are those of x86-64.
    #[error("recording what processes do is implemented for x86-64, and this is {0}")]
    Architecture(&'static str),
    /// The process lacks the right.
    #[error("recording what processes do needs the capabilities CAP_BPF and CAP_PERFMON")]
    NotPermitted,
    /// The kernel does not describe its types.
    #[error("this kernel has no BTF: {0}")]
    NoBtf(String),
    /// Numbers of processes differ from those of the kernel.
    #[error(
        "this is a PID namespace of its own, whose numbers of processes the kernel's tracepoints do not use"
    )]
    Namespace,
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The kernel lacks something, or refused a program.
    #[error("{what}: {reason}")]
    Kernel {
        /// What was asked of it.
        what: String,
        /// Its answer.
        reason: String,
    },
    /// Reading the ring buffer failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl HostError {
    pub(crate) fn kernel(what: &str, error: &dyn std::error::Error) -> HostError {
        HostError::Kernel {
            what: what.to_owned(),
            reason: chain(error),
        }
    }

    /// The option at fault.
    pub fn option(&self) -> &'static str {
        match self {
            HostError::NoProcess(_) => "pids",
            _ => "host",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            HostError::Architecture(_) => "use an x86-64 machine, or leave it out",
            HostError::NotPermitted => {
                "run it as root, or give the binary the rights: \
                 setcap cap_bpf,cap_perfmon+ep FILE"
            }
            HostError::NoBtf(_) => "use a kernel with CONFIG_DEBUG_INFO_BTF",
            HostError::Namespace => "run it outside of containers with a PID namespace",
            HostError::NoProcess(_) => "name one that runs",
            HostError::Kernel { .. } => {
                "use a Linux kernel from 6.3 on with CONFIG_BPF_EVENTS; lockdown mode must \
                 permit BPF"
            }
            HostError::Io(_) => "repeat it",
        }
    }
}

/// All reasons; of the log of the kernel's verifier the last line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut texts = Vec::new();
    let mut next = Some(error);
    while let Some(one) = next {
        let text = one.to_string();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let short: Vec<&str> = lines.collect();
        texts.push(match short.as_slice() {
            [first, .., last] => format!("{first} … {last}"),
            _ => text.trim().to_owned(),
        });
        next = one.source();
    }
    texts.dedup();
    texts.join(": ")
}
