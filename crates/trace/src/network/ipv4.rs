//! IPv4 (RFC 791).

use std::net::{IpAddr, Ipv4Addr};

use super::{Ip, NoIp, between};

const HEADER_MIN: usize = 20;
/// More Fragments and the offset.
const FRAGMENT: u16 = 0x3FFF;

#[inline]
pub(super) fn parse(captured: &[u8], wire_bytes: u32) -> Result<Ip<'_>, NoIp> {
    let fixed: &[u8; HEADER_MIN] = captured.first_chunk().ok_or(NoIp::Cut)?;
    let header_bytes = usize::from(fixed[0] & 0x0F) * 4;
    let told = u32::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    // A sender that leaves segmentation to its card may write 0.
    let total = if told == 0 {
        wire_bytes
    } else {
        told.min(wire_bytes)
    };
    if header_bytes < HEADER_MIN || (header_bytes as u32) > total {
        return Err(NoIp::Malformed);
    }
    if u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENT != 0 {
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
