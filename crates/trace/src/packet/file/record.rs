//! What reading a capture file yields: frames, the damage at which reading stops, and
//! the errors that prevent reading.

use std::fmt;

use crate::packet::link_layer::LinkType;

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

/// What a capture holds, in its order.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A frame.
    Frame(Record<'a>),
    /// Secrets of TLS connections, in the format of NSS key logs.
    Secrets(&'a [u8]),
}

pub(super) struct Frame<'a> {
    pub(super) at_ns: u64,
    pub(super) wire_bytes: u32,
    pub(super) link_type: LinkType,
    pub(super) data: &'a [u8],
}

pub(super) enum Step<'a> {
    Frame(Frame<'a>),
    Secrets(&'a [u8]),
    End,
    Damaged(Damage),
}

/// Larger records are taken as damage, whatever the snap length of the file is, bytes.
// Wireshark takes 256 KiB for most link types (WTAP_MAX_PACKET_SIZE_STANDARD). This
// leaves room for offloaded segments and still bounds the buffer.
pub(super) const CAPTURED_MAX: u32 = 16 << 20;

/// Why nothing of a capture can be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system or a pipe failed.
    #[error("reading the capture at byte {offset}: {source}")]
    Io {
        /// Where in the file.
        offset: u64,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It is empty.
    #[error("the capture is empty: it has not even a header")]
    Empty,
    /// It ends within the header.
    #[error("the capture is cut at byte {there}, within {header}")]
    Cut {
        /// Where the file ends.
        there: u64,
        /// What it begins with, how long that is, and what is missing of it.
        header: String,
    },
    /// It begins like no capture.
    #[error(
        "not a capture file: it begins with {0:02x?}, but only pcap and pcapng can be read, plain or compressed with gzip or zstd"
    )]
    Foreign(Vec<u8>),
    /// It is compressed, and its beginning cannot be decompressed.
    #[error("the capture is compressed: {0}")]
    Undecompressed(String),
    /// It is compressed in a format that is not read.
    #[error("the capture is compressed with {0}")]
    Compressed(&'static str),
}

impl Error {
    pub(super) fn cut(there: usize, header: impl Into<String>) -> Error {
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
            Error::Empty | Error::Cut { .. } | Error::Undecompressed(_) => {
                "copy it again, or capture again and end the capturing program by SIGINT, so that \
                 it writes what it holds back"
                    .into()
            }
            // The one tool whose name is not `un` and the format.
            Error::Compressed("gzip") => "decompress it first: gunzip FILE".into(),
            Error::Compressed(tool) => format!("decompress it first: un{tool} FILE"),
        }
    }
}

/// Where a capture stops making sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where the damaged block or record begins, bytes from the start of the file.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Damage {
    pub(super) fn new(offset: u64, reason: impl Into<String>) -> Damage {
        Damage {
            offset,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.reason)
    }
}
