//! What is around an IP packet, by the link type of its capture.
//!
//! Source of the numbers and layouts: the registry of LINKTYPE values of
//! tcpdump.org and the pages it leads to.

use super::byte_order::{ByteOrder, u16_at};

/// A number of the LINKTYPE registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback, address family in the byte order of the host.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// An IP packet alone.
    pub const RAW: LinkType = LinkType(101);
    /// OpenBSD loopback, address family in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux cooked capture.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// An IPv4 packet alone.
    pub const IPV4: LinkType = LinkType(228);
    /// An IPv6 packet alone.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
    /// What some BSDs write for raw IP (DLT_RAW).
    const RAW_BSD: [LinkType; 2] = [LinkType(12), LinkType(14)];

    /// Its name, or its number in words.
    pub fn name(self) -> String {
        let name = match self {
            LinkType::NULL => "null",
            LinkType::ETHERNET => "ethernet",
            LinkType::RAW => "raw",
            LinkType::LOOP => "loop",
            LinkType::LINUX_SLL => "linux-sll",
            LinkType::IPV4 => "ipv4",
            LinkType::IPV6 => "ipv6",
            LinkType::LINUX_SLL2 => "linux-sll2",
            other if LinkType::RAW_BSD.contains(&other) => "raw",
            LinkType(number) => return format!("linktype-{number}"),
        };
        name.to_owned()
    }
}

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPayload {
    /// An IP packet of either version behind a header of this length.
    Ip {
        /// The link's header, bytes.
        header_bytes: usize,
    },
    /// Something else.
    Other,
    /// The capture holds too little of the frame.
    Cut,
    /// A link type that is not read here.
    Unknown,
}

/// Finds the IP packet in a frame.
#[inline]
pub fn link_payload(link_type: LinkType, frame: &[u8]) -> LinkPayload {
    let found = match link_type {
        LinkType::ETHERNET => ethernet(frame),
        LinkType::LINUX_SLL => cooked(frame),
        LinkType::LINUX_SLL2 => cooked_2(frame),
        LinkType::NULL => loopback(frame),
        LinkType::LOOP => loopback_big_endian(frame),
        // LINKTYPE_RAW holds either version. The version nibble decides
        // (`network::parse`), also in a file that is labelled for one version only.
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 => {
            Some(LinkPayload::Ip { header_bytes: 0 })
        }
        other if LinkType::RAW_BSD.contains(&other) => Some(LinkPayload::Ip { header_bytes: 0 }),
        _ => Some(LinkPayload::Unknown),
    };
    found.unwrap_or(LinkPayload::Cut)
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// 802.1Q, 802.1ad, and what QinQ switches used before it.
const VLAN: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// More tags than any network uses.
const TAGS_MAX: usize = 8;
/// Smaller values are the length of an 802.3 frame.
const ETHERTYPE_MIN: u16 = 0x0600;
/// LLC of SNAP with the organisation that means ethertypes (RFC 1042).
const SNAP: [u8; 6] = [0xAA, 0xAA, 0x03, 0, 0, 0];

/// Ethernet II and 802.3 with SNAP, with any VLAN tags (IEEE 802.1Q, 802.1ad).
fn ethernet(frame: &[u8]) -> Option<LinkPayload> {
    tagged(frame, 12)
}

/// What the ethertype at `at` states, behind the tags that it may announce.
fn tagged(frame: &[u8], mut at: usize) -> Option<LinkPayload> {
    // Bounded: a hostile frame may repeat the tag to its end.
    for _ in 0..=TAGS_MAX {
        let ethertype = u16_at(frame, at)?;
        if VLAN.contains(&ethertype) {
            at += 4;
        } else if ethertype < ETHERTYPE_MIN {
            // IEEE 802.3 section 3.2.6: a value below 1536 is a length, and an LLC
            // header follows.
            return snap(frame, at + 2);
        } else {
            return Some(by_ethertype(ethertype, at + 2));
        }
    }
    Some(LinkPayload::Other)
}

fn snap(frame: &[u8], at: usize) -> Option<LinkPayload> {
    if frame.get(at..at + SNAP.len())? != SNAP {
        return Some(LinkPayload::Other);
    }
    let at = at + SNAP.len();
    Some(by_ethertype(u16_at(frame, at)?, at + 2))
}

fn by_ethertype(ethertype: u16, header_bytes: usize) -> LinkPayload {
    match ethertype {
        IPV4 | IPV6 => LinkPayload::Ip { header_bytes },
        _ => LinkPayload::Other,
    }
}

fn is_vlan(ethertype: u16) -> bool {
    VLAN.contains(&ethertype)
}

/// LINKTYPE_LINUX_SLL, as the interface `any` gives it: the protocol is the last field of 16 bytes.
fn cooked(frame: &[u8]) -> Option<LinkPayload> {
    tagged(frame, 14)
}

/// LINKTYPE_LINUX_SLL2: the protocol is the first field of 20 bytes.
fn cooked_2(frame: &[u8]) -> Option<LinkPayload> {
    let protocol = u16_at(frame, 0)?;
    if is_vlan(protocol) {
        // The tag's number, and the protocol behind it.
        return tagged(frame, 22);
    }
    Some(by_ethertype(protocol, 20))
}

const AF_INET: u32 = 2;
/// Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
const AF_INET6: [u32; 5] = [10, 23, 24, 28, 30];

/// BSD loopback, LINKTYPE_NULL: the address family in the byte order of the host. The
/// file does not state that order, but families are small numbers.
fn loopback(frame: &[u8]) -> Option<LinkPayload> {
    // The file may come from a host of the other byte order. Families are below 256, so
    // the smaller of both readings is the right one.
    let family = ByteOrder::Little.u32(frame, 0)?;
    Some(by_family(family.min(family.swap_bytes())))
}

fn loopback_big_endian(frame: &[u8]) -> Option<LinkPayload> {
    Some(by_family(ByteOrder::Big.u32(frame, 0)?))
}

fn by_family(family: u32) -> LinkPayload {
    if family == AF_INET || AF_INET6.contains(&family) {
        LinkPayload::Ip { header_bytes: 4 }
    } else {
        LinkPayload::Other
    }
}
