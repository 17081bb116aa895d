//! A bottleneck: bytes leave at a rate, from a bounded queue that drops at its tail.

/// The remainder of a division is counted in billionths of a bit.
const NS_PER_S: u64 = 1_000_000_000;

/// When packets leave a sender of a fixed rate, and which of them find its
/// queue full. No packet is held: an empty past is a time, `free_at`.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    bits_per_s: u64,
    queue_bytes: Option<u64>,
    free_at_ns: u64,
    /// Of the last division, so that rounding never adds up.
    remainder: u64,
}

impl Bottleneck {
    pub(crate) fn new(rate_kbit: f64, queue_bytes: Option<u64>) -> Self {
        Bottleneck {
            // Never 0: it is a divisor.
            bits_per_s: (rate_kbit * 1000.0).round().max(1.0) as u64,
            queue_bytes,
            free_at_ns: 0,
            remainder: 0,
        }
    }

    /// The time at which the last bit of a packet has left, or nothing when
    /// it finds the queue full. It was seen at `now_ns` and may have waited
    /// since `since_ns`: a late reader must not slow the rate, so a sender
    /// that was free in between began with it then.
    pub(crate) fn leaves_ns(&mut self, since_ns: u64, now_ns: u64, bytes: usize) -> Option<u64> {
        let full = self
            .queue_bytes
            .is_some_and(|most| self.backlog_bytes(now_ns) + bytes as u64 > most);
        if full {
            return None;
        }
        if self.free_at_ns <= since_ns {
            // The remainder belongs to a busy period, which has ended.
            (self.free_at_ns, self.remainder) = (since_ns, 0);
        }
        // A packet has at most 2,048 bytes: 1.7e13 and no overflow.
        let work = bytes as u64 * 8 * NS_PER_S + self.remainder;
        self.free_at_ns += work / self.bits_per_s;
        self.remainder = work % self.bits_per_s;
        Some(self.free_at_ns)
    }

    fn backlog_bytes(&self, now_ns: u64) -> u64 {
        let busy_ns = self.free_at_ns.saturating_sub(now_ns);
        // A second of queue at 100 Gbit/s is 1e20, which is more than 64 bits hold.
        let bits = u128::from(busy_ns) * u128::from(self.bits_per_s);
        // Rounded up: the queue never holds more than its bytes.
        bits.div_ceil(8 * u128::from(NS_PER_S)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_without_adding_up_rounding() {
        for kbit in [26.8, 13_333.3, 1_000_000.0, 40_000_000.0] {
            let mut neck = Bottleneck::new(kbit, None);
            let last = (0..100_000)
                .filter_map(|_| neck.leaves_ns(0, 0, 1_500))
                .last();
            let exact = 100_000.0 * 1_500.0 * 8.0 / kbit * 1e6;
            let off = (last.unwrap() as f64 - exact).abs() / exact;
            assert!(off < 1e-6, "{kbit} kbit/s: off by {off}");
        }
    }

    #[test]
    fn an_idle_sender_begins_at_once() {
        let mut neck = Bottleneck::new(8_000.0, None);
        let mut leaves = |now| neck.leaves_ns(now, now, 1_000);
        assert_eq!(leaves(1_000), Some(1_001_000));
        assert_eq!(leaves(1_000), Some(2_001_000));
        assert_eq!(leaves(9_000_000), Some(10_000_000));
    }

    #[test]
    fn a_full_queue_drops_at_its_tail_and_takes_again_when_it_drains() {
        let mut neck = Bottleneck::new(8_000.0, Some(3_000));
        let mut leaves = |now| neck.leaves_ns(now, now, 1_000);
        assert_eq!((0..5).filter_map(|_| leaves(0)).count(), 3);
        assert_eq!(leaves(999_999), None);
        assert_eq!(leaves(1_000_000), Some(4_000_000));
    }

    #[test]
    fn a_late_reader_loses_no_time_of_the_sender() {
        let mut neck = Bottleneck::new(8_000.0, Some(3_000));
        // Seen at 5 ms, there since 1 ms at the earliest.
        let left: Vec<_> = (0..8)
            .map(|_| neck.leaves_ns(1_000_000, 5_000_000, 1_000))
            .collect();
        let ms: Vec<_> = left.iter().flatten().map(|ns| ns / 1_000_000).collect();
        // Four have left already, and three more wait in the queue.
        assert_eq!(ms, [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(left[7], None);
    }
}
