//! Sixteen bytes at a time: room for most names, and for most values.

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 16;

/// The bytes from `at` on, where there are as many.
#[inline(always)]
pub(super) fn block(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..at.checked_add(BLOCK)?)?.first_chunk()
}

/// At most [`BLOCK`] bytes, and zeros behind them.
#[inline(always)]
pub(super) fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    let length = bytes.len();
    // Bytes in the middle are taken twice, each time where they belong.
    let (low, high) = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Twice half of what is to go, which may be all.
        let half = 4 * (BLOCK - length);
        let high = u64::from_le_bytes(*last) >> half >> half;
        (u64::from_le_bytes(*first), high)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let high = u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4));
        (u64::from(u32::from_le_bytes(*first)) | high, 0)
    } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let middle = u64::from(bytes[length / 2]) << (8 * (length / 2));
        let high = u64::from(*last) << (8 * (length - 1));
        (u64::from(*first) | middle | high, 0)
    } else {
        (0, 0)
    };
    let mut block = [0; BLOCK];
    block[..8].copy_from_slice(&low.to_le_bytes());
    block[8..].copy_from_slice(&high.to_le_bytes());
    block
}

/// Whether two blocks have the same bytes from the second on, `count` of them.
#[inline(always)]
pub(super) fn same_behind_first(one: &[u8; BLOCK], other: &[u8; BLOCK], count: usize) -> bool {
    (equal(one, [other]) >> 1).trailing_ones() as usize >= count
}

/// How many bytes stand before the first `<`, `>`, `&` or carriage return; all
/// where there is none.
#[inline(always)]
pub(super) fn before_special(block: &[u8; BLOCK]) -> usize {
    before(block, *b"<>&\r")
}

/// How many bytes stand before the first `"`, `<` or `&`; all where there is
/// none.
#[inline(always)]
pub(super) fn before_mark(block: &[u8; BLOCK]) -> usize {
    before(block, *b"\"<&")
}

/// How many bytes stand before the first of those that are wanted; all where
/// there is none.
#[inline(always)]
pub(super) fn before<const N: usize>(block: &[u8; BLOCK], wanted: [u8; N]) -> usize {
    let all = wanted.map(|byte| [byte; BLOCK]);
    (equal(block, all.each_ref()) | 1 << BLOCK).trailing_zeros() as usize
}

/// A bit for each byte that is the same in one of the others, the first
/// byte's lowest.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn equal<const N: usize>(block: &[u8; BLOCK], others: [&[u8; BLOCK]; N]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128,
    };
    // SAFETY: every processor of x86-64 has SSE2, and what is loaded, from
    // wherever it lies, are the 16 bytes of an array.
    unsafe {
        let load = |block: &[u8; BLOCK]| _mm_loadu_si128(block.as_ptr().cast());
        let equal = |other| _mm_cmpeq_epi8(load(block), load(other));
        let any = others
            .into_iter()
            .map(equal)
            .fold(_mm_setzero_si128(), |any, equal| _mm_or_si128(any, equal));
        _mm_movemask_epi8(any).cast_unsigned()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn equal<const N: usize>(block: &[u8; BLOCK], others: [&[u8; BLOCK]; N]) -> u32 {
    let same = |n: usize| others.iter().any(|other| other[n] == block[n]);
    (0..BLOCK).fold(0, |bits, n| bits | u32::from(same(n)) << n)
}

/// A word whose every byte is `byte`.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bits of those bytes of a word that are no letters of ASCII.
#[inline]
pub(super) const fn others(word: u64) -> u64 {
    let small = (word | all(0x20)) & all(0x7F);
    // Bytes below 0x80: no sum reaches the byte above.
    let from_a = small + all(0x80 - b'a');
    let past_z = small + all(0x7F - b'z');
    (!from_a | past_z | word) & all(0x80)
}

/// How many letters of ASCII stand behind the first byte.
#[inline(always)]
pub(super) fn letters_behind_first(block: &[u8; BLOCK]) -> usize {
    let (words, _) = block.as_chunks();
    let [low, high] = [words[0], words[1]].map(|word| others(u64::from_le_bytes(word)));
    let low = low & !0xFF;
    let letters = match low {
        0 => 8 + high.trailing_zeros() as usize / 8,
        low => low.trailing_zeros() as usize / 8,
    };
    letters - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_at_every_place() {
        for (byte, place) in (0..=255_u8).flat_map(|byte| (0..BLOCK).map(move |at| (byte, at))) {
            let mut block = [b'x'; BLOCK];
            block[place] = byte;
            let special = b"<>&\r".contains(&byte);
            let expected = if special { place } else { BLOCK };
            assert_eq!(before_special(&block), expected, "{byte} at {place}");
            let other = place > 0 && !byte.is_ascii_alphabetic();
            let expected = if other { place - 1 } else { BLOCK - 1 };
            assert_eq!(letters_behind_first(&block), expected, "{byte} at {place}");
        }
    }

    #[test]
    fn fewer_bytes_have_zeros_behind_them() {
        let bytes: Vec<u8> = (0..16).map(|n| 0xF0 + n).collect();
        for length in 0..=BLOCK {
            let mut expected = [0; BLOCK];
            expected[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(padded(&bytes[..length]), expected);
        }
    }

    #[test]
    fn the_first_of_several_bytes_counts() {
        assert_eq!(before_special(b"abc&<>\r<&>abcd\r<"), 3);
        assert_eq!(letters_behind_first(b"<item>x<y>12345z"), 4);
    }

    #[test]
    fn the_first_byte_is_not_compared() {
        let [one, mut other] = [*b"<quantity>123456", *b"/quantity><item>"];
        assert!(same_behind_first(&one, &other, 9));
        assert!(!same_behind_first(&one, &other, 10));
        other[3] = b'A';
        assert!(!same_behind_first(&one, &other, 9));
        assert!(same_behind_first(&one, &other, 2));
        assert!(same_behind_first(&one, &one, 15));
    }
}
