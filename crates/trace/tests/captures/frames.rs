//! Frames and capture files, byte by byte, as another program would write them.

use std::net::{IpAddr, SocketAddr};

/// A TCP segment to be written.
#[derive(Debug, Clone)]
pub struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub sequence: u32,
    pub acknowledgment: u32,
    pub flags: u8,
    pub window: u16,
    pub options: Vec<u8>,
    pub payload: Vec<u8>,
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;

pub fn client() -> SocketAddr {
    "10.0.0.1:40000".parse().expect("an address")
}

pub fn server() -> SocketAddr {
    "10.0.0.2:80".parse().expect("an address")
}

/// From the client, with ACK.
pub fn request(sequence: u32, acknowledgment: u32, payload: &[u8]) -> Segment {
    Segment {
        from: client(),
        to: server(),
        sequence,
        acknowledgment,
        flags: ACK,
        window: 500,
        options: Vec::new(),
        payload: payload.to_vec(),
    }
}

/// From the server, with ACK.
pub fn reply(sequence: u32, acknowledgment: u32, payload: &[u8]) -> Segment {
    Segment {
        from: server(),
        to: client(),
        ..request(sequence, acknowledgment, payload)
    }
}

impl Segment {
    pub fn flags(self, flags: u8) -> Segment {
        Segment { flags, ..self }
    }

    pub fn window(self, window: u16) -> Segment {
        Segment { window, ..self }
    }

    pub fn options(self, options: &[u8]) -> Segment {
        assert_eq!(options.len() % 4, 0, "options are padded");
        Segment {
            options: options.to_vec(),
            ..self
        }
    }

    pub fn ends(self, from: &str, to: &str) -> Segment {
        Segment {
            from: from.parse().expect("an address"),
            to: to.parse().expect("an address"),
            ..self
        }
    }

    /// Header and payload.
    pub fn tcp(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.from.port().to_be_bytes());
        bytes.extend(self.to.port().to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.acknowledgment.to_be_bytes());
        bytes.push(((20 + self.options.len()) / 4 * 16) as u8);
        bytes.push(self.flags);
        bytes.extend(self.window.to_be_bytes());
        // Checksum and urgent pointer. Checksums are not verified: a card fills them in
        // after the capture.
        bytes.extend([0; 4]);
        bytes.extend(&self.options);
        bytes.extend(&self.payload);
        bytes
    }

    /// An IP packet of the version of its addresses.
    pub fn ip(&self) -> Vec<u8> {
        match (self.from.ip(), self.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                ipv4(from.octets(), to.octets(), 6, &[], &self.tcp())
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => ipv6(from.octets(), to.octets(), 6, &self.tcp()),
            _ => panic!("two versions of IP"),
        }
    }

    pub fn ethernet(&self) -> Vec<u8> {
        let ethertype = if self.from.is_ipv4() { 0x0800 } else { 0x86DD };
        ethernet(ethertype, &self.ip())
    }
}

pub fn ipv4(from: [u8; 4], to: [u8; 4], protocol: u8, options: &[u8], body: &[u8]) -> Vec<u8> {
    let header = 20 + options.len();
    let total = (header + body.len()) as u16;
    let mut bytes = vec![0x40 | (header / 4) as u8, 0];
    bytes.extend(total.to_be_bytes());
    // Identification, Don't Fragment, TTL 64, protocol, checksum.
    bytes.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    bytes.extend(from);
    bytes.extend(to);
    bytes.extend(options);
    bytes.extend(body);
    bytes
}

pub fn ipv6(from: [u8; 16], to: [u8; 16], next: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((body.len() as u16).to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend(from);
    bytes.extend(to);
    bytes.extend(body);
    bytes
}

pub fn ethernet(ethertype: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(body);
    bytes
}

/// A frame with its time and its length on the wire.
#[derive(Debug, Clone)]
pub struct Captured {
    pub at_ns: u64,
    pub wire_bytes: u32,
    pub data: Vec<u8>,
}

impl Captured {
    pub fn whole(at_ns: u64, data: Vec<u8>) -> Captured {
        Captured {
            at_ns,
            wire_bytes: data.len() as u32,
            data,
        }
    }

    pub fn snapped(mut self, bytes: usize) -> Captured {
        self.data.truncate(bytes);
        self
    }
}

/// Frames 1 ms apart.
pub fn space_frames(segments: &[Segment]) -> Vec<Captured> {
    let frames = segments.iter().map(Segment::ethernet).enumerate();
    // Far from 0 and with room for microseconds: both file formats hold it exactly.
    let at_ns = |number: usize| 1_700_000_000_000_000_000 + number as u64 * 1_000_000;
    frames
        .map(|(number, data)| Captured::whole(at_ns(number), data))
        .collect()
}

/// A number as four bytes.
fn word(number: u32, big: bool) -> [u8; 4] {
    if big {
        number.to_be_bytes()
    } else {
        number.to_le_bytes()
    }
}

fn half(number: u16, big: bool) -> [u8; 2] {
    if big {
        number.to_be_bytes()
    } else {
        number.to_le_bytes()
    }
}

/// A pcap file; `unit_ns` is 1 or 1000.
pub fn pcap(big: bool, unit_ns: u64, link_type: u16, frames: &[Captured]) -> Vec<u8> {
    // Magic numbers of draft-ietf-opsawg-pcap section 4.
    let magic = if unit_ns == 1 {
        0xA1B2_3C4D
    } else {
        0xA1B2_C3D4
    };
    let mut bytes = word(magic, big).to_vec();
    bytes.extend(half(2, big));
    bytes.extend(half(4, big));
    for number in [0, 0, 262_144, u32::from(link_type)] {
        bytes.extend(word(number, big));
    }
    for frame in frames {
        let fraction = (frame.at_ns % 1_000_000_000 / unit_ns) as u32;
        let seconds = (frame.at_ns / 1_000_000_000) as u32;
        for number in [seconds, fraction, frame.data.len() as u32, frame.wire_bytes] {
            bytes.extend(word(number, big));
        }
        bytes.extend(&frame.data);
    }
    bytes
}

/// Blocks of pcapng.
pub struct Blocks {
    pub big: bool,
    pub bytes: Vec<u8>,
}

impl Blocks {
    pub fn new(big: bool) -> Blocks {
        Blocks {
            big,
            bytes: Vec::new(),
        }
        .section()
    }

    pub fn block(mut self, block_type: u32, body: &[u8]) -> Blocks {
        let length = 12 + body.len().next_multiple_of(4);
        self.bytes.extend(word(block_type, self.big));
        self.bytes.extend(word(length as u32, self.big));
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.bytes.extend(word(length as u32, self.big));
        self
    }

    pub fn section(self) -> Blocks {
        let mut body = word(0x1A2B_3C4D, self.big).to_vec();
        body.extend(half(1, self.big));
        body.extend(half(0, self.big));
        body.extend([0xFF; 8]);
        self.block(0x0A0D_0D0A, &body)
    }

    pub fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = half(code, self.big).to_vec();
        bytes.extend(half(value.len() as u16, self.big));
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    pub fn interface(self, link_type: u16, snap_bytes: u32, options: &[u8]) -> Blocks {
        let mut body = half(link_type, self.big).to_vec();
        body.extend([0, 0]);
        body.extend(word(snap_bytes, self.big));
        body.extend(options);
        self.block(1, &body)
    }

    /// An Enhanced Packet Block with its timestamp in units of the interface.
    pub fn enhanced(self, interface: u32, timestamp: u64, frame: &Captured) -> Blocks {
        let body = self.packet_body(&word(interface, self.big), timestamp, frame);
        self.block(6, &body)
    }

    /// The obsolete Packet Block.
    pub fn obsolete(self, interface: u16, timestamp: u64, frame: &Captured) -> Blocks {
        let mut first = half(interface, self.big).to_vec();
        first.extend([0, 0]);
        let body = self.packet_body(&first, timestamp, frame);
        self.block(2, &body)
    }

    fn packet_body(&self, first: &[u8], timestamp: u64, frame: &Captured) -> Vec<u8> {
        let mut body = first.to_vec();
        let times = [(timestamp >> 32) as u32, timestamp as u32];
        let lengths = [frame.data.len() as u32, frame.wire_bytes];
        for number in times.into_iter().chain(lengths) {
            body.extend(word(number, self.big));
        }
        body.extend(&frame.data);
        body
    }

    pub fn simple(self, frame: &Captured) -> Blocks {
        let mut body = word(frame.wire_bytes, self.big).to_vec();
        body.extend(&frame.data);
        self.block(3, &body)
    }
}

/// A pcapng file with nanoseconds.
pub fn pcapng(link_type: u16, frames: &[Captured]) -> Vec<u8> {
    let blocks = Blocks::new(false);
    let resolution = blocks.option(9, &[9]);
    let blocks = blocks.interface(link_type, 0, &resolution);
    let add = |blocks: Blocks, frame: &Captured| blocks.enhanced(0, frame.at_ns, frame);
    frames.iter().fold(blocks, add).bytes
}
