//! Packets that a capture holds more than once.
//!
//! A mirror port copies a packet where it enters a switch and where it leaves; the interface
//! `any` of Linux shows it on a bridge and on its members; a tunnel shows it within and
//! without. Such a copy was sent once and is not a retransmission. It is a copy if all of this
//! holds:
//!
//! - it has the ends, the numbers, flags, window, length, and beginning of the payload of a
//!   packet that came less than half a round trip before. A sender cannot have noticed a loss
//!   by then;
//! - link header, tunnel or hop limit differ. An unchanged one can also be a packet that the
//!   network duplicated;
//! - it has the identification of that packet (RFC 791). Where that is 0 or missing (IPv6),
//!   equal timestamps (RFC 7323) take its place.
//!
//! Two hops of a proxy or of a NAT have other ends: these are two connections.

use crate::packet::{Packet, tcp};

/// Packets that are remembered. A mirror port delays a copy by few others.
const PLACES: usize = 1024;

/// A packet, as far as a copy must agree with it.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Of all that a copy has from the packet.
    same: u64,
    /// What a copy may change: link header and hop limit.
    way: u64,
    at_ns: u64,
}

/// The last packets of all connections. One place holds one packet: of two that have the
/// same place the older is forgotten, and a copy of it counts as a packet.
pub(super) struct Copies {
    places: Box<[Seen; PLACES]>,
}

/// What is known of a connection and the sender of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    /// Names the direction of the connection.
    pub(super) name: u64,
    /// Packets within less than this cannot have been sent again, ns.
    pub(super) within_ns: u64,
    /// Copies of others were found on this connection.
    pub(super) has_copies: bool,
}

impl Default for Copies {
    fn default() -> Copies {
        Copies {
            places: Box::new([Seen::default(); PLACES]),
        }
    }
}

impl Copies {
    /// Whether this packet is a copy; remembers it.
    #[inline(always)]
    pub(super) fn is_copy(&mut self, packet: &Packet<'_>, sender: Sender) -> bool {
        let seen = Seen::of(packet, sender.name);
        let before = std::mem::replace(&mut self.places[seen.place()], seen);
        seen.repeats(&before, sender) && proves(packet, sender)
    }

    /// The same, without remembering it.
    #[cold]
    pub(super) fn has(&self, packet: &Packet<'_>, sender: Sender) -> bool {
        let seen = Seen::of(packet, sender.name);
        seen.repeats(&self.places[seen.place()], sender) && proves(packet, sender)
    }
}

#[cold]
fn proves(packet: &Packet<'_>, sender: Sender) -> bool {
    matches!(packet.identification, Some(1..))
        || sender.has_copies
        || tcp::has_timestamps(packet.options)
}

impl Seen {
    #[inline]
    fn of(packet: &Packet<'_>, name: u64) -> Seen {
        let sequences = u64::from(packet.sequence) << 32 | u64::from(packet.acknowledgment);
        let identification = packet.identification.unwrap_or(0);
        let others = u64::from(identification) << 48
            | u64::from(packet.window) << 32
            | u64::from(packet.flags.0) << 24
            | u64::from(packet.payload_bytes & 0x00FF_FFFF);
        // Of the options the timestamps matter most, which are at their end.
        let content = match identification {
            0 => begin(packet.payload) ^ end(packet.options),
            _ => begin(packet.payload),
        };
        Seen {
            same: spread(spread(spread(sequences ^ name) ^ others) ^ content),
            way: packet.way,
            at_ns: packet.at_ns,
        }
    }

    #[inline]
    fn place(&self) -> usize {
        (self.same >> 32) as usize % PLACES
    }

    #[inline]
    fn repeats(&self, before: &Seen, sender: Sender) -> bool {
        before.same == self.same
            && before.way != self.way
            && self.at_ns.abs_diff(before.at_ns) < sender.within_ns
    }
}

/// 2^64 over the golden ratio, which is odd. Its product has the best bits at its upper end, the
/// shift takes them to the lower.
#[inline]
fn spread(word: u64) -> u64 {
    let product = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ product >> 32
}

/// The first eight bytes; 0 where there are fewer.
#[inline]
fn begin(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |word| u64::from_le_bytes(*word))
}

/// The last eight bytes; 0 where there are fewer.
#[inline]
fn end(bytes: &[u8]) -> u64 {
    bytes
        .last_chunk()
        .map_or(0, |word| u64::from_le_bytes(*word))
}
