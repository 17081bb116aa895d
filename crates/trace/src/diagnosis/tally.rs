//! Occurrences counted by cause.

use hdrhistogram::Histogram;

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::{Finding, Where};
use crate::diagnosis::occurrence::Occurrence;
use crate::diagnosis::words;
use crate::flow::event::Direction;

/// Nanoseconds per millisecond.
const NS_PER_MS: f64 = 1e6;
/// Times are kept to 3 significant digits.
const DIGITS: u8 = 3;

/// All of one cause.
#[derive(Debug)]
pub(crate) struct Tally {
    cause: Cause,
    occurrences: u64,
    exchanges: u64,
    ns: u64,
    /// By the direction of what was held up.
    by_direction: [u64; 2],
    times: Histogram<u64>,
    longest: Vec<Occurrence>,
    kept: usize,
}

/// The figures of one cause that sentences are made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) cause: Cause,
    pub(crate) occurrences: u64,
    pub(crate) exchanges: u64,
    /// Of all causes and none.
    pub(crate) exchanges_seen: u64,
    pub(crate) ms_total: f64,
    pub(crate) ms_median: f64,
    pub(crate) share: f64,
    /// The way of most that was held up.
    pub(crate) direction: Direction,
    /// The same cause was found in the other direction, too.
    pub(crate) both_ways: bool,
}

impl Tally {
    /// `kept`: how many occurrences are named.
    pub(crate) fn new(cause: Cause, kept: usize) -> Tally {
        Tally {
            cause,
            occurrences: 0,
            exchanges: 0,
            ns: 0,
            by_direction: [0; 2],
            times: Histogram::new(DIGITS).expect("3 digits are legal"),
            longest: Vec::new(),
            kept,
        }
    }

    /// One more.
    pub(crate) fn take(&mut self, occurrence: Occurrence) {
        self.occurrences += 1;
        self.exchanges += u64::from(occurrence.exchange.is_some());
        self.ns = self.ns.saturating_add(occurrence.ns);
        self.by_direction[occurrence.direction as usize] += 1;
        self.times
            .record(occurrence.ns)
            .expect("the histogram grows to any time");
        self.keep(occurrence);
    }

    fn keep(&mut self, occurrence: Occurrence) {
        if self.longest.len() < self.kept {
            self.longest.push(occurrence);
            return;
        }
        let shortest = self.longest.iter_mut().min_by_key(|kept| kept.ns);
        if let Some(shortest) = shortest.filter(|kept| kept.ns < occurrence.ns) {
            *shortest = occurrence;
        }
    }

    /// None when there were none. `latency_ns`: of all exchanges together.
    pub(crate) fn finding(mut self, exchanges_seen: u64, latency_ns: u64) -> Option<Finding> {
        if self.occurrences == 0 {
            return None;
        }
        let figures = self.figures(exchanges_seen, latency_ns);
        self.longest
            .sort_by(|one, other| one.packets.cmp(&other.packets));
        Some(Finding {
            cause: self.cause,
            occurrences: self.occurrences,
            exchanges: self.exchanges,
            ms_total: figures.ms_total,
            ms_median: figures.ms_median,
            share_of_latency: figures.share,
            examples: self.longest.into_iter().map(example).collect(),
            words: words::sentence(&figures),
            test: words::test(&figures),
        })
    }

    fn figures(&self, exchanges_seen: u64, latency_ns: u64) -> Figures {
        let [request, reply] = self.by_direction;
        Figures {
            cause: self.cause,
            occurrences: self.occurrences,
            exchanges: self.exchanges,
            exchanges_seen,
            ms_total: ms(self.ns),
            ms_median: ms(self.times.value_at_quantile(0.5)),
            share: if latency_ns == 0 {
                0.0
            } else {
                (self.ns as f64 / latency_ns as f64).min(1.0)
            },
            direction: if request > reply {
                Direction::Request
            } else {
                Direction::Reply
            },
            both_ways: request > 0 && reply > 0,
        }
    }
}

fn example(occurrence: Occurrence) -> Where {
    Where {
        flow: occurrence.flow,
        exchange: occurrence.exchange,
        packets: occurrence.packets,
        ms: ms(occurrence.ns),
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS
}
