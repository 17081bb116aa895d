//! How long to sleep for something that is due.
//!
//! A core that slept comes late, by 5 us on bare metal and 20 to 50 us on a
//! virtual machine, and every call that it was to start is late with it. So a
//! sleep ends earlier by the median of how late those before it were; what is
//! then too early is waited for awake.

/// What one sleep teaches, either way: the steps settle at the median.
const STEP_NS: u64 = 250;

/// No sleep ends earlier than this before its time, whatever was learnt.
const EARLY_NS_MAX: u64 = 100_000;

/// Less than this is waited for awake: no sleep is as short.
const AWAKE_NS: u64 = 10_000;

/// Sleeps by what it learns from those before.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    early_ns: u64,
}

impl Alarm {
    /// Nanoseconds to sleep for what is due in `left_ns`; 0: stay awake.
    pub(crate) fn sleep_ns(&self, left_ns: u64) -> u64 {
        if left_ns <= AWAKE_NS {
            return 0;
        }
        left_ns.saturating_sub(self.early_ns).max(1)
    }

    /// A sleep of `asked_ns` that nothing ended before its time took `took_ns`.
    pub(crate) fn slept(&mut self, asked_ns: u64, took_ns: u64) {
        let late = took_ns.saturating_sub(asked_ns);
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

    fn taught(late_us: impl Iterator<Item = u64>) -> Alarm {
        let mut alarm = Alarm::default();
        late_us.for_each(|us| alarm.slept(200_000, 200_000 + us * 1000));
        alarm
    }

    #[test]
    fn a_sleep_ends_earlier_by_what_half_of_the_others_were_late() {
        // Evenly between 20 and 60 us: a half is below 40.
        let alarm = taught((0..4000).map(|n| 20 + n * 7 % 41));
        let early = 200_000 - alarm.sleep_ns(200_000);
        assert!((36_000..44_000).contains(&early), "{early}");
    }

    #[test]
    fn what_it_has_learnt_it_forgets() {
        let alarm = taught((0..400).map(|n| if n < 200 { 50 } else { 0 }));
        assert_eq!(alarm.sleep_ns(200_000), 200_000);
    }

    #[test]
    fn a_machine_that_is_late_by_milliseconds_does_not_keep_it_awake() {
        let alarm = taught(std::iter::repeat_n(5_000, 4000));
        assert_eq!(alarm.sleep_ns(2_000_000), 1_900_000);
    }

    #[test]
    fn only_what_is_due_at_once_is_waited_for_awake() {
        let alarm = taught(std::iter::repeat_n(40, 400));
        assert_eq!(alarm.sleep_ns(0), 0);
        assert_eq!(alarm.sleep_ns(AWAKE_NS), 0);
        assert_eq!(alarm.sleep_ns(AWAKE_NS + 1), 1);
    }
}
