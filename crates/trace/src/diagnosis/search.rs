//! Searches in what is kept in order: nearly always it is one of the last that is wanted.

use std::collections::VecDeque;

/// The place of the first that `is_before` is false for; it is true for all before that one. Looks
/// at the last ones first, because halving the whole queue misses the cache at every step.
pub(crate) fn from_end<T>(queue: &VecDeque<T>, is_before: impl Fn(&T) -> bool) -> usize {
    let all = queue.len();
    let (mut start, mut end, mut step) = (0, all, 1);
    while start < end {
        let place = all.saturating_sub(step);
        if is_before(&queue[place]) {
            start = place + 1;
            break;
        }
        end = place;
        step *= 2;
    }
    while start < end {
        let middle = start.midpoint(end);
        if is_before(&queue[middle]) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found() {
        for length in 0..40_usize {
            let queue: VecDeque<usize> = (0..length).collect();
            for at in 0..=length {
                assert_eq!(from_end(&queue, |one| *one < at), at, "{length}");
            }
        }
    }
}
