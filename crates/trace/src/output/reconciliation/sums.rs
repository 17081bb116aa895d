//! Response times and their parts, over many calls.

use hdrhistogram::Histogram;

use super::document::{Operation, Part, Spent};
use super::phases::{PHASES, Parts, Phase};
use crate::output::quantiles::Quantiles;

#[derive(Debug)]
pub(super) struct Durations {
    /// Signed, ns.
    sum: i128,
    sizes: Histogram<u64>,
}

impl Default for Durations {
    fn default() -> Self {
        let sizes = Histogram::new(3).expect("3 digits are within 0 to 5");
        Durations { sum: 0, sizes }
    }
}

impl Durations {
    /// The longest that is distinguished: a day.
    const NS_MAX: u64 = 86_400_000_000_000;

    pub(super) fn add(&mut self, ns: i64) {
        self.sum += i128::from(ns);
        // A histogram that resizes itself takes every value.
        let _ = self.sizes.record(ns.unsigned_abs().min(Durations::NS_MAX));
    }

    /// The absolute value that this part of all is at most, ns.
    fn quantile_ns(&self, part: f64) -> u64 {
        self.sizes.value_at_quantile(part)
    }

    fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// In microseconds.
    pub(super) fn quantiles(&self) -> Option<Quantiles> {
        let us = |part| self.quantile_ns(part) as f64 / 1e3;
        (!self.is_empty()).then(|| Quantiles {
            min: us(0.0),
            p50: us(0.5),
            p90: us(0.9),
            p99: us(0.99),
            max: us(1.0),
            n: self.sizes.len(),
        })
    }

    /// `calls`: of how many the mean is.
    fn summarize(&self, calls: u64) -> Spent {
        let us = |ns: u64| ns as f64 / 1e3;
        Spent {
            mean_us: self.sum as f64 / 1e3 / calls.max(1) as f64,
            p50_us: us(self.quantile_ns(0.5)),
            p99_us: us(self.quantile_ns(0.99)),
            max_us: us(self.sizes.max()),
        }
    }
}

/// The part of all calls that bounds two clocks: single stamps are read late.
const LEAST: f64 = 0.01;

#[derive(Debug, Default)]
pub(super) struct Signed {
    below: Durations,
    above: Durations,
}

impl Signed {
    pub(super) fn add(&mut self, ns: i64) {
        let side = if ns < 0 {
            &mut self.below
        } else {
            &mut self.above
        };
        side.add(ns);
    }

    /// The value that [`LEAST`] of all are below.
    pub(super) fn least_ns(&self) -> Option<i64> {
        let [below, above] = [&self.below, &self.above].map(|side| side.sizes.len() as f64);
        let rank = LEAST * (below + above);
        if below + above == 0.0 {
            None
        } else if rank < below {
            // The histogram holds absolute values, so the most negative ones are its
            // largest.
            let size = self.below.quantile_ns(1.0 - rank / below);
            Some(-(size as i64))
        } else {
            Some(self.above.quantile_ns((rank - below) / above) as i64)
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Sums {
    calls: u64,
    response: Durations,
    phases: [Durations; PHASES],
    residual: Durations,
}

impl Sums {
    pub(super) fn add(&mut self, parts: &Parts) {
        self.calls += 1;
        self.response.add(parts.response_ns as i64);
        self.residual.add(parts.residual_ns);
        for (times, ns) in self.phases.iter_mut().zip(parts.ns) {
            if let Some(ns) = ns {
                times.add(ns as i64);
            }
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.calls
    }

    pub(super) fn document(&self, name: &str) -> Operation {
        let total = self.response.sum.max(1) as f64;
        let known = Phase::ALL.into_iter().zip(&self.phases);
        let phases = known.filter(|(_, times)| !times.is_empty());
        let part = |(phase, times): (Phase, &Durations)| Part {
            phase,
            share: times.sum as f64 / total,
            spent: times.summarize(self.calls),
        };
        Operation {
            name: name.into(),
            calls: self.calls,
            response: self.response.summarize(self.calls),
            phases: phases.map(part).collect(),
            residual: self.residual.summarize(self.calls),
        }
    }
}
