//! The delay of each packet, with its jitter.

use crate::emulator::rng::Rng;
use crate::kernel::clock::ms_to_ns;
use crate::model::distribution::{CUT, Distribution, PARETO_MEAN, PARETO_SHAPE, PARETO_STRETCH};
use crate::model::profile::Direction;

impl Distribution {
    /// One deviation from the delay, in units of the jitter.
    pub(crate) fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Distribution::None => 0.0,
            Distribution::Uniform => 2.0 * rng.unit() - 1.0,
            Distribution::Normal => normal(rng),
            Distribution::Pareto => {
                // Inverse transform: 1 - unit lies in (0, 1], so that x is finite and
                // at least 1.
                let x = (1.0 - rng.unit()).powf(-1.0 / PARETO_SHAPE);
                ((x - PARETO_MEAN) * PARETO_STRETCH).min(CUT)
            }
        }
    }
}

/// A standard normal number within the cut, by Box and Muller (1958).
fn normal(rng: &mut Rng) -> f64 {
    loop {
        // The other number of the pair is not used: kept for the next packet, it would
        // be a state.
        let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
        let number = radius * (std::f64::consts::TAU * rng.unit()).cos();
        // Drawn again and not clamped: many packets would have the very same delay.
        if number.abs() <= CUT {
            return number;
        }
    }
}

#[derive(Debug)]
pub(crate) struct Delay {
    base_ns: u64,
    jitter_ns: f64,
    distribution: Distribution,
    rng: Rng,
}

impl Delay {
    pub(crate) fn new(direction: &Direction, rng: Rng) -> Self {
        Delay {
            base_ns: ms_to_ns(direction.delay_ms),
            jitter_ns: direction.jitter_ms * 1e6,
            distribution: direction.distribution,
            rng,
        }
    }

    /// The next packet's delay, nanoseconds.
    pub(crate) fn next_ns(&mut self) -> u64 {
        let deviation = self.distribution.draw(&mut self.rng) * self.jitter_ns;
        // The profile's check refuses a jitter that reaches below 0; rounding may do so
        // by 1 ns.
        self.base_ns.saturating_add_signed(deviation.round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_delays(distribution: Distribution) -> Vec<f64> {
        let mut rng = Rng::new(5, 5);
        (0..200_000).map(|_| distribution.draw(&mut rng)).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn distributions_have_their_mean_and_bounds() {
        for kind in [
            Distribution::Uniform,
            Distribution::Normal,
            Distribution::Pareto,
        ] {
            let values = draw_delays(kind);
            assert!((mean(&values) - kind.mean()).abs() < 0.01, "{kind:?}");
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            assert!(least >= -kind.reach() - 1e-12, "{kind:?}: {least}");
            assert!(values.iter().all(|value| *value <= CUT), "{kind:?}");
        }
    }

    #[test]
    fn deviations_are_what_the_profile_says() {
        let deviation = |kind| {
            let values = draw_delays(kind);
            let mean = mean(&values);
            let squares = values
                .iter()
                .map(|value| (value - mean).powi(2))
                .sum::<f64>();
            (squares / values.len() as f64).sqrt()
        };
        assert!((deviation(Distribution::Normal) - 1.0).abs() < 0.01);
        assert!((deviation(Distribution::Uniform) - (1.0f64 / 3.0).sqrt()).abs() < 0.005);
    }

    #[test]
    fn half_of_a_pareto_lies_below_the_cube_root_of_two() {
        let mut values = draw_delays(Distribution::Pareto);
        values.sort_by(f64::total_cmp);
        let median = (2.0f64.cbrt() - PARETO_MEAN) * PARETO_STRETCH;
        assert!((values[values.len() / 2] - median).abs() < 0.01);
    }

    #[test]
    fn without_jitter_the_delay_is_exact() {
        let direction = Direction {
            delay_ms: 6.9,
            ..Direction::default()
        };
        let mut delay = Delay::new(&direction, Rng::new(0, 0));
        assert!((0..10).all(|_| delay.next_ns() == 6_900_000));
    }
}
