//! The opening of a connection: syn-retransmission, and connection-per-call.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment};
use crate::packet::Flags;

/// A network may deliver a SYN twice; the sender repeats it after 1 s (RFC 6298
/// section 2), some systems sooner. Nearer together than this is one SYN, ns.
const RETRANSMISSION_MIN_NS: u64 = 150_000_000;

/// When a packet passed, and its number.
pub(crate) type At = (u64, u64);

#[derive(Debug, Default)]
pub(crate) struct Handshake {
    syn: Option<(At, At)>,
    syn_ack: Option<(At, At)>,
    established: Option<At>,
    /// The packet behind the last step of the capture's clock.
    pub(crate) stepped_at: u64,
}

impl Handshake {
    pub(crate) fn take(&mut self, segment: &Segment, path: &mut Path) {
        if self.established.is_some() {
            return;
        }
        let at = (segment.at_ns, segment.packet);
        let is_syn = segment.flags.has(Flags::SYN);
        match segment.direction {
            Direction::Request if is_syn => {
                // First and last: their distance is what the loss took. The timer
                // begins with 1 s and doubles (RFC 6298 section 2).
                self.syn = Some((self.syn.map_or(at, |(first, _)| first), at));
            }
            // Refused: a SYN behind it is another attempt.
            Direction::Reply if segment.flags.has(Flags::RST) => *self = Handshake::default(),
            Direction::Reply if is_syn => self.take_syn_ack(at, path),
            Direction::Request => self.establish(at, path),
            Direction::Reply => {}
        }
    }

    fn take_syn_ack(&mut self, at: At, path: &mut Path) {
        if self.syn_ack.is_none()
            && let Some((first, last)) = self.syn
            && first == last
            && first.1 >= self.stepped_at
        {
            path.add_sample(Direction::Request, at.0 - first.0);
        }
        self.syn_ack = Some((self.syn_ack.map_or(at, |(first, _)| first), at));
    }

    fn establish(&mut self, at: At, path: &mut Path) {
        let Some((first, last)) = self.syn_ack else {
            return;
        };
        // Sent once, so that the answer is to this one (Karn and Partridge 1987).
        if first == last && first.1 >= self.stepped_at {
            path.add_round_trip(Direction::Reply, at.0 - first.0);
        }
        self.established = Some(at);
    }

    /// The time from the first SYN to the one that was answered; or, where only the
    /// answer was repeated and nothing came from the client before it, between its answers.
    pub(crate) fn retransmission(&self) -> Option<Stall> {
        let late = |(first, last): (At, At)| {
            (last.0 - first.0 >= RETRANSMISSION_MIN_NS).then_some((first, last))
        };
        let (direction, first, last) = match (self.syn.and_then(late), self.syn_ack.and_then(late))
        {
            (Some((first, last)), _) => (Direction::Request, first, last),
            (None, Some((first, last))) => (Direction::Reply, first, last),
            (None, None) => return None,
        };
        Some(Stall {
            cause: Cause::SynRetransmission,
            direction,
            from: first.0,
            released: last.0,
            to: last.0,
            ns: last.0 - first.0,
            late: (0, 0),
            stream: None,
            packets: [first.1, 0, last.1],
        })
    }

    /// What it took once the SYN got through, ns, and its packets.
    pub(crate) fn time(&self) -> Option<(u64, [u64; 3])> {
        let (established, (_, syn), (_, syn_ack)) = (self.established?, self.syn?, self.syn_ack?);
        let packets = [syn.1, syn_ack.1, established.1];
        Some((established.0.saturating_sub(syn.0), packets))
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.syn.is_some() && self.syn_ack.is_some()
    }

    /// From the first SYN to the end of the opening, ns.
    pub(crate) fn duration_ns(&self) -> u64 {
        match (self.syn, self.established) {
            (Some(((syn, _), _)), Some((established, _))) => established.saturating_sub(syn),
            _ => 0,
        }
    }

    /// The first SYN.
    pub(crate) fn started(&self) -> Option<At> {
        self.syn.map(|(first, _)| first)
    }

    /// Of the first SYN, ns.
    pub(crate) fn started_at(&self) -> Option<u64> {
        self.started().map(|(at_ns, _)| at_ns)
    }
}

const HOST_PAIRS_MAX: usize = 1024;
const WAITING_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct SingleUse {
    pub(crate) opened_at: u64,
    pub(crate) closed_at: u64,
    pub(crate) occurrence: Occurrence,
}

#[derive(Debug)]
struct Pair {
    first_closed_at: u64,
    last_opened_at: u64,
    waiting: Vec<Occurrence>,
}

#[derive(Debug, Default)]
pub(crate) struct Reuse {
    pairs: HashMap<(IpAddr, SocketAddr), Pair>,
}

impl Reuse {
    /// One more. Returns those that are now known to follow the pattern: one was
    /// opened when another had been closed, and could have been used again. Pools
    /// open their connections side by side.
    pub(crate) fn add(&mut self, pair: (IpAddr, SocketAddr), single: SingleUse) -> Vec<Occurrence> {
        if self.pairs.len() >= HOST_PAIRS_MAX && !self.pairs.contains_key(&pair) {
            return Vec::new();
        }
        let known = self.pairs.entry(pair).or_insert(Pair {
            first_closed_at: u64::MAX,
            last_opened_at: 0,
            waiting: Vec::new(),
        });
        known.first_closed_at = known.first_closed_at.min(single.closed_at);
        known.last_opened_at = known.last_opened_at.max(single.opened_at);
        if known.waiting.len() < WAITING_MAX {
            known.waiting.push(single.occurrence);
        }
        // All of them were open at the same time: a pool.
        if known.first_closed_at > known.last_opened_at {
            return Vec::new();
        }
        std::mem::take(&mut known.waiting)
    }
}
