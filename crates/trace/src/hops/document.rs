//! What two captures say of the proxy between them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The least time of a reply's first byte in a proxy that counts as held, milliseconds. A proxy
/// that waits for its processor takes some milliseconds too.
pub const HELD_MIN_MS: f64 = 5.0;

/// What the captures in front of a proxy and behind it show together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Hops {
    /// Version of this document: 1.
    pub hops: u32,
    /// Between caller and proxy.
    pub front: HopSide,
    /// Between proxy and service.
    pub back: HopSide,
    /// Calls whose exchanges on both sides were found; the times are theirs.
    pub matched: u64,
    /// The latency in front less the latency behind, from the request's first byte to the
    /// reply's last; null where nothing was matched.
    pub added: Option<HopTime>,
    /// The part of it on the request's way: from the first byte in front to the first behind.
    pub request: Option<HopTime>,
    /// The part of it on the reply's way: from the last byte behind to the last in front.
    pub reply: Option<HopTime>,
    /// From the first byte of a reply behind to its first byte in front.
    pub first_byte: Option<HopTime>,
    /// Replies whose first byte was held back.
    pub held: Held,
    /// Parts of streams (server-sent events) that reached the proxy, and were forwarded only when
    /// the next part had come, at least 5 ms later.
    pub held_parts: Held,
}

/// One side of a proxy.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HopSide {
    /// Connections seen.
    pub connections: u64,
    /// Requests seen.
    pub exchanges: u64,
    /// Connections over requests; null where there are none.
    pub connections_per_call: Option<f64>,
}

/// A time that the proxy took, microseconds. Below 0: it was sooner done in front than behind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HopTime {
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 99 %.
    pub p99_us: f64,
}

/// What reached the proxy and was forwarded only when more of the reply had come, at least 5 ms
/// later. What it took after the reply's last byte is none of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Held {
    /// How many.
    pub occurrences: u64,
    /// For how long, all together, milliseconds.
    pub ms_total: f64,
    /// Of them, milliseconds; null where there are none.
    pub ms_median: Option<f64>,
    /// The longest.
    #[serde(rename = "where")]
    pub places: Vec<HeldPlace>,
}

/// One reply, or part of one, that was held back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HeldPlace {
    /// Packet of its first byte in front.
    pub front_packet: u64,
    /// Packet of its first byte behind.
    pub back_packet: u64,
    /// For how long, milliseconds.
    pub ms: f64,
}
