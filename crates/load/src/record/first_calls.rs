//! The response times of a run's first calls, in the order in which they were intended.

use std::collections::BinaryHeap;

/// First calls that can be kept.
pub(crate) const FIRST_CALLS_MAX: u32 = 1000;

/// The first calls, of which more end later than they were begun.
pub(crate) struct FirstCalls {
    most: usize,
    /// The latest on top, so that an earlier one can take its place.
    calls: BinaryHeap<FirstCall>,
}

/// A call that is over; the order is that of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FirstCall {
    intended: u64,
    /// Users of a closed load begin at the same moment.
    sent: u64,
    /// 0: it failed.
    response_ns: u64,
}

impl FirstCalls {
    /// None where none are to be kept.
    pub(crate) fn of(most: u32) -> Option<FirstCalls> {
        (most > 0).then(|| FirstCalls {
            most: most as usize,
            calls: BinaryHeap::with_capacity(most as usize),
        })
    }

    /// One call that is over; None as its response time: it failed.
    #[inline]
    pub(crate) fn add_ended(&mut self, intended: u64, sent: u64, response_ns: Option<u64>) {
        let call = FirstCall {
            intended,
            sent,
            response_ns: response_ns.unwrap_or(0),
        };
        if self.calls.len() < self.most {
            self.calls.push(call);
        } else if let Some(mut latest) = self.calls.peek_mut()
            && call < *latest
        {
            *latest = call;
        }
    }

    pub(crate) fn merge(&mut self, other: FirstCalls) {
        for call in other.calls {
            self.add_ended(
                call.intended,
                call.sent,
                Some(call.response_ns).filter(|ns| *ns > 0),
            );
        }
    }

    /// Nanoseconds, of failed ones 0.
    pub(crate) fn into_ns(self) -> Vec<u64> {
        let calls = self.calls.into_sorted_vec().into_iter();
        calls.map(|call| call.response_ns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_calls_are_kept_in_order_whenever_they_end() {
        let mut first = FirstCalls::of(3).unwrap();
        for (intended, ns) in [(50, 5), (40, 4), (10, 1), (60, 6), (30, 3), (20, 2)] {
            first.add_ended(intended, intended + 1, Some(ns));
        }
        assert_eq!(first.into_ns(), [1, 2, 3]);
    }

    #[test]
    fn users_who_begin_together_are_in_the_order_of_their_sends() {
        let mut first = FirstCalls::of(2).unwrap();
        first.add_ended(10, 13, Some(1));
        first.add_ended(10, 12, Some(9));
        first.add_ended(10, 11, Some(5));
        assert_eq!(first.into_ns(), [5, 9]);
    }

    #[test]
    fn threads_share_one_order_and_failed_calls_keep_their_place() {
        let (mut one, mut other) = (FirstCalls::of(3).unwrap(), FirstCalls::of(3).unwrap());
        one.add_ended(10, 10, Some(1));
        one.add_ended(30, 30, Some(3));
        other.add_ended(20, 20, None);
        other.add_ended(40, 40, Some(4));
        one.merge(other);
        assert_eq!(one.into_ns(), [1, 0, 3]);
    }
}
