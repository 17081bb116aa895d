//! The plan: what one engine process is to do, one JSON document on standard input.
//!
//! The schema committed in `contracts/process/plan.schema.json` is made from
//! these types; the front's plans are tested against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything one engine process does in one trial.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Threads that carry load; each has its own reactor. Groups are spread over all.
    #[serde(default = "one")]
    pub threads: u32,
    /// Cores to pin the threads to, in turn; empty: not pinned.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// The threads never sleep while they wait: no time is lost to waking a
    /// core up, and each thread uses a whole core, so that CPU per call says
    /// nothing.
    #[serde(default)]
    pub spin: bool,
    /// Allow targets that are neither loopback nor in a namespace of the lab.
    #[serde(default)]
    pub allow_any_target: bool,
    /// Milliseconds between progress lines; 0: none.
    #[serde(default = "progress_default")]
    pub progress_ms: u64,
    /// Groups of calls, each with its own workload and load, run at the same time.
    pub groups: Vec<Group>,
}

/// Calls of one kind under one load.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Shown in results.
    pub name: String,
    /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
    pub target: String,
    /// `Host` / `:authority`; the target's own when absent.
    #[serde(default)]
    pub authority: Option<String>,
    /// How calls travel.
    pub stack: Stack,
    /// What is called.
    pub workload: Workload,
    /// When calls are made.
    pub load: Load,
    /// How long the measured window lasts.
    pub window: Window,
    /// What comes before the window.
    #[serde(default)]
    pub warmup: Warmup,
    /// Seconds after `sent` at which a call is given up.
    #[serde(default = "timeout_default")]
    pub timeout_s: f64,
    /// Seconds allowed, after the window, for calls still under way.
    #[serde(default = "timeout_default")]
    pub drain_s: f64,
}

/// The point in the axis space, as far as the caller's side is concerned.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The binding.
    pub binding: Binding,
    /// The codec of messages.
    pub codec: Codec,
    /// Compression of request bodies, and what `accept-encoding` asks for.
    #[serde(default)]
    pub compression: Compression,
    /// The transport.
    pub transport: Transport,
    /// Connection policy.
    #[serde(default)]
    pub connection: Connection,
    /// Sends on the client's side.
    #[serde(default)]
    pub writes: Writes,
    /// Nagle's algorithm on the client's sockets.
    #[serde(default)]
    pub nagle: bool,
    /// `TCP_QUICKACK` set again after every receive; absent: the kernel's way.
    #[serde(default)]
    pub quickack: Option<bool>,
    /// `SO_RCVBUF` of the client's sockets in bytes; absent: the kernel's.
    #[serde(default)]
    pub tcp_window: Option<u32>,
    /// HTTP/2 window that the client offers, per stream and per connection,
    /// in bytes; absent: 2^30 - 1, never the limit.
    #[serde(default)]
    pub h2_window: Option<u32>,
    /// What the engine does with a reply.
    #[serde(default)]
    pub work: Work,
}

/// The binding axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// REST over HTTP.
    Rest,
    /// gRPC over HTTP/2.
    Grpc,
}

/// The codec axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Plain text.
    Text,
    /// JSON by the mapping of contracts/README.md.
    Json,
    /// Protocol Buffers.
    Protobuf,
}

/// The compression axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Bodies as they are.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
}

/// The transport axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transport {
    /// RFC 1945.
    #[serde(rename = "http/1.0")]
    Http10,
    /// RFC 9112.
    #[serde(rename = "http/1.1")]
    Http11,
    /// RFC 9113, by prior knowledge.
    #[serde(rename = "http/2")]
    Http2,
}

/// The connection axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// One connection per call.
    #[serde(default)]
    pub close: bool,
    /// Number of connections; absent: as many as the load's concurrency needs
    /// (keep: one per user). With `close`: ignored.
    #[serde(default)]
    pub count: Option<u32>,
    /// Calls in flight per connection: 1, pipeline=N (HTTP/1.x) or multiplex=N (HTTP/2).
    #[serde(default = "one_default")]
    pub in_flight: InFlight,
}

/// Calls in flight per connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InFlight(pub u32);

impl Default for InFlight {
    fn default() -> Self {
        InFlight(1)
    }
}

/// Sends on one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// Header and body in one send where they fit.
    #[default]
    Joined,
    /// Header and body in two sends.
    Split,
}

/// What the engine does with a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Full decode, and comparison with what the contract says.
    #[default]
    Decode,
    /// Status, length and frame only.
    Frame,
}

/// What is called.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// An operation of a contract, replies judged by its canonical model.
    Contract {
        /// `transfer`.
        contract: String,
        /// `Hello`, `HelloBytes`, `Submit`, `Upload`, `UploadStream`, `Download`.
        operation: String,
        /// Size of the operation's large part in bytes: the text of Hello and
        /// HelloBytes, the protobuf encoding of Submit's request, the data of
        /// the others.
        bytes: u64,
        /// Size of a chunk in streams, in bytes.
        #[serde(default = "chunk_default")]
        chunk_bytes: u32,
    },
    /// Anything over HTTP.
    Http {
        /// `GET`, `POST`, …
        method: String,
        /// Path and query.
        path: String,
        /// Further header fields.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// Body, base64.
        #[serde(default)]
        body_base64: String,
        /// Status that counts as a success; absent: any 2xx.
        #[serde(default)]
        expect_status: Option<u16>,
        /// Body length that counts as a success, in bytes.
        #[serde(default)]
        expect_length: Option<u64>,
    },
    /// A gRPC method with a message given as JSON or as prepared bytes.
    Grpc {
        /// `/package.Service/Method`.
        method: String,
        /// Path of the .proto file that defines it; needed for `message`.
        #[serde(default)]
        proto: Option<String>,
        /// Import folders for `proto`.
        #[serde(default)]
        include: Vec<String>,
        /// The request as proto3 JSON.
        #[serde(default)]
        message: Option<serde_json::Value>,
        /// The request as protobuf bytes, base64, instead of `message`.
        #[serde(default)]
        body_base64: Option<String>,
        /// gRPC metadata to add.
        #[serde(default)]
        metadata: Vec<(String, String)>,
    },
}

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
    /// A number of calls, and an upper bound in seconds.
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
    /// Seconds at most; when the series is not stationary by then, the result
    /// says so. 0: no warm-up (`start=cold`).
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

fn one() -> u32 {
    1
}

fn one_default() -> InFlight {
    InFlight(1)
}

fn progress_default() -> u64 {
    500
}

fn timeout_default() -> f64 {
    10.0
}

fn chunk_default() -> u32 {
    65_536
}
