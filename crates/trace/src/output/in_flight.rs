//! How many requests are under way, weighted by time, and the longest pauses between them.
//!
//! The end of a request may be known late: a client that sent FIN may still read (half-closed,
//! RFC 9293 section 3.6), or have given up. Until that is known, changes wait in the order of
//! time.

use std::collections::VecDeque;

use super::document::traffic::{Concurrency, Pause};

/// Levels of concurrency that are distinguished; the last one holds all above.
const LEVELS_MAX: usize = 1 << 16;
/// A concurrency of this share of the highest is full.
const FULL: f64 = 0.9;
/// Changes that wait at most; beyond, an end that becomes known counts from then on.
const WAITING_MAX: usize = 1 << 18;

/// Time without a request's begin, split where the last reply ended.
#[derive(Debug, Default)]
struct Longest(Option<Pause>);

impl Longest {
    fn add(&mut self, ns: u64, packet: u64) {
        let us = ns as f64 / 1e3;
        if ns > 0 && self.0.is_none_or(|pause| pause.us < us) {
            self.0 = Some(Pause { us, packet });
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Begins { packet: u64 },
    Ends,
}

#[derive(Debug, Default)]
pub(super) struct InFlight {
    requests: u64,
    count: u64,
    max: u64,
    /// Since when this number is under way.
    since_ns: u64,
    levels: Vec<u64>,
    begun_ns: u64,
    idle_from_ns: Option<u64>,
    waiting: Longest,
    resting: Longest,
    /// Requests whose end is not known yet, and the changes since the first of them.
    doubts: u64,
    changes: VecDeque<(u64, Change)>,
}

impl InFlight {
    /// A request begins, with that packet.
    pub(super) fn begin(&mut self, at_ns: u64, packet: u64) {
        self.change(at_ns, Change::Begins { packet });
    }

    /// One ends now.
    pub(super) fn end(&mut self, at_ns: u64) {
        self.change(at_ns, Change::Ends);
    }

    /// One has ended or not, which [`InFlight::settle`] will decide.
    pub(super) fn doubt(&mut self) {
        self.doubts += 1;
    }

    /// One that was in doubt ended at that time, which may be past.
    pub(super) fn settle(&mut self, at_ns: u64) {
        self.doubts -= 1;
        self.make_room();
        let place = self.changes.partition_point(|(at, _)| *at <= at_ns);
        self.changes.insert(place, (at_ns, Change::Ends));
        if self.doubts == 0 {
            self.apply_all();
        }
    }

    fn change(&mut self, at_ns: u64, change: Change) {
        if self.doubts == 0 {
            return self.apply(at_ns, change);
        }
        self.make_room();
        self.changes.push_back((at_ns, change));
    }

    fn make_room(&mut self) {
        if self.changes.len() >= WAITING_MAX {
            self.apply_all();
        }
    }

    fn apply_all(&mut self) {
        while let Some((at_ns, change)) = self.changes.pop_front() {
            self.apply(at_ns, change);
        }
    }

    fn apply(&mut self, at_ns: u64, change: Change) {
        // Later than the last one in any case: it may be past where too many had to wait.
        let at_ns = at_ns.max(self.since_ns);
        match change {
            Change::Begins { packet } => {
                self.note_begin(at_ns, packet);
                self.pass(at_ns);
                self.count += 1;
                self.max = self.max.max(self.count);
            }
            Change::Ends => {
                self.pass(at_ns);
                self.count = self.count.saturating_sub(1);
                if self.count == 0 {
                    self.idle_from_ns = Some(at_ns);
                }
            }
        }
    }

    fn note_begin(&mut self, at_ns: u64, packet: u64) {
        if self.requests == 0 {
            self.since_ns = at_ns;
        } else {
            let idle_from = self.idle_from_ns.unwrap_or(at_ns);
            self.waiting.add(idle_from - self.begun_ns, packet);
            self.resting.add(at_ns - idle_from, packet);
        }
        self.requests += 1;
        self.begun_ns = at_ns;
        self.idle_from_ns = None;
    }

    /// Concurrency is weighted by time, so that Little's law gives the mean latency.
    fn pass(&mut self, at_ns: u64) {
        let level = (self.count as usize).min(LEVELS_MAX - 1);
        if self.levels.len() <= level {
            self.levels.resize(level + 1, 0);
        }
        self.levels[level] += at_ns - self.since_ns;
        self.since_ns = at_ns;
    }

    /// The capture is over: what is not known will never be.
    pub(super) fn finish(&mut self) {
        self.doubts = 0;
        self.apply_all();
    }

    /// The longest pause with requests under way, and without.
    pub(super) fn pauses(&self) -> [Option<Pause>; 2] {
        [self.waiting.0, self.resting.0]
    }

    /// How long requests were under way in sum, nanoseconds.
    pub(super) fn request_ns(&self) -> f64 {
        let levels = self.levels.iter().enumerate();
        levels.map(|(level, ns)| level as f64 * *ns as f64).sum()
    }

    pub(super) fn document(&self) -> Option<Concurrency> {
        let whole: u64 = self.levels.iter().sum();
        let share = |ns: u64| ns as f64 / whole as f64;
        let full = (FULL * self.max as f64).ceil() as usize;
        (whole > 0).then(|| Concurrency {
            mean: self.request_ns() / whole as f64,
            median: self.median(whole),
            max: self.max,
            idle_share: share(self.levels[0]),
            full_share: share(self.levels.iter().skip(full).sum()),
        })
    }

    /// The concurrency that half of the time is below or at.
    fn median(&self, whole: u64) -> u64 {
        let mut passed = 0;
        let above_half = self.levels.iter().position(|ns| {
            passed += ns;
            passed >= whole.div_ceil(2)
        });
        above_half.unwrap_or(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_becomes_known_late_counts_from_its_own_time() {
        let (mut late, mut known) = (InFlight::default(), InFlight::default());
        for meter in [&mut late, &mut known] {
            meter.begin(0, 1);
            meter.begin(10, 2);
        }
        known.end(20);
        late.doubt();
        for meter in [&mut late, &mut known] {
            meter.end(50);
            meter.begin(80, 3);
        }
        late.settle(20);
        for meter in [&mut late, &mut known] {
            meter.end(100);
            meter.finish();
        }
        assert_eq!(late.levels, known.levels);
        assert_eq!(late.levels, [30, 60, 10]);
        assert_eq!(late.max, 2);
        let [waiting, resting] = late.pauses().map(|pause| pause.map(|pause| pause.us));
        assert_eq!((waiting, resting), (Some(0.04), Some(0.03)));
    }

    #[test]
    fn changes_that_wait_are_bounded() {
        let mut meter = InFlight::default();
        meter.begin(0, 1);
        meter.doubt();
        for at in 1..=WAITING_MAX as u64 {
            meter.begin(2 * at, at);
            meter.end(2 * at + 1);
        }
        assert!(meter.changes.len() <= WAITING_MAX);
        meter.settle(1);
        meter.finish();
        assert_eq!((meter.count, meter.max), (0, 2));
    }

    #[test]
    fn ends_that_become_known_late_are_bounded_too() {
        let mut meter = InFlight::default();
        let calls = WAITING_MAX as u64 + 10;
        for call in 0..calls {
            meter.begin(call, call);
            meter.doubt();
        }
        meter.doubt();
        for call in 0..calls {
            meter.settle(2 * calls + call);
            assert!(meter.changes.len() <= WAITING_MAX);
        }
        meter.finish();
        assert_eq!((meter.count, meter.max), (0, calls));
    }
}
