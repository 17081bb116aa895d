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
    /// A frame is wrong, or needs a larger window than HTTP allows.
    #[error("not zstd (RFC 8878): {0}")]
    Corrupt(String),
}

/// The usual level.
const LEVEL: i32 = 3;

/// Windows of 8 MiB at most: what RFC 9659 asks of both sides of HTTP.
pub(crate) const WINDOW_LOG_MAX: u32 = 23;

/// `bytes` as one frame, at the usual level 3, with its length and a checksum.
#[must_use]
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).expect("a level that exists");
    compressor
        // RFC 8878 section 3.1.1: XXH64 of the content, so that corruption is detected as with
        // gzip.
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
    // The decoder would take no input for no frame, and report success.
    if input.is_empty() {
        return Err(ZstdError::Truncated);
    }
    let mut decoder = Decoder::with_buffer(input).map_err(|error| error_of(&error))?;
    decoder
        // The library's own bound is 128 MiB, which a frame header of a few bytes can demand.
        .window_log_max(WINDOW_LOG_MAX)
        .map_err(|error| error_of(&error))?;
    let mut content = Vec::new();
    let read = decoder
        // One byte beyond the limit distinguishes "too large" from "exactly full".
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
