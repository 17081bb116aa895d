//! Which part of a mix an arrival is.

use wirelab_contract::texts::SplitMix64;

use crate::call::fault;
use crate::call::result::Fault;
use crate::call::waiting::Numbers;

/// Parts that a mix may have.
pub(crate) const PARTS_MAX: usize = 1_000;

/// Chooses parts at random by their weights.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    /// Where the share of each part ends in [0, 1).
    ends: Vec<f64>,
    seed: u64,
    /// A stream for each user of a closed load, by its place in this thread. In an open
    /// load each arrival is a user of its own and draws the first number of its stream.
    users: Vec<SplitMix64>,
    numbers: Numbers,
}

impl Chooser {
    /// Chooses by `weights`, of which there is at least one.
    ///
    /// # Errors
    /// A fault of the plan when a weight is not above 0, or there are too many.
    pub(crate) fn new(weights: &[f64], seed: u64) -> Result<Chooser, Fault> {
        if weights.len() > PARTS_MAX {
            return Err(fault::plan(
                format!("mix: {} parts", weights.len()),
                format!("use at most {PARTS_MAX} parts"),
            ));
        }
        // NaN is refused, too: no comparison with it holds.
        let legal = |weight: &f64| *weight > 0.0 && *weight <= 1e9;
        if let Some(at) = weights.iter().position(|weight| !legal(weight)) {
            return Err(fault::plan(
                format!("mix: parts[{at}]: weight = {:?}", weights[at]),
                "use a weight above 0, at most 1e9, or leave the part out",
            ));
        }
        let sum: f64 = weights.iter().sum();
        let mut below = 0.0;
        let ends = weights.iter().map(|weight| {
            below += weight;
            below / sum
        });
        Ok(Chooser {
            ends: ends.collect(),
            seed,
            users: Vec::new(),
            numbers: Numbers { first: 0, step: 1 },
        })
    }

    /// Takes the numbers of `users` users of a closed load; of an open load, where every
    /// arrival is a new user, `users` is 0.
    pub(crate) fn number(&mut self, users: usize, numbers: Numbers) {
        let number = |k: usize| numbers.first.wrapping_add(k as u32 * numbers.step);
        self.users = (0..users).map(|k| stream(self.seed, number(k))).collect();
        self.numbers = numbers;
    }

    /// The part of the next arrival of `user`.
    #[inline]
    pub(crate) fn choose(&mut self, user: u32) -> usize {
        let Numbers { first, step } = self.numbers;
        let place = user.wrapping_sub(first) / step;
        // A stream per user and not per thread: what a seed chooses does not depend on
        // the threads.
        let drawn = match self.users.get_mut(place as usize) {
            Some(stream) => stream.unit(),
            None => stream(self.seed, user).unit(),
        };
        // The first part that ends above the number, by bisection: a mix may have a
        // thousand parts.
        let part = self.ends.partition_point(|end| *end <= drawn);
        // The last end may lie below 1 by rounding.
        part.min(self.ends.len() - 1)
    }
}

/// The stream of a user. Its start is itself drawn, because SplitMix64 streams whose seeds
/// lie a multiple of its increment apart are the same stream, shifted.
fn stream(seed: u64, user: u32) -> SplitMix64 {
    // The constant must stay: recorded seeds repeat their choices only with it.
    let of_user = u64::from(user).wrapping_mul(0xA076_1D64_78BD_642F);
    SplitMix64::new(SplitMix64::new(seed ^ of_user).next_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [f64; 4] = [1.0, 2.5, 0.1, 6.4];

    fn counts(choices: impl Iterator<Item = usize>) -> [u64; 4] {
        let mut counts = [0; 4];
        choices.for_each(|part| counts[part] += 1);
        counts
    }

    /// Within five standard deviations of the binomial distribution.
    fn assert_shares(counts: [u64; 4]) {
        let all: u64 = counts.iter().sum();
        for (count, weight) in counts.iter().zip(WEIGHTS) {
            let share = weight / 10.0;
            let expected = all as f64 * share;
            let deviation = (expected * (1.0 - share)).sqrt();
            let apart = (*count as f64 - expected).abs();
            assert!(apart < 5.0 * deviation, "{counts:?}");
        }
    }

    #[test]
    fn parts_have_the_shares_of_their_weights_over_arrivals_and_over_one_user_s_calls() {
        for seed in [0, 1, 42] {
            let mut open = Chooser::new(&WEIGHTS, seed).unwrap();
            assert_shares(counts((0..50_000).map(|user| open.choose(user))));
            let mut closed = Chooser::new(&WEIGHTS, seed).unwrap();
            closed.number(3, Numbers { first: 0, step: 1 });
            for user in 0..3 {
                assert_shares(counts((0..50_000).map(|_| closed.choose(user))));
            }
        }
    }

    #[test]
    fn a_seed_repeats_the_choices_whatever_the_threads_and_another_gives_others() {
        let chooser = |seed, users, numbers| {
            let mut chooser = Chooser::new(&WEIGHTS, seed).unwrap();
            chooser.number(users, numbers);
            chooser
        };
        // Users 0 to 3 in one thread, and users 1 and 3 in the second of two.
        let mut one = chooser(7, 4, Numbers { first: 0, step: 1 });
        let mut second = chooser(7, 2, Numbers { first: 1, step: 2 });
        let mut other = chooser(8, 4, Numbers { first: 0, step: 1 });
        for user in [1, 3] {
            let choices = |chooser: &mut Chooser| -> Vec<_> {
                (0..64).map(|_| chooser.choose(user)).collect()
            };
            let expected = choices(&mut one);
            assert_eq!(choices(&mut second), expected);
            assert_ne!(choices(&mut other), expected);
        }
        // Arrivals of open loads.
        let mut one = chooser(7, 0, Numbers { first: 0, step: 1 });
        let mut second = chooser(7, 0, Numbers { first: 1, step: 2 });
        for arrival in (1..200).step_by(2) {
            assert_eq!(one.choose(arrival), second.choose(arrival));
        }
    }

    #[test]
    fn users_do_not_choose_alike() {
        let mut chooser = Chooser::new(&[1.0, 1.0], 3).unwrap();
        chooser.number(2, Numbers { first: 0, step: 1 });
        let alike = (0..10_000).filter(|_| chooser.choose(0) == chooser.choose(1));
        // Five standard deviations of 10,000 fair coins.
        assert!((alike.count() as i64 - 5_000).abs() < 250);
    }

    #[test]
    fn invalid_weights_are_refused_by_their_place() {
        for (weights, words) in [
            (vec![1.0, 0.0], "parts[1]: weight = 0.0"),
            (vec![-1.0], "parts[0]: weight = -1.0"),
            (vec![1.0, 1.0, f64::INFINITY], "parts[2]"),
            (vec![1.0; PARTS_MAX + 1], "1001 parts"),
        ] {
            let fault = Chooser::new(&weights, 0).unwrap_err();
            assert!(fault.message.contains(words), "{}", fault.message);
        }
    }
}
