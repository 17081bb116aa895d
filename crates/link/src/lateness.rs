//! How much later than due packets left.

use hdrhistogram::Histogram;

use crate::ended::Lateness;

/// Longest lateness that is told apart: a minute.
const NS_MAX: u64 = 60_000_000_000;

/// A histogram of nanoseconds, to three significant digits.
#[derive(Debug, Clone)]
pub(crate) struct Latenesses(Histogram<u64>);

impl Latenesses {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_max(NS_MAX, 3);
        Latenesses(histogram.expect("bounds that the library takes"))
    }

    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    pub(crate) fn add(&mut self, other: &Latenesses) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_in_microseconds() {
        let (mut ours, mut theirs) = (Latenesses::new(), Latenesses::new());
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
