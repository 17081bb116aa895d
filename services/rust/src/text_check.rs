//! A check of strings that is as slow as it was told to be.

use std::time::Duration;

use crate::delay::spin;

/// Spins in proportion to a text's length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextCheck {
    ns_per_kb: u64,
}

impl TextCheck {
    /// Spins so many nanoseconds per 1,000 bytes; none: not at all.
    pub(crate) fn new(ns_per_kb: Option<u64>) -> Self {
        TextCheck {
            ns_per_kb: ns_per_kb.unwrap_or(0),
        }
    }

    /// False when every check takes no time.
    pub(crate) fn slow(self) -> bool {
        self.ns_per_kb > 0
    }

    /// Checks a text of that many bytes.
    pub(crate) fn run(self, bytes: usize) {
        if self.ns_per_kb > 0 {
            spin(self.time(bytes));
        }
    }

    fn time(self, bytes: usize) -> Duration {
        let ns = u128::from(self.ns_per_kb) * bytes as u128 / 1000;
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_per_thousand_bytes() {
        let check = TextCheck::new(Some(150));
        assert_eq!(check.time(3_000_000), Duration::from_micros(450));
        assert_eq!(check.time(14), Duration::from_nanos(2));
        assert_eq!(TextCheck::new(None).time(1 << 26), Duration::ZERO);
    }
}
