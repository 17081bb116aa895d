//! The tokens: docs/reference/token-xml.md.

/// The element opened last ends.
pub(super) const CLOSE: u8 = 0x00;
/// An element begins whose name follows and enters the cache.
pub(super) const NEW_ELEMENT: u8 = 0x01;
/// An attribute whose name follows and enters the cache.
pub(super) const NEW_ATTRIBUTE: u8 = 0x02;
/// An element begins whose name's number, less 64, follows.
pub(super) const FAR_ELEMENT: u8 = 0x03;
/// An attribute whose name's number, less 64, follows.
pub(super) const FAR_ATTRIBUTE: u8 = 0x04;
/// A text that follows and enters the cache.
pub(super) const NEW_TEXT: u8 = 0x05;
/// A text that follows and does not enter the cache.
pub(super) const PLAIN_TEXT: u8 = 0x06;
/// A text whose number, less 64, follows.
pub(super) const FAR_TEXT: u8 = 0x07;
/// `false`.
pub(super) const FALSE: u8 = 0x08;
/// `true`.
pub(super) const TRUE: u8 = 0x09;
/// An integer follows.
pub(super) const INTEGER: u8 = 0x0A;
/// A date follows, in days.
pub(super) const DATE: u8 = 0x0B;
/// A date and time follows, in seconds.
pub(super) const DATE_TIME: u8 = 0x0C;
/// The integer 0; those up to 47 follow.
// 0x0D to 0x0F are free for further tokens; a receiver refuses them today.
pub(super) const SMALL_INTEGER: u8 = 0x10;
/// An element begins whose name has number 0; those up to 63 follow.
pub(super) const NEAR_ELEMENT: u8 = 0x40;
/// An attribute whose name has number 0; those up to 63 follow.
pub(super) const NEAR_ATTRIBUTE: u8 = 0x80;
/// The text of number 0; those up to 63 follow.
pub(super) const NEAR_TEXT: u8 = 0xC0;

/// Numbers that have a token of one byte.
pub(super) const NEAR: usize = 64;

/// Integers that have a token of one byte.
pub(super) const SMALL: i64 = 48;

/// Bytes of a text that may enter the cache: a shorter one would gain
/// nothing, a longer one cost too much memory.
pub(super) const CACHED_BYTES: std::ops::RangeInclusive<usize> = 2..=512;

/// Appends a number in groups of seven bits, the least significant first; the
/// high bit is set where another group follows.
pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    // LEB128, the varint of Protocol Buffers.
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Small magnitudes of either sign as small numbers: 0, -1, 1, -2, 2, …
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Takes [`zigzag`] back.
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_maps_small_magnitudes_to_small_numbers() {
        let values = [0, -1, 1, -2, i64::MAX, i64::MIN];
        assert_eq!(values.map(zigzag), [0, 1, 2, 3, u64::MAX - 1, u64::MAX]);
        assert_eq!(values.map(|value| unzigzag(zigzag(value))), values);
    }
}
