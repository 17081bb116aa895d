//! BSD loopback: four bytes of address family (LINKTYPE_NULL, LINKTYPE_LOOP).

use super::Carried;
use crate::field::Order;

const INET: u32 = 2;
/// Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
const INET6: [u32; 5] = [10, 23, 24, 28, 30];

/// In the byte order of the host, which the file does not tell: families are
/// small numbers.
pub(super) fn carried(frame: &[u8]) -> Option<Carried> {
    let family = Order::Little.u32(frame, 0)?;
    Some(by_family(family.min(family.swap_bytes())))
}

pub(super) fn carried_big_endian(frame: &[u8]) -> Option<Carried> {
    Some(by_family(Order::Big.u32(frame, 0)?))
}

fn by_family(family: u32) -> Carried {
    if family == INET || INET6.contains(&family) {
        Carried::Ip { header_bytes: 4 }
    } else {
        Carried::Other
    }
}
