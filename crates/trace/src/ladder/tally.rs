//! How often each of a bounded number of values came.

/// Values that are told apart; others count to the nearest.
const VALUES_MAX: usize = 128;

/// Counts, by value.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Vec<(u64, u64)>);

impl Tally {
    pub(super) fn add(&mut self, value: u64) {
        let counts = &mut self.0;
        match counts.binary_search_by_key(&value, |(value, _)| *value) {
            Ok(place) => counts[place].1 += 1,
            Err(place) if counts.len() < VALUES_MAX => counts.insert(place, (value, 1)),
            Err(place) => {
                let beside = place.saturating_sub(1)..counts.len().min(place + 1);
                let nearest = beside.min_by_key(|place| counts[*place].0.abs_diff(value));
                if let Some(place) = nearest {
                    counts[place].1 += 1;
                }
            }
        }
    }

    /// Each value and how often it came, in their order.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// The lower one of an even number; 0 of none.
    pub(super) fn median(&self) -> u64 {
        let all: u64 = self.counts().map(|(_, count)| count).sum();
        let mut below = 0;
        let middle = self.counts().find(|(_, count)| {
            below += count;
            2 * below >= all
        });
        middle.map_or(0, |(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_their_order() {
        let mut tally = Tally::default();
        [7, 3, 7, 9].into_iter().for_each(|value| tally.add(value));
        assert!(tally.counts().eq([(3, 1), (7, 2), (9, 1)]));
        assert_eq!(tally.median(), 7);
        assert_eq!(Tally::default().median(), 0);
    }

    #[test]
    fn beyond_what_is_told_apart_the_nearest_counts() {
        let mut tally = Tally::default();
        (0..VALUES_MAX as u64).for_each(|n| tally.add(10 * n));
        [16, 14, 99_999, 10]
            .into_iter()
            .for_each(|value| tally.add(value));
        let counts: Vec<_> = tally.counts().collect();
        assert_eq!(counts.len(), VALUES_MAX);
        assert_eq!(counts[1..3], [(10, 3), (20, 2)]);
        assert_eq!(counts.last(), Some(&(10 * (VALUES_MAX as u64 - 1), 2)));
    }
}
