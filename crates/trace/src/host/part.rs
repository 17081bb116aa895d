//! The parts that the time of a server is divided into.

use std::ops::{Index, IndexMut};

/// What a server did in one moment of the time in which it was its turn.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HostPart {
    /// From the packet to its socket: softirq, and the link where there is one.
    Delivery,
    /// The data was at the socket and had not been read.
    Unread,
    /// A thread was runnable and did not run.
    Runnable,
    /// The thread with the request ran.
    Running,
    /// It waited for another thread: a lock, a queue, a condition.
    Lock,
    /// It waited for a disk.
    Disk,
    /// It waited for another connection or pipe.
    Network,
    /// It waited for a timer: it slept.
    Timer,
    /// It waited for something else, e.g. the end of a process.
    Other,
    /// The record does not show it.
    Unknown,
}

impl HostPart {
    /// All, in the order of their numbers.
    pub const ALL: [HostPart; 10] = [
        HostPart::Delivery,
        HostPart::Unread,
        HostPart::Runnable,
        HostPart::Running,
        HostPart::Lock,
        HostPart::Disk,
        HostPart::Network,
        HostPart::Timer,
        HostPart::Other,
        HostPart::Unknown,
    ];

    /// For sentences.
    pub fn text(self) -> &'static str {
        match self {
            HostPart::Delivery => "on the way to the socket",
            HostPart::Unread => "not read yet",
            HostPart::Runnable => "runnable but not running",
            HostPart::Running => "running",
            HostPart::Lock => "blocked by a lock or another thread",
            HostPart::Disk => "blocked by the disk",
            HostPart::Network => "blocked by another connection",
            HostPart::Timer => "blocked by a timer",
            HostPart::Other => "blocked otherwise",
            HostPart::Unknown => "not recorded",
        }
    }
}

/// Time by part, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostDivision([u64; HostPart::ALL.len()]);

impl HostDivision {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// Each part that has any time.
    pub fn parts(&self) -> impl Iterator<Item = (HostPart, u64)> {
        let parts = HostPart::ALL.into_iter().zip(self.0);
        parts.filter(|(_, ns)| *ns > 0)
    }

    pub(super) fn add(&mut self, part: HostPart, ns: u64) {
        self[part] = self[part].saturating_add(ns);
    }

    pub(super) fn add_all(&mut self, other: &HostDivision) {
        other.parts().for_each(|(part, ns)| self.add(part, ns));
    }
}

impl Index<HostPart> for HostDivision {
    type Output = u64;

    fn index(&self, part: HostPart) -> &u64 {
        &self.0[part as usize]
    }
}

impl IndexMut<HostPart> for HostDivision {
    fn index_mut(&mut self, part: HostPart) -> &mut u64 {
        &mut self.0[part as usize]
    }
}
