//! Response times over the window: a small histogram for each of at most 128 intervals.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::call::clock::seconds;
use crate::call::result::TimePoint;

/// An hour: longer times are recorded as an hour.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

/// Length of one entry of the series of calls, and of the shortest interval here.
pub(crate) const SERIES_NS: u64 = 100_000_000;

/// Intervals that are kept. When one more is needed, each two become one, so that memory stays
/// the same however long a window is.
const INTERVALS_MAX: usize = 128;

/// Counters of an interval, one page: 32 per power of two, above 4 us, so that the middle of a
/// bucket is within 1.6 % of every value in it.
const BUCKETS: usize = 1024;
const SUB_BUCKET_BITS: u32 = 5;
/// Below 4 us buckets are 128 ns wide.
const UNIT_BITS: u32 = 7;

/// Samples that a percentile needs above it, as everywhere in results.
const ABOVE_MIN: f64 = 10.0;

/// Response times by the moment at which calls ended; mergeable over threads.
#[derive(Default)]
pub(crate) struct OverTime {
    /// An interval lasts 2^`doublings` entries of the series.
    doublings: u32,
    /// [`BUCKETS`] for each interval up to the last in which a call ended.
    counts: Vec<u32>,
}

impl OverTime {
    /// A call that ended at that offset from the window's start.
    #[inline]
    pub(crate) fn record(&mut self, offset_ns: u64, response_ns: u64) {
        let interval = (offset_ns / SERIES_NS) as usize >> self.doublings;
        let at = interval * BUCKETS + bucket(response_ns);
        match self.counts.get_mut(at) {
            Some(count) => *count = count.saturating_add(1),
            None => self.record_first(offset_ns, response_ns),
        }
    }

    /// The first call of an interval.
    #[cold]
    fn record_first(&mut self, offset_ns: u64, response_ns: u64) {
        let entry = (offset_ns / SERIES_NS) as usize;
        while entry >> self.doublings >= INTERVALS_MAX {
            self.double();
        }
        // Reserved at once: a growing vector would copy itself in the middle of the load.
        self.counts
            .reserve_exact(INTERVALS_MAX * BUCKETS - self.counts.len());
        let length = ((entry >> self.doublings) + 1) * BUCKETS;
        self.counts.resize(length.max(self.counts.len()), 0);
        self.record(offset_ns, response_ns);
    }

    /// Makes one interval of each two.
    fn double(&mut self) {
        self.doublings += 1;
        let intervals = self.counts.len() / BUCKETS;
        for interval in 0..intervals {
            let (into, from) = (interval / 2 * BUCKETS, interval * BUCKETS);
            if into == from {
                continue;
            }
            let (left, right) = self.counts.split_at_mut(from);
            let mine = &mut left[into..into + BUCKETS];
            if interval % 2 == 0 {
                mine.copy_from_slice(&right[..BUCKETS]);
            } else {
                add(mine, &right[..BUCKETS]);
            }
        }
        self.counts.truncate(intervals.div_ceil(2) * BUCKETS);
    }

    pub(crate) fn merge(&mut self, mut other: OverTime) {
        while self.doublings < other.doublings {
            self.double();
        }
        while other.doublings < self.doublings {
            other.double();
        }
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, 0);
        add(&mut self.counts, &other.counts);
    }

    /// A percentile over a window of that length. A point takes as many intervals together
    /// as have enough calls for it; what is left at the end belongs to the last.
    pub(crate) fn points(&self, quantile: f64, window_ns: u64) -> Vec<TimePoint> {
        let length_ns = SERIES_NS << self.doublings;
        // Calls that ended after the window, before its end was known, are not part of it.
        let inside = window_ns.div_ceil(length_ns) as usize;
        let intervals: Vec<&[u32]> = self.counts.chunks_exact(BUCKETS).take(inside).collect();
        let parts = parts(&intervals, quantile);
        let point = |(first, last): (usize, usize)| {
            let start = first as u64 * length_ns;
            let end = (last as u64 * length_ns).min(window_ns);
            let mut sum = vec![0_u32; BUCKETS];
            for counts in &intervals[first..last] {
                add(&mut sum, counts);
            }
            TimePoint {
                start_s: seconds(start),
                duration_s: seconds(end - start),
                calls: total(&sum),
                ns: value_at(&sum, quantile),
            }
        };
        parts.into_iter().map(point).collect()
    }
}

/// Response times of one thread's calls so far, for whoever watches the run. One thread writes.
pub(crate) struct Watched(Box<[AtomicU32]>);

impl Watched {
    #[inline]
    pub(crate) fn record(&self, response_ns: u64) {
        let count = &self.0[bucket(response_ns)];
        // A store, not an addition: there is one writer.
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

impl Default for Watched {
    fn default() -> Watched {
        Watched((0..BUCKETS).map(|_| AtomicU32::new(0)).collect())
    }
}

/// What [`Watched`] of all threads held when they were last read.
pub(crate) struct Seen(Vec<u32>);

impl Default for Seen {
    fn default() -> Seen {
        Seen(vec![0; BUCKETS])
    }
}

impl Seen {
    /// Percentiles, in nanoseconds, of the calls since the last time; None of too few calls.
    pub(crate) fn percentiles<'a, const N: usize>(
        &mut self,
        threads: impl Iterator<Item = &'a Watched> + Clone,
        quantiles: [f64; N],
    ) -> [Option<u64>; N] {
        let now = |at: usize| {
            let counts = threads.clone().map(|watched| watched.0[at].load(Relaxed));
            counts.fold(0_u32, u32::wrapping_add)
        };
        let now: Vec<u32> = (0..BUCKETS).map(now).collect();
        let grown = now.iter().zip(&self.0);
        let recent: Vec<u32> = grown.map(|(now, seen)| now.wrapping_sub(*seen)).collect();
        self.0 = now;
        let calls = total(&recent) as f64;
        quantiles.map(|quantile| {
            // One call above it: a glance, no result.
            (calls * (1.0 - quantile) >= 1.0 - 1e-9).then(|| value_at(&recent, quantile))
        })
    }
}

/// From which interval to before which each point reaches.
fn parts(intervals: &[&[u32]], quantile: f64) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let (mut first, mut calls) = (0, 0);
    for (at, counts) in intervals.iter().enumerate() {
        calls += total(counts);
        if calls as f64 * (1.0 - quantile) >= ABOVE_MIN - 1e-9 {
            parts.push((first, at + 1));
            (first, calls) = (at + 1, 0);
        }
    }
    if let Some((_, last)) = parts.last_mut() {
        *last = intervals.len();
    }
    parts
}

#[inline]
fn bucket(ns: u64) -> usize {
    let units = ns.min(LONGEST_NS) >> UNIT_BITS;
    let sub_buckets = 1 << SUB_BUCKET_BITS;
    let shift = (units | sub_buckets).ilog2() - SUB_BUCKET_BITS;
    (shift << SUB_BUCKET_BITS) as usize + (units >> shift) as usize
}

/// The middle of a bucket, nanoseconds.
fn middle(bucket: usize) -> u64 {
    let sub_buckets = 1 << SUB_BUCKET_BITS;
    let shift = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
    let lowest = ((bucket - (shift * sub_buckets)) as u64) << shift;
    (lowest << UNIT_BITS) + (1 << shift << UNIT_BITS >> 1)
}

/// Nearest rank.
fn value_at(counts: &[u32], quantile: f64) -> u64 {
    let rank = ((total(counts) as f64 * quantile).ceil() as u64).max(1);
    let mut below = 0;
    let reached = counts.iter().position(|count| {
        below += u64::from(*count);
        below >= rank
    });
    middle(reached.unwrap_or(BUCKETS - 1))
}

fn total(counts: &[u32]) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

fn add(mine: &mut [u32], theirs: &[u32]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = mine.saturating_add(*theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A call every millisecond for `calls` ms; each takes a microsecond more than the one before.
    fn record_growing(calls: u64) -> OverTime {
        let mut times = OverTime::default();
        (0..calls).for_each(|at| times.record(at * MS, 1_000 * (1 + at)));
        times
    }

    #[test]
    fn progress_shows_the_calls_since_the_last_report() {
        let (threads, mut seen) = ([Watched::default(), Watched::default()], Seen::default());
        let look = |seen: &mut Seen| seen.percentiles(threads.iter(), [0.5, 0.99]);
        assert_eq!(look(&mut seen), [None, None]);
        (0..100).for_each(|at| threads[at % 2].record(MS));
        let [p50, p99] = look(&mut seen);
        assert!(is_near(p50.unwrap(), MS) && is_near(p99.unwrap(), MS));
        (0..10).for_each(|_| threads[0].record(50 * MS));
        let [p50, p99] = look(&mut seen);
        assert!(is_near(p50.unwrap(), 50 * MS) && p99.is_none());
        assert_eq!(look(&mut seen), [None, None]);
    }

    fn is_near(found: u64, expected: u64) -> bool {
        found.abs_diff(expected) as f64 <= 0.016 * expected as f64
    }

    #[test]
    fn every_time_lies_within_1_6_percent_of_its_bucket_and_buckets_rise() {
        let mut last = 0;
        let mut ns = 4_096;
        while ns < LONGEST_NS {
            assert!(is_near(middle(bucket(ns)), ns), "{ns}");
            assert!(bucket(ns) >= last, "{ns}");
            last = bucket(ns);
            ns += ns / 100;
        }
        (0..4_096).for_each(|ns| assert!(middle(bucket(ns)).abs_diff(ns) <= 64, "{ns}"));
        assert_eq!(bucket(u64::MAX), bucket(LONGEST_NS));
        assert!(bucket(LONGEST_NS) < BUCKETS);
    }

    #[test]
    fn a_point_has_the_percentile_of_its_own_calls() {
        let points = record_growing(2_000).points(0.5, 2_000 * MS);
        assert_eq!(points.len(), 20);
        for (at, point) in points.iter().enumerate() {
            assert!((point.start_s - at as f64 / 10.0).abs() < 1e-9);
            assert!((point.duration_s - 0.1).abs() < 1e-9);
            assert_eq!(point.calls, 100);
            let expected = 1_000 * (50 + 100 * at as u64);
            assert!(is_near(point.ns, expected), "{} {expected}", point.ns);
        }
    }

    #[test]
    fn a_point_lasts_until_ten_calls_lie_above_its_percentile() {
        // 1,000 calls per second: a p99 takes a second of them, and the rest goes with the last.
        let points = record_growing(2_700).points(0.99, 2_700 * MS);
        let shown: Vec<_> = points
            .iter()
            .map(|point| ((point.start_s * 10.0).round(), point.calls))
            .collect();
        assert_eq!(shown, [(0.0, 1_000), (10.0, 1_700)]);
        assert!(is_near(points[0].ns, 990 * 1_000));
        assert!(record_growing(999).points(0.99, 999 * MS).is_empty());
    }

    #[test]
    fn calls_that_ended_past_the_window_are_left_out_and_a_cut_interval_is_as_long_as_its_part() {
        let points = record_growing(1_000).points(0.5, 250 * MS);
        assert_eq!(points.len(), 3);
        assert!((points[2].duration_s - 0.05).abs() < 1e-9);
    }

    #[test]
    fn memory_stays_the_same_however_long_a_window_is() {
        let mut times = OverTime::default();
        let capacity = |times: &OverTime| times.counts.capacity();
        times.record(0, MS);
        let reserved = capacity(&times);
        let hours = 48 * 3_600_000 * MS;
        (0..48_000).for_each(|at| times.record(at * (hours / 48_000), MS));
        assert_eq!(capacity(&times), reserved);
        assert_eq!(times.counts.len() / BUCKETS, 106);
        assert_eq!(times.doublings, 14);
        let points = times.points(0.5, hours);
        assert_eq!(points.iter().map(|point| point.calls).sum::<u64>(), 48_001);
        assert_eq!(points.len(), 106);
    }

    #[test]
    fn merging_threads_equals_recording_in_one_whatever_the_length_of_their_intervals() {
        let (mut one, mut left, mut right) = <(OverTime, OverTime, OverTime)>::default();
        for at in 0..20_000_u64 {
            // Only one of the threads has calls beyond the first 128 intervals.
            let part = if at % 3 == 0 || at > 9_000 {
                &mut left
            } else {
                &mut right
            };
            for times in [part, &mut one] {
                times.record(at * MS, at * at);
            }
        }
        assert_ne!(left.doublings, right.doublings);
        right.merge(left);
        assert_eq!(right.doublings, one.doublings);
        assert_eq!(right.counts, one.counts);
    }
}
