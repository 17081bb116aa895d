//! The way through a capture: frames, packets, connections.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::flow::event::Observer;
use crate::flow::{Flows, Limits};
use crate::packet::decode::{Decoded, decode};
use crate::packet::file::{Error, Reader, Record};
use crate::summary::Summary;

/// Takes the frames of a capture, live or from a file, one after the other.
pub struct Analyzer {
    flows: Flows,
    summary: Summary,
}

impl Analyzer {
    /// Has seen nothing yet.
    pub fn new(limits: Limits) -> Analyzer {
        Analyzer {
            flows: Flows::new(limits),
            summary: Summary::default(),
        }
    }

    /// Takes the next frame, and tells `observer` what it means.
    #[inline]
    pub fn record(&mut self, record: &Record<'_>, observer: &mut impl Observer) {
        self.summary.count(record);
        match decode(record) {
            Decoded::Tcp(packet) => {
                self.summary.tcp_packets += 1;
                self.flows.packet(&packet, observer);
            }
            Decoded::Other(other) => self.summary.count_other(other),
        }
    }

    /// The capture is over: tells the rest.
    pub fn finish(self, observer: &mut impl Observer) -> Summary {
        Summary {
            flows: self.flows.finish(observer),
            ..self.summary
        }
    }
}

/// Reads a capture to its end, from a file or a pipe, in constant memory.
///
/// Damage ends the reading early and is in the summary; what came before it counts.
///
/// # Errors
/// When it is no capture, or the file system fails.
pub fn read(capture: impl Read, observer: &mut impl Observer) -> Result<Summary, Error> {
    read_within(Limits::default(), capture, observer)
}

/// The same with other bounds of memory.
///
/// # Errors
/// As [`read`].
pub fn read_within(
    limits: Limits,
    capture: impl Read,
    observer: &mut impl Observer,
) -> Result<Summary, Error> {
    let mut reader = Reader::new(capture)?;
    let mut analyzer = Analyzer::new(limits);
    while let Some(record) = reader.next()? {
        analyzer.record(&record, observer);
    }
    let mut summary = analyzer.finish(observer);
    summary.drops = reader.drops();
    summary.damage = reader.damage().cloned();
    Ok(summary)
}

/// Reads the capture in a file; `-` is standard input.
///
/// # Errors
/// As [`read`], and when there is no such file.
pub fn read_file(path: &Path, observer: &mut impl Observer) -> Result<Summary, Error> {
    if path.as_os_str() == "-" {
        return read(std::io::stdin().lock(), observer);
    }
    let file = File::open(path).map_err(|source| Error::Io { offset: 0, source })?;
    read(file, observer)
}
