//! What fuzzers feed: any bytes as a capture, any segments as connections, and any
//! words as conversations. None may panic or hang, and all must hold what [`Observer`]
//! promises.
//!
//! Not for users of this crate; `tests/fuzz` and `/fuzz` call it.

mod tls;

use std::collections::HashMap;
use std::net::SocketAddr;

pub use tls::fuzz_tls;

use crate::diagnosis::Diagnosis;
use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use crate::flow::{Flows, Limits};
use crate::output::{Dissection, Dissector, Options};
use crate::packet::{Flags, Packet};
use crate::protocol::exchange::{
    ContinueWait, Ending, Exchange, ExchangeObserver, Pdu, StreamBytes, StreamMessage,
};
use crate::protocol::layer::Layer;
use crate::read::{Summary, read, read_within};

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
    // Whether a file can be read must not depend on the limits of memory.
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
        for (number, bytes) in (1..).zip(data.as_chunks::<8>().0) {
            // Numbers relative to the last ones: independent random numbers lie nearly
            // always so far apart that reassembly is never reached.
            let segment = FuzzedSegment::new(bytes, &mut sequences);
            let payload = segment.payload();
            flows.packet(&segment.packet(number, &payload), &mut checker);
        }
        let counts = flows.finish(&mut checker);
        checker.ended();
        // Each byte is delivered once; retransmissions are payload only.
        assert!(counts.stream_bytes <= counts.payload_bytes);
    }
}

struct FuzzedSegment {
    ends: [SocketAddr; 2],
    sequence: u32,
    acknowledgment: u32,
    flags: Flags,
    bytes: u32,
    captured: usize,
    step_ns: u64,
}

impl FuzzedSegment {
    fn new(bytes: &[u8; 8], sequences: &mut [[u32; 2]; 4]) -> FuzzedSegment {
        let [which, flags, length, cut, delta, scale, acknowledged, step] = *bytes;
        let pair = usize::from(which & 3);
        let (own, peer) = (usize::from(which >> 2 & 1), usize::from(!which >> 2 & 1));
        // Mostly near, at times far away.
        let distance = u32::from(delta).wrapping_sub(128) << (scale % 28);
        let sequence = sequences[pair][own].wrapping_add(distance);
        let payload_bytes = u32::from(length) << (scale >> 6);
        sequences[pair][own] = sequence.wrapping_add(payload_bytes);
        let acknowledgment = sequences[pair][peer].wrapping_add(u32::from(acknowledged) << 2);
        let end = |last: usize| SocketAddr::from(([10, 0, 0, last as u8], 80 + pair as u16));
        FuzzedSegment {
            ends: [end(own), end(peer)],
            sequence,
            acknowledgment: acknowledgment.wrapping_sub(500),
            flags: Flags(flags),
            bytes: payload_bytes,
            captured: (payload_bytes as usize).saturating_sub(usize::from(cut >> 5)),
            step_ns: u64::from(step) << 24,
        }
    }

    fn payload(&self) -> Vec<u8> {
        let syn = u32::from(self.flags.has(Flags::SYN));
        let begin = self.sequence.wrapping_add(syn);
        // The content follows from the sequence number: what is sent again is the same.
        let byte = |at: usize| begin.wrapping_add(at as u32) as u8;
        (0..self.captured).map(byte).collect()
    }

    fn packet<'a>(&self, number: u64, payload: &'a [u8]) -> Packet<'a> {
        Packet {
            number,
            at_ns: number * 1_000_000 + self.step_ns,
            // Ethernet, IPv4 and TCP without options: 14 + 20 + 20 bytes.
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
            network: 0,
            way: 0,
            options: payload,
            payload_bytes: self.bytes,
            payload,
        }
    }
}

/// Compares the events with what [`Observer`] promises.
#[derive(Debug, Default)]
struct Checker {
    open: HashMap<FlowId, [u64; 2]>,
    last_packet: u64,
}

impl Checker {
    fn advance(&mut self, flow: FlowId, direction: Direction, from: u64, bytes: u64) {
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

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment) {
        self.advance(flow, segment.direction, offset, bytes.len() as u64);
        assert!(offset + bytes.len() as u64 <= segment.end());
        assert!(segment.packet <= self.last_packet);
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.advance(flow, direction, offset, bytes);
    }

    fn closed(&mut self, flow: FlowId, _at_ns: u64, _closing: Closing) {
        assert!(self.open.remove(&flow).is_some());
    }
}

/// What both sides say: every piece is an action, a length and that many bytes.
/// Every byte has one layer, every call ends, and the findings can be printed.
pub fn fuzz_conversations(data: &[u8]) {
    for from_syn in [true, false] {
        let mut dissector = Dissector::new(Options::default(), DiagnosedCounts::default());
        let mut builder = PacketBuilder::new(&mut dissector);
        if from_syn {
            builder.handshake();
        }
        let mut rest = data;
        while let [action, length, after @ ..] = rest {
            let (payload, behind) = after.split_at(usize::from(*length).min(after.len()));
            rest = behind;
            builder.apply(*action, payload);
        }
        builder.flows.finish(&mut dissector);
        balance(dissector);
    }
}

fn balance(dissector: Dissector<DiagnosedCounts>) -> Dissection {
    let (dissection, counts) = dissector.finish("fuzz", &Summary::default());
    assert_eq!(counts.bytes, counts.layers, "every byte has one layer");
    assert_eq!(counts.started, counts.ended, "every call ends");
    assert!(counts.open.is_empty());
    let results = counts.diagnosis.results();
    let tail = results.tail.expect("it was asked for");
    for one in tail.slowest() {
        assert_eq!(one.parts.total(), one.elapsed_ns, "parts add up");
        assert!((1..=counts.started).contains(&one.number));
    }
    let messages = results.messages.expect("they were asked for");
    assert_eq!(
        messages.count(),
        counts.messages,
        "every message is counted"
    );
    for one in messages.slowest() {
        assert_eq!(one.parts.total(), one.elapsed_ns, "parts add up");
    }
    serde_json::to_string(&(&dissection, results.findings)).expect("plain data");
    dissection
}

struct PacketBuilder<'a> {
    flows: Flows,
    dissector: &'a mut Dissector<DiagnosedCounts>,
    number: u64,
    next: [u32; 2],
    snap: usize,
}

impl<'a> PacketBuilder<'a> {
    fn new(dissector: &'a mut Dissector<DiagnosedCounts>) -> PacketBuilder<'a> {
        PacketBuilder {
            flows: Flows::new(Limits::default()),
            dissector,
            number: 0,
            // The client's sequence numbers wrap within the first messages.
            next: [u32::MAX - 50, 7_000],
            snap: usize::MAX,
        }
    }

    fn handshake(&mut self) {
        self.next = self.next.map(|next| next.wrapping_sub(1));
        self.push(0, Flags::SYN, b"");
        self.next[0] = self.next[0].wrapping_add(1);
        self.push(1, Flags(Flags::SYN.0 | Flags::ACK.0), b"");
        self.next[1] = self.next[1].wrapping_add(1);
    }

    /// The lowest bit is the side, the next three what it does, the rest how.
    fn apply(&mut self, action: u8, payload: &[u8]) {
        let side = usize::from(action & 1);
        let how = usize::from(action >> 4);
        match action >> 1 & 7 {
            0..=2 => self.send(side, payload, true),
            3 => payload
                .chunks(how + 1)
                .for_each(|piece| self.send(side, piece, true)),
            4 => self.send(side, payload, false),
            5 => self.push(side, Flags::ACK, payload),
            6 if how < 8 => self.push(side, Flags(Flags::FIN.0 | Flags::ACK.0), b""),
            6 => self.push(side, Flags::RST, b""),
            _ => self.snap = how * how,
        }
    }

    fn send(&mut self, side: usize, payload: &[u8], is_captured: bool) {
        if is_captured {
            self.push(side, Flags::ACK, payload);
        }
        self.next[side] = self.next[side].wrapping_add(payload.len() as u32);
    }

    fn push(&mut self, side: usize, flags: Flags, payload: &[u8]) {
        self.number += 1;
        let ends: [SocketAddr; 2] = [1, 2].map(|last| ([10, 0, 0, last], 4_000).into());
        let packet = Packet {
            number: self.number,
            at_ns: self.number * 1_000_000,
            wire_bytes: 54 + payload.len() as u32,
            link_header_bytes: 14,
            ip_header_bytes: 20,
            tcp_header_bytes: 20,
            identification: None,
            network: 0,
            way: 0,
            source: ends[side],
            destination: ends[1 - side],
            sequence: self.next[side],
            acknowledgment: self.next[1 - side],
            flags,
            window: 60_000,
            options: &[],
            payload_bytes: payload.len() as u32,
            payload: &payload[..payload.len().min(self.snap)],
        };
        self.flows.packet(&packet, self.dissector);
    }
}

#[derive(Debug)]
struct DiagnosedCounts {
    diagnosis: Diagnosis,
    open: HashMap<FlowId, u64>,
    bytes: u64,
    layers: u64,
    started: u64,
    ended: u64,
    messages: u64,
}

impl Default for DiagnosedCounts {
    fn default() -> Self {
        DiagnosedCounts {
            diagnosis: Diagnosis::default().with_slowest(3).with_messages(3),
            open: HashMap::new(),
            bytes: 0,
            layers: 0,
            started: 0,
            ended: 0,
            messages: 0,
        }
    }
}

impl Observer for DiagnosedCounts {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        self.open.insert(flow, 0);
        self.diagnosis.opened(flow, opening);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.diagnosis.segment(flow, segment);
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment) {
        self.bytes += bytes.len() as u64;
        self.diagnosis.bytes(flow, offset, bytes, segment);
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.diagnosis.gap(flow, direction, offset, bytes);
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        self.open.remove(&flow);
        self.diagnosis.closed(flow, at_ns, closing);
    }
}

impl ExchangeObserver for DiagnosedCounts {
    fn exchange(&mut self, exchange: &Exchange) {
        assert!(self.open.contains_key(&exchange.flow));
        if let Some(reply) = &exchange.reply {
            assert!(reply.segments > 0 && reply.start <= reply.end);
        }
        self.diagnosis.exchange(exchange);
    }

    fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        self.started += 1;
        self.diagnosis.call_started(flow, segment);
    }

    fn continue_waited(&mut self, flow: FlowId, wait: ContinueWait) {
        assert!(wait.from_ns > 0 && wait.packets[0] < wait.packets[1]);
        self.diagnosis.continue_waited(flow, wait);
    }

    fn call_ended(&mut self, flow: FlowId, ordinal: u64, ending: Ending) {
        self.ended += 1;
        self.diagnosis.call_ended(flow, ordinal, ending);
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, segment: &Segment) {
        self.layers += u64::from(bytes);
        self.diagnosis.layer(flow, layer, bytes, segment);
    }

    fn stream_bytes(&mut self, flow: FlowId, bytes: StreamBytes) {
        assert!(bytes.start < bytes.end);
        self.diagnosis.stream_bytes(flow, bytes);
    }

    fn message(&mut self, message: &StreamMessage) {
        let extent = &message.extent;
        assert!(extent.segments > 0 && extent.start < extent.end);
        assert!(extent.first_packet <= message.readable.0);
        self.messages += 1;
        self.diagnosis.message(message);
    }

    fn pdu(&mut self, flow: FlowId, pdu: Pdu, segment: &Segment) {
        self.diagnosis.pdu(flow, pdu, segment);
    }
}
