//! Packets that wait for their deadlines.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Items in the order of their deadlines, and among equal ones in the order
/// in which they came. A link keeps its packets in order, so nearly all of
/// them join the end of a line; only one that overtakes goes to the heap.
#[derive(Debug)]
pub(crate) struct DelayQueue<T> {
    line: VecDeque<(u64, T)>,
    heap: BinaryHeap<Reverse<Overtaking<T>>>,
    count: u64,
}

#[derive(Debug)]
struct Overtaking<T> {
    due_ns: u64,
    // A heap does not keep the order of equal keys: the number does.
    number: u64,
    item: T,
}

impl<T> PartialEq for Overtaking<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Overtaking<T> {}

impl<T> PartialOrd for Overtaking<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Overtaking<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.number).cmp(&(other.due_ns, other.number))
    }
}

impl<T> DelayQueue<T> {
    pub(crate) fn new() -> Self {
        DelayQueue {
            line: VecDeque::new(),
            heap: BinaryHeap::new(),
            count: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.line.len() + self.heap.len()
    }

    /// Adds an item; true when it overtakes the line.
    pub(crate) fn push(&mut self, due_ns: u64, item: T) -> bool {
        match self.line.back() {
            Some((last, _)) if *last > due_ns => {
                self.count += 1;
                let number = self.count;
                self.heap.push(Reverse(Overtaking {
                    due_ns,
                    number,
                    item,
                }));
                true
            }
            _ => {
                self.line.push_back((due_ns, item));
                false
            }
        }
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        let (line, heap) = self.fronts();
        line.into_iter().chain(heap).min()
    }

    pub(crate) fn pop(&mut self, now_ns: u64) -> Option<(u64, T)> {
        let (line, heap) = self.fronts();
        match (line, heap) {
            // At equal deadlines the line goes first: its items came before those that
            // overtook its end.
            (_, Some(early)) if early <= now_ns && line.is_none_or(|due| early < due) => self
                .heap
                .pop()
                .map(|Reverse(early)| (early.due_ns, early.item)),
            (Some(due), _) if due <= now_ns => self.line.pop_front(),
            _ => None,
        }
    }

    fn fronts(&self) -> (Option<u64>, Option<u64>) {
        let line = self.line.front().map(|(due, _)| *due);
        let heap = self.heap.peek().map(|Reverse(early)| early.due_ns);
        (line, heap)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_comes_before_its_time() {
        let mut deadlines = DelayQueue::new();
        deadlines.push(10, 'a');
        assert_eq!(deadlines.pop(9), None);
        assert_eq!(deadlines.next_ns(), Some(10));
        assert_eq!(deadlines.pop(10), Some((10, 'a')));
        assert_eq!((deadlines.next_ns(), deadlines.len()), (None, 0));
    }

    proptest! {
        #[test]
        fn everything_comes_out_in_order(dues in proptest::collection::vec(0u64..50, 0..200)) {
            let mut deadlines = DelayQueue::new();
            for due in &dues {
                deadlines.push(*due, *due);
            }
            let out: Vec<u64> = std::iter::from_fn(|| deadlines.pop(50).map(|(due, _)| due)).collect();
            let mut sorted = dues;
            sorted.sort_unstable();
            prop_assert_eq!(out, sorted);
        }

        #[test]
        fn what_has_one_deadline_keeps_its_order(n in 1u32..100) {
            let mut deadlines = DelayQueue::new();
            for number in 0..n {
                deadlines.push(7, number);
            }
            let out: Vec<u32> = std::iter::from_fn(|| deadlines.pop(7).map(|(_, item)| item)).collect();
            prop_assert_eq!(out, (0..n).collect::<Vec<_>>());
        }
    }
}
