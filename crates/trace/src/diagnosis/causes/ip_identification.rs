//! data-retransmission where the capture lacks the first sending: the packet was
//! lost before it came to the capture, and what is seen is its repetition, late.
//!
//! Linux and others count the packets of a connection in IPv4's identification.
//! Where one is missing, a packet was sent and did not come.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::Segment;
use crate::packet::Flags;

/// No more packets than this are lost in one go; a larger step is no count.
const MISSING_MAX: u16 = 1024;
/// A lone packet is not repeated sooner than this and a round trip (Linux,
/// TCP_RTO_MIN; RFC 6298 has 1 s), ns.
const TIMEOUT_MIN_NS: u64 = 190_000_000;
/// Steps by one before a missing number is believed, per step of another kind.
const COUNTER_AFTER: u32 = 2;

/// When a packet passed, and its number.
type At = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Missing {
    packets: u16,
    before: Option<At>,
    /// Of the packet that showed it, ns.
    shown_at: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    /// How many the last packet took: one that a card will segment takes several.
    step: u16,
    counted: u32,
    uncounted: u32,
    missing: Option<Missing>,
    newest: Option<At>,
}

impl Identifications {
    /// A packet; `full` is the payload of a full segment. Answers to SYNs have 0 on Linux.
    pub(crate) fn take(&mut self, segment: &Segment, full: u64) {
        let before = self.newest.replace((segment.at_ns, segment.packet));
        let is_answer = segment.flags.has(Flags::SYN) && segment.flags.has(Flags::ACK);
        let Some(number) = segment.identification.filter(|_| !is_answer) else {
            return;
        };
        if let Some(last) = self.last.replace(number) {
            match number.wrapping_sub(last).wrapping_sub(self.step) {
                0 => self.counted += 1,
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
        self.step = u64::from(segment.bytes).div_ceil(full.max(1)).clamp(1, 64) as u16;
    }

    /// What another connection between the same hosts has shown.
    pub(crate) fn learn(&mut self, other: &Identifications) {
        self.counted = self.counted.saturating_add(other.counted);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
    }

    /// Without what only concerns one connection.
    pub(crate) fn shared(&self) -> Identifications {
        Identifications {
            counted: self.counted,
            uncounted: self.uncounted,
            ..Identifications::default()
        }
    }

    fn is_counter(&self) -> bool {
        let others = self.uncounted.saturating_sub(1); // the one in question aside
        self.counted > others.saturating_mul(COUNTER_AFTER)
    }

    /// The newest packet shows that one before it is missing.
    pub(crate) fn shows_loss_now(&self) -> bool {
        let newest = self.newest.map(|(at, _)| at);
        self.is_counter()
            && self
                .missing
                .is_some_and(|missing| Some(missing.shown_at) == newest)
    }

    /// Payload came that itself shows what is missing.
    pub(crate) fn clear_missing(&mut self) {
        self.missing = None;
    }

    /// The time that the payload in `segment`, in order and seen for the first time,
    /// came late, if it is a repetition. `peer_payload`: the payload of the other side that it
    /// may answer. A lone missing packet may have been an acknowledgment: only a
    /// timeout shows that it was not.
    pub(crate) fn stall(
        &mut self,
        segment: &Segment,
        peer_payload: Option<At>,
        path: &Path,
    ) -> Option<Stall> {
        let missing = self.missing.take().filter(|_| self.is_counter())?;
        if segment.at_ns - missing.shown_at > path.round_trip() + path.slack(segment.direction) {
            return None;
        }
        let sender_rtt = path.sender_rtt(segment.direction);
        let peer_payload = peer_payload.map(|(at, packet)| (at + sender_rtt, packet));
        let (from, packet) = missing.before.max(peer_payload)?;
        let ns = segment.at_ns.checked_sub(from)?;
        let least = match missing.packets {
            1 => TIMEOUT_MIN_NS,
            _ => (path.round_trip() * 3 / 2).max(1_000_000),
        };
        (ns >= least).then_some(Stall {
            cause: Cause::DataRetransmission,
            direction: segment.direction,
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
