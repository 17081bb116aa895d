//! Compressed messages: gzip (RFC 1952) and zstd (RFC 8878), in bounded memory.

use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// Level of gzip, zlib's and most libraries' default.
const GZIP_LEVEL: u32 = 6;

/// Level of zstd, the library's default.
const ZSTD_LEVEL: i32 = 3;

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// Why a message cannot be decompressed.
pub enum DecompressError {
    /// It is larger than any message may be.
    TooLarge,
    /// It is not what it should be.
    Broken(io::Error),
}

impl Coding {
    /// The name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Zstd => "zstd",
        }
    }

    /// Compresses a whole message.
    ///
    /// # Errors
    /// When the library cannot go on.
    pub fn compress(self, plain: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Coding::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(plain)?;
                encoder.finish()
            }
            Coding::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL),
        }
    }

    /// Decompresses a whole message, but not further than just beyond `limit` bytes.
    ///
    /// # Errors
    /// When it is broken or too large.
    pub fn decompress(self, packed: &[u8], limit: usize) -> Result<Vec<u8>, DecompressError> {
        let mut plain = Vec::new();
        // One byte beyond the limit is enough to know that it is exceeded: a bomb costs no memory.
        let upto = limit as u64 + 1;
        let read = match self {
            Coding::Gzip => MultiGzDecoder::new(packed)
                .take(upto)
                .read_to_end(&mut plain),
            Coding::Zstd => zstd::Decoder::new(packed)
                .and_then(|decoder| decoder.take(upto).read_to_end(&mut plain)),
        };
        read.map_err(DecompressError::Broken)?;
        if plain.len() > limit {
            return Err(DecompressError::TooLarge);
        }
        Ok(plain)
    }
}
