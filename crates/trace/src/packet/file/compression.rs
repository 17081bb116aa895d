//! Captures that are compressed with gzip (RFC 1952) or zstd (RFC 8878), read as a stream.

use std::io::{self, BufReader, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

/// What a compressed file may hold, bytes: a small one can claim to hold anything.
pub(super) const CONTENT_BYTES_MAX: u64 = 2_000_000_000;
/// Bytes that one byte of it may hold; deflate reaches 1,032 for zeros, captures 50.
pub(super) const RATIO_MAX: u64 = 1_000;
/// A file that holds less may have any ratio.
const RATIO_FROM_BYTES: u64 = 1 << 20;

/// The largest window of a decoder, as a power of two: 128 MiB, the default of zstd.
const WINDOW_LOG_MAX: u32 = 27;

/// The first bytes of a file, and the rest of it.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// A file whose content comes out as it was before it was compressed.
pub(super) enum Input<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Counted<Whole<R>>>>, Limit),
    Zstd(
        Box<zstd::stream::read::Decoder<'static, BufReader<Counted<Whole<R>>>>>,
        Limit,
    ),
}

/// What was read of a file.
pub(super) struct Counted<R> {
    read: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read.read(buffer)?;
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}

/// What came out so far.
#[derive(Debug, Default)]
pub(super) struct Limit {
    content_bytes: u64,
}

impl Limit {
    fn take(&mut self, bytes: usize, file_bytes: u64) -> io::Result<usize> {
        self.content_bytes += bytes as u64;
        let content = self.content_bytes;
        let reason = if content > CONTENT_BYTES_MAX {
            "it holds more than 2 GB; decompress it first, and dissect the result"
        } else if content > RATIO_FROM_BYTES && content / RATIO_MAX > file_bytes {
            "it grows to more than 1,000 times its size"
        } else {
            return Ok(bytes);
        };
        Err(io::Error::new(ErrorKind::FileTooLarge, reason))
    }
}

impl<R: Read> Input<R> {
    /// Begins to read: the first bytes decide.
    pub(super) fn new(mut read: R) -> io::Result<Input<R>> {
        const MAGIC_BYTES: u64 = 4;
        let mut begin = Vec::new();
        read.by_ref().take(MAGIC_BYTES).read_to_end(&mut begin)?;
        let is_gzip = begin.starts_with(&[0x1F, 0x8B]);
        let is_zstd = begin == [0x28, 0xB5, 0x2F, 0xFD];
        let whole = Cursor::new(begin).chain(read);
        if !is_gzip && !is_zstd {
            return Ok(Input::Plain(whole));
        }
        let counted = Counted {
            read: whole,
            bytes: 0,
        };
        if is_gzip {
            let decoder = Box::new(MultiGzDecoder::new(counted));
            return Ok(Input::Gzip(decoder, Limit::default()));
        }
        let mut decoder = zstd::stream::read::Decoder::new(counted)?;
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        Ok(Input::Zstd(Box::new(decoder), Limit::default()))
    }

    /// How it is compressed.
    pub(super) fn compression(&self) -> Option<&'static str> {
        match self {
            Input::Plain(_) => None,
            Input::Gzip(..) => Some("gzip"),
            Input::Zstd(..) => Some("zstd"),
        }
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::Plain(whole) => whole.read(buffer),
            Input::Gzip(decoder, limit) => {
                let bytes = decoder.read(buffer)?;
                limit.take(bytes, decoder.get_ref().bytes)
            }
            Input::Zstd(decoder, limit) => {
                let bytes = decoder.read(buffer)?;
                limit.take(bytes, decoder.get_ref().get_ref().bytes)
            }
        }
    }
}
