//! The load in the document: when requests began, how many were under way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exchanges::Quantiles;

/// When requests began, and how many were under way, at the place of the capture.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Requests that began.
    pub requests: u64,
    /// When the first one did, nanoseconds since the Unix epoch; null without requests.
    pub first_at_ns: Option<u64>,
    /// From the first request's begin to the last one's.
    pub seconds: f64,
    /// Requests per second; null below two.
    pub per_s: Option<f64>,
    /// Between the begins of requests that follow each other on any connection; null
    /// below two.
    pub gap_us: Option<Gaps>,
    /// The same gaps.
    pub gap_quantiles_us: Option<Quantiles>,
    /// How long a request was under way, whole reply or not; by Little's law the mean
    /// concurrency divided by the rate. Null without requests.
    pub latency_mean_us: Option<f64>,
    /// Requests under way, from the first one's begin to the end of the last; null
    /// where that is no time.
    pub concurrency: Option<Concurrency>,
    /// The longest time in which no request began while some were under way.
    pub pause_waiting: Option<Pause>,
    /// The longest time in which none began and none was under way.
    pub pause_resting: Option<Pause>,
    /// From a reply's end to the next request on the same connection, where nothing
    /// else was under way on it.
    pub turnaround_us: Option<Quantiles>,
    /// Pearson's correlation of the logarithms of an exchange's latency and of the time
    /// from its begin to the next one's on its connection, of exchanges that were alone
    /// there: near 1 where the client waits for replies, near 0 where it keeps time.
    pub coupling: Option<Coupling>,
    /// The most connections that were open at a time, up to the first FIN or RST of each.
    pub connections_open_max: u64,
    /// From a connection's first SYN to the begin of its first request.
    pub connect_us: Option<Quantiles>,
}

/// Gaps between the begins of requests, microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (divided by n - 1).
    pub deviation: f64,
    /// Coefficient of variation, deviation divided by mean: 0 for a constant rate, 1 for
    /// a Poisson process, more for bursts.
    pub variation: f64,
}

/// Requests under way, weighted by time.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Concurrency {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: u64,
    /// The most.
    pub max: u64,
    /// Share of the time in which none was under way.
    pub idle_share: f64,
    /// Share of the time in which at least 90 % of the most were.
    pub full_share: f64,
}

/// Time without a request's begin.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// Its length.
    pub us: f64,
    /// The packet that begins the next request.
    pub packet: u64,
}

/// How one thing follows another.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Coupling {
    /// From -1 to 1.
    pub correlation: f64,
    /// Over how many.
    pub n: u64,
}
