//! Arrival processes of open loads: when calls are intended, whatever became
//! of the calls before them.

use wirelab_contract::texts::SplitMix64;

use crate::call::clock::UNSET;
use crate::call::waiting::Numbers;
use crate::plan::Load;
use crate::schedule::stages::Stages;
use crate::schedule::think::Think;

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
    /// A rate that changes over time: the i-th arrival comes when the area under the rate
    /// reaches i. With exponential gaps that area is the sum of exponential variables
    /// (time change of a Poisson process; Ross, Stochastic Processes, section 2.4).
    Stages {
        /// The rate, arrivals per second of the whole load.
        stages: Stages,
        /// Area of this thread's last arrival.
        area: f64,
        /// Area between two arrivals of this thread, on average.
        step: f64,
        /// Source of exponential gaps; None: even gaps.
        random: Option<SplitMix64>,
        /// The first arrival of even gaps has not been given yet.
        first: bool,
    },
    /// Bursts. Every thread goes through all of them, and takes its share.
    Bursts {
        /// Arrivals of a burst.
        calls: u64,
        /// Nanoseconds between two arrivals of a burst.
        gap_ns: f64,
        /// Gaps between bursts.
        gaps: Think,
        /// Offset of the burst under way.
        start_ns: f64,
        /// Number of the burst under way.
        burst: u64,
        /// Number of the next arrival of this thread, in the whole load.
        next: u64,
        /// Number of threads.
        step: u64,
    },
}

impl Arrivals {
    /// The share of thread `thread` of `threads`; None for closed loads.
    #[must_use]
    pub fn of(load: &Load, thread: u32, threads: u32) -> Option<Arrivals> {
        let (thread, step) = (u64::from(thread), u64::from(threads));
        match load {
            Load::Closed { .. } => None,
            Load::Stages {
                from, stages, seed, ..
            } => Some(Arrivals::Stages {
                stages: Stages::new(*from, stages),
                area: match seed {
                    // With even gaps, thread k begins at area k: together the threads have
                    // every whole number.
                    Some(_) => 0.0,
                    None => thread as f64,
                },
                step: step as f64,
                random: seed.map(|seed| of_thread(seed, thread)),
                first: seed.is_none(),
            }),
            Load::Bursts {
                calls,
                rate,
                gap_s,
                gaps,
                seed,
                ..
            } => Some(Arrivals::Bursts {
                calls: u64::from(*calls),
                gap_ns: rate.map_or(0.0, |rate| 1e9 / rate),
                // The same gaps on every thread.
                gaps: Think::new(*gap_s, *gaps, *seed, 0),
                start_ns: 0.0,
                burst: 0,
                next: thread,
                step,
            }),
            Load::Constant { rate, .. } => Some(Arrivals::Constant {
                gap_ns: 1e9 / *rate,
                next: thread,
                step,
            }),
            Load::Poisson { rate, seed, .. } => Some(Arrivals::Poisson {
                gap_ns: 1e9 / *rate * step as f64,
                at_ns: 0.0,
                random: of_thread(*seed, thread),
            }),
        }
    }
}

/// A source of random numbers of one thread's own.
fn of_thread(seed: u64, thread: u64) -> SplitMix64 {
    // Odd, so that threads differ in all bits (the first secret of wyhash). It must stay:
    // recorded seeds repeat their arrivals only with it.
    SplitMix64::new(seed ^ thread.wrapping_mul(0xA076_1D64_78BD_642F))
}

/// When bursts begin, nanoseconds from the schedule's origin, as [`Arrivals`] has them; of
/// other loads nothing.
pub(crate) fn burst_starts(load: &Load) -> impl Iterator<Item = f64> + use<> {
    let (mut gaps, length_ns) = match load {
        Load::Bursts {
            calls,
            rate,
            gap_s,
            gaps,
            seed,
            ..
        } => (
            Some(Think::new(*gap_s, *gaps, *seed, 0)),
            f64::from(calls - 1) * rate.map_or(0.0, |rate| 1e9 / rate),
        ),
        _ => (None, 0.0),
    };
    let mut next_ns = 0.0;
    std::iter::from_fn(move || {
        let start_ns = next_ns;
        next_ns += length_ns + gaps.as_mut()?.next_ns() as f64;
        Some(start_ns)
    })
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
                // Inverse transform of the exponential. `unit` is below 1, so that no
                // logarithm is infinite. A double counts nanoseconds exactly up to
                // 2^53, which is 104 days.
                *at_ns += -(1.0 - random.unit()).ln() * *gap_ns;
                Some(*at_ns as u64)
            }
            Arrivals::Stages {
                stages,
                area,
                step,
                random,
                first,
            } => {
                match random {
                    Some(random) => *area += -(1.0 - random.unit()).ln() * *step,
                    None if std::mem::take(first) => {}
                    None => *area += *step,
                }
                Some((stages.time_of(*area)? * 1e9) as u64)
            }
            Arrivals::Bursts {
                calls,
                gap_ns,
                gaps,
                start_ns,
                burst,
                next,
                step,
            } => {
                // Also through bursts in which this thread has no arrival: all threads must
                // draw the same gaps.
                while *next / *calls > *burst {
                    let length_ns = (*calls - 1) as f64 * *gap_ns;
                    *start_ns += length_ns + gaps.next_ns() as f64;
                    *burst += 1;
                }
                let at = *start_ns + (*next % *calls) as f64 * *gap_ns;
                *next += *step;
                Some(at as u64)
            }
        }
    }
}

/// The arrivals of one thread with their numbers and moments.
pub(crate) struct Schedule {
    arrivals: Arrivals,
    origin: u64,
    next: u64,
    /// Number of the next arrival, and what lies between two of this thread.
    numbers: Numbers,
}

impl Schedule {
    /// `origin` is the moment that offsets count from, nanoseconds of the clock.
    pub(crate) fn new(mut arrivals: Arrivals, numbers: Numbers, origin: u64) -> Schedule {
        let next = moment(&mut arrivals, origin);
        Schedule {
            arrivals,
            origin,
            next,
            numbers,
        }
    }

    /// When the next arrival comes, [`UNSET`] after the last, and its number.
    #[inline]
    pub(crate) fn peek(&self) -> (u64, u32) {
        (self.next, self.numbers.first)
    }

    /// Puts off the next arrival and all after it.
    pub(crate) fn delay(&mut self, by_ns: u64) {
        self.origin = self.origin.saturating_add(by_ns);
        self.next = self.next.saturating_add(by_ns);
    }

    /// Goes on to the arrival after it.
    pub(crate) fn advance(&mut self) {
        let Numbers { first, step } = self.numbers;
        self.numbers.first = first.wrapping_add(step);
        self.next = moment(&mut self.arrivals, self.origin);
    }
}

fn moment(arrivals: &mut Arrivals, origin: u64) -> u64 {
    let offset = arrivals.next();
    offset.map_or(UNSET, |at| origin.saturating_add(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Distribution, Stage};

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

    fn of_all_threads(load: &Load, threads: u32, each: usize) -> Vec<u64> {
        let mut all: Vec<u64> = (0..threads)
            .flat_map(|thread| Arrivals::of(load, thread, threads).unwrap().take(each))
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_rate_over_time_has_its_arrivals_in_every_stage() {
        let stage = |to, duration_s| Stage { to, duration_s };
        let load = |seed| Load::Stages {
            from: 0.0,
            stages: vec![stage(1000.0, 10.0), stage(1000.0, 5.0), stage(0.0, 0.0)],
            in_flight_max: 1,
            seed,
        };
        // 71 is the root of 5,000, the largest count below.
        for (seed, tolerance) in [(None, 3), (Some(11), 5 * 71)] {
            let all = of_all_threads(&load(seed), 3, 20_000);
            let within = |from: u64, to: u64| {
                let range = from * 1_000_000_000..to * 1_000_000_000;
                all.iter().filter(|at| range.contains(at)).count() as i64
            };
            // Areas; with exponential gaps within five standard deviations.
            for (from, to, planned) in [(0, 5, 1250), (5, 10, 3750), (10, 15, 5000)] {
                let made = within(from, to);
                assert!(
                    (made - planned).abs() <= tolerance,
                    "{seed:?} {from} {made}"
                );
            }
            assert_eq!(within(15, 1000), 0);
        }
    }

    #[test]
    fn bursts_have_their_length_and_their_gaps() {
        let load = |rate, gaps| Load::Bursts {
            calls: 5,
            rate,
            gap_s: 1.0,
            gaps,
            in_flight_max: 1,
            seed: 3,
        };
        let even = of_all_threads(&load(Some(1000.0), Distribution::Constant), 2, 10);
        let expected = (0..4_u64)
            .flat_map(|burst| (0..5_u64).map(move |k| burst * 1_004_000_000 + k * 1_000_000));
        assert_eq!(even, expected.collect::<Vec<_>>());
        let at_once = of_all_threads(&load(None, Distribution::Exponential), 3, 5000);
        let starts: Vec<u64> = at_once.chunks(5).map(|burst| burst[0]).collect();
        assert!(
            at_once
                .chunks(5)
                .all(|burst| burst.iter().all(|at| *at == burst[0]))
        );
        let planned = burst_starts(&load(None, Distribution::Exponential)).take(starts.len());
        assert!(starts.iter().copied().eq(planned.map(|at| at as u64)));
        let gaps = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e9);
        let mean = gaps.sum::<f64>() / (starts.len() - 1) as f64;
        // Five standard errors of 3000 exponential gaps.
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
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
        // Never to be updated: records hold the seed and not the arrivals.
        assert_eq!(first(0), [197_606, 204_379, 1_128_467, 1_478_268]);
        assert_eq!(first(1), [175_484, 607_651, 1_221_476, 1_528_862]);
    }

    #[test]
    fn closed_loads_have_no_schedule() {
        assert!(Arrivals::of(&Load::closed(1), 0, 1).is_none());
    }
}
