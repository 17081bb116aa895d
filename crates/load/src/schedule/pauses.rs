//! Who pauses, by when the pause ends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// When a pause ends, nanoseconds, and whose it is.
type Pause = (u64, u32);

/// Pauses under way, the one that ends first in front.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    /// Pauses that began in the order in which they end: all of them, where they are of
    /// one length. They cost no search.
    in_order: VecDeque<Pause>,
    // Reversed, because the standard heap gives the largest first.
    others: BinaryHeap<Reverse<Pause>>,
}

impl Pauses {
    #[inline]
    pub(crate) fn push(&mut self, end: u64, user: u32) {
        let pause = (end, user);
        match self.in_order.back() {
            Some(last) if *last > pause => self.others.push(Reverse(pause)),
            _ => self.in_order.push_back(pause),
        }
    }

    /// When the first ends; None: nobody pauses.
    #[inline]
    pub(crate) fn first_end(&self) -> Option<u64> {
        let heap = self.others.peek().map(|Reverse((end, _))| *end);
        let queue = self.in_order.front().map(|(end, _)| *end);
        match (heap, queue) {
            (Some(heap), Some(queue)) => Some(heap.min(queue)),
            (heap, queue) => heap.or(queue),
        }
    }

    /// Puts off the end of every pause.
    pub(crate) fn delay(&mut self, by_ns: u64) {
        for (end, _) in &mut self.in_order {
            *end = end.saturating_add(by_ns);
        }
        let others = std::mem::take(&mut self.others).into_iter();
        self.others = others
            .map(|Reverse((end, user))| Reverse((end.saturating_add(by_ns), user)))
            .collect();
    }

    /// Removes the first, if it ends at `now` or before.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Pause> {
        let queued = self.in_order.front().copied();
        if let Some(Reverse(pause)) = self.others.peek().copied()
            && queued.is_none_or(|queued| pause < queued)
        {
            return (pause.0 <= now).then(|| {
                self.others.pop();
                pause
            });
        }
        let pause = queued.filter(|(end, _)| *end <= now)?;
        self.in_order.pop_front();
        Some(pause)
    }
}

impl FromIterator<Pause> for Pauses {
    fn from_iter<T: IntoIterator<Item = Pause>>(pauses: T) -> Pauses {
        let mut made = Pauses::default();
        for (end, user) in pauses {
            made.push(end, user);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use wirelab_contract::texts::SplitMix64;

    use super::*;

    #[test]
    fn pauses_end_in_their_order_whatever_the_order_in_which_they_began() {
        for spread in [1, 40, 100_000] {
            let mut random = SplitMix64::new(spread);
            let mut pauses = Pauses::default();
            let mut expected = BinaryHeap::new();
            for now in 0..3_000_u64 {
                let pause = (now + random.next_u64() % spread, now as u32 % 7);
                pauses.push(pause.0, pause.1);
                expected.push(Reverse(pause));
                while expected.peek().is_some_and(|Reverse((end, _))| *end <= now) {
                    assert_eq!(pauses.first_end(), expected.peek().map(|one| one.0.0));
                    assert_eq!(pauses.pop_due(now), expected.pop().map(|one| one.0));
                }
                assert_eq!(pauses.pop_due(now), None);
            }
            assert_eq!(pauses.first_end(), expected.peek().map(|one| one.0.0));
        }
    }

    #[test]
    fn pauses_of_one_length_never_reach_the_heap() {
        let mut pauses: Pauses = (0..32).map(|user| (5, user)).collect();
        for now in 5..1_000 {
            while let Some((end, user)) = pauses.pop_due(now) {
                pauses.push(end + 10, user);
            }
        }
        assert!(pauses.others.is_empty());
        assert_eq!(pauses.in_order.len(), 32);
    }
}
