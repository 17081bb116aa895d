//! Packets within packets: what IP or UDP carries where that is a tunnel.

use super::byte_order::{ByteOrder, u16_at};
use super::headers::{Header, LinkPayload, walk};
use super::network::protocol;

/// Tunnels within each other at most. A hostile packet may nest more.
pub(super) const TUNNELS_MAX: u8 = 8;

/// Ports of UDP (IANA).
mod port {
    pub(super) const L2TP: u16 = 1701;
    pub(super) const GTP_U: u16 = 2152;
    pub(super) const VXLAN: u16 = 4789;
    pub(super) const VXLAN_GPE: u16 = 4790;
    pub(super) const GENEVE: u16 = 6081;
    /// What Linux used for VXLAN before IANA had assigned a port, and still does by default.
    pub(super) const VXLAN_LINUX: u16 = 8472;
}

/// What the payload of an IP packet holds, where its protocol is that of a tunnel.
#[cold]
pub(super) fn of_protocol(number: u8, payload: &[u8]) -> LinkPayload {
    let found = match number {
        protocol::IPV4 | protocol::IPV6 => Some(LinkPayload::Ip { header_bytes: 0 }),
        protocol::GRE => gre(payload),
        protocol::ETHER_IP => Some(walk(Header::Ethernet, payload, 2)),
        protocol::MPLS => Some(walk(Header::Mpls, payload, 0)),
        protocol::ESP => Some(LinkPayload::Encrypted),
        _ => Some(LinkPayload::Other),
    };
    found.unwrap_or(LinkPayload::Cut)
}

/// Whether a datagram with that port may be of a tunnel.
#[inline]
pub(super) fn is_tunnel(source: u16, destination: u16) -> bool {
    use port::{GENEVE, GTP_U, L2TP, VXLAN, VXLAN_GPE, VXLAN_LINUX};
    matches!(
        destination,
        VXLAN | VXLAN_LINUX | VXLAN_GPE | GENEVE | GTP_U | L2TP
    ) || matches!(source, GTP_U | L2TP)
}

/// What a datagram holds; Other where it is of no tunnel, whatever its port.
#[cold]
pub(super) fn of_datagram(source: u16, destination: u16, payload: &[u8]) -> LinkPayload {
    use port::{GENEVE, GTP_U, L2TP, VXLAN, VXLAN_GPE, VXLAN_LINUX};
    let found = match destination {
        VXLAN | VXLAN_LINUX => vxlan(payload),
        VXLAN_GPE => vxlan_gpe(payload),
        GENEVE => geneve(payload),
        GTP_U => gtp_u(payload),
        L2TP => l2tp(payload),
        _ if source == GTP_U => gtp_u(payload),
        _ => l2tp(payload),
    };
    found.unwrap_or(LinkPayload::Cut)
}

/// The network that a datagram of a tunnel is of, by its kind and number: VXLAN (RFC 7348 section 5)
/// and Geneve (RFC 8926 section 3.4) have one of 24 bits. 0 where it states none.
pub(super) fn network_of_datagram(destination: u16, payload: &[u8]) -> u64 {
    use port::{GENEVE, VXLAN, VXLAN_GPE, VXLAN_LINUX};
    const OF_VXLAN: u64 = 1 << 32;
    const OF_GENEVE: u64 = 2 << 32;
    let kind = match destination {
        VXLAN | VXLAN_LINUX | VXLAN_GPE => OF_VXLAN,
        GENEVE => OF_GENEVE,
        _ => return 0,
    };
    let number = ByteOrder::Big.u32(payload, 4);
    number.map_or(0, |number| kind | u64::from(number >> 8))
}

/// The same of what IP carries: GRE may have a key (RFC 2890). That of PPTP is another thing.
pub(super) fn network_of_protocol(number: u8, payload: &[u8]) -> u64 {
    const OF_GRE: u64 = 3 << 32;
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const VERSION: u16 = 0x07;
    let flags = u16_at(payload, 0).filter(|_| number == protocol::GRE);
    let Some(flags) = flags.filter(|flags| flags & KEY != 0 && flags & VERSION == 0) else {
        return 0;
    };
    let at = 4 + usize::from(flags & CHECKSUM != 0) * 4;
    ByteOrder::Big
        .u32(payload, at)
        .map_or(0, |key| OF_GRE | u64::from(key))
}

/// RFC 2784 with key and sequence number (RFC 2890); version 1 is that of PPTP (RFC 2637).
fn gre(payload: &[u8]) -> Option<LinkPayload> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const ERSPAN_2: u16 = 0x88BE;
    const ERSPAN_3: u16 = 0x22EB;
    let (flags, kind) = (u16_at(payload, 0)?, u16_at(payload, 2)?);
    let version = flags & 0x07;
    if version > 1 || flags & ROUTING != 0 {
        return Some(LinkPayload::Other);
    }
    let has = |flag: u16| usize::from(flags & flag != 0) * 4;
    let mut at = 4 + has(CHECKSUM) + has(KEY) + has(SEQUENCE);
    if version == 1 {
        at += has(ACKNOWLEDGMENT);
    }
    Some(match kind {
        // A mirror port over IP (draft-foschiano-erspan). Type I has no header of its own
        // and no sequence number.
        ERSPAN_2 => walk(Header::Ethernet, payload, at + 2 * has(SEQUENCE)),
        ERSPAN_3 => {
            let has_subheader = payload.get(at + 11)? & 1 == 1;
            at += 12 + 8 * usize::from(has_subheader);
            walk(Header::Ethernet, payload, at)
        }
        kind => walk(Header::Of(kind), payload, at),
    })
}

/// RFC 7348: flags, a network, Ethernet.
fn vxlan(payload: &[u8]) -> Option<LinkPayload> {
    const HAS_NETWORK: u8 = 0x08;
    Some(if payload.first()? & HAS_NETWORK != 0 {
        walk(Header::Ethernet, payload, 8)
    } else {
        LinkPayload::Other
    })
}

/// draft-ietf-nvo3-vxlan-gpe: the fourth byte states what follows.
fn vxlan_gpe(payload: &[u8]) -> Option<LinkPayload> {
    Some(match payload.get(3)? {
        1 | 2 => LinkPayload::Ip { header_bytes: 8 },
        3 => walk(Header::Ethernet, payload, 8),
        _ => LinkPayload::Other,
    })
}

/// RFC 8926 section 3.4.
fn geneve(payload: &[u8]) -> Option<LinkPayload> {
    let begin = *payload.first()?;
    if begin >> 6 != 0 {
        return Some(LinkPayload::Other);
    }
    let options = usize::from(begin & 0x3F) * 4;
    let kind = u16_at(payload, 2)?;
    Some(walk(Header::Of(kind), payload, 8 + options))
}

/// 3GPP TS 29.281 section 5.1: a user's packet behind optional fields and extensions.
fn gtp_u(payload: &[u8]) -> Option<LinkPayload> {
    const VERSION_AND_KIND: u8 = 0xF0;
    const VERSION_1: u8 = 0x30;
    const OPTIONAL: u8 = 0x07;
    const EXTENDED: u8 = 0x04;
    const USER_PACKET: u8 = 255;
    const EXTENSIONS_MAX: usize = 16;
    let [flags, kind] = *payload.first_chunk()?;
    if flags & VERSION_AND_KIND != VERSION_1 || kind != USER_PACKET {
        return Some(LinkPayload::Other);
    }
    let mut at = if flags & OPTIONAL == 0 { 8 } else { 12 };
    let mut next = match flags & EXTENDED {
        0 => 0,
        _ => *payload.get(11)?,
    };
    for _ in 0..EXTENSIONS_MAX {
        if next == 0 {
            break;
        }
        // Its length in words, with this byte and the type of the next.
        let words = usize::from(*payload.get(at)?).max(1);
        at += words * 4;
        next = *payload.get(at - 1)?;
    }
    Some(match payload.get(at)? >> 4 {
        4 | 6 if next == 0 => LinkPayload::Ip { header_bytes: at },
        _ => LinkPayload::Other,
    })
}

/// Data messages of version 2 (RFC 2661 section 3.1).
fn l2tp(payload: &[u8]) -> Option<LinkPayload> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = ByteOrder::Big.u16(payload, 0)?;
    if flags & CONTROL != 0 || flags & 0x0F != 2 {
        return Some(LinkPayload::Other);
    }
    let has = |flag: u16, bytes: usize| usize::from(flags & flag != 0) * bytes;
    let mut at = 6 + has(LENGTH, 2) + has(SEQUENCE, 4);
    if flags & OFFSET != 0 {
        at += 2 + usize::from(u16_at(payload, at)?);
    }
    Some(walk(Header::Ppp, payload, at))
}
