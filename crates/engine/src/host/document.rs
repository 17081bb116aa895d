//! What `host` reads and prints.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::refusal::Refusal;
use wirelab_host::Counts;
use wirelab_trace::host::{HostPart, HostTally};

use crate::usage::cpu_s;

/// What is to be recorded: one JSON line on standard input, which stays open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Processes; those that they start from then on are recorded, too.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(crate) pids: Vec<u32>,
    /// The file of records; one that is there already is not overwritten. Null: none, only the
    /// summary is printed.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// Cores to run on; none: all.
    #[serde(default)]
    pub(crate) cores: Vec<usize>,
}

/// The lines that it prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum HostLine {
    /// The processes are being recorded from now on.
    Ready {
        /// Always true.
        ready: bool,
        /// Of this process.
        pid: u32,
    },
    /// The last line: what was recorded.
    Recorded {
        /// Counts and times.
        recorded: HostRecorded,
    },
    /// Instead of ready; exit code 2.
    Refused {
        /// Why.
        refused: Refusal,
    },
    /// The last line when the machine failed; exit code 3. The file holds what was written
    /// until then.
    Failed {
        /// Why.
        failed: HostFailure,
    },
}

/// What was recorded.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostRecorded {
    /// Records of all kinds.
    records: u64,
    /// Records that the ring had no room for.
    drops: u64,
    /// Times in which a thread was off the CPU.
    off_cpu: u64,
    /// Reads from sockets of TCP.
    reads: u64,
    /// Writes to sockets of TCP.
    writes: u64,
    /// Threads that were off the CPU.
    threads: u64,
    /// Times of all threads by part, milliseconds: `unread` from data at a socket until it
    /// was read, the others off the CPU. Threads that wait for work count as well.
    parts_ms: BTreeMap<HostPart, f64>,
    /// CPU time of this process, seconds. What the kernel programs take counts for the
    /// processes that they interrupt.
    cpu_s: f64,
}

impl HostRecorded {
    pub(crate) fn new(tally: &HostTally, counts: Counts) -> HostRecorded {
        HostRecorded {
            records: counts.records,
            drops: counts.drops,
            off_cpu: tally.off_cpu,
            reads: tally.reads,
            writes: tally.writes,
            threads: tally.threads() as u64,
            parts_ms: tally
                .times
                .parts()
                .map(|(part, ns)| (part, ns as f64 / 1e6))
                .collect(),
            cpu_s: cpu_s(),
        }
    }
}

/// What failed, and what to do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostFailure {
    /// What happened.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) remedy: String,
    /// The disk has no room: what else is written to it will fail, too.
    pub(crate) out_of_room: bool,
}
