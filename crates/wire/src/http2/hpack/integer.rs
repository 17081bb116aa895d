//! Integers with a prefix of 1 to 8 bits (RFC 7541 section 5.1).

use crate::ProtocolError;

/// A place in a field block.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes }
    }

    /// The next byte, not taken.
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    fn next(&mut self) -> Result<u8, ProtocolError> {
        let (&first, rest) = self.bytes.split_first().ok_or_else(cut)?;
        self.bytes = rest;
        Ok(first)
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(cut)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// An integer whose prefix is the lower `prefix` bits (1 to 8) of the next byte.
    pub(super) fn integer(&mut self, prefix: u8) -> Result<u32, ProtocolError> {
        // All ones in the prefix mean "more follows", so that the largest value within
        // it is one less.
        let mask = 0xff_u8 >> (8 - prefix);
        let first = self.next()? & mask;
        if first < mask {
            return Ok(u32::from(first));
        }
        // A prefix of all ones: the value continues in groups of seven bits, the lowest first.
        let mut value = u64::from(mask);
        // Five groups reach 35 bits; longer encodings only pad with zeros.
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.next()?;
            value += u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| too_large());
            }
        }
        Err(too_large())
    }
}

fn cut() -> ProtocolError {
    ProtocolError {
        rule: "a field block ends at the end of a field (RFC 7541 section 5)",
        found: "a block cut in the middle of one".into(),
    }
}

fn too_large() -> ProtocolError {
    ProtocolError {
        rule: "integers beyond an implementation's limit are errors (RFC 7541 section 5.1)",
        found: "an integer of more than 32 bits or more than five further bytes".into(),
    }
}

/// Appends `value` with a prefix of `prefix` bits; `bits` are those above it.
pub(super) fn write(out: &mut Vec<u8>, bits: u8, prefix: u8, value: usize) {
    let mask = 0xff_u8 >> (8 - prefix);
    if value < usize::from(mask) {
        out.push(bits | value as u8);
        return;
    }
    out.push(bits | mask);
    let mut rest = value - usize::from(mask);
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 appendix C.1: 10 and 1337 with 5 bits, 42 with 8.
    #[test]
    fn the_examples_of_the_rfc() {
        for (value, prefix, bytes) in [
            (10, 5, &[0x0a][..]),
            (1337, 5, &[0x1f, 0x9a, 0x0a]),
            (42, 8, &[0x2a]),
        ] {
            let mut out = Vec::new();
            write(&mut out, 0, prefix, value);
            assert_eq!(out, bytes);
            assert_eq!(Cursor::new(bytes).integer(prefix).unwrap(), value as u32);
        }
    }

    #[test]
    fn every_prefix_round_trips_at_its_edges() {
        for prefix in 1..=8 {
            for value in [0, 1, 30, 31, 126, 127, 128, 254, 255, 16_383, u32::MAX] {
                let mut out = Vec::new();
                write(&mut out, 0, prefix, value as usize);
                assert_eq!(Cursor::new(&out).integer(prefix).unwrap(), value);
                let cut = &out[..out.len() - 1];
                assert!(Cursor::new(cut).integer(prefix).is_err());
            }
        }
    }

    #[test]
    fn overflow_and_endless_zeros_are_refused() {
        let beyond = [0xff, 0xff, 0xff, 0xff, 0xff, 0x1f];
        assert!(Cursor::new(&beyond).integer(8).is_err());
        let endless = [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
        assert!(Cursor::new(&endless).integer(8).is_err());
    }
}
