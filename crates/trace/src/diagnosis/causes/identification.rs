//! Packets that were lost before the capture, by IPv4's identification.
//!
//! Some systems count the packets of each connection there, others those of the host or of a
//! destination; it may also be 0, constant or random, and IPv6 has none (RFC 6864 asks only
//! for uniqueness). A missing number is evidence only of a sender that counts per connection:
//! other connections of the two hosts sent packets in between, and the numbers went on by
//! one. Even then the packet may have been an acknowledgment, so that what followed must
//! agree: the payload of the other side stayed without an acknowledgment for as long as a
//! timer takes, or payload came that much late. A pause that is longer is of the application.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::causes::connection_setup::At;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment};
use crate::packet::Flags;

/// Largest number of packets lost together; a larger step shows that the numbers do not count
/// packets.
const MISSING_MAX: u16 = 1024;
/// A lone packet is not repeated sooner than this and a round trip (Linux,
/// TCP_RTO_MIN; RFC 6298 has 1 s), ns.
const TIMEOUT_MIN_NS: u64 = 190_000_000;
/// A first timeout takes at most this and two round trips (RFC 6298 section 2), ns.
const TIMEOUT_MAX_NS: u64 = 1_000_000_000;
/// Steps by one before a missing number is believed, per step of another kind.
const COUNTER_AFTER: u32 = 2;
/// Steps by one over packets of other connections that show that each connection counts for itself.
const INDEPENDENT_MIN: u32 = 2;
/// A capture sees a side this many times sooner than the whole round trip takes where it is at
/// that side: nothing is lost before it.
const AT_SENDER_DIVISOR: u64 = 4;

#[derive(Debug, Clone, Copy)]
struct Missing {
    packets: u16,
    before: Option<At>,
    /// Of the packet that showed it, ns.
    shown_at: u64,
}

/// The numbers of one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    /// How many the last packet took: one that a card will segment takes several.
    step: u16,
    counted: u32,
    uncounted: u32,
    /// Of `counted`, those over packets of other connections.
    independent: u32,
    /// Another connection of the same hosts sent a packet since the last.
    is_interleaved: bool,
    missing: Option<Missing>,
    newest: Option<At>,
}

/// What surrounds payload that may have come late.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Late {
    /// The newest payload of the other side.
    pub(crate) peer_payload: Option<At>,
    /// The oldest of that payload that only this segment acknowledges, ns.
    pub(crate) unacknowledged_since: Option<u64>,
}

impl Identifications {
    /// Another connection between the same hosts sent a packet the same way.
    pub(crate) fn interleave(&mut self) {
        self.is_interleaved = true;
    }

    /// A packet; `full` is the payload of a full segment. Answers to SYNs have 0 on Linux.
    pub(crate) fn take(&mut self, segment: &Segment, full: u64) {
        let before = self.newest.replace((segment.at_ns, segment.packet));
        let is_interleaved = std::mem::take(&mut self.is_interleaved);
        let is_answer = segment.flags.has(Flags::SYN) && segment.flags.has(Flags::ACK);
        let Some(number) = segment.identification.filter(|_| !is_answer) else {
            return;
        };
        if let Some(last) = self.last.replace(number) {
            // 16 bits that wrap.
            match number.wrapping_sub(last).wrapping_sub(self.step) {
                0 => {
                    self.counted += 1;
                    self.independent += u32::from(is_interleaved);
                }
                packets @ 1..=MISSING_MAX => {
                    self.uncounted += 1;
                    self.missing = Some(Missing {
                        packets,
                        before,
                        shown_at: segment.at_ns,
                    });
                }
                _ => self.uncounted += 1,
            }
        }
        // With segmentation offload one captured packet leaves as several, each with a
        // number of its own. A card cuts 64 KiB at most.
        let bytes = u64::from(segment.bytes);
        self.step = match bytes <= full {
            true => 1,
            false => bytes.div_ceil(full.max(1)).clamp(1, 64) as u16,
        };
    }

    /// What another connection between the same hosts has shown.
    pub(crate) fn learn(&mut self, other: &Identifications) {
        self.counted = self.counted.saturating_add(other.counted);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
        self.independent = self.independent.saturating_add(other.independent);
    }

    /// Without what only concerns one connection.
    pub(crate) fn shared(&self) -> Identifications {
        Identifications {
            counted: self.counted,
            uncounted: self.uncounted,
            independent: self.independent,
            ..Identifications::default()
        }
    }

    /// Its sender counts, as far as the numbers of this connection show.
    fn is_counter(&self) -> bool {
        let others = self.uncounted.saturating_sub(1); // the one in question aside
        self.counted > others.saturating_mul(COUNTER_AFTER)
    }

    /// And it counts the packets of each connection apart.
    fn is_per_connection(&self) -> bool {
        self.is_counter() && self.independent >= INDEPENDENT_MIN
    }

    /// The newest packet shows that one before it is missing.
    pub(crate) fn shows_loss_now(&self) -> bool {
        let newest = self.newest.map(|(at, _)| at);
        self.is_per_connection()
            && self
                .missing
                .is_some_and(|missing| Some(missing.shown_at) == newest)
    }

    /// Payload came that itself shows what is missing.
    pub(crate) fn clear_missing(&mut self) {
        self.missing = None;
    }

    /// The time that the payload in `segment`, in order and seen for the first time, came
    /// late, if it is a repetition.
    pub(crate) fn stall(&mut self, segment: &Segment, late: Late, path: &Path) -> Option<Stall> {
        let missing = self.missing.take().filter(|_| self.is_counter())?;
        let direction = segment.direction;
        let delayed = segment.at_ns - missing.shown_at > path.round_trip() + path.slack(direction);
        if delayed || is_at_sender(direction, path) {
            return None;
        }
        let sender_rtt = path.sender_rtt(direction);
        let least = match missing.packets {
            1 => TIMEOUT_MIN_NS,
            _ => (path.round_trip() * 3 / 2).max(1_000_000),
        };
        // A kernel acknowledges sooner, whatever its application does (RFC 1122 section
        // 4.2.3.2): the acknowledgment was lost with the payload.
        let is_unacknowledged = late.unacknowledged_since.is_some_and(|since| {
            segment.at_ns.saturating_sub(since) >= TIMEOUT_MIN_NS + sender_rtt
        });
        let peer_payload = late
            .peer_payload
            .map(|(at, packet)| (at + sender_rtt, packet));
        let (from, packet) = missing.before.max(peer_payload)?;
        let ns = segment.at_ns.checked_sub(from)?;
        let is_timeout =
            self.is_per_connection() && ns <= TIMEOUT_MAX_NS.saturating_add(2 * path.round_trip());
        // It is in order: nothing behind what was lost had come.
        let is_late = ns >= least && (is_unacknowledged || is_timeout);
        is_late.then_some(Stall {
            cause: Cause::TailLoss,
            direction,
            from,
            released: segment.at_ns,
            to: segment.at_ns,
            ns,
            late: (segment.offset, segment.end()),
            stream: None,
            packets: [packet, 0, segment.packet],
        })
    }
}

/// The capture is where the sender is.
fn is_at_sender(direction: Direction, path: &Path) -> bool {
    path.is_known() && path.sender_rtt(direction) < path.round_trip() / AT_SENDER_DIVISOR
}
