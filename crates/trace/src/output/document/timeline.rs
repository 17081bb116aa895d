//! Packets one by one in the document: of one exchange, and over many.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flow::event::Direction;
use crate::protocol::exchange::Protocol;

/// The exchange of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TimelineOf {
    /// Its connection.
    pub flow: u32,
    /// Its number there, from 0.
    pub exchange: u64,
    /// Its name.
    pub name: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// From the request's first byte to the reply's last; null where that was not seen.
    pub latency_us: Option<f64>,
    /// Why this one.
    pub chosen: Chosen,
    /// Packets left out in its middle, for their number.
    pub omitted: u64,
}

/// Why an exchange was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// Of a uniform sample of whole exchanges, the one nearest to the median latency.
    Median,
    /// It was asked for.
    Asked,
}

/// One packet of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Rung {
    /// Its number in the capture, from 1.
    pub packet: u64,
    /// Since the first packet of the list.
    pub at_us: f64,
    /// Since the packet before it in the list.
    pub gap_us: f64,
    /// `request`: from client to server; or `reply`.
    pub direction: Way,
    /// What it is part of.
    pub phase: Phase,
    /// As `SYN ACK`.
    pub flags: String,
    /// TCP payload bytes.
    pub bytes: u32,
    /// Bytes of link, IP and TCP headers.
    pub header_bytes: u32,
    /// What the payload is, in order; nothing for bytes sent again.
    pub layers: Vec<LayerBytes>,
    /// What is special about it; empty where nothing is.
    pub note: String,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Reply,
}

impl From<Direction> for Way {
    fn from(direction: Direction) -> Way {
        match direction {
            Direction::Request => Way::Request,
            Direction::Reply => Way::Reply,
        }
    }
}

/// What a packet of a ladder is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the connection's first exchange.
    SetUp,
    /// The exchange.
    Exchange,
    /// After the connection's last exchange.
    TearDown,
}

/// Bytes of a packet that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LayerBytes {
    /// `HTTP head`, `JSON`, `SETTINGS`, …
    pub layer: String,
    /// How many.
    pub bytes: u32,
}

/// Exchanges whose packets were followed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterarrivalOf {
    /// Exchanges with the commonest sequence.
    pub exchanges: u64,
    /// The number of exchanges whose sequence was followed.
    pub of: u64,
    /// Exchanges that were not followed: others were under way at the same time on
    /// their connection, or they had too many packets.
    pub not_followed: u64,
    /// Different sequences among them, at most 256; those of more are not followed.
    pub shapes: u64,
}

/// One packet of a sequence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Position {
    /// From 1.
    pub position: u64,
    /// Which way.
    pub direction: Way,
    /// As `SYN ACK`.
    pub flags: String,
    /// Median of its payload bytes.
    pub bytes_median: u32,
    /// Time since the packet before it; 0 for the first.
    pub gap_us: Spread,
    /// The same times, counted; of at most 128 bins, others count to the nearest.
    pub gap_histogram: Vec<Bin>,
}

/// Times that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Bin {
    /// The shortest they can be, microseconds; the longest is less than 1/128 longer.
    pub from_us: f64,
    /// How many.
    pub n: u64,
}

/// Mean and standard deviation, microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (divided by n - 1); 0 where n is 1.
    pub deviation: f64,
    /// Over how many.
    pub n: u64,
}
