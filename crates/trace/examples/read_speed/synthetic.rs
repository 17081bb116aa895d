//! A capture like those of a load test: connections that are opened, make
//! calls in turn, and are replaced by others.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use wirelab_trace::packet::file::{InterfaceTotals, Writer};
use wirelab_trace::packet::link_layer::LinkType;

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;
const PUSH: u8 = 8;
const HEADERS: usize = 14 + 20 + 32;
const REQUEST: &[u8] = b"GET /hello HTTP/1.1\r\nHost: 198.18.0.2:8080\r\nAccept: */*\r\n\r\n";
const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, wirelab";
/// Calls of a connection before it is replaced.
const CALLS: u32 = 1_000;

struct Connection {
    port: u16,
    address: u8,
    sequences: [u32; 2],
    step: u32,
}

/// Writes `packets` packets of `connections` connections in turn; gives the
/// bytes of the file.
pub fn write(path: &Path, packets: u64, connections: u64) -> io::Result<u64> {
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut writer = Writer::new(out, LinkType::ETHERNET, 262_144, "synthetic")?;
    let open = |number: u64| Connection {
        port: 20_000 + (number % 40_000) as u16,
        address: 1 + (number / 40_000) as u8,
        sequences: [number as u32 * 7_919, number as u32 * 104_729],
        step: 0,
    };
    let mut all: Vec<Connection> = (0..connections.max(1)).map(open).collect();
    let mut frame = Vec::with_capacity(256);
    for number in 0..packets {
        let which = (number % all.len() as u64) as usize;
        all[which].next(&mut frame);
        let at_ns = 1_700_000_000_000_000_000 + number * 1_000;
        writer.frame(at_ns, frame.len() as u32, &frame)?;
    }
    writer.finish(&InterfaceTotals::default())?;
    drop(writer);
    Ok(path.metadata()?.len())
}

impl Connection {
    /// The next packet: three to open, three for each call, three to close.
    fn next(&mut self, frame: &mut Vec<u8>) {
        let last = 3 + 3 * CALLS;
        let (side, flags, payload): (usize, u8, &[u8]) = match self.step {
            0 => (0, SYN, b""),
            1 => (1, SYN | ACK, b""),
            2 => (0, ACK, b""),
            step if step == last => (0, FIN | ACK, b""),
            step if step == last + 1 => (1, FIN | ACK, b""),
            step if step == last + 2 => (0, ACK, b""),
            step if step % 3 == 0 => (0, PUSH | ACK, REQUEST),
            step if step % 3 == 1 => (1, PUSH | ACK, REPLY),
            _ => (0, ACK, b""),
        };
        self.write(side, flags, payload, frame);
        let edge = u32::from(flags & (SYN | FIN) != 0);
        self.sequences[side] = self.sequences[side].wrapping_add(payload.len() as u32 + edge);
        self.step = (self.step + 1) % (last + 3);
        if self.step == 0 {
            // The same two ends with other numbers.
            self.sequences[0] = self.sequences[0].wrapping_add(1_000_000);
            self.sequences[1] = self.sequences[1].wrapping_add(2_000_000);
        }
    }

    fn write(&self, side: usize, flags: u8, payload: &[u8], frame: &mut Vec<u8>) {
        let ends = [
            ([198, 18, 0, self.address], self.port),
            ([198, 19, 0, 2], 8080),
        ];
        let (from, to) = (ends[side], ends[1 - side]);
        frame.clear();
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        frame.extend([0x45, 0]);
        frame.extend(((HEADERS - 14 + payload.len()) as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend(from.0);
        frame.extend(to.0);
        frame.extend(from.1.to_be_bytes());
        frame.extend(to.1.to_be_bytes());
        frame.extend(self.sequences[side].to_be_bytes());
        let acknowledged = if flags & ACK == 0 {
            0
        } else {
            self.sequences[1 - side]
        };
        frame.extend(acknowledged.to_be_bytes());
        frame.extend([0x80, flags, 1, 0xF6, 0, 0, 0, 0]);
        // Two paddings and timestamps, as Linux sends them.
        frame.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        debug_assert_eq!(frame.len(), HEADERS);
        frame.extend(payload);
    }
}
