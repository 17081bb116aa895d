//! The TCP header (RFC 9293 section 3.1) and its options.

use crate::field::u16_at;
use crate::packet::Flags;

const HEADER_MIN: usize = 20;

/// A header of which at least the fixed part was captured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) header_bytes: usize,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    pub(crate) options: &'a [u8],
}

/// Why there is no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoHeader {
    /// Too little of it was captured.
    Cut,
    /// Its length is impossible.
    Malformed,
}

/// Reads a segment of which `captured` is there of `wire_bytes` on the wire.
#[inline]
pub(crate) fn parse(captured: &[u8], wire_bytes: u32) -> Result<Header<'_>, NoHeader> {
    if (wire_bytes as usize) < HEADER_MIN {
        return Err(NoHeader::Malformed);
    }
    let fixed: &[u8; HEADER_MIN] = captured.first_chunk().ok_or(NoHeader::Cut)?;
    let header_bytes = usize::from(fixed[12] >> 4) * 4;
    if header_bytes < HEADER_MIN || header_bytes > wire_bytes as usize {
        return Err(NoHeader::Malformed);
    }
    Ok(Header {
        source_port: u16::from_be_bytes([fixed[0], fixed[1]]),
        destination_port: u16::from_be_bytes([fixed[2], fixed[3]]),
        sequence: u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]),
        acknowledgment: u32::from_be_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]),
        header_bytes,
        flags: Flags(fixed[13]),
        window: u16::from_be_bytes([fixed[14], fixed[15]]),
        options: &captured[HEADER_MIN..header_bytes.min(captured.len())],
    })
}

/// What the options of a SYN announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Announced {
    /// The largest segment that the sender takes, bytes (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// By how many bits its windows are to be shifted (RFC 7323 section 2).
    pub window_shift: Option<u8>,
}

impl Announced {
    /// RFC 7323 section 2.3: larger shifts count as this.
    const SHIFT_MAX: u8 = 14;

    /// Reads the options of a SYN, as far as they were captured.
    pub fn parse(mut options: &[u8]) -> Announced {
        const END: u8 = 0;
        const NOTHING: u8 = 1;
        const MSS: u8 = 2;
        const WINDOW_SCALE: u8 = 3;
        let mut announced = Announced::default();
        while let Some((kind, rest)) = options.split_first() {
            match *kind {
                END => break,
                NOTHING => options = rest,
                kind => {
                    let length = usize::from(*rest.first().unwrap_or(&0));
                    let (Some(option), 2..) = (options.get(..length), length) else {
                        break;
                    };
                    match (kind, length) {
                        (MSS, 4) => announced.mss = u16_at(option, 2),
                        (WINDOW_SCALE, 3) => {
                            announced.window_shift = Some(option[2].min(Announced::SHIFT_MAX));
                        }
                        _ => {}
                    }
                    options = &options[length..];
                }
            }
        }
        announced
    }
}
