//! When the series is stationary, so that the window may open.

/// Completions per sample of this many nanoseconds are watched.
pub(crate) const SAMPLE_NS: u64 = 50_000_000;

/// Samples in each of the two neighbouring spans that are compared.
const SPAN: usize = 4;

/// Two spans count as level when their means differ by less than this share …
const LEVEL: f64 = 0.05;

/// … or by less than this many standard errors of counts (Poisson).
const ERRORS: f64 = 2.0;

/// Calls that a user of a closed load has ended, on average, before a series is
/// called level. The first users are answered one after another while the others
/// still begin; those go through the service side by side and end together.
const ROUNDS: u64 = 3;

/// Watches completions and says when they have levelled off: the mean of the
/// last four samples is that of the four before, within 5 % or two standard
/// errors of such counts, and every user has ended three calls on average. An
/// idle system (no completions) is not stationary.
#[derive(Debug)]
pub(crate) struct Warmup {
    counts: Vec<u64>,
    /// Calls to end at least.
    least: u64,
}

impl Warmup {
    /// Of a load with that number of users who wait for their replies; 0: of open loads.
    pub(crate) fn new(users: u64) -> Warmup {
        Warmup {
            counts: Vec::new(),
            least: ROUNDS * users,
        }
    }

    /// Adds one sample's count of completed calls.
    pub(crate) fn sample(&mut self, count: u64) {
        self.counts.push(count);
    }

    pub(crate) fn stationary(&self) -> bool {
        // Only the newest samples: earlier ones are the start-up that the warm-up is
        // there for.
        let Some(start) = self.counts.len().checked_sub(2 * SPAN) else {
            return false;
        };
        let (before, after) = self.counts[start..].split_at(SPAN);
        let (before, after) = (
            before.iter().sum::<u64>() as f64,
            after.iter().sum::<u64>() as f64,
        );
        let (mean, apart) = (f64::midpoint(before, after), (after - before).abs());
        let ended = self.counts.iter().sum::<u64>();
        ended >= self.least
            && after > 0.0
            // The difference of two Poisson counts has the variance of their sum.
            && apart <= (LEVEL * mean).max(ERRORS * (before + after).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over_after(counts: &[u64]) -> bool {
        is_over_with(0, counts)
    }

    fn is_over_with(users: u64, counts: &[u64]) -> bool {
        let mut warmup = Warmup::new(users);
        counts.iter().for_each(|count| warmup.sample(*count));
        warmup.stationary()
    }

    #[test]
    fn too_few_samples_show_nothing() {
        assert!(!is_over_after(&[1000; 7]));
        assert!(is_over_after(&[1000; 8]));
    }

    #[test]
    fn a_rising_series_is_not_stationary() {
        assert!(!is_over_after(&[
            1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700
        ]));
    }

    #[test]
    fn only_the_last_samples_count() {
        let mut counts = vec![10, 100, 500];
        counts.extend([1000; 8]);
        assert!(is_over_after(&counts));
    }

    #[test]
    fn small_counts_may_scatter_as_counts_do() {
        assert!(is_over_after(&[3, 5, 4, 6, 5, 2, 4, 5]));
    }

    #[test]
    fn every_user_has_ended_three_calls() {
        assert!(!is_over_with(400, &[149; 8]));
        assert!(is_over_with(400, &[150; 8]));
        assert!(is_over_after(&[68; 8]));
    }

    #[test]
    fn silence_is_not_stationary() {
        assert!(!is_over_after(&[0; 8]));
    }
}
