//! Message bodies under gzip (RFC 1952).

use std::io::{self, Read};

use flate2::Compression;
use flate2::bufread::{GzDecoder, GzEncoder};

/// A body that cannot be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GzipError {
    /// More comes out than the reader is ready to hold.
    #[error("decompresses to more than {0} bytes")]
    TooLarge(usize),
    /// It ends before the checksum.
    #[error("gzip data end too early (RFC 1952 section 2.3)")]
    Truncated,
    /// Something follows that is not another member.
    #[error("{0} bytes after the last gzip member (RFC 1952 section 2.2)")]
    Trailing(usize),
    /// Header, data or checksum are wrong.
    #[error("not gzip (RFC 1952): {0}")]
    Corrupt(String),
}

/// What a member begins with (RFC 1952 section 2.3.1).
const MAGIC: [u8; 2] = [0x1F, 0x8B];

/// `bytes` as one gzip member, at the usual level 6.
#[must_use]
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::with_capacity(bytes.len() / 2 + 64);
    GzEncoder::new(bytes, Compression::new(6))
        .read_to_end(&mut compressed)
        .expect("reading from memory does not fail");
    compressed
}

/// The content of one or more gzip members, at most `limit` bytes.
///
/// # Errors
/// When `input` is not gzip from end to end, or holds more than `limit` bytes.
pub fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
    let mut content = Vec::new();
    let mut rest = input;
    loop {
        rest = decompress_member(rest, limit, &mut content)?;
        if rest.is_empty() {
            return Ok(content);
        }
        if !rest.starts_with(&MAGIC) {
            return Err(GzipError::Trailing(rest.len()));
        }
    }
}

/// Appends the first member's content; returns what follows the member.
fn decompress_member<'a>(
    input: &'a [u8],
    limit: usize,
    content: &mut Vec<u8>,
) -> Result<&'a [u8], GzipError> {
    let room = limit - content.len();
    let mut decoder = GzDecoder::new(input);
    let read = decoder
        .by_ref()
        .take(room as u64 + 1)
        .read_to_end(content)
        .map_err(error_of)?;
    if read > room {
        return Err(GzipError::TooLarge(limit));
    }
    Ok(decoder.into_inner())
}

fn error_of(error: io::Error) -> GzipError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => GzipError::Truncated,
        _ => GzipError::Corrupt(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 20;

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let bomb = compress(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000);
        assert_eq!(decompress(&bomb, LIMIT), Err(GzipError::TooLarge(LIMIT)));
        let exact = compress(&vec![7; LIMIT]);
        assert_eq!(decompress(&exact, LIMIT).unwrap().len(), LIMIT);
        assert_eq!(
            decompress(&exact, LIMIT - 1),
            Err(GzipError::TooLarge(LIMIT - 1))
        );
        assert_eq!(decompress(&compress(b""), 0), Ok(Vec::new()));
    }

    #[test]
    fn every_truncation_is_told() {
        let whole = compress(b"some content, some more content");
        for cut in 0..whole.len() {
            assert_eq!(
                decompress(&whole[..cut], LIMIT),
                Err(GzipError::Truncated),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn members_are_joined_and_anything_else_behind_them_is_refused() {
        let two = [compress(b"one"), compress(b"two")].concat();
        assert_eq!(decompress(&two, 6).unwrap(), b"onetwo");
        assert_eq!(decompress(&two, 5), Err(GzipError::TooLarge(5)));
        let trailed = [compress(b"one"), b"xyz".to_vec()].concat();
        assert_eq!(decompress(&trailed, LIMIT), Err(GzipError::Trailing(3)));
    }

    #[test]
    fn a_wrong_checksum_is_found() {
        let mut member = compress(b"content");
        let crc = member.len() - 8;
        member[crc] ^= 1;
        assert!(matches!(
            decompress(&member, LIMIT),
            Err(GzipError::Corrupt(_))
        ));
        assert!(matches!(
            decompress(b"plain text, no gzip", LIMIT),
            Err(GzipError::Corrupt(_))
        ));
    }

    proptest! {
        #[test]
        fn what_is_compressed_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..5_000)) {
            prop_assert_eq!(decompress(&compress(&bytes), LIMIT).unwrap(), bytes);
        }

        #[test]
        fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decompress(&bytes, LIMIT).is_err());
        }
    }
}
