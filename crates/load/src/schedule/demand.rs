//! Who wants to call next: users of closed loads, arrivals of open ones.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::call::clock::UNSET;
use crate::call::span::Span;
use crate::call::waiting::{Numbers, Waiting};
use crate::plan::Distribution;
use crate::schedule::arrivals::{Arrivals, Schedule};
use crate::schedule::pauses::Pauses;
use crate::schedule::quota::Quota;
use crate::schedule::stages::{Presence, Stages};
use crate::schedule::think::Think;

/// The demand side of one group in one thread: an unbounded queue and what feeds it.
pub(crate) struct Demand {
    queue: VecDeque<Waiting>,
    pub(crate) queue_max: usize,
    /// Calls whose arrival the window has admitted. They go first, or an
    /// overload would begin sequences without end and finish none.
    admitted: VecDeque<Waiting>,
    /// Users in their pause, or before their first call.
    thinking: Pauses,
    think: Think,
    /// Calls that a user makes before each pause.
    calls_per_pause: u32,
    /// Calls after which a user ends.
    iterations: u32,
    /// Calls that each user has ended, by its place in this thread; kept where a pause or an
    /// end depends on it.
    made: Vec<u32>,
    /// How many users call, over time; None: all of them, always.
    presence: Option<Presence>,
    numbers: Numbers,
    schedule: Option<Schedule>,
    /// How many calls may still arrive in the window; None: it ends by time.
    quota: Option<Arc<Quota>>,
    /// When the last call arrived that the quota admitted.
    admitted_at: u64,
    /// Users who were to call after their slice had ended; None where the load has no slices.
    parked: Option<Vec<u32>>,
}

/// What users of a closed load do between calls.
#[derive(Debug, Clone)]
pub(crate) struct Behaviour {
    pub(crate) think: Think,
    pub(crate) calls_per_pause: u32,
    pub(crate) iterations: Option<u32>,
    /// How many of the users call, over time; None: all of them, always.
    pub(crate) stages: Option<Stages>,
}

impl Demand {
    pub(crate) fn closed(
        users: u32,
        numbers: Numbers,
        behaviour: Behaviour,
        quota: Option<Arc<Quota>>,
        now: u64,
    ) -> Demand {
        let number = |k: u32| numbers.first.wrapping_add(k.wrapping_mul(numbers.step));
        let presence = behaviour.stages.map(|stages| Presence::new(stages, now));
        let begins = |user: u32| match &presence {
            Some(presence) => presence.next(user, now).map(|at| (at, user)),
            None => Some((now, user)),
        };
        let counts = behaviour.iterations.is_some() || behaviour.calls_per_pause > 1;
        Demand {
            queue: VecDeque::new(),
            queue_max: 0,
            admitted: VecDeque::new(),
            thinking: (0..users).filter_map(|k| begins(number(k))).collect(),
            think: behaviour.think,
            calls_per_pause: behaviour.calls_per_pause,
            iterations: behaviour.iterations.unwrap_or(u32::MAX),
            made: vec![0; if counts { users as usize } else { 0 }],
            presence,
            numbers,
            schedule: None,
            quota,
            admitted_at: 0,
            parked: None,
        }
    }

    pub(crate) fn open(
        arrivals: Arrivals,
        numbers: Numbers,
        quota: Option<Arc<Quota>>,
        origin: u64,
    ) -> Demand {
        Demand {
            queue: VecDeque::new(),
            queue_max: 0,
            admitted: VecDeque::new(),
            thinking: Pauses::default(),
            think: Think::new(0.0, Distribution::Constant, 0, 0),
            calls_per_pause: 1,
            iterations: u32::MAX,
            made: Vec::new(),
            presence: None,
            numbers,
            schedule: Some(Schedule::new(arrivals, numbers, origin)),
            quota,
            admitted_at: 0,
            parked: None,
        }
    }

    /// From now on the load is made in slices: who would call after the end of one waits for
    /// the next.
    pub(crate) fn take_turns(&mut self) {
        self.parked = Some(Vec::new());
    }

    /// Goes on at `now` after the slice that ended at `since`, as if no time had passed.
    pub(crate) fn resume(&mut self, since: u64, now: u64) {
        let paused_ns = now.saturating_sub(since);
        self.thinking.delay(paused_ns);
        if let Some(schedule) = &mut self.schedule {
            schedule.delay(paused_ns);
        }
        if let Some(parked) = &mut self.parked {
            let arrivals = parked.drain(..).map(|user| Waiting::arrival(user, now));
            self.queue.extend(arrivals);
        }
    }

    /// The user's call has ended: it calls again at once, or after its pause.
    /// Users of open loads do not come back. Returns when its pause ends, `done` without one.
    #[inline]
    pub(crate) fn call_ended(&mut self, user: u32, done: u64, span: Span) -> u64 {
        if self.schedule.is_some() {
            return done;
        }
        // Users who only call, at once: the common case needs neither heap nor counter.
        if self.think.is_none() && self.made.is_empty() && self.presence.is_none() {
            self.queue_arrival(user, done, span);
            return done;
        }
        self.pause_or_end(user, done, span)
    }

    /// The same of a user who may pause, or end, or is not wanted for some time.
    fn pause_or_end(&mut self, user: u32, done: u64, span: Span) -> u64 {
        let place = user.wrapping_sub(self.numbers.first) / self.numbers.step;
        let made = self.made.get_mut(place as usize).map_or(0, |made| {
            *made += 1;
            *made
        });
        if made >= self.iterations {
            return done;
        }
        let pauses = !self.think.is_none() && made.is_multiple_of(self.calls_per_pause);
        let pause_end = match pauses {
            true => done + self.think.next_ns(),
            false => done,
        };
        let next = match &self.presence {
            Some(presence) => presence.next(user, pause_end),
            None => Some(pause_end),
        };
        match next {
            Some(at) if at <= done => self.queue_arrival(user, at, span),
            Some(at) => {
                self.thinking.push(at, user);
                self.note_full();
            }
            None => {}
        }
        pause_end
    }

    /// Queues an arrival, unless the window is over or holds its calls.
    #[inline]
    fn queue_arrival(&mut self, user: u32, at: u64, span: Span) {
        if at < span.end && self.admits(at, span) {
            self.queue.push_back(Waiting::arrival(user, at));
        } else if let Some(parked) = &mut self.parked {
            parked.push(user);
        }
    }

    #[inline]
    fn admits(&mut self, at: u64, span: Span) -> bool {
        let Some(quota) = &self.quota else {
            return true;
        };
        if !span.is_open_or_past(at) {
            return true;
        }
        let admitted = quota.admit(at);
        if admitted {
            self.admitted_at = at;
        }
        admitted
    }

    /// A call whose arrival has been admitted goes on: the next of a sequence,
    /// or one that must be made again elsewhere.
    #[inline]
    pub(crate) fn requeue(&mut self, waiting: Waiting) {
        self.admitted.push_back(waiting);
    }

    /// Whether any call waits for a connection.
    #[inline]
    pub(crate) fn waiting(&self) -> bool {
        !self.queue.is_empty() || !self.admitted.is_empty()
    }

    /// Queues what is due at `now`; `late` gets how late each scheduled
    /// arrival was taken, with its intended time.
    // All that is due, however much: an arrival that is skipped when the engine is late would
    // be coordinated omission (Tene, 2013).
    pub(crate) fn arrive(&mut self, now: u64, span: Span, mut late: impl FnMut(u64, u64)) {
        while let Some((due, user)) = self.thinking.pop_due(now) {
            self.queue_arrival(user, due, span);
        }
        while let Some((at, number)) = self.scheduled()
            && at <= now
            && at < span.end
            // The last condition, because it takes from the quota.
            && self.admits(at, span)
        {
            late(at, now - at);
            self.queue.push_back(Waiting::arrival(number, at));
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
        }
        self.note_full();
    }

    /// The next arrival of the schedule: when, and its number.
    #[inline]
    fn scheduled(&self) -> Option<(u64, u32)> {
        self.schedule.as_ref().map(Schedule::peek)
    }

    /// Notes when the next arrival comes, where that is known and one too many.
    #[inline]
    fn note_full(&self) {
        if let Some(quota) = &self.quota
            && quota.exhausted()
        {
            let scheduled = self.scheduled().map_or(UNSET, |(at, _)| at);
            quota.one_too_many(scheduled.min(self.thinking_until()));
        }
    }

    /// The window as this thread's arrivals know it: it closes when one more would come,
    /// and holds all that were admitted.
    #[inline]
    pub(crate) fn own(&self, span: Span) -> Span {
        match &self.quota {
            Some(quota) if quota.exhausted() => Span::whole(
                span.start,
                // Another thread may have met the first refusal before the last call that this
                // one admitted.
                span.end.min(quota.full_at()).max(self.admitted_at + 1),
            ),
            _ => span,
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
        let waiting = self.queue.pop_front()?;
        // It may have closed early while the call waited.
        if waiting.intended < span.end {
            return Some(waiting);
        }
        self.queue.clear();
        None
    }

    /// Forgets who waits to begin a call that the window does not hold.
    pub(crate) fn discard_late(&mut self, span: Span) {
        let over = |waiting: &Waiting| waiting.intended >= span.end;
        while self.queue.back().is_some_and(over) {
            self.queue.pop_back();
        }
    }

    /// When the next pause of a user ends.
    fn thinking_until(&self) -> u64 {
        self.thinking.first_end().unwrap_or(UNSET)
    }

    /// True when the quota of calls has been used up.
    pub(crate) fn exhausted(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.exhausted())
    }

    /// When [`Demand::arrive`] next has something to do.
    pub(crate) fn next_due(&self, span: Span) -> u64 {
        let end = self.arrivals_end(span);
        let scheduled = match self.scheduled() {
            // A schedule goes on after the window: its arrivals would wake the reactor
            // for nothing.
            Some((at, _)) if at < end => at,
            _ => UNSET,
        };
        scheduled.min(self.thinking_until())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Load, Stage};

    const ALWAYS: Span = Span::whole(0, UNSET);
    const NUMBERS: Numbers = Numbers { first: 0, step: 1 };

    /// Users who only pause.
    fn steady(think_s: f64) -> Behaviour {
        Behaviour {
            think: Think::new(think_s, Distribution::Constant, 0, 0),
            calls_per_pause: 1,
            iterations: None,
            stages: None,
        }
    }

    fn quota(calls: u64) -> Option<Arc<Quota>> {
        Some(Arc::new(Quota::new(calls, true)))
    }

    /// All of them have arrived.
    fn start_closed(users: u32, quota: Option<Arc<Quota>>, now: u64, span: Span) -> Demand {
        let mut closed = Demand::closed(users, NUMBERS, steady(0.0), quota, now);
        closed.arrive(now, span, |_, _| {});
        closed
    }

    fn full_at(users: &Demand) -> Option<u64> {
        let at = users.quota.as_ref().unwrap().full_at();
        (at != UNSET).then_some(at)
    }

    fn open(rate: f64, quota: Option<Arc<Quota>>) -> Demand {
        let load = Load::Constant {
            rate,
            in_flight_max: 1,
        };
        Demand::open(Arrivals::of(&load, 0, 1).unwrap(), NUMBERS, quota, 1000)
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
        let mut users = start_closed(2, None, 5, ALWAYS);
        assert_eq!(
            users.next(ALWAYS).map(|w| (w.user, w.intended)),
            Some((0, 5))
        );
        users.call_ended(0, 90, ALWAYS);
        let rest: Vec<_> = std::iter::from_fn(|| users.next(ALWAYS))
            .map(|w| (w.user, w.intended))
            .collect();
        assert_eq!(rest, [(1, 5), (0, 90)]);
    }

    #[test]
    fn think_time_moves_the_intended_time() {
        let mut users = Demand::closed(1, NUMBERS, steady(50e-9), None, 0);
        users.arrive(0, ALWAYS, |_, _| {});
        assert!(users.next(ALWAYS).is_some());
        users.call_ended(0, 100, ALWAYS);
        users.arrive(149, ALWAYS, |_, _| {});
        assert!(users.next(ALWAYS).is_none());
        assert_eq!(users.next_due(ALWAYS), 150);
        users.arrive(170, ALWAYS, |_, _| {});
        assert_eq!(users.next(ALWAYS).map(|w| w.intended), Some(150));
    }

    #[test]
    fn nothing_begins_after_the_window() {
        let span = Span::whole(0, 3000);
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
        let mut users = open(1e6, quota(1));
        users.arrive(1000, ALWAYS, |_, _| {});
        assert!(users.next(ALWAYS).is_some());
        let mut lags = 0;
        users.arrive(9000, ALWAYS, |_, _| lags += 1);
        assert_eq!((lags, users.next_due(ALWAYS)), (0, UNSET));
    }

    #[test]
    fn the_quota_counts_only_calls_of_the_window() {
        let mut users = open(1e6, quota(2));
        let span = Span::whole(3000, UNSET);
        users.arrive(9000, span, |_, _| {});
        let taken: Vec<u64> = std::iter::from_fn(|| users.next(span))
            .map(|w| w.intended)
            .collect();
        assert_eq!(taken, [1000, 2000, 3000, 4000]);
        assert!(users.exhausted());
    }

    const WARM: Span = Span::whole(3000, UNSET);

    #[test]
    fn the_window_of_a_schedule_is_full_when_its_next_arrival_comes() {
        let mut arrivals = open(1e6, quota(2));
        arrivals.arrive(4500, WARM, |_, _| {});
        assert_eq!(full_at(&arrivals), Some(5000), "known ahead");
        let mut behind = open(1e6, quota(2));
        behind.arrive(9000, WARM, |_, _| {});
        assert_eq!(full_at(&behind), Some(5000), "though all of them wait");
        let own = behind.own(WARM);
        behind.discard_late(own);
        assert_eq!(std::iter::from_fn(|| behind.next(own)).count(), 4);
    }

    #[test]
    fn the_window_of_users_is_full_when_one_more_is_free() {
        let mut users = start_closed(2, quota(3), 0, WARM);
        let early = [users.next(WARM), users.next(WARM)];
        assert!(early.iter().all(Option::is_some));
        for done in [3100, 3200, 3300] {
            assert_eq!(users.own(WARM).end, UNSET);
            users.call_ended(0, done, WARM);
            assert!(users.next(WARM).is_some());
        }
        assert_eq!(full_at(&users), None, "no user is free");
        users.call_ended(1, 3700, WARM);
        users.call_ended(0, 3800, WARM);
        assert_eq!(users.next(WARM), None);
        assert_eq!((full_at(&users), users.own(WARM).end), (Some(3700), 3700));

        let mut thinking = Demand::closed(1, NUMBERS, steady(500e-9), quota(1), 3000);
        thinking.arrive(3000, WARM, |_, _| {});
        assert!(thinking.next(WARM).is_some());
        thinking.call_ended(0, 3100, WARM);
        assert_eq!(full_at(&thinking), Some(3600));
    }

    /// Users who outnumber the places: their calls wait, and belong to the window by when
    /// they arrived.
    #[test]
    fn those_who_wait_do_not_close_the_window_before_it_is_full() {
        let mut users = start_closed(50, quota(2), 2000, WARM);
        for done in [3100, 3200] {
            assert!(users.next(WARM).is_some());
            users.call_ended(0, done, WARM);
            assert_eq!(full_at(&users), None);
        }
        assert!(users.next(WARM).is_some());
        users.call_ended(0, 3300, WARM);
        assert_eq!(full_at(&users), Some(3300));
        let own = users.own(WARM);
        assert_eq!(std::iter::from_fn(|| users.next(own)).count(), 49);
    }

    #[test]
    fn threads_share_a_quota_and_each_holds_what_it_admitted() {
        let shared = quota(3);
        let (mut one, mut other) = (
            start_closed(1, shared.clone(), 3000, WARM),
            start_closed(1, shared, 3001, WARM),
        );
        one.call_ended(0, 3010, WARM);
        other.call_ended(0, 3005, WARM);
        assert_eq!((one.own(WARM).end, other.own(WARM).end), (3011, 3005));
    }

    #[test]
    fn users_who_begin_with_the_window_end_it_with_their_last_call() {
        let cold = Some(Arc::new(Quota::new(1, false)));
        let mut users = start_closed(2, cold, 3000, WARM);
        assert!(users.exhausted() && users.next(WARM).is_some());
        users.call_ended(0, 3100, WARM);
        assert_eq!((users.own(WARM).end, users.waiting()), (UNSET, false));
    }

    #[test]
    fn unfinished_sequences_come_first_after_the_window_too() {
        let mut users = Demand::closed(2, Numbers { first: 1, step: 3 }, steady(0.0), quota(2), 5);
        users.arrive(5, ALWAYS, |_, _| {});
        let first = users.next(ALWAYS).unwrap();
        assert_eq!(first, Waiting::arrival(1, 5));
        let second = Waiting {
            sequence: 0,
            intended: 90,
            ..first
        };
        users.requeue(second);
        assert_eq!(users.next(ALWAYS), Some(second));
        assert_eq!(users.next(ALWAYS), Some(Waiting::arrival(4, 5)));
        users.requeue(second);
        let over = Span::whole(0, 80);
        users.discard_late(over);
        assert!(users.exhausted() && users.waiting());
        assert_eq!(users.next(over), Some(second));
        assert_eq!(users.next(over), None);
    }

    /// Intended times of all calls of users whose calls take `service` nanoseconds.
    fn play(mut demand: Demand, service: u64, until: u64) -> Vec<(u32, u64)> {
        let (mut calls, mut under_way, mut now) = (Vec::new(), Vec::new(), 0);
        while now <= until {
            demand.arrive(now, ALWAYS, |_, _| {});
            under_way.retain(|(user, done): &(u32, u64)| {
                if *done <= now {
                    demand.call_ended(*user, *done, ALWAYS);
                }
                *done > now
            });
            while let Some(waiting) = demand.next(ALWAYS) {
                calls.push((waiting.user, waiting.intended));
                under_way.push((waiting.user, now + service));
            }
            now += 1_000_000;
        }
        calls
    }

    /// Four calls of 2 ms each make a sequence that outlasts the mean gap of 5 ms.
    #[test]
    fn later_calls_of_sequences_neither_are_arrivals_nor_move_them() {
        let load = Load::Poisson {
            rate: 200.0,
            in_flight_max: 1,
            seed: 3,
        };
        let schedule = || Arrivals::of(&load, 0, 1).unwrap();
        let mut demand = Demand::open(schedule(), NUMBERS, None, 0);
        let (mut arrivals, mut calls, mut under_way) = (Vec::new(), 0, Vec::new());
        let mut sequences = std::collections::HashMap::new();
        for now in (0..1_000_000_000).step_by(100_000) {
            demand.arrive(now, ALWAYS, |at, _| arrivals.push(at));
            under_way.retain(|(done, waiting): &(u64, Waiting)| {
                if *done <= now && sequences[&waiting.user] < 4 {
                    demand.requeue(Waiting {
                        intended: *done,
                        ..*waiting
                    });
                }
                *done > now
            });
            while let Some(waiting) = demand.next(ALWAYS) {
                *sequences.entry(waiting.user).or_insert(0) += 1;
                calls += 1;
                under_way.push((now + 2_000_000, waiting));
            }
        }
        let due: Vec<u64> = schedule().take_while(|at| *at <= 999_900_000).collect();
        assert_eq!(arrivals, due);
        assert_eq!(sequences.len(), due.len());
        let begun_late = due.iter().filter(|at| **at > 990_000_000).count();
        assert!(calls >= 4 * (due.len() - begun_late) && calls <= 4 * due.len());
    }

    #[test]
    fn a_user_ends_after_its_iterations() {
        let behaviour = Behaviour {
            iterations: Some(3),
            ..steady(0.0)
        };
        let calls = play(
            Demand::closed(2, NUMBERS, behaviour, None, 0),
            1_000_000,
            50_000_000,
        );
        for user in [0, 1] {
            assert_eq!(calls.iter().filter(|(who, _)| *who == user).count(), 3);
        }
    }

    #[test]
    fn a_user_pauses_after_each_burst_of_calls() {
        let behaviour = Behaviour {
            calls_per_pause: 3,
            ..steady(0.020)
        };
        let calls = play(
            Demand::closed(1, NUMBERS, behaviour, None, 0),
            1_000_000,
            60_000_000,
        );
        let at: Vec<u64> = calls.iter().map(|(_, at)| at / 1_000_000).collect();
        assert_eq!(at, [0, 1, 2, 23, 24, 25, 46, 47, 48]);
    }

    #[test]
    fn users_come_and_go_with_the_stages() {
        let stage = |to, duration_s| Stage { to, duration_s };
        let stages = [stage(4.0, 0.4), stage(4.0, 0.4), stage(0.0, 0.4)];
        let behaviour = Behaviour {
            stages: Some(Stages::new(0.0, &stages)),
            ..steady(0.0)
        };
        let demand = Demand::closed(4, NUMBERS, behaviour, None, 0);
        let calls = play(demand, 10_000_000, 2_000_000_000);
        let users_at = |ms: u64| {
            let slot = ms * 1_000_000..(ms + 10) * 1_000_000;
            calls.iter().filter(|(_, at)| slot.contains(at)).count()
        };
        // Achieved against planned, in every stage.
        for (ms, users) in [
            (50, 1),
            (150, 2),
            (350, 4),
            (600, 4),
            (850, 4),
            (950, 3),
            (1150, 1),
        ] {
            assert_eq!(users_at(ms), users, "{ms} ms");
        }
        assert_eq!(users_at(1250), 0);
    }
}
