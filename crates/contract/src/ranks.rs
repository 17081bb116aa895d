//! What the slowest of many times are made of, next to those around the median.
//!
//! Times are added up by their length in bins of [`RESOLUTION`], as in HdrHistogram, each with its
//! parts. So the sums of the slowest hundredth are known in memory that does not grow with the
//! times. Where only some times of a bin are meant, their mean counts.

use std::collections::BTreeMap;
use std::ops::Range;

/// Leading bits of a time that decide its bin.
const BITS: u32 = 7;
/// The times of one bin differ by less than this share.
pub const RESOLUTION: f64 = 1.0 / (1 << (BITS - 1)) as f64;
/// Of fewer times, a hundredth is less than one.
pub const COMPARED_MIN: u64 = 100;

/// Times that are made of parts, nanoseconds.
#[derive(Debug, Clone)]
pub struct RankedTimes<const PARTS: usize> {
    bins: BTreeMap<u64, RankSum<PARTS>>,
    count: u64,
}

/// Times of some ranks, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankSum<const PARTS: usize> {
    /// How many.
    pub count: u64,
    /// Their parts, nanoseconds.
    pub parts: [u64; PARTS],
}

impl<const PARTS: usize> Default for RankedTimes<PARTS> {
    fn default() -> Self {
        RankedTimes {
            bins: BTreeMap::new(),
            count: 0,
        }
    }
}

impl<const PARTS: usize> RankSum<PARTS> {
    const NONE: RankSum<PARTS> = RankSum {
        count: 0,
        parts: [0; PARTS],
    };

    /// Of all parts, nanoseconds.
    pub fn total(&self) -> u64 {
        self.parts.iter().sum()
    }

    /// Adds that number of its times, by their mean.
    fn add_some(&mut self, count: u64, of: &RankSum<PARTS>) {
        for (own, all) in self.parts.iter_mut().zip(of.parts) {
            *own = own.saturating_add(scale(all, count, of.count));
        }
        self.count += count;
    }
}

impl<const PARTS: usize> RankedTimes<PARTS> {
    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a time of that length.
    pub fn add(&mut self, ns: u64, parts: [u64; PARTS]) {
        let time = RankSum { count: 1, parts };
        self.bin(keep_leading_bits(ns, BITS)).add_some(1, &time);
        self.count += 1;
    }

    /// Adds those of another thread.
    pub fn merge(&mut self, other: RankedTimes<PARTS>) {
        for (least, theirs) in other.bins {
            self.bin(least).add_some(theirs.count, &theirs);
        }
        self.count += other.count;
    }

    /// The slowest hundredth, rounded up; None with fewer than a hundred.
    pub fn slowest_hundredth(&self) -> Option<RankSum<PARTS>> {
        self.sum(self.count - self.count.div_ceil(100)..self.count)
    }

    /// The tenth in the middle; None with fewer than a hundred.
    pub fn around_median(&self) -> Option<RankSum<PARTS>> {
        let below = self.count * 9 / 20;
        self.sum(below..self.count - below)
    }

    fn bin(&mut self, least: u64) -> &mut RankSum<PARTS> {
        self.bins.entry(least).or_insert(RankSum::NONE)
    }

    fn sum(&self, ranks: Range<u64>) -> Option<RankSum<PARTS>> {
        let (mut sum, mut below) = (RankSum::NONE, 0);
        for bin in self.bins.values() {
            let (from, to) = (ranks.start.max(below), ranks.end.min(below + bin.count));
            sum.add_some(to.saturating_sub(from), bin);
            below += bin.count;
        }
        (self.count >= COMPARED_MIN).then_some(sum)
    }
}

/// `some` of the `all` times that `ns` is the sum of.
fn scale(ns: u64, some: u64, all: u64) -> u64 {
    if some == all {
        return ns;
    }
    let scaled = u128::from(ns) * u128::from(some) / u128::from(all.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A number without what lies below that number of its first bits.
pub fn keep_leading_bits(number: u64, bits: u32) -> u64 {
    let below = (u64::BITS - number.leading_zeros()).saturating_sub(bits);
    number >> below << below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank_times(times: &[u64]) -> RankedTimes<1> {
        let mut ranked = RankedTimes::default();
        times.iter().for_each(|ns| ranked.add(*ns, [*ns]));
        ranked
    }

    #[test]
    fn fewer_than_a_hundred_times_have_no_slowest_hundredth() {
        assert_eq!(rank_times(&[5; 99]).slowest_hundredth(), None);
        assert_eq!(rank_times(&[5; 99]).around_median(), None);
        let slowest = rank_times(&[5; 100]).slowest_hundredth();
        let one = RankSum {
            count: 1,
            parts: [5],
        };
        assert_eq!(slowest, Some(one));
    }

    #[test]
    fn equal_times_have_the_same_mean_parts_at_both_places() {
        let mut ranked = RankedTimes::default();
        for parts in [[1_000, 0], [0, 1_000]].into_iter().cycle().take(1_000) {
            ranked.add(1_000, parts);
        }
        let slowest = ranked.slowest_hundredth().map(|sum| (sum.count, sum.parts));
        let median = ranked.around_median().map(|sum| (sum.count, sum.parts));
        assert_eq!(slowest, Some((10, [5_000; 2])));
        assert_eq!(median, Some((100, [50_000; 2])));
    }

    #[test]
    fn the_parts_of_the_slowest_are_not_mixed_with_those_of_others() {
        let mut ranked = RankedTimes::default();
        (0..990).for_each(|_| ranked.add(5_000, [5_000, 0]));
        (0..10).for_each(|_| ranked.add(205_000, [5_000, 200_000]));
        let slowest = ranked.slowest_hundredth().expect("a thousand");
        assert_eq!((slowest.count, slowest.parts), (10, [50_000, 2_000_000]));
        let median = ranked.around_median().expect("a thousand");
        assert_eq!((median.count, median.parts), (100, [500_000, 0]));
    }

    proptest! {
        /// As sorting does, within the width of a bin; in one thread or in two.
        #[test]
        fn sums_of_ranks_are_those_of_sorted_times(
            mut times in prop::collection::vec(1_u64..1 << 40, 100..400),
            cut in 0_usize..100,
        ) {
            let mut whole = rank_times(&times[cut..]);
            whole.merge(rank_times(&times[..cut]));
            times.sort_unstable();
            let count = times.len();
            for (sum, ranks) in [
                (whole.slowest_hundredth(), count - count.div_ceil(100)..count),
                (whole.around_median(), count * 9 / 20..count - count * 9 / 20),
            ] {
                let sum = sum.expect("a hundred");
                prop_assert_eq!(sum.count, ranks.len() as u64);
                let exact = times[ranks].iter().sum::<u64>() as f64;
                let apart = (sum.total() as f64 - exact).abs();
                // Each bin that is cut loses less than a nanosecond by rounding.
                prop_assert!(apart <= RESOLUTION * exact + 2.0, "{apart} of {exact}");
            }
        }

        #[test]
        fn a_bin_is_as_narrow_as_documented(ns: u64) {
            let least = keep_leading_bits(ns, BITS);
            prop_assert!(least <= ns);
            prop_assert!((ns - least) as f64 <= RESOLUTION * least as f64);
        }
    }
}
