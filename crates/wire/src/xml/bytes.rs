//! Searches over bytes, in blocks or eight at a time: most names and texts are
//! short, so that a call of a search over many would cost more than the search.

use super::blocks::{BLOCK, before, before_special, block, others, padded};

/// The eight bytes from `at` on, the first lowest, where there are as many.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.wrapping_add(8))?;
    Some(u64::from_le_bytes(eight.try_into().ok()?))
}

/// Bytes that are looked at block by block before it is many at a time.
const NEAR: usize = 64;

/// Where the first `<`, `>`, `&` or carriage return lies, from `at` on; the
/// end of the bytes where there is none.
#[inline(always)]
pub(super) fn special(bytes: &[u8], at: usize) -> usize {
    match block(bytes, at).map(before_special) {
        None | Some(BLOCK) => next_special(bytes, at),
        Some(before) => at + before,
    }
}

/// The same where none lies in the first block, or there is none.
#[inline(never)]
fn next_special(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (near, _) = rest[..rest.len().min(NEAR)].as_chunks();
    for (n, block) in near.iter().enumerate() {
        let before = before_special(block);
        if before < BLOCK {
            return at + BLOCK * n + before;
        }
    }
    if rest.len() > NEAR {
        return far_special(bytes, at + NEAR);
    }
    if let Some(block) = rest.last_chunk() {
        // Its bytes that were looked at already are not special.
        return bytes.len() - BLOCK + before_special(block);
    }
    at + before_special(&padded(rest)).min(rest.len())
}

/// Whether there is no `<`, `>`, `&` or carriage return.
#[inline(always)]
pub(super) fn none_special(bytes: &[u8]) -> bool {
    if bytes.len() <= BLOCK {
        before_special(&padded(bytes)) == BLOCK
    } else {
        special(bytes, 0) == bytes.len()
    }
}

/// The same beyond the first blocks.
#[inline(never)]
fn far_special(bytes: &[u8], at: usize) -> usize {
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
pub(super) fn first_of(bytes: &[u8], at: usize, wanted: [u8; 3]) -> usize {
    let mut at = at;
    while let Some(block) = block(bytes, at) {
        let before = before(block, wanted);
        at += before;
        if before < BLOCK {
            return at;
        }
    }
    let last = bytes.get(at..).unwrap_or_default();
    let found = last.iter().position(|byte| wanted.contains(byte));
    at + found.unwrap_or(last.len())
}

/// Where letters of ASCII end that begin at `at`, as far as whole words tell:
/// there, or where fewer than eight bytes are left.
#[inline]
pub(super) fn letters_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(word) = word(bytes, at) {
        let others = others(word);
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
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
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(text in "[ -~\r\n]{0,30}|[^<>&\r]{0,300}[<>&\r].*", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| b"<>&\r".contains(byte));
            prop_assert_eq!(special(bytes, at), slow.map_or(bytes.len(), |found| at + found));
        }

        #[test]
        fn the_first_of_three_is_found(text in "[a-e]{0,20}|[d-z]{0,40}[a-d]*", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| b"abc".contains(byte));
            let expected = slow.map_or(bytes.len(), |found| at + found);
            prop_assert_eq!(first_of(bytes, at, *b"abc"), expected);
        }

        #[test]
        fn letters_end_where_the_first_other_byte_stands(text in "[a-zA-Z]{0,20}[ -~ü]{0,12}", at in 0_usize..12) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|byte| !byte.is_ascii_alphabetic());
            let slow = slow.map_or(bytes.len(), |found| at + found);
            let found = letters_end(bytes, at);
            prop_assert!(found == slow || found < slow && bytes.len() - found < 8);
        }

        #[test]
        fn none_is_special_where_none_stands(text in "[ -~\r]{0,40}|[a-z]{0,40}") {
            let any = text.bytes().any(|byte| b"<>&\r".contains(&byte));
            prop_assert_eq!(none_special(text.as_bytes()), !any);
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
    fn every_byte_is_told_from_the_letters() {
        for byte in 0..=255_u8 {
            let mut bytes = *b"xyzAZaxx";
            bytes[3] = byte;
            let expected = if byte.is_ascii_alphabetic() { 8 } else { 3 };
            assert_eq!(letters_end(&bytes, 0), expected, "{byte}");
        }
    }

    #[test]
    fn every_byte_is_told_from_the_special_ones() {
        for byte in 0..=255_u8 {
            let mut bytes = [b'x'; 9];
            bytes[3] = byte;
            let expected = if b"<>&\r".contains(&byte) { 3 } else { 9 };
            assert_eq!(special(&bytes, 0), expected, "{byte}");
        }
    }
}
