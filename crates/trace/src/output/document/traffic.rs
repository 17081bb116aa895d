//! Connections, exchanges and load, as the document has them.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waits::{Elapsed, Span};
use crate::output::quantiles::Quantiles;
use crate::protocol::exchange::{Ending, Protocol};

/// Connections.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FlowSums {
    /// Seen at all.
    pub count: u64,
    /// Of those, whose SYN was captured.
    pub opened: u64,
    /// Of those seen, whose end was captured.
    pub closed: u64,
    /// Of those seen, that carried more than one exchange.
    pub reused: u64,
    /// Of those seen, captured in one direction only.
    pub one_sided: OneSided,
    /// Attempts to connect that were answered by a RST; a client may try several times with the
    /// same ports.
    #[serde(default)]
    pub refused: u64,
    /// Of those seen, whose SYN was never answered.
    #[serde(default)]
    pub unanswered: u64,
    /// The first of them, as many as asked for.
    pub list: Vec<Flow>,
}

/// Connections of which the packets of one side are there, and acknowledge those of
/// the other side, which are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OneSided {
    /// With packets of the client only.
    pub requests: u64,
    /// With packets of the server only.
    pub replies: u64,
}

/// One connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Flow {
    /// Its number, from 0 in the order of first packets.
    pub flow: u32,
    /// The client's end.
    pub client: String,
    /// The server's end.
    pub server: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// Within TLS.
    #[serde(default)]
    pub is_tls: bool,
    /// Packets of both directions.
    pub packets: u64,
    /// Bytes of both directions, all headers included.
    pub bytes: u64,
    /// Exchanges begun.
    pub exchanges: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// From the SYN to the client's first answer to the server's SYN, which is one
    /// round trip wherever the capture was made; null where they were not seen.
    pub rtt_us: Option<f64>,
    /// How it began.
    pub opening: HowOpened,
    /// How it ended.
    pub closing: HowClosed,
    /// Where its time went; null without a diagnosis.
    pub time: Option<Elapsed>,
    /// Its waits in order; of many the longer ones, so that there are gaps between them.
    #[serde(default)]
    pub waits: Vec<Span>,
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HowOpened {
    /// With its SYN.
    Syn,
    /// Before the capture.
    Unseen,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HowClosed {
    /// FIN of both sides.
    Orderly,
    /// RST of the client.
    ResetByClient,
    /// RST of the server.
    ResetByServer,
    /// After the capture.
    Unseen,
    /// Another connection between the same two ends began.
    Replaced,
}

/// Calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// The same latencies in ascending order, to three digits, where times of requests were asked
    /// for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_bins: Vec<LatencyBin>,
    /// Whether messages began in one segment.
    pub writes: Writes,
    /// How connections were used.
    pub connections: Connections,
}

/// Latencies that are not distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LatencyBin {
    /// Their middle, microseconds.
    pub us: f64,
    /// How many.
    pub count: u64,
}

/// Messages whose counterpart the capture lacks, or cannot tell from others since
/// messages are missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Unpaired {
    /// Requests; each is an exchange whose reply is unseen.
    pub requests: u64,
    /// Replies; they belong to no exchange.
    pub replies: u64,
}

/// Exchanges of one name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

/// Whether messages began in one segment, head and body together, or in several.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// Of those that carried an exchange, whose end the client decided: it was the first to
    /// announce it (`Connection: close`, GOAWAY), or to send FIN or RST.
    #[serde(default)]
    pub ended_by_client: u64,
    /// The same of the server.
    #[serde(default)]
    pub ended_by_server: u64,
    /// Of those that the client ended, without having announced it, while a request was under way.
    #[serde(default)]
    pub given_up: u64,
    /// The most exchanges under way at a time on one.
    pub in_flight_max: u64,
}

/// When requests began, and how many were under way, at the place of the capture.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// where that is an instant.
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
    /// Times of the first requests, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

/// Times of the first requests, in the order in which they began. Entries of one index belong
/// to one request.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sample {
    /// Number of the connection.
    pub connection: Vec<u64>,
    /// Begin, nanoseconds after that of the first request.
    pub began_ns: Vec<u64>,
    /// From begin to the end of the reply; null where the capture has no whole reply, or a
    /// connection had more than 4,096 requests in flight.
    pub took_ns: Vec<Option<u64>>,
}

/// Gaps between the begins of requests, microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pause {
    /// Its length.
    pub us: f64,
    /// The packet that begins the next request.
    pub packet: u64,
}

/// How one thing follows another.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Coupling {
    /// From -1 to 1.
    pub correlation: f64,
    /// Over how many.
    pub n: u64,
}
