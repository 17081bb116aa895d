//! The pcapng format (draft-ietf-opsawg-pcapng): sections, interfaces, and
//! frames in Enhanced, Simple and obsolete Packet Blocks, secrets of TLS.

use std::io::Read;

use super::record::{CAPTURED_MAX, Damage, Error, Frame, Step};
use super::source::Source;
use crate::packet::byte_order::ByteOrder;
use crate::packet::link_layer::LinkType;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;
/// Secrets in the format of NSS key logs ("TLSK").
const TLS_KEY_LOG: u32 = 0x544C_534B;
const MAGIC: u32 = 0x1A2B_3C4D;
/// Type, length, and the length again at the end.
const FRAME_BYTES: u32 = 12;
/// A frame with its fields and a generous share of options.
const BLOCK_MAX: u32 = CAPTURED_MAX + (1 << 20);
/// More interfaces in one section are an attack on memory.
const INTERFACES_MAX: usize = 65_536;

struct Interface {
    link_type: LinkType,
    snap_bytes: u32,
    resolution: Resolution,
    drops: Option<u64>,
}

pub(super) struct Pcapng {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Of the sections before this one.
    drops: Option<u64>,
    /// Simple packets have no time: they get that of their predecessor.
    last_at_ns: u64,
}

impl Default for Pcapng {
    fn default() -> Pcapng {
        Pcapng {
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            drops: None,
            last_at_ns: 0,
        }
    }
}

type Reason = &'static str;

impl Pcapng {
    /// A file with this beginning, even of less than four bytes, has this format.
    pub(super) fn begins(begin: &[u8]) -> bool {
        SECTION
            .to_be_bytes()
            .starts_with(&begin[..begin.len().min(4)])
    }

    /// The first section's header is there, whole, or damaged, which reading shows.
    ///
    /// # Errors
    /// When the file ends within it, or cannot be read.
    pub(super) fn find_header<R: Read>(source: &mut Source<R>) -> Result<(), Error> {
        let name = "the pcapng section header";
        let head = source.peek(12)?;
        if head.len() < 12 {
            let header = format!("{name} of at least 28 bytes: its byte order is missing");
            return Err(Error::cut(head.len(), header));
        }
        let length = Pcapng::default().take_head(head);
        let Some(length) = length.ok().filter(|length| *length <= BLOCK_MAX) else {
            return Ok(());
        };
        let there = source.peek(length as usize)?.len();
        if there < length as usize {
            let header = format!("{name} of {length} bytes: its end is missing");
            return Err(Error::cut(there, header));
        }
        Ok(())
    }

    pub(super) fn drops(&self) -> Option<u64> {
        let own = self.interfaces.iter().filter_map(|one| one.drops);
        own.fold(self.drops, |sum, drops| {
            Some(sum.unwrap_or(0).saturating_add(drops))
        })
    }

    pub(super) fn step<'a, R: Read>(
        &mut self,
        source: &'a mut Source<R>,
    ) -> Result<Step<'a>, Error> {
        loop {
            let offset = source.offset();
            let head = source.peek(12)?;
            if head.is_empty() {
                return Ok(Step::End);
            }
            let length = match self.take_head(head) {
                Ok(length) => length,
                Err(reason) => return Ok(Step::Damaged(Damage::new(offset, reason))),
            };
            let block_type = self.order.u32(head, 0).unwrap_or(0);
            // Readers must skip block types that they do not know. Nothing of these is
            // buffered, so they may be longer than BLOCK_MAX.
            if !self.is_read(block_type) {
                if !source.skip(u64::from(length))? {
                    return Ok(cut(offset, source.offset() - offset, length));
                }
                continue;
            }
            if length > BLOCK_MAX {
                let reason = format!("a block claims {length} bytes");
                return Ok(Step::Damaged(Damage::new(offset, reason)));
            }
            let block = source.peek(length as usize)?;
            if block.len() < length as usize {
                return Ok(cut(offset, block.len() as u64, length));
            }
            // The trailing length is meant for reading backwards. Here it detects
            // damage: past a mismatch, payload would be read as blocks.
            if self.order.u32(block, length as usize - 4) != Some(length) {
                let reason = "the lengths at a block's begin and end differ";
                return Ok(Step::Damaged(Damage::new(offset, reason)));
            }
            if is_packet(block_type) {
                // Taken here: a borrow that is returned cannot live in a loop.
                let body = &source.take(length as usize)[8..length as usize - 4];
                return Ok(match self.parse_packet(block_type, body) {
                    Ok(frame) => Step::Frame(frame),
                    Err(reason) => Step::Damaged(Damage::new(offset, reason)),
                });
            }
            if block_type == DECRYPTION_SECRETS {
                let body = &source.take(length as usize)[8..length as usize - 4];
                return Ok(match self.parse_key_log(body) {
                    Ok(text) => Step::Secrets(text),
                    Err(reason) => Step::Damaged(Damage::new(offset, reason)),
                });
            }
            let body = &source.take(length as usize)[8..length as usize - 4];
            if let Err(reason) = self.describe(block_type, body) {
                return Ok(Step::Damaged(Damage::new(offset, reason)));
            }
        }
    }

    /// The block's whole length; learns the byte order from a section's header.
    fn take_head(&mut self, head: &[u8]) -> Result<u32, Reason> {
        // 0x0A0D0D0A reads the same in both byte orders, so the block is found before
        // its order is known (draft section 4.1). Its line ends also expose files that
        // were transferred as text.
        if ByteOrder::Big.u32(head, 0) == Some(SECTION) {
            self.order = match (ByteOrder::Little.u32(head, 8), ByteOrder::Big.u32(head, 8)) {
                (Some(MAGIC), _) => ByteOrder::Little,
                (_, Some(MAGIC)) => ByteOrder::Big,
                (None, _) => return Err("the last block is cut in its header"),
                _ => return Err("a section header has no byte-order magic"),
            };
        }
        let length = self.order.u32(head, 4);
        let length = length.ok_or("the last block is cut in its header")?;
        if length < FRAME_BYTES || !length.is_multiple_of(4) {
            return Err("a block has an impossible length");
        }
        Ok(length)
    }

    fn is_read(&self, block_type: u32) -> bool {
        is_packet(block_type)
            || matches!(
                block_type,
                SECTION | INTERFACE | STATISTICS | DECRYPTION_SECRETS
            )
    }

    /// Takes a block that describes others. `body` is without both lengths.
    fn describe(&mut self, block_type: u32, body: &[u8]) -> Result<(), Reason> {
        match block_type {
            SECTION => self.take_section(body),
            INTERFACE => self.take_interface(body),
            _ => self.take_statistics(body),
        }
    }

    fn take_section(&mut self, body: &[u8]) -> Result<(), Reason> {
        let major = self
            .order
            .u16(body, 4)
            .ok_or("a section header is too short")?;
        if major != 1 {
            return Err("a section has another major version than 1");
        }
        self.drops = self.drops();
        // Interface numbers are local to a section (draft section 4.2); drops of
        // earlier sections stay in the sum.
        self.interfaces.clear();
        Ok(())
    }

    fn take_interface(&mut self, body: &[u8]) -> Result<(), Reason> {
        const TIMESTAMP_RESOLUTION: u16 = 9;
        const TIMESTAMP_OFFSET: u16 = 14;
        let short = "an interface description is too short";
        // Each description takes memory until the section ends, and a file of nothing
        // else is easy to make.
        if self.interfaces.len() == INTERFACES_MAX {
            return Err("a section has more than 65536 interfaces");
        }
        let link_type = LinkType(self.order.u16(body, 0).ok_or(short)?);
        let snap_bytes = self.order.u32(body, 4).ok_or(short)?;
        let (mut resolution, mut offset_s) = (Resolution::default(), 0);
        for (code, value) in Options::new(self.order, body.get(8..).unwrap_or(&[])) {
            match (code, value) {
                (TIMESTAMP_RESOLUTION, [tsresol, ..]) => resolution = Resolution::new(*tsresol),
                (TIMESTAMP_OFFSET, value) => {
                    offset_s = self.order.u64(value, 0).map_or(0, |seconds| seconds as i64);
                }
                _ => {}
            }
        }
        self.interfaces.push(Interface {
            link_type,
            snap_bytes,
            resolution: resolution.with_offset_s(offset_s),
            drops: None,
        });
        Ok(())
    }

    /// Counts are from the start of the capture: the last block of an interface holds.
    fn take_statistics(&mut self, body: &[u8]) -> Result<(), Reason> {
        // isb_ifdrop and isb_osdrop (draft section 4.6): dropped by the interface, and
        // by the operating system for lack of buffers. Both are packets that the file
        // lacks.
        const INTERFACE_DROPS: u16 = 5;
        const SYSTEM_DROPS: u16 = 7;
        let number = self.order.u32(body, 0).ok_or("statistics are too short")?;
        let order = self.order;
        let Some(interface) = self.interfaces.get_mut(number as usize) else {
            return Err("statistics are of an interface that was not described");
        };
        let options = Options::new(order, body.get(12..).unwrap_or(&[]));
        let drops = options.filter(|(code, _)| matches!(*code, INTERFACE_DROPS | SYSTEM_DROPS));
        let drops = drops.filter_map(|(_, value)| order.u64(value, 0));
        if let Some(sum) = drops.reduce(u64::saturating_add) {
            interface.drops = Some(sum);
        }
        Ok(())
    }

    /// The text of a Decryption Secrets Block (draft section 4.7); empty where it is of
    /// another protocol.
    fn parse_key_log<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Reason> {
        let short = "decryption secrets are shorter than they state";
        let kind = self.order.u32(body, 0).ok_or(short)?;
        let length = self.order.u32(body, 4).ok_or(short)?;
        let text = body[8..].get(..length as usize).ok_or(short)?;
        Ok(if kind == TLS_KEY_LOG { text } else { &[] })
    }

    #[inline]
    fn parse_packet<'a>(&mut self, block_type: u32, body: &'a [u8]) -> Result<Frame<'a>, Reason> {
        match block_type {
            SIMPLE_PACKET => self.parse_simple_packet(body),
            PACKET => {
                // The other half of this word counts drops since the last packet. The
                // statistics blocks, which are totals, are used instead.
                let number = self.order.u16(body, 0).map(u32::from);
                self.parse_timed_packet(number, body)
            }
            _ => self.parse_timed_packet(self.order.u32(body, 0), body),
        }
    }

    /// The fields of both kinds are in the same places, except the first.
    #[inline]
    fn parse_timed_packet<'a>(
        &mut self,
        interface: Option<u32>,
        body: &'a [u8],
    ) -> Result<Frame<'a>, Reason> {
        const FIELDS: usize = 20;
        let fields = body.get(..FIELDS).ok_or("a packet is too short")?;
        let field = |at| self.order.u32(fields, at).unwrap_or(0);
        // The timestamp is two words, the upper one first in either byte order. It is
        // not a field of 64 bits (draft section 4.3).
        let (high, low, captured, wire_bytes) = (field(4), field(8), field(12), field(16));
        let interface = interface.and_then(|number| self.interfaces.get(number as usize));
        let interface = interface.ok_or("a packet is of an interface that was not described")?;
        let data = body[FIELDS..].get(..captured as usize);
        let at_ns = interface
            .resolution
            .to_ns(u64::from(high) << 32 | u64::from(low));
        let link_type = interface.link_type;
        self.last_at_ns = at_ns;
        Ok(Frame {
            at_ns,
            wire_bytes: wire_bytes.max(captured),
            link_type,
            data: data.ok_or("a packet is longer than its block")?,
        })
    }

    fn parse_simple_packet<'a>(&mut self, body: &'a [u8]) -> Result<Frame<'a>, Reason> {
        let wire_bytes = self.order.u32(body, 0).ok_or("a packet is too short")?;
        let interface = self.interfaces.first();
        let interface = interface.ok_or("a packet is of an interface that was not described")?;
        // A Simple Packet Block has no captured length. It follows from the interface's
        // snap length, where 0 means no limit (draft section 4.4).
        let captured = match interface.snap_bytes {
            0 => wire_bytes,
            snap_bytes => wire_bytes.min(snap_bytes),
        };
        let data = body[4..].get(..captured as usize);
        Ok(Frame {
            at_ns: self.last_at_ns,
            wire_bytes,
            link_type: interface.link_type,
            data: data.ok_or("a packet is longer than its block")?,
        })
    }
}

fn is_packet(block_type: u32) -> bool {
    matches!(block_type, PACKET | SIMPLE_PACKET | ENHANCED_PACKET)
}

fn cut<'a>(offset: u64, there: u64, length: u32) -> Step<'a> {
    let reason = format!("the last block is cut: {there} of {length} bytes are there");
    Step::Damaged(Damage::new(offset, reason))
}

/// The code and value of each option of a block (draft-ietf-opsawg-pcapng section 3.5),
/// up to the end or to the first that does not fit.
struct Options<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> Options<'a> {
    fn new(order: ByteOrder, bytes: &'a [u8]) -> Options<'a> {
        Options { order, rest: bytes }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        const END: u16 = 0;
        let code = self.order.u16(self.rest, 0)?;
        let length = usize::from(self.order.u16(self.rest, 2)?);
        // The length of an option excludes its padding to 32 bits.
        let value = self.rest.get(4..4 + length)?;
        let padded = 4 + length.next_multiple_of(4);
        self.rest = self.rest.get(padded..).unwrap_or(&[]);
        (code != END).then_some((code, value))
    }
}

const NS_PER_S: u128 = 1_000_000_000;

/// From a timestamp to nanoseconds since the Unix epoch (options if_tsresol and
/// if_tsoffset of draft-ietf-opsawg-pcapng section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Resolution {
    unit: TimestampUnit,
    offset_s: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimestampUnit {
    /// Nanoseconds of one unit.
    Coarse(u64),
    /// Units of one nanosecond.
    Fine(u64),
    /// Two to this power is the number of units of one second.
    Binary(u32),
}

impl Default for Resolution {
    /// Microseconds, unless the options say otherwise.
    fn default() -> Resolution {
        Resolution::new(6)
    }
}

impl Resolution {
    /// From the byte of if_tsresol: the exponent, negated, of ten, or of two with the highest bit.
    fn new(tsresol: u8) -> Resolution {
        let exponent = u32::from(tsresol & 0x7F);
        let unit = if tsresol & 0x80 != 0 {
            TimestampUnit::Binary(exponent)
        } else if exponent <= 9 {
            TimestampUnit::Coarse(10u64.pow(9 - exponent))
        } else {
            // 64 bits of anything finer than this are less than a nanosecond, as
            // they are of the finest power of two.
            let per_ns = 10u64.checked_pow(exponent - 9);
            per_ns.map_or(TimestampUnit::Binary(127), TimestampUnit::Fine)
        };
        Resolution { unit, offset_s: 0 }
    }

    fn with_offset_s(self, offset_s: i64) -> Resolution {
        Resolution { offset_s, ..self }
    }

    /// Saturates at both ends of what 64 bits of nanoseconds hold (years 1970 to 2554).
    #[inline]
    fn to_ns(self, timestamp: u64) -> u64 {
        let ns = match self.unit {
            TimestampUnit::Coarse(ns) => timestamp.saturating_mul(ns),
            TimestampUnit::Fine(per_ns) => timestamp / per_ns,
            TimestampUnit::Binary(bits) => {
                // 64 times 30 bits need u128. Its shifts are defined up to 127, the
                // largest exponent of if_tsresol.
                let ns = (u128::from(timestamp) * NS_PER_S) >> bits;
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
        };
        if self.offset_s == 0 {
            return ns;
        }
        let shifted = i128::from(ns) + i128::from(self.offset_s) * NS_PER_S as i128;
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_ten_and_of_two() {
        let table = [
            (6, 1_500_000, 1_500_000_000),
            (9, 1_500_000_000, 1_500_000_000),
            (0, 2, 2_000_000_000),
            (3, 1_500, 1_500_000_000),
            (12, 1_500_000_000_000, 1_500_000_000),
            (127, u64::MAX, 0),
            (0x80, 2, 2_000_000_000),
            (0x80 | 10, 1536, 1_500_000_000),
            (0x80 | 32, 3 << 31, 1_500_000_000),
            (0x80 | 127, u64::MAX, 0),
        ];
        for (tsresol, timestamp, ns) in table {
            assert_eq!(Resolution::new(tsresol).to_ns(timestamp), ns, "{tsresol}");
        }
    }

    #[test]
    fn offsets_move_both_ways_and_saturate() {
        let ns = Resolution::new(9);
        assert_eq!(ns.with_offset_s(10).to_ns(5), 10_000_000_005);
        assert_eq!(ns.with_offset_s(-1).to_ns(3_000_000_000), 2_000_000_000);
        assert_eq!(ns.with_offset_s(-10).to_ns(5), 0);
        assert_eq!(ns.with_offset_s(i64::MIN).to_ns(u64::MAX), 0);
        assert_eq!(ns.with_offset_s(i64::MAX).to_ns(u64::MAX), u64::MAX);
        assert_eq!(Resolution::new(0).to_ns(u64::MAX), u64::MAX);
    }
}
