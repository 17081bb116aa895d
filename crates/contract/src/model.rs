//! The canonical model of `transfer`: what each operation must answer, errors included.

use sha2::{Digest, Sha256};

use crate::error::ApplicationError;
use crate::lists::ITEMS_MAX;
use crate::texts;
use crate::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, Record, Refusal, SubmitReply,
    SubmitRequest, UploadReply,
};

/// Records that one batch may hold.
pub const RECORDS_MAX: usize = 100_000;

/// Hexadecimal digits of an entity tag: half of SHA-256.
const ENTITY_TAG_DIGITS: usize = 32;

/// Bytes that one upload or download may move.
pub const TRANSFER_BYTES_MAX: u64 = 64 << 20;

/// Bytes that one chunk of a download may hold.
pub const CHUNK_BYTES_MAX: i32 = 1 << 20;

/// Hello of a service that holds `bytes` bytes of text.
///
/// # Panics
/// When `bytes` is more than this machine can address.
#[must_use]
pub fn hello(bytes: u64) -> HelloReply {
    HelloReply {
        text: texts::text(addressable(bytes)),
    }
}

/// HelloBytes of a service that holds `bytes` bytes of text.
///
/// # Panics
/// When `bytes` is more than this machine can address.
#[must_use]
pub fn hello_bytes(bytes: u64) -> HelloBytesReply {
    HelloBytesReply {
        text: texts::text(addressable(bytes)).into_bytes(),
    }
}

pub(crate) fn addressable(bytes: u64) -> usize {
    usize::try_from(bytes).expect("a text fits into memory")
}

/// Submit.
///
/// # Errors
/// [`ApplicationError::TooManyItems`], else [`ApplicationError::EmptyBatch`],
/// else [`ApplicationError::TooManyRecords`].
pub fn submit(request: &SubmitRequest) -> Result<SubmitReply, ApplicationError> {
    // Only a reader that does not count passes too many items on; this comes before any
    // other error (contracts/README.md, Sizes).
    if request.records.len() > ITEMS_MAX {
        return Err(ApplicationError::TooManyItems);
    }
    if request.batch.is_empty() {
        return Err(ApplicationError::EmptyBatch);
    }
    if request.records.len() > RECORDS_MAX {
        return Err(ApplicationError::TooManyRecords);
    }
    let mut reply = SubmitReply {
        batch: request.batch.clone(),
        ..SubmitReply::default()
    };
    for record in &request.records {
        match refusal(record) {
            Some(reason) => {
                reply.refused.push(Refusal {
                    id: record.id,
                    reason: reason.to_owned(),
                });
            }
            None => {
                reply.accepted += 1;
                // 100,000 quantities of int32 fit into int64 by far.
                reply.quantity_total += i64::from(record.quantity);
            }
        }
    }
    Ok(reply)
}

/// Why a record is refused, if it is.
fn refusal(record: &Record) -> Option<&'static str> {
    // The quantity comes first when both are wrong.
    if record.quantity <= 0 {
        Some("quantity must be positive")
    } else if record.item.is_empty() {
        Some("item must not be empty")
    } else {
        None
    }
}

/// Upload, and UploadStream of chunks that make up `data`.
///
/// # Errors
/// [`ApplicationError::TooManyBytes`].
pub fn upload(data: &[u8]) -> Result<UploadReply, ApplicationError> {
    if data.len() as u64 > TRANSFER_BYTES_MAX {
        return Err(ApplicationError::TooManyBytes);
    }
    Ok(UploadReply {
        length: data.len() as i64,
        sha256: sha256_hex(data),
    })
}

/// SHA-256 of `data` as 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// The entity tag of Hello's replies (contracts/README.md, Caches): a weak one, because replies of
/// all codecs and codings have it (RFC 9110 section 8.8.1).
#[must_use]
pub fn entity_tag(text: &str) -> String {
    format!(
        "W/\"{}\"",
        &sha256_hex(text.as_bytes())[..ENTITY_TAG_DIGITS]
    )
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // The upper half first, as hexadecimal is written.
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Download. A length of 0 is answered with no chunk at all.
///
/// # Errors
/// [`ApplicationError::Length`], else [`ApplicationError::ChunkBytes`].
pub fn download(request: &DownloadRequest) -> Result<Chunks, ApplicationError> {
    // A negative length has the same error as one that is too large.
    let length = u64::try_from(request.length).map_err(|_| ApplicationError::Length)?;
    if length > TRANSFER_BYTES_MAX {
        return Err(ApplicationError::Length);
    }
    if !(1..=CHUNK_BYTES_MAX).contains(&request.chunk_bytes) {
        return Err(ApplicationError::ChunkBytes);
    }
    Ok(Chunks {
        sent: 0,
        length,
        // Positive by the check above, so `unsigned_abs` changes nothing.
        chunk_bytes: u64::from(request.chunk_bytes.unsigned_abs()),
    })
}

/// The chunks of a download, made one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    sent: u64,
    length: u64,
    chunk_bytes: u64,
}

impl Chunks {
    /// Bytes of the whole download.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Bytes per chunk; the last may be shorter.
    #[must_use]
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }
}

impl Iterator for Chunks {
    type Item = DownloadChunk;

    fn next(&mut self) -> Option<DownloadChunk> {
        // `chunk_bytes` is never 0, so 0 bytes mean the end.
        let bytes = self.chunk_bytes.min(self.length - self.sent);
        if bytes == 0 {
            return None;
        }
        // Each chunk is made from its offset: a download of 64 MiB is never in memory as a
        // whole.
        let mut data = vec![0; bytes as usize];
        texts::fill_pattern(self.sent, &mut data);
        self.sent += bytes;
        Some(DownloadChunk { data })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.length - self.sent).div_ceil(self.chunk_bytes) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Chunks {}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
