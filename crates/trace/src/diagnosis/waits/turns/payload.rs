//! What payload shows of the time before it: whose turn it was.

use super::{BETWEEN_MESSAGES_NS, ONE_WAY_MIN, Turns};
use crate::diagnosis::path::Path;
use crate::diagnosis::waits::part::Part;
use crate::diagnosis::waits::pending::Pending;
use crate::diagnosis::waits::sums::Sink;
use crate::flow::event::{Direction, SegmentKind};

impl Turns {
    /// Divides the time until payload came.
    pub(super) fn take_payload(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let segment = &pending.segment;
        let at = segment.at_ns;
        let since = match self.turn {
            Some(_) => self.payload_at[segment.direction as usize].max(self.mark),
            None => 0,
        };
        self.take_payload_by_turn(pending, path, sink);
        if let Some((from, to)) = pending.gap.closed {
            let times = (from.max(since), to.min(at));
            let is_weaker = |part: Part| part.is_of_sender() || part == Part::Unattributed;
            self.ring
                .replace(times, Part::WindowClosed, is_weaker, false);
        }
    }

    fn take_payload_by_turn(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let segment = &pending.segment;
        let (at, packet) = (segment.at_ns, segment.packet);
        let is_busy = self.has_calls && pending.calls_before > 0;
        let begins = pending.starts_call || pending.is_control();
        match (self.turn, segment.direction) {
            (None, _) if self.is_unclear() => {
                self.assign_until(Part::Unattributed, at, packet, sink)
            }
            (None, Direction::Request) => {
                self.assign_until(Part::ClientBeforeRequest, at, packet, sink)
            }
            // An alert, with nothing under way.
            (Some(Direction::Reply), _) if pending.has_alert && pending.is_control() => {
                self.assign_until(Part::BeforeClosing, at, packet, sink);
            }
            (Some(_), Direction::Reply) if self.is_idle(pending) => {
                self.assign_until(Part::ServerUnasked, at, packet, sink);
            }
            // More of a record that cannot be read before its end: no call has begun yet.
            (Some(Direction::Request), Direction::Request)
                if self.tls.is_done() && self.is_idle(pending) =>
            {
                self.take_continuation(pending, path, sink);
            }
            (Some(_), Direction::Request) if self.is_idle(pending) => {
                let part = Part::ClientBetweenRequests;
                self.wait_for(Direction::Request, part, pending, path, sink);
            }
            // Calls are under way: whatever the client sends now, it waits for the server.
            (Some(Direction::Request), Direction::Request) if is_busy && begins => {
                self.wait_for(Direction::Reply, Part::Server, pending, path, sink);
            }
            (Some(Direction::Reply), Direction::Request) if is_busy && begins => {
                self.assign_until(self.server_part(), at, packet, sink);
            }
            (Some(Direction::Reply), Direction::Reply) if is_busy && self.ended_call => {
                self.assign_until(Part::Server, at, packet, sink);
            }
            (Some(Direction::Request), Direction::Reply)
                if self.is_one_way() || self.is_unasked_again(at) =>
            {
                self.assign_until(Part::ServerUnasked, at, packet, sink);
            }
            (None | Some(Direction::Request), Direction::Reply) => {
                self.wait_for(Direction::Reply, Part::Server, pending, path, sink);
            }
            (Some(Direction::Reply), Direction::Request) => {
                let part = Part::ClientBetweenRequests;
                self.wait_for(Direction::Request, part, pending, path, sink);
            }
            (Some(_), _) => self.take_continuation(pending, path, sink),
        }
    }

    /// Its packets show no beginning, or those of one side are missing.
    pub(super) fn is_unclear(&self) -> bool {
        !self.from_syn || self.has_sent.contains(&false)
    }

    /// Where messages end is known: by a length, a last chunk, or frames.
    pub(super) fn knows_ends(&self) -> bool {
        self.has_calls && !self.is_unframed
    }

    /// The client sends messages that nobody answers, as far as pauses between them show.
    pub(super) fn is_one_way(&self) -> bool {
        !self.knows_ends()
            && self.turn == Some(Direction::Request)
            && self.pauses_between >= ONE_WAY_MIN
    }

    /// The client has answered what came unasked, and this comes much later.
    fn is_unasked_again(&self, at: u64) -> bool {
        let answered_at = self.payload_at[Direction::Request as usize];
        self.is_answer && at.saturating_sub(answered_at) >= BETWEEN_MESSAGES_NS
    }

    /// What a side waited for that had sent something and sends more, with nothing in its way.
    /// A pause inside a message, where that is known; otherwise it had nothing to send.
    fn classify_pause(&mut self, pending: &Pending, ns: u64) -> Part {
        self.pauses += 1;
        let is_short = self.pauses < ONE_WAY_MIN && ns < BETWEEN_MESSAGES_NS;
        let is_within = pending.gap.follows_full
            || match () {
                () if self.is_unframed || self.is_lost => false,
                // Records of TLS hide the ends of messages.
                () if self.tls.is_done() && !self.has_calls => is_short,
                () => true,
            };
        self.pauses_between += u32::from(!is_within);
        match (pending.segment.direction, is_within) {
            (Direction::Request, true) => Part::ClientStall,
            (Direction::Reply, true) => Part::ServerStall,
            (Direction::Request, false) => Part::ClientBetweenRequests,
            (Direction::Reply, false) => Part::ServerUnasked,
        }
    }

    /// No call is under way, as far as messages can be read.
    pub(super) fn is_idle(&self, pending: &Pending) -> bool {
        self.has_calls && pending.calls_before == 0
    }

    fn server_part(&self) -> Part {
        if self.ended_call {
            Part::Server
        } else {
            Part::ServerStall
        }
    }

    /// It was the turn of `side`, which the other side's payload had to reach first.
    pub(super) fn wait_for(
        &mut self,
        side: Direction,
        part: Part,
        pending: &Pending,
        path: &Path,
        sink: &mut Sink,
    ) {
        let (at, packet) = (pending.segment.at_ns, pending.segment.packet);
        let asked_at = self.payload_at[side.opposite() as usize];
        let arrived = asked_at.saturating_add(path.sender_rtt(side));
        self.assign_until(Part::Path, arrived.min(at), packet, sink);
        self.assign_until(part, at, packet, sink);
    }

    /// The same side goes on sending.
    fn take_continuation(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let segment = &pending.segment;
        let (at, packet, direction) = (segment.at_ns, segment.packet, segment.direction);
        let transfer = match direction {
            Direction::Request => Part::RequestTransfer,
            Direction::Reply => Part::ReplyTransfer,
        };
        let since = self.payload_at[direction as usize].max(self.mark);
        let is_prompt = at.saturating_sub(since) < path.slack(direction);
        let is_new = matches!(segment.kind, SegmentKind::Data | SegmentKind::Ahead);
        if is_prompt || !is_new {
            self.assign_until(transfer, at, packet, sink);
        } else if self.has_sent.contains(&false) {
            // One side alone does not show who waited for whom.
            self.assign_until(Part::Unattributed, at, packet, sink);
        } else if let Some(free) = pending.gap.free_from {
            let free = free.clamp(self.mark, at);
            if at - free < path.slack(direction) {
                // The acknowledgment of all that was on its way released it.
                return self.assign_until(Part::CongestionLimited, at, packet, sink);
            }
            self.assign_until(transfer, free, packet, sink);
            let part = self.classify_pause(pending, at - free);
            self.assign_until(part, at, packet, sink);
        } else {
            // Acknowledgments released it: the flight was as large as it could be.
            self.assign_until(Part::CongestionLimited, at, packet, sink);
        }
    }
}
