//! What a link reports when it is ready: one JSON line on standard output.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::config::AfterIdle;
use crate::model::driver_choice::Driver;
use crate::model::profile::ProfileDocument;
use crate::model::way::Ways;

/// A link that packets can cross.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Ready {
    /// Always true.
    pub ready: bool,
    /// Process that holds the link.
    pub pid: u32,
    /// The profile's name.
    pub name: String,
    /// The profile, written out.
    pub profile: ProfileDocument,
    /// Who carries it out.
    pub driver: Driver,
    /// Whether this project has measured what the driver does to packets; false:
    /// not verified.
    pub verified: bool,
    /// Where the caller runs.
    pub client: End,
    /// Where the service runs.
    pub server: End,
    /// What the profile promises.
    pub nominal: Nominal,
    /// What was measured just now.
    pub measured: Measured,
    /// Congestion control of a connection that was made, at each end.
    pub congestion: CongestionSeen,
    /// How that connection began, at each end.
    pub tcp: TcpSeen,
    /// Segmentation and receive offloads (TSO, GSO, GRO) of both ends: `off`,
    /// read back from the kernel.
    pub offloads: String,
    /// Largest IP packet, bytes, read back from the kernel.
    pub mtu: u32,
    /// Seed of all chance.
    pub seed: u64,
    /// With the emulator: how it runs.
    pub emulator: Option<Emulator>,
    /// Network namespaces of dead processes that were removed at the start.
    pub removed_namespaces: Vec<String>,
}

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct End {
    /// Its network namespace, for `ip netns exec`.
    pub namespace: String,
    /// Its interface.
    pub interface: String,
    /// Its address.
    pub address: String,
}

/// What the profile promises for an echo of 84 bytes (IP), as ping sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Nominal {
    /// Mean round trip, transmission at the bottlenecks included, milliseconds.
    pub rtt_ms: f64,
    /// Echoes of which a way is lost or corrupted, percent.
    pub loss_percent: f64,
    /// TCP segments with SYN that are lost in addition, percent; no echo is one.
    pub syn_loss_percent: Ways<f64>,
    /// Rates of the bottlenecks, kbit/s of IP packets; null where there is none.
    pub rate_kbit: Ways<Option<f64>>,
}

/// What was measured before the link was ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Measured {
    /// Median round trip over the same path before the profile was laid on it,
    /// milliseconds: what the machine itself adds to every round trip.
    pub base_rtt_ms: f64,
    /// Round trips of echoes of 84 bytes.
    pub rtt_ms: Rtt,
    /// Loss, when it was asked for.
    pub loss_percent: Option<LossMeasured>,
    /// Rates of UDP, when they were asked for and anything comes through at all,
    /// kbit/s of IP packets; where the profile has no rate, what this machine's
    /// sockets brought through.
    pub rate_kbit: Option<Ways<f64>>,
}

/// Round trips, milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Rtt {
    /// The least.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Echoes that came back.
    pub n: usize,
    /// Echoes that did not.
    pub lost: usize,
}

/// Loss of echoes, either way, and of each way alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LossMeasured {
    /// Of echoes: request or reply was lost.
    #[serde(flatten)]
    pub echo: Proportion,
    /// Of packets, client to server.
    pub forward: Proportion,
    /// Of packets, server to client.
    pub backward: Proportion,
}

/// A share with its 99.9 % interval (Wilson 1927), percent. With losses that
/// come in bursts the interval is too narrow: it takes packets as independent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Proportion {
    /// Lost of all.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How many were sent.
    pub n: usize,
}

/// Congestion control as a connection's two sockets report it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CongestionSeen {
    /// The connecting socket's.
    pub client: String,
    /// The accepted socket's.
    pub server: String,
}

/// How connections over the link begin, as a connection's two sockets and their
/// namespaces report it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TcpSeen {
    /// The connecting socket's.
    pub client: TcpEnd,
    /// The accepted socket's.
    pub server: TcpEnd,
}

/// How TCP begins at one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TcpEnd {
    /// Congestion window of a new connection, segments.
    pub initial_window: u32,
    /// Receive window that a new connection with the kernel's own buffer offers
    /// at first, bytes.
    pub receive_window: u32,
    /// What a pause does to congestion windows, read back from the namespace.
    pub after_idle: AfterIdle,
}

/// How the emulator runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Emulator {
    /// Cores that it is bound to, one thread each; none: one thread, unbound.
    pub cores: Vec<usize>,
    /// `fifo` (SCHED_FIFO) or `other`, where the machine gave no more.
    pub scheduling: String,
}
