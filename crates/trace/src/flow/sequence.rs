//! What one end sends: from sequence numbers of 32 bits to offsets that do not wrap.

#[derive(Debug, Clone, Default)]
pub(super) struct SequenceNumbers {
    /// Of the SYN; the next one has offset 0.
    base: Option<u32>,
    /// Behind the highest byte seen or acknowledged: what wraps is near it.
    highest: u64,
    fin: Option<u64>,
}

impl SequenceNumbers {
    pub(super) fn base(&self) -> Option<u32> {
        self.base
    }

    /// The SYN has this number, unless that is known.
    #[inline]
    pub(super) fn begin(&mut self, base: u32) {
        self.base.get_or_insert(base);
    }

    /// Another number after all, of a stream of which nothing was seen.
    pub(super) fn rebase(&mut self, base: u32) {
        *self = SequenceNumbers {
            base: Some(base),
            ..SequenceNumbers::default()
        };
    }

    /// The offset of a sequence number; negative before the first byte.
    #[inline]
    pub(super) fn offset(&self, sequence: u32) -> i64 {
        let base = self.base.unwrap_or(sequence.wrapping_sub(1));
        let of_highest = base.wrapping_add(1).wrapping_add(self.highest as u32);
        self.highest as i64 + i64::from(sequence.wrapping_sub(of_highest) as i32)
    }

    #[inline]
    pub(super) fn reach(&mut self, offset: u64) {
        self.highest = self.highest.max(offset);
    }

    pub(super) fn end(&mut self, offset: u64) {
        self.fin.get_or_insert(offset);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.fin.is_some()
    }

    /// Bytes below an offset that was acknowledged: the FIN is none.
    #[inline]
    pub(super) fn bytes_below(&self, offset: i64) -> u64 {
        let offset = offset.max(0) as u64;
        self.fin.map_or(offset, |fin| offset.min(fin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_go_on_where_sequence_numbers_wrap() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(u32::MAX - 10);
        let mut sequence = u32::MAX - 9;
        for expected in (0..20_000_000_000u64).step_by(1_000_000_000) {
            assert_eq!(numbers.offset(sequence), expected as i64);
            numbers.reach(expected);
            sequence = sequence.wrapping_add(1_000_000_000);
        }
        assert_eq!(
            numbers.offset(sequence.wrapping_sub(2_000_000_000)),
            18_000_000_000
        );
    }

    #[test]
    fn what_was_sent_before_the_first_byte_is_negative() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(99);
        assert_eq!(numbers.offset(99), -1);
        assert_eq!(numbers.offset(0), -100);
        assert_eq!(numbers.bytes_below(-5), 0);
    }

    #[test]
    fn an_acknowledged_fin_is_no_byte() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(0);
        numbers.end(7);
        assert_eq!(numbers.bytes_below(8), 7);
        assert_eq!(numbers.bytes_below(6), 6);
    }
}
