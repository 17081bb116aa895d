//! One connection, packet by packet, and what a dissection says of it.

use std::collections::BTreeMap;

use wirelab_trace::Summary;
use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use wirelab_trace::flow::{Flows, Limits};
use wirelab_trace::output::{Dissection, Dissector, Options};
use wirelab_trace::packet::{Flags, Packet};
use wirelab_trace::protocol::exchange::{Ending, Exchange, ExchangeObserver, Pdu};
use wirelab_trace::protocol::layer::{Kind, Layer};
use wirelab_trace::protocol::tls::keylog::KeyLog;

pub const C: Direction = Direction::Request;
pub const S: Direction = Direction::Reply;

/// Nanoseconds between packets unless the test says otherwise.
const STEP_NS: u64 = 100_000;

/// A packet to be dissected.
#[derive(Debug, Clone)]
struct Sent {
    direction: Direction,
    port: u16,
    at_ns: u64,
    sequence: u32,
    acknowledgment: u32,
    flags: Flags,
    payload: Vec<u8>,
    /// Captured bytes of the payload.
    snap: usize,
}

/// Packets of connections, one connection after the other.
#[derive(Debug, Clone)]
pub struct PacketBuilder {
    sent: Vec<Sent>,
    now_ns: u64,
    port: u16,
    next: [u32; 2],
    snap: usize,
    /// Secrets to dissect with.
    key_log: String,
}

impl PacketBuilder {
    /// A connection that is seen from its middle.
    pub fn middle() -> PacketBuilder {
        PacketBuilder {
            sent: Vec::new(),
            now_ns: 1_000_000_000,
            port: 40_000,
            // Sequence numbers that differ by side, so that a mix-up is seen.
            next: [1_000_001, 5_000_001],
            snap: usize::MAX,
            key_log: String::new(),
        }
    }

    /// A connection with its handshake.
    pub fn new() -> PacketBuilder {
        let mut builder = PacketBuilder::middle();
        builder.handshake();
        builder
    }

    /// A capture that holds only what that side sends.
    pub fn new_one_way(side: Direction) -> PacketBuilder {
        let mut builder = PacketBuilder::new();
        builder.only(side);
        builder
    }

    /// Of this connection the capture holds only what that side has sent so far.
    pub fn only(&mut self, side: Direction) -> &mut PacketBuilder {
        let port = self.port;
        let keep = |sent: &Sent| sent.port != port || sent.direction == side;
        self.sent.retain(keep);
        self
    }

    /// Another connection, of which nothing comes but its SYN.
    pub fn syn_without_answer(&mut self) -> &mut PacketBuilder {
        self.port += 1;
        self.put(C, Flags::SYN, b"");
        self
    }

    fn handshake(&mut self) {
        let next = self.next;
        self.next = next.map(|number| number - 1);
        self.put(C, Flags::SYN, b"");
        self.next[0] = next[0];
        self.put(S, Flags(Flags::SYN.0 | Flags::ACK.0), b"");
        self.next = next;
        self.ack(C);
    }

    /// Another connection.
    pub fn next_connection(&mut self) -> &mut PacketBuilder {
        self.port += 1;
        self.handshake();
        self
    }

    fn put(&mut self, direction: Direction, flags: Flags, payload: &[u8]) {
        self.now_ns += STEP_NS;
        let [own, others] = match direction {
            C => self.next,
            S => [self.next[1], self.next[0]],
        };
        self.sent.push(Sent {
            direction,
            port: self.port,
            at_ns: self.now_ns,
            sequence: own,
            acknowledgment: others,
            flags,
            payload: payload.to_vec(),
            snap: self.snap.min(payload.len()),
        });
    }

    /// Time passes, microseconds, before the next packet.
    pub fn wait(&mut self, us: u64) -> &mut PacketBuilder {
        self.now_ns += us * 1_000;
        self
    }

    /// TLS is dissected with these secrets.
    pub fn key_log(&mut self, text: &str) -> &mut PacketBuilder {
        text.clone_into(&mut self.key_log);
        self
    }

    /// Offset in its stream of the next byte that a side sends.
    pub fn offset(&self, direction: Direction) -> u64 {
        let first = PacketBuilder::middle().next[direction as usize];
        u64::from(self.next[direction as usize] - first)
    }

    /// One segment.
    pub fn send(&mut self, direction: Direction, payload: &[u8]) -> &mut PacketBuilder {
        self.put(direction, Flags(Flags::ACK.0 | Flags::PSH.0), payload);
        let place = direction as usize;
        self.next[place] = self.next[place].wrapping_add(payload.len() as u32);
        self
    }

    /// One segment with FIN, the last of its side.
    pub fn send_last(&mut self, direction: Direction, payload: &[u8]) -> &mut PacketBuilder {
        self.send(direction, payload);
        let last = self.sent.last_mut().expect("a packet");
        last.flags = Flags(last.flags.0 | Flags::FIN.0);
        self.next[direction as usize] += 1;
        self
    }

    /// The last two segments were captured the other way round.
    pub fn swap(&mut self) -> &mut PacketBuilder {
        let [.., before, last] = &mut self.sent[..] else {
            panic!("two packets");
        };
        std::mem::swap(before, last);
        std::mem::swap(&mut before.at_ns, &mut last.at_ns);
        self
    }

    /// Many segments of that number of bytes.
    pub fn pieces(
        &mut self,
        direction: Direction,
        payload: &[u8],
        size: usize,
    ) -> &mut PacketBuilder {
        for piece in payload.chunks(size.max(1)) {
            self.send(direction, piece);
        }
        self
    }

    /// The last segment again.
    pub fn repeat(&mut self) -> &mut PacketBuilder {
        self.now_ns += STEP_NS;
        let mut last = self.sent.last().expect("a packet").clone();
        last.at_ns = self.now_ns;
        self.sent.push(last);
        self
    }

    /// A segment that the capture lacks.
    pub fn lose(&mut self, direction: Direction, payload: &[u8]) -> &mut PacketBuilder {
        self.send(direction, payload);
        self.sent.pop();
        self
    }

    /// Later packets hold that number of bytes of payload at most.
    pub fn snap(&mut self, bytes: usize) -> &mut PacketBuilder {
        self.snap = bytes;
        self
    }

    pub fn ack(&mut self, direction: Direction) -> &mut PacketBuilder {
        self.put(direction, Flags::ACK, b"");
        self
    }

    pub fn fin(&mut self, direction: Direction) -> &mut PacketBuilder {
        self.put(direction, Flags(Flags::FIN.0 | Flags::ACK.0), b"");
        self.next[direction as usize] += 1;
        self
    }

    /// FIN of both sides, that one first, and the acknowledgments.
    pub fn close(&mut self, first: Direction) -> &mut PacketBuilder {
        self.fin(first).fin(first.opposite()).ack(first)
    }

    pub fn reset(&mut self, direction: Direction) -> &mut PacketBuilder {
        self.put(direction, Flags::RST, b"");
        self
    }

    pub fn dissect(&self) -> Dissected {
        self.dissect_with(Options::default())
    }

    /// Dissects it, and checks that the books balance.
    pub fn dissect_with(&self, options: Options) -> Dissected {
        let (dissection, events) = self.dissect_for(options, RecordedEvents::default());
        let dissected = Dissected { dissection, events };
        dissected.check();
        dissected
    }

    /// Dissects it, and adds the findings and the account of time.
    pub fn diagnose(&self) -> Dissection {
        self.diagnose_with(Options::default(), Diagnosis::default())
    }

    pub fn diagnose_with(&self, options: Options, diagnosis: Diagnosis) -> Dissection {
        let (mut dissection, diagnosis) = self.dissect_for(options, diagnosis);
        let _times = dissection.add_diagnosis(diagnosis);
        dissection
    }

    fn dissect_for<L: Observer + ExchangeObserver>(
        &self,
        options: Options,
        listener: L,
    ) -> (Dissection, L) {
        let keys = KeyLog::read(self.key_log.as_bytes()).expect("memory");
        let mut dissector = Dissector::new(options, listener).with_keys(keys);
        let mut flows = Flows::new(Limits::default());
        let mut summary = Summary::default();
        for (sent, number) in self.sent.iter().zip(1..) {
            let client = ([10, 0, 0, 1], sent.port).into();
            let server = ([10, 0, 0, 2], 80).into();
            let (source, destination) = match sent.direction {
                C => (client, server),
                S => (server, client),
            };
            summary.tcp_packets += 1;
            let packet = Packet {
                number,
                at_ns: sent.at_ns,
                // Ethernet, IPv4 and TCP without options: 14 + 20 + 20 bytes.
                wire_bytes: 54 + sent.payload.len() as u32,
                link_header_bytes: 14,
                ip_header_bytes: 20,
                tcp_header_bytes: 20,
                identification: None,
                network: 0,
                way: 0,
                source,
                destination,
                sequence: sent.sequence,
                acknowledgment: sent.acknowledgment,
                flags: sent.flags,
                window: 60_000,
                options: &[],
                payload_bytes: sent.payload.len() as u32,
                payload: &sent.payload[..sent.snap],
            };
            flows.packet(&packet, &mut dissector);
        }
        flows.finish(&mut dissector);
        dissector.finish("builder", &summary)
    }
}

/// All recorded events.
#[derive(Debug, Default)]
pub struct RecordedEvents {
    pub exchanges: Vec<Exchange>,
    pub units: Vec<Pdu>,
    /// By packet: its layers in order, the same ones in a row together.
    pub layers: BTreeMap<u64, Vec<(Layer, u32)>>,
    /// By packet: payload bytes that are new to its stream.
    fresh: BTreeMap<u64, u64>,
    in_flight: i64,
}

#[derive(Debug)]
pub struct Dissected {
    pub dissection: Dissection,
    pub events: RecordedEvents,
}

impl Dissected {
    pub fn exchange(&self) -> &Exchange {
        assert_eq!(
            self.events.exchanges.len(),
            1,
            "{:#?}",
            self.events.exchanges
        );
        &self.events.exchanges[0]
    }

    pub fn names(&self) -> Vec<&str> {
        let exchanges = self.events.exchanges.iter();
        exchanges.map(|exchange| &*exchange.name).collect()
    }

    /// Payload bytes of a kind, both directions.
    pub fn bytes(&self, kind: Kind) -> u64 {
        let layers = self.events.layers.values().flatten();
        let own = layers.filter(|(layer, _)| layer.kind == kind);
        own.map(|(_, bytes)| u64::from(*bytes)).sum()
    }

    /// Every byte that was handed out has one layer, packet by packet; the sums
    /// of the document are those of the packets.
    fn check(&self) {
        for (packet, fresh) in &self.events.fresh {
            let layers = self.events.layers.get(packet);
            let sum: u64 = layers
                .into_iter()
                .flatten()
                .map(|(_, n)| u64::from(*n))
                .sum();
            assert_eq!(sum, *fresh, "packet {packet}: {layers:?}");
        }
        assert!(
            self.events
                .layers
                .keys()
                .all(|packet| self.events.fresh.contains_key(packet))
        );
        let accounting = &self.dissection.accounting;
        for direction in [&accounting.request, &accounting.reply, &accounting.total] {
            let payload = &direction.payload;
            let sum = payload.overhead_bytes
                + payload.message_bytes
                + payload.encrypted_bytes
                + payload.unknown_bytes
                + payload.retransmitted_bytes
                + payload.unread_bytes;
            assert_eq!(sum, direction.all.packets.payload_bytes, "{payload:?}");
            assert_eq!(
                payload.overhead.values().sum::<u64>(),
                payload.overhead_bytes
            );
            let both = direction.pure_tcp.packets.packets + direction.data.packets.packets;
            assert_eq!(both, direction.all.packets.packets);
        }
        // `call_started` and `call_ended` come in pairs; the load meter relies on it.
        assert_eq!(self.events.in_flight, 0, "every call that began is over");
        assert_eq!(
            self.dissection.exchanges.count,
            self.events.exchanges.len() as u64
        );
    }
}

impl Observer for RecordedEvents {
    fn opened(&mut self, _: FlowId, _: &Opening) {}
    fn segment(&mut self, _: FlowId, _: &Segment) {}

    fn bytes(&mut self, _: FlowId, _: u64, bytes: &[u8], segment: &Segment) {
        *self.fresh.entry(segment.packet).or_default() += bytes.len() as u64;
    }

    fn gap(&mut self, _: FlowId, _: Direction, _: u64, _: u64) {}
    fn closed(&mut self, _: FlowId, _: u64, _: Closing) {}
}

impl ExchangeObserver for RecordedEvents {
    fn exchange(&mut self, exchange: &Exchange) {
        self.exchanges.push(exchange.clone());
    }

    fn call_started(&mut self, _: FlowId, _: &Segment) {
        self.in_flight += 1;
    }

    fn call_ended(&mut self, _: FlowId, _: u64, _: Ending) {
        self.in_flight -= 1;
    }

    fn layer(&mut self, _: FlowId, layer: Layer, bytes: u32, segment: &Segment) {
        assert!(bytes > 0);
        let layers = self.layers.entry(segment.packet).or_default();
        match layers.last_mut() {
            Some((last, sum)) if *last == layer => *sum += bytes,
            _ => layers.push((layer, bytes)),
        }
    }

    fn pdu(&mut self, _: FlowId, pdu: Pdu, _: &Segment) {
        self.units.push(pdu);
    }
}
