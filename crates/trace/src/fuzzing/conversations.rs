//! Conversations of one connection, dissected and diagnosed.

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::Summary;
use crate::diagnosis::Diagnosis;
use crate::dissection::{Dissector, Options};
use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use crate::flow::{Flows, Limits};
use crate::packet::{Flags, Packet};
use crate::protocol::exchange::{Exchange, Exchanges, Unit};
use crate::protocol::layer::Layer;

/// What both sides say: every piece is an action, a length and that many bytes.
/// Every byte has one layer, every call ends, and the findings can be printed.
pub fn fuzz_conversations(data: &[u8]) {
    for from_syn in [true, false] {
        let mut dissector = Dissector::new(Options::default(), Watch::default());
        let mut tape = Tape::new(&mut dissector);
        if from_syn {
            tape.handshake();
        }
        let mut rest = data;
        while let [action, length, after @ ..] = rest {
            let (words, behind) = after.split_at(usize::from(*length).min(after.len()));
            rest = behind;
            tape.act(*action, words);
        }
        tape.flows.finish(&mut dissector);
        let (dissection, watch) = dissector.finish("fuzz", &Summary::default());
        assert_eq!(watch.bytes, watch.layers, "every byte has one layer");
        assert_eq!(watch.begun, watch.concluded, "every call ends");
        assert!(watch.open.is_empty());
        let findings = watch.diagnosis.findings();
        serde_json::to_string(&(dissection, findings)).expect("plain data");
    }
}

/// Makes packets of actions.
struct Tape<'a> {
    flows: Flows,
    dissector: &'a mut Dissector<Watch>,
    number: u64,
    next: [u32; 2],
    snap: usize,
}

impl<'a> Tape<'a> {
    fn new(dissector: &'a mut Dissector<Watch>) -> Tape<'a> {
        Tape {
            flows: Flows::new(Limits::default()),
            dissector,
            number: 0,
            next: [u32::MAX - 50, 7_000],
            snap: usize::MAX,
        }
    }

    fn handshake(&mut self) {
        self.next = self.next.map(|next| next.wrapping_sub(1));
        self.put(0, Flags::SYN, b"");
        self.next[0] = self.next[0].wrapping_add(1);
        self.put(1, Flags(Flags::SYN.0 | Flags::ACK.0), b"");
        self.next[1] = self.next[1].wrapping_add(1);
    }

    /// The lowest bit is the side, the next three what it does, the rest how.
    fn act(&mut self, action: u8, words: &[u8]) {
        let side = usize::from(action & 1);
        let how = usize::from(action >> 4);
        match action >> 1 & 7 {
            0..=2 => self.say(side, words, true),
            3 => words
                .chunks(how + 1)
                .for_each(|piece| self.say(side, piece, true)),
            4 => self.say(side, words, false),
            5 => self.put(side, Flags::ACK, words),
            6 if how < 8 => self.put(side, Flags(Flags::FIN.0 | Flags::ACK.0), b""),
            6 => self.put(side, Flags::RST, b""),
            _ => self.snap = how * how,
        }
    }

    fn say(&mut self, side: usize, words: &[u8], is_captured: bool) {
        if is_captured {
            self.put(side, Flags::ACK, words);
        }
        self.next[side] = self.next[side].wrapping_add(words.len() as u32);
    }

    fn put(&mut self, side: usize, flags: Flags, payload: &[u8]) {
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

/// Counts, and diagnoses.
#[derive(Debug, Default)]
struct Watch {
    diagnosis: Diagnosis,
    open: HashMap<FlowId, u64>,
    bytes: u64,
    layers: u64,
    begun: u64,
    concluded: u64,
}

impl Observer for Watch {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        self.open.insert(flow, 0);
        self.diagnosis.opened(flow, opening);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.diagnosis.segment(flow, segment);
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], carrier: &Segment) {
        self.bytes += bytes.len() as u64;
        self.diagnosis.bytes(flow, offset, bytes, carrier);
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.diagnosis.gap(flow, direction, offset, bytes);
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        self.open.remove(&flow);
        self.diagnosis.closed(flow, at_ns, closing);
    }
}

impl Exchanges for Watch {
    fn exchange(&mut self, exchange: &Exchange) {
        assert!(self.open.contains_key(&exchange.flow));
        if let Some(reply) = &exchange.reply {
            assert!(reply.segments > 0 && reply.start <= reply.end);
        }
        self.diagnosis.exchange(exchange);
    }

    fn begun(&mut self, flow: FlowId, carrier: &Segment) {
        self.begun += 1;
        self.diagnosis.begun(flow, carrier);
    }

    fn concluded(&mut self, flow: FlowId, ordinal: u64) {
        self.concluded += 1;
        self.diagnosis.concluded(flow, ordinal);
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, carrier: &Segment) {
        self.layers += u64::from(bytes);
        self.diagnosis.layer(flow, layer, bytes, carrier);
    }

    fn unit(&mut self, flow: FlowId, unit: Unit, carrier: &Segment) {
        self.diagnosis.unit(flow, unit, carrier);
    }
}
