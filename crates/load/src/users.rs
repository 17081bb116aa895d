//! Who wants to call next: users of closed loads, arrivals of open ones.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::arrivals::Arrivals;
use crate::shared::{Span, UNSET};

/// In no sequence, or in one that has not begun.
pub(crate) const NO_SEQUENCE: u32 = u32::MAX;

/// A call that waits for room on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Users of closed loads are numbered, and so are arrivals of open ones,
    /// each over all threads.
    pub(crate) user: u32,
    pub(crate) sequence: u32,
    pub(crate) intended: u64,
    /// How often it was sent elsewhere.
    pub(crate) hops: u8,
    /// When its arrival was intended: of the first call, where it is a later
    /// one of a sequence. By it a call belongs to the window.
    pub(crate) arrival: u64,
}

impl Waiting {
    /// A call that is an arrival itself.
    #[inline]
    pub(crate) fn arrival(user: u32, intended: u64) -> Waiting {
        Waiting {
            user,
            sequence: NO_SEQUENCE,
            hops: 0,
            intended,
            arrival: intended,
        }
    }
}

/// The demand side of one group in one thread: an unbounded queue and what feeds it.
pub(crate) struct Users {
    queue: VecDeque<Waiting>,
    pub(crate) queue_max: usize,
    /// Calls whose arrival the window has admitted. They go first, or an
    /// overload would begin sequences without end and finish none.
    admitted: VecDeque<Waiting>,
    /// Users in their pause: when it ends, and who.
    thinking: BinaryHeap<Reverse<(u64, u32)>>,
    think_ns: u64,
    schedule: Option<Schedule>,
    /// Calls of the window still to arrive by the schedule, or to be begun by users;
    /// None: the window ends by time.
    quota: Option<u64>,
    /// When the first call that the quota did not admit wanted to begin.
    refused_at: u64,
}

struct Schedule {
    arrivals: Arrivals,
    origin: u64,
    next: u64,
    /// Number of the next arrival, and what lies between two of this thread.
    number: u32,
    step: u32,
}

/// Numbers of this thread's users or arrivals: the first, and the step to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) first: u32,
    pub(crate) step: u32,
}

impl Users {
    pub(crate) fn closed(
        users: u32,
        numbers: Numbers,
        think_ns: u64,
        quota: Option<u64>,
        now: u64,
    ) -> Users {
        let number = |k: u32| numbers.first.wrapping_add(k.wrapping_mul(numbers.step));
        let queue = (0..users).map(|k| Waiting::arrival(number(k), now));
        Users {
            queue: queue.collect(),
            queue_max: 0,
            admitted: VecDeque::new(),
            thinking: BinaryHeap::new(),
            think_ns,
            schedule: None,
            quota,
            refused_at: UNSET,
        }
    }

    pub(crate) fn open(
        mut arrivals: Arrivals,
        numbers: Numbers,
        quota: Option<u64>,
        origin: u64,
    ) -> Users {
        let next = arrivals
            .next()
            .map_or(UNSET, |at| origin.saturating_add(at));
        Users {
            queue: VecDeque::new(),
            queue_max: 0,
            admitted: VecDeque::new(),
            thinking: BinaryHeap::new(),
            think_ns: 0,
            schedule: Some(Schedule {
                arrivals,
                origin,
                next,
                number: numbers.first,
                step: numbers.step,
            }),
            quota,
            refused_at: UNSET,
        }
    }

    /// The user's call has ended: it calls again at once, or after its pause.
    /// Users of open loads do not come back.
    #[inline]
    pub(crate) fn call_ended(&mut self, user: u32, done: u64) {
        match (self.schedule.is_some(), self.think_ns) {
            (true, _) => {}
            (false, 0) => self.queue.push_back(Waiting::arrival(user, done)),
            (false, think) => self.thinking.push(Reverse((done + think, user))),
        }
    }

    /// A call whose arrival has been admitted goes on: the next of a sequence,
    /// or one that must be made again elsewhere.
    #[inline]
    pub(crate) fn go_on(&mut self, waiting: Waiting) {
        self.admitted.push_back(waiting);
    }

    /// Whether any call waits for a connection.
    #[inline]
    pub(crate) fn waiting(&self) -> bool {
        !self.queue.is_empty() || !self.admitted.is_empty()
    }

    /// Queues what is due at `now`; `late` gets how late each scheduled
    /// arrival was taken, with its intended time.
    pub(crate) fn arrive(&mut self, now: u64, span: Span, mut late: impl FnMut(u64, u64)) {
        while let Some(Reverse((due, user))) = self.thinking.peek().copied() {
            if due > now {
                break;
            }
            self.thinking.pop();
            self.queue.push_back(Waiting::arrival(user, due));
        }
        let Some(schedule) = &mut self.schedule else {
            return;
        };
        while schedule.next <= now && schedule.next < span.end {
            if span.is_open_or_past(schedule.next) {
                match &mut self.quota {
                    Some(0) => return,
                    Some(quota) => *quota -= 1,
                    None => {}
                }
            }
            late(schedule.next, now - schedule.next);
            self.queue
                .push_back(Waiting::arrival(schedule.number, schedule.next));
            schedule.number = schedule.number.wrapping_add(schedule.step);
            schedule.next = schedule
                .arrivals
                .next()
                .map_or(UNSET, |at| schedule.origin.saturating_add(at));
        }
    }

    /// Notes how many arrivals wait, once those that can begin have begun.
    #[inline]
    pub(crate) fn note_waiting(&mut self) {
        if self.schedule.is_some() {
            self.queue_max = self.queue_max.max(self.queue.len());
        }
    }

    /// When the last arrival may be intended: before the window's end, and
    /// not in the window once its calls have all been begun.
    fn arrivals_end(&self, span: Span) -> u64 {
        match self.exhausted() {
            true => span.start,
            false => span.end,
        }
    }

    /// The next call to begin, if the window lets it begin.
    #[inline]
    pub(crate) fn next(&mut self, span: Span) -> Option<Waiting> {
        if let Some(waiting) = self.admitted.pop_front() {
            return Some(waiting);
        }
        while let Some(waiting) = self.queue.pop_front() {
            if self.admits(waiting.intended, span) {
                return Some(waiting);
            }
        }
        None
    }

    #[inline]
    fn admits(&mut self, intended: u64, span: Span) -> bool {
        if intended >= span.end {
            return false;
        }
        // A schedule's calls were counted as they arrived.
        if self.schedule.is_some() || !span.is_open_or_past(intended) {
            return true;
        }
        match &mut self.quota {
            Some(0) => {
                self.refused_at = self.refused_at.min(intended);
                false
            }
            Some(quota) => {
                *quota -= 1;
                true
            }
            None => true,
        }
    }

    /// Forgets who waits to begin a call that the window will not admit.
    pub(crate) fn send_home(&mut self, span: Span) {
        let exhausted = self.exhausted();
        if self.schedule.is_some() {
            // In the order of the schedule, and counted as they arrived.
            let over = |waiting: &Waiting| waiting.intended >= span.end;
            while self.queue.back().is_some_and(over) {
                self.queue.pop_back();
            }
            return;
        }
        let refused_at = &mut self.refused_at;
        self.queue.retain(|waiting| {
            let refused = exhausted && span.is_open_or_past(waiting.intended);
            if refused {
                *refused_at = waiting.intended.min(*refused_at);
            }
            waiting.intended < span.end && !refused
        });
    }

    /// When the call after the last of the quota would begin, and so the quota is
    /// what the window holds; None before it is used up, or while no user is free.
    pub(crate) fn full_at(&self) -> Option<u64> {
        if !self.exhausted() {
            return None;
        }
        let scheduled = self.schedule.as_ref().map_or(UNSET, |own| own.next);
        let at = self.refused_at.min(scheduled).min(self.thinking_until());
        (at != UNSET).then_some(at)
    }

    /// When the next pause of a user ends.
    fn thinking_until(&self) -> u64 {
        self.thinking.peek().map_or(UNSET, |Reverse((due, _))| *due)
    }

    /// True when the quota of calls has been used up.
    pub(crate) fn exhausted(&self) -> bool {
        self.quota == Some(0)
    }

    /// When [`Users::arrive`] next has something to do.
    pub(crate) fn next_due(&self, span: Span) -> u64 {
        let end = self.arrivals_end(span);
        let scheduled = match &self.schedule {
            Some(schedule) if schedule.next < end => schedule.next,
            _ => UNSET,
        };
        scheduled.min(self.thinking_until())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Load;

    const ALWAYS: Span = Span {
        start: 0,
        end: UNSET,
    };

    const NUMBERS: Numbers = Numbers { first: 0, step: 1 };

    fn open(rate: f64, quota: Option<u64>) -> Users {
        let load = Load::Constant {
            rate,
            in_flight_max: 1,
        };
        Users::open(Arrivals::of(&load, 0, 1).unwrap(), NUMBERS, quota, 1000)
    }

    #[test]
    fn late_arrivals_keep_their_intended_time_and_none_is_dropped() {
        let mut users = open(1e6, None);
        let mut lags = Vec::new();
        users.arrive(6000, ALWAYS, |at, lag| lags.push((at, lag)));
        users.note_waiting();
        assert_eq!(
            lags,
            (1..=6)
                .map(|k| (k * 1000, 6000 - k * 1000))
                .collect::<Vec<_>>()
        );
        let taken: Vec<u64> = std::iter::from_fn(|| users.next(ALWAYS))
            .map(|w| w.intended)
            .collect();
        assert_eq!(taken, [1000, 2000, 3000, 4000, 5000, 6000]);
        assert_eq!((users.next_due(ALWAYS), users.queue_max), (7000, 6));
    }

    #[test]
    fn a_user_calls_again_when_the_last_call_ended() {
        let mut users = Users::closed(2, NUMBERS, 0, None, 5);
        assert_eq!(
            users.next(ALWAYS).map(|w| (w.user, w.intended)),
            Some((0, 5))
        );
        users.call_ended(0, 90);
        let rest: Vec<_> = std::iter::from_fn(|| users.next(ALWAYS))
            .map(|w| (w.user, w.intended))
            .collect();
        assert_eq!(rest, [(1, 5), (0, 90)]);
    }

    #[test]
    fn think_time_moves_the_intended_time() {
        let mut users = Users::closed(1, NUMBERS, 50, None, 0);
        users.next(ALWAYS);
        users.call_ended(0, 100);
        users.arrive(149, ALWAYS, |_, _| {});
        assert!(users.next(ALWAYS).is_none());
        assert_eq!(users.next_due(ALWAYS), 150);
        users.arrive(170, ALWAYS, |_, _| {});
        assert_eq!(users.next(ALWAYS).map(|w| w.intended), Some(150));
    }

    #[test]
    fn nothing_begins_after_the_window() {
        let span = Span {
            start: 0,
            end: 3000,
        };
        let mut users = open(1e6, None);
        users.arrive(9000, span, |_, _| {});
        assert_eq!(std::iter::from_fn(|| users.next(span)).count(), 2);
        // Or the reactor would spin while the last calls are under way.
        assert_eq!(users.next_due(span), UNSET);
    }

    #[test]
    fn a_rate_so_low_that_no_clock_holds_its_gap_arrives_once() {
        let mut users = open(1e-12, None);
        users.arrive(u64::MAX - 1, ALWAYS, |_, _| {});
        assert_eq!(users.next(ALWAYS).map(|w| w.intended), Some(1000));
        assert_eq!((users.queue.len(), users.next_due(ALWAYS)), (0, UNSET));
    }

    #[test]
    fn nothing_arrives_once_the_quota_is_used_up() {
        let mut users = open(1e6, Some(1));
        users.arrive(1000, ALWAYS, |_, _| {});
        assert!(users.next(ALWAYS).is_some());
        let mut lags = 0;
        users.arrive(9000, ALWAYS, |_, _| lags += 1);
        assert_eq!((lags, users.next_due(ALWAYS)), (0, UNSET));
    }

    #[test]
    fn the_quota_counts_only_calls_of_the_window() {
        let mut users = open(1e6, Some(2));
        let span = Span {
            start: 3000,
            end: UNSET,
        };
        users.arrive(9000, span, |_, _| {});
        let taken: Vec<u64> = std::iter::from_fn(|| users.next(span))
            .map(|w| w.intended)
            .collect();
        assert_eq!(taken, [1000, 2000, 3000, 4000]);
        assert!(users.exhausted());
    }

    #[test]
    fn the_window_is_full_when_one_call_more_would_begin() {
        let span = Span {
            start: 3000,
            end: UNSET,
        };
        let mut arrivals = open(1e6, Some(2));
        arrivals.arrive(4500, span, |_, _| {});
        while arrivals.next(span).is_some() {}
        assert_eq!(arrivals.full_at(), Some(5000), "the next of the schedule");

        let mut behind = open(1e6, Some(2));
        behind.arrive(9000, span, |_, _| {});
        assert_eq!(behind.full_at(), Some(5000), "though all of them wait");
        behind.send_home(span);
        assert_eq!(std::iter::from_fn(|| behind.next(span)).count(), 4);

        let mut users = Users::closed(2, NUMBERS, 0, Some(3), 0);
        let early = [users.next(span), users.next(span)];
        assert!(early.iter().all(Option::is_some));
        for done in [3100, 3200, 3300] {
            users.call_ended(0, done);
            assert!(users.full_at().is_none() && users.next(span).is_some());
        }
        assert_eq!(users.full_at(), None, "no user is free");
        users.call_ended(1, 3700);
        users.call_ended(0, 3800);
        assert_eq!(users.next(span), None);
        assert_eq!(users.full_at(), Some(3700));

        let mut thinking = Users::closed(1, NUMBERS, 500, Some(1), 3000);
        assert!(thinking.next(span).is_some());
        thinking.call_ended(0, 3100);
        assert_eq!(thinking.full_at(), Some(3600));
    }

    #[test]
    fn what_goes_on_goes_first_after_the_window_too() {
        let mut users = Users::closed(2, Numbers { first: 1, step: 3 }, 0, Some(2), 5);
        let first = users.next(ALWAYS).unwrap();
        assert_eq!(first, Waiting::arrival(1, 5));
        let second = Waiting {
            sequence: 0,
            intended: 90,
            ..first
        };
        users.go_on(second);
        assert_eq!(users.next(ALWAYS), Some(second));
        assert_eq!(users.next(ALWAYS), Some(Waiting::arrival(4, 5)));
        users.go_on(second);
        let over = Span { start: 0, end: 80 };
        users.send_home(over);
        assert!(users.exhausted() && users.waiting());
        assert_eq!(users.next(over), Some(second));
        assert_eq!(users.next(over), None);
    }
}
