//! IP packets: a checked view of what they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::byte_order::u16_at;

/// The numbers of protocols (IANA).
pub(crate) mod protocol {
    /// IPv4 in IP (RFC 2003).
    pub(crate) const IPV4: u8 = 4;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    /// IPv6 in IP (RFC 2473, RFC 4213).
    pub(crate) const IPV6: u8 = 41;
    pub(crate) const GRE: u8 = 47;
    pub(crate) const ESP: u8 = 50;
    /// Ethernet in IP (RFC 3378).
    pub(crate) const ETHER_IP: u8 = 97;
    /// MPLS in IP (RFC 4023).
    pub(crate) const MPLS: u8 = 137;
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
    /// Routers that it may still pass (IPv4: time to live).
    pub(crate) hop_limit: u8,
    /// Header with options, or with extension headers.
    pub(crate) header_bytes: usize,
    /// What is behind it, bytes on the wire.
    pub(crate) payload_bytes: u32,
    /// The same as far as captured: a prefix.
    pub(crate) payload: &'a [u8],
}

/// A fragment of an IP packet that carries TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The packet's number in the capture.
    pub packet: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The identification that the fragments of one packet share.
    pub number: u32,
    /// Where it begins in the payload of the packet, bytes.
    pub offset: u32,
    /// Of that payload, bytes.
    pub bytes: u32,
    /// No other lies behind it.
    pub is_last: bool,
    /// Source and destination, in the first one.
    pub ports: Option<[u16; 2]>,
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
fn slice_payload(captured: &[u8], header: usize, total: u32) -> &[u8] {
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
    Ok(Ip {
        payload: slice_payload(captured, header_bytes, total),
        ..header(fixed, header_bytes, total - header_bytes as u32)
    })
}

/// What the header states, without the payload.
#[inline(always)]
fn header(fixed: &[u8; IPV4_HEADER_MIN], header_bytes: usize, payload_bytes: u32) -> Ip<'static> {
    let address = |at: usize| {
        let [a, b, c, d] = [fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]];
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    Ip {
        source: address(12),
        destination: address(16),
        protocol: fixed[9],
        identification: Some(u16::from_be_bytes([fixed[4], fixed[5]])),
        hop_limit: fixed[8],
        header_bytes,
        payload_bytes,
        payload: &[],
    }
}

/// The longest packet (RFC 791 section 3.1), bytes.
const PACKET_BYTES_MAX: u32 = 65_535;

/// The first fragment of a packet of IPv4. How long its payload is, only what is in it shows.
/// None for other fragments, and for those of IPv6.
#[cold]
pub(crate) fn first_fragment(captured: &[u8]) -> Option<Ip<'_>> {
    const OFFSET: u16 = 0x1FFF;
    let fixed: &[u8; IPV4_HEADER_MIN] = captured.first_chunk()?;
    let header_bytes = usize::from(fixed[0] & 0x0F) * 4;
    let is_first = fixed[0] >> 4 == 4 && u16_at(fixed, 6)? & OFFSET == 0;
    (is_first && header_bytes >= IPV4_HEADER_MIN).then(|| Ip {
        payload: slice_payload(
            captured,
            header_bytes,
            u32::from(u16::from_be_bytes([fixed[2], fixed[3]])),
        ),
        ..header(fixed, header_bytes, PACKET_BYTES_MAX)
    })
}

/// A fragment of TCP, without the packet that has it. None of another protocol, where it is cut,
/// and in IPv6 behind other extension headers.
pub(crate) fn fragment(captured: &[u8], wire_bytes: u32) -> Option<Fragment> {
    let word = |at: usize| u16_at(captured, at);
    let is_v4 = captured.first()? >> 4 == 4;
    // Both count units of 8 bytes: IPv4 in the low 13 bits, IPv6 in the high ones.
    let (header, length, protocol, offset, is_last, number) = if is_v4 {
        let flags = word(6)?;
        let header = usize::from(captured[0] & 0x0F) * 4;
        let (offset, is_last) = ((flags & 0x1FFF) * 8, flags & 0x2000 == 0);
        let number = u32::from(word(4)?);
        (
            header,
            word(2)?.into(),
            *captured.get(9)?,
            offset,
            is_last,
            number,
        )
    } else {
        let flags = word(IPV6_HEADER + 2)?;
        let [high, low] = [word(IPV6_HEADER + 4)?, word(IPV6_HEADER + 6)?];
        let number = (u32::from(high) << 16) | u32::from(low);
        let protocol = match captured.get(6)? {
            &FRAGMENT => *captured.get(IPV6_HEADER)?,
            _ => return None,
        };
        let length = u32::from(word(4)?) + IPV6_HEADER as u32;
        let (offset, is_last) = (flags & 0xFFF8, flags & 1 == 0);
        (IPV6_HEADER + 8, length, protocol, offset, is_last, number)
    };
    let ends = ip_ends(captured, is_v4)?;
    if protocol != protocol::TCP {
        return None;
    }
    let ports = || Some([word(header)?, word(header + 2)?]);
    Some(Fragment {
        packet: 0,
        at_ns: 0,
        source: ends[0],
        destination: ends[1],
        number,
        offset: offset.into(),
        bytes: length.min(wire_bytes).checked_sub(header as u32)?,
        is_last,
        ports: (offset == 0).then(ports).flatten(),
    })
}

/// Source and destination.
fn ip_ends(captured: &[u8], is_v4: bool) -> Option<[IpAddr; 2]> {
    if is_v4 {
        let octets: &[u8; 8] = captured.get(12..20)?.first_chunk()?;
        let [a, b, c, d, e, f, g, h] = *octets;
        return Some([
            Ipv4Addr::new(a, b, c, d).into(),
            Ipv4Addr::new(e, f, g, h).into(),
        ]);
    }
    let fixed: &[u8; IPV6_HEADER] = captured.first_chunk()?;
    Some([address(fixed, 8), address(fixed, 24)])
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
/// A host would not accept packets with longer chains.
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
        hop_limit: fixed[7],
        header_bytes,
        payload_bytes: total - header_bytes as u32,
        payload: slice_payload(captured, header_bytes, total),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_both_versions_name_their_packet_and_place() {
        let mut v4 = [0; 28];
        v4[0] = 0x45;
        v4[3] = 28;
        v4[4..8].copy_from_slice(&[0x12, 0x34, 0x20, 0x00]);
        v4[9] = protocol::TCP;
        v4[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
        v4[20..24].copy_from_slice(&[0, 80, 0x9C, 0x40]);
        let first = fragment(&v4, 28).expect("a fragment");
        assert_eq!((first.number, first.offset, first.bytes), (0x1234, 0, 8));
        assert_eq!((first.is_last, first.ports), (false, Some([80, 40_000])));
        assert_eq!(first.source, IpAddr::from([10, 0, 0, 2]));
        v4[6..8].copy_from_slice(&[0, 1]);
        let last = fragment(&v4, 28).expect("a fragment");
        assert_eq!((last.offset, last.is_last, last.ports), (8, true, None));
        v4[9] = protocol::UDP;
        assert_eq!(fragment(&v4, 28), None);

        let mut v6 = [0; 56];
        v6[0] = 0x60;
        v6[5] = 16;
        v6[6] = FRAGMENT;
        v6[40..48].copy_from_slice(&[protocol::TCP, 0, 0, 0x11, 0, 0, 0, 7]);
        let second = fragment(&v6, 56).expect("a fragment");
        assert_eq!((second.number, second.offset, second.bytes), (7, 16, 8));
        assert!(!second.is_last);
        assert_eq!(fragment(&v6[..44], 56), None, "cut");
    }
}
