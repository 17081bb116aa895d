//! One TCP packet, parsed.

use std::net::SocketAddr;

/// The flags of a TCP header (RFC 9293 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment number counts.
    pub const ACK: Flags = Flags(0x10);

    /// All flags of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

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
    /// Who sent it.
    pub source: SocketAddr,
    /// Whom it is for.
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

/// A TCP header without options, bytes (RFC 9293 section 3.1).
const TCP_HEADER_BYTES: usize = 20;

impl Packet<'_> {
    /// The capture holds the TCP options in part only (its snap length).
    pub fn options_cut(&self) -> bool {
        TCP_HEADER_BYTES + self.options.len() < usize::from(self.tcp_header_bytes)
    }
}
