//! Writes pcapng (draft-ietf-opsawg-pcapng): one section, one interface,
//! nanoseconds.

use std::io::{self, Write};

use crate::packet::link_layer::LinkType;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// What an interface saw, for the statistics at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InterfaceTotals {
    /// When the capture began, nanoseconds since the Unix epoch.
    pub started_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
    /// Packets that passed the filter, those dropped among them.
    pub received: u64,
    /// Packets dropped because there was no room.
    pub drops: u64,
}

/// Writes frames as they come. Every block is written whole, so that a file
/// that is cut off holds all blocks before the cut.
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header of the file and the description of the interface.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn new(
        out: W,
        link_type: LinkType,
        snap_bytes: u32,
        interface: &str,
    ) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out,
            block: Vec::with_capacity(4096),
        };
        writer.write_section()?;
        writer.write_interface(link_type, snap_bytes, interface)?;
        Ok(writer)
    }

    /// Writes one frame of `wire_bytes` of which `data` was captured.
    ///
    /// # Errors
    /// The errors of the file.
    #[inline]
    pub fn write_frame(&mut self, at_ns: u64, wire_bytes: u32, data: &[u8]) -> io::Result<()> {
        // Interface 0, timestamp, captured and original length, data padded to 32 bits
        // (draft section 4.3).
        self.begin(ENHANCED_PACKET);
        self.write_u32(0);
        self.write_time(at_ns);
        self.write_u32(data.len() as u32);
        self.write_u32(wire_bytes);
        self.write_padded(data);
        self.end()
    }

    /// Writes the statistics and everything that is still held back.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn finish(&mut self, totals: &InterfaceTotals) -> io::Result<()> {
        // isb_starttime, isb_endtime, isb_ifrecv, isb_ifdrop (draft section 4.6): what
        // `Reader::drops` and capinfos read.
        self.begin(STATISTICS);
        self.write_u32(0);
        self.write_time(totals.ended_ns);
        for (code, at_ns) in [(2, totals.started_ns), (3, totals.ended_ns)] {
            self.write_option_head(code, 8);
            self.write_time(at_ns);
        }
        for (code, count) in [(4, totals.received), (5, totals.drops)] {
            self.write_option(code, &count.to_le_bytes());
        }
        self.write_option(0, &[]);
        self.end()?;
        self.out.flush()
    }

    /// Flushes what the file may still hold back.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write_section(&mut self) -> io::Result<()> {
        const MAGIC: u32 = 0x1A2B_3C4D;
        // -1: the length is not known when the header is written, and a pipe cannot be
        // corrected later. Readers must accept it (draft section 4.1).
        const LENGTH_UNKNOWN: u64 = u64::MAX;
        const APPLICATION: u16 = 4;
        self.begin(SECTION);
        self.write_u32(MAGIC);
        // Version 1.0.
        self.block.extend_from_slice(&[1, 0, 0, 0]);
        self.block.extend_from_slice(&LENGTH_UNKNOWN.to_le_bytes());
        self.write_option(
            APPLICATION,
            concat!("wirelab ", env!("CARGO_PKG_VERSION")).as_bytes(),
        );
        self.write_option(0, &[]);
        self.end()
    }

    fn write_interface(
        &mut self,
        link_type: LinkType,
        snap_bytes: u32,
        name: &str,
    ) -> io::Result<()> {
        const NAME: u16 = 2;
        const TIMESTAMP_RESOLUTION: u16 = 9;
        const NANOSECONDS: u8 = 9;
        self.begin(INTERFACE);
        self.block.extend_from_slice(&link_type.0.to_le_bytes());
        self.block.extend_from_slice(&[0, 0]);
        self.write_u32(snap_bytes);
        self.write_option(NAME, name.as_bytes());
        // The kernel stamps in nanoseconds; without this option units are microseconds.
        self.write_option(TIMESTAMP_RESOLUTION, &[NANOSECONDS]);
        self.write_option(0, &[]);
        self.end()
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.write_u32(block_type);
        // Its length is known at its end.
        self.write_u32(0);
    }

    fn end(&mut self) -> io::Result<()> {
        let length = self.block.len() as u32 + 4;
        self.write_u32(length);
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        // One write per block: a process that is killed between two writes leaves a
        // file of whole blocks.
        self.out.write_all(&self.block)
    }

    fn write_u32(&mut self, number: u32) {
        self.block.extend_from_slice(&number.to_le_bytes());
    }

    /// Times are two words, the upper one first.
    fn write_time(&mut self, at_ns: u64) {
        self.write_u32((at_ns >> 32) as u32);
        self.write_u32(at_ns as u32);
    }

    fn write_option_head(&mut self, code: u16, length: u16) {
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&length.to_le_bytes());
    }

    fn write_option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.write_option_head(code, value.len() as u16);
        self.write_padded(value);
    }

    fn write_padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}
