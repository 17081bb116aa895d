//! Seeded random numbers: xoshiro256++ (Blackman and Vigna 2021, "Scrambled
//! linear pseudorandom number generators"), its state filled by SplitMix64
//! (Steele, Lea and Flood 2014), as its authors advise.

use std::fs::File;
use std::io::{self, Read};

use wirelab_contract::texts::SplitMix64;

#[derive(Debug, Clone)]
pub(crate) struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream `number` of a seed. Every purpose takes a stream of its own,
    /// so that one fault never shifts the numbers of another.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        // Multiplied by an odd constant, or stream 1 of seed 2 would be stream 2 of seed 1. The
        // constant must stay: a recorded seed repeats its losses only with it.
        let mut fill = SplitMix64::new(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        Rng {
            state: std::array::from_fn(|_| fill.next_u64()),
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[0]
            .wrapping_add(state[3])
            .rotate_left(23)
            .wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        // 23, 17 and 45 are the constants of xoshiro256++; other rotations belong to
        // other generators.
        state[3] = state[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this probability. Draws nothing when it is certain.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && (probability >= 1.0 || self.unit() < probability)
    }

    /// Uniform in 0..bound (Lemire's multiplication; its bias of bound / 2^64
    /// is far below anything that could be seen).
    pub(crate) fn next_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// A seed from the kernel's generator. It has 53 bits, so that every reader of
/// JSON keeps it whole.
pub(crate) fn random_seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_gives_its_authors_first_numbers() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        // From the authors' C code, xoshiro256plusplus.c.
        assert_eq!(rng.next(), 41_943_041);
        assert_eq!(rng.next(), 58_720_359);
        assert_eq!(rng.next(), 3_588_806_011_781_223);
    }

    #[test]
    fn the_state_is_filled_by_splitmix64() {
        assert_eq!(
            Rng::new(42, 0).state,
            [
                0xBDD7_3226_2FEB_6E95,
                0x28EF_E333_B266_F103,
                0x4752_6757_130F_9F52,
                0x581C_E1FF_0E4A_E394,
            ]
        );
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let first = |number| Rng::new(7, number).next();
        assert_ne!(first(1), first(2));
        assert_eq!(first(1), first(1));
    }

    #[test]
    fn units_are_uniform_and_bounded_numbers_stay_below() {
        let mut rng = Rng::new(42, 0);
        let mean = (0..100_000).map(|_| rng.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!((0..10_000).all(|_| rng.next_below(7) < 7));
    }
}
