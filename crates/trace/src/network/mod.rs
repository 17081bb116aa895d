//! IP packets: a checked view of what they carry.

mod ipv4;
mod ipv6;

use std::net::IpAddr;

/// The numbers of protocols (IANA).
pub(crate) mod protocol {
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
}

/// An IP packet that is whole, or whose first part is here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ip<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// Of what is behind the headers.
    pub(crate) protocol: u8,
    /// Of IPv4.
    pub(crate) identification: Option<u16>,
    /// Header with options, or with extension headers.
    pub(crate) header_bytes: usize,
    /// What is behind it, bytes on the wire.
    pub(crate) payload_bytes: u32,
    /// The same as far as captured: a prefix.
    pub(crate) payload: &'a [u8],
}

/// Why there is no such packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoIp {
    /// Too little of it was captured.
    Cut,
    /// Its fields contradict each other.
    Malformed,
    /// A part of a packet, not reassembled.
    Fragment,
}

/// Reads a packet of which `captured` is there of `wire_bytes` on the wire.
#[inline]
pub(crate) fn parse(captured: &[u8], wire_bytes: u32) -> Result<Ip<'_>, NoIp> {
    match captured.first().ok_or(NoIp::Cut)? >> 4 {
        4 => ipv4::parse(captured, wire_bytes),
        6 => ipv6::parse(captured, wire_bytes),
        _ => Err(NoIp::Malformed),
    }
}

/// The prefix of `captured` behind `header` and before `total` bytes.
#[inline]
fn between(captured: &[u8], header: usize, total: u32) -> &[u8] {
    let end = captured.len().min(total as usize);
    captured.get(header..end).unwrap_or(&[])
}
