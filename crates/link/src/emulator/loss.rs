//! Packet loss: independent, or in bursts by a Gilbert-Elliott chain.

use crate::emulator::rng::Rng;
use crate::model::profile::LossModel;

#[derive(Debug)]
pub(crate) struct Loss {
    model: Option<LossModel>,
    bad: bool,
    rng: Rng,
}

impl Loss {
    pub(crate) fn new(model: Option<LossModel>, rng: Rng) -> Self {
        Loss {
            model,
            // Begins in the good state, as netem does.
            bad: false,
            rng,
        }
    }

    pub(crate) fn next(&mut self) -> bool {
        match self.model {
            None => false,
            Some(LossModel::Random { percent }) => self.rng.happens(percent / 100.0),
            Some(LossModel::GilbertElliott {
                p_percent,
                r_percent,
                loss_bad_percent,
                loss_good_percent,
            }) => {
                let (lost, leaves) = match self.bad {
                    true => (loss_bad_percent, r_percent),
                    false => (loss_good_percent, p_percent),
                };
                let lost = self.rng.happens(lost / 100.0);
                // The chain moves with every packet, lost or not.
                self.bad ^= self.rng.happens(leaves / 100.0);
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_losses(model: LossModel, packets: usize) -> Vec<bool> {
        let mut loss = Loss::new(Some(model), Rng::new(11, 3));
        (0..packets).map(|_| loss.next()).collect()
    }

    /// The 99.9 % interval of a binomial share, by its normal approximation.
    fn is_within(count: usize, n: usize, share: f64) -> bool {
        let reach = 3.290_5 * (share * (1.0 - share) / n as f64).sqrt();
        (count as f64 / n as f64 - share).abs() <= reach
    }

    #[test]
    fn random_loss_lies_in_its_binomial_interval() {
        for percent in [0.1, 1.0, 3.0, 50.0] {
            let model = LossModel::Random { percent };
            let count = draw_losses(model, 200_000)
                .iter()
                .filter(|lost| **lost)
                .count();
            assert!(
                is_within(count, 200_000, percent / 100.0),
                "{percent}: {count}"
            );
        }
    }

    #[test]
    fn certain_and_impossible_are_exact() {
        assert!(
            draw_losses(LossModel::Random { percent: 100.0 }, 1000)
                .iter()
                .all(|lost| *lost)
        );
        assert!(!draw_losses(LossModel::Random { percent: 0.0 }, 1000).contains(&true));
    }

    /// Bursts of the chain are geometric with mean 1 / r, and so are the gaps
    /// between them, with mean 1 / p.
    #[test]
    fn bursts_and_gaps_have_the_lengths_of_the_formula() {
        let (p, r) = (0.02, 0.25);
        let model = LossModel::GilbertElliott {
            p_percent: p * 100.0,
            r_percent: r * 100.0,
            loss_bad_percent: 100.0,
            loss_good_percent: 0.0,
        };
        let packets = draw_losses(model, 1_000_000);
        for (state, leave) in [(true, r), (false, p)] {
            let count = packets.iter().filter(|lost| **lost == state).count();
            let runs = 1 + packets
                .windows(2)
                .filter(|pair| pair[0] != state && pair[1] == state)
                .count();
            let (mean, expected) = (count as f64 / runs as f64, 1.0 / leave);
            // A geometric length deviates by sqrt(1 - leave) / leave.
            let reach = 3.290_5 * (1.0 - leave).sqrt() / leave / (runs as f64).sqrt();
            assert!(
                (mean - expected).abs() < reach,
                "{state}: {mean} for {expected}"
            );
        }
        let share = packets.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share - model.share()).abs() < 0.002, "{share}");
    }
}
