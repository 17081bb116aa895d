//! Hand-written events for tests: a conversation, packet by packet.

use crate::diagnosis::{Diagnosis, Finding};
use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::exchange::{Ending, Exchange, ExchangeObserver, Extent, Pdu, Protocol};

pub(crate) fn acknowledgment(at: u64, acknowledged: u64, window: u64) -> Segment {
    Segment {
        packet: at,
        acknowledged,
        window,
        ..blank(at, Direction::Reply)
    }
}

fn blank(at_ns: u64, direction: Direction) -> Segment {
    Segment {
        packet: 0,
        at_ns,
        direction,
        kind: SegmentKind::Acknowledgment,
        flags: Flags::ACK,
        offset: 0,
        bytes: 0,
        acknowledged: 0,
        window: 65_536,
        header_bytes: 66,
        link_header_bytes: 14,
        ip_header_bytes: 20,
        identification: None,
        reports_duplicate: false,
        options_cut: false,
        mss: None,
    }
}

/// The events of one flow, as a diagnosis gets them. Times are microseconds.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) diagnosis: Diagnosis,
    pub(crate) flow: FlowId,
    pub(crate) us: u64,
    packet: u64,
    sent: [u64; 2],
    acknowledged: [u64; 2],
    window: [u64; 2],
    ordinal: u64,
    hidden: [bool; 2],
    between: [u32; 2],
    numbers: Option<[u16; 2]>,
    duplicate: bool,
    options_cut: bool,
    is_stream: bool,
}

pub(crate) const C: Direction = Direction::Request;
pub(crate) const S: Direction = Direction::Reply;

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline {
            diagnosis: Diagnosis::new(1000),
            flow: 0,
            us: 1_000,
            packet: 0,
            sent: [0; 2],
            acknowledged: [0; 2],
            window: [1 << 20; 2],
            ordinal: 0,
            hidden: [false; 2],
            between: [0; 2],
            numbers: None,
            duplicate: false,
            options_cut: false,
            is_stream: false,
        }
    }

    /// The replies from here on are streams of messages.
    pub(crate) fn streams(&mut self) -> &mut Self {
        self.is_stream = true;
        self
    }

    /// Opens a connection with that time from the capture to the server and to the
    /// client, and back.
    pub(crate) fn open(&mut self, to_server_us: u64, to_client_us: u64) -> &mut Self {
        self.opening(true);
        self.handshake(C, Flags::SYN, 0);
        self.handshake(S, Flags(Flags::SYN.0 | Flags::ACK.0), to_server_us);
        self.ack(C, to_client_us)
    }

    pub(crate) fn opening(&mut self, from_syn: bool) -> &mut Self {
        let opening = Opening {
            client: "10.0.0.1:40000".parse().expect("an address"),
            server: "10.0.0.2:80".parse().expect("an address"),
            at_ns: 0,
            from_syn,
            // Ethernet's MTU of 1500 less 40 bytes of headers.
            mss: [Some(1460); 2],
        };
        (self.sent, self.acknowledged, self.ordinal) = ([0; 2], [0; 2], 0);
        self.diagnosis.opened(self.flow, &opening);
        self
    }

    pub(crate) fn handshake(&mut self, side: Direction, flags: Flags, after_us: u64) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Open;
        segment.flags = flags;
        segment.options_cut = self.options_cut;
        self.observe(segment)
    }

    /// A SYN, or its answer, sent a second time.
    pub(crate) fn handshake_again(
        &mut self,
        side: Direction,
        flags: Flags,
        after_us: u64,
    ) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Retransmission;
        segment.flags = flags;
        self.observe(segment)
    }

    pub(crate) fn reset(&mut self, side: Direction, after_us: u64) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Reset;
        segment.flags = Flags::RST;
        self.observe(segment)
    }

    pub(crate) fn hide(&mut self, side: Direction) -> &mut Self {
        self.hidden[side as usize] = true;
        self
    }

    pub(crate) fn cut_options(&mut self) -> &mut Self {
        self.options_cut = true;
        self
    }

    pub(crate) fn number_packets(&mut self) -> &mut Self {
        self.numbers = Some([7_000; 2]);
        self
    }

    pub(crate) fn skip(&mut self, side: Direction, packets: u16) -> &mut Self {
        if let Some(numbers) = &mut self.numbers {
            let number = &mut numbers[side as usize];
            *number = number.wrapping_add(packets);
        }
        self
    }

    /// The next packet reports bytes that came twice.
    pub(crate) fn reports_duplicate(&mut self) -> &mut Self {
        self.duplicate = true;
        self
    }

    /// The side offers a window from here on.
    pub(crate) fn window(&mut self, side: Direction, bytes: u64) -> &mut Self {
        self.window[side as usize] = bytes;
        self
    }

    fn blank(&mut self, side: Direction, after_us: u64) -> Segment {
        self.us += after_us;
        // Hidden packets are counted, too, so that numbers in assertions do not depend
        // on what is hidden.
        self.packet += 1;
        let mut segment = blank(self.us * 1_000, side);
        segment.packet = self.packet;
        segment.offset = self.sent[side as usize];
        segment.acknowledged = self.acknowledged[side as usize];
        segment.window = self.window[side as usize];
        segment.reports_duplicate = std::mem::take(&mut self.duplicate);
        segment.identification = self.numbers.map(|numbers| numbers[side as usize]);
        self.skip(side, 1);
        segment
    }

    fn observe(&mut self, segment: Segment) -> &mut Self {
        if !self.hidden[segment.direction as usize] {
            self.diagnosis.segment(self.flow, &segment);
        }
        self
    }

    pub(crate) fn ack(&mut self, side: Direction, after_us: u64) -> &mut Self {
        // As kernels do: each packet acknowledges all that has come.
        self.acknowledged[side as usize] = self.sent[side.opposite() as usize];
        let segment = self.blank(side, after_us);
        self.observe(segment)
    }

    pub(crate) fn ack_only(&mut self, side: Direction, below: u64, after_us: u64) -> &mut Self {
        self.acknowledged[side as usize] = below;
        let segment = self.blank(side, after_us);
        self.observe(segment)
    }

    /// Payload with an acknowledgment of all.
    pub(crate) fn data(&mut self, side: Direction, bytes: u32, after_us: u64) -> &mut Self {
        self.acknowledged[side as usize] = self.sent[side.opposite() as usize];
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Data;
        segment.bytes = bytes;
        self.sent[side as usize] += u64::from(bytes);
        self.observe(segment)
    }

    /// A control frame of HTTP/2 in a packet of its own, between the frames of a message.
    pub(crate) fn control(&mut self, side: Direction, bytes: u32, after_us: u64) -> &mut Self {
        self.between[side as usize] += bytes;
        self.data(side, bytes, after_us)
    }

    /// Several full segments, 10 us apart.
    pub(crate) fn burst(&mut self, side: Direction, segments: u32, after_us: u64) -> &mut Self {
        for place in 0..segments {
            // 1460 less the timestamps option.
            self.data(side, 1448, if place == 0 { after_us } else { 10 });
        }
        self
    }

    /// Payload that the network loses before the capture.
    pub(crate) fn lose(&mut self, side: Direction, bytes: u32) -> &mut Self {
        self.sent[side as usize] += u64::from(bytes);
        self
    }

    pub(crate) fn retransmit(
        &mut self,
        side: Direction,
        offset: u64,
        bytes: u32,
        after_us: u64,
    ) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Retransmission;
        segment.offset = offset;
        segment.bytes = bytes;
        self.observe(segment)
    }

    /// One byte into a closed window (RFC 9293 section 3.8.6.1).
    pub(crate) fn probe(&mut self, side: Direction, after_us: u64) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::KeepAlive;
        segment.bytes = 1;
        self.observe(segment)
    }

    pub(crate) fn fin(&mut self, side: Direction, after_us: u64) -> &mut Self {
        let mut segment = self.blank(side, after_us);
        segment.kind = SegmentKind::Close;
        segment.flags = Flags(Flags::FIN.0 | Flags::ACK.0);
        self.observe(segment)
    }

    pub(crate) fn closed(&mut self) -> &mut Self {
        self.diagnosis
            .closed(self.flow, self.us * 1_000, Closing::Orderly);
        self.flow += 1;
        self
    }

    /// A frame of HTTP/2 in the last packet, of that many bytes.
    pub(crate) fn frame(
        &mut self,
        side: Direction,
        pdu: Pdu,
        packet_bytes: u32,
        after_us: u64,
    ) -> &mut Self {
        self.data(side, packet_bytes, after_us);
        let mut segment = blank(self.us * 1_000, side);
        segment.packet = self.packet;
        segment.kind = SegmentKind::Data;
        segment.offset = self.sent[side as usize] - u64::from(packet_bytes);
        segment.bytes = packet_bytes;
        self.diagnosis.pdu(self.flow, pdu, &segment);
        self
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            sent: self.sent,
            us: self.us,
        }
    }

    pub(crate) fn exchange(
        &mut self,
        since: Mark,
        request: (u64, u64),
        reply: Option<(u64, u64)>,
    ) -> &mut Self {
        self.exchange_as(since, request, reply, Protocol::Http1, Ending::Framed)
    }

    /// Times are of the first and the last byte, us after the mark.
    pub(crate) fn exchange_as(
        &mut self,
        since: Mark,
        request: (u64, u64),
        reply: Option<(u64, u64)>,
        protocol: Protocol,
        ending: Ending,
    ) -> &mut Self {
        let between = std::mem::take(&mut self.between);
        let extent = |side: Direction, (first, last): (u64, u64)| Extent {
            first_packet: 1,
            first_at_ns: (since.us + first) * 1_000,
            last_packet: 2,
            last_at_ns: (since.us + last) * 1_000,
            start: since.sent[side as usize],
            end: self.sent[side as usize],
            message_bytes: self.sent[side as usize]
                - since.sent[side as usize]
                - u64::from(between[side as usize]),
            overhead_bytes: 0,
            segments: 1,
            between_bytes: between[side as usize],
            carrier: 2,
        };
        let exchange = Exchange {
            flow: self.flow,
            ordinal: self.ordinal,
            protocol,
            caller: Direction::Request,
            name: "".into(),
            status: None,
            stream: if protocol == Protocol::Http2 { 1 } else { 0 },
            request: extent(C, request),
            reply: reply.map(|times| extent(S, times)),
            ending,
            closed_by_server: false,
            is_stream: self.is_stream,
            bursts: Vec::new(),
        };
        self.ordinal += 1;
        self.diagnosis.exchange(&exchange);
        self
    }

    pub(crate) fn findings(self) -> Vec<Finding> {
        self.diagnosis.findings()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) sent: [u64; 2],
    us: u64,
}

impl Mark {
    /// When, us.
    pub(crate) fn us(&self) -> u64 {
        self.us
    }
}
