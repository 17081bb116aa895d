//! What fuzzers feed: any bytes as a capture, and any segments as connections.
//! Neither may panic or hang, and both must hold what [`Observer`] promises.
//!
//! Not for users of this crate; `tests/fuzz` and `/fuzz` call it.

mod conversations;

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use crate::flow::{Flows, Limits};
use crate::packet::{Flags, Packet};
use crate::{read, read_within};

pub use conversations::fuzz_conversations;

/// Small enough that inputs of a fuzzer reach them.
const TIGHT: Limits = Limits {
    flows: 3,
    flow_bytes: 2_000,
    bytes: 5_000,
};

/// A capture file, or what pretends to be one. Little memory changes neither
/// its packets nor its damage.
pub fn fuzz_capture(data: &[u8]) {
    let mut checker = Checker::default();
    let Ok(summary) = read(data, &mut checker) else {
        assert!(read_within(TIGHT, data, &mut checker).is_err());
        return;
    };
    checker.ended();
    let mut tight = Checker::default();
    let again = read_within(TIGHT, data, &mut tight).expect("the same bytes");
    tight.ended();
    assert_eq!(
        (
            summary.packets,
            summary.bytes,
            summary.other,
            summary.damage
        ),
        (again.packets, again.bytes, again.other, again.damage)
    );
}

/// Connections whose segments are made of eight bytes each: which ends, flags,
/// length and how far the sequence number is from the last one.
pub fn fuzz_flows(data: &[u8]) {
    for limits in [Limits::default(), TIGHT] {
        let mut flows = Flows::new(limits);
        let mut checker = Checker::default();
        let mut sequences = [[0u32; 2]; 4];
        for (number, script) in (1..).zip(data.as_chunks::<8>().0) {
            let segment = Scripted::new(script, &mut sequences);
            let payload = segment.payload();
            flows.packet(&segment.packet(number, &payload), &mut checker);
        }
        let counts = flows.finish(&mut checker);
        checker.ended();
        assert!(counts.stream_bytes <= counts.payload_bytes);
    }
}

struct Scripted {
    ends: [SocketAddr; 2],
    sequence: u32,
    acknowledgment: u32,
    flags: Flags,
    bytes: u32,
    captured: usize,
    step_ns: u64,
}

impl Scripted {
    fn new(script: &[u8; 8], sequences: &mut [[u32; 2]; 4]) -> Scripted {
        let [which, flags, length, cut, delta, scale, acknowledged, step] = *script;
        let pair = usize::from(which & 3);
        let (own, peer) = (usize::from(which >> 2 & 1), usize::from(!which >> 2 & 1));
        // Mostly near, at times far away.
        let distance = u32::from(delta).wrapping_sub(128) << (scale % 28);
        let sequence = sequences[pair][own].wrapping_add(distance);
        let bytes = u32::from(length) << (scale >> 6);
        sequences[pair][own] = sequence.wrapping_add(bytes);
        let acknowledgment = sequences[pair][peer].wrapping_add(u32::from(acknowledged) << 2);
        let end = |last: usize| SocketAddr::from(([10, 0, 0, last as u8], 80 + pair as u16));
        Scripted {
            ends: [end(own), end(peer)],
            sequence,
            acknowledgment: acknowledgment.wrapping_sub(500),
            flags: Flags(flags),
            bytes,
            captured: (bytes as usize).saturating_sub(usize::from(cut >> 5)),
            step_ns: u64::from(step) << 24,
        }
    }

    fn payload(&self) -> Vec<u8> {
        let syn = u32::from(self.flags.has(Flags::SYN));
        let begin = self.sequence.wrapping_add(syn);
        let byte = |at: usize| begin.wrapping_add(at as u32) as u8;
        (0..self.captured).map(byte).collect()
    }

    fn packet<'a>(&self, number: u64, payload: &'a [u8]) -> Packet<'a> {
        Packet {
            number,
            at_ns: number * 1_000_000 + self.step_ns,
            wire_bytes: 54 + self.bytes,
            link_header_bytes: 14,
            ip_header_bytes: 20,
            tcp_header_bytes: 20,
            source: self.ends[0],
            destination: self.ends[1],
            sequence: self.sequence,
            acknowledgment: self.acknowledgment,
            flags: self.flags,
            window: self.bytes as u16,
            identification: None,
            options: payload,
            payload_bytes: self.bytes,
            payload,
        }
    }
}

/// Holds what is told against what was promised.
#[derive(Debug, Default)]
struct Checker {
    open: HashMap<FlowId, [u64; 2]>,
    last_packet: u64,
}

impl Checker {
    fn reaches(&mut self, flow: FlowId, direction: Direction, from: u64, bytes: u64) {
        assert!(bytes > 0, "empty news");
        let ends = self.open.get_mut(&flow).expect("an open connection");
        let end = &mut ends[direction as usize];
        assert_eq!(*end, from, "bytes and gaps go on where the last ended");
        *end += bytes;
    }

    fn ended(&self) {
        assert!(self.open.is_empty(), "connections that were not closed");
    }
}

impl Observer for Checker {
    fn opened(&mut self, flow: FlowId, _opening: &Opening) {
        assert!(self.open.insert(flow, [0; 2]).is_none());
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        assert!(self.open.contains_key(&flow));
        assert!(
            self.last_packet < segment.packet,
            "in the order of the capture"
        );
        self.last_packet = segment.packet;
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], carrier: &Segment) {
        self.reaches(flow, carrier.direction, offset, bytes.len() as u64);
        assert!(offset + bytes.len() as u64 <= carrier.end());
        assert!(carrier.packet <= self.last_packet);
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.reaches(flow, direction, offset, bytes);
    }

    fn closed(&mut self, flow: FlowId, _at_ns: u64, _closing: Closing) {
        assert!(self.open.remove(&flow).is_some());
    }
}
