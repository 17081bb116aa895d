//! What is around an IP packet, by the link type of its capture.
//!
//! Source of the layouts: the pages that the registry of LINKTYPE values of tcpdump.org
//! leads to.

use super::byte_order::{ByteOrder, u16_at};
pub use super::headers::LinkPayload;
use super::headers::{Header, radiotap, walk};
pub use super::link_type::LinkType;

/// Finds the IP packet in a frame.
#[inline]
pub fn link_payload(link_type: LinkType, frame: &[u8]) -> LinkPayload {
    // Almost all frames of almost all captures.
    if link_type == LinkType::ETHERNET && matches!(frame.get(12..14), Some([0x08, 0])) {
        return LinkPayload::Ip { header_bytes: 14 };
    }
    of_link(link_type, frame, true)
}

/// `may_name`: the frame's header may name another link type.
fn of_link(link_type: LinkType, frame: &[u8], may_name: bool) -> LinkPayload {
    let by = |header, at| Some(walk(header, frame, at));
    let wireless = |at, is_padded| by(Header::Wireless { is_padded }, at);
    let found = match link_type {
        LinkType::ETHERNET => by(Header::Ethernet, 0),
        LinkType::LINUX_SLL => by(Header::Ethertype, 14),
        LinkType::LINUX_SLL2 => linux_sll2(frame),
        LinkType::NULL => loopback(frame),
        LinkType::LOOP => loopback_big_endian(frame),
        // LINKTYPE_RAW holds either version. The version nibble decides
        // (`network::parse`), also in a file that is labelled for one version only.
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 => by(Header::Ip, 0),
        LinkType::PPP => by(Header::Ppp, 0),
        LinkType::PPP_WITH_DIRECTION => by(Header::Ppp, 1),
        LinkType::PPP_PPPD => by(Header::Ppp, 2),
        LinkType::PPP_HDLC => ppp_or_cisco(frame),
        LinkType::PPP_ETHER => by(Header::Pppoe, 0),
        LinkType::C_HDLC => by(Header::CiscoHdlc, 0),
        LinkType::ATM_RFC1483 => by(Header::Llc, 0),
        LinkType::MPLS => by(Header::Mpls, 0),
        LinkType::FDDI => by(Header::Llc, 13),
        LinkType::IEEE802_5 => token_ring(frame),
        LinkType::FRAME_RELAY => frame_relay(frame),
        LinkType::IEEE802_11 => wireless(0, false),
        LinkType::IEEE802_11_RADIOTAP => {
            radiotap(frame).and_then(|(at, is_padded)| wireless(at, is_padded))
        }
        LinkType::IEEE802_11_PRISM | LinkType::IEEE802_11_AVS => {
            radio_header(frame).and_then(|at| wireless(at, false))
        }
        LinkType::NFLOG => netfilter_log(frame),
        LinkType::ENC => by(Header::Ip, 12),
        LinkType::PFLOG => frame
            .first()
            .and_then(|bytes| by(Header::Ip, usize::from(*bytes).next_multiple_of(4))),
        LinkType::NETANALYZER => by(Header::Ethernet, 4),
        LinkType::ERF => extensible_record(frame),
        LinkType::PPI | LinkType::PKTAP if may_name => ppi_or_pktap(link_type, frame),
        other if LinkType::RAW_BSD.contains(&other) => by(Header::Ip, 0),
        _ => Some(LinkPayload::Unknown),
    };
    found.unwrap_or(LinkPayload::Cut)
}

/// LINKTYPE_LINUX_SLL2: the protocol is the first field of 20 bytes.
fn linux_sll2(frame: &[u8]) -> Option<LinkPayload> {
    let protocol = u16_at(frame, 0)?;
    let header = match protocol {
        // Numbers of Linux for 802.2, as in SLL.
        0x0004 => Header::Llc,
        _ => Header::Of(protocol),
    };
    Some(walk(header, frame, 20))
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
    Some(classify_family(family.min(family.swap_bytes()), 4))
}

fn loopback_big_endian(frame: &[u8]) -> Option<LinkPayload> {
    Some(classify_family(ByteOrder::Big.u32(frame, 0)?, 4))
}

fn classify_family(family: u32, header_bytes: usize) -> LinkPayload {
    if family == AF_INET || AF_INET6.contains(&family) {
        LinkPayload::Ip { header_bytes }
    } else {
        LinkPayload::Other
    }
}

/// LINKTYPE_PPP_HDLC: the address distinguishes PPP from Cisco HDLC.
fn ppp_or_cisco(frame: &[u8]) -> Option<LinkPayload> {
    let header = match frame.first()? {
        0x0F | 0x8F => Header::CiscoHdlc,
        _ => Header::Ppp,
    };
    Some(walk(header, frame, 0))
}

/// Access control, frame control, two addresses; the highest bit of the source announces
/// routing, whose first byte holds its length.
fn token_ring(frame: &[u8]) -> Option<LinkPayload> {
    let is_routed = frame.get(8)? & 0x80 != 0;
    let routing = match is_routed {
        true => usize::from(frame.get(14)? & 0x1F),
        false => 0,
    };
    Some(walk(Header::Llc, frame, 14 + routing))
}

/// An address of two to four bytes (Q.922: the lowest bit ends it), control, and a network
/// layer protocol (RFC 2427).
fn frame_relay(frame: &[u8]) -> Option<LinkPayload> {
    let address = frame.iter().take(4).position(|byte| byte & 1 == 1)? + 1;
    Some(match frame.get(address..address + 2)? {
        [0x03, 0xCC | 0x8E] => LinkPayload::Ip {
            header_bytes: address + 2,
        },
        // Padded, then SNAP, of which LLC's first two bytes are left out.
        [0x03, 0x00] if frame.get(address + 2..address + 6)? == [0x80, 0, 0, 0] => {
            walk(Header::Ethertype, frame, address + 6)
        }
        _ => LinkPayload::Other,
    })
}

/// A Prism header, or one of AVS, which files labelled as Prism may hold: both state their
/// length in the second word.
fn radio_header(frame: &[u8]) -> Option<usize> {
    const AVS: u32 = 0x8021_1000;
    const AVS_VERSION: u32 = 0xFFF;
    let begin = ByteOrder::Big.u32(frame, 0)?;
    let bytes = if begin & !AVS_VERSION == AVS {
        ByteOrder::Big.u32(frame, 4)?
    } else {
        // In the byte order of the host: the smaller reading of a small number.
        let bytes = ByteOrder::Little.u32(frame, 4)?;
        bytes.min(bytes.swap_bytes())
    };
    usize::try_from(bytes).ok()
}

/// LINKTYPE_NFLOG: attributes of a length, a type and a value, padded to four bytes.
fn netfilter_log(frame: &[u8]) -> Option<LinkPayload> {
    const PAYLOAD: u16 = 9;
    const ATTRIBUTES_MAX: usize = 64;
    let family = u32::from(*frame.first()?);
    let mut at = 4;
    // The family is followed by attributes in the byte order of the host. The first length
    // is small.
    let first = ByteOrder::Little.u16(frame, at)?;
    let order = if first <= first.swap_bytes() {
        ByteOrder::Little
    } else {
        ByteOrder::Big
    };
    for _ in 0..ATTRIBUTES_MAX {
        let length = usize::from(order.u16(frame, at)?);
        if order.u16(frame, at + 2)? == PAYLOAD {
            return Some(classify_family(family, at + 4));
        }
        // A shorter one would not advance.
        if length < 4 {
            break;
        }
        at += length.next_multiple_of(4);
    }
    Some(LinkPayload::Other)
}

/// LINKTYPE_ERF: a header of 16 bytes, its extensions, two bytes of padding, Ethernet.
fn extensible_record(frame: &[u8]) -> Option<LinkPayload> {
    const HAS_EXTENSIONS: u8 = 0x80;
    const EXTENSIONS_MAX: usize = 16;
    let mut kind = *frame.get(8)?;
    let record = kind & !HAS_EXTENSIONS;
    let mut at = 16;
    for _ in 0..EXTENSIONS_MAX {
        if kind & HAS_EXTENSIONS == 0 {
            break;
        }
        kind = *frame.get(at)?;
        at += 8;
    }
    Some(match record {
        2 | 11 | 16 | 20 => walk(Header::Ethernet, frame, at + 2),
        22 | 23 => LinkPayload::Ip { header_bytes: at },
        _ => LinkPayload::Unknown,
    })
}

/// LINKTYPE_PPI and LINKTYPE_PKTAP: a length and another link type.
fn ppi_or_pktap(link_type: LinkType, frame: &[u8]) -> Option<LinkPayload> {
    let word = |at| ByteOrder::Little.u32(frame, at);
    let (bytes, inner) = if link_type == LinkType::PPI {
        let bytes = ByteOrder::Little.u16(frame, 2)?;
        (u32::from(bytes), word(4)?)
    } else {
        (word(0)?, word(8)?)
    };
    let bytes = usize::try_from(bytes).ok()?;
    let Ok(inner) = u16::try_from(inner) else {
        return Some(LinkPayload::Unknown);
    };
    Some(match of_link(LinkType(inner), frame.get(bytes..)?, false) {
        LinkPayload::Ip { header_bytes } => LinkPayload::Ip {
            header_bytes: bytes + header_bytes,
        },
        other => other,
    })
}
