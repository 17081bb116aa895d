//! Why a capture cannot begin.

use std::io;

/// Why a capture cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The process lacks the right.
    #[error("capturing packets needs the capability CAP_NET_RAW")]
    NotPermitted,
    /// There is no such interface here.
    #[error("there is no interface {name:?} in this network namespace")]
    NoInterface {
        /// As asked for.
        name: String,
        /// Those that are there.
        present: Vec<String>,
    },
    /// Its frames begin in a way that is not read.
    #[error(
        "interface {name:?} is of hardware type {hardware}; Ethernet, loopback and TUN are captured"
    )]
    Hardware {
        /// As asked for.
        name: String,
        /// ARPHRD_* of the kernel.
        hardware: u16,
    },
    /// A number is too small or too large.
    #[error("{option} is {value}, outside the range {low} to {high}")]
    OutOfRange {
        /// Its name.
        option: &'static str,
        /// As asked for.
        value: u32,
        /// The smallest.
        low: u32,
        /// The largest.
        high: u32,
    },
    /// There is no memory for the ring.
    #[error("allocating the capture ring failed: {0}")]
    Ring(io::Error),
    /// The kernel refused something else.
    #[error("{what}: {source}")]
    System {
        /// What was asked of it.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl CaptureError {
    pub(super) fn system(what: &'static str) -> impl FnOnce(io::Error) -> CaptureError {
        move |source| CaptureError::System { what, source }
    }

    /// The option at fault.
    pub fn option(&self) -> &'static str {
        match self {
            CaptureError::OutOfRange { option, .. } => option,
            CaptureError::Ring(_) => "ring_mib",
            _ => "interface",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            CaptureError::NotPermitted => {
                "run it as root, or give the binary the right: setcap cap_net_raw+ep FILE".into()
            }
            CaptureError::NoInterface { present, .. } => {
                format!("use one of {}", present.join(", "))
            }
            CaptureError::Hardware { .. } => "use another interface".into(),
            CaptureError::OutOfRange { low, high, .. } => {
                format!("use {low} to {high}, or leave it out")
            }
            CaptureError::Ring(_) => "use a smaller ring, or free memory".into(),
            // PACKET_IGNORE_OUTGOING is the newest option used, of Linux 4.20;
            // TPACKET_V3 is of 3.2.
            CaptureError::System { .. } => {
                "use a Linux kernel from 4.20 on, with CONFIG_PACKET".into()
            }
        }
    }
}
