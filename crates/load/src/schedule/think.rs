//! How long a user pauses between calls.

use wirelab_contract::texts::SplitMix64;

use crate::plan::Distribution;

/// Pauses of the users of one thread.
#[derive(Debug, Clone)]
pub struct Think {
    mean_ns: f64,
    distribution: Distribution,
    random: SplitMix64,
}

impl Think {
    /// Pauses with a mean in seconds; `thread` keeps the threads' pauses apart.
    #[must_use]
    pub fn new(mean_s: f64, distribution: Distribution, seed: u64, thread: u32) -> Think {
        Think {
            mean_ns: mean_s * 1e9,
            distribution,
            // As for arrivals: the constant must stay, or recorded seeds give other pauses.
            random: SplitMix64::new(seed ^ u64::from(thread).wrapping_mul(0xA076_1D64_78BD_642F)),
        }
    }

    /// Whether users never pause.
    #[inline]
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.mean_ns == 0.0
    }

    /// The next pause, in nanoseconds.
    pub fn next_ns(&mut self) -> u64 {
        let factor = match self.distribution {
            Distribution::Constant => 1.0,
            Distribution::Exponential => -(1.0 - self.random.unit()).ln(),
            // From half to one and a half of the mean.
            Distribution::Uniform => 0.5 + self.random.unit(),
        };
        (self.mean_ns * factor) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of many pauses, as shares of the mean asked for.
    fn shape(distribution: Distribution) -> (f64, f64) {
        let mut think = Think::new(0.01, distribution, 7, 0);
        let pauses: Vec<f64> = (0..100_000).map(|_| think.next_ns() as f64 / 1e7).collect();
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        let squares = pauses.iter().map(|pause| (pause - mean).powi(2));
        (mean, (squares.sum::<f64>() / pauses.len() as f64).sqrt())
    }

    #[test]
    fn pauses_have_the_mean_and_the_deviation_of_their_distribution() {
        // Five standard errors of the mean and of the deviation of 100,000 pauses.
        for (distribution, deviation) in [
            (Distribution::Constant, 0.0),
            (Distribution::Exponential, 1.0),
            (Distribution::Uniform, (1.0_f64 / 12.0).sqrt()),
        ] {
            let (mean, spread) = shape(distribution);
            assert!((mean - 1.0).abs() < 0.016, "{distribution:?}: {mean}");
            assert!(
                (spread - deviation).abs() < 0.02,
                "{distribution:?}: {spread}"
            );
        }
    }
}
