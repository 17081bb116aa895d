//! Calls compared with their packets, as part of the document.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phases::Phase;
use crate::diagnosis::Cause;
use crate::output::quantiles::Quantiles;

/// Where the response times of calls went.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Reconciliation {
    /// What became of the lines of the log.
    pub calls: Calls,
    /// What became of the exchanges of the capture.
    pub exchanges: Exchanges,
    /// From a SYN to its answer and back, at the place of the capture.
    pub handshake_us: Handshakes,
    /// By how much the engine's clock may be ahead of that of the packets; null
    /// without a call that shows it.
    pub clock_us: Option<ClockBounds>,
    /// All calls together; null where none was compared with its packets.
    pub all: Option<Operation>,
    /// By operation, the commonest first, at most 32; the others are together under
    /// `(others)`.
    pub operations: Vec<Operation>,
    /// The stalls within calls by their causes, the longest first.
    pub stalls: Vec<StallSums>,
}

/// What became of calls. `logged` is the sum of all but `damaged_lines`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Calls {
    /// In the log.
    pub logged: u64,
    /// Compared with their packets: the calls that the figures are of.
    pub matched: u64,
    /// Whose exchange has no whole reply, though they are not one-way calls.
    pub unanswered: u64,
    /// That ended before the capture began, or began after it.
    pub outside: u64,
    /// On a connection that is encrypted, where no exchange is seen.
    pub encrypted: u64,
    /// That were not made over TCP.
    pub without_port: u64,
    /// Without an exchange.
    pub unmatched: u64,
    /// For which no exchange had come when memory for waiting calls ran out.
    pub given_up: u64,
    /// Lines of the log that are not calls.
    pub damaged_lines: u64,
    /// Why the reading of the log ended early; null where it did not.
    pub error: Option<String>,
}

/// What became of exchanges. `seen` is the sum of all others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Exchanges {
    /// In the capture, of the connections that were looked at.
    pub seen: u64,
    /// Compared with their calls.
    pub matched: u64,
    /// That have a call, and no whole reply.
    pub unanswered: u64,
    /// Without a call.
    pub unmatched: u64,
    /// For which no call had come when memory for waiting exchanges ran out.
    pub given_up: u64,
}

/// The handshakes of connections that were opened in the capture, microseconds.
/// At the client's end the way to the server is nearly the whole round trip.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Handshakes {
    /// From a SYN to its answer: to the server's kernel and back.
    pub to_server: Option<Quantiles>,
    /// From that to the client's next packet: to the client's kernel and back.
    pub to_client: Option<Quantiles>,
}

/// Nothing is captured before it is written or read before it is captured: that much
/// two clocks can differ, microseconds. By the 1 % of calls that show most, for
/// single stamps are read late. `low` above 0: the engine's clock is ahead for sure;
/// `high` below 0: behind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClockBounds {
    /// The engine's clock is ahead by at least this; negative: behind by at most that.
    pub low: f64,
    /// The engine's clock is ahead by at most this.
    pub high: f64,
}

/// Calls of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Operation {
    /// Its name in the log; empty for all together.
    pub name: String,
    /// Calls that were compared with their packets.
    pub calls: u64,
    /// From when they were intended to their ends.
    pub response: Spent,
    /// The parts of it that any of these calls has, in order. The sum of their means
    /// and of the residual's mean is the mean response time.
    pub phases: Vec<Part>,
    /// What the parts lack of the response time. It has other signs where stamps
    /// contradict each other: its mean is signed, the others are of absolute values.
    pub residual: Spent,
}

/// One part of a response time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Part {
    /// Which.
    pub phase: Phase,
    /// Part of the sum of all response times, 0 to 1.
    pub share: f64,
    /// Its times; the mean is over all calls of the operation.
    #[serde(flatten)]
    pub spent: Spent,
}

/// Times, microseconds, to three digits; the mean is exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Spent {
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 99 %.
    pub p99_us: f64,
    /// Largest.
    pub max_us: f64,
}

/// Stalls of one cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StallSums {
    /// Why.
    pub cause: Cause,
    /// Calls that met it.
    pub calls: u64,
    /// Within those calls, milliseconds.
    pub ms_total: f64,
}
