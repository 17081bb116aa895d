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
    // A guess: XML and JSON shrink to a fraction; the constant is for header and trailer.
    let mut compressed = Vec::with_capacity(bytes.len() / 2 + 64);
    // Level 6 is zlib's default.
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
        // RFC 1952 section 2.2: a file is a series of members, with nothing between or after
        // them.
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
    // The limit counts the content of all members together.
    let room = limit - content.len();
    let mut decoder = GzDecoder::new(input);
    let read = decoder
        .by_ref()
        // One byte beyond the limit distinguishes "too large" from "exactly full".
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
        // flate2 reports a missing trailer (CRC32, ISIZE) as an unexpected end.
        io::ErrorKind::UnexpectedEof => GzipError::Truncated,
        _ => GzipError::Corrupt(error.to_string()),
    }
}
