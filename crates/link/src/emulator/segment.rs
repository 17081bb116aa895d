//! What the emulator reads of a packet: just enough of IP and TCP to know a
//! SYN and a segment with data (RFC 791, RFC 8200, RFC 9293).

use std::ops::Range;

const TCP: u8 = 6;

/// IPv4: version and header length, total length, fragment, protocol.
const V4_HEADER: usize = 20;
const V4_LENGTH: Range<usize> = 2..4;
const V4_FRAGMENT: Range<usize> = 6..8;
const V4_PROTOCOL: usize = 9;

/// IPv6: payload length, next header.
const V6_HEADER: usize = 40;
const V6_LENGTH: Range<usize> = 4..6;
const V6_NEXT: usize = 6;

/// TCP: ports, sequence number, data offset, flags.
const TCP_HEADER: usize = 20;
const TCP_SOURCE: Range<usize> = 0..2;
const TCP_DESTINATION: Range<usize> = 2..4;
const TCP_SEQUENCE: Range<usize> = 4..8;
const TCP_OFFSET: usize = 12;
const TCP_FLAGS: usize = 13;
const FLAG_SYN: u8 = 0x02;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) syn: bool,
    /// Bytes of TCP payload.
    pub(crate) data: usize,
}

impl Segment {
    /// Reads a packet that begins with its IP header; nothing when it is not a
    /// whole TCP segment. Never panics. IPv6 extension headers are not
    /// followed: TCP in this lab carries none.
    pub(crate) fn parse(packet: &[u8]) -> Option<Segment> {
        let tcp = match packet.first()? >> 4 {
            4 => v4_payload(packet)?,
            6 => v6_payload(packet)?,
            _ => return None,
        };
        // In words of 32 bits (RFC 9293 section 3.1).
        let offset = usize::from(tcp.get(TCP_OFFSET)? >> 4) * 4;
        if offset < TCP_HEADER {
            return None;
        }
        Some(Segment {
            // By index without a panic: the byte at TCP_OFFSET, which was there, comes
            // after all three.
            source_port: u16::from_be_bytes(tcp[TCP_SOURCE].try_into().ok()?),
            destination_port: u16::from_be_bytes(tcp[TCP_DESTINATION].try_into().ok()?),
            sequence: u32::from_be_bytes(tcp[TCP_SEQUENCE].try_into().ok()?),
            syn: tcp.get(TCP_FLAGS)? & FLAG_SYN != 0,
            data: tcp.len().checked_sub(offset)?,
        })
    }
}

fn v4_payload(packet: &[u8]) -> Option<&[u8]> {
    // In words of 32 bits, options included.
    let header = usize::from(packet[0] & 0x0f) * 4;
    let length = word(packet.get(V4_LENGTH)?);
    // The lower 13 bits are the offset: only the fragment at 0 has the TCP header (RFC 791
    // section 3.1).
    let first_fragment = word(packet.get(V4_FRAGMENT)?) & 0x1fff == 0;
    let tcp = *packet.get(V4_PROTOCOL)? == TCP && first_fragment && header >= V4_HEADER;
    tcp.then(|| packet.get(header..length)).flatten()
}

fn v6_payload(packet: &[u8]) -> Option<&[u8]> {
    let length = word(packet.get(V6_LENGTH)?);
    let tcp = *packet.get(V6_NEXT)? == TCP;
    tcp.then(|| packet.get(V6_HEADER..V6_HEADER + length))
        .flatten()
}

fn word(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An IPv4 packet with a TCP segment, for tests of this crate.
    pub(crate) fn packet(syn: bool, data: usize) -> Vec<u8> {
        let mut packet = vec![0; V4_HEADER + TCP_HEADER + data];
        let length = packet.len() as u16;
        packet[0] = 0x45;
        packet[V4_LENGTH].copy_from_slice(&length.to_be_bytes());
        packet[V4_PROTOCOL] = TCP;
        packet[V4_HEADER..][TCP_SOURCE].copy_from_slice(&40_000u16.to_be_bytes());
        packet[V4_HEADER..][TCP_DESTINATION].copy_from_slice(&80u16.to_be_bytes());
        packet[V4_HEADER..][TCP_SEQUENCE].copy_from_slice(&7u32.to_be_bytes());
        packet[V4_HEADER + TCP_OFFSET] = 5 << 4;
        packet[V4_HEADER + TCP_FLAGS] = if syn { FLAG_SYN } else { 0x10 };
        packet
    }

    #[test]
    fn a_segment_is_read() {
        let segment = Segment::parse(&packet(true, 0)).unwrap();
        let expected = Segment {
            source_port: 40_000,
            destination_port: 80,
            sequence: 7,
            syn: true,
            data: 0,
        };
        assert_eq!(segment, expected);
        assert_eq!(Segment::parse(&packet(false, 99)).unwrap().data, 99);
    }

    #[test]
    fn one_over_ipv6_too() {
        let v4 = packet(true, 3);
        let mut v6 = vec![0; V6_HEADER];
        v6[0] = 0x60;
        v6[V6_LENGTH].copy_from_slice(&((v4.len() - V4_HEADER) as u16).to_be_bytes());
        v6[V6_NEXT] = TCP;
        v6.extend(&v4[V4_HEADER..]);
        assert_eq!(Segment::parse(&v6), Segment::parse(&v4));
    }

    #[test]
    fn a_later_fragment_and_another_protocol_are_none() {
        let mut fragment = packet(true, 0);
        fragment[7] = 1;
        assert_eq!(Segment::parse(&fragment), None);
        let mut udp = packet(true, 0);
        udp[V4_PROTOCOL] = 17;
        assert_eq!(Segment::parse(&udp), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..90),
            first in prop::sample::select(vec![0x45u8, 0x4f, 0x60, 0x00]),
        ) {
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            if bytes.len() > V4_PROTOCOL {
                bytes[V4_PROTOCOL] = TCP;
                bytes[V6_NEXT] = TCP;
            }
            Segment::parse(&bytes);
        }
    }
}
