//! Calls or exchanges whose counterpart has not come yet, by the client's port.

use std::collections::{HashMap, VecDeque};

/// How many wait on one port: a connection has at most 1,024 calls under way, and
/// a thread of the engine writes its lines some hundreds at a time.
const PORT_MAX: usize = 4_096;
/// One that this number of others have followed is not waited for any more.
const ALL_MAX: usize = 1 << 17;

/// Queues in the order of arrival, in bounded memory.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    queues: HashMap<u16, VecDeque<(u64, T)>>,
    /// Ports and numbers of the last that came; those of some have gone.
    order: VecDeque<(u16, u64)>,
    next: u64,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting {
            queues: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
        }
    }
}

impl<T> Waiting<T> {
    /// Puts one more behind those of its port; `gone` gets the one that is dropped for it.
    pub(super) fn push(&mut self, port: u16, item: T, mut gone: impl FnMut(T)) {
        let queue = self.queues.entry(port).or_default();
        if queue.len() >= PORT_MAX
            && let Some((_, oldest)) = queue.pop_front()
        {
            gone(oldest);
        }
        queue.push_back((self.next, item));
        self.order.push_back((port, self.next));
        self.next += 1;
        if self.order.len() > ALL_MAX
            && let Some((port, number)) = self.order.pop_front()
            && let Some(queue) = self.queues.get_mut(&port)
            && queue.front().is_some_and(|(front, _)| *front == number)
            && let Some((_, oldest)) = queue.pop_front()
        {
            gone(oldest);
        }
    }

    pub(super) fn of(&self, port: u16) -> impl Iterator<Item = &T> {
        let queue = self.queues.get(&port);
        queue.into_iter().flatten().map(|(_, item)| item)
    }

    /// Takes the one at that place of [`Waiting::of`].
    pub(super) fn take(&mut self, port: u16, place: usize) -> Option<T> {
        let (_, item) = self.queues.get_mut(&port)?.remove(place)?;
        Some(item)
    }

    pub(super) fn rest(&mut self) -> impl Iterator<Item = T> {
        let queues = std::mem::take(&mut self.queues);
        queues.into_values().flatten().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_memory_is_full() {
        let (mut waiting, mut gone) = (Waiting::default(), Vec::new());
        for number in 0..ALL_MAX + 10 {
            waiting.push((number % 1_000) as u16, number, |old| gone.push(old));
        }
        assert_eq!(gone, (0..10).collect::<Vec<_>>());
        assert_eq!(waiting.of(10).next(), Some(&10));
        assert_eq!(waiting.of(9).next(), Some(&1_009));
        assert_eq!(waiting.rest().count(), ALL_MAX);
    }

    #[test]
    fn one_port_alone_is_bounded() {
        let (mut waiting, mut gone) = (Waiting::default(), 0);
        for number in 0..PORT_MAX + 5 {
            waiting.push(7, number, |_| gone += 1);
        }
        assert_eq!((gone, waiting.of(7).count()), (5, PORT_MAX));
    }

    #[test]
    fn a_taken_entry_is_not_evicted() {
        let (mut waiting, mut gone) = (Waiting::default(), Vec::new());
        waiting.push(1, 0, |old| gone.push(old));
        waiting.push(1, 1, |old| gone.push(old));
        assert_eq!(waiting.take(1, 0), Some(0));
        assert_eq!(waiting.take(1, 5), None);
        for number in 2..ALL_MAX + 1 {
            waiting.push(2 + (number % 100) as u16, number, |old| gone.push(old));
        }
        assert!(gone.is_empty(), "{gone:?}");
        assert_eq!(waiting.of(1).collect::<Vec<_>>(), [&1]);
    }
}
