//! IP packets: a checked view of what they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::byte_order::u16_at;

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
    // The version nibble decides, not the ethertype: raw-IP link types have none.
    match captured.first().ok_or(NoIp::Cut)? >> 4 {
        4 => ipv4(captured, wire_bytes),
        6 => ipv6(captured, wire_bytes),
        _ => Err(NoIp::Malformed),
    }
}

/// The prefix of `captured` behind `header` and before `total` bytes.
#[inline]
fn between(captured: &[u8], header: usize, total: u32) -> &[u8] {
    let end = captured.len().min(total as usize);
    captured.get(header..end).unwrap_or(&[])
}

const IPV4_HEADER_MIN: usize = 20;
/// More Fragments and the offset.
const IPV4_FRAGMENT: u16 = 0x3FFF;

/// IPv4 (RFC 791).
#[inline]
fn ipv4(captured: &[u8], wire_bytes: u32) -> Result<Ip<'_>, NoIp> {
    let fixed: &[u8; IPV4_HEADER_MIN] = captured.first_chunk().ok_or(NoIp::Cut)?;
    // IHL counts words of 32 bits (RFC 791 section 3.1).
    let header_bytes = usize::from(fixed[0] & 0x0F) * 4;
    let length = u32::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    // A sender that leaves segmentation to its card may write 0.
    let total = if length == 0 {
        wire_bytes
    } else {
        length.min(wire_bytes)
    };
    if header_bytes < IPV4_HEADER_MIN || (header_bytes as u32) > total {
        return Err(NoIp::Malformed);
    }
    // The first fragment, too: it holds a part of a segment and would be taken for a
    // whole one. Reassembly is not worth its memory here, because TCP avoids fragments
    // by path MTU discovery (RFC 1191).
    if u16::from_be_bytes([fixed[6], fixed[7]]) & IPV4_FRAGMENT != 0 {
        return Err(NoIp::Fragment);
    }
    let address = |at: usize| {
        let [a, b, c, d] = [fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]];
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    Ok(Ip {
        source: address(12),
        destination: address(16),
        protocol: fixed[9],
        identification: Some(u16::from_be_bytes([fixed[4], fixed[5]])),
        header_bytes,
        payload_bytes: total - header_bytes as u32,
        payload: between(captured, header_bytes, total),
    })
}

const IPV6_HEADER: usize = 40;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HIP: u8 = 139;
const SHIM6: u8 = 140;
/// Longer chains are no packets that a host would take.
const EXTENSIONS_MAX: usize = 16;

/// IPv6 with its extension headers (RFC 8200).
#[inline]
fn ipv6(captured: &[u8], wire_bytes: u32) -> Result<Ip<'_>, NoIp> {
    let fixed: &[u8; IPV6_HEADER] = captured.first_chunk().ok_or(NoIp::Cut)?;
    let length = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    // 0 for jumbograms (RFC 2675) and for what a card is to segment.
    let total = match length {
        0 => wire_bytes,
        _ => (length + IPV6_HEADER as u32).min(wire_bytes),
    };
    // Extension headers form a chain: each names the type of the next (RFC 8200 section
    // 4). What TCP sees as its header length must not include them.
    let (protocol, header_bytes) = skip_extensions(captured, fixed[6])?;
    if header_bytes as u64 > u64::from(total) {
        return Err(NoIp::Malformed);
    }
    Ok(Ip {
        source: address(fixed, 8),
        destination: address(fixed, 24),
        protocol,
        identification: None,
        header_bytes,
        payload_bytes: total - header_bytes as u32,
        payload: between(captured, header_bytes, total),
    })
}

fn address(fixed: &[u8; IPV6_HEADER], at: usize) -> IpAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&fixed[at..at + 16]);
    IpAddr::V6(Ipv6Addr::from(octets))
}

/// The protocol behind the extension headers, and where that begins.
fn skip_extensions(captured: &[u8], mut next: u8) -> Result<(u8, usize), NoIp> {
    let mut at = IPV6_HEADER;
    for _ in 0..EXTENSIONS_MAX {
        let unit = match next {
            HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6 | FRAGMENT => 8,
            AUTHENTICATION => 4,
            _ => return Ok((next, at)),
        };
        if next == FRAGMENT {
            whole(captured, at)?;
        }
        let header = captured.get(at..at + 2).ok_or(NoIp::Cut)?;
        let units = usize::from(header[1]);
        at += match next {
            FRAGMENT => 8,
            // RFC 4302 counts from the second word of four bytes.
            AUTHENTICATION => (units + 2) * unit,
            // Units of 8 bytes, the first not counted (RFC 8200 section 4.3).
            _ => (units + 1) * unit,
        };
        next = header[0];
    }
    Err(NoIp::Malformed)
}

/// A fragment header may be there with the whole packet behind it (RFC 6946).
fn whole(captured: &[u8], at: usize) -> Result<(), NoIp> {
    // 13 bits of offset, 2 reserved ones, the M flag (RFC 8200 section 4.5).
    const OFFSET_AND_MORE: u16 = 0xFFF9;
    match u16_at(captured, at + 2).ok_or(NoIp::Cut)? & OFFSET_AND_MORE {
        0 => Ok(()),
        _ => Err(NoIp::Fragment),
    }
}
