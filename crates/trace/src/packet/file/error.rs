//! Why a capture cannot be read, or not to its end.

use std::fmt;

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
    #[error("no capture: it begins with {0:02x?}; pcap and pcapng are read")]
    Foreign(Vec<u8>),
    /// It is compressed.
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
