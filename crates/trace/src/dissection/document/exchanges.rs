//! Calls in the document.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::exchange::{Ending, Protocol};

/// Calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExchangeSums {
    /// Requests seen.
    pub count: u64,
    /// By name, the commonest first, at most 64; the others are together under
    /// `(others)`.
    pub by_name: Vec<Named>,
    /// By how their replies ended.
    pub endings: BTreeMap<Ending, u64>,
    /// Messages without a counterpart.
    pub unpaired: Unpaired,
    /// From the request's first byte to the reply's last, of exchanges with a
    /// whole reply, at the place of the capture.
    pub latency_us: Option<Quantiles>,
    /// Whether messages began in one segment.
    pub writes: Writes,
    /// How connections were used.
    pub connections: Connections,
}

/// Messages whose counterpart the capture lacks, or cannot tell from others since
/// messages are missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unpaired {
    /// Requests; each is an exchange whose reply is unseen.
    pub requests: u64,
    /// Replies; they belong to no exchange.
    pub replies: u64,
}

/// Exchanges of one name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// Method and path, or operation; empty where the protocol has none.
    pub name: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// How many.
    pub count: u64,
    /// By status, `200`, `200/0` with a grpc-status; `-` without one.
    pub status: BTreeMap<String, u64>,
    /// As in the sums.
    pub latency_us: Option<Quantiles>,
    /// Means, bytes.
    pub request_message_bytes: f64,
    /// Means, bytes.
    pub request_overhead_bytes: f64,
    /// Means over those with a reply, bytes.
    pub reply_message_bytes: f64,
    /// Means over those with a reply, bytes.
    pub reply_overhead_bytes: f64,
}

/// Quantiles, microseconds, to three digits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Median.
    pub p50: f64,
    /// 90 %.
    pub p90: f64,
    /// 99 %.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Over how many.
    pub n: u64,
}

/// Whether messages began in one segment, head and body together, or in several.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Writes {
    /// Requests whose head and first byte of body came in one segment.
    pub requests_joined: u64,
    /// Requests whose did not.
    pub requests_split: u64,
    /// The same of replies.
    pub replies_joined: u64,
    /// The same of replies.
    pub replies_split: u64,
}

/// How connections were used.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// That carried an exchange.
    pub used: u64,
    /// That carried exactly one.
    pub used_once: u64,
    /// That carried none.
    pub unused: u64,
    /// The most exchanges on one.
    pub exchanges_max: u64,
    /// Exchanges after which the server closed.
    pub closed_by_server: u64,
    /// The most exchanges under way at a time on one.
    pub in_flight_max: u64,
}
