//! A time in which one side could not send, or in which a pattern took place.

use std::collections::VecDeque;

use crate::diagnosis::cause::Cause;
use crate::flow::event::Direction;

/// Stalls of a flow that wait for the exchange they belong to. A large message over
/// a small window has thousands; further ones of the same kind are joined.
const STALLS_MAX: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stall {
    pub(crate) cause: Cause,
    /// The way of the bytes that came late.
    pub(crate) direction: Direction,
    /// From when, ns.
    pub(crate) from: u64,
    /// When the packet passed that ended it, ns.
    pub(crate) released: u64,
    /// Until when, ns: the late bytes came.
    pub(crate) to: u64,
    /// Of that time, what was lost, ns. Less than all where stalls have been joined.
    pub(crate) ns: u64,
    /// The bytes that came late, as offsets of their stream.
    pub(crate) late: (u64, u64),
    /// The HTTP/2 stream, where one alone was concerned.
    pub(crate) stream: Option<u32>,
    /// The packets that show it: the last before, the one that ended it, the late one;
    /// 0 where there is none.
    pub(crate) packets: [u64; 3],
}

impl Stall {
    pub(crate) fn named_packets(&self) -> impl Iterator<Item = u64> + use<> {
        self.packets.into_iter().filter(|packet| *packet > 0)
    }

    fn continues(&self, other: &Stall) -> bool {
        (self.cause, self.direction, self.stream) == (other.cause, other.direction, other.stream)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Stalls {
    ring: VecDeque<Stall>,
    /// Those that nobody has taken yet ([`Self::take_new`]).
    new: Vec<Stall>,
    /// Of causes that belong to a connection, not to an exchange.
    found: Vec<Stall>,
}

impl Stalls {
    pub(crate) fn push(&mut self, stall: Stall) {
        self.new.push(stall);
        if self.ring.len() >= STALLS_MAX {
            match self.ring.back_mut().filter(|last| last.continues(&stall)) {
                Some(last) => {
                    last.to = stall.to;
                    // The time of both, not from the beginning of one to the end of the
                    // other: between them bytes were sent.
                    last.ns += stall.ns;
                    last.late.1 = last.late.1.max(stall.late.1);
                    return;
                }
                // The oldest one's exchange is most likely reported already.
                None => drop(self.ring.pop_front()),
            }
        }
        self.ring.push_back(stall);
    }

    /// One of a connection as such ([`Cause::is_of_connection`]).
    pub(crate) fn find(&mut self, stall: Stall) {
        self.found.push(stall);
    }

    /// Some were found since the last time.
    #[inline]
    pub(crate) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Some were pushed since the last time.
    #[inline]
    pub(crate) fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Those found since the last time.
    pub(crate) fn take_found(&mut self) -> impl Iterator<Item = Stall> {
        self.found.drain(..)
    }

    /// Those pushed since the last time.
    pub(crate) fn take_new(&mut self) -> impl Iterator<Item = Stall> {
        self.new.drain(..)
    }

    /// The newest repetition was in vain, as is known now, if it was sent after `since`.
    pub(crate) fn retract(&mut self, direction: Direction, since: u64) -> Option<Stall> {
        let is_newest = |stall: &Stall| {
            stall.cause.is_loss() && stall.direction == direction && stall.to >= since
        };
        if self.ring.back().is_some_and(is_newest) {
            self.ring.pop_back()
        } else {
            None
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stall> {
        self.ring.iter()
    }

    /// Forgets those that ended before `at`: no exchange that is still open can have met them.
    pub(crate) fn forget_before(&mut self, at: u64) {
        self.ring.retain(|stall| stall.to >= at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(from: u64, cause: Cause) -> Stall {
        Stall {
            cause,
            direction: Direction::Reply,
            from,
            released: from + 5,
            to: from + 5,
            ns: 5,
            late: (from, from + 1),
            stream: None,
            packets: [1, 2, 3],
        }
    }

    #[test]
    fn many_of_one_kind_are_joined_and_lose_no_time() {
        let mut stalls = Stalls::default();
        for from in 0..10_000 {
            stalls.push(stall(from * 10, Cause::TcpWindowExhausted));
        }
        assert_eq!(stalls.iter().count(), STALLS_MAX);
        assert_eq!(stalls.iter().map(|stall| stall.ns).sum::<u64>(), 50_000);
        assert_eq!(stalls.iter().last().map(|stall| stall.late.1), Some(99_991));
    }

    #[test]
    fn the_oldest_stall_is_evicted_for_another_kind() {
        let mut stalls = Stalls::default();
        for from in 0..STALLS_MAX as u64 {
            stalls.push(stall(from, Cause::TcpWindowExhausted));
        }
        stalls.push(stall(5_000, Cause::NagleDelayedAck));
        assert_eq!(stalls.iter().count(), STALLS_MAX);
        assert_eq!(
            stalls.iter().last().map(|stall| stall.cause),
            Some(Cause::NagleDelayedAck)
        );
        stalls.forget_before(1_000);
        assert_eq!(stalls.iter().count(), 1);
    }
}
