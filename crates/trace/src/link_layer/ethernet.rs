//! Ethernet II and 802.3 with SNAP, with any VLAN tags (IEEE 802.1Q, 802.1ad).

use super::Carried;
use crate::field::u16_at;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// 802.1Q, 802.1ad, and what QinQ switches used before it.
const VLAN: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// More tags than anybody stacks.
const TAGS_MAX: usize = 8;
/// Smaller values are the length of an 802.3 frame.
const ETHERTYPE_MIN: u16 = 0x0600;
/// LLC of SNAP with the organisation that means ethertypes (RFC 1042).
const SNAP: [u8; 6] = [0xAA, 0xAA, 0x03, 0, 0, 0];

pub(super) fn carried(frame: &[u8]) -> Option<Carried> {
    tagged(frame, 12)
}

/// What the ethertype at `at` says, behind the tags that it may announce.
pub(super) fn tagged(frame: &[u8], mut at: usize) -> Option<Carried> {
    for _ in 0..=TAGS_MAX {
        let ethertype = u16_at(frame, at)?;
        if VLAN.contains(&ethertype) {
            at += 4;
        } else if ethertype < ETHERTYPE_MIN {
            return snap(frame, at + 2);
        } else {
            return Some(by_ethertype(ethertype, at + 2));
        }
    }
    Some(Carried::Other)
}

fn snap(frame: &[u8], at: usize) -> Option<Carried> {
    if frame.get(at..at + SNAP.len())? != SNAP {
        return Some(Carried::Other);
    }
    let at = at + SNAP.len();
    Some(by_ethertype(u16_at(frame, at)?, at + 2))
}

pub(super) fn by_ethertype(ethertype: u16, header_bytes: usize) -> Carried {
    match ethertype {
        IPV4 | IPV6 => Carried::Ip { header_bytes },
        _ => Carried::Other,
    }
}

pub(super) fn is_vlan(ethertype: u16) -> bool {
    VLAN.contains(&ethertype)
}
