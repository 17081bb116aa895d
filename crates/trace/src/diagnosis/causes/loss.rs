//! data-retransmission: payload that had to be sent again.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Sender, Sent};
use crate::diagnosis::stall::{Stall, Stalls};
use crate::flow::event::Segment;

/// Holes, and repetitions without an answer yet, that are remembered.
const PENDING_MAX: usize = 32;
/// Where round trips are not known: packets that overtake each other are not this far apart, ns.
const UNKNOWN_RTT_REORDERING_NS: u64 = 50_000_000;
/// No sender repeats sooner, whatever the round trip, ns.
const RETRANSMISSION_MIN_NS: u64 = 150_000;

/// Bytes that did not pass the capture when their turn was.
#[derive(Debug, Clone, Copy)]
struct Hole {
    start: u64,
    end: u64,
    since: u64,
    packet: u64,
}

#[derive(Debug, Clone, Copy)]
struct Retransmission {
    stall: Stall,
    /// The window was full: a receiver that does not read may have discarded them.
    into_full_window: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Losses {
    holes: Vec<Hole>,
    retransmissions: Vec<Retransmission>,
}

impl Losses {
    pub(crate) fn is_recovering(&self) -> bool {
        !self.holes.is_empty() || !self.retransmissions.is_empty()
    }

    /// `after` came, and the bytes from `start` up to it had not. They should have
    /// come with it, or, where it came alone, after the last before it.
    pub(crate) fn missing(&mut self, start: u64, after: &Sent, last: Option<&Sent>, path: &Path) {
        if self.holes.len() == PENDING_MAX {
            return;
        }
        let alone = last.filter(|last| after.at.saturating_sub(last.at) > path.round_trip());
        self.holes.push(Hole {
            start,
            end: after.offset,
            since: alone.map_or(after.at, |last| last.at),
            packet: after.packet,
        });
    }

    /// Payload below what was sent already: it fills a hole, or was sent again. True
    /// where that means a loss.
    pub(crate) fn retransmitted(
        &mut self,
        sender: &mut Sender,
        segment: &Segment,
        path: &Path,
        stalls: &mut Stalls,
    ) -> bool {
        self.fill(segment, sender, path, stalls) || self.sent_again(sender, segment, path)
    }

    /// True when the segment fills a hole, late or not.
    fn fill(
        &mut self,
        segment: &Segment,
        sender: &Sender,
        path: &Path,
        stalls: &mut Stalls,
    ) -> bool {
        let (start, end) = (segment.offset, segment.end());
        let Some(place) = self
            .holes
            .iter()
            .position(|hole| start < hole.end && end > hole.start)
        else {
            return false;
        };
        let hole = self.holes.remove(place);
        for (start, end) in [(hole.start, start), (end, hole.end)] {
            if start < end {
                self.holes.push(Hole { start, end, ..hole });
            }
        }
        if segment.at_ns.saturating_sub(hole.since) >= reordering_ns(path) {
            stalls.push(Stall {
                cause: Cause::DataRetransmission,
                direction: sender.direction,
                from: hole.since,
                released: segment.at_ns,
                to: segment.at_ns,
                ns: segment.at_ns - hole.since,
                late: (start, sender.next),
                stream: None,
                packets: [hole.packet, 0, segment.packet],
            });
        }
        true
    }

    /// A second time, after a time in which no network delivers a packet twice, and
    /// not into a closed window (RFC 9293 section 3.8.6.1). Where bytes before it are
    /// not acknowledged either, it is a probe (RFC 8985 section 7): what was lost, if
    /// anything, comes next. Whether it was in vain shows with its acknowledgment.
    fn sent_again(&mut self, sender: &mut Sender, segment: &Segment, path: &Path) -> bool {
        let next = sender.next;
        let place = sender
            .unacknowledged
            .partition_point(|sent| sent.end <= segment.offset);
        let Some(first) = sender.unacknowledged.get_mut(place) else {
            return false; // acknowledged before
        };
        // Its acknowledgment no longer measures a round trip (Karn and Partridge 1987).
        first.is_retransmitted = true;
        let (from, packet) = (first.at, first.packet);
        let waited = segment.at_ns.saturating_sub(from);
        let is_soon = waited < (path.round_trip() * 7 / 10).max(RETRANSMISSION_MIN_NS);
        let is_full = self.retransmissions.len() == PENDING_MAX;
        if is_soon || is_full || place > 0 || sender.windows.is_closed() {
            return false;
        }
        // A receiver without buffer space discards what is sent beyond it
        // its window; that is no loss of the network.
        let into_full_window = sender.advertisements.limit() < next + sender.full_segment();
        let stall = Stall {
            cause: Cause::DataRetransmission,
            direction: sender.direction,
            from,
            released: segment.at_ns,
            to: segment.at_ns,
            ns: segment.at_ns - from,
            late: (segment.offset, next),
            stream: None,
            packets: [packet, 0, segment.packet],
        };
        self.retransmissions.push(Retransmission {
            stall,
            into_full_window,
        });
        true
    }

    /// A packet of the receiver. An answer that comes sooner than the second sending
    /// could have caused it is to the first: nothing was lost. One that comes after
    /// `not_reading_ns`, where the window was full, waited for a read.
    pub(crate) fn acknowledged(
        &mut self,
        segment: &Segment,
        receiver_rtt_ns: u64,
        not_reading_ns: u64,
        stalls: &mut Stalls,
    ) {
        self.holes.retain(|hole| hole.end > segment.acknowledged);
        self.retransmissions.retain(|sent| {
            if sent.stall.late.0 >= segment.acknowledged {
                return true;
            }
            let answer = segment.at_ns.saturating_sub(sent.stall.to);
            let was_not_reading =
                sent.into_full_window && answer >= receiver_rtt_ns + not_reading_ns;
            if answer >= receiver_rtt_ns / 2 && !was_not_reading {
                stalls.push(sent.stall);
            }
            false
        });
    }

    /// The receiver has reported that it had everything below `end` before it was sent again.
    pub(crate) fn mark_spurious(&mut self, end: u64) {
        self.retransmissions.retain(|sent| sent.stall.late.0 >= end);
    }

    /// Those whose answer has not come; they count.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &Stall> {
        self.retransmissions.iter().map(|sent| &sent.stall)
    }

    /// The capture lacks everything below `end` that it has not shown.
    pub(crate) fn forget(&mut self, end: u64) {
        self.holes.retain(|hole| hole.end > end);
    }
}

/// What comes later than this after its turn was not merely overtaken, ns: a sender
/// must hear of a loss first.
fn reordering_ns(path: &Path) -> u64 {
    if path.is_known() {
        (path.round_trip() * 3 / 4).max(RETRANSMISSION_MIN_NS)
    } else {
        UNKNOWN_RTT_REORDERING_NS
    }
}
