//! How long to wait awake for the peer before going to sleep.
//!
//! To wake a thread that sleeps costs whoever wakes it, and on one machine that
//! is the service: 5 to 20 us of its core on a virtual machine. A client that
//! is quicker than its service sleeps often, and then measures its own sleep.
//! So where events come so thick that waiting for them takes less than going
//! to sleep would, the engine stays awake; elsewhere it sleeps, as any client.

/// Waits that take less than this on average are waited for awake: to go to
/// sleep and come back takes a core longer.
const PAYS_NS: u64 = 3_000;

/// A thread that is awake goes on to be so up to this average: one stall after
/// another must not send it to sleep in the middle of a thick load.
const BEARS_NS: u64 = 5_000;

/// A wait that nothing has ended by then is slept through after all, and
/// counts as this long.
const AWAKE_NS_MAX: u64 = 20_000;

/// While the engine sleeps, one wait of so many is begun awake, to see: the
/// more seldom, the more often that was in vain. Primes, or the turns would
/// always meet the same step of a sequence of calls.
const LOOK_EVERY: [u32; 5] = [17, 31, 61, 127, 251];

/// A new wait weighs one part of so many in the average.
const MEMORY: u64 = 64;

/// Waits by how long those before them took.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Average of the waits that were begun awake, in ns, times [`MEMORY`].
    average: u64,
    awake: bool,
    /// Which of [`LOOK_EVERY`] holds.
    seldom: usize,
    since_look: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            average: BEARS_NS * MEMORY,
            awake: false,
            seldom: 0,
            since_look: 0,
        }
    }
}

impl Patience {
    /// Nanoseconds to wait awake before the next sleep; 0: sleep at once.
    #[inline]
    pub(crate) fn awake_ns(&mut self) -> u64 {
        let limit = if self.awake { BEARS_NS } else { PAYS_NS };
        self.awake = self.average < limit * MEMORY;
        if self.awake {
            return AWAKE_NS_MAX;
        }
        self.since_look += 1;
        if self.since_look < LOOK_EVERY[self.seldom] {
            return 0;
        }
        self.since_look = 0;
        AWAKE_NS_MAX
    }

    /// A wait begun awake was ended by an event after `ns`, or not at all.
    #[inline]
    pub(crate) fn waited(&mut self, ns: Option<u64>) {
        let took = ns.map_or(AWAKE_NS_MAX, |ns| ns.min(AWAKE_NS_MAX));
        self.average = self.average - self.average / MEMORY + took;
        self.seldom = match took < PAYS_NS {
            true => self.seldom.saturating_sub(1),
            false => (self.seldom + 1).min(LOOK_EVERY.len() - 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits that each would take so long; how many of them were awake.
    fn awake_of(patience: &mut Patience, waits: impl Iterator<Item = u64>) -> usize {
        waits
            .filter(|wait| {
                let given = patience.awake_ns();
                if given > 0 {
                    patience.waited((*wait < given).then_some(*wait));
                }
                given > 0
            })
            .count()
    }

    #[test]
    fn it_sleeps_until_it_knows_better() {
        let mut patience = Patience::default();
        assert_eq!(awake_of(&mut patience, [100; 16].into_iter()), 0);
        assert_eq!(awake_of(&mut patience, [100; 1].into_iter()), 1);
    }

    #[test]
    fn it_stays_awake_where_events_come_thick() {
        let mut patience = Patience::default();
        awake_of(&mut patience, std::iter::repeat_n(2_000, 8_000));
        let awake = awake_of(&mut patience, (0..4000).map(|n| 500 + n * 1_009 % 3_000));
        assert_eq!(awake, 4000);
    }

    #[test]
    fn it_sleeps_where_replies_take_their_time() {
        // One call at a time, as quick as a service can be on loopback.
        let mut patience = Patience::default();
        awake_of(&mut patience, std::iter::repeat_n(15_000, 1_000));
        let awake = awake_of(&mut patience, std::iter::repeat_n(15_000, 25_100));
        assert_eq!(awake, 100);
    }

    #[test]
    fn a_stall_is_slept_through() {
        let mut patience = Patience::default();
        awake_of(&mut patience, std::iter::repeat_n(1_000, 8_000));
        assert_eq!(patience.awake_ns(), AWAKE_NS_MAX);
        patience.waited(None);
        // One does not change its mind, two dozen do.
        assert_eq!(patience.awake_ns(), AWAKE_NS_MAX);
        (0..24).for_each(|_| patience.waited(None));
        assert_eq!(patience.awake_ns(), 0);
    }

    #[test]
    fn between_the_two_averages_it_stays_as_it_is() {
        let mut asleep = Patience::default();
        awake_of(&mut asleep, std::iter::repeat_n(4_000, 100_000));
        assert!(awake_of(&mut asleep, std::iter::repeat_n(4_000, 2_510)) <= 11);
        let mut awake = Patience::default();
        awake_of(&mut awake, std::iter::repeat_n(1_000, 8_000));
        assert_eq!(
            awake_of(&mut awake, std::iter::repeat_n(4_000, 8_000)),
            8_000
        );
    }
}
