//! The headers between a frame's first byte, or the head of a tunnel, and the IP packet.

use super::byte_order::{ByteOrder, u16_at};

/// Where the IP packet is, or why none is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPayload {
    /// An IP packet of either version behind headers of this length.
    Ip {
        /// All headers before it, bytes.
        header_bytes: usize,
    },
    /// Something else.
    Other,
    /// It is encrypted.
    Encrypted,
    /// The capture holds too little of the frame.
    Cut,
    /// A link type that is not read here.
    Unknown,
}

/// What a header is, by the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// Two addresses and an ethertype.
    Ethernet,
    /// An ethertype, and what it announces behind it.
    Ethertype,
    /// What that ethertype announces.
    Of(u16),
    /// IEEE 802.2.
    Llc,
    /// A stack of labels.
    Mpls,
    /// PPPoE (RFC 2516) from its version on.
    Pppoe,
    /// PPP (RFC 1661), with or without HDLC's address and control.
    Ppp,
    /// Cisco HDLC.
    CiscoHdlc,
    /// IEEE 802.11.
    Wireless {
        /// The header is padded to four bytes.
        is_padded: bool,
    },
    /// Here.
    Ip,
}

/// More headers than any network stacks between two IP headers. A hostile frame may repeat
/// one to its end.
const HEADERS_MAX: usize = 16;

/// Follows the headers from `at` on.
#[cold]
pub(super) fn walk(mut header: Header, frame: &[u8], mut at: usize) -> LinkPayload {
    for _ in 0..HEADERS_MAX {
        let step = match header {
            Header::Ip => return LinkPayload::Ip { header_bytes: at },
            Header::Ethernet => Some(Step::To(Header::Ethertype, at + 12)),
            Header::Ethertype => ethertype(frame, at),
            Header::Of(value) => Some(follow_ethertype(value, at)),
            Header::Llc => llc(frame, at),
            Header::Mpls => mpls(frame, at),
            Header::Pppoe => pppoe(frame, at),
            Header::Ppp => ppp(frame, at),
            Header::CiscoHdlc => cisco_hdlc(frame, at),
            Header::Wireless { is_padded } => wireless(frame, at, is_padded),
        };
        match step {
            Some(Step::To(next, place)) => (header, at) = (next, place),
            Some(Step::End(payload)) => return payload,
            None => return LinkPayload::Cut,
        }
    }
    LinkPayload::Other
}

/// The next header and where it begins, or the end. None where the frame is cut.
enum Step {
    To(Header, usize),
    End(LinkPayload),
}

const OTHER: Step = Step::End(LinkPayload::Other);

mod ethertypes {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86DD;
    /// 802.1Q, 802.1ad, and what QinQ switches used before it.
    pub(super) const VLAN: [u16; 3] = [0x8100, 0x88A8, 0x9100];
    /// Transparent Ethernet Bridging (RFC 1701).
    pub(super) const BRIDGED: u16 = 0x6558;
    pub(super) const PPP: u16 = 0x880B;
    pub(super) const MPLS: [u16; 2] = [0x8847, 0x8848];
    pub(super) const PPPOE_SESSION: u16 = 0x8864;
    /// Provider backbone bridges (IEEE 802.1ah): a tag of four bytes, then Ethernet.
    pub(super) const BACKBONE: u16 = 0x88E7;
    /// Cisco FabricPath: the numbers of a tree and a limit of hops, then Ethernet.
    pub(super) const FABRIC_PATH: u16 = 0x8903;
    /// Smaller values are the length of an 802.3 frame (IEEE 802.3 section 3.2.6).
    pub(super) const MIN: u16 = 0x0600;
}

fn ethertype(frame: &[u8], at: usize) -> Option<Step> {
    let value = u16_at(frame, at)?;
    Some(if value < ethertypes::MIN {
        Step::To(Header::Llc, at + 2)
    } else {
        follow_ethertype(value, at + 2)
    })
}

fn follow_ethertype(value: u16, at: usize) -> Step {
    use ethertypes::{BACKBONE, BRIDGED, FABRIC_PATH, IPV4, IPV6, MPLS, PPP, PPPOE_SESSION, VLAN};
    let (header, at) = match value {
        IPV4 | IPV6 => (Header::Ip, at),
        value if VLAN.contains(&value) => (Header::Ethertype, at + 2),
        value if MPLS.contains(&value) => (Header::Mpls, at),
        PPPOE_SESSION => (Header::Pppoe, at),
        PPP => (Header::Ppp, at),
        BRIDGED => (Header::Ethernet, at),
        BACKBONE => (Header::Ethernet, at + 4),
        FABRIC_PATH => (Header::Ethernet, at + 2),
        _ => return OTHER,
    };
    Step::To(header, at)
}

/// SNAP with the organisation that means ethertypes (RFC 1042), or its own number for IP.
fn llc(frame: &[u8], at: usize) -> Option<Step> {
    const SNAP: [u8; 6] = [0xAA, 0xAA, 0x03, 0, 0, 0];
    const IP: [u8; 3] = [0x06, 0x06, 0x03];
    if frame.get(at..at + IP.len())? == IP {
        return Some(Step::To(Header::Ip, at + IP.len()));
    }
    Some(if frame.get(at..at + SNAP.len())? == SNAP {
        Step::To(Header::Ethertype, at + SNAP.len())
    } else {
        OTHER
    })
}

/// Labels up to the bottom of the stack (RFC 3032). No label states what is below it: IP
/// shows its version; 0 begins the control word of a pseudowire (RFC 4385), which carries
/// Ethernet (RFC 4448); so does one without a control word.
fn mpls(frame: &[u8], mut at: usize) -> Option<Step> {
    const LABELS_MAX: usize = 16;
    for _ in 0..LABELS_MAX {
        let is_bottom = frame.get(at + 2)? & 1 == 1;
        at += 4;
        if is_bottom {
            return Some(match frame.get(at)? >> 4 {
                4 | 6 => Step::To(Header::Ip, at),
                0 => Step::To(Header::Ethernet, at + 4),
                1 => OTHER, // an associated channel (RFC 4385 section 5)
                _ => Step::To(Header::Ethernet, at),
            });
        }
    }
    Some(OTHER)
}

/// A session packet: version and type, code, session, length.
fn pppoe(frame: &[u8], at: usize) -> Option<Step> {
    let [version_and_type, code] = *frame.get(at..)?.first_chunk()?;
    Some(if version_and_type == 0x11 && code == 0 {
        Step::To(Header::Ppp, at + 6)
    } else {
        OTHER
    })
}

/// Address and control may be left out, and so may the first byte of the protocol where it
/// is 0 (RFC 1661 section 6.5): the last one is odd.
fn ppp(frame: &[u8], at: usize) -> Option<Step> {
    const ADDRESS_AND_CONTROL: [u8; 2] = [0xFF, 0x03];
    let at = match frame.get(at..at + 2)? {
        begin if begin == ADDRESS_AND_CONTROL => at + 2,
        _ => at,
    };
    let (protocol, at) = match *frame.get(at)? {
        low if low & 1 == 1 => (u16::from(low), at + 1),
        _ => (u16_at(frame, at)?, at + 2),
    };
    Some(match protocol {
        0x0021 | 0x0057 => Step::To(Header::Ip, at),
        0x0281 | 0x0283 => Step::To(Header::Mpls, at),
        0x0053 => Step::End(LinkPayload::Encrypted), // RFC 1968
        _ => OTHER,
    })
}

/// Address (unicast or broadcast), control, ethertype.
fn cisco_hdlc(frame: &[u8], at: usize) -> Option<Step> {
    Some(match frame.get(at..at + 2)? {
        [0x0F | 0x8F, 0] => Step::To(Header::Ethertype, at + 2),
        _ => OTHER,
    })
}

/// Data frames (IEEE 802.11 section 9.3.2). Of an aggregate (A-MSDU) the first part is read.
fn wireless(frame: &[u8], at: usize, is_padded: bool) -> Option<Step> {
    let [control, flags] = *frame.get(at..)?.first_chunk()?;
    let (is_data, carries_data) = (control & 0x0F == 0x08, control & 0x40 == 0);
    if !is_data || !carries_data {
        return Some(OTHER);
    }
    let has_qos = control & 0x80 != 0;
    let between_access_points = flags & 0x03 == 0x03;
    let mut bytes = 24 + 6 * usize::from(between_access_points);
    let mut is_aggregate = false;
    if has_qos {
        is_aggregate = frame.get(at + bytes)? & 0x80 != 0;
        let has_high_throughput = flags & 0x80 != 0;
        bytes += 2 + 4 * usize::from(has_high_throughput);
    }
    if is_padded {
        bytes = bytes.next_multiple_of(4);
    }
    let is_protected = flags & 0x40 != 0;
    // A capturing host that decrypts leaves the flag, and what follows is plain.
    let body = at + bytes;
    let begins_snap = frame.get(body..body + 2) == Some(&[0xAA, 0xAA]);
    if is_protected && !begins_snap {
        return Some(Step::End(LinkPayload::Encrypted));
    }
    // Two addresses and a length before each part.
    Some(Step::To(Header::Llc, body + 14 * usize::from(is_aggregate)))
}

/// The length of a radiotap header, and whether the frame behind it is padded.
pub(super) fn radiotap(frame: &[u8]) -> Option<(usize, bool)> {
    const EXTENDED: u32 = 1 << 31;
    const TIMESTAMP: u32 = 1;
    const FLAGS: u32 = 2;
    const PADDED: u8 = 0x20;
    let bytes = usize::from(ByteOrder::Little.u16(frame, 2)?);
    let present = ByteOrder::Little.u32(frame, 4)?;
    let (mut at, mut word) = (8, present);
    // Bounded by the length of the header, 16 bits.
    while word & EXTENDED != 0 && at < bytes {
        word = ByteOrder::Little.u32(frame, at)?;
        at += 4;
    }
    if present & TIMESTAMP != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let is_padded = present & FLAGS != 0 && at < bytes && frame.get(at)? & PADDED != 0;
    Some((bytes, is_padded))
}
