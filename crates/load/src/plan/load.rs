//! When calls are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival process.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Users who send their next call when the last has ended.
    Closed {
        /// Number of users.
        users: u32,
        /// Pause of a user between calls, in seconds.
        #[serde(default)]
        think_s: f64,
    },
    /// Evenly spaced arrivals.
    Constant {
        /// Calls per second.
        rate: f64,
        /// Calls in flight at most; the others wait in an unbounded queue.
        in_flight_max: u32,
    },
    /// Arrivals with exponential gaps.
    Poisson {
        /// Calls per second, on average.
        rate: f64,
        /// Calls in flight at most; the others wait in an unbounded queue.
        in_flight_max: u32,
        /// Seed of the gaps.
        seed: u64,
    },
}

/// How long the measured window lasts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Seconds.
    DurationS(f64),
    /// A number of calls, and an upper bound in seconds. The window closes when
    /// one call more arrives; that of a closed load without a warm-up when the
    /// last of them has ended.
    Calls {
        /// Calls to make.
        calls: u64,
        /// Seconds after which the window closes all the same.
        max_s: f64,
    },
}

/// What comes before the window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Warmup {
    /// Seconds at least.
    pub min_s: f64,
    /// Seconds at most; when the series is not stationary by then, or the users
    /// of a closed load have not ended three calls each, the result says so. 0:
    /// no warm-up (`start=cold`).
    pub max_s: f64,
}

impl Default for Warmup {
    fn default() -> Self {
        Warmup {
            min_s: 0.2,
            max_s: 5.0,
        }
    }
}
