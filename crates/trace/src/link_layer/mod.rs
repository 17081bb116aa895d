//! What is around an IP packet, by the link type of its capture.
//!
//! Source of the numbers and layouts: the registry of LINKTYPE values of
//! tcpdump.org and the pages it leads to.

mod cooked;
mod ethernet;
mod loopback;

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
pub enum Carried {
    /// An IP packet of either version behind a header of so many bytes.
    Ip {
        /// The link's header, bytes.
        header_bytes: usize,
    },
    /// Something else.
    Other,
    /// The capture holds too little of the frame to tell.
    Cut,
    /// A link type that is not read here.
    Unknown,
}

/// Finds the IP packet in a frame.
#[inline]
pub fn carried(link_type: LinkType, frame: &[u8]) -> Carried {
    let found = match link_type {
        LinkType::ETHERNET => ethernet::carried(frame),
        LinkType::LINUX_SLL => cooked::carried(frame),
        LinkType::LINUX_SLL2 => cooked::carried_2(frame),
        LinkType::NULL => loopback::carried(frame),
        LinkType::LOOP => loopback::carried_big_endian(frame),
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 => Some(Carried::Ip { header_bytes: 0 }),
        other if LinkType::RAW_BSD.contains(&other) => Some(Carried::Ip { header_bytes: 0 }),
        _ => Some(Carried::Unknown),
    };
    found.unwrap_or(Carried::Cut)
}
