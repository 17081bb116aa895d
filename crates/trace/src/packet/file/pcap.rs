//! The pcap format (draft-ietf-opsawg-pcap), with microseconds or nanoseconds,
//! in both byte orders, and its variant with longer record headers.

use std::io::Read;

use super::record::{CAPTURED_MAX, Damage, Error, Frame, Step};
use super::source::Source;
use crate::packet::byte_order::ByteOrder;
use crate::packet::link_layer::LinkType;

pub(super) const HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
/// The variant of Kuznetzov adds interface, protocol and packet type.
const RECORD_HEADER_BYTES_MODIFIED: usize = 24;

pub(super) struct Pcap {
    order: ByteOrder,
    /// Nanoseconds of one unit of the second timestamp.
    unit_ns: u64,
    record_header_bytes: usize,
    link_type: LinkType,
}

/// The magic number, nanoseconds of one unit of the second timestamp, and the
/// bytes before each record.
const FORMATS: [(u32, u64, usize); 3] = [
    (0xA1B2_C3D4, 1000, RECORD_HEADER_BYTES),
    (0xA1B2_3C4D, 1, RECORD_HEADER_BYTES),
    (0xA1B2_CD34, 1000, RECORD_HEADER_BYTES_MODIFIED),
];

impl Pcap {
    /// A file with this beginning, even of less than four bytes, has this format.
    pub(super) fn begins(begin: &[u8]) -> bool {
        let known = &begin[..begin.len().min(4)];
        // A writer stores the magic number in its own byte order, which thereby shows
        // the order of all other fields.
        let orders = |magic: u32| [magic.to_le_bytes(), magic.to_be_bytes()];
        let mut magics = FORMATS.iter().flat_map(|(magic, ..)| orders(*magic));
        magics.any(|magic| magic.starts_with(known))
    }

    /// The error for a file of that number of bytes, which holds nothing to read.
    pub(super) fn cut(there: usize) -> Error {
        let header = format!(
            "the pcap header of {HEADER_BYTES} bytes: the link type is missing, without which \
             no packet can be read"
        );
        Error::cut(there, header)
    }

    /// Reads the file's header; None when it is none of this format.
    pub(super) fn parse(header: &[u8]) -> Option<Pcap> {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let magic = order.u32(header, 0)?;
            let known = FORMATS.iter().find(|(known, ..)| *known == magic);
            let Some((_, unit_ns, record_header_bytes)) = known.copied() else {
                continue;
            };
            // The upper half describes frame check sequences.
            let link_type = LinkType(order.u32(header, 20)? as u16);
            return Some(Pcap {
                order,
                unit_ns,
                record_header_bytes,
                link_type,
            });
        }
        None
    }

    #[inline]
    pub(super) fn step<'a, R: Read>(&self, source: &'a mut Source<R>) -> Result<Step<'a>, Error> {
        let offset = source.offset();
        let header = source.peek(self.record_header_bytes)?;
        if header.len() < self.record_header_bytes {
            return Ok(short_header(offset, header.len(), self.record_header_bytes));
        }
        let field = |at| self.order.u32(header, at).unwrap_or(0);
        // 32 unsigned bits of seconds last until 2106, so the product fits 64 bits.
        let at_ns = u64::from(field(0)) * 1_000_000_000 + u64::from(field(4)) * self.unit_ns;
        let (captured, wire_bytes) = (field(8), field(12));
        // After damage a random length would be read as a record of up to 4 GiB. pcap
        // has no marker at which reading could synchronise again.
        if captured > CAPTURED_MAX {
            let reason = format!("a record claims {captured} captured bytes");
            return Ok(Step::Damaged(Damage::new(offset, reason)));
        }
        let whole = self.record_header_bytes + captured as usize;
        // A capture that is still being written, or whose writer was killed, ends in a
        // partial record.
        let there = source.peek(whole)?.len();
        if there < whole {
            let reason = format!("the last record is cut: {there} of {whole} bytes are there");
            return Ok(Step::Damaged(Damage::new(offset, reason)));
        }
        Ok(Step::Frame(Frame {
            at_ns,
            // Some writers leave the original length 0. It cannot be less than what was
            // captured.
            wire_bytes: wire_bytes.max(captured),
            link_type: self.link_type,
            data: &source.take(whole)[self.record_header_bytes..],
        }))
    }
}

fn short_header<'a>(offset: u64, there: usize, whole: usize) -> Step<'a> {
    if there == 0 {
        return Step::End;
    }
    let reason = format!("the last record's header is cut: {there} of {whole} bytes are there");
    Step::Damaged(Damage::new(offset, reason))
}
