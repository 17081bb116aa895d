//! The TCP header (RFC 9293 section 3.1) and its options, selective acknowledgments
//! (RFC 2018) among them.

use super::byte_order::{ByteOrder, u16_at};

/// The flags of a TCP header (RFC 9293 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment number counts.
    pub const ACK: Flags = Flags(0x10);

    /// All flags of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The kinds of options.
mod option {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

/// A header without options, bytes (RFC 9293 section 3.1).
pub(super) const HEADER_MIN: usize = 20;

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
    // Data offset, in words of 32 bits (RFC 9293 section 3.1).
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
        // As far as captured: `Packet::options_cut` reports where the snap length cut
        // them.
        options: &captured[HEADER_MIN..header_bytes.min(captured.len())],
    })
}

/// What the options of a SYN announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SynOptions {
    /// The largest segment that the sender takes, bytes (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// By how many bits its windows are to be shifted (RFC 7323 section 2).
    pub window_shift: Option<u8>,
}

impl SynOptions {
    /// RFC 7323 section 2.3: larger shifts count as this.
    const SHIFT_MAX: u8 = 14;

    /// Reads the options of a SYN, as far as they were captured.
    pub fn parse(mut options: &[u8]) -> SynOptions {
        let mut announced = SynOptions::default();
        while let Some((kind, rest)) = options.split_first() {
            match *kind {
                option::END => break,
                option::NO_OPERATION => options = rest,
                kind => {
                    let length = usize::from(*rest.first().unwrap_or(&0));
                    // The length includes kind and length octets (RFC 9293 section
                    // 3.2): a smaller one would not advance. The rest of malformed
                    // options is left unread.
                    let (Some(value), 2..) = (options.get(..length), length) else {
                        break;
                    };
                    match (kind, length) {
                        // An option of another length than its RFC gives is skipped, as
                        // Linux does (tcp_parse_options in net/ipv4/tcp_input.c).
                        (option::MSS, 4) => announced.mss = u16_at(value, 2),
                        (option::WINDOW_SCALE, 3) => {
                            announced.window_shift = Some(value[2].min(SynOptions::SHIFT_MAX));
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

/// Kind, length, and one block of two edges.
const SACK_BLOCK_BYTES: usize = 10;

/// The first block is of bytes that came twice: it lies below the cumulative
/// acknowledgment, or inside the second block (RFC 2883 section 4).
#[inline]
pub(crate) fn reports_duplicate(options: &[u8], acknowledgment: u32) -> bool {
    if options.len() < SACK_BLOCK_BYTES + 2 {
        return false; // no room next to timestamps, as in almost all packets
    }
    let Some(sack) = find(option::SACK, options).filter(|sack| sack.len() >= SACK_BLOCK_BYTES)
    else {
        return false;
    };
    let edge = |at: usize| ByteOrder::Big.u32(sack, at);
    let (Some(left), Some(right)) = (edge(2), edge(6)) else {
        return false;
    };
    // On the circle of sequence numbers (RFC 9293 section 3.4).
    let up_to = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    let inside_second = || match (edge(10), edge(14)) {
        (Some(second_left), Some(second_right)) => {
            up_to(second_left, left) && up_to(right, second_right)
        }
        _ => false,
    };
    // Only the first block can report a duplicate (RFC 2883 section 4); the others
    // repeat what is known.
    up_to(right, acknowledgment) || inside_second()
}

/// RFC 7323 section 3.
pub(crate) fn has_timestamps(options: &[u8]) -> bool {
    find(option::TIMESTAMPS, options).is_some_and(|option| option.len() == 10)
}

/// The first option of that kind, with kind and length.
fn find(wanted: u8, mut options: &[u8]) -> Option<&[u8]> {
    while let Some((kind, rest)) = options.split_first() {
        match *kind {
            option::END => return None,
            option::NO_OPERATION => options = rest,
            kind => {
                // Lengths below 2 end the search through the filter: they would loop
                // forever.
                let length = usize::from(*rest.first()?);
                let value = options.get(..length).filter(|value| value.len() >= 2)?;
                if kind == wanted {
                    return Some(value);
                }
                options = &options[length..];
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::option::{NO_OPERATION, SACK};
    use super::*;

    fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
        let mut options = vec![
            NO_OPERATION,
            NO_OPERATION,
            8,
            10,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            2,
            NO_OPERATION,
            NO_OPERATION,
        ];
        options.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            options.extend(left.to_be_bytes());
            options.extend(right.to_be_bytes());
        }
        options
    }

    #[test]
    fn blocks_above_the_acknowledgment_report_no_duplicate() {
        assert!(!reports_duplicate(&sack(&[(2000, 3000)]), 1000));
        assert!(!reports_duplicate(
            &sack(&[(4000, 5000), (2000, 3000)]),
            1000
        ));
    }

    #[test]
    fn a_block_below_the_acknowledgment_or_inside_the_next_reports_a_duplicate() {
        assert!(reports_duplicate(&sack(&[(500, 1000)]), 1000));
        assert!(reports_duplicate(&sack(&[(u32::MAX - 5, 3)]), 10));
        assert!(reports_duplicate(
            &sack(&[(2000, 2500), (2000, 3000)]),
            1000
        ));
    }

    #[test]
    fn truncated_options_are_ignored() {
        let whole = sack(&[(500, 1000), (2000, 3000)]);
        for end in 0..whole.len() - 16 {
            assert!(!reports_duplicate(&whole[..end], 1000), "{end}");
        }
        assert!(!reports_duplicate(
            &[SACK, 0, SACK, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            1000
        ));
    }
}
