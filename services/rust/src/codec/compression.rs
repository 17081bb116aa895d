//! Compressed messages: gzip (RFC 1952) and zstd (RFC 8878), in bounded memory.

use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use wirelab_stack::Compression;

/// Level of gzip, zlib's and most libraries' default.
const GZIP_LEVEL: u32 = 6;

/// Level of zstd, the library's default.
const ZSTD_LEVEL: i32 = 3;

/// Why a message cannot be decompressed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecompressError {
    /// It is larger than any message may be.
    #[error("more than {0} bytes when decompressed")]
    TooLarge(usize),
    /// It is not what it should be.
    #[error("{coding}: {error}")]
    Broken {
        /// The compression's name.
        coding: &'static str,
        /// What the library found.
        error: io::Error,
    },
}

/// What a service does with the axis `compression`.
pub(crate) trait Compressor {
    /// The name in content-encoding; none for none.
    fn coding(self) -> Option<&'static str>;

    /// How hard the library tries; none for none.
    fn level(self) -> Option<i64>;

    /// Compresses a whole message.
    ///
    /// # Errors
    /// When the library cannot go on.
    fn compress(self, plain: &[u8]) -> io::Result<Vec<u8>>;

    /// Decompresses a whole message, but not further than just beyond `limit` bytes.
    ///
    /// # Errors
    /// When it is broken or too large.
    fn decompress(self, packed: &[u8], limit: usize) -> Result<Vec<u8>, DecompressError>;
}

impl Compressor for Compression {
    fn coding(self) -> Option<&'static str> {
        match self {
            Compression::None | Compression::PermessageDeflate => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        }
    }

    fn level(self) -> Option<i64> {
        match self {
            Compression::None | Compression::PermessageDeflate => None,
            Compression::Gzip => Some(i64::from(GZIP_LEVEL)),
            Compression::Zstd => Some(i64::from(ZSTD_LEVEL)),
        }
    }

    fn compress(self, plain: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Compression::None | Compression::PermessageDeflate => Ok(plain.to_vec()),
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(plain)?;
                encoder.finish()
            }
            Compression::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL),
        }
    }

    fn decompress(self, packed: &[u8], limit: usize) -> Result<Vec<u8>, DecompressError> {
        let coding = self.coding().unwrap_or("none");
        let mut plain = Vec::new();
        // One byte beyond the limit is enough to know that it is exceeded: a bomb costs no memory.
        let upto = limit as u64 + 1;
        let read = match self {
            Compression::None | Compression::PermessageDeflate => {
                packed.take(upto).read_to_end(&mut plain)
            }
            Compression::Gzip => MultiGzDecoder::new(packed)
                .take(upto)
                .read_to_end(&mut plain),
            Compression::Zstd => zstd::Decoder::new(packed)
                .and_then(|decoder| decoder.take(upto).read_to_end(&mut plain)),
        };
        read.map_err(|error| DecompressError::Broken { coding, error })?;
        if plain.len() > limit {
            return Err(DecompressError::TooLarge(limit));
        }
        Ok(plain)
    }
}

/// A compressed body that is made over time.
pub(crate) enum StreamCompressor {
    Plain,
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

impl StreamCompressor {
    /// An empty body.
    pub(crate) fn new(compression: Compression) -> Self {
        match compression {
            Compression::None | Compression::PermessageDeflate => StreamCompressor::Plain,
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                StreamCompressor::Gzip(Box::new(GzEncoder::new(Vec::new(), level)))
            }
            Compression::Zstd => {
                let encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL);
                // It fails for a level or a dictionary that there is not.
                StreamCompressor::Zstd(Box::new(encoder.expect("the library's own level")))
            }
        }
    }

    /// The next bytes of the body, from which all of `plain` can be read.
    ///
    /// # Errors
    /// When the library cannot go on.
    pub(crate) fn push(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            StreamCompressor::Plain => Ok(plain.to_vec()),
            StreamCompressor::Gzip(encoder) => {
                encoder.write_all(plain)?;
                // Z_SYNC_FLUSH of zlib.
                encoder.flush()?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            StreamCompressor::Zstd(encoder) => {
                encoder.write_all(plain)?;
                // ZSTD_e_flush.
                encoder.flush()?;
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// The last bytes of the body.
    ///
    /// # Errors
    /// When the library cannot go on.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            StreamCompressor::Plain => Ok(Vec::new()),
            StreamCompressor::Gzip(encoder) => encoder.finish(),
            StreamCompressor::Zstd(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_up_to_the_limit() {
        let plain = vec![b'a'; 100_000];
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let packed = compression.compress(&plain).expect("memory is enough");
            assert!(compression == Compression::None || packed.len() < 1000);
            let decompressed = compression.decompress(&packed, plain.len());
            assert!(decompressed.expect("a message") == plain);
            let refused = compression.decompress(&packed, plain.len() - 1);
            assert!(matches!(refused, Err(DecompressError::TooLarge(99_999))));
        }
    }

    #[test]
    fn pushed_bytes_can_be_read_before_the_end() {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let mut packer = StreamCompressor::new(compression);
            let (mut packed, mut plain) = (Vec::new(), String::new());
            for item in 0..100 {
                let line = format!("item {item}\n");
                packed.extend(packer.push(line.as_bytes()).expect("memory is enough"));
                plain.push_str(&line);
                assert_eq!(begin_of(compression, &packed), plain.as_bytes());
            }
            packed.extend(packer.finish().expect("memory is enough"));
            let whole = compression.decompress(&packed, plain.len()).unwrap();
            assert_eq!(whole, plain.as_bytes());
        }
    }

    /// All that can be read of a message that has not ended.
    fn begin_of(compression: Compression, packed: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        let mut reader: Box<dyn Read + '_> = match compression {
            Compression::None => Box::new(packed),
            Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::Decoder::new(packed).unwrap()),
            Compression::PermessageDeflate => unreachable!("no representation of rest has it"),
        };
        // It has no end, which is an error behind all that was read.
        let _ = reader.read_to_end(&mut plain);
        plain
    }

    #[test]
    fn what_is_cut_off_or_no_packed_message_is_refused() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let packed = compression
                .compress(&[b'a'; 1000])
                .expect("memory is enough");
            for broken in [&packed[..packed.len() - 1], b"garbage", b""] {
                let found = compression.decompress(broken, 1000);
                let empty = broken.is_empty() && compression == Compression::Zstd;
                assert!(
                    found.is_err() || empty,
                    "{compression:?} {broken:?}: {found:?}"
                );
            }
        }
    }
}
