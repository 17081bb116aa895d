//! Message bodies under Zstandard (RFC 8878).

use std::io::{self, Read};

use zstd::stream::read::Decoder;

/// A body that cannot be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ZstdError {
    /// More comes out than the reader is ready to hold.
    #[error("decompresses to more than {0} bytes")]
    TooLarge(usize),
    /// It ends within a frame, or before the first.
    #[error("zstd data end too early (RFC 8878 section 3.1.1)")]
    Truncated,
    /// A frame is wrong, or wants a larger window than readers of HTTP give.
    #[error("not zstd (RFC 8878): {0}")]
    Corrupt(String),
}

/// The usual level.
const LEVEL: i32 = 3;

/// Windows of 8 MiB at most: what RFC 9659 asks of both sides of HTTP.
const WINDOW_LOG_MAX: u32 = 23;

/// `bytes` as one frame, at the usual level 3, with its length and a checksum.
#[must_use]
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).expect("a level that exists");
    compressor
        .include_checksum(true)
        .expect("a parameter that exists");
    compressor
        .compress(bytes)
        .expect("compressing in memory does not fail")
}

/// The content of one or more frames, at most `limit` bytes.
///
/// # Errors
/// When `input` is not Zstandard from end to end, or holds more than `limit` bytes.
pub fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, ZstdError> {
    if input.is_empty() {
        return Err(ZstdError::Truncated);
    }
    let mut decoder = Decoder::with_buffer(input).map_err(|error| error_of(&error))?;
    decoder
        .window_log_max(WINDOW_LOG_MAX)
        .map_err(|error| error_of(&error))?;
    let mut content = Vec::new();
    let read = decoder
        .take(limit as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| error_of(&error))?;
    match read > limit {
        true => Err(ZstdError::TooLarge(limit)),
        false => Ok(content),
    }
}

fn error_of(error: &io::Error) -> ZstdError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ZstdError::Truncated,
        _ => ZstdError::Corrupt(error.to_string()),
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
        assert_eq!(decompress(&bomb, LIMIT), Err(ZstdError::TooLarge(LIMIT)));
        let exact = compress(&vec![7; LIMIT]);
        assert_eq!(decompress(&exact, LIMIT).unwrap().len(), LIMIT);
        assert_eq!(
            decompress(&exact, LIMIT - 1),
            Err(ZstdError::TooLarge(LIMIT - 1))
        );
        assert_eq!(decompress(&compress(b""), 0), Ok(Vec::new()));
    }

    #[test]
    fn every_truncation_is_told() {
        let whole = compress(b"some content, some more content");
        for cut in 0..whole.len() {
            assert_eq!(
                decompress(&whole[..cut], LIMIT),
                Err(ZstdError::Truncated),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn frames_are_joined_and_anything_else_behind_them_is_refused() {
        let two = [compress(b"one"), compress(b"two")].concat();
        assert_eq!(decompress(&two, 6).unwrap(), b"onetwo");
        assert_eq!(decompress(&two, 5), Err(ZstdError::TooLarge(5)));
        let trailed = [compress(b"one"), b"xyzxyzxyz".to_vec()].concat();
        assert!(matches!(
            decompress(&trailed, LIMIT),
            Err(ZstdError::Corrupt(_))
        ));
    }

    #[test]
    fn a_wrong_checksum_is_found() {
        let mut frame = compress(b"content");
        let last = frame.len() - 1;
        frame[last] ^= 1;
        assert!(matches!(
            decompress(&frame, LIMIT),
            Err(ZstdError::Corrupt(_))
        ));
    }

    #[test]
    fn a_window_that_nobody_needs_is_refused() {
        // Magic, a descriptor without a content size, a window of 2^41 bytes.
        let greedy = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x01, 0x00, 0x00];
        assert!(matches!(
            decompress(&greedy, LIMIT),
            Err(ZstdError::Corrupt(_))
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
