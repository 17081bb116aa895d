//! What a timestamp of a pcapng interface counts (options if_tsresol and
//! if_tsoffset of draft-ietf-opsawg-pcapng section 4.2).

const NS_PER_S: u128 = 1_000_000_000;

/// From a timestamp to nanoseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resolution {
    unit: Unit,
    offset_s: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// So many nanoseconds.
    Coarse(u64),
    /// So many are one nanosecond.
    Fine(u64),
    /// Two to the power of so many are one second.
    Binary(u32),
}

impl Default for Resolution {
    /// Microseconds, unless the options say otherwise.
    fn default() -> Resolution {
        Resolution::new(6)
    }
}

impl Resolution {
    /// From the byte of if_tsresol: the exponent, negated, of ten, or of two with the highest bit.
    pub(super) fn new(tsresol: u8) -> Resolution {
        let exponent = u32::from(tsresol & 0x7F);
        let unit = if tsresol & 0x80 != 0 {
            Unit::Binary(exponent)
        } else if exponent <= 9 {
            Unit::Coarse(10u64.pow(9 - exponent))
        } else {
            // 64 bits of anything finer than this are less than a nanosecond, as
            // they are of the finest power of two.
            let per_ns = 10u64.checked_pow(exponent - 9);
            per_ns.map_or(Unit::Binary(127), Unit::Fine)
        };
        Resolution { unit, offset_s: 0 }
    }

    pub(super) fn with_offset_s(self, offset_s: i64) -> Resolution {
        Resolution { offset_s, ..self }
    }

    /// Saturates at both ends of what 64 bits of nanoseconds hold (years 1970 to 2554).
    #[inline]
    pub(super) fn at_ns(self, timestamp: u64) -> u64 {
        let ns = match self.unit {
            Unit::Coarse(ns) => timestamp.saturating_mul(ns),
            Unit::Fine(per_ns) => timestamp / per_ns,
            Unit::Binary(bits) => {
                let ns = (u128::from(timestamp) * NS_PER_S) >> bits;
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
        };
        if self.offset_s == 0 {
            return ns;
        }
        let shifted = i128::from(ns) + i128::from(self.offset_s) * NS_PER_S as i128;
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_ten_and_of_two() {
        let table = [
            (6, 1_500_000, 1_500_000_000),
            (9, 1_500_000_000, 1_500_000_000),
            (0, 2, 2_000_000_000),
            (3, 1_500, 1_500_000_000),
            (12, 1_500_000_000_000, 1_500_000_000),
            (127, u64::MAX, 0),
            (0x80, 2, 2_000_000_000),
            (0x80 | 10, 1536, 1_500_000_000),
            (0x80 | 32, 3 << 31, 1_500_000_000),
            (0x80 | 127, u64::MAX, 0),
        ];
        for (tsresol, timestamp, ns) in table {
            assert_eq!(Resolution::new(tsresol).at_ns(timestamp), ns, "{tsresol}");
        }
    }

    #[test]
    fn offsets_move_both_ways_and_saturate() {
        let ns = Resolution::new(9);
        assert_eq!(ns.with_offset_s(10).at_ns(5), 10_000_000_005);
        assert_eq!(ns.with_offset_s(-1).at_ns(3_000_000_000), 2_000_000_000);
        assert_eq!(ns.with_offset_s(-10).at_ns(5), 0);
        assert_eq!(ns.with_offset_s(i64::MIN).at_ns(u64::MAX), 0);
        assert_eq!(ns.with_offset_s(i64::MAX).at_ns(u64::MAX), u64::MAX);
        assert_eq!(Resolution::new(0).at_ns(u64::MAX), u64::MAX);
    }
}
