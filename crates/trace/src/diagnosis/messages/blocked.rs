//! What losses do to messages that were not lost. h2-head-of-line: those on other streams of
//! HTTP/2 could not be read, because TCP delivers bytes in order. messages-coalesced: those that
//! were sent apart could be read only together.
//!
//! A loss shows twice: as the hole in the bytes that a capture behind it has, and as the repetition
//! that one before it has. In both a message came (or passed) between the beginning of the loss
//! and its repetition, and lies behind the lost bytes.

use std::collections::{BTreeMap, VecDeque};

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, FlowId, Segment};
use crate::protocol::exchange::{StreamBytes, StreamMessage};

/// Messages and frames of a connection that are remembered, the last.
const PASSED_MAX: usize = 256;
const FRAMES_MAX: usize = 256;
/// Losses that wait for their messages.
const LOSSES_MAX: usize = 64;
/// A message that waits shorter does not matter, ns.
const BLOCKED_MIN_NS: u64 = 3_000_000;
/// Messages that come so far apart were sent apart, ns.
const APART_MIN_NS: u64 = 5_000_000;

/// A message as its own packets show it.
#[derive(Debug, Clone, Copy)]
struct Passed {
    direction: Direction,
    stream: u32,
    start: u64,
    packets: [u64; 2],
    at_ns: u64,
    /// Until when losses kept it, as far as is counted, ns.
    counted_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Loss {
    stall: Stall,
    /// Behind the last byte that is known to have been lost.
    end: u64,
    /// The packet that was lost, where the capture has it; else 0.
    lost_packet: u64,
    /// The packet that showed it.
    packet: u64,
}

/// Of one connection.
#[derive(Debug, Default)]
pub(super) struct BlockingLosses {
    passed: VecDeque<Passed>,
    frames: VecDeque<StreamBytes>,
    waiting: VecDeque<Loss>,
}

impl BlockingLosses {
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn note_bytes(&mut self, bytes: StreamBytes) {
        if self.frames.len() == FRAMES_MAX {
            self.frames.pop_front();
        }
        self.frames.push_back(bytes);
    }

    pub(super) fn note_message(&mut self, message: &StreamMessage) {
        if self.passed.len() == PASSED_MAX {
            self.passed.pop_front();
        }
        let extent = &message.extent;
        self.passed.push_back(Passed {
            direction: message.direction,
            stream: message.stream,
            start: extent.start,
            packets: [extent.first_packet, extent.last_packet],
            at_ns: extent.last_at_ns,
            counted_ns: 0,
        });
    }

    /// Bytes were lost, as `segment` shows: the late one itself, or an acknowledgment of it.
    pub(super) fn note_loss(&mut self, stall: &Stall, segment: &Segment) {
        let [first, _, again] = stall.packets;
        let is_hole = segment.packet == again && segment.bytes > 0;
        if self.waiting.len() == LOSSES_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Loss {
            stall: *stall,
            end: if is_hole {
                segment.end()
            } else {
                stall.late.0.saturating_add(1)
            },
            lost_packet: if is_hole { 0 } else { first },
            packet: segment.packet,
        });
    }

    /// Judges losses that packets before `packet` have shown.
    pub(super) fn settle(&mut self, flow: FlowId, packet: u64, found: &mut Vec<Occurrence>) {
        while let Some(loss) = self.waiting.front().copied()
            && loss.packet < packet
        {
            self.waiting.pop_front();
            self.judge(flow, &loss, found);
        }
    }

    fn judge(&mut self, flow: FlowId, loss: &Loss, found: &mut Vec<Occurrence>) {
        let culprits = self.culprits(loss);
        let blocked = self.take_blocked(loss);
        let apart = |(first, last): &&(Passed, Passed)| {
            last.at_ns.saturating_sub(first.at_ns) >= APART_MIN_NS
        };
        for (first, last) in blocked.values().filter(apart) {
            let packets = [first.packets[1], last.packets[1]];
            let cause = Cause::MessagesCoalesced;
            found.push(loss.occurrence(cause, flow, first, packets));
        }
        let is_other = |(stream, _): &(&u32, &(Passed, Passed))| {
            **stream > 0 && !culprits.is_empty() && !culprits.contains(stream)
        };
        let others = blocked.iter().filter(is_other);
        let first = others
            .map(|(_, (first, _))| first)
            .min_by_key(|one| one.at_ns);
        if let Some(first) = first.filter(|first| loss.hold_ns(first) >= BLOCKED_MIN_NS) {
            let packets = [first.packets[1], 0];
            found.push(loss.occurrence(Cause::H2HeadOfLine, flow, first, packets));
        }
    }

    /// By stream, the first and the last message that the loss kept from being read; they count
    /// once.
    fn take_blocked(&mut self, loss: &Loss) -> BTreeMap<u32, (Passed, Passed)> {
        let mut blocked: BTreeMap<u32, (Passed, Passed)> = BTreeMap::new();
        for message in &mut self.passed {
            if loss.has_blocked(message) {
                let both = blocked
                    .entry(message.stream)
                    .or_insert((*message, *message));
                both.1 = *message;
                message.counted_ns = loss.stall.to;
            }
        }
        blocked
    }

    /// The streams whose bytes were lost.
    fn culprits(&self, loss: &Loss) -> Vec<u32> {
        let stall = &loss.stall;
        let is_lost = |bytes: &&StreamBytes| {
            let overlaps = bytes.start < loss.end && bytes.end > stall.late.0;
            bytes.direction == stall.direction && (overlaps || bytes.packet == loss.lost_packet)
        };
        let lost = self.frames.iter().filter(is_lost);
        lost.map(|bytes| bytes.stream).collect()
    }
}

impl Loss {
    /// The message came while the loss was not repaired, and was not lost itself.
    fn has_blocked(&self, message: &Passed) -> bool {
        let stall = &self.stall;
        message.direction == stall.direction
            && message.start > stall.late.0
            && (stall.from..stall.to).contains(&message.at_ns)
            && message.counted_ns < stall.to
            && message.packets[0] > self.lost_packet
            && !message.packets.contains(&stall.packets[2])
    }

    /// For how long a message waited that no other loss had kept before, ns.
    fn hold_ns(&self, message: &Passed) -> u64 {
        let since = message.at_ns.max(message.counted_ns);
        self.stall.to.saturating_sub(since)
    }

    /// `first`: the message that waited longest; `packets`: of messages that waited, or 0.
    fn occurrence(
        &self,
        cause: Cause,
        flow: FlowId,
        first: &Passed,
        packets: [u64; 2],
    ) -> Occurrence {
        let stall = &self.stall;
        let all = [self.lost_packet, packets[0], packets[1], stall.packets[2]];
        let mut packets: Vec<u64> = all.into_iter().filter(|packet| *packet > 0).collect();
        packets.sort_unstable();
        packets.dedup();
        Occurrence {
            cause,
            flow,
            exchange: None,
            direction: stall.direction,
            packets,
            ns: self.hold_ns(first),
        }
    }
}
