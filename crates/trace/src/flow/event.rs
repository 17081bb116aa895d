//! The events of flows: connections, segments, and their bytes in order.

use std::net::SocketAddr;

pub use crate::packet::decode::{Datagram, Fragment};
use crate::packet::{Flags, Packet};

/// Names one connection of a capture, from 0 in order of its first packet.
pub type FlowId = u32;

/// Which way a segment goes. The client is the side that sent the first SYN; in a capture
/// that began later, the side with the higher port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Reply,
}

impl Direction {
    /// The other one.
    #[inline]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Request => Direction::Reply,
            Direction::Reply => Direction::Request,
        }
    }
}

/// What a segment is to its stream. Wireshark's rules decide between data,
/// retransmissions and what is out of order (see [`crate::flow`]), so that
/// counts agree with it; only [`Observer::bytes`] reports which bytes are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// SYN or SYN with ACK, seen for the first time.
    Open,
    /// Payload not seen before, in order.
    Data,
    /// Payload not seen before, with some missing before it.
    Ahead,
    /// Payload not seen before that was sent earlier than some that was
    /// captured before it: it overtook nothing, it came late (RFC 9293 section 3.10.7.4).
    OutOfOrder,
    /// Payload or SYN or FIN that was sent before and is sent again, the first
    /// time perhaps unseen. New bytes may follow the old ones.
    Retransmission,
    /// One byte or none below what is acknowledged: a probe of a live or closed window.
    KeepAlive,
    /// No payload, SYN, FIN or RST.
    Acknowledgment,
    /// FIN without payload, seen for the first time.
    Close,
    /// RST.
    Reset,
}

/// One segment of a flow, without its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The packet's number in the capture.
    pub packet: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Which way it goes.
    pub direction: Direction,
    /// What it is to its stream.
    pub kind: SegmentKind,
    /// Its flags.
    pub flags: Flags,
    /// Offset of its first payload byte in the direction's stream; the first byte
    /// after the SYN has 0.
    pub offset: u64,
    /// Payload bytes on the wire.
    pub bytes: u32,
    /// Bytes of the opposite stream that it acknowledges: all below this offset.
    pub acknowledged: u64,
    /// The window that it offers, scaled, bytes.
    pub window: u64,
    /// Link, IP and TCP header bytes.
    pub header_bytes: u32,
    /// Of those the link's.
    pub link_header_bytes: u16,
    /// Of those IP's; the rest is TCP's.
    pub ip_header_bytes: u16,
    /// IPv4's identification; None in IPv6.
    pub identification: Option<u16>,
    /// It reports that bytes came twice (a duplicate SACK, RFC 2883).
    pub reports_duplicate: bool,
    /// The capture holds its TCP options in part only (its snap length).
    pub options_cut: bool,
    /// Of a SYN: the largest segment that its sender takes.
    pub mss: Option<u16>,
}

impl Segment {
    /// The offset behind its last payload byte.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset + u64::from(self.bytes)
    }
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The client's end.
    pub client: SocketAddr,
    /// The server's end.
    pub server: SocketAddr,
    /// When its first packet was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Its SYN was captured, or the answer to it; otherwise offsets count from the
    /// first byte seen or acknowledged.
    pub from_syn: bool,
    /// The largest segment that the client takes, by its SYN, and the server, where
    /// its SYN comes first; what comes later is in the options of its packet.
    pub mss: [Option<u16>; 2],
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// FIN of both sides.
    Orderly,
    /// RST, from that side.
    Reset(Direction),
    /// The capture ended before the connection, or it was forgotten to save memory.
    Unseen,
    /// A new SYN with the same two ends began another connection.
    Replaced,
}

/// A listener to flows. All calls of one packet come before those of the next.
pub trait Observer {
    /// The capture holds secrets of TLS connections, in the format of NSS key logs. They
    /// come before the packets that need them.
    fn secrets(&mut self, _key_log: &[u8]) {}
    /// A connection is new. Comes before anything else of that flow.
    fn opened(&mut self, flow: FlowId, opening: &Opening);
    /// The clock of the capture stepped back before that packet: how far the times before and
    /// behind it are apart is not known.
    fn clock_stepped(&mut self, _packet: u64) {}
    /// A datagram from or to a name server. It belongs to no connection.
    fn datagram(&mut self, _datagram: &Datagram<'_>) {}

    /// A fragment of an IP packet that carries TCP. Its bytes are in no segment.
    fn fragment(&mut self, _fragment: &Fragment) {}
    /// A packet of a connection, with all its headers; its segment follows.
    /// A listener that needs only the segment leaves this out.
    fn packet(&mut self, _flow: FlowId, _direction: Direction, _packet: &Packet<'_>) {}
    /// A segment, in the order of the capture, retransmissions too.
    fn segment(&mut self, flow: FlowId, segment: &Segment);
    /// The next bytes of a direction: in order, each byte once, as far as captured.
    /// `segment` is the one that they came in, which may have come earlier.
    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment);
    /// Bytes of a direction that will never come: lost by the capture, cut off by
    /// its snap length, or given up to save memory. The next bytes follow them.
    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64);
    /// A segment of a connection that was reported as closed: sent again, or RST. It counts, and
    /// is of no flow any more.
    fn count_late(&mut self, _segment: &Segment) {}
    /// A connection is over. Nothing more comes of that flow. `at_ns` is when it
    /// ended, or was last seen; reported later, because segments may come late: up to 60 s
    /// of the capture, or at its end, or when a new connection has the same ends.
    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing);
}
