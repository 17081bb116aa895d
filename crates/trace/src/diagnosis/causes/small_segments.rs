//! Segments that could have carried more: nagle-delayed-ack, where one waited for an
//! acknowledgment that was delayed, and split-writes, where a message began in one.

use std::collections::VecDeque;

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::receiver::Advertisements;
use crate::diagnosis::search;
use crate::diagnosis::sender::{Gap, Sender};
use crate::diagnosis::stall::Stall;
use crate::flow::event::Direction;
use crate::protocol::exchange::Extent;

const BOUNDARIES_MAX: usize = 64;
/// The least that an acknowledgment must have been delayed, ns. Linux waits 40 ms
/// or more (TCP_DELACK_MIN), BSD 40 to 100 ms, Windows 40 to 200 ms; RFC 1122
/// allows up to 500 ms.
const DELAY_MIN_NS: u64 = 20_000_000;

/// A kernel that has something to send does so within this, ns.
const IMMEDIATE_NS: u64 = 300_000;

/// The gap, if it may be one: a small segment came after a packet that did nothing
/// but acknowledge all before it. [`is_delayed`] decides, once round trips are known; at once
/// behind a full segment, where the congestion window may have held it back, too: the last
/// segment of a message is small.
pub(crate) fn nagle_stall(sender: &Sender, gap: &Gap, path: &Path) -> Option<Stall> {
    if gap.ns() < DELAY_MIN_NS || gap.interrupted || !gap.after.is_small {
        return None;
    }
    let answer = sender.advertisements.first_acknowledging(gap.before.end)?;
    // Linux holds a small segment only behind another small one that is not
    // acknowledged (tcp_minshall_check in net/ipv4/tcp_output.c), so the answer must
    // acknowledge exactly the segment before.
    if !answer.is_pure || answer.acknowledged != gap.before.end || answer.at < gap.before.at {
        return None;
    }
    let stall = Stall {
        cause: Cause::NagleDelayedAck,
        direction: sender.direction,
        from: gap.before.at,
        released: answer.at,
        to: gap.after.at,
        ns: gap.ns(),
        late: (gap.after.offset, gap.after.end),
        stream: None,
        packets: [gap.before.packet, answer.packet, gap.after.packet],
    };
    let is_undecided = gap.before.is_small || !path.is_known();
    (is_undecided || is_delayed(&stall, path)).then_some(stall)
}

/// The same where a new message begins in what came late. Its sender may have had
/// nothing to send before, so only a kernel's own promptness decides, ns.
pub(crate) fn is_immediate(stall: &Stall, path: &Path) -> bool {
    let sender_rtt = path.sender_rtt(stall.direction);
    stall.to.saturating_sub(stall.released) <= sender_rtt + (sender_rtt / 8).max(IMMEDIATE_NS)
}

/// The acknowledgment was delayed, and what came late came at once after it: no
/// application decided to send it then.
pub(crate) fn is_delayed(stall: &Stall, path: &Path) -> bool {
    // Of the time until the acknowledgment passed, the way is the network's, the rest
    // the receiver's timer.
    let delay = (stall.released - stall.from).saturating_sub(path.receiver_rtt(stall.direction));
    let answer = stall.to.saturating_sub(stall.released);
    delay >= DELAY_MIN_NS
        && answer <= path.sender_rtt(stall.direction) + path.slack(stall.direction)
}

/// A sender that computes for longer between two writes did not have the second at hand, ns;
/// behind a slow link, which draws packets apart, an eighth of its round trip.
const AVAILABLE_NS: u64 = 2_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteBoundary {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Of the small segment, and behind it.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) packets: [u64; 2],
    /// When a packet passed that did nothing but acknowledge the small segment.
    answered: Option<u64>,
}

impl WriteBoundary {
    fn of(advertisements: &Advertisements, gap: &Gap) -> Option<WriteBoundary> {
        let answer = advertisements.first_acknowledging(gap.before.end);
        // A full segment may end anywhere: the kernel cut it, not a write.
        gap.before.is_small.then_some(WriteBoundary {
            from: gap.before.at,
            to: gap.after.at,
            offset: gap.before.offset,
            end: gap.before.end,
            packets: [gap.before.packet, gap.after.packet],
            answered: answer.filter(|one| one.is_pure).map(|one| one.at),
        })
    }

    /// The second segment came at once; or, where Nagle's algorithm held it back, at
    /// once after the acknowledgment of the first.
    fn was_available(&self, direction: Direction, path: &Path) -> bool {
        let sender_rtt = path.sender_rtt(direction);
        let answer_ns = sender_rtt + path.slack(direction);
        self.to - self.from <= AVAILABLE_NS.max(sender_rtt / 8)
            || self
                .answered
                .is_some_and(|at| (at..=at + answer_ns).contains(&self.to))
    }
}

#[derive(Debug, Default)]
pub(crate) struct WriteBoundaries {
    ring: VecDeque<WriteBoundary>,
}

impl WriteBoundaries {
    pub(crate) fn take(&mut self, advertisements: &Advertisements, gap: &Gap) {
        let Some(boundary) = WriteBoundary::of(advertisements, gap) else {
            return;
        };
        if self.ring.len() == BOUNDARIES_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(boundary);
    }

    /// The boundary behind the segment in which the message begins, if that is small (less than
    /// `full`, as is known now), ends inside the message, and its sender had more at hand. Control frames of HTTP/2 may lie
    /// between, in segments of their own.
    pub(crate) fn split(
        &self,
        direction: Direction,
        extent: &Extent,
        full: u64,
        path: &Path,
    ) -> Option<WriteBoundary> {
        let bytes = extent.bytes().saturating_add(extent.between_bytes.into());
        if extent.end.saturating_sub(extent.start) > bytes {
            return None; // other messages lie between its parts
        }
        let available = |boundary: &WriteBoundary| {
            boundary.end < extent.end && boundary.was_available(direction, path)
        };
        // They end one behind the other, and all may be kept of a long connection.
        let over = search::from_end(&self.ring, |boundary| boundary.end <= extent.start);
        let mut boundaries = self.ring.range(over..).copied();
        let first = boundaries.find(|boundary| boundary.offset <= extent.start)?;
        let is_small = first.end - first.offset < full;
        let mut split = Some(first).filter(|first| is_small && available(first))?;
        let mut between = u64::from(extent.between_bytes);
        for next in boundaries.take_while(|next| next.end < extent.end) {
            // The boundary moves on only as far as there are bytes of control frames.
            let Some(left) = between.checked_sub(next.end - next.offset) else {
                break;
            };
            if next.offset != split.end {
                break;
            }
            if !available(&next) {
                return None;
            }
            between = left;
            split = WriteBoundary {
                to: next.to,
                end: next.end,
                packets: [split.packets[0], next.packets[1]],
                ..split
            };
        }
        Some(split)
    }
}
