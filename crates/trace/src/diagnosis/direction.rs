//! One direction of a flow: finds the stalls of its sender.

use crate::diagnosis::causes::congestion::Congestion;
use crate::diagnosis::causes::identification::{Identifications, Late};
use crate::diagnosis::causes::loss::Losses;
use crate::diagnosis::causes::small_segments::{self, WriteBoundaries};
use crate::diagnosis::causes::windows;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Gap, Sender, Sent};
use crate::diagnosis::stall::Stalls;
use crate::flow::event::{Direction, Segment, SegmentKind};

#[derive(Debug)]
pub(crate) struct StallFinder {
    pub(crate) sender: Sender,
    pub(crate) congestion: Congestion,
    pub(crate) losses: Losses,
    pub(crate) identifications: Identifications,
    pub(crate) boundaries: WriteBoundaries,
}

impl StallFinder {
    /// `segment_bytes`: the MSS option of the receiver's SYN.
    pub(crate) fn new(direction: Direction, segment_bytes: Option<u16>) -> StallFinder {
        StallFinder {
            sender: Sender::new(direction, segment_bytes),
            congestion: Congestion::default(),
            losses: Losses::default(),
            identifications: Identifications::default(),
            boundaries: WriteBoundaries::default(),
        }
    }

    /// A packet of the receiver. `spurious`: what was sent again had arrived before.
    pub(crate) fn take_acknowledgment(
        &mut self,
        segment: &Segment,
        spurious: bool,
        path: &mut Path,
        stalls: &mut Stalls,
    ) {
        // A duplicate SACK (RFC 2883) shows that this retransmission was not needed:
        // the stall that was counted for it was none.
        if spurious {
            let since = segment
                .at_ns
                .saturating_sub(path.round_trip() + path.slack(self.sender.direction));
            let retracted = stalls.retract(self.sender.direction, since);
            self.losses.mark_spurious(segment, retracted, stalls);
        }
        self.losses.note_answer(segment, stalls);
        self.sender.take_window(segment);
        // A duplicate acknowledgment measures no round trip.
        if !self.sender.advertisements.take(segment) {
            self.losses.note_duplicate_acknowledgment(segment);
            return;
        }
        let newest = self.sender.take_acknowledged(segment.acknowledged);
        if let Some(sent) = newest.filter(|sent| sent.repeated.is_none()) {
            let ns = segment.at_ns.saturating_sub(sent.at);
            if segment.kind == SegmentKind::Acknowledgment {
                path.add_sample(self.sender.direction, ns);
            } else {
                // An answer with payload may have waited for that.
                path.add_round_trip(self.sender.direction, ns);
            }
        }
        let not_reading_ns = windows::not_reading_ns(self.sender.direction, path);
        self.losses.take_acknowledgment(
            segment,
            path.receiver_rtt(self.sender.direction),
            not_reading_ns,
            stalls,
        );
    }

    /// A segment with payload, and what the other side had sent before it.
    pub(crate) fn take_payload(
        &mut self,
        segment: &Segment,
        late: Late,
        path: &Path,
        stalls: &mut Stalls,
    ) {
        if segment.offset < self.sender.next {
            let is_loss = self
                .losses
                .take_retransmission(&mut self.sender, segment, path, stalls);
            if is_loss {
                // The congestion window starts again below the flights seen so far (RFC
                // 5681 section 3.1).
                self.congestion.note_loss();
            }
        }
        if segment.end() <= self.sender.next {
            return;
        }
        let after = Sent::of(segment, self.sender.full_segment());
        // A hole: lost before the capture, or overtaken.
        if segment.offset > self.sender.next {
            self.losses
                .add_hole(self.sender.next, &after, self.sender.last.as_ref(), path);
            self.identifications.clear_missing();
        }
        match self.identifications.stall(segment, late, path) {
            Some(stall) => {
                self.congestion.note_loss();
                stalls.push(stall);
            }
            None => self.take_in_order(after, late.peer_payload, path, stalls),
        }
        self.sender.remember(after, segment.bytes);
        // The next silence is after this segment, and its sender knew what was
        // announced a way to it before.
        let known = after
            .at
            .saturating_sub(2 * path.sender_rtt(self.sender.direction));
        self.sender.advertisements.forget_before(known);
    }

    fn take_in_order(
        &mut self,
        after: Sent,
        peer_payload: Option<(u64, u64)>,
        path: &Path,
        stalls: &mut Stalls,
    ) {
        if let Some(before) = self.sender.last.filter(|before| before.end == after.offset) {
            let interrupted = peer_payload.is_some_and(|(at, _)| at > before.at);
            let gap = Gap {
                before,
                after,
                interrupted,
            };
            self.classify_gap(&gap, path, stalls);
        }
    }

    fn classify_gap(&mut self, gap: &Gap, path: &Path, stalls: &mut Stalls) {
        self.boundaries.take(&self.sender.advertisements, gap);
        // During recovery (RFC 6675) the sender's pauses come from the loss, which is
        // attributed already.
        if self.losses.is_recovering() {
            return;
        }
        // The most specific first. A full window explains a silence alone; Nagle's
        // algorithm needs a small segment; the congestion window is what is left.
        let stall = windows::tcp_stall(&self.sender, gap, path)
            .or_else(|| small_segments::nagle_stall(&self.sender, gap, path))
            .or_else(|| self.congestion.stall(&self.sender, gap, path));
        if let Some(stall) = stall {
            stalls.push(stall);
        }
    }

    pub(crate) fn skip_gap(&mut self, end: u64) {
        self.sender.next = self.sender.next.max(end);
        self.losses.forget(end);
    }
}
