//! The document that `wirelab-engine dissect` prints.
//!
//! Times are microseconds unless their names say otherwise, `at_us` counts from
//! the first packet of its list. Bytes are bytes on the wire; link headers are
//! those of the capture's link type.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::{Account, Classes, Packets};
use crate::diagnosis::Finding;
use crate::exchange::{Ending, Protocol};
use crate::layer::Kind;
use crate::reconciliation::Reconciliation;

/// Its version.
pub const VERSION: u32 = 1;

/// What a capture says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Dissection {
    /// Version of this document: 1.
    pub dissection: u32,
    /// The file, as it was named.
    pub file: String,
    /// What the file holds.
    pub capture: Capture,
    /// Connections.
    pub flows: FlowSums,
    /// Packets and bytes.
    pub accounting: Accounting,
    /// Calls.
    pub exchanges: ExchangeSums,
    /// When they were made.
    pub load: Load,
    /// What cost time, and where.
    pub findings: Vec<Finding>,
    /// The packets of one exchange, with its connection's set-up and tear-down;
    /// empty where no exchange was whole.
    pub timeline: Vec<Rung>,
    /// Which exchange that is.
    pub timeline_of: Option<TimelineOf>,
    /// Inter-arrival times over all exchanges with the commonest sequence of
    /// packets, in the manner of Elfwing and Paulsson (2002, tables 4 and 5);
    /// empty where no exchange was followed.
    pub interarrival: Vec<Position>,
    /// Which exchanges those are.
    pub interarrival_of: InterarrivalOf,
    /// Where each call's time went; null without a log of calls.
    pub reconciliation: Option<Reconciliation>,
}

/// What a file holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// Packets of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that carry TCP.
    pub tcp_packets: u64,
    /// Packets that do not.
    pub other_packets: u64,
    /// From the first packet to the last.
    pub seconds: f64,
    /// What the packets begin with: `Ethernet`, …
    pub link_types: Vec<String>,
    /// Packets of which the file holds only the beginning.
    pub truncated: u64,
    /// Packets that whoever captured says were lost; null where the file does not say.
    pub drops: Option<u64>,
    /// Why the reading ended early, with the offset in the file; null where it did not.
    pub damaged: Option<String>,
}

/// Connections.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowSums {
    /// Seen at all.
    pub count: u64,
    /// Of those, whose SYN was captured.
    pub opened: u64,
    /// Of those seen, whose end was captured.
    pub closed: u64,
    /// Of those seen, that carried more than one exchange.
    pub reused: u64,
    /// The first of them, as many as asked for.
    pub list: Vec<Flow>,
}

/// One connection.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its number, from 0 in the order of first packets.
    pub flow: u32,
    /// The client's end.
    pub client: String,
    /// The server's end.
    pub server: String,
    /// What is spoken.
    pub protocol: Protocol,
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
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HowOpened {
    /// With its SYN.
    Syn,
    /// Before the capture.
    Unseen,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Packets and bytes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Accounting {
    /// From clients to servers.
    pub request: Direction,
    /// From servers to clients.
    pub reply: Direction,
    /// Both.
    pub total: Direction,
    /// The total divided by the number of exchanges; null where there are none.
    pub per_exchange: Option<PerExchange>,
}

/// What was sent one way.
///
/// `pure_tcp` and `data` together are `all`. In the manner of Kangasharju,
/// Tarkoma and Raatikainen (2003) take `ip_bytes` of each; in the manner of
/// Jagannathan (2022) take `all.ip_bytes` and `all.payload_bytes`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// All packets.
    pub all: Class,
    /// Packets without payload.
    pub pure_tcp: Class,
    /// Of those, SYN and SYN with ACK.
    pub syn: Class,
    /// Of those, FIN.
    pub fin: Class,
    /// Of those, RST.
    pub rst: Class,
    /// Of those, acknowledgments and window updates.
    pub ack: Class,
    /// Packets with payload.
    pub data: Class,
    /// Of all packets, those sent again, and probes of windows and live connections.
    pub retransmitted: Class,
    /// Where the payload went. The sums of all that it holds is `all.payload_bytes`.
    pub payload: Payload,
    /// Units of protocols by kind: `http-request`, `h2-headers`, `giop-reply`,
    /// `raw-message`, `tls-record`, …; kinds without any are left out.
    pub units: BTreeMap<String, u64>,
}

/// Packets of one class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// How many, and their bytes by header.
    #[serde(flatten)]
    pub packets: Packets,
    /// IP and TCP headers and payload.
    pub ip_bytes: u64,
    /// All headers and payload.
    pub bytes: u64,
}

/// Payload bytes: each belongs to exactly one of these.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// Protocol overhead by kind; kinds without bytes are left out.
    pub overhead: BTreeMap<Kind, u64>,
    /// Their sum.
    pub overhead_bytes: u64,
    /// Message bytes: bodies without any framing.
    pub message_bytes: u64,
    /// Encrypted content of TLS records.
    pub encrypted_bytes: u64,
    /// Bytes of unknown protocols, or after their thread was lost.
    pub unknown_bytes: u64,
    /// Bytes that had been sent before.
    pub retransmitted_bytes: u64,
    /// Bytes that the capture does not hold (its snap length), or that overlap others.
    pub unread_bytes: u64,
}

/// Means per exchange, both directions, set-up and tear-down of connections included.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PerExchange {
    /// Packets.
    pub packets: f64,
    /// Packets without payload.
    pub pure_tcp_packets: f64,
    /// Their bytes from IP on.
    pub pure_tcp_ip_bytes: f64,
    /// Packets with payload.
    pub data_packets: f64,
    /// Their bytes from IP on.
    pub data_ip_bytes: f64,
    /// Bytes of all packets from IP on.
    pub ip_bytes: f64,
    /// Bytes of all packets, link headers included.
    pub bytes: f64,
    /// TCP payload.
    pub payload_bytes: f64,
    /// Protocol overhead in it.
    pub overhead_bytes: f64,
    /// Message bytes in it.
    pub message_bytes: f64,
}

/// Calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
    /// Whether messages began in one segment.
    pub writes: Writes,
    /// How connections were used.
    pub connections: Connections,
}

/// Messages whose counterpart the capture lacks, or cannot tell from others since
/// messages are missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unpaired {
    /// Requests; each is an exchange whose reply is unseen.
    pub requests: u64,
    /// Replies; they belong to no exchange.
    pub replies: u64,
}

/// Exchanges of one name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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

/// Quantiles, microseconds, to three digits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Median.
    pub p50: f64,
    /// 90 %.
    pub p90: f64,
    /// 99 %.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Over how many.
    pub n: u64,
}

/// Whether messages began in one segment, head and body together, or in several.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
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
    /// The most exchanges under way at a time on one.
    pub in_flight_max: u64,
}

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

/// The exchange of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineOf {
    /// Its connection.
    pub flow: u32,
    /// Its number there, from 0.
    pub exchange: u64,
    /// Its name.
    pub name: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// From the request's first byte to the reply's last; null where that was not seen.
    pub latency_us: Option<f64>,
    /// Why this one.
    pub chosen: Chosen,
    /// Packets left out in its middle, for their number.
    pub omitted: u64,
}

/// Why an exchange was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// Of a uniform sample of whole exchanges, the one nearest to the median latency.
    Median,
    /// It was asked for.
    Asked,
}

/// One packet of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Its number in the capture, from 1.
    pub packet: u64,
    /// Since the first packet of the list.
    pub at_us: f64,
    /// Since the packet before it in the list.
    pub gap_us: f64,
    /// `request`: from client to server; or `reply`.
    pub direction: Way,
    /// What it is part of.
    pub phase: Phase,
    /// As `SYN ACK`.
    pub flags: String,
    /// TCP payload bytes.
    pub bytes: u32,
    /// Bytes of link, IP and TCP headers.
    pub header_bytes: u32,
    /// What the payload is, in order; nothing for bytes sent again.
    pub layers: Vec<LayerBytes>,
    /// What is special about it; empty where nothing is.
    pub note: String,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Reply,
}

/// What a packet of a ladder is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the connection's first exchange.
    SetUp,
    /// The exchange.
    Exchange,
    /// After the connection's last exchange.
    TearDown,
}

/// Bytes of a packet that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerBytes {
    /// `HTTP head`, `JSON`, `SETTINGS`, …
    pub layer: String,
    /// How many.
    pub bytes: u32,
}

/// Exchanges whose packets were followed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct InterarrivalOf {
    /// Exchanges with the commonest sequence.
    pub exchanges: u64,
    /// Of so many whose sequence was followed.
    pub of: u64,
    /// Exchanges that were not followed: others were under way beside them on
    /// their connection, or they had too many packets.
    pub not_followed: u64,
    /// Different sequences among them, at most 256; those of more are not followed.
    pub shapes: u64,
}

/// One packet of a sequence.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// From 1.
    pub position: u64,
    /// Which way.
    pub direction: Way,
    /// As `SYN ACK`.
    pub flags: String,
    /// Median of its payload bytes.
    pub bytes_median: u32,
    /// Time since the packet before it; 0 for the first.
    pub gap_us: Spread,
}

/// Mean and standard deviation, microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (divided by n - 1); 0 where n is 1.
    pub deviation: f64,
    /// Over how many.
    pub n: u64,
}

impl From<Packets> for Class {
    fn from(packets: Packets) -> Class {
        Class {
            ip_bytes: packets.ip_bytes(),
            bytes: packets.ip_bytes() + packets.link_header_bytes,
            packets,
        }
    }
}

impl From<&Account> for Direction {
    fn from(account: &Account) -> Direction {
        let Classes {
            syn,
            fin,
            rst,
            ack,
            data,
            retransmitted,
        } = account.classes;
        Direction {
            all: account.classes.total().into(),
            pure_tcp: account.classes.pure_tcp().into(),
            syn: syn.into(),
            fin: fin.into(),
            rst: rst.into(),
            ack: ack.into(),
            data: data.into(),
            retransmitted: retransmitted.into(),
            payload: account.into(),
            units: account.units(),
        }
    }
}

impl From<&Account> for Payload {
    fn from(account: &Account) -> Payload {
        let of = |kind: Kind| account.layers[kind as usize];
        let overhead = Kind::ALL
            .into_iter()
            .filter(|kind| kind.is_overhead() && of(*kind) > 0);
        let overhead: BTreeMap<Kind, u64> = overhead.map(|kind| (kind, of(kind))).collect();
        Payload {
            overhead_bytes: overhead.values().sum(),
            overhead,
            message_bytes: of(Kind::Message),
            encrypted_bytes: of(Kind::TlsData),
            unknown_bytes: of(Kind::Unknown),
            retransmitted_bytes: account.repeated_bytes(),
            unread_bytes: account.unread_bytes(),
        }
    }
}

impl PerExchange {
    /// Divides a total by the number of exchanges.
    pub fn new(total: &Direction, exchanges: u64) -> Option<PerExchange> {
        let mean = |sum: u64| sum as f64 / exchanges as f64;
        (exchanges > 0).then(|| PerExchange {
            packets: mean(total.all.packets.packets),
            pure_tcp_packets: mean(total.pure_tcp.packets.packets),
            pure_tcp_ip_bytes: mean(total.pure_tcp.ip_bytes),
            data_packets: mean(total.data.packets.packets),
            data_ip_bytes: mean(total.data.ip_bytes),
            ip_bytes: mean(total.all.ip_bytes),
            bytes: mean(total.all.bytes),
            payload_bytes: mean(total.all.packets.payload_bytes),
            overhead_bytes: mean(total.payload.overhead_bytes),
            message_bytes: mean(total.payload.message_bytes),
        })
    }
}
