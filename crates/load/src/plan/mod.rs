//! The plan: what one engine process is to do, one JSON document on standard input.
//!
//! The schema committed in `contracts/process/plan.schema.json` is made from
//! these types; the front's plans are tested against it.

mod data;
mod expect;
pub(crate) mod legality;
mod load;
pub(crate) mod part;
mod slices;
mod stream;
pub mod target;
mod workload;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_stack::Stack;

pub use data::{Data, RandomValue, RowPer, Rows};
pub use expect::{Expect, SizeRange};
pub use load::{Distribution, Load, Stage, Warmup, Window};
pub use part::Part;
pub use slices::Slices;
pub use stream::{FeedItems, Stream, StreamFormat};
pub use workload::{Carry, MixPart, ProtobufType, RequestStep, SequenceStep, Workload};

/// Everything one engine process does in one trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Threads that carry load; each has its own reactor. Groups are spread over all.
    /// There are more where the connections need it (`file_tables` of the result).
    #[serde(default = "one")]
    pub threads: u32,
    /// Cores to pin the threads to, in turn; empty: not pinned.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// How the threads wait when nothing is to be done.
    // The aliases here and in `Wait` are names of earlier versions, whose plans are
    // kept in runs.
    #[serde(default, alias = "waiting")]
    pub wait: Wait,
    /// Allow targets that are neither loopback nor in a namespace of the lab.
    #[serde(default)]
    pub allow_any_target: bool,
    /// Milliseconds between progress lines; 0: none.
    #[serde(default = "progress_default")]
    pub progress_ms: u64,
    /// Progress lines have percentiles, which costs each call a few instructions more.
    #[serde(default)]
    pub progress_times: bool,
    /// A new file for a line per call that was sent, warm-up and drain
    /// included: CSV, times in nanoseconds of CLOCK_REALTIME, in which
    /// packets are stamped.
    #[serde(default)]
    pub call_log: Option<String>,
    /// Groups of calls, each with its own workload and load, run at the same time, or by turns.
    pub groups: Vec<Group>,
    /// The groups take turns: each calls in its slices only, and none while calls of another are
    /// under way. The length of their windows is that of all their slices together.
    #[serde(default)]
    pub slices: Option<Slices>,
    /// This process makes a part of the load, and others the rest of it.
    #[serde(default)]
    pub part: Option<Part>,
}

/// How threads wait. Time spent spinning is reported apart (`spin_s` of the result).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Sleep, but spin for the last microseconds before something is due. For
    /// cores that are shared, and where CPU time is rationed.
    #[default]
    #[serde(alias = "asleep")]
    Sleep,
    /// Spin where events are more frequent than a sleep is worth, else sleep.
    /// Only for threads that have their cores to themselves.
    #[serde(alias = "patient")]
    Adaptive,
    /// Always spin: nothing is lost to waking a core, and each thread uses
    /// all of one.
    #[serde(alias = "awake")]
    Spin,
}

/// Calls of one kind under one load.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Shown in results.
    pub name: String,
    /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`. May be left out where
    /// `object` has an address.
    #[serde(default)]
    pub target: String,
    /// The object that is called, an `IOR:…` or a `corbaloc:…`. For binding
    /// iiop only. Its address counts where `target` is left out.
    #[serde(default)]
    pub object: Option<String>,
    /// Where the service reports what it has processed: the `report` of its
    /// ready line. For reply one-way only.
    #[serde(default)]
    pub report: Option<String>,
    /// Files for TLS. For security tls and mtls only.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// User name of the UsernameToken in each request (WSS UsernameToken
    /// Profile 1.1, PasswordText). For binding soap only.
    #[serde(default)]
    pub username: Option<String>,
    /// Its password.
    #[serde(default)]
    pub password: Option<String>,
    /// Keys for ws_security signature and encryption, which callers other than the engine have.
    #[serde(default)]
    pub keystore: Option<Keystore>,
    /// `Host` / `:authority`; the target's own when absent.
    #[serde(default)]
    pub authority: Option<String>,
    /// How calls travel: axes that are not at their default.
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
    /// The largest head of a reply that is accepted; of HTTP/2 the fields' size by RFC 9113
    /// section 6.5.2.
    #[serde(default)]
    pub head_limits: HeadLimits,
    /// The longest pause before another attempt to connect, seconds, where two or more in a row
    /// failed or ended without a reply: the pauses begin at 1 ms and double. 0: none.
    #[serde(default = "reconnect_delay_default")]
    pub reconnect_delay_s: f64,
    /// Number of first calls of the run whose response times are kept (`first_calls_ns` of the
    /// result), at most 1,000.
    #[serde(default)]
    pub first_calls: u32,
    /// Number of the slowest calls of the window that are listed (`slowest` of the result), at
    /// most 1,000.
    #[serde(default)]
    pub slowest: u32,
}

/// The largest head of a reply that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HeadLimits {
    /// Bytes, 1,024 to 16,777,216.
    pub bytes: u32,
    /// Fields, 16 to 65,536; of HTTP/1.x.
    pub fields: u32,
}

impl Default for HeadLimits {
    fn default() -> HeadLimits {
        HeadLimits {
            bytes: 256 << 10,
            fields: 256,
        }
    }
}

/// A PKCS #12 file (RFC 7292) with the caller's key and the service's certificate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Keystore {
    /// The file; its entries are `caller` and `service`, of which the caller trusts the latter.
    pub path: String,
    /// Of the file and of its key.
    pub password: String,
}

/// Files for TLS, all PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Certificates of the authorities that may have signed the server's. One that the
    /// server sends itself, to the byte, is accepted too. Left out with `insecure`.
    #[serde(default)]
    pub ca: Option<String>,
    /// Any certificate will do, for any name: the server is not authenticated.
    #[serde(default)]
    pub insecure: bool,
    /// Name that the server's certificate must be for; absent: the host of
    /// the authority, or of the target.
    #[serde(default)]
    pub server_name: Option<String>,
    /// Our own certificate, and those between it and its authority. For mtls.
    #[serde(default)]
    pub certificate: Option<String>,
    /// Its key.
    #[serde(default)]
    pub key: Option<String>,
}

fn one() -> u32 {
    1
}

fn progress_default() -> u64 {
    500
}

fn timeout_default() -> f64 {
    10.0
}

/// The default of [`Group::reconnect_delay_s`].
pub const RECONNECT_DELAY_S: f64 = 0.128;

fn reconnect_delay_default() -> f64 {
    RECONNECT_DELAY_S
}
