//! Searches over bytes, 16 (SSE2) or eight (a word) at a time: most names and texts are
//! short, so that a call of a search over many bytes would cost more than the search.

/// Bytes that are compared at a time.
pub(super) const BLOCK: usize = 16;

/// [`BLOCK`] bytes from `at` on; None where fewer follow.
#[inline(always)]
pub(super) fn block(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..at.checked_add(BLOCK)?)?.first_chunk()
}

/// At most [`BLOCK`] bytes, and zeros behind them.
#[inline(always)]
pub(super) fn pad(bytes: &[u8]) -> [u8; BLOCK] {
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
pub(super) fn same_after_first(one: &[u8; BLOCK], other: &[u8; BLOCK], count: usize) -> bool {
    (equal_mask(one, [other]) >> 1).trailing_ones() as usize >= count
}

/// The number of bytes before the first `<`, `>`, `&` or carriage return; all
/// where there is none.
#[inline(always)]
pub(super) fn special_offset(block: &[u8; BLOCK]) -> usize {
    offset_of_any(block, *b"<>&\r")
}

/// The number of bytes before the first `"`, `<` or `&`; all where there is
/// none.
#[inline(always)]
pub(super) fn value_end_offset(block: &[u8; BLOCK]) -> usize {
    offset_of_any(block, *b"\"<&")
}

/// The number of bytes before the first of those that are searched for; all where
/// there is none.
#[inline(always)]
pub(super) fn offset_of_any<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> usize {
    let all = needles.map(|byte| [byte; BLOCK]);
    (equal_mask(block, all.each_ref()) | 1 << BLOCK).trailing_zeros() as usize
}

/// A bit for each byte that is the same in one of the others, the first
/// byte's lowest.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn equal_mask<const N: usize>(block: &[u8; BLOCK], others: [&[u8; BLOCK]; N]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128,
    };
    // The portable version below takes 52 to 65 % more instructions per XML message
    // (callgrind on examples/codec_speed): the compiler makes no `pmovmskb` of it.
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
fn equal_mask<const N: usize>(block: &[u8; BLOCK], others: [&[u8; BLOCK]; N]) -> u32 {
    let same = |n: usize| others.iter().any(|other| other[n] == block[n]);
    (0..BLOCK).fold(0, |bits, n| bits | u32::from(same(n)) << n)
}

/// A word whose every byte is `byte`.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bits of those bytes of a word that are not letters of ASCII.
#[inline]
pub(super) const fn non_letters(word: u64) -> u64 {
    let small = (word | all(0x20)) & all(0x7F);
    // Bytes below 0x80: no sum reaches the byte above.
    let from_a = small + all(0x80 - b'a');
    let past_z = small + all(0x7F - b'z');
    (!from_a | past_z | word) & all(0x80)
}

/// The number of letters of ASCII after the first byte.
#[inline(always)]
pub(super) fn letters_after_first(block: &[u8; BLOCK]) -> usize {
    let (words, _) = block.as_chunks();
    let [low, high] = [words[0], words[1]].map(|word| non_letters(u64::from_le_bytes(word)));
    let low = low & !0xFF;
    let letters = match low {
        0 => 8 + high.trailing_zeros() as usize / 8,
        low => low.trailing_zeros() as usize / 8,
    };
    letters - 1
}

/// The eight bytes from `at` on, the first lowest; None where fewer follow.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.wrapping_add(8))?;
    Some(u64::from_le_bytes(eight.try_into().ok()?))
}

/// Bytes that are searched block by block; beyond, 64 at a time.
const NEAR: usize = 64;

/// Where the first `<`, `>`, `&` or carriage return lies, from `at` on; the
/// end of the bytes where there is none.
#[inline(always)]
pub(super) fn find_special(bytes: &[u8], at: usize) -> usize {
    match block(bytes, at).map(special_offset) {
        None | Some(BLOCK) => find_special_after_block(bytes, at),
        Some(before) => at + before,
    }
}

/// The same where none lies in the first block, or there is none.
#[inline(never)]
fn find_special_after_block(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (near, _) = rest[..rest.len().min(NEAR)].as_chunks();
    for (n, block) in near.iter().enumerate() {
        let before = special_offset(block);
        if before < BLOCK {
            return at + BLOCK * n + before;
        }
    }
    if rest.len() > NEAR {
        return find_special_far(bytes, at + NEAR);
    }
    if let Some(block) = rest.last_chunk() {
        // Bytes of it that were searched already are not special.
        return bytes.len() - BLOCK + special_offset(block);
    }
    at + special_offset(&pad(rest)).min(rest.len())
}

/// Whether there is no `<`, `>`, `&` or carriage return.
#[inline(always)]
pub(super) fn has_no_special(bytes: &[u8]) -> bool {
    if bytes.len() <= BLOCK {
        special_offset(&pad(bytes)) == BLOCK
    } else {
        find_special(bytes, 0) == bytes.len()
    }
}

/// The same beyond the first blocks.
#[inline(never)]
fn find_special_far(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    // Without a branch for each byte, so that it runs over many at a time.
    let none = |chunk: &&[u8]| {
        !chunk
            .iter()
            .fold(false, |any, byte| any | is_special(*byte))
    };
    let plain = rest.chunks_exact(NEAR).take_while(none).count() * NEAR;
    let found = rest[plain..].iter().position(|byte| is_special(*byte));
    found.map_or(bytes.len(), |found| at + plain + found)
}

#[inline]
fn is_special(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | b'\r')
}

/// Where the first of three bytes lies, from `at` on; the end of the bytes
/// where there is none.
#[inline]
pub(super) fn find_any(bytes: &[u8], at: usize, needles: [u8; 3]) -> usize {
    let mut at = at;
    while let Some(block) = block(bytes, at) {
        let before = offset_of_any(block, needles);
        at += before;
        if before < BLOCK {
            return at;
        }
    }
    let last = bytes.get(at..).unwrap_or_default();
    let found = last.iter().position(|byte| needles.contains(byte));
    at + found.unwrap_or(last.len())
}

/// Where letters of ASCII end that begin at `at`, as far as whole words show:
/// there, or where fewer than eight bytes are left.
#[inline]
pub(super) fn letters_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(word) = word(bytes, at) {
        let non_letters = non_letters(word);
        if non_letters != 0 {
            return at + non_letters.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

/// Whether `length` bytes are the same at two places.
#[inline]
pub(super) fn same(bytes: &[u8], one: usize, other: usize, length: usize) -> bool {
    if length <= 8
        && let (Some(one), Some(other)) = (word(bytes, one), word(bytes, other))
    {
        return length == 0 || (one ^ other) << (64 - 8 * length) == 0;
    }
    match (
        bytes.get(one..one + length),
        bytes.get(other..other + length),
    ) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_classified_at_every_offset() {
        for (byte, offset) in (0..=255_u8).flat_map(|byte| (0..BLOCK).map(move |at| (byte, at))) {
            let mut block = [b'x'; BLOCK];
            block[offset] = byte;
            let special = b"<>&\r".contains(&byte);
            let expected = if special { offset } else { BLOCK };
            assert_eq!(special_offset(&block), expected, "{byte} at {offset}");
            let other = offset > 0 && !byte.is_ascii_alphabetic();
            let expected = if other { offset - 1 } else { BLOCK - 1 };
            assert_eq!(letters_after_first(&block), expected, "{byte} at {offset}");
        }
    }

    #[test]
    fn fewer_bytes_have_zeros_behind_them() {
        let bytes: Vec<u8> = (0..16).map(|n| 0xF0 + n).collect();
        for length in 0..=BLOCK {
            let mut expected = [0; BLOCK];
            expected[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(pad(&bytes[..length]), expected);
        }
    }

    #[test]
    fn the_first_of_several_bytes_counts() {
        assert_eq!(special_offset(b"abc&<>\r<&>abcd\r<"), 3);
        assert_eq!(letters_after_first(b"<item>x<y>12345z"), 4);
    }

    #[test]
    fn the_first_byte_is_not_compared() {
        let [one, mut other] = [*b"<quantity>123456", *b"/quantity><item>"];
        assert!(same_after_first(&one, &other, 9));
        assert!(!same_after_first(&one, &other, 10));
        other[3] = b'A';
        assert!(!same_after_first(&one, &other, 9));
        assert!(same_after_first(&one, &other, 2));
        assert!(same_after_first(&one, &one, 15));
    }

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(text in "[ -~\r\n]{0,30}|[^<>&\r]{0,300}[<>&\r].*", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| b"<>&\r".contains(byte));
            prop_assert_eq!(find_special(bytes, at), slow.map_or(bytes.len(), |found| at + found));
        }

        #[test]
        fn the_first_of_three_is_found(text in "[a-e]{0,20}|[d-z]{0,40}[a-d]*", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| b"abc".contains(byte));
            let expected = slow.map_or(bytes.len(), |found| at + found);
            prop_assert_eq!(find_any(bytes, at, *b"abc"), expected);
        }

        #[test]
        fn letters_end_at_the_first_other_byte(text in "[a-zA-Z]{0,20}[ -~ü]{0,12}", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| !byte.is_ascii_alphabetic());
            let slow = slow.map_or(bytes.len(), |found| at + found);
            let found = letters_end(bytes, at);
            prop_assert!(found == slow || found < slow && bytes.len() - found < 8);
        }

        #[test]
        fn a_text_without_special_bytes_has_none(text in "[ -~\r]{0,40}|[a-z]{0,40}") {
            let any = text.bytes().any(|byte| b"<>&\r".contains(&byte));
            prop_assert_eq!(has_no_special(text.as_bytes()), !any);
        }

        #[test]
        fn the_same_bytes_are_the_same(bytes in "[ab]{0,24}", one in 0_usize..24, other in 0_usize..24, length in 0_usize..20) {
            let bytes = bytes.as_bytes();
            let part = |at: usize| bytes.get(at..at + length);
            let slow = part(one).is_some() && part(one) == part(other);
            prop_assert_eq!(same(bytes, one, other, length), slow);
        }
    }

    #[test]
    fn letters_are_distinguished_from_every_other_byte() {
        for byte in 0..=255_u8 {
            let mut bytes = *b"xyzAZaxx";
            bytes[3] = byte;
            let expected = if byte.is_ascii_alphabetic() { 8 } else { 3 };
            assert_eq!(letters_end(&bytes, 0), expected, "{byte}");
        }
    }

    #[test]
    fn special_bytes_are_distinguished_from_every_other_byte() {
        for byte in 0..=255_u8 {
            let mut bytes = [b'x'; 9];
            bytes[3] = byte;
            let expected = if b"<>&\r".contains(&byte) { 3 } else { 9 };
            assert_eq!(find_special(&bytes, 0), expected, "{byte}");
        }
    }
}
