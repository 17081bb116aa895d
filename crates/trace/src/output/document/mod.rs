//! The document that `wirelab-engine dissect` prints.
//!
//! Times are microseconds unless their names say otherwise, `at_us` counts from
//! the first packet of its list. Bytes are bytes on the wire; link headers are
//! those of the capture's link type.

pub(super) mod messages;
pub(super) mod tail;
pub(super) mod timeline;
pub(super) mod traffic;
pub(super) mod waits;

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::protocol::tls::counts::{Encrypted, TlsCounts};
pub use messages::*;
pub use tail::*;
pub use timeline::*;
pub use traffic::*;
pub use waits::*;

use crate::diagnosis::waits::WaitSums;
use crate::diagnosis::{Cause, Diagnosis, Finding};
use crate::flow::Counts;
use crate::host::{HostSums, HostWindows};
use crate::output::account::{Account, Classes, Packets};
use crate::output::reconciliation::document::Reconciliation;
use crate::protocol::layer::Kind;

/// Its version.
pub const VERSION: u32 = 1;

/// What a capture says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// Connections that are TLS.
    #[serde(default)]
    pub tls: TlsCounts,
    /// Calls.
    pub exchanges: ExchangeSums,
    /// When they were made.
    pub load: Load,
    /// Where all of the time went.
    #[serde(default)]
    pub waits: Waits,
    /// The slowest exchanges; left out unless they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Slowest>,
    /// Messages inside streams; left out unless they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// Lookups of names by DNS over UDP.
    #[serde(default)]
    pub names: Names,
    /// Bytes and windows over time.
    #[serde(default)]
    pub series: Series,
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

impl Dissection {
    /// Adds what the diagnosis has found; returns the times of the server for the record of its
    /// host, where the diagnosis has kept them.
    pub fn add_diagnosis(&mut self, diagnosis: Diagnosis) -> Option<HostWindows> {
        let found = diagnosis.results();
        self.findings = found.findings;
        self.waits = Waits::from(&found.waits);
        self.waits.lookups_ms = found.names.unused_ns as f64 / 1e6;
        self.names = Names::from(found.names);
        self.divide_flows(&found.waits);
        let first_at_ns = self.capture.first_at_ns.unwrap_or(0);
        self.slowest = found.tail.map(|tail| Slowest::new(&tail, first_at_ns));
        let messages = found.messages.as_ref();
        self.messages = messages.map(|sums| Messages::new(sums, first_at_ns));
        found.host
    }

    /// Adds what the server's processes did. `drops`: of the record, as far as it says.
    pub fn add_host_waits(&mut self, sums: &HostSums, drops: Option<u64>) {
        let host = HostWaits::new(sums, drops);
        let of_server = |finding: &&mut Finding| finding.cause == Cause::ServerThinkTime;
        if let Some(finding) = self.findings.iter_mut().find(of_server) {
            if let Some(text) = host.think_time.text() {
                finding.words.push_str(&format!(" The server was: {text}."));
            }
            for one in &mut finding.examples {
                let exchange = (one.flow, one.exchange.unwrap_or_default());
                let divided = sums.exchanges.get(&exchange);
                one.host_ms = divided.map(|division| HostElapsed::from(division).parts_ms);
            }
        }
        // Where records were lost, a late write may be among them.
        if drops == Some(0) {
            let held_ms = sums.held_after_write_ns as f64 / 1e6;
            let is_held = |finding: &&mut Finding| finding.cause == Cause::NagleDelayedAck;
            if let Some(finding) = self.findings.iter_mut().find(is_held) {
                finding.limit_from_below(held_ms);
            }
        }
        self.waits.host = Some(host);
    }

    fn divide_flows(&mut self, waits: &WaitSums) {
        for flow in &mut self.flows.list {
            let times = waits.flows.binary_search_by_key(&flow.flow, |one| one.flow);
            if let Ok(place) = times {
                let times = &waits.flows[place];
                flow.time = Some(Elapsed::new(1, times.elapsed, &times.parts));
                flow.waits = spans(times.waits(), self.capture.first_at_ns.unwrap_or(0));
            }
        }
    }
}

/// What a file holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// When the first one was captured, nanoseconds since the Unix epoch.
    pub first_at_ns: Option<u64>,
    /// What the packets begin with: `Ethernet`, …
    pub link_types: Vec<String>,
    /// Packets that may carry TCP and are not read, by link type, or because they are
    /// encrypted below TCP.
    #[serde(default)]
    pub unread: BTreeMap<String, u64>,
    /// Packets of which the file holds only the beginning.
    pub truncated: u64,
    /// Packets that whoever captured says were lost; null where the file does not say.
    pub drops: Option<u64>,
    /// Why the reading ended early, with the offset in the file; null where it did not.
    pub damaged: Option<String>,
    /// Segments that were not plain progress.
    #[serde(default)]
    pub tcp: TcpCounts,
    /// What is wrong with its clock, and what that hides; null where nothing is.
    pub clock: Option<String>,
    /// What cannot be known, and how to capture both directions, where most
    /// connections were captured in one direction only; null where they were not.
    pub one_sided: Option<String>,
}

/// What of TCP's machinery shows, counted as Wireshark does.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TcpCounts {
    /// Segments sent again, for any reason.
    pub retransmissions: u64,
    /// Of those, after duplicate acknowledgments.
    pub fast_retransmissions: u64,
    /// Of those, when they had been acknowledged already.
    pub spurious_retransmissions: u64,
    /// Acknowledgments that repeat the one before.
    pub duplicate_acknowledgments: u64,
    /// Segments that came after later ones.
    pub out_of_order: u64,
    /// Packets that announce a closed window.
    pub zero_windows: u64,
    /// Probes of live connections or closed windows.
    pub probes: u64,
    /// Packets with RST.
    pub resets: u64,
    /// Packets with TCP that the capture holds twice (a mirror port); the second counts nowhere
    /// else.
    #[serde(default)]
    pub copies: u64,
}

impl From<&Counts> for TcpCounts {
    fn from(counts: &Counts) -> TcpCounts {
        TcpCounts {
            retransmissions: counts.retransmissions,
            fast_retransmissions: counts.fast_retransmissions,
            spurious_retransmissions: counts.spurious_retransmissions,
            duplicate_acknowledgments: counts.duplicate_acknowledgments,
            out_of_order: counts.out_of_order,
            zero_windows: counts.zero_windows,
            probes: counts.keep_alives,
            resets: counts.resets,
            copies: counts.copies,
        }
    }
}

/// Packets and bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Payload {
    /// Protocol overhead by kind; kinds without bytes are left out.
    pub overhead: BTreeMap<Kind, u64>,
    /// Their sum.
    pub overhead_bytes: u64,
    /// Message bytes: bodies without any framing.
    pub message_bytes: u64,
    /// Content of TLS records that were not decrypted.
    pub encrypted_bytes: u64,
    /// Bytes of unknown protocols, or after their thread was lost.
    pub unknown_bytes: u64,
    /// Bytes that had been sent before.
    pub retransmitted_bytes: u64,
    /// Bytes that the capture does not hold (its snap length), or that overlap others.
    pub unread_bytes: u64,
}

/// Means per exchange, both directions, set-up and tear-down of connections included.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

impl From<Packets> for Class {
    fn from(packets: Packets) -> Class {
        Class {
            ip_bytes: packets.ip_bytes(),
            // Without preamble, checksum and gap of Ethernet (24 bytes per frame),
            // which no capture holds.
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
            // Not a class of its own: each of these packets is in one of the classes
            // above, too.
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
