//! The clock of a capture, which may step back.

/// Captures of several queues and interfaces are out of order by less; a clock that is set
/// steps further, ns.
const STEP_MIN_NS: u64 = 100_000_000;

/// Makes times that never step back: behind a step they go on from the latest time before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clock {
    /// How often it stepped back.
    pub steps: u64,
    /// The first step: how far, ns, and the packet behind it.
    pub first: Option<(u64, u64)>,
    /// The times of at least two packets differ.
    pub is_running: bool,
    newest: Option<u64>,
    shift: u64,
}

impl Clock {
    /// The time of a packet, as it goes on.
    #[inline]
    pub fn take(&mut self, at_ns: u64, packet: u64) -> u64 {
        let now = at_ns.saturating_add(self.shift);
        let newest = self.newest.unwrap_or(now);
        self.is_running |= now != newest;
        if newest.saturating_sub(now) >= STEP_MIN_NS {
            return self.step(newest - now, newest, packet);
        }
        self.newest = Some(newest.max(now));
        now
    }

    #[cold]
    fn step(&mut self, back_ns: u64, newest: u64, packet: u64) -> u64 {
        self.steps += 1;
        self.first.get_or_insert((back_ns, packet));
        self.shift = self.shift.saturating_add(back_ns);
        newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_continue_after_a_step() {
        let mut clock = Clock::default();
        let second = 1_000_000_000;
        let times = [10, 12, 9, 10, 11].map(|at| at * second);
        let made = [1, 2, 3, 4, 5].map(|packet| clock.take(times[packet - 1], packet as u64));
        assert_eq!(made, [10, 12, 12, 13, 14].map(|at| at * second));
        assert_eq!((clock.steps, clock.first), (1, Some((3 * second, 3))));
    }

    #[test]
    fn reordering_between_queues_is_not_a_clock_step() {
        let mut clock = Clock::default();
        let times = [50, 40, 60, 59].map(|ms| ms * 1_000_000);
        assert_eq!(times.map(|at| clock.take(at, 1)), times);
        assert_eq!(clock.steps, 0);
        assert!(clock.is_running);
    }
}
