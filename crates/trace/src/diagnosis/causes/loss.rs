//! data-retransmission and tail-loss: payload that had to be sent again. reordering: packets
//! that were overtaken. spurious-retransmission: payload that was sent again and had arrived.
//!
//! Where the capture lacks the first sending, the packet was lost before it came to the
//! capture, and what is seen is its repetition, late ([`super::identification`]).

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Sender, Sent};
use crate::diagnosis::stall::{Stall, Stalls};
use crate::flow::event::{Segment, SegmentKind};

/// Repetitions without an answer yet that are remembered.
const PENDING_MAX: usize = 32;
/// Holes that are remembered. Each segment out of order may divide one, and looks through
/// them: without a bound a capture whose segments are all out of order takes quadratic time.
const HOLES_MAX: usize = 256;
/// Where round trips are not known: packets that overtake each other are not this far apart, ns.
const UNKNOWN_RTT_REORDERING_NS: u64 = 50_000_000;
/// No sender repeats sooner, whatever the round trip, ns.
const RETRANSMISSION_MIN_NS: u64 = 150_000;

/// The timer of a sender, without its round trips, ns.
const TIMEOUT_NS: u64 = 250_000_000;

/// Bytes that did not pass the capture when their turn was.
#[derive(Debug, Clone, Copy)]
struct Hole {
    start: u64,
    end: u64,
    since: u64,
    packet: u64,
    /// The first packet that repeated the acknowledgment of all before it; 0: none yet.
    asked: u64,
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
    /// Sent again although it was acknowledged; the answer has not come.
    unneeded: Option<Stall>,
    /// The newest that was sent again while bytes before it were not acknowledged.
    probe: Option<Retransmission>,
    /// When the receiver last acknowledged the same bytes again, ns.
    asked_at: u64,
    /// The receiver was heard: the capture has both directions.
    has_heard: bool,
}

impl Losses {
    pub(crate) fn is_recovering(&self) -> bool {
        !self.holes.is_empty() || !self.retransmissions.is_empty()
    }

    /// `after` came, and the bytes from `start` up to it had not. They should have
    /// come with it, or, where it came alone, after the last before it.
    pub(crate) fn add_hole(&mut self, start: u64, after: &Sent, last: Option<&Sent>, path: &Path) {
        if self.holes.len() == HOLES_MAX {
            return;
        }
        let alone = last.filter(|last| after.at.saturating_sub(last.at) > path.round_trip());
        // What a timer has not repeated by then was not sent yet: the sender was idle before.
        let earliest = after.at.saturating_sub(timeout_ns(path));
        self.holes.push(Hole {
            start,
            end: after.offset,
            since: alone.map_or(after.at, |last| last.at.max(earliest)),
            packet: after.packet,
            asked: 0,
        });
    }

    /// A packet of the receiver that acknowledges nothing new: it asks for what is missing
    /// (RFC 5681 section 2).
    pub(crate) fn note_duplicate_acknowledgment(&mut self, segment: &Segment) {
        if segment.kind != SegmentKind::Acknowledgment {
            return;
        }
        self.asked_at = segment.at_ns;
        let missing = self
            .holes
            .iter_mut()
            .find(|hole| hole.asked == 0 && hole.start == segment.acknowledged);
        if let Some(hole) = missing {
            hole.asked = segment.packet;
        }
    }

    /// Payload below what was sent already: it fills a hole, or was sent again. True
    /// where that means a loss.
    pub(crate) fn take_retransmission(
        &mut self,
        sender: &mut Sender,
        segment: &Segment,
        path: &Path,
        stalls: &mut Stalls,
    ) -> bool {
        self.fill_hole(segment, sender, path, stalls)
            || self.note_retransmission(sender, segment, path)
    }

    /// True when the segment fills a hole, late or not.
    fn fill_hole(
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
            if start < end && self.holes.len() < HOLES_MAX {
                // A segment may fill a hole in part; the rest remains one.
                self.holes.push(Hole { start, end, ..hole });
            }
        }
        let ns = segment.at_ns.saturating_sub(hole.since);
        stalls.push(Stall {
            cause: if ns >= max_reordering_ns(path) {
                Cause::DataRetransmission
            } else {
                Cause::Reordering
            },
            direction: sender.direction,
            from: hole.since,
            released: segment.at_ns,
            to: segment.at_ns,
            ns,
            late: (start, sender.next),
            stream: None,
            packets: [hole.packet, hole.asked, segment.packet],
        });
        true
    }

    /// A second time, after a time in which no network delivers a packet twice, and
    /// not into a closed window (RFC 9293 section 3.8.6.1). Where bytes before it are
    /// not acknowledged either, it is a probe (RFC 8985 section 7): whether anything was lost
    /// shows with its acknowledgment.
    fn note_retransmission(&mut self, sender: &mut Sender, segment: &Segment, path: &Path) -> bool {
        let next = sender.next;
        let place = sender
            .unacknowledged
            .partition_point(|sent| sent.end <= segment.offset);
        let Some(first) = sender.unacknowledged.get_mut(place) else {
            self.note_spurious(sender, segment, path);
            return false;
        };
        // Its acknowledgment no longer measures a round trip (Karn and Partridge 1987). What is
        // sent a third time waited since the second: no moment is counted twice.
        let sent_before = first.repeated.replace((segment.at_ns, segment.packet));
        let (from, packet) = sent_before.unwrap_or((first.at, first.packet));
        let waited = segment.at_ns.saturating_sub(from);
        // Sooner than the answer to the first sending could come, the network
        // duplicated it.
        let is_soon = waited < min_retransmission_ns(path);
        let is_full = self.retransmissions.len() == PENDING_MAX;
        if is_soon || is_full || sender.windows.is_closed() {
            return false;
        }
        // A receiver without buffer space discards what is sent beyond it
        // its window; that is not a loss of the network.
        let into_full_window = sender.advertisements.limit() < next + sender.full_segment();
        // Where the receiver asked for nothing meanwhile, nothing behind the lost bytes came.
        let is_tail = self.has_heard && self.asked_at < from;
        let is_last = segment.end() == next || place == 0;
        let sent = Retransmission {
            stall: Stall {
                cause: if is_tail && is_last {
                    Cause::TailLoss
                } else {
                    Cause::DataRetransmission
                },
                direction: sender.direction,
                from,
                released: segment.at_ns,
                to: segment.at_ns,
                ns: waited,
                late: (
                    segment.offset,
                    if place == 0 { next } else { segment.end() },
                ),
                stream: None,
                packets: [packet, 0, segment.packet],
            },
            into_full_window,
        };
        if place > 0 {
            self.probe = Some(sent);
            return false;
        }
        self.retransmissions.push(sent);
        true
    }

    /// Acknowledged bytes are sent again: the acknowledgment has not reached their sender.
    fn note_spurious(&mut self, sender: &Sender, segment: &Segment, path: &Path) {
        let Some(last) = sender.last else {
            return;
        };
        let is_soon = segment.at_ns.saturating_sub(last.at) < min_retransmission_ns(path);
        let acknowledged = sender.advertisements.acknowledgment_at(segment.at_ns);
        let is_whole = acknowledged.is_some_and(|below| segment.end() <= below);
        // Probes of live and closed windows repeat a byte on purpose.
        if segment.kind == SegmentKind::Retransmission && is_whole && !is_soon {
            let is_of_last = segment.offset >= last.offset;
            self.unneeded = Some(Stall {
                cause: Cause::SpuriousRetransmission,
                direction: sender.direction,
                from: segment.at_ns,
                released: segment.at_ns,
                to: segment.at_ns,
                ns: 0,
                late: (segment.offset, segment.end()),
                stream: None,
                packets: [if is_of_last { last.packet } else { 0 }, 0, segment.packet],
            });
        }
    }

    /// Any packet of the receiver.
    pub(crate) fn note_answer(&mut self, segment: &Segment, stalls: &mut Stalls) {
        self.has_heard = true;
        if let Some(unneeded) = self.unneeded.take() {
            stalls.find(spurious_stall(&unneeded, unneeded.from, segment));
        }
    }

    /// A packet of the receiver. An answer that comes sooner than the second sending
    /// could have caused it is to the first: nothing was lost. One that comes after
    /// `not_reading_ns`, where the window was full, waited for a read.
    pub(crate) fn take_acknowledgment(
        &mut self,
        segment: &Segment,
        receiver_rtt_ns: u64,
        not_reading_ns: u64,
        stalls: &mut Stalls,
    ) {
        let is_passed = |sent: &mut Retransmission| sent.stall.late.1 <= segment.acknowledged;
        if let Some(probe) = self.probe.take_if(is_passed) {
            // An answer to the probe that reports no duplicate shows that it filled a hole
            // (RFC 8985 section 7.4); sooner it was to the first sending.
            let answer = segment.at_ns.saturating_sub(probe.stall.to);
            if !probe.into_full_window && answer >= receiver_rtt_ns * 3 / 4 {
                stalls.push(probe.stall);
            }
        }
        // The receiver has what the capture lacks: no loss of the network.
        self.holes.retain(|hole| hole.end > segment.acknowledged);
        self.retransmissions.retain(|sent| {
            if sent.stall.late.0 >= segment.acknowledged {
                return true;
            }
            let answer = segment.at_ns.saturating_sub(sent.stall.to);
            let was_not_reading =
                sent.into_full_window && answer >= receiver_rtt_ns + not_reading_ns;
            if was_not_reading {
                return false;
            }
            if answer >= receiver_rtt_ns / 2 {
                stalls.push(sent.stall);
            } else {
                stalls.find(spurious_stall(&sent.stall, sent.stall.to, segment));
            }
            false
        });
    }

    /// The receiver's `segment` shows that it had everything below what it acknowledges before
    /// that was sent again. `retracted`: what counted as a loss before that was known.
    pub(crate) fn mark_spurious(
        &mut self,
        segment: &Segment,
        retracted: Option<Stall>,
        stalls: &mut Stalls,
    ) {
        let mut found: Vec<Stall> = retracted.into_iter().collect();
        self.retransmissions.retain(|sent| {
            let is_needed = sent.stall.late.0 >= segment.acknowledged;
            if !is_needed {
                found.push(sent.stall);
            }
            is_needed
        });
        if !segment.reports_duplicate {
            return;
        }
        if found.is_empty() {
            found.extend(self.probe.take().map(|probe| probe.stall));
        }
        for sent in found {
            stalls.find(spurious_stall(&sent, sent.to, segment));
        }
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

/// A repetition at `from` that the receiver's `answer` shows to be in vain.
fn spurious_stall(sent: &Stall, from: u64, answer: &Segment) -> Stall {
    let [first, _, again] = sent.packets;
    Stall {
        cause: Cause::SpuriousRetransmission,
        from,
        released: answer.at_ns,
        to: answer.at_ns,
        ns: answer.at_ns.saturating_sub(from),
        packets: [first, again, answer.packet],
        ..*sent
    }
}

/// What is sent again sooner than this was duplicated by the network, ns: the answer to the
/// first sending could not have come.
fn min_retransmission_ns(path: &Path) -> u64 {
    (path.round_trip() * 7 / 10).max(RETRANSMISSION_MIN_NS)
}

/// What comes later than this after its turn was not merely overtaken, ns: a sender
/// must hear of a loss first.
fn max_reordering_ns(path: &Path) -> u64 {
    if path.is_known() {
        // RACK (RFC 8985 section 6.2) tolerates a quarter of a round trip as
        // reordering, and a loss takes a whole one to be reported.
        (path.round_trip() * 3 / 4).max(RETRANSMISSION_MIN_NS)
    } else {
        UNKNOWN_RTT_REORDERING_NS
    }
}

/// A sender repeats what is not acknowledged within this, ns (RFC 6298: Linux takes 200 ms and
/// more, by the round trip).
fn timeout_ns(path: &Path) -> u64 {
    TIMEOUT_NS + 2 * path.round_trip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::tests::timeline::acknowledgment;
    use crate::flow::event::Direction;

    #[test]
    fn holes_are_bounded_however_often_they_are_divided() {
        let (mut losses, mut stalls) = (Losses::default(), Stalls::default());
        let (sender, path) = (Sender::new(Direction::Request, None), Path::default());
        let segment = |offset| Segment {
            offset,
            bytes: 10,
            ..acknowledgment(1, 0, 1_000)
        };
        losses.add_hole(0, &Sent::of(&segment(1_000_000), 1), None, &path);
        for number in 0..10_000 {
            losses.fill_hole(&segment(number * 100 + 50), &sender, &path, &mut stalls);
            assert!(losses.holes.len() <= HOLES_MAX);
        }
        assert_eq!(losses.holes.len(), HOLES_MAX);
    }
}
