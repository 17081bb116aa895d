//! Groups take turns in slices: whose slice it is, and when the next one begins.
//!
//! A slice ends for new calls at its planned time. The thread whose calls are the last to end
//! begins the next one, so that calls of two groups are never under way together.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::call::clock::{UNSET, cpu_ns, ns};
use crate::call::result::{SliceEdges, SlicesOutcome};
use crate::call::span::Span;
use crate::plan;

/// Length of a slice while warming up, so that there are enough rounds to see whether the rates
/// are stationary.
const WARMUP_NS: u64 = 20_000_000;

/// The slice of a group, as its threads see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    /// Which group calls.
    pub(crate) group: usize,
    pub(crate) began: u64,
    /// What is measured of it.
    pub(crate) span: Span,
    /// No other slice follows.
    pub(crate) over: bool,
}

/// The turns of all groups, shared by the threads.
pub(crate) struct Slices {
    length_ns: u64,
    skip_ns: u64,
    pub(crate) drain_ns: u64,
    groups: u64,
    first: u64,
    /// Measured slices of all groups.
    planned: u64,
    threads: u32,
    state: Mutex<State>,
    /// Changes with every slice: threads look at the state only then.
    turn: AtomicU64,
}

/// What the engine had used at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    cpu_ns: u64,
    spin_ns: u64,
}

struct State {
    number: u64,
    began: u64,
    /// At that time.
    used: Used,
    /// Number of the first slice that is measured; None while warming up.
    measured_from: Option<u64>,
    /// Threads whose calls of the slice have ended.
    drained: u32,
    over: bool,
    edges: Vec<SliceEdges>,
    overrun: bool,
}

impl Slices {
    /// `window_s` is the length of a group's window, of which each slice is a part. Without a
    /// warm-up, the first slice is measured.
    pub(crate) fn new(
        plan: &plan::Slices,
        groups: usize,
        window_s: f64,
        threads: u32,
        warm: bool,
    ) -> Slices {
        let rounds = (window_s / plan.length_s).ceil().max(1.0) as u64;
        Slices {
            length_ns: ns(plan.length_s),
            skip_ns: ns(plan.skip_s),
            drain_ns: ns(plan.drain_s),
            groups: groups as u64,
            first: u64::from(plan.first),
            planned: rounds * groups as u64,
            threads,
            state: Mutex::new(State {
                number: 0,
                began: 0,
                used: Used::default(),
                measured_from: (!warm).then_some(0),
                drained: 0,
                over: false,
                edges: Vec::new(),
                overrun: false,
            }),
            turn: AtomicU64::new(1),
        }
    }

    /// The first slice begins.
    pub(crate) fn begin(&self, now: u64) {
        let mut state = self.state();
        state.began = now;
        state.used.cpu_ns = cpu_ns();
    }

    /// The slice that began since `seen`, which is updated; None if none did.
    #[inline]
    pub(crate) fn find_begun_since(&self, seen: &mut u64) -> Option<Slice> {
        let turn = self.turn.load(Acquire);
        if turn == *seen {
            return None;
        }
        let state = self.state();
        // Under the lock: the turn is that of the state.
        *seen = self.turn.load(Acquire);
        Some(self.slice(&state))
    }

    /// Nanoseconds that all slices take at most, each with its whole drain.
    pub(crate) fn longest_ns(&self) -> u64 {
        let each = self.skip_ns + self.length_ns + self.drain_ns;
        each.saturating_mul(self.planned + self.groups)
    }

    /// Rounds, of a slice of each group, that are over.
    pub(crate) fn rounds(&self) -> u64 {
        self.state().number / self.groups
    }

    /// Rounds of the warm-up that take at least that long.
    pub(crate) fn warmup_rounds(&self, ns: u64) -> u64 {
        ns.div_ceil(self.length_ns.min(WARMUP_NS) * self.groups)
    }

    /// One thread has no call of the slice under way; the last one begins the next slice.
    /// Slices are measured from the first that begins at `window_start` or later. True when this
    /// was the last one.
    pub(crate) fn drain(&self, now: u64, spin_ns: u64, window_start: u64) -> bool {
        let mut state = self.state();
        state.drained += 1;
        if state.over || state.drained < self.threads {
            return false;
        }
        self.end(&mut state, now, spin_ns);
        let measured = state
            .measured_from
            .map_or(0, |from| state.number + 1 - from);
        if measured == self.planned {
            state.over = true;
        } else {
            state.number += 1;
            state.began = now;
            if state.measured_from.is_none() && window_start <= now {
                state.measured_from = Some(state.number);
            }
        }
        state.drained = 0;
        self.turn.fetch_add(1, Release);
        state.over
    }

    /// No slice follows, because calls are still under way at the end of the drain
    /// (`overrun`) or the run was interrupted. True for the thread that ended it.
    pub(crate) fn stop(&self, now: u64, spin_ns: u64, overrun: bool) -> bool {
        let mut state = self.state();
        if state.over {
            return false;
        }
        self.end(&mut state, now, spin_ns);
        (state.over, state.overrun) = (true, overrun);
        self.turn.fetch_add(1, Release);
        true
    }

    pub(crate) fn outcome(&self) -> SlicesOutcome {
        let state = self.state();
        SlicesOutcome {
            slices: state.edges.clone(),
            overrun: state.overrun,
        }
    }

    /// Of a group: the length of its window and what the engine used for it, nanoseconds.
    pub(crate) fn own(&self, group: usize) -> OwnSlices {
        let state = self.state();
        let own = |edges: &&SliceEdges| edges.group as usize == group;
        state
            .edges
            .iter()
            .filter(own)
            .fold(OwnSlices::default(), |sum, edges| OwnSlices {
                window_ns: sum.window_ns + edges.end_ns.saturating_sub(edges.start_ns),
                cpu_ns: sum.cpu_ns + edges.cpu_ns,
            })
    }

    fn end(&self, state: &mut State, now: u64, spin_ns: u64) {
        let slice = self.slice(state);
        let used = Used {
            cpu_ns: cpu_ns(),
            spin_ns,
        };
        let before = std::mem::replace(&mut state.used, used);
        if state.measured_from.is_some() {
            state.edges.push(SliceEdges {
                group: slice.group as u32,
                began_ns: slice.began,
                start_ns: slice.span.start,
                end_ns: slice.span.end,
                drained_ns: now,
                cpu_ns: used.cpu_ns.saturating_sub(before.cpu_ns),
                spin_ns: used.spin_ns.saturating_sub(before.spin_ns),
            });
        }
    }

    fn slice(&self, state: &State) -> Slice {
        let earlier = state.measured_from.map(|from| state.number - from);
        let (skip_ns, length_ns) = match earlier {
            Some(_) => (self.skip_ns, self.length_ns),
            None => (0, self.length_ns.min(WARMUP_NS)),
        };
        let start = state.began + skip_ns;
        Slice {
            group: ((self.first + state.number) % self.groups) as usize,
            began: state.began,
            span: Span {
                start: earlier.map_or(UNSET, |_| start),
                end: start + length_ns,
                before: earlier.unwrap_or(0) / self.groups * self.length_ns,
                cost_start: earlier.map_or(UNSET, |_| state.began),
                cost_end: UNSET,
            },
            over: state.over,
        }
    }

    // A thread that panicked has set `broken`, and all end.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All measured slices of one group.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnSlices {
    pub(crate) window_ns: u64,
    pub(crate) cpu_ns: u64,
}

/// What one thread has seen of the slices.
#[derive(Default)]
pub(crate) struct Seat {
    seen: u64,
    /// Its group's slice, while calls of it may begin or be under way.
    pub(crate) current: Option<Slice>,
    pub(crate) over: bool,
}

impl Seat {
    /// Whether the group may call now.
    pub(crate) fn calls(&self, group: usize) -> bool {
        self.current.is_some_and(|slice| slice.group == group)
    }

    /// The slice that has begun since this was last called; the thread's group resumes.
    #[inline]
    pub(crate) fn take_begun(&mut self, slices: &Slices) -> Option<Slice> {
        let slice = slices.find_begun_since(&mut self.seen)?;
        self.over |= slice.over;
        self.current = (!slice.over).then_some(slice);
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(window_s: f64, threads: u32) -> Slices {
        let plan = plan::Slices {
            length_s: 0.1,
            skip_s: 0.01,
            drain_s: 0.25,
            first: 1,
        };
        let slices = Slices::new(&plan, 2, window_s, threads, true);
        slices.begin(1_000);
        slices
    }

    #[test]
    fn groups_alternate_and_each_gets_its_whole_window() {
        let slices = slices(0.3, 1);
        let (mut seat, mut groups) = (Seat::default(), Vec::new());
        // Slices of the warm-up take 20 ms, and 5 ms until they are drained.
        let window_start = 250_000_000;
        loop {
            let slice = seat.take_begun(&slices).unwrap();
            groups.push(slice.group);
            let now = slice.span.end + 5_000_000;
            if slices.drain(now, 0, window_start) {
                break;
            }
        }
        assert_eq!(groups.len(), 10 + 6, "of the warm-up, and measured");
        assert!(groups.windows(2).all(|two| two[0] != two[1]) && groups[0] == 1);
        let outcome = slices.outcome();
        assert_eq!(outcome.slices.len(), 6);
        assert!(
            outcome
                .slices
                .iter()
                .all(|edges| edges.start_ns >= window_start)
        );
        assert_eq!(
            (slices.own(0).window_ns, slices.own(1).window_ns),
            (300_000_000, 300_000_000)
        );
        assert!(seat.take_begun(&slices).is_none() && seat.over);
    }

    #[test]
    fn the_next_slice_begins_when_the_last_thread_has_no_call_under_way() {
        let slices = slices(0.3, 2);
        let (mut one, mut other) = (Seat::default(), Seat::default());
        assert!(one.take_begun(&slices).is_some() && other.take_begun(&slices).is_some());
        slices.drain(120_000_000, 0, 0);
        assert!(one.take_begun(&slices).is_none());
        slices.drain(130_000_000, 0, 0);
        let next = one.take_begun(&slices).unwrap();
        assert_eq!((next.group, next.began), (0, 130_000_000));
        assert_eq!(next.span.before, 0);
        assert_eq!(other.take_begun(&slices).unwrap().began, 130_000_000);
    }

    #[test]
    fn offsets_continue_from_slice_to_slice_of_a_group() {
        let slices = slices(1.0, 1);
        let mut seat = Seat::default();
        let mut before = Vec::new();
        for _ in 0..6 {
            let slice = seat.take_begun(&slices).unwrap();
            before.push(slice.span.before / 1_000_000);
            slices.drain(slice.span.end, 0, 0);
        }
        // The first began before the window opened.
        assert_eq!(before, [0, 0, 0, 100, 100, 200]);
    }

    #[test]
    fn an_overrun_ends_all_slices_once() {
        let slices = slices(1.0, 2);
        assert!(slices.stop(400_000_000, 0, true));
        assert!(!slices.stop(400_000_000, 0, true));
        assert!(slices.outcome().overrun);
        let mut seat = Seat::default();
        assert!(seat.take_begun(&slices).is_none() && seat.over);
    }
}
