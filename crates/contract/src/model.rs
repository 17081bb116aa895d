//! The canonical model: what each operation must answer, errors included.

use sha2::{Digest, Sha256};

use crate::operation::Operation;
use crate::texts;
use crate::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, Record, Refusal, SubmitReply,
    SubmitRequest, UploadReply, UploadRequest,
};

/// Records that one batch may hold.
pub const RECORDS_MAX: usize = 100_000;

/// Bytes that one upload or download may move.
pub const TRANSFER_BYTES_MAX: u64 = 64 << 20;

/// Bytes that one chunk of a download may hold.
pub const CHUNK_BYTES_MAX: i32 = 1 << 20;

/// A request that the contract answers with an error; its text is part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ApplicationError {
    /// Submit without a batch name; reported before anything else.
    #[error("batch must not be empty")]
    EmptyBatch,
    /// Submit with too many records.
    #[error("at most 100000 records")]
    TooManyRecords,
    /// Upload or UploadStream with too much data.
    #[error("at most 67108864 bytes")]
    TooManyBytes,
    /// Download of an impossible length; reported before a bad chunk size.
    #[error("length must be 0 to 67108864")]
    Length,
    /// Download in chunks of an impossible size.
    #[error("chunk_bytes must be 1 to 1048576")]
    ChunkBytes,
}

/// One call of `transfer` with its typed request.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Hello of a service that holds `text(hello_bytes)`.
    Hello {
        /// Size of the text that the service holds, in bytes.
        hello_bytes: u64,
    },
    /// HelloBytes of a service that holds `text(hello_bytes)`.
    HelloBytes {
        /// Size of the text that the service holds, in bytes.
        hello_bytes: u64,
    },
    /// Submit.
    Submit(SubmitRequest),
    /// Upload in one message.
    Upload(UploadRequest),
    /// Upload as a stream.
    UploadStream {
        /// The whole file.
        data: Vec<u8>,
        /// Bytes per chunk; the last may be shorter. At least 1.
        chunk_bytes: u32,
    },
    /// Download.
    Download(DownloadRequest),
}

impl Call {
    /// The operation that is called.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Call::Hello { .. } => Operation::Hello,
            Call::HelloBytes { .. } => Operation::HelloBytes,
            Call::Submit(_) => Operation::Submit,
            Call::Upload(_) => Operation::Upload,
            Call::UploadStream { .. } => Operation::UploadStream,
            Call::Download(_) => Operation::Download,
        }
    }

    /// What a service must answer.
    ///
    /// # Errors
    /// The application error that the contract demands.
    pub fn answer(&self) -> Result<Reply, ApplicationError> {
        Ok(match self {
            Call::Hello { hello_bytes } => Reply::Hello(hello(*hello_bytes)),
            Call::HelloBytes { hello_bytes } => Reply::HelloBytes(self::hello_bytes(*hello_bytes)),
            Call::Submit(request) => Reply::Submit(submit(request)?),
            Call::Upload(request) => Reply::Upload(upload(&request.data)?),
            Call::UploadStream { data, .. } => Reply::Upload(upload(data)?),
            Call::Download(request) => Reply::Download(download(request)?),
        })
    }
}

/// A reply of `transfer`.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To Hello.
    Hello(HelloReply),
    /// To HelloBytes.
    HelloBytes(HelloBytesReply),
    /// To Submit.
    Submit(SubmitReply),
    /// To Upload and UploadStream.
    Upload(UploadReply),
    /// To Download: the chunks in order.
    Download(Chunks),
}

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

fn addressable(bytes: u64) -> usize {
    usize::try_from(bytes).expect("a text fits into memory")
}

/// Submit.
///
/// # Errors
/// [`ApplicationError::EmptyBatch`], else [`ApplicationError::TooManyRecords`].
pub fn submit(request: &SubmitRequest) -> Result<SubmitReply, ApplicationError> {
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
                reply.quantity_total += i64::from(record.quantity);
            }
        }
    }
    Ok(reply)
}

/// Why a record is refused, if it is.
fn refusal(record: &Record) -> Option<&'static str> {
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(data);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Download. A length of 0 is answered with no chunk at all.
///
/// # Errors
/// [`ApplicationError::Length`], else [`ApplicationError::ChunkBytes`].
pub fn download(request: &DownloadRequest) -> Result<Chunks, ApplicationError> {
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
        let bytes = self.chunk_bytes.min(self.length - self.sent);
        if bytes == 0 {
            return None;
        }
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
