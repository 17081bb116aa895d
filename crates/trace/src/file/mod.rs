//! Capture files: pcap and pcapng are read, pcapng is written.
//!
//! Files are read front to back in a buffer of bounded size, so that a pipe
//! serves as well as a file of any length. What is damaged ends the reading,
//! and what was read until then is kept.
//!
//! Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

mod damage;
mod options;
mod pcap;
mod pcapng;
mod resolution;
mod source;
mod writer;

use std::io::Read;

pub use damage::Damage;
pub use writer::{InterfaceTotals, Writer};

use crate::link_layer::LinkType;
use pcap::Pcap;
use pcapng::Pcapng;
use source::Source;

/// Why nothing of a capture can be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system or a pipe failed.
    #[error("reading the capture at byte {offset}: {source}")]
    Io {
        /// Where in the file.
        offset: u64,
        /// What it said.
        source: std::io::Error,
    },
    /// It is empty.
    #[error("the capture is empty: it has not even a header")]
    Empty,
    /// It ends within what tells how to read it.
    #[error("the capture is cut at byte {there}, within {header}")]
    Cut {
        /// Where the file ends.
        there: u64,
        /// What it begins with, how long that is, and what is missing of it.
        header: String,
    },
    /// It begins like no capture.
    #[error("no capture: it begins with {0:02x?}; pcap and pcapng are read")]
    Foreign(Vec<u8>),
    /// It is compressed.
    #[error("the capture is compressed with {0}")]
    Compressed(&'static str),
}

impl Error {
    fn cut(there: usize, header: impl Into<String>) -> Error {
        Error::Cut {
            there: there as u64,
            header: header.into(),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Error::Io { .. } | Error::Foreign(_) => {
                "name a pcap or pcapng file, or - for standard input".into()
            }
            Error::Empty | Error::Cut { .. } => {
                "copy it again, or capture again and end the capturing program by SIGINT, so that \
                 it writes what it holds back"
                    .into()
            }
            Error::Compressed("gzip") => "decompress it first: gunzip FILE".into(),
            Error::Compressed(tool) => format!("decompress it first: un{tool} FILE"),
        }
    }
}

/// One captured frame.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Its length on the wire, bytes, as far as the link type has it.
    pub wire_bytes: u32,
    /// How it begins.
    pub link_type: LinkType,
    /// What was captured of it: a prefix.
    pub data: &'a [u8],
}

/// A frame as a format gives it; the reader numbers it.
struct Frame<'a> {
    at_ns: u64,
    wire_bytes: u32,
    link_type: LinkType,
    data: &'a [u8],
}

/// What comes next in a file.
enum Step<'a> {
    Frame(Frame<'a>),
    End,
    Damaged(Damage),
}

enum Format {
    Pcap(Pcap),
    Pcapng(Box<Pcapng>),
}

/// Reads the frames of a capture, one after the other.
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    frames: u64,
    damage: Option<Damage>,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// When it is no capture, or cannot be read at all.
    pub fn new(read: R) -> Result<Reader<R>, Error> {
        let mut source = Source::new(read);
        let begin = source.peek(pcap::HEADER_BYTES)?;
        let format = match begin {
            [] => return Err(Error::Empty),
            _ if begin.len() >= 4 && Pcapng::begins(begin) => Format::Pcapng(Box::default()),
            _ => Format::Pcap(Pcap::parse(begin).ok_or_else(|| unreadable(begin))?),
        };
        match format {
            Format::Pcap(_) => source.consume(pcap::HEADER_BYTES),
            Format::Pcapng(_) => Pcapng::find_header(&mut source)?,
        }
        Ok(Reader {
            source,
            format,
            frames: 0,
            damage: None,
            ended: false,
        })
    }

    /// The next frame; None at the end, be it the file's or the readable part's.
    ///
    /// # Errors
    /// When the file system or the pipe fails.
    #[inline]
    #[allow(clippy::should_implement_trait)] // A frame borrows from the reader.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let step = match &mut self.format {
            Format::Pcap(pcap) => pcap.step(&mut self.source)?,
            Format::Pcapng(pcapng) => pcapng.step(&mut self.source)?,
        };
        match step {
            Step::Frame(frame) => {
                self.frames += 1;
                Ok(Some(Record {
                    number: self.frames,
                    at_ns: frame.at_ns,
                    wire_bytes: frame.wire_bytes,
                    link_type: frame.link_type,
                    data: frame.data,
                }))
            }
            Step::End => {
                self.ended = true;
                Ok(None)
            }
            Step::Damaged(damage) => {
                self.ended = true;
                self.damage = Some(damage);
                Ok(None)
            }
        }
    }

    /// Where and why the reading ended before the file did.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Packets that the capturing process lost, as far as the file tells.
    pub fn drops(&self) -> Option<u64> {
        match &self.format {
            Format::Pcap(_) => None,
            Format::Pcapng(pcapng) => pcapng.drops(),
        }
    }
}

/// Why a file that begins so is none of a known format, or ends too early.
fn unreadable(begin: &[u8]) -> Error {
    match begin {
        [0x1F, 0x8B, ..] => Error::Compressed("gzip"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Error::Compressed("zstd"),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Error::Compressed("xz"),
        [0x04, 0x22, 0x4D, 0x18, ..] => Error::Compressed("lz4"),
        [_, _, _, _, ..] if Pcap::begins(begin) => Pcap::cut(begin.len()),
        [] | [_] | [_, _] | [_, _, _] if Pcap::begins(begin) || Pcapng::begins(begin) => {
            Error::cut(begin.len(), "the 4 bytes that tell the format")
        }
        _ => Error::Foreign(begin[..begin.len().min(8)].to_vec()),
    }
}
