//! What a link did: one JSON line at its end, and on request.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::config::Match;
use crate::model::way::{Way, Ways};

/// The line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkEnded {
    /// What it did since it was ready.
    pub link: LinkSummary,
}

/// Counts since the link was ready; null where the driver cannot tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkSummary {
    /// IP packets that were sent into each direction.
    pub packets: Ways<u64>,
    /// Their bytes: of IP packets with the emulator, of Ethernet frames on veth.
    pub bytes: Ways<u64>,
    /// Packets lost by chance, those of `syn_loss_percent` included.
    pub lost: Option<Ways<u64>>,
    /// SYNs that `syn_loss_percent` met and took, 0 where it is 0; null where
    /// they are not counted.
    pub syns: Option<Ways<Syns>>,
    /// Packets that found the bottleneck's queue full.
    pub queue_drops: Option<Ways<u64>>,
    /// Packets that were sent twice.
    pub duplicated: Option<Ways<u64>>,
    /// Packets of which a bit was turned.
    pub corrupted: Option<Ways<u64>>,
    /// Packets that were let out before one that came earlier.
    pub reordered: Option<Ways<u64>>,
    /// Packets that the machine dropped, not the profile: a device's queue was
    /// full, or its network would not take them. Not 0: the trial saw more
    /// loss than was asked for.
    pub device_drops: Ways<u64>,
    /// How much later than due packets left the emulator.
    pub lateness_us: Option<Lateness>,
    /// CPU time of the emulator, seconds.
    pub cpu_s: Option<f64>,
    /// Time since the link was ready, seconds.
    pub seconds: f64,
    /// The scripted drops that came about.
    pub dropped: Vec<Dropped>,
}

/// TCP segments with SYN in a direction that loses some of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Syns {
    /// That came, and no script dropped.
    pub offered: u64,
    /// That `syn_loss_percent` took.
    pub lost: u64,
}

/// Real minus due time, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Packets.
    pub n: u64,
}

/// A packet that the script dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Dropped {
    /// The direction in which it travelled.
    pub direction: Way,
    /// What was counted.
    #[serde(rename = "match")]
    pub kind: Match,
    /// Which of them it was.
    pub nth: u64,
    /// When, nanoseconds of CLOCK_REALTIME, in which captures are stamped.
    pub at_unix_ns: u64,
    /// Bytes of the IP packet.
    pub bytes: usize,
    /// If it was a TCP segment, which.
    pub tcp: Option<TcpFields>,
}

/// What distinguishes a TCP segment from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TcpFields {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number as it was on the wire.
    pub sequence: u32,
    /// Bytes of TCP payload.
    pub data: usize,
}
