//! IPv6 with its extension headers (RFC 8200).

use std::net::{IpAddr, Ipv6Addr};

use super::{Ip, NoIp, between};
use crate::field::u16_at;

const HEADER: usize = 40;
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

#[inline]
pub(super) fn parse(captured: &[u8], wire_bytes: u32) -> Result<Ip<'_>, NoIp> {
    let fixed: &[u8; HEADER] = captured.first_chunk().ok_or(NoIp::Cut)?;
    let told = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    // 0 for jumbograms (RFC 2675) and for what a card is to segment.
    let total = match told {
        0 => wire_bytes,
        _ => (told + HEADER as u32).min(wire_bytes),
    };
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

fn address(fixed: &[u8; HEADER], at: usize) -> IpAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&fixed[at..at + 16]);
    IpAddr::V6(Ipv6Addr::from(octets))
}

/// The protocol behind the extension headers, and where that begins.
fn skip_extensions(captured: &[u8], mut next: u8) -> Result<(u8, usize), NoIp> {
    let mut at = HEADER;
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
            _ => (units + 1) * unit,
        };
        next = header[0];
    }
    Err(NoIp::Malformed)
}

/// A fragment header may be there with the whole packet behind it (RFC 6946).
fn whole(captured: &[u8], at: usize) -> Result<(), NoIp> {
    const OFFSET_AND_MORE: u16 = 0xFFF9;
    match u16_at(captured, at + 2).ok_or(NoIp::Cut)? & OFFSET_AND_MORE {
        0 => Ok(()),
        _ => Err(NoIp::Fragment),
    }
}
