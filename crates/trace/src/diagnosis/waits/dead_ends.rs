//! Connections that do not get on: the other side is gone, or large segments do not arrive.

use super::sums::Sink;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment, SegmentKind};

/// This many sendings without any progress are a dead end: a path that loses one in ten
/// packets has that once in a thousand.
const REPEATS_MIN: u32 = 3;
/// Segments that a black hole may swallow are larger than the smallest MTU that IPv4 hosts
/// must take (RFC 791: 576 with headers), bytes.
const LARGE_BYTES: u32 = 500;

/// What one side sends again and again, or probes.
#[derive(Debug, Clone, Copy, Default)]
struct Attempts {
    offset: u64,
    count: u32,
    bytes: u32,
    first: Option<(u64, u64)>,
    last: (u64, u64),
    /// The other side was heard since the first.
    is_answered: bool,
}

impl Attempts {
    fn again(&mut self, segment: &Segment) {
        let at = (segment.at_ns, segment.packet);
        if self.first.is_none() || self.offset != segment.offset {
            *self = Attempts {
                offset: segment.offset,
                first: Some(at),
                ..Attempts::default()
            };
        }
        self.count += 1;
        self.bytes = self.bytes.max(segment.bytes);
        self.last = at;
    }

    /// Why none of it got through; `None` while it may only have been lost.
    fn cause(&self) -> Option<Cause> {
        if self.count < REPEATS_MIN {
            None
        } else if self.is_answered {
            (self.bytes >= LARGE_BYTES).then_some(Cause::MtuBlackHole)
        } else {
            Some(Cause::HalfOpen)
        }
    }

    fn occurrence(&self, cause: Cause, direction: Direction, sink: &Sink) -> Option<Occurrence> {
        let (since, packet) = self.first?;
        Some(Occurrence {
            cause,
            flow: sink.flow,
            exchange: None,
            direction,
            packets: vec![packet, self.last.1],
            ns: self.last.0.saturating_sub(since),
        })
    }
}

/// Of both sides.
#[derive(Debug, Default)]
pub(super) struct DeadEnds {
    payload: [Attempts; 2],
    probes: [Attempts; 2],
}

impl DeadEnds {
    #[inline]
    pub(super) fn take(&mut self, segment: &Segment) {
        let own = segment.direction as usize;
        let other = segment.direction.opposite() as usize;
        // Whatever comes from the other side shows that it is there.
        let sent = &mut self.payload[other];
        if sent.count > 0 {
            sent.is_answered = true;
            if segment.acknowledged > sent.offset {
                *sent = Attempts::default();
            }
        }
        self.probes[other] = Attempts::default();
        match segment.kind {
            SegmentKind::Retransmission if segment.bytes > 0 => self.payload[own].again(segment),
            SegmentKind::KeepAlive => self.probes[own].again(segment),
            _ => {}
        }
    }

    /// Whether a loss is a sending of what never gets through, which has a cause of its own.
    pub(super) fn explain(&self, loss: &Stall) -> bool {
        let sent = &self.payload[loss.direction as usize];
        loss.late.0 == sent.offset && sent.cause().is_some()
    }

    /// The connection is over: what never got through. True where that is a request, which so
    /// nobody can have answered. Of a capture of one side the answers to probes are missing.
    pub(super) fn finish(&self, is_one_sided: bool, sink: &mut Sink) -> bool {
        let mut is_request = false;
        for direction in [Direction::Request, Direction::Reply] {
            let [sent, probes] = [&self.payload, &self.probes].map(|all| all[direction as usize]);
            let cause = sent.cause();
            let dead = cause.and_then(|cause| sent.occurrence(cause, direction, sink));
            is_request |= dead.is_some() && direction == Direction::Request;
            let unheard = (probes.count >= REPEATS_MIN && !is_one_sided)
                .then(|| probes.occurrence(Cause::KeepAliveDeath, direction, sink))
                .flatten();
            dead.into_iter()
                .chain(unheard)
                .for_each(|one| sink.find(one));
        }
        is_request
    }
}
