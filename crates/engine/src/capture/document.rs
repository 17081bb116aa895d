//! What `capture` reads and prints.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::refusal::Refusal;
use wirelab_trace::capture::{Options, Recorded};

use crate::usage::cpu_s;

/// What is to be captured: one JSON line on standard input, which stays open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// An interface of the network namespace that the process is in.
    pub(crate) interface: String,
    /// The pcapng file; one that is there already is not overwritten.
    pub(crate) file: String,
    /// Longer frames are cut to this number of bytes; null: 262144, which cuts nothing.
    #[serde(default)]
    pub(crate) snaplen: Option<u32>,
    /// TCP from or to this port; null: all of TCP, and DNS over UDP.
    #[serde(default)]
    pub(crate) port: Option<u16>,
    /// Size of the ring that the kernel fills, MiB; null: 64.
    #[serde(default)]
    pub(crate) ring_mib: Option<u32>,
    /// Cores to run on; none: all.
    #[serde(default)]
    pub(crate) cores: Vec<usize>,
}

impl Config {
    pub(crate) fn options(&self) -> Options {
        Options {
            snap_bytes: self.snaplen.unwrap_or(Options::SNAP_BYTES),
            port: self.port,
            ring_mib: self.ring_mib.unwrap_or(Options::RING_MIB),
            ..Options::of(&self.interface)
        }
    }
}

/// The lines that it prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Line {
    /// Packets are being captured from now on.
    Ready {
        /// Always true.
        ready: bool,
        /// Of this process.
        pid: u32,
        /// As configured.
        interface: String,
        /// ethernet, or raw for an interface without link headers.
        link_type: String,
    },
    /// The last line: what is in the file.
    Captured {
        /// Counts.
        captured: Captured,
    },
    /// Instead of ready; exit code 2.
    Refused {
        /// Why.
        refused: Refusal,
    },
    /// The last line when the machine failed; exit code 3. The file holds what
    /// was written until then.
    Failed {
        /// Why.
        failed: Failure,
    },
}

/// What is in the file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Captured {
    /// Packets in the file.
    packets: u64,
    /// Their bytes on the wire.
    bytes: u64,
    /// Packets that passed the filter and for which the ring had no room.
    drops: u64,
    /// How often the ring was full.
    freezes: u64,
    /// CPU time of this process, seconds.
    cpu_s: f64,
}

impl Captured {
    pub(crate) fn new(recorded: &Recorded) -> Captured {
        Captured {
            packets: recorded.packets,
            bytes: recorded.bytes,
            drops: recorded.kernel.drops,
            freezes: recorded.kernel.freezes,
            cpu_s: cpu_s(),
        }
    }
}

/// What failed, what to do, and what was saved.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Failure {
    /// What happened.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) remedy: String,
    /// The disk has no room: what else is written to it will fail, too.
    pub(crate) out_of_room: bool,
    /// What is in the file for certain.
    pub(crate) captured: Captured,
}
