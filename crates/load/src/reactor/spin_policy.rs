//! How long to spin before going to sleep (adaptive busy polling).
//!
//! To wake a sleeping thread costs whoever wakes it, and on one machine that is
//! the service: 5 to 20 us of its core on a virtual machine. A client that is
//! faster than its service sleeps often, and then measures its own sleep. So
//! where events are so frequent that waiting for them takes less than going to
//! sleep would, the engine spins; elsewhere it sleeps, like any client.

/// A thread starts to spin when waits take less than this on average: to go to
/// sleep and come back takes a core longer.
const START_SPIN_NS: u64 = 3_000;

/// A spinning thread goes on up to this average: the hysteresis keeps single
/// stalls from sending it to sleep in the middle of a high load.
const STOP_SPIN_NS: u64 = 5_000;

/// A wait that nothing has ended by then is slept through after all, and
/// counts as this long.
const SPIN_NS_MAX: u64 = 20_000;

/// While the engine sleeps, one wait of this number starts with a spin, a probe:
/// less often, the more probes were in vain. Primes, or the probes would always
/// meet the same step of a sequence of calls.
const PROBE_EVERY: [u32; 5] = [17, 31, 61, 127, 251];

/// A new wait has this part of the average: an exponential moving average.
const WEIGHT: u64 = 64;

/// Waits by how long those before them took.
#[derive(Debug)]
pub(crate) struct SpinPolicy {
    /// Average of the waits that began with a spin, in ns, times [`WEIGHT`].
    average: u64,
    spinning: bool,
    /// Which of [`PROBE_EVERY`] holds.
    probe_step: usize,
    since_probe: u32,
}

impl Default for SpinPolicy {
    fn default() -> Self {
        SpinPolicy {
            average: STOP_SPIN_NS * WEIGHT,
            spinning: false,
            probe_step: 0,
            since_probe: 0,
        }
    }
}

impl SpinPolicy {
    /// Nanoseconds to spin before the next sleep; 0: sleep at once.
    #[inline]
    pub(crate) fn spin_ns(&mut self) -> u64 {
        let limit = if self.spinning {
            STOP_SPIN_NS
        } else {
            START_SPIN_NS
        };
        self.spinning = self.average < limit * WEIGHT;
        if self.spinning {
            return SPIN_NS_MAX;
        }
        self.since_probe += 1;
        if self.since_probe < PROBE_EVERY[self.probe_step] {
            return 0;
        }
        self.since_probe = 0;
        SPIN_NS_MAX
    }

    /// A wait that began with a spin was ended by an event after `ns`, or not at all.
    #[inline]
    pub(crate) fn note_wait(&mut self, ns: Option<u64>) {
        let took = ns.map_or(SPIN_NS_MAX, |ns| ns.min(SPIN_NS_MAX));
        // average += (took - average) / WEIGHT, in units of 1 / WEIGHT: whole nanoseconds would
        // round small steps away.
        self.average = self.average - self.average / WEIGHT + took;
        self.probe_step = match took < START_SPIN_NS {
            true => self.probe_step.saturating_sub(1),
            false => (self.probe_step + 1).min(PROBE_EVERY.len() - 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these waits, each with its length, spun.
    fn spins_of(spin_policy: &mut SpinPolicy, waits: impl Iterator<Item = u64>) -> usize {
        waits
            .filter(|wait| {
                let given = spin_policy.spin_ns();
                if given > 0 {
                    spin_policy.note_wait((*wait < given).then_some(*wait));
                }
                given > 0
            })
            .count()
    }

    #[test]
    fn it_sleeps_until_enough_waits_were_short() {
        let mut spin_policy = SpinPolicy::default();
        assert_eq!(spins_of(&mut spin_policy, [100; 16].into_iter()), 0);
        assert_eq!(spins_of(&mut spin_policy, [100; 1].into_iter()), 1);
    }

    #[test]
    fn it_spins_where_events_are_frequent() {
        let mut spin_policy = SpinPolicy::default();
        spins_of(&mut spin_policy, std::iter::repeat_n(2_000, 8_000));
        let spins = spins_of(&mut spin_policy, (0..4000).map(|n| 500 + n * 1_009 % 3_000));
        assert_eq!(spins, 4000);
    }

    #[test]
    fn it_sleeps_where_replies_are_slow() {
        // One call at a time, as quick as a service can be on loopback.
        let mut spin_policy = SpinPolicy::default();
        spins_of(&mut spin_policy, std::iter::repeat_n(15_000, 1_000));
        // By now it probes at the rarest: once in 251 waits.
        let spins = spins_of(&mut spin_policy, std::iter::repeat_n(15_000, 25_100));
        assert_eq!(spins, 100);
    }

    #[test]
    fn a_stall_is_slept_through() {
        let mut spin_policy = SpinPolicy::default();
        spins_of(&mut spin_policy, std::iter::repeat_n(1_000, 8_000));
        assert_eq!(spin_policy.spin_ns(), SPIN_NS_MAX);
        spin_policy.note_wait(None);
        // One does not change its mind, two dozen do.
        assert_eq!(spin_policy.spin_ns(), SPIN_NS_MAX);
        (0..24).for_each(|_| spin_policy.note_wait(None));
        assert_eq!(spin_policy.spin_ns(), 0);
    }

    #[test]
    fn the_policy_is_kept_between_the_two_averages() {
        let mut sleeping = SpinPolicy::default();
        spins_of(&mut sleeping, std::iter::repeat_n(4_000, 100_000));
        assert!(spins_of(&mut sleeping, std::iter::repeat_n(4_000, 2_510)) <= 11);
        let mut spinning = SpinPolicy::default();
        spins_of(&mut spinning, std::iter::repeat_n(1_000, 8_000));
        assert_eq!(
            spins_of(&mut spinning, std::iter::repeat_n(4_000, 8_000)),
            8_000
        );
    }
}
