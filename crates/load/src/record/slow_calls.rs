//! The slowest calls of the window, and what the slowest hundredth waited for next to those around
//! the median.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wirelab_contract::ranks::{RankSum, RankedTimes};

use crate::call::calls::{Call, CallOrigin};
use crate::call::result::{CallComparison, CallPhases, CallSum, SlowCall, SlowestCalls};

/// Slow calls that can be kept.
pub(crate) const SLOWEST_MAX: u32 = 1000;

/// Those of [`CallPhases`], in their order.
const PHASES: usize = 4;

/// The slowest calls, and the sums of all.
pub(crate) struct SlowCalls {
    most: usize,
    /// The least slow on top, so that a slower one can take its place.
    slowest: BinaryHeap<Reverse<KeptCall>>,
    times: RankedTimes<PHASES>,
}

/// A call that is over; the order is that of the fields.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeptCall {
    response_ns: u64,
    /// Of two that are equally slow, the earlier one is kept.
    intended_ns: Reverse<u64>,
    port: u16,
    connection: u64,
    ordinal: u64,
    operation: Box<str>,
    phases: [u64; PHASES],
    failed: bool,
}

impl SlowCalls {
    /// None where none are to be kept.
    pub(crate) fn of(most: u32) -> Option<SlowCalls> {
        (most > 0).then(|| SlowCalls {
            most: most as usize,
            slowest: BinaryHeap::new(),
            times: RankedTimes::default(),
        })
    }

    /// One call of the window that is over; `intended_ns` counts from the opening of the window.
    pub(crate) fn add_ended(
        &mut self,
        call: &Call,
        origin: CallOrigin,
        operation: &str,
        intended_ns: u64,
    ) {
        let phases = phases(call);
        let response_ns = phases.iter().sum();
        self.times.add(response_ns, phases);
        let least = self.slowest.peek().map(|Reverse(kept)| kept.response_ns);
        if self.slowest.len() == self.most && least >= Some(response_ns) {
            return;
        }
        self.keep(KeptCall {
            response_ns,
            intended_ns: Reverse(intended_ns),
            port: origin.port,
            connection: origin.connection,
            ordinal: call.ordinal,
            operation: operation.into(),
            phases,
            failed: call.failed,
        });
    }

    fn keep(&mut self, call: KeptCall) {
        self.slowest.push(Reverse(call));
        if self.slowest.len() > self.most {
            self.slowest.pop();
        }
    }

    pub(crate) fn merge(&mut self, other: SlowCalls) {
        self.times.merge(other.times);
        for Reverse(call) in other.slowest {
            self.keep(call);
        }
    }

    pub(crate) fn outcome(self) -> SlowestCalls {
        let compared = self.times.slowest_hundredth();
        let compared = compared.zip(self.times.around_median());
        // In ascending order, and reversed: the slowest first.
        let slowest = self.slowest.into_sorted_vec().into_iter();
        SlowestCalls {
            of: self.times.count(),
            list: slowest.map(|Reverse(call)| call.outcome()).collect(),
            compared: compared.map(|(slowest, median)| CallComparison {
                slowest: call_sum(&slowest),
                median: call_sum(&median),
            }),
        }
    }
}

impl KeptCall {
    fn outcome(self) -> SlowCall {
        SlowCall {
            operation: self.operation.into(),
            connection: self.connection,
            port: self.port,
            ordinal: self.ordinal,
            intended_ns: self.intended_ns.0,
            response_ns: self.response_ns,
            phases: call_phases(self.phases),
            failed: self.failed,
        }
    }
}

fn call_sum(sum: &RankSum<PHASES>) -> CallSum {
    CallSum {
        count: sum.count,
        response_ns: sum.total(),
        phases: call_phases(sum.parts),
    }
}

fn call_phases([queueing_ns, write_ns, wait_ns, read_ns]: [u64; PHASES]) -> CallPhases {
    CallPhases {
        queueing_ns,
        write_ns,
        wait_ns,
        read_ns,
    }
}

/// From when the call was due to its end; a stamp that it never got ends with the call.
fn phases(call: &Call) -> [u64; PHASES] {
    let mut before = call.waiting.intended;
    [call.sent, call.flushed, call.first_byte, call.done].map(|stamp| {
        let at = if stamp == 0 { call.done } else { stamp };
        let ns = at.min(call.done).saturating_sub(before);
        before += ns;
        ns
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::waiting::Waiting;

    /// Due at `intended`, with that response time, half of which it waited for its first byte.
    fn call(ordinal: u64, intended: u64, response: u64) -> Call {
        let mut call = Call::default();
        call.waiting = Waiting::arrival(0, intended);
        (call.ordinal, call.sent) = (ordinal, intended);
        (call.flushed, call.first_byte) = (intended, intended + response / 2);
        call.done = intended + response;
        call
    }

    fn slow_calls(most: u32, responses: &[u64]) -> SlowCalls {
        let mut slow = SlowCalls::of(most).expect("some are kept");
        for (ordinal, response) in (0..).zip(responses) {
            let call = call(ordinal, 10 + ordinal, *response);
            slow.add_ended(&call, CallOrigin::default(), "Hello", ordinal);
        }
        slow
    }

    fn ordinals(outcome: &SlowestCalls) -> Vec<(u64, u64)> {
        let list = outcome.list.iter();
        list.map(|one| (one.ordinal, one.response_ns)).collect()
    }

    #[test]
    fn the_slowest_are_kept_the_slowest_first_and_the_earlier_of_equal_ones() {
        let outcome = slow_calls(3, &[4, 9, 2, 9, 4, 6, 6]).outcome();
        assert_eq!(ordinals(&outcome), [(1, 9), (3, 9), (5, 6)]);
        assert_eq!((outcome.of, outcome.compared), (7, None));
    }

    #[test]
    fn threads_share_one_list_and_one_comparison() {
        let mut one = slow_calls(2, &[10; 60]);
        one.merge(slow_calls(2, &[[10; 59].as_slice(), &[90]].concat()));
        let outcome = one.outcome();
        assert_eq!(ordinals(&outcome), [(59, 90), (0, 10)]);
        let compared = outcome.compared.expect("more than a hundred");
        // Of 120 the slowest two: one of 90 ns, and one of 10.
        assert_eq!(
            (compared.slowest.count, compared.slowest.response_ns),
            (2, 100)
        );
        assert_eq!(
            (compared.median.count, compared.median.response_ns),
            (12, 120)
        );
        assert_eq!(compared.median.phases.wait_ns, 60);
        assert_eq!(compared.median.phases.read_ns, 60);
    }

    #[test]
    fn the_phases_of_a_call_add_up_to_its_response_time_whatever_it_lacks() {
        let mut whole = call(0, 100, 50);
        (whole.sent, whole.flushed) = (110, 115);
        assert_eq!(phases(&whole), [10, 5, 10, 25]);
        let mut unanswered = call(0, 100, 50);
        (unanswered.sent, unanswered.first_byte) = (110, 0);
        unanswered.flushed = 115;
        assert_eq!(phases(&unanswered), [10, 5, 35, 0]);
        let mut unfinished = call(0, 100, 50);
        (unfinished.flushed, unfinished.first_byte) = (0, 0);
        assert_eq!(phases(&unfinished), [0, 50, 0, 0]);
    }
}
