//! The document that `wirelab-engine dissect` prints.
//!
//! Times are microseconds unless their names say otherwise, `at_us` counts from
//! the first packet of its list. Bytes are bytes on the wire; link headers are
//! those of the capture's link type.

mod accounting;
pub(super) mod timeline;
pub(super) mod traffic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use accounting::*;
pub use timeline::*;
pub use traffic::*;

use crate::diagnosis::Finding;
use crate::output::reconciliation::document::Reconciliation;

/// Its version.
pub const VERSION: u32 = 1;

/// What a capture says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Dissection {
    /// Version of this document: 1.
    pub dissection: u32,
    /// The file, as it was named.
    pub file: String,
    /// What the file holds.
    pub capture: Capture,
    /// Connections.
    pub flows: FlowSums,
    /// Packets and bytes.
    pub accounting: Accounting,
    /// Calls.
    pub exchanges: ExchangeSums,
    /// When they were made.
    pub load: Load,
    /// What cost time, and where.
    pub findings: Vec<Finding>,
    /// The packets of one exchange, with its connection's set-up and tear-down;
    /// empty where no exchange was whole.
    pub timeline: Vec<Rung>,
    /// Which exchange that is.
    pub timeline_of: Option<TimelineOf>,
    /// Inter-arrival times over all exchanges with the commonest sequence of
    /// packets, in the manner of Elfwing and Paulsson (2002, tables 4 and 5);
    /// empty where no exchange was followed.
    pub interarrival: Vec<Position>,
    /// Which exchanges those are.
    pub interarrival_of: InterarrivalOf,
    /// Where each call's time went; null without a log of calls.
    pub reconciliation: Option<Reconciliation>,
}

/// What a file holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// Packets of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that carry TCP.
    pub tcp_packets: u64,
    /// Packets that do not.
    pub other_packets: u64,
    /// From the first packet to the last.
    pub seconds: f64,
    /// What the packets begin with: `Ethernet`, …
    pub link_types: Vec<String>,
    /// Packets of which the file holds only the beginning.
    pub truncated: u64,
    /// Packets that whoever captured says were lost; null where the file does not say.
    pub drops: Option<u64>,
    /// Why the reading ended early, with the offset in the file; null where it did not.
    pub damaged: Option<String>,
    /// What cannot be told, and how to capture both directions, where most
    /// connections were captured in one direction only; null where they were not.
    pub one_sided: Option<String>,
}
