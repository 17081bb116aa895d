//! What became of each stage of a load, and of each burst, within the window.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::call::clock::ns;
use crate::call::result::PeriodOutcome;
use crate::call::span::Span;
use crate::call::waiting::Waiting;
use crate::plan::{Load, Stage};
use crate::record::recorder::{new_histogram, summary};
use crate::schedule::arrivals::burst_starts;
use crate::schedule::stages::Stages;

/// Periods that are recorded: the first of the window.
const PERIODS_MAX: usize = 1_000;

/// Stages up to which each has its own response times: a histogram takes a quarter of a
/// megabyte per thread.
const HISTOGRAMS_MAX: usize = 100;

/// A call that is over: what decides to which periods it belongs.
#[derive(Clone, Copy)]
pub(crate) struct EndedCall {
    pub(crate) waiting: Waiting,
    /// When it was sent, nanoseconds of the clock; 0: never.
    pub(crate) sent: u64,
    pub(crate) done: u64,
    pub(crate) failed: bool,
}

/// The periods of one group's load, as one thread sees them; mergeable over threads.
pub(crate) struct Periods {
    /// When the load began, nanoseconds.
    origin: u64,
    boundaries: Boundaries,
    counts: BTreeMap<u64, Count>,
    with_histograms: bool,
    /// The stage in which calls end now, out of `counts`: nearly every call lies within one
    /// stage as a whole, and is then counted without a search.
    current: Option<Current>,
}

struct Current {
    index: u64,
    /// When the stage begins and ends, nanoseconds of the clock.
    lasts: Span,
    count: Count,
}

/// Which period a call belongs to.
enum Boundaries {
    /// Ends of stages, nanoseconds of the clock.
    Stages(Vec<u64>),
    /// Calls of a burst: arrivals are numbered.
    Bursts(u64),
}

#[derive(Default)]
struct Count {
    calls: u64,
    errors: u64,
    sent: u64,
    ended: u64,
    /// Users in a call or in a pause, over time, nanoseconds.
    busy_ns: u128,
    /// When its last call was sent, nanoseconds of the clock; 0: none was.
    last_sent: u64,
    response: Option<Box<Histogram<u64>>>,
}

impl Count {
    /// A call that lies within the stage and the window as a whole.
    #[inline]
    fn add_ended(&mut self, call: EndedCall, with_histogram: bool) {
        self.calls += 1;
        self.errors += u64::from(call.failed);
        self.sent += 1;
        self.last_sent = self.last_sent.max(call.sent);
        self.ended += 1;
        let response = call.done.saturating_sub(call.waiting.intended);
        self.busy_ns += u128::from(response);
        if with_histogram {
            let histogram = self.response.get_or_insert_with(new_histogram);
            histogram.saturating_record(response);
        }
    }
}

impl Periods {
    /// None for loads that do not change.
    pub(crate) fn of(load: &Load, origin: u64) -> Option<Periods> {
        let boundaries = match load {
            Load::Closed { stages, .. } | Load::Stages { stages, .. } if !stages.is_empty() => {
                Boundaries::Stages(ends(stages, origin))
            }
            Load::Bursts { calls, .. } => Boundaries::Bursts(u64::from(*calls)),
            _ => return None,
        };
        Some(Periods {
            origin,
            with_histograms: matches!(&boundaries, Boundaries::Stages(ends) if ends.len() <= HISTOGRAMS_MAX),
            boundaries,
            counts: BTreeMap::new(),
            current: None,
        })
    }

    /// A call that is over.
    #[inline]
    pub(crate) fn add_ended(&mut self, call: EndedCall, span: Span) {
        let arrival = call.waiting.arrival;
        if let Some(current) = &mut self.current
            && arrival.max(current.lasts.start).max(span.start) == arrival
            && call.done < current.lasts.end.min(span.end)
            // Else it was never sent.
            && call.sent >= arrival
        {
            return current.count.add_ended(call, self.with_histograms);
        }
        self.add_across(call, span);
    }

    /// A call that may not lie within one stage, or of a burst.
    fn add_across(&mut self, call: EndedCall, span: Span) {
        self.put_back();
        let (arrival, intended) = (call.waiting.arrival, call.waiting.intended);
        let own = self.index(arrival, call.waiting.user);
        let with_histograms = self.with_histograms;
        if span.contains(arrival)
            && let Some(count) = own.and_then(|own| count_of(&mut self.counts, own))
        {
            count.calls += 1;
            count.errors += u64::from(call.failed);
            if with_histograms {
                let response = call.done.saturating_sub(intended);
                let histogram = count.response.get_or_insert_with(new_histogram);
                histogram.saturating_record(response);
            }
        }
        match self.boundaries {
            Boundaries::Bursts(_) if span.contains(arrival) => self.add_sent(own, call.sent),
            Boundaries::Bursts(_) => {}
            Boundaries::Stages(_) => {
                if span.contains(call.sent) {
                    self.add_sent(self.index(call.sent, 0), call.sent);
                }
                if span.contains(call.done)
                    && let Some(at) = self.index(call.done, 0)
                    && let Some(count) = count_of(&mut self.counts, at)
                {
                    count.ended += 1;
                }
                self.busy(intended, call.done, span);
                if span.contains(call.done) {
                    self.take(call.done);
                }
            }
        }
    }

    /// Makes the stage of a moment the current one.
    fn take(&mut self, at: u64) {
        let Boundaries::Stages(ends) = &self.boundaries else {
            return;
        };
        let index = ends.partition_point(|end| *end <= at);
        let Some(end) = ends.get(index).copied() else {
            return;
        };
        let start = index.checked_sub(1).map_or(0, |before| ends[before]);
        if let Some(count) = count_of(&mut self.counts, index as u64) {
            self.current = Some(Current {
                index: index as u64,
                lasts: Span::whole(start, end),
                count: std::mem::take(count),
            });
        }
    }

    /// Puts the current stage back among all.
    fn put_back(&mut self) {
        if let Some(Current { index, count, .. }) = self.current.take() {
            self.counts.insert(index, count);
        }
    }

    fn add_sent(&mut self, period: Option<u64>, at: u64) {
        if at > 0
            && let Some(count) = period.and_then(|period| count_of(&mut self.counts, period))
        {
            count.sent += 1;
            count.last_sent = count.last_sent.max(at);
        }
    }

    /// A user was in a call, or in a pause between two, from `from` to `until`.
    pub(crate) fn busy(&mut self, from: u64, until: u64, span: Span) {
        if let Some(current) = &mut self.current {
            let within = current.lasts.contains(from) && until <= current.lasts.end;
            if within {
                current.count.busy_ns += u128::from(span.share_of(from, until));
                return;
            }
            self.put_back();
        }
        let Boundaries::Stages(ends) = &self.boundaries else {
            return;
        };
        let first = ends.partition_point(|end| *end <= from);
        let mut start = from;
        for (index, end) in ends.iter().enumerate().skip(first) {
            if start >= until {
                break;
            }
            let part = span.share_of(start, until.min(*end));
            if part > 0
                && let Some(count) = count_of(&mut self.counts, index as u64)
            {
                count.busy_ns += u128::from(part);
            }
            start = *end;
        }
    }

    /// The period of a moment, or of an arrival by its number.
    fn index(&self, at: u64, number: u32) -> Option<u64> {
        match &self.boundaries {
            Boundaries::Bursts(calls) => Some(u64::from(number) / calls),
            Boundaries::Stages(ends) => {
                let index = ends.partition_point(|end| *end <= at);
                (index < ends.len()).then_some(index as u64)
            }
        }
    }

    pub(crate) fn merge(&mut self, mut other: Periods) {
        self.put_back();
        other.put_back();
        for (period, theirs) in other.counts {
            let mine = self.counts.entry(period).or_default();
            mine.calls += theirs.calls;
            mine.errors += theirs.errors;
            mine.sent += theirs.sent;
            mine.ended += theirs.ended;
            mine.busy_ns += theirs.busy_ns;
            mine.last_sent = mine.last_sent.max(theirs.last_sent);
            match (&mut mine.response, theirs.response) {
                (Some(mine), Some(theirs)) => mine
                    .add(*theirs)
                    .expect("histograms of the same bounds add up"),
                (None, theirs) => mine.response = theirs,
                (_, None) => {}
            }
        }
    }

    /// Every period that was to have a part in the window, with what was planned for that part.
    pub(crate) fn outcomes(&mut self, load: &Load, span: Span) -> Vec<PeriodOutcome> {
        self.put_back();
        let relative = |at: u64| (at as f64 - span.start as f64) / 1e9;
        let begin = relative(self.origin);
        let length = relative(span.end);
        let planned = match load {
            Load::Closed { stages, .. } => stages_planned(0.0, stages, true, begin, length),
            Load::Stages { from, stages, .. } => {
                stages_planned(*from, stages, false, begin, length)
            }
            _ => bursts_planned(load, begin, length),
        };
        let closed = load.is_closed();
        let nothing = Count::default();
        let outcomes = planned.into_iter().map(|(index, plan)| {
            let count = self.counts.get(&index).unwrap_or(&nothing);
            let averaged = |sum: f64| match plan.duration_s > 0.0 {
                true => sum / plan.duration_s,
                false => 0.0,
            };
            PeriodOutcome {
                start_s: plan.start_s,
                duration_s: plan.duration_s,
                calls_planned: plan.calls,
                users_planned: plan.users,
                calls: count.calls,
                errors: count.errors,
                sent: count.sent,
                ended: count.ended,
                users: closed.then(|| averaged(count.busy_ns as f64 / 1e9)),
                sent_after_s: (count.last_sent > 0)
                    .then(|| (relative(count.last_sent) - plan.start_s).max(0.0)),
                response: count.response.as_deref().map(summary),
            }
        });
        outcomes.take(PERIODS_MAX).collect()
    }
}

/// None where it is left out because enough came before it.
fn count_of(counts: &mut BTreeMap<u64, Count>, period: u64) -> Option<&mut Count> {
    if counts.len() >= PERIODS_MAX && !counts.contains_key(&period) {
        let (last, _) = counts.last_key_value()?;
        if period > *last {
            return None;
        }
        counts.pop_last();
    }
    Some(counts.entry(period).or_default())
}

/// When stages end, nanoseconds of the clock.
fn ends(stages: &[Stage], origin: u64) -> Vec<u64> {
    let mut end_s = 0.0;
    let of = |stage: &Stage| {
        end_s += stage.duration_s;
        origin.saturating_add(ns(end_s))
    };
    stages.iter().map(of).collect()
}

/// The part of a period that lies within the window, seconds from the window's start.
struct Planned {
    start_s: f64,
    duration_s: f64,
    calls: Option<f64>,
    users: Option<f64>,
}

/// Stages of a load that began at `begin`, within a window of `length` seconds.
fn stages_planned(
    from: f64,
    stages: &[Stage],
    closed: bool,
    begin: f64,
    length: f64,
) -> Vec<(u64, Planned)> {
    let levels = Stages::new(from, stages);
    let mut end = begin;
    let of = |(index, stage): (usize, &Stage)| {
        let start = end;
        end += stage.duration_s;
        let (first, last) = (start.max(0.0), end.min(length));
        let duration_s = last - first;
        let within = |whole: bool| levels.area(index, first - begin, last - begin, whole);
        (duration_s > 0.0).then(|| {
            let planned = Planned {
                start_s: first,
                duration_s,
                calls: (!closed).then(|| within(false)),
                users: closed.then(|| within(true) / duration_s),
            };
            (index as u64, planned)
        })
    };
    stages.iter().enumerate().filter_map(of).collect()
}

/// Bursts of a load that began at `begin`, within a window of `length` seconds.
fn bursts_planned(load: &Load, begin: f64, length: f64) -> Vec<(u64, Planned)> {
    let Load::Bursts { calls, rate, .. } = load else {
        return Vec::new();
    };
    let gap = rate.map_or(0.0, |rate| 1.0 / rate);
    let whole = f64::from(calls - 1) * gap;
    let starts = burst_starts(load).map(|start_ns| begin + start_ns / 1e9);
    let mut planned = Vec::new();
    for (index, start) in starts.take_while(|start| *start < length).enumerate() {
        // Of the arrivals start, start + gap, …, those within the window.
        let (first, last) = (start.max(0.0), (start + whole).min(length));
        let missed = match gap > 0.0 {
            true => ((first - start) / gap).ceil(),
            false if start < 0.0 => f64::from(*calls),
            false => 0.0,
        };
        let until = match gap > 0.0 && start + whole >= length {
            true => ((length - start) / gap).ceil(),
            false => f64::from(*calls),
        };
        if planned.len() < PERIODS_MAX && until > missed {
            let planned_burst = Planned {
                start_s: first,
                duration_s: (last - first).max(0.0),
                calls: Some(until - missed),
                users: None,
            };
            planned.push((index as u64, planned_burst));
        }
        if planned.len() == PERIODS_MAX {
            break;
        }
    }
    planned
}

#[cfg(test)]
mod tests {
    use wirelab_contract::texts::SplitMix64;

    use super::*;
    use crate::plan::Distribution;

    const MS: u64 = 1_000_000;

    /// A window of 4 s that opens 10 s after the clock's zero.
    const SPAN: Span = Span::whole(10_000 * MS, 14_000 * MS);

    /// A call of an arrival `ms` after the window's start.
    fn call(number: u32, ms: u64, waited_ms: u64) -> EndedCall {
        let intended = SPAN.start + ms * MS;
        EndedCall {
            waiting: Waiting::arrival(number, intended),
            sent: intended + waited_ms * MS,
            done: intended + (waited_ms + 10) * MS,
            failed: false,
        }
    }

    fn stages(kind: impl Fn(Vec<Stage>) -> Load) -> Load {
        let stage = |to, duration_s| Stage { to, duration_s };
        kind(vec![stage(10.0, 2.0), stage(2.0, 0.0), stage(2.0, 2.0)])
    }

    fn rates() -> Load {
        stages(|stages| Load::Stages {
            from: 0.0,
            stages,
            in_flight_max: 1,
            seed: None,
        })
    }

    #[test]
    fn a_stage_has_its_own_arrivals_and_what_was_sent_and_ended_while_it_lasted() {
        let load = rates();
        let mut periods = Periods::of(&load, SPAN.start).unwrap();
        // The second waits until it is sent in the third stage.
        for call in [call(0, 500, 0), call(1, 1900, 300), call(2, 2500, 0)] {
            periods.add_ended(call, SPAN);
        }
        let found = periods.outcomes(&load, SPAN);
        let counts: Vec<_> = found.iter().map(|p| (p.calls, p.sent, p.ended)).collect();
        assert_eq!(counts, [(2, 1, 1), (1, 2, 2)]);
        let planned: Vec<_> = found.iter().map(|p| p.calls_planned.unwrap()).collect();
        assert_eq!(planned, [10.0, 4.0]);
        assert_eq!(found[0].response.as_ref().unwrap().count, 2);
    }

    #[test]
    fn calls_within_a_stage_count_as_those_that_are_searched_for_do() {
        let load = rates();
        let mut random = SplitMix64::new(7);
        let mut calls: Vec<EndedCall> = (0..2_000)
            .map(|number| {
                let mut one = call(number, random.next_u64() % 4_200, random.next_u64() % 90);
                one.failed = random.next_u64().is_multiple_of(5);
                one
            })
            .collect();
        // In the order in which they end, as a thread sees them; one was never sent.
        calls.sort_by_key(|call| call.done);
        calls[99].sent = 0;
        let mut kept = Periods::of(&load, SPAN.start).unwrap();
        let mut searched = Periods::of(&load, SPAN.start).unwrap();
        for call in calls {
            kept.add_ended(call, SPAN);
            kept.busy(call.done, call.done + 30 * MS, SPAN);
            searched.add_across(call, SPAN);
            searched.put_back();
            searched.busy(call.done, call.done + 30 * MS, SPAN);
        }
        let found = kept.outcomes(&load, SPAN);
        assert_eq!(found[0].response.as_ref().unwrap().count, found[0].calls);
        assert!(found.iter().all(|period| period.errors > 0));
        assert_eq!(
            serde_json::to_string(&found).unwrap(),
            serde_json::to_string(&searched.outcomes(&load, SPAN)).unwrap()
        );
    }

    #[test]
    fn users_are_counted_in_calls_and_in_pauses() {
        let load = stages(|stages| Load::Closed {
            users: 10,
            think_s: 0.0,
            think: Distribution::Constant,
            calls_per_pause: 1,
            iterations: None,
            stages,
            seed: 0,
        });
        let mut one = Periods::of(&load, SPAN.start).unwrap();
        let mut other = Periods::of(&load, SPAN.start).unwrap();
        one.busy(SPAN.start, SPAN.start + 3_000 * MS, SPAN);
        other.busy(SPAN.start + 3_000 * MS, SPAN.end + 1_000 * MS, SPAN);
        one.merge(other);
        let found = one.outcomes(&load, SPAN);
        let users: Vec<_> = found.iter().map(|p| p.users.unwrap()).collect();
        assert_eq!(users, [1.0, 1.0]);
        // User k starts 0.2 s after the one before it.
        assert!((found[0].users_planned.unwrap() - 5.5).abs() < 1e-9);
        assert_eq!(found[1].users_planned, Some(2.0));
    }

    #[test]
    fn bursts_that_the_window_cuts_are_counted_by_what_is_left_of_them() {
        let load = Load::Bursts {
            calls: 5,
            rate: Some(10.0),
            gap_s: 1.0,
            gaps: Distribution::Constant,
            in_flight_max: 1,
            seed: 0,
        };
        // Bursts begin at -0.2, 1.2, 2.6 and 4.0 s of the window.
        let mut periods = Periods::of(&load, SPAN.start - 200 * MS).unwrap();
        for number in 0..20_u32 {
            let at = 1_400 * u64::from(number / 5) + 100 * u64::from(number % 5);
            let intended = SPAN.start - 200 * MS + at * MS;
            let call = EndedCall {
                waiting: Waiting::arrival(number, intended),
                sent: intended + MS,
                done: intended + 2 * MS,
                failed: false,
            };
            periods.add_ended(call, SPAN);
        }
        let found = periods.outcomes(&load, SPAN);
        let counts: Vec<_> = found
            .iter()
            .map(|p| (p.calls_planned.unwrap(), p.calls, p.sent))
            .collect();
        assert_eq!(counts, [(3.0, 3, 3), (5.0, 5, 5), (5.0, 5, 5)]);
        assert!((found[1].start_s - 1.2).abs() < 1e-9);
        assert!((found[1].sent_after_s.unwrap() - 0.401).abs() < 1e-9);
    }

    #[test]
    fn only_the_first_periods_are_kept_whatever_the_order_of_ends() {
        let mut counts = BTreeMap::new();
        for period in (0..2 * PERIODS_MAX as u64).rev() {
            if let Some(count) = count_of(&mut counts, period) {
                count.calls += 1;
            }
        }
        assert_eq!(counts.len(), PERIODS_MAX);
        assert_eq!(*counts.last_key_value().unwrap().0, PERIODS_MAX as u64 - 1);
    }
}
