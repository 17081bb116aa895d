//! When calls are made.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Users who send their next call when the last has ended.
    Closed {
        /// Number of users.
        users: u32,
        /// Mean pause of a user between calls, in seconds.
        #[serde(default)]
        think_s: f64,
        /// How pauses are distributed.
        #[serde(default)]
        think: Distribution,
        /// Calls that a user makes back to back before each pause.
        #[serde(default = "one")]
        calls_per_pause: u32,
        /// Calls after which a user ends; absent: it goes on.
        #[serde(default)]
        iterations: Option<u32>,
        /// How many of the users call, over time, from 0 at the beginning: user k, counted
        /// from 0, while the level is above k. Empty: all of them, always.
        #[serde(default)]
        stages: Vec<Stage>,
        /// Seed of the pauses.
        #[serde(default)]
        seed: u64,
    },
    /// Evenly spaced arrivals.
    Constant {
        /// Calls per second.
        rate: f64,
        /// Calls in flight at most; the others wait in an unbounded queue.
        in_flight_max: u32,
    },
    /// A rate that changes over time in straight lines.
    Stages {
        /// Calls per second at the beginning.
        #[serde(default)]
        from: f64,
        /// The rate over time, calls per second. Nothing arrives after the last stage.
        stages: Vec<Stage>,
        /// Calls in flight at most; the others wait in an unbounded queue.
        in_flight_max: u32,
        /// Seed of exponential gaps; absent: even gaps.
        #[serde(default)]
        seed: Option<u64>,
    },
    /// Bursts of arrivals with gaps between them.
    Bursts {
        /// Calls of a burst.
        calls: u32,
        /// Calls per second within a burst; absent: all arrive at once.
        #[serde(default)]
        rate: Option<f64>,
        /// Seconds from the last arrival of a burst to the first of the next, on average.
        gap_s: f64,
        /// How gaps are distributed.
        #[serde(default)]
        gaps: Distribution,
        /// Calls in flight at most; the others wait in an unbounded queue.
        in_flight_max: u32,
        /// Seed of the gaps.
        #[serde(default)]
        seed: u64,
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

/// A level that is reached in a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The level at its end: users, or calls per second.
    pub to: f64,
    /// How long it takes, in seconds; 0: at once.
    pub duration_s: f64,
}

/// The distribution of pauses and gaps around their mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
    /// Uniform from half to one and a half of the mean.
    Uniform,
}

fn one() -> u32 {
    1
}

impl Load {
    /// A closed load without pauses.
    #[must_use]
    pub fn closed(users: u32) -> Load {
        Load::Closed {
            users,
            think_s: 0.0,
            think: Distribution::Constant,
            calls_per_pause: 1,
            iterations: None,
            stages: Vec::new(),
            seed: 0,
        }
    }

    /// Whether calls wait for the end of others.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Load::Closed { .. })
    }
}

/// How long the measured window lasts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Warmup {
    /// Seconds at least.
    pub min_s: f64,
    /// Seconds at most; when the series is not stationary by then, or the users
    /// of a closed load have not ended three calls each, the result states it. 0:
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
