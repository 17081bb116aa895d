//! Linux cooked captures, as the interface `any` makes them: LINKTYPE_LINUX_SLL
//! and LINKTYPE_LINUX_SLL2.

use super::{Carried, ethernet};
use crate::field::u16_at;

/// Version 1: the protocol is the last field of 16 bytes.
pub(super) fn carried(frame: &[u8]) -> Option<Carried> {
    ethernet::tagged(frame, 14)
}

/// Version 2: the protocol is the first field of 20 bytes.
pub(super) fn carried_2(frame: &[u8]) -> Option<Carried> {
    let protocol = u16_at(frame, 0)?;
    if ethernet::is_vlan(protocol) {
        // The tag's number, and the protocol behind it.
        return ethernet::tagged(frame, 22);
    }
    Some(ethernet::by_ethertype(protocol, 20))
}
