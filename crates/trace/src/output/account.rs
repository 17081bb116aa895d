//! Where the bytes go: packets by what they are for, payload by layer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wirelab_wire::giop::Kind as GiopKind;

use crate::flow::event::{Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::exchange::Pdu;
use crate::protocol::layer::{Kind, Layer};

/// Packets of one class, with all their headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Packets {
    /// How many.
    pub packets: u64,
    /// Bytes of link headers.
    pub link_header_bytes: u64,
    /// Bytes of IP headers, options and extension headers included.
    pub ip_header_bytes: u64,
    /// Bytes of TCP headers, options included.
    pub tcp_header_bytes: u64,
    /// Bytes of TCP payload.
    pub payload_bytes: u64,
}

impl Packets {
    fn count(&mut self, segment: &Segment) {
        let link = u64::from(segment.link_header_bytes);
        let ip = u64::from(segment.ip_header_bytes);
        self.packets += 1;
        self.link_header_bytes += link;
        self.ip_header_bytes += ip;
        self.tcp_header_bytes += u64::from(segment.header_bytes).saturating_sub(link + ip);
        self.payload_bytes += u64::from(segment.bytes);
    }

    /// Bytes from IP on: what the literature counts as the packet.
    pub fn ip_bytes(&self) -> u64 {
        self.ip_header_bytes + self.tcp_header_bytes + self.payload_bytes
    }

    fn add(&mut self, other: &Packets) {
        self.packets += other.packets;
        self.link_header_bytes += other.link_header_bytes;
        self.ip_header_bytes += other.ip_header_bytes;
        self.tcp_header_bytes += other.tcp_header_bytes;
        self.payload_bytes += other.payload_bytes;
    }
}

/// Packets of one direction, or of both. Every packet is in exactly one of
/// `syn`, `fin`, `rst`, `ack` and `data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Classes {
    /// SYN and SYN with ACK, without payload.
    pub syn: Packets,
    /// FIN without payload.
    pub fin: Packets,
    /// RST without payload.
    pub rst: Packets,
    /// Nothing but acknowledgments and window updates.
    pub ack: Packets,
    /// Packets with payload.
    pub data: Packets,
    /// Of all these, those sent again, and probes of windows and live connections.
    pub retransmitted: Packets,
}

impl Classes {
    fn count(&mut self, segment: &Segment) {
        let flags = segment.flags;
        // Payload first: a FIN with data counts as data, so that the classes are
        // disjoint.
        let class = if segment.bytes > 0 {
            &mut self.data
        } else if flags.has(Flags::RST) {
            &mut self.rst
        } else if flags.has(Flags::SYN) {
            &mut self.syn
        } else if flags.has(Flags::FIN) {
            &mut self.fin
        } else {
            &mut self.ack
        };
        class.count(segment);
        if is_repeated(segment) {
            self.retransmitted.count(segment);
        }
    }

    /// Packets without payload: connections' set-up, tear-down and acknowledgments.
    pub fn pure_tcp(&self) -> Packets {
        let mut sum = Packets::default();
        let classes = [&self.syn, &self.fin, &self.rst, &self.ack];
        classes.into_iter().for_each(|class| sum.add(class));
        sum
    }

    /// All packets.
    pub fn total(&self) -> Packets {
        let mut sum = self.pure_tcp();
        sum.add(&self.data);
        sum
    }

    fn add(&mut self, other: &Classes) {
        self.syn.add(&other.syn);
        self.fin.add(&other.fin);
        self.rst.add(&other.rst);
        self.ack.add(&other.ack);
        self.data.add(&other.data);
        self.retransmitted.add(&other.retransmitted);
    }
}

fn is_repeated(segment: &Segment) -> bool {
    matches!(
        segment.kind,
        SegmentKind::Retransmission | SegmentKind::KeepAlive
    )
}

/// Units of protocols that are distinguished.
const PDU_NAMES: [&str; 23] = [
    "h2-data",
    "h2-headers",
    "h2-priority",
    "h2-rst-stream",
    "h2-settings",
    "h2-push-promise",
    "h2-ping",
    "h2-goaway",
    "h2-window-update",
    "h2-continuation",
    "h2-other",
    "giop-request",
    "giop-reply",
    "giop-cancel-request",
    "giop-locate-request",
    "giop-locate-reply",
    "giop-close-connection",
    "giop-message-error",
    "giop-fragment",
    "http-request",
    "http-reply",
    "raw-message",
    "tls-record",
];

fn place(pdu: Pdu) -> usize {
    match pdu {
        // Types 0 to 9 in the order of RFC 9113 section 6; 10 stands for extensions.
        Pdu::Http2 { kind, .. } => usize::from(kind.min(10)),
        Pdu::Giop(kind) => {
            11 + match kind {
                GiopKind::Request => 0,
                GiopKind::Reply => 1,
                GiopKind::CancelRequest => 2,
                GiopKind::LocateRequest => 3,
                GiopKind::LocateReply => 4,
                GiopKind::CloseConnection => 5,
                GiopKind::MessageError => 6,
                GiopKind::Fragment => 7,
            }
        }
        Pdu::HttpRequest => 19,
        Pdu::HttpReply(_) => 20,
        Pdu::Raw => 21,
        Pdu::Tls { .. } => 22,
    }
}

/// What one direction sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// Its packets.
    pub classes: Classes,
    /// Payload bytes by [`Kind`], each byte of the stream once.
    pub layers: [u64; Kind::ALL.len()],
    units: [u64; PDU_NAMES.len()],
    /// Bytes of `layers` that came in segments which count as sent again: the
    /// capture lacks their first sending, or it was not delivered.
    layered_in_repeats: u64,
}

impl Default for Account {
    fn default() -> Self {
        Account {
            classes: Classes::default(),
            layers: [0; Kind::ALL.len()],
            units: [0; PDU_NAMES.len()],
            layered_in_repeats: 0,
        }
    }
}

impl Account {
    /// A packet.
    #[inline]
    pub fn segment(&mut self, segment: &Segment) {
        self.classes.count(segment);
    }

    /// Bytes of the stream.
    #[inline]
    pub fn layer(&mut self, layer: Layer, bytes: u32, segment: &Segment) {
        self.layers[layer.kind as usize] += u64::from(bytes);
        if is_repeated(segment) {
            self.layered_in_repeats += u64::from(bytes);
        }
    }

    /// A unit of its protocol.
    #[inline]
    pub fn pdu(&mut self, pdu: Pdu) {
        self.units[place(pdu)] += 1;
    }

    /// How many units there were, by kind; kinds without any are left out.
    pub fn units(&self) -> BTreeMap<String, u64> {
        let known = PDU_NAMES.into_iter().zip(self.units);
        let seen = known.filter(|(_, count)| *count > 0);
        seen.map(|(name, count)| (name.to_owned(), count)).collect()
    }

    /// Adds another direction, or another connection.
    pub fn add(&mut self, other: &Account) {
        self.classes.add(&other.classes);
        for (own, others) in self.layers.iter_mut().zip(other.layers) {
            *own += others;
        }
        for (own, others) in self.units.iter_mut().zip(other.units) {
            *own += others;
        }
        self.layered_in_repeats += other.layered_in_repeats;
    }

    /// Payload bytes of all packets.
    pub fn payload_bytes(&self) -> u64 {
        self.classes.data.payload_bytes
    }

    /// Payload bytes that had been there before.
    pub fn repeated_bytes(&self) -> u64 {
        let repeated = self.classes.retransmitted.payload_bytes;
        // A segment that counts as sent again brings new bytes where the capture lacks
        // its first sending. Those are in `layers`.
        repeated.saturating_sub(self.layered_in_repeats)
    }

    /// Payload bytes that the capture does not hold (its snap length), or that
    /// a packet carried next to new ones or in conflict with those that were taken.
    pub fn unread_bytes(&self) -> u64 {
        let layered: u64 = self.layers.iter().sum();
        (self.payload_bytes()).saturating_sub(layered + self.repeated_bytes())
    }
}
