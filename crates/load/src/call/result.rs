//! What one engine process found: JSON lines on standard output.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::call::error::ErrorCode;

/// One line of the engine's standard output.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The window of every group is about to open, or has moved on.
    Progress(Progress),
    /// The last line: what was measured.
    Result(Box<Outcome>),
    /// The engine itself failed; exit code 2 (plan refused) or 3 (machine).
    Error(Fault),
}

/// How far the work is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Progress {
    /// `warmup`, `measure` or `drain`.
    pub phase: String,
    /// Seconds since the phase began.
    pub elapsed_s: f64,
    /// Calls completed in the phase so far.
    pub calls: u64,
    /// Calls failed in the phase so far.
    pub errors: u64,
    /// Calls that are under way.
    pub in_flight: u64,
    /// Median response time of the calls since the last line that ended within the window,
    /// nanoseconds; absent where the plan does not ask for it, and of too few calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// The same of 99 in 100 calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}

/// A failure of the lab, not of what it measures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Fault {
    /// What failed.
    pub kind: FaultKind,
    /// What went wrong, naming the option at fault.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// What failed, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The plan cannot be carried out as it is.
    Plan,
    /// The machine has too few resources: open files, ports, memory.
    Limit,
    /// A connection of the lab itself failed.
    Connect,
    /// A defect, or a failure of the operating system.
    Internal,
}

impl Fault {
    /// 2 for a plan that was refused, 3 for a failure of the machine.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FaultKind::Plan => 2,
            FaultKind::Limit | FaultKind::Connect | FaultKind::Internal => 3,
        }
    }
}

/// What was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Outcome {
    /// Version of the engine.
    pub engine: String,
    /// `release` or `debug`.
    pub profile: String,
    /// True when the run was interrupted before its windows closed.
    pub interrupted: bool,
    /// Seconds after the moment that the plan's `part` names at which the load threads were
    /// ready, 0 where they were in time; of several processes the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_s: Option<f64>,
    /// The log of calls, where the plan wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_log: Option<CallLogOutcome>,
    /// CPU and memory of the engine process.
    pub process: Process,
    /// One entry per group of the plan, in its order.
    pub groups: Vec<GroupOutcome>,
    /// Where the groups took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<SlicesOutcome>,
}

/// How the groups took turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SlicesOutcome {
    /// Measured slices, in their order.
    pub slices: Vec<SliceEdges>,
    /// True when calls were still under way at the end of the drain of a slice: the run ended
    /// there, and its windows are shorter than planned.
    pub overrun: bool,
}

/// When one slice began and ended, nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SliceEdges {
    /// Number of the group in the plan, from 0.
    pub group: u32,
    /// The group began to call.
    pub began_ns: u64,
    /// From then on calls were measured.
    pub start_ns: u64,
    /// Until then calls began.
    pub end_ns: u64,
    /// The last call under way had ended.
    pub drained_ns: u64,
    /// CPU time of the engine from `began_ns` to `drained_ns`, nanoseconds.
    pub cpu_ns: u64,
    /// Of that, the time in which the load threads were spinning.
    pub spin_ns: u64,
}

/// What came of the log of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallLogOutcome {
    /// Lines.
    pub calls: u64,
    /// Why lines are missing from some point on.
    pub error: Option<String>,
}

/// CPU and memory of the engine process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Process {
    /// User CPU seconds within the measured window.
    pub cpu_user_s: f64,
    /// System CPU seconds within the measured window.
    pub cpu_system_s: f64,
    /// Of the CPU seconds, those in which the load threads were spinning and
    /// nothing was ready: no call needed them.
    // The alias reads results of earlier versions.
    #[serde(default, alias = "awake_s")]
    pub spin_s: f64,
    /// Peak resident memory of the process in bytes.
    pub rss_max_bytes: u64,
    /// Involuntary context switches within the window.
    pub switches_involuntary: u64,
    /// Steal time of the whole machine within the window, in seconds.
    pub steal_s: f64,
    /// Seconds within the window for which load threads were ready to run and waited for a core,
    /// summed over the threads (`run_delay` of /proc/PID/task/TID/schedstat); None where the kernel
    /// does not count them.
    #[serde(default)]
    pub run_delay_s: Option<f64>,
    /// Times at which the process did not run; None in results of earlier versions.
    #[serde(default)]
    pub pauses: Option<Pauses>,
    /// Cores that the load threads were pinned to.
    pub cores: Vec<usize>,
    /// Present where one table of open files could not hold the connections.
    #[serde(default)]
    pub file_tables: Option<FileTables>,
}

/// Times of at least 10 ms at which the engine did not run, from the opening of the window until
/// its last call had ended: it was stopped, had no core, or the machine was frozen. Calls that were
/// due or under way then are late because of the engine and not because of the service.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pauses {
    /// How many.
    pub count: u64,
    /// Their sum in seconds.
    pub total_s: f64,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// When it began, seconds after the opening of the window.
    pub longest_at_s: f64,
}

/// Load threads that had a table of open files of their own each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileTables {
    /// How many threads.
    pub threads: u32,
    /// Open files that a table may hold (RLIMIT_NOFILE).
    pub limit: u64,
}

/// What one group measured. Counts are of calls whose `intended` lies in the window.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GroupOutcome {
    /// The group's name.
    pub name: String,
    /// `closed` or `open`; never compare one with the other.
    pub load: String,
    /// Length of the window in seconds, as it was.
    pub window_s: f64,
    /// Start of the window, nanoseconds of CLOCK_MONOTONIC.
    pub window_start_ns: u64,
    /// Calls that the window was to hold, or sequences where the workload is one;
    /// None: it ended by time.
    #[serde(default)]
    pub calls_planned: Option<u64>,
    /// Calls that ended, well or not.
    pub calls: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Calls that did not.
    pub errors: u64,
    /// Calls that were sent again, up to three times each, since the server had stated that it
    /// did not process them (HTTP/2: GOAWAY and REFUSED_STREAM, RFC 9113 section 8.7; GIOP:
    /// CloseConnection). Their times count from `intended` on.
    #[serde(default)]
    pub resent: u64,
    /// Calls whose reply had both transfer-encoding, by which it was read, and content-length
    /// (RFC 9112 section 6.3). Their connections were not used again.
    #[serde(default)]
    pub framing: u64,
    /// Calls that ended within the window, well or not, whenever they were
    /// intended. What was used up within the window (CPU, bytes) was used up for them. Where
    /// groups take turns: within measured slices, their beginnings and drains included.
    #[serde(default)]
    pub ended: u64,
    /// Failed calls by kind: `refused`, `reset`, `closed`, `timeout`,
    /// `protocol`, `wrong`, `application`, `unfinished`.
    pub errors_by_kind: BTreeMap<String, u64>,
    /// Failed calls by their cause; absent from results of older engines.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "counts_by_code"))]
    pub errors_by_code: BTreeMap<ErrorCode, u64>,
    /// The first ten different failures in words, with the start of the reply where one came.
    pub error_examples: Vec<String>,
    /// Calls that ended within the window and went well, per second of it.
    pub rate_per_s: f64,
    /// Rate that the plan asked for (open loads).
    pub rate_planned_per_s: Option<f64>,
    /// Calls in flight, averaged over the window: what of their service times lies
    /// within it, over its length.
    pub concurrency: f64,
    /// Highest number of arrivals that waited for a free place.
    pub queue_max: u64,
    /// Connections opened in the whole run, warm-up included.
    pub connections_opened: u64,
    /// Most connections open at one time.
    pub connections_peak: u64,
    /// Handshakes of TLS that resumed an earlier session, in the whole run.
    #[serde(default)]
    pub connections_resumed: u64,
    /// Connections of WebSocket in the whole run that offered permessage-deflate, by what the
    /// service agreed to (RFC 7692 section 7.1), `none` where it declined; empty: none offered it.
    #[serde(default)]
    pub websocket_extensions: BTreeMap<String, u64>,
    /// Attempts to connect that failed, and connections that ended without a whole reply, in
    /// the whole run.
    #[serde(default)]
    pub connections_failed: u64,
    /// Seconds of the pauses before further attempts to connect, in which no connection was
    /// opened: after two or more of these failures in a row (`reconnect_delay_s` of the plan);
    /// summed over the threads.
    #[serde(default)]
    pub reconnect_pause_s: f64,
    /// Bytes written and read in the time of `ended`, as the sockets took and gave them.
    pub bytes_sent: u64,
    /// Bytes read.
    pub bytes_received: u64,
    /// Messages received in streams.
    pub messages: u64,
    /// Calls made in the whole run, warm-up and drain included: what the
    /// service's own counter must show.
    pub calls_whole_run: u64,
    /// How the warm-up went.
    pub warmup: WarmupOutcome,
    /// Times, nanoseconds: `response` of all calls, and, where calls failed,
    /// `response_good` and `response_failed` of the two kinds of them; `service`,
    /// `queueing`, `write`, `wait` and `read` of good calls; `connect`, `lag`,
    /// `backlog`, `message`.
    pub times: BTreeMap<String, Times>,
    /// Calls that went well, by the tenth of a second of the window in which they ended.
    pub series: Vec<u64>,
    /// The `p50` and `p99` of the response time over the window: of all calls that ended in
    /// each part of it, failed ones included.
    #[serde(default)]
    pub response_over_time: BTreeMap<String, Vec<TimePoint>>,
    /// CPU seconds of the load threads within the window (all groups share them).
    pub cpu_s: f64,
    /// The calls by operation, where the group makes calls of several.
    #[serde(default)]
    pub operations: Vec<OperationOutcome>,
    /// Sequences of calls, where the workload is one.
    #[serde(default)]
    pub sequences: Option<Sequences>,
    /// The stages of the load, or its bursts, as far as they lie in the window; the first
    /// 1,000.
    #[serde(default)]
    pub periods: Vec<PeriodOutcome>,
    /// How good replies differed from each other, where the plan has `count_replies`; of
    /// those that nothing was expected of.
    #[serde(default)]
    pub replies: Option<RepliesOutcome>,
    /// Response times of the run's first calls in the order in which they were intended, where
    /// the plan has `first_calls`, nanoseconds. Failed ones are 0.
    #[serde(default)]
    pub first_calls_ns: Option<Vec<u64>>,
    /// The slowest calls, where the plan has `slowest`.
    #[serde(default)]
    pub slowest: Option<SlowestCalls>,
    /// Replies that were streams of messages.
    #[serde(default)]
    pub streams: Option<StreamsOutcome>,
}

/// The slowest calls of a window, and how they differ from others. Calls that were never sent are
/// left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SlowestCalls {
    /// Of how many these are.
    pub of: u64,
    /// At most the number that the plan asks for, the slowest first.
    pub list: Vec<SlowCall>,
    /// The slowest hundredth next to those around the median; null with fewer than 100 calls.
    pub compared: Option<CallComparison>,
}

/// One of the slowest calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SlowCall {
    /// What was called.
    pub operation: String,
    /// Which connection of its thread, from 0.
    pub connection: u64,
    /// That connection's local TCP port; 0 on a Unix socket.
    pub port: u16,
    /// Which call of that connection, from 0; calls before the window count.
    pub ordinal: u64,
    /// When it was due, nanoseconds since the opening of the window.
    pub intended_ns: u64,
    /// From when it was due to its end.
    pub response_ns: u64,
    /// The same by phase.
    pub phases: CallPhases,
    /// It did not go well.
    pub failed: bool,
}

/// The phases of calls, nanoseconds. They add up to the response time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallPhases {
    /// From when a call was due until it was sent.
    pub queueing_ns: u64,
    /// Until its last byte was written.
    pub write_ns: u64,
    /// Until the first byte of its reply was read.
    pub wait_ns: u64,
    /// Until its end.
    pub read_ns: u64,
}

/// What slow calls waited for, and usual ones. Calls are added up in bins by their response time;
/// where only a part of a bin is meant, its mean counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallComparison {
    /// The slowest hundredth, rounded up.
    pub slowest: CallSum,
    /// The tenth in the middle.
    pub median: CallSum,
}

/// Calls, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallSum {
    /// How many.
    pub count: u64,
    /// Their response times.
    pub response_ns: u64,
    /// The same by phase.
    pub phases: CallPhases,
}

/// Messages of replies that were streams. Their times are in `times`: `ttfm` from `intended` to
/// the last byte of the first message, `gap` between the last bytes of two messages, `stall` the
/// longest gap of each stream, `message_read` from the first byte of a message to its last. Of chat
/// completions also `ttft`, to the first token, and `tpot`, per token after the first; gaps are
/// between events with a token. A stream that failed before its first message is in `ttfm` with
/// the time until then, and one that failed later in `stall` with the time since its last message.
/// Of feeds of the contract stream also `lateness`, from when an item was due to its last byte,
/// `service_late`, from when it was due to when the service sent it, and `delivery`, the rest. The
/// next item of a feed that failed is in `lateness` with the time since it was due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StreamsOutcome {
    /// Messages of the streams that began in the window.
    pub messages: u64,
    /// Of these, the ones between which gaps are measured: of chat completions those with a token,
    /// else all.
    pub items: u64,
    /// Bytes of these streams, framing included.
    pub bytes: u64,
    /// Reads from sockets that ended a message, one stream at a time.
    pub reads: u64,
    /// Most messages of a stream that one read ended.
    pub read_messages_max: u64,
    /// Good streams without a message.
    pub empty: u64,
    /// Streams that were ended from our side, as the plan says.
    pub stopped: u64,
    /// Tokens of good streams, as the server counted them.
    pub tokens: u64,
    /// Good streams whose tokens the server counted.
    pub counted: u64,
    /// Messages that came within the window, per second of it, whenever their stream began.
    pub messages_per_s: f64,
    /// The same of items.
    pub items_per_s: f64,
    /// The same of their bytes.
    pub bytes_per_s: f64,
    /// Tokens of good streams that ended within the window, per second of it.
    pub tokens_per_s: f64,
}

/// Good replies that nothing was expected of, and how they differed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RepliesOutcome {
    /// Replies.
    pub count: u64,
    /// The first 16 different ones by status, length and content, the most frequent first.
    pub different: Vec<ReplyOutcome>,
    /// Replies that were none of these.
    pub others: u64,
    /// Size of the smallest, bytes.
    pub bytes_min: u64,
    /// Size of the largest, bytes.
    pub bytes_max: u64,
    /// Replies of more than 1 MB, of which status and length alone were compared.
    pub compared_by_length: u64,
}

/// Replies that were the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplyOutcome {
    /// HTTP status.
    pub status: u16,
    /// Size in bytes: of HTTP the body as it came, of gRPC the messages.
    pub bytes: u64,
    /// Of the content, 16 hexadecimal digits; the same for the same content in all runs of
    /// one version. Zeros: it was too long.
    pub hash: String,
    /// How many there were.
    pub count: u64,
}

/// A percentile of the calls that ended in a part of the window: the shortest, of whole tenths of
/// a second, that has at least 10 samples above it. A window longer than 12.8 s has longer
/// parts, at most 128.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TimePoint {
    /// Where the part begins, seconds from the begin of the window.
    pub start_s: f64,
    /// Its length in seconds.
    pub duration_s: f64,
    /// Calls that ended in it.
    pub calls: u64,
    /// The percentile, ns, to within 1.6 %.
    pub ns: u64,
}

/// A stage of a load, or a burst: what was planned for it, and what came of it. All of it
/// lies within the window; where the window cuts a period, what is left of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PeriodOutcome {
    /// Its begin, seconds from that of the window.
    pub start_s: f64,
    /// Its length in seconds: of a burst, from the first planned arrival to the last.
    pub duration_s: f64,
    /// Calls that were to arrive in it (open loads); on average where gaps are random.
    pub calls_planned: Option<f64>,
    /// Users that were to be there (closed loads), averaged over it.
    pub users_planned: Option<f64>,
    /// Calls that ended, well or not, of those that arrived in it.
    pub calls: u64,
    /// Of these, calls that failed.
    pub errors: u64,
    /// Calls that were sent while a stage lasted, whenever they arrived; calls of a burst
    /// that were sent, whenever that was.
    pub sent: u64,
    /// Calls that ended while a stage lasted, whenever they arrived.
    pub ended: u64,
    /// Users in a call or in a pause (closed loads), averaged over it.
    pub users: Option<f64>,
    /// From its begin until the last of these calls was sent, seconds.
    pub sent_after_s: Option<f64>,
    /// Response times of its calls, ns; of stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Times>,
}

/// What was measured of one operation of a group that calls several.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OperationOutcome {
    /// The operation's name in the contract.
    pub operation: String,
    /// Calls that ended, well or not.
    pub calls: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Calls that did not.
    pub errors: u64,
    /// Failed calls by kind, as in the group.
    pub errors_by_kind: BTreeMap<String, u64>,
    /// Failed calls by their cause, as in the group.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "counts_by_code"))]
    pub errors_by_code: BTreeMap<ErrorCode, u64>,
    /// Times of its calls, as in the group; those of connections are the group's.
    pub times: BTreeMap<String, Times>,
}

/// Sequences of calls that belong to the window by their first call's arrival.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sequences {
    /// Sequences that ended, well or not.
    pub count: u64,
    /// Sequences that a failed call ended.
    pub errors: u64,
    /// From the intended time of a sequence's first call to the end of its
    /// last, ns; of failed ones to the end of the call that failed.
    pub response: Times,
    /// Those without a failed call; None where all are, or none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_good: Option<Times>,
}

/// How the warm-up went.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WarmupOutcome {
    /// Seconds it took.
    pub seconds: f64,
    /// Calls made in it.
    pub calls: u64,
    /// True when the series was stationary before the window opened, and the
    /// users of a closed load had ended three calls each, on average.
    pub stationary: bool,
}

/// One distribution of times. A failed call is in `response` with the time until
/// its answer was complete (an error, a wrong reply), its connection ended, or it
/// was given up: a lower bound of what a good reply would have taken (censored).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Times {
    /// Number of samples.
    pub count: u64,
    /// Arithmetic mean, ns.
    pub mean_ns: f64,
    /// Smallest, ns.
    pub min_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// Percentiles, ns, by name (`p50`, `p90`, `p99`, `p99.9`, `p99.99`), only
    /// those with at least 10 samples above.
    pub percentiles_ns: BTreeMap<String, u64>,
    /// The whole histogram: HdrHistogram V2, deflated, base64.
    pub hdr: String,
}

/// schemars leaves out the type of a map's keys; here it is the list of codes.
#[cfg(feature = "schema")]
fn counts_by_code(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let code = generator.subschema_for::<ErrorCode>();
    let count = generator.subschema_for::<u64>();
    schemars::json_schema!({
        "type": "object",
        "propertyNames": code,
        "additionalProperties": count,
    })
}
