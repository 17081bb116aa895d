//! Reads a capture of either format, frame by frame.

use std::io::Read;

use super::pcap::{self, Pcap};
use super::pcapng::Pcapng;
use super::record::{Damage, Error, Item, Record, Step};
use super::source::Source;

enum Format {
    Pcap(Pcap),
    Pcapng(Box<Pcapng>),
}

/// Reads the frames of a capture, one after the other.
pub struct Reader<R: Read> {
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
    /// When it is not a capture, or cannot be read at all.
    pub fn new(read: R) -> Result<Reader<R>, Error> {
        let mut source = Source::new(read)?;
        // Enough for both formats: pcapng shows itself and its byte order in 12 bytes.
        let there = source.peek(pcap::HEADER_BYTES)?.len();
        if let Some(damage) = source.damage().filter(|_| there < pcap::HEADER_BYTES) {
            return Err(Error::Undecompressed(damage.reason.clone()));
        }
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

    /// The next frame, or secrets for those behind it; None at the end of the file or of its readable part.
    ///
    /// # Errors
    /// When the file system or the pipe fails.
    #[inline]
    #[allow(clippy::should_implement_trait)] // An item borrows from the reader.
    pub fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let step = match &mut self.format {
            Format::Pcap(pcap) => pcap.step(&mut self.source)?,
            Format::Pcapng(pcapng) => pcapng.step(&mut self.source)?,
        };
        match step {
            Step::Frame(frame) => {
                // From 1, like Wireshark's frame.number, so that findings can quote
                // packets.
                self.frames += 1;
                Ok(Some(Item::Frame(Record {
                    number: self.frames,
                    at_ns: frame.at_ns,
                    wire_bytes: frame.wire_bytes,
                    link_type: frame.link_type,
                    data: frame.data,
                })))
            }
            Step::Secrets(text) => Ok(Some(Item::Secrets(text))),
            Step::End => {
                self.ended = true;
                Ok(None)
            }
            // Not an error: what came before the damage is a valid, shorter capture,
            // and the summary carries the place and the reason.
            Step::Damaged(damage) => {
                self.ended = true;
                self.damage = Some(damage);
                Ok(None)
            }
        }
    }

    /// Where and why the reading ended before the file did.
    pub fn damage(&self) -> Option<&Damage> {
        // The last record is cut because the file could not be decompressed further.
        self.source.damage().or(self.damage.as_ref())
    }

    /// Packets that the capturing process lost, as far as the file states.
    pub fn drops(&self) -> Option<u64> {
        match &self.format {
            // pcap has no field for drops. None means unknown, which is not 0.
            Format::Pcap(_) => None,
            Format::Pcapng(pcapng) => pcapng.drops(),
        }
    }
}

/// Why a file that begins so is none of a known format, or ends too early.
fn unreadable(begin: &[u8]) -> Error {
    match begin {
        // Magic numbers: gzip (RFC 1952 section 2.3.1), zstd (RFC 8878 section 3.1.1),
        // xz (file format section 2.1.1.1), the LZ4 frame format.
        [0x1F, 0x8B, ..] => Error::Compressed("gzip"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Error::Compressed("zstd"),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Error::Compressed("xz"),
        [0x04, 0x22, 0x4D, 0x18, ..] => Error::Compressed("lz4"),
        [_, _, _, _, ..] if Pcap::begins(begin) => Pcap::cut(begin.len()),
        [] | [_] | [_, _] | [_, _, _] if Pcap::begins(begin) || Pcapng::begins(begin) => {
            Error::cut(begin.len(), "the 4 bytes that identify the format")
        }
        _ => Error::Foreign(begin[..begin.len().min(8)].to_vec()),
    }
}
