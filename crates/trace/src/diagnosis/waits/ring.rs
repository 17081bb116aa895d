//! The last waits of a connection, one behind the other without a gap.

use std::collections::VecDeque;

use super::part::Part;
use crate::diagnosis::search;
use crate::flow::event::Direction;

/// Waits that are kept for the exchange they belong to and for later evidence.
/// With the one that is over, a power of two: what a queue allocates.
const WAITS_MAX: usize = 511;
/// Shorter ones of the same part are joined, ns.
const JOINED_NS: u64 = 1_000_000;

/// A time that belongs to one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) part: Part,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The packets before and behind it.
    pub(crate) packets: [u64; 2],
    /// The side that sent the packet behind it.
    pub(crate) direction: Direction,
    /// That packet carries payload.
    pub(crate) ends_with_payload: bool,
    /// A finding has its time already.
    pub(crate) is_found: bool,
}

impl Wait {
    pub(crate) fn ns(&self) -> u64 {
        self.to - self.from
    }
}

/// Waits that follow each other: each begins where the one before it ends.
#[derive(Debug, Default)]
pub(crate) struct WaitRing {
    ring: VecDeque<Wait>,
}

impl WaitRing {
    /// Adds one behind the last.
    #[inline]
    pub(crate) fn push(&mut self, wait: Wait) {
        if wait.from == wait.to {
            return;
        }
        if let Some(last) = self.ring.back_mut()
            && last.part == wait.part
            && last.ns() < JOINED_NS
            && wait.ns() < JOINED_NS
        {
            last.to = wait.to;
            last.packets[1] = wait.packets[1];
            return;
        }
        self.ring.push_back(wait);
    }

    /// The oldest, where there are too many.
    #[inline]
    pub(crate) fn overflow(&mut self) -> Option<Wait> {
        if self.ring.len() > WAITS_MAX {
            self.ring.pop_front()
        } else {
            None
        }
    }

    /// From `from` to `to` it was `part`, as is known now, where it was one of `weaker`.
    /// `is_found`: a finding has that time.
    pub(crate) fn replace(
        &mut self,
        (from, to): (u64, u64),
        part: Part,
        weaker: fn(Part) -> bool,
        is_found: bool,
    ) {
        // The newest first: evidence concerns the end of the ring.
        let mut newer = Vec::new();
        while let Some(wait) = self.ring.pop_back() {
            newer.push(wait);
            if wait.from <= from {
                break;
            }
        }
        for wait in newer.into_iter().rev() {
            let [start, end] = [from, to].map(|at| at.clamp(wait.from, wait.to));
            let is_replaced = start < end && weaker(wait.part);
            if !is_replaced {
                self.ring.push_back(wait);
                continue;
            }
            let pieces = [
                (wait.part, wait.from, start, wait.is_found),
                (part, start, end, is_found),
                (wait.part, end, wait.to, wait.is_found),
            ];
            for (part, from, to, is_found) in pieces.into_iter().filter(|piece| piece.1 < piece.2) {
                let piece = Wait {
                    part,
                    from,
                    to,
                    is_found,
                    ..wait
                };
                self.ring.push_back(piece);
            }
        }
    }

    /// The parts of a time of which all is still kept, in order; what is not kept is missing.
    pub(crate) fn waits_between(&self, from: u64, to: u64) -> impl Iterator<Item = Wait> {
        let first = search::from_end(&self.ring, |wait| wait.to <= from);
        let inside = self.ring.range(first..);
        inside
            .take_while(move |wait| wait.from < to)
            .map(move |wait| Wait {
                from: wait.from.max(from),
                to: wait.to.min(to),
                ..*wait
            })
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Wait> {
        self.ring.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(part: Part, from: u64, to: u64) -> Wait {
        Wait {
            part,
            from,
            to,
            packets: [from, to],
            direction: Direction::Reply,
            ends_with_payload: true,
            is_found: false,
        }
    }

    fn parts(ring: &WaitRing) -> Vec<(Part, u64, u64)> {
        ring.waits_between(0, u64::MAX)
            .map(|wait| (wait.part, wait.from, wait.to))
            .collect()
    }

    #[test]
    fn short_waits_of_one_part_are_joined_and_long_ones_stay_apart() {
        let mut ring = WaitRing::default();
        let long = 2 * JOINED_NS;
        ring.push(wait(Part::Path, 0, 10));
        ring.push(wait(Part::Path, 10, 30));
        ring.push(wait(Part::Path, 30, 30 + long));
        ring.push(wait(Part::Server, 30 + long, 40 + long));
        assert_eq!(
            parts(&ring),
            [
                (Part::Path, 0, 30),
                (Part::Path, 30, 30 + long),
                (Part::Server, 30 + long, 40 + long)
            ]
        );
    }

    #[test]
    fn evidence_replaces_what_turns_alone_showed() {
        let mut ring = WaitRing::default();
        ring.push(wait(Part::Server, 0, 100));
        ring.push(wait(Part::LossRecovery, 100, 200));
        ring.push(wait(Part::ServerStall, 200, 300));
        ring.replace((50, 250), Part::WindowLimited, Part::is_by_turn, true);
        let left = [
            (Part::Server, 0, 50),
            (Part::WindowLimited, 50, 100),
            (Part::LossRecovery, 100, 200),
            (Part::WindowLimited, 200, 250),
            (Part::ServerStall, 250, 300),
        ];
        assert_eq!(parts(&ring), left);
        ring.replace((0, 300), Part::Closing, |_| true, false);
        assert!(
            ring.waits_between(0, 300)
                .all(|wait| wait.part == Part::Closing)
        );
    }

    #[test]
    fn a_time_is_cut_out_of_waits() {
        let mut ring = WaitRing::default();
        ring.push(wait(Part::Path, 0, 100));
        ring.push(wait(Part::Server, 100, 200));
        let cut: Vec<_> = ring
            .waits_between(90, 150)
            .map(|wait| (wait.part, wait.ns()))
            .collect();
        assert_eq!(cut, [(Part::Path, 10), (Part::Server, 50)]);
        assert_eq!(ring.waits_between(200, 300).count(), 0);
    }
}
