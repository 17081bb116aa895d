//! Times at which this process did not run, although it was due to.
//!
//! A thread that sleeps until a moment and wakes much later shows that its process was stopped, that
//! its core ran something else, or that the machine was frozen (jHiccup measures so). Nothing else
//! distinguishes such a time from one for which a reply was awaited: no call was sent, and no reply
//! was read.

use crate::call::clock::seconds;
use crate::call::result;

/// Shorter delays are those of an ordinary scheduler: a slice of the load thread on the same core.
const SHORTEST_NS: u64 = 10_000_000;

/// The pauses of one window.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    count: u64,
    total_ns: u64,
    longest_ns: u64,
    longest_began: u64,
}

impl Pauses {
    /// A thread was to wake at `due` and woke at `woke`.
    pub(crate) fn woke(&mut self, due: u64, woke: u64) {
        let late = woke.saturating_sub(due);
        if late < SHORTEST_NS {
            return;
        }
        self.count += 1;
        self.total_ns += late;
        if late > self.longest_ns {
            (self.longest_ns, self.longest_began) = (late, due);
        }
    }

    /// As reported; `start` is that of the window.
    pub(crate) fn result(&self, start: u64) -> result::Pauses {
        result::Pauses {
            count: self.count,
            total_s: seconds(self.total_ns),
            longest_s: seconds(self.longest_ns),
            longest_at_s: seconds(self.longest_began.saturating_sub(start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pauses;

    const MS: u64 = 1_000_000;

    #[test]
    fn punctual_wakes_are_not_pauses() {
        let mut pauses = Pauses::default();
        for tick in 1..1000 {
            pauses.woke(tick * 5 * MS, tick * 5 * MS + 9 * MS);
        }
        assert_eq!(pauses.result(0).count, 0);
    }

    #[test]
    fn pauses_add_up_and_the_longest_is_located() {
        let mut pauses = Pauses::default();
        pauses.woke(1000 * MS, 1030 * MS);
        pauses.woke(2000 * MS, 2500 * MS);
        pauses.woke(3000 * MS, 3020 * MS);
        let result = pauses.result(500 * MS);
        assert_eq!(result.count, 3);
        assert!((result.total_s - 0.55).abs() < 1e-9);
        assert!((result.longest_s - 0.5).abs() < 1e-9);
        assert!((result.longest_at_s - 1.5).abs() < 1e-9);
    }
}
