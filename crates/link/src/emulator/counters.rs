//! What the emulator counts per direction, and how much later than due packets left.

use hdrhistogram::Histogram;

use crate::model::summary::{Dropped, Lateness, LinkSummary, Syns};
use crate::model::way::{Way, Ways};

#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: u64,
    pub(crate) syns: Syns,
    pub(crate) queue_drops: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
    pub(crate) reordered: u64,
    pub(crate) lateness: LatenessHistogram,
    pub(crate) dropped: Vec<Dropped>,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Counters {
            packets: 0,
            bytes: 0,
            lost: 0,
            syns: Syns::default(),
            queue_drops: 0,
            duplicated: 0,
            corrupted: 0,
            reordered: 0,
            lateness: LatenessHistogram::new(),
            dropped: Vec::new(),
        }
    }
}

/// Upper bound of the histogram: a minute.
const NS_MAX: u64 = 60_000_000_000;

/// A histogram of nanoseconds, to three significant digits.
#[derive(Debug, Clone)]
pub(crate) struct LatenessHistogram(Histogram<u64>);

impl LatenessHistogram {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_max(NS_MAX, 3);
        LatenessHistogram(histogram.expect("bounds that the library takes"))
    }

    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    pub(crate) fn add(&mut self, other: &LatenessHistogram) {
        self.0.add(&other.0).expect("histograms of equal bounds");
    }

    pub(crate) fn summary(&self) -> Lateness {
        let us = |ns: u64| ns as f64 / 1_000.0;
        Lateness {
            p50: us(self.0.value_at_quantile(0.5)),
            p99: us(self.0.value_at_quantile(0.99)),
            max: us(self.0.max()),
            n: self.0.len(),
        }
    }
}

/// The counters of both directions as the link's summary has them, without what
/// the devices count.
pub(crate) fn summary(counters: &[(Way, Counters)], cpu_ns: u64, seconds: f64) -> LinkSummary {
    let count = |of| each_way(counters, of);
    let mut lateness = LatenessHistogram::new();
    counters
        .iter()
        .for_each(|(_, counters)| lateness.add(&counters.lateness));
    let mut dropped: Vec<_> = counters
        .iter()
        .flat_map(|(_, counters)| counters.dropped.clone())
        .collect();
    // Each direction has a log of its own.
    dropped.sort_by_key(|drop| drop.at_unix_ns);
    LinkSummary {
        packets: count(|counters| counters.packets),
        bytes: count(|counters| counters.bytes),
        lost: Some(count(|counters| counters.lost)),
        syns: Some(each_way(counters, |counters| counters.syns)),
        queue_drops: Some(count(|counters| counters.queue_drops)),
        duplicated: Some(count(|counters| counters.duplicated)),
        corrupted: Some(count(|counters| counters.corrupted)),
        reordered: Some(count(|counters| counters.reordered)),
        device_drops: Ways::default(),
        lateness_us: Some(lateness.summary()),
        cpu_s: Some(cpu_ns as f64 / 1e9),
        seconds,
        dropped,
    }
}

fn each_way<T: Default>(counters: &[(Way, Counters)], of: fn(&Counters) -> T) -> Ways<T> {
    let mut ways = Ways::default();
    for (way, counters) in counters {
        *ways.of_mut(*way) = of(counters);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_in_microseconds() {
        let (mut ours, mut theirs) = (LatenessHistogram::new(), LatenessHistogram::new());
        (0..99).for_each(|_| ours.record(6_000));
        theirs.record(2_000_000);
        ours.add(&theirs);
        let summary = ours.summary();
        assert!(
            (summary.p50 - 6.0).abs() < 0.01 && summary.max > 1_999.0,
            "{summary:?}"
        );
        assert_eq!(summary.n, 100);
    }
}
