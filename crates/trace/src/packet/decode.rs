//! From a captured frame to its TCP packet.

use std::net::SocketAddr;

pub use super::network::Fragment;

use super::file::Record;
use super::link_layer::{LinkPayload, link_payload};
use super::network::{self, Ip, NoIp, protocol};
use super::tcp::{self, Flags};

/// One packet of a capture that carries TCP, as far as it was captured.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Its length on the wire, with the link's header, bytes.
    pub wire_bytes: u32,
    /// Of those the link's header.
    pub link_header_bytes: u16,
    /// Of those the IP header with options or extension headers.
    pub ip_header_bytes: u16,
    /// Of those the TCP header with options.
    pub tcp_header_bytes: u16,
    /// IPv4's identification (RFC 791): some systems count the packets of a
    /// connection in it. None in IPv6.
    pub identification: Option<u16>,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// Sequence number of the first payload byte (of the SYN, where it is set).
    pub sequence: u32,
    /// Acknowledgment number; counts only with the flag.
    pub acknowledgment: u32,
    /// Its flags.
    pub flags: Flags,
    /// The window as in the header, not scaled.
    pub window: u16,
    /// The TCP options, raw, as far as captured.
    pub options: &'a [u8],
    /// Payload bytes on the wire, by the lengths in the headers.
    pub payload_bytes: u32,
    /// The payload as far as it was captured: a prefix.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// The capture holds the TCP options in part only (its snap length).
    pub fn options_cut(&self) -> bool {
        tcp::HEADER_MIN + self.options.len() < usize::from(self.tcp_header_bytes)
    }
}

/// One packet of a capture that carries UDP, as far as it was captured.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Its number in the capture, from 1.
    pub packet: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// The payload as far as it was captured: a prefix.
    pub payload: &'a [u8],
}

/// What a frame is.
#[derive(Debug, Clone, Copy)]
pub enum Decoded<'a> {
    /// TCP over IPv4 or IPv6.
    Tcp(Packet<'a>),
    /// UDP over IPv4 or IPv6.
    Udp(Datagram<'a>),
    /// A part of TCP over IPv4 or IPv6.
    Fragment(Fragment),
    /// Anything else.
    Other(Other),
}

/// Frames that are counted, and not looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// UDP.
    Udp,
    /// Another protocol over IP.
    Ip,
    /// A fragment of an IP packet of another protocol: fragments are not put together.
    Fragment,
    /// No IP: ARP, LLDP, …
    Link,
    /// The capture holds too little of it.
    Cut,
    /// Its headers contradict each other.
    Malformed,
    /// Its link type is not read here.
    UnknownLink,
}

/// Reads a frame.
#[inline]
pub fn decode<'a>(record: &Record<'a>) -> Decoded<'a> {
    find(record).unwrap_or_else(|other| match other {
        Other::Fragment => fragment(record).map_or(Decoded::Other(other), Decoded::Fragment),
        _ => Decoded::Other(other),
    })
}

/// Of TCP; None of another protocol, or where too little of it was captured.
fn fragment(record: &Record<'_>) -> Option<Fragment> {
    let LinkPayload::Ip { header_bytes } = link_payload(record.link_type, record.data) else {
        return None;
    };
    let captured = record.data.get(header_bytes..)?;
    let wire_bytes = record.wire_bytes.saturating_sub(header_bytes as u32);
    let part = network::fragment(captured, wire_bytes)?;
    Some(Fragment {
        packet: record.number,
        at_ns: record.at_ns,
        ..part
    })
}

#[inline]
fn find<'a>(record: &Record<'a>) -> Result<Decoded<'a>, Other> {
    // Layer by layer: the first one that cannot be read names the class under which the
    // frame is counted (`OtherPackets`).
    let link_header_bytes = match link_payload(record.link_type, record.data) {
        LinkPayload::Ip { header_bytes } => header_bytes,
        LinkPayload::Other => return Err(Other::Link),
        LinkPayload::Cut => return Err(Other::Cut),
        LinkPayload::Unknown => return Err(Other::UnknownLink),
    };
    let captured = record.data.get(link_header_bytes..).ok_or(Other::Cut)?;
    // Length on the wire and captured length differ wherever a snap length is set.
    // Sequence numbers advance by the former; bytes can only be read from the latter.
    let wire_bytes = record.wire_bytes.saturating_sub(link_header_bytes as u32);
    let ip = network::parse(captured, wire_bytes).map_err(|error| match error {
        NoIp::Cut => Other::Cut,
        NoIp::Malformed => Other::Malformed,
        NoIp::Fragment => Other::Fragment,
    })?;
    match ip.protocol {
        protocol::TCP => tcp_packet(record, &ip, link_header_bytes as u16).map(Decoded::Tcp),
        protocol::UDP => datagram(record, &ip).map(Decoded::Udp),
        _ => Err(Other::Ip),
    }
}

/// Source port, destination port, length, checksum (RFC 768).
const UDP_HEADER_BYTES: usize = 8;

fn datagram<'a>(record: &Record<'a>, ip: &Ip<'a>) -> Result<Datagram<'a>, Other> {
    let header: &[u8; UDP_HEADER_BYTES] = ip.payload.first_chunk().ok_or(Other::Cut)?;
    let [source, destination, length] =
        [0, 2, 4].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
    let end = usize::from(length)
        .max(UDP_HEADER_BYTES)
        .min(ip.payload.len());
    Ok(Datagram {
        packet: record.number,
        at_ns: record.at_ns,
        source: SocketAddr::new(ip.source, source),
        destination: SocketAddr::new(ip.destination, destination),
        payload: &ip.payload[UDP_HEADER_BYTES..end],
    })
}

#[inline]
fn tcp_packet<'a>(record: &Record<'a>, ip: &Ip<'a>, link: u16) -> Result<Packet<'a>, Other> {
    let header = tcp::parse(ip.payload, ip.payload_bytes).map_err(|error| match error {
        tcp::NoHeader::Cut => Other::Cut,
        tcp::NoHeader::Malformed => Other::Malformed,
    })?;
    Ok(Packet {
        number: record.number,
        at_ns: record.at_ns,
        wire_bytes: record.wire_bytes,
        link_header_bytes: link,
        ip_header_bytes: ip.header_bytes as u16,
        tcp_header_bytes: header.header_bytes as u16,
        identification: ip.identification,
        source: SocketAddr::new(ip.source, header.source_port),
        destination: SocketAddr::new(ip.destination, header.destination_port),
        sequence: header.sequence,
        acknowledgment: header.acknowledgment,
        flags: header.flags,
        window: header.window,
        options: header.options,
        // By the length in the IP header: Ethernet pads short frames to 60 bytes (IEEE
        // 802.3 section 4.2.3.3), and the padding is no payload.
        payload_bytes: ip.payload_bytes - header.header_bytes as u32,
        // Empty, and no error, where the snap length cuts inside the TCP options: the
        // header still counts for sequence numbers and windows.
        payload: ip.payload.get(header.header_bytes..).unwrap_or(&[]),
    })
}
