//! How long to sleep for something that is due.
//!
//! A core that slept wakes late, by 5 us on bare metal and 20 to 50 us on a
//! virtual machine, and every call that it was to start is late with it. So a
//! sleep ends earlier by the median of how late those before it were; what is
//! then too early is spent spinning.

/// What one sleep teaches, either way: the steps settle at the median.
const STEP_NS: u64 = 250;

/// No sleep ends earlier than this before its time, whatever was learnt.
const EARLY_NS_MAX: u64 = 100_000;

/// Less than this is spent spinning: no sleep is as short.
const SLEEP_NS_MIN: u64 = 10_000;

/// Sleeps that end early by the median lateness of those before.
#[derive(Debug, Default)]
pub(crate) struct Wakeup {
    early_ns: u64,
}

impl Wakeup {
    /// Nanoseconds to sleep for what is due in `left_ns`; 0: spin.
    pub(crate) fn sleep_ns(&self, left_ns: u64) -> u64 {
        if left_ns <= SLEEP_NS_MIN {
            return 0;
        }
        // 0 would mean to spin.
        left_ns.saturating_sub(self.early_ns).max(1)
    }

    /// A sleep of `asked_ns` that nothing ended before its time took `took_ns`.
    pub(crate) fn slept(&mut self, asked_ns: u64, took_ns: u64) {
        let late = took_ns.saturating_sub(asked_ns);
        // As many steps up as down at the median, without keeping any sample: Frugal-1U of Ma,
        // Muthukrishnan and Sandler (2013).
        self.early_ns = if late > self.early_ns {
            (self.early_ns + STEP_NS).min(EARLY_NS_MAX)
        } else {
            self.early_ns.saturating_sub(STEP_NS)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train_wakeup(late_us: impl Iterator<Item = u64>) -> Wakeup {
        let mut wakeup = Wakeup::default();
        late_us.for_each(|us| wakeup.slept(200_000, 200_000 + us * 1000));
        wakeup
    }

    #[test]
    fn a_sleep_ends_earlier_by_what_half_of_the_others_were_late() {
        // Evenly between 20 and 60 us: a half is below 40.
        let wakeup = train_wakeup((0..4000).map(|n| 20 + n * 7 % 41));
        let early = 200_000 - wakeup.sleep_ns(200_000);
        assert!((36_000..44_000).contains(&early), "{early}");
    }

    #[test]
    fn learned_waits_are_forgotten() {
        let wakeup = train_wakeup((0..400).map(|n| if n < 200 { 50 } else { 0 }));
        assert_eq!(wakeup.sleep_ns(200_000), 200_000);
    }

    #[test]
    fn a_machine_that_is_late_by_milliseconds_does_not_make_it_spin() {
        let wakeup = train_wakeup(std::iter::repeat_n(5_000, 4000));
        assert_eq!(wakeup.sleep_ns(2_000_000), 1_900_000);
    }

    #[test]
    fn only_what_is_due_at_once_makes_it_spin() {
        let wakeup = train_wakeup(std::iter::repeat_n(40, 400));
        assert_eq!(wakeup.sleep_ns(0), 0);
        assert_eq!(wakeup.sleep_ns(SLEEP_NS_MIN), 0);
        assert_eq!(wakeup.sleep_ns(SLEEP_NS_MIN + 1), 1);
    }
}
