//! Arrival processes of open loads: when calls are intended, whatever became
//! of the calls before them.

use wirelab_contract::texts::SplitMix64;

use crate::plan::Load;

/// The share of one thread in an open load's schedule.
///
/// Yields offsets from the schedule's origin in nanoseconds, never decreasing.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// Evenly spaced: the i-th arrival of thread k of T is at (k + i T) / rate.
    Constant {
        /// Nanoseconds between two arrivals of the whole load.
        gap_ns: f64,
        /// Number of the next arrival of this thread, in the whole load.
        next: u64,
        /// Number of threads.
        step: u64,
    },
    /// Exponential gaps. A superposition of T independent Poisson processes
    /// of rate r/T is one of rate r, so each thread draws its own.
    Poisson {
        /// Mean gap of this thread's share in nanoseconds.
        gap_ns: f64,
        /// Offset of the last arrival.
        at_ns: f64,
        /// Source of the gaps.
        random: SplitMix64,
    },
}

impl Arrivals {
    /// The share of thread `thread` of `threads`; None for closed loads.
    #[must_use]
    pub fn of(load: &Load, thread: u32, threads: u32) -> Option<Arrivals> {
        let (thread, step) = (u64::from(thread), u64::from(threads));
        match *load {
            Load::Closed { .. } => None,
            Load::Constant { rate, .. } => Some(Arrivals::Constant {
                gap_ns: 1e9 / rate,
                next: thread,
                step,
            }),
            Load::Poisson { rate, seed, .. } => Some(Arrivals::Poisson {
                gap_ns: 1e9 / rate * step as f64,
                at_ns: 0.0,
                random: SplitMix64::new(seed ^ thread.wrapping_mul(0xA076_1D64_78BD_642F)),
            }),
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Arrivals::Constant { gap_ns, next, step } => {
                // From the number, not by adding up gaps: no drift in long runs.
                let at = *next as f64 * *gap_ns;
                *next += *step;
                Some(at as u64)
            }
            Arrivals::Poisson {
                gap_ns,
                at_ns,
                random,
            } => {
                *at_ns += -(1.0 - random.unit()).ln() * *gap_ns;
                Some(*at_ns as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(rate: f64) -> Load {
        Load::Constant {
            rate,
            in_flight_max: 1,
        }
    }

    #[test]
    fn constant_arrivals_of_all_threads_together_are_evenly_spaced() {
        let load = constant(1000.0);
        let mut all: Vec<u64> = (0..3)
            .flat_map(|t| Arrivals::of(&load, t, 3).unwrap().take(100))
            .collect();
        all.sort_unstable();
        assert!(
            all.iter()
                .enumerate()
                .all(|(i, at)| *at == i as u64 * 1_000_000)
        );
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let third = Arrivals::of(&constant(3.0), 0, 1)
            .unwrap()
            .nth(3_000_000)
            .unwrap();
        assert_eq!(third, 1_000_000_000_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_deviation_of_an_exponential() {
        let load = Load::Poisson {
            rate: 5000.0,
            in_flight_max: 1,
            seed: 7,
        };
        let at: Vec<u64> = Arrivals::of(&load, 0, 1).unwrap().take(100_000).collect();
        let gaps: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Five standard errors of the mean and of the deviation of 100,000 gaps.
        assert!((mean / 200_000.0 - 1.0).abs() < 0.016, "{mean}");
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.02,
            "{}",
            variance.sqrt()
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_threads_differ() {
        let load = Load::Poisson {
            rate: 5000.0,
            in_flight_max: 1,
            seed: 7,
        };
        let take = |t| {
            Arrivals::of(&load, t, 2)
                .unwrap()
                .take(50)
                .collect::<Vec<_>>()
        };
        assert_eq!(take(0), take(0));
        assert_ne!(take(0), take(1));
    }

    #[test]
    fn a_recorded_seed_repeats_the_arrivals_of_earlier_versions() {
        let load = Load::Poisson {
            rate: 5000.0,
            in_flight_max: 1,
            seed: 7,
        };
        let first =
            |thread| -> Vec<u64> { Arrivals::of(&load, thread, 2).unwrap().take(4).collect() };
        assert_eq!(first(0), [197_606, 204_379, 1_128_467, 1_478_268]);
        assert_eq!(first(1), [175_484, 607_651, 1_221_476, 1_528_862]);
    }

    #[test]
    fn closed_loads_have_no_schedule() {
        assert!(
            Arrivals::of(
                &Load::Closed {
                    users: 1,
                    think_s: 0.0
                },
                0,
                1
            )
            .is_none()
        );
    }
}
