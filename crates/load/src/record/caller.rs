//! What a caller other than the engine found: JSON lines on its standard output. This crate makes
//! no such calls; the types are here because they share most of their parts with the engine's.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::error::ErrorCode;
use crate::call::result::{Fault, Progress, Times, WarmupOutcome};

/// One line of a caller's standard output.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CallerEvent {
    /// The window is about to open, or has moved on.
    Progress(Progress),
    /// The last line: what was measured.
    Result(Box<CallerOutcome>),
    /// The caller itself failed; exit code 2 (plan refused) or 3 (machine).
    Error(Fault),
}

/// What a plan came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallerOutcome {
    /// Value of the axis `caller`.
    pub caller: String,
    /// Version of the lab that it was built with.
    pub version: String,
    /// Its language's runtime, with the version.
    pub runtime: String,
    /// Libraries that make the calls, with their versions.
    pub libraries: BTreeMap<String, String>,
    /// Processors that it may use.
    pub processors: u32,
    /// Where each stamp of a call comes from: `intended`, `sent`, `flushed`, `first_byte`,
    /// `done`. `unavailable`: the library does not report it, and no time is derived from it.
    pub stamps: BTreeMap<String, String>,
    /// True when the run was interrupted before its window closed.
    pub interrupted: bool,
    /// One entry per group of the plan, in its order.
    pub groups: Vec<CallerGroup>,
}

/// What one group measured. Counts are of calls whose `intended` lies in the window.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallerGroup {
    /// The group's name.
    pub name: String,
    /// `closed` or `open`; never compare one with the other.
    pub load: String,
    /// Start of the window, nanoseconds of `CLOCK_MONOTONIC`.
    pub window_start_ns: u64,
    /// Length of the window in seconds, as it was.
    pub window_s: f64,
    /// How the warm-up went.
    pub warmup: WarmupOutcome,
    /// Calls that the window was to hold; None: it ended by time.
    pub calls_planned: Option<u64>,
    /// Rate that the plan asked for (open loads).
    pub rate_planned_per_s: Option<f64>,
    /// Calls that ended, well or not.
    pub calls: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Calls that did not.
    pub errors: u64,
    /// Calls that ended within the window, well or not, whenever they were intended.
    pub ended: u64,
    /// Failed calls by kind, as the engine names them.
    pub errors_by_kind: BTreeMap<String, u64>,
    /// Failed calls by their cause.
    pub errors_by_code: BTreeMap<ErrorCode, u64>,
    /// The first ten different failures in words.
    pub error_examples: Vec<String>,
    /// Calls that ended within the window and went well, per second of it.
    pub rate_per_s: f64,
    /// Calls in flight, averaged over the window.
    pub concurrency: f64,
    /// Highest number of arrivals that waited for a free place (open loads).
    pub queue_max: u64,
    /// Connections opened in the whole run; absent where the library does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// Most connections open at one time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_peak: Option<u64>,
    /// Bytes written and read in the window, as the sockets took and gave them; absent where the
    /// library does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// Bytes read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<u64>,
    /// Calls made in the whole run, warm-up and drain included: what the service's own counter
    /// must show.
    pub calls_whole_run: u64,
    /// Times by name, as in the engine's result; those without their stamps are absent.
    pub times: BTreeMap<String, Times>,
    /// Calls that went well, by the tenth of a second of the window in which they ended.
    pub series: Vec<u64>,
    /// Response times of the run's first calls in the order in which they began, where the plan
    /// has `first_calls`, nanoseconds. Failed ones are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_calls_ns: Vec<u64>,
}
