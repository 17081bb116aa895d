//! One connection: both directions, how it began and how it ended.

use super::analysis::{Counts, OUT_OF_ORDER_NS, Sender, Verdict, classify};
use super::copies;
use super::event::{Closing, Direction, FlowId, Observer, Segment};
use super::key::{Key, Side};
use super::reassembly::{Memory, Output, Reassembly};
use crate::packet::tcp::{SynOptions, reports_duplicate};
use crate::packet::{Flags, Packet};

#[derive(Debug, Clone, Default)]
struct DirectionState {
    numbers: SequenceNumbers,
    sender: Sender,
    reassembly: Reassembly,
    /// By its SYN; None before that, and without the option.
    window_shift: Option<u8>,
    saw_syn: bool,
}

/// No host sends a SYN with RST or FIN: such flags are damaged (RFC 9293 section 3.10.7).
#[inline]
pub(super) fn is_opening(packet: &Packet<'_>) -> bool {
    packet.flags.0 & (Flags::SYN.0 | Flags::RST.0 | Flags::FIN.0) == Flags::SYN.0
}

#[derive(Debug, Clone)]
pub(super) struct Connection {
    id: FlowId,
    key: Key,
    client: Side,
    directions: [DirectionState; 2],
    syn_at_ns: Option<u64>,
    /// From the SYN to the first acknowledgment of the handshake's end.
    round_trip_ns: Option<u64>,
    last_at_ns: u64,
    closing: Option<Closing>,
    closed_at_ns: u64,
    has_copies: bool,
}

impl Connection {
    pub(super) fn new(
        id: FlowId,
        key: Key,
        client: Side,
        packet: &Packet<'_>,
        side: Side,
    ) -> Connection {
        let mut connection = Connection {
            id,
            key,
            client,
            directions: Default::default(),
            syn_at_ns: None,
            round_trip_ns: None,
            last_at_ns: packet.at_ns,
            closing: None,
            closed_at_ns: packet.at_ns,
            has_copies: false,
        };
        connection.learn_bases(packet, connection.direction(side));
        connection
    }

    pub(super) fn id(&self) -> FlowId {
        self.id
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    pub(super) fn last_at_ns(&self) -> u64 {
        self.last_at_ns
    }

    pub(super) fn ended(&self) -> bool {
        self.closing.is_some()
    }

    pub(super) fn closing(&self) -> Option<Closing> {
        self.closing
    }

    pub(super) fn ended_at_ns(&self) -> u64 {
        if self.ended() {
            self.closed_at_ns
        } else {
            self.last_at_ns
        }
    }

    #[inline]
    pub(super) fn direction(&self, side: Side) -> Direction {
        if side == self.client {
            Direction::Request
        } else {
            Direction::Reply
        }
    }

    /// A SYN ([`is_opening`]) with another number than this connection's begins another one, and
    /// any does behind its end, unless the client was refused and tries again. So does a SYN with
    /// ACK, unless it answers the SYN that was seen: a server that keeps no state (SYN cookies)
    /// may answer that twice, with two numbers.
    pub(super) fn is_replaced_by(&self, packet: &Packet<'_>, side: Side) -> bool {
        let direction = self.direction(side);
        // A new incarnation uses another initial sequence number (RFC 9293 section
        // 3.4.1); the same number is the same SYN, sent again.
        let own = self.directions[direction as usize].numbers.base();
        let is_other = own.is_some_and(|base| base != packet.sequence);
        if !packet.flags.has(Flags::ACK) {
            return is_other || self.ended() && !self.is_refused(direction);
        }
        let peer = &self.directions[direction.opposite() as usize];
        // SYN cookies: RFC 4987 section 3.6.
        let answers =
            peer.saw_syn && peer.numbers.base() == Some(packet.acknowledgment.wrapping_sub(1));
        !answers && (is_other || self.ended() && own.is_none())
    }

    /// A RST is all that came of the SYN of that direction, or a RST answered what an older
    /// connection had left at the other side (RFC 9293 section 3.5.1). Its sender may send the
    /// same SYN again.
    fn is_refused(&self, direction: Direction) -> bool {
        let own = &self.directions[direction as usize];
        let peer = &self.directions[direction.opposite() as usize];
        // The SYN alone may carry payload (RFC 7413).
        let has_only_syn = own.reassembly.is_untouched() || peer.numbers.base().is_none();
        matches!(self.closing, Some(Closing::Reset(_)))
            && own.saw_syn
            && has_only_syn
            && !peer.saw_syn
            && peer.reassembly.is_untouched()
    }

    /// A packet behind the report of the end is of this connection: what was sent before, an
    /// acknowledgment of what was, or RST, whose numbers may be any (RFC 5961 section 3).
    pub(super) fn has_sent(&self, packet: &Packet<'_>, side: Side) -> bool {
        let direction = self.direction(side);
        let own = &self.directions[direction as usize].numbers;
        let peer = &self.directions[direction.opposite() as usize].numbers;
        if packet.flags.has(Flags::SYN) {
            return packet.flags.has(Flags::ACK) && own.base() == Some(packet.sequence);
        }
        let is_known = own.covers(packet.sequence, packet.payload_bytes);
        match packet.payload_bytes {
            _ if packet.flags.has(Flags::RST) => true,
            0 if packet.flags.has(Flags::ACK) => is_known || peer.covers(packet.acknowledgment, 0),
            _ => is_known,
        }
    }

    /// Takes such a packet.
    pub(super) fn take_late(
        &mut self,
        packet: &Packet<'_>,
        side: Side,
        counts: &mut Counts,
    ) -> Segment {
        let direction = self.direction(side);
        let verdict = self.classify(packet, direction);
        let repeats = self.directions[direction as usize].sender.repeats;
        counts.count(packet, verdict, repeats);
        let offset = self.payload_offset(packet, direction);
        self.segment(packet, direction, offset, verdict)
    }

    /// The packet goes on where this connection is, by its numbers: it is of this connection, or a
    /// copy of one of its packets.
    pub(super) fn continues(&self, packet: &Packet<'_>, side: Side) -> bool {
        let direction = self.direction(side);
        let own = &self.directions[direction as usize].numbers;
        let peer = &self.directions[direction.opposite() as usize].numbers;
        let sends = own.base().map(|base| match packet.flags.has(Flags::SYN) {
            true => base == packet.sequence,
            false => own.is_near(packet.sequence),
        });
        let has_acknowledgment = packet.flags.has(Flags::ACK) && peer.base().is_some();
        let acknowledges = has_acknowledgment.then(|| peer.is_near(packet.acknowledgment));
        match (sends, acknowledges) {
            (None, None) => false,
            (sends, acknowledges) => sends.unwrap_or(true) && acknowledges.unwrap_or(true),
        }
    }

    /// What decides whether a packet of that side is a copy of another.
    #[inline]
    pub(super) fn sender(&self, side: Side) -> copies::Sender {
        copies::Sender {
            name: u64::from(self.id) << 1 | self.direction(side) as u64,
            within_ns: self.round_trip_ns.unwrap_or(OUT_OF_ORDER_NS) / 2,
            has_copies: self.has_copies,
        }
    }

    pub(super) fn note_copy(&mut self) {
        self.has_copies = true;
    }

    /// Takes a packet: reports the segment and the bytes that it completes.
    #[inline]
    pub(super) fn packet(
        &mut self,
        packet: &Packet<'_>,
        side: Side,
        memory: &mut Memory<'_>,
        counts: &mut Counts,
        observer: &mut impl Observer,
    ) {
        let direction = self.direction(side);
        if self.closing.is_some() && is_opening(packet) {
            self.reopen(packet, direction);
        }
        self.learn_bases(packet, direction);
        self.last_at_ns = packet.at_ns;
        // Before `advance`, which changes the state that the classification compares
        // with.
        let verdict = self.classify(packet, direction);
        self.learn_handshake(packet, direction);
        let repeats = self.directions[direction as usize].sender.repeats;
        counts.count(packet, verdict, repeats);
        let offset = self.payload_offset(packet, direction);
        let segment = self.segment(packet, direction, offset, verdict);
        // Headers, then the segment, then its bytes: observers rely on this order.
        observer.packet(self.id, direction, packet);
        observer.segment(self.id, &segment);
        self.advance(packet, offset, &segment, memory, counts, observer);
        self.note_end(packet, &segment);
    }

    pub(super) fn finish(
        &mut self,
        held: &mut usize,
        counts: &mut Counts,
        observer: &mut impl Observer,
    ) {
        for direction in [Direction::Request, Direction::Reply] {
            let mut out = Output {
                flow: self.id,
                direction,
                observer,
                stream_bytes: &mut counts.stream_bytes,
                gap_bytes: &mut counts.gap_bytes,
            };
            self.directions[direction as usize]
                .reassembly
                .finish(held, &mut out);
        }
    }

    #[inline]
    fn pair(&mut self, direction: Direction) -> (&mut DirectionState, &mut DirectionState) {
        let [request, reply] = &mut self.directions;
        match direction {
            Direction::Request => (request, reply),
            Direction::Reply => (reply, request),
        }
    }

    /// A SYN behind a refusal, or the answer to one: the connection is not over. What the other
    /// side sent before, RST included, was of another connection, or of none.
    #[cold]
    fn reopen(&mut self, packet: &Packet<'_>, direction: Direction) {
        let is_answer = packet.flags.has(Flags::ACK);
        let client = if is_answer {
            direction.opposite()
        } else {
            direction
        };
        if !self.is_refused(client) {
            return;
        }
        self.closing = None;
        if is_answer {
            return;
        }
        self.round_trip_ns = None;
        let (own, peer) = self.pair(direction);
        *peer = DirectionState::default();
        // Its acknowledgments may have had any number.
        if own.reassembly.is_untouched() {
            own.numbers.rebase(packet.sequence);
            own.reassembly = Reassembly::default();
        }
    }

    /// Where both streams begin: by their SYN, else by the first number seen of
    /// the sender or acknowledged by its peer.
    #[inline]
    fn learn_bases(&mut self, packet: &Packet<'_>, direction: Direction) {
        let (own, peer) = self.pair(direction);
        if packet.flags.has(Flags::SYN) {
            if own.reassembly.is_untouched() && own.numbers.base() != Some(packet.sequence) {
                // An acknowledgment seen before the SYN may have set another base. It
                // can be corrected until bytes have been delivered. Packets before it were
                // RST, or of another connection.
                own.numbers.rebase(packet.sequence);
                own.sender = Sender::default();
            }
            own.saw_syn = true;
        } else if !packet.flags.has(Flags::RST) {
            // Without a SYN the first byte seen gets offset 0: the SYN would have had
            // the number before it.
            own.numbers.begin(packet.sequence.wrapping_sub(1));
        }
        if packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::RST) {
            peer.numbers.begin(packet.acknowledgment.wrapping_sub(1));
        }
    }

    #[inline]
    fn classify(&mut self, packet: &Packet<'_>, direction: Direction) -> Verdict {
        let round_trip_ns = self.round_trip_ns;
        let is_syn = packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK);
        let is_first = self.syn_at_ns.is_none();
        let (own, peer) = self.pair(direction);
        if is_syn && !is_first {
            own.sender.restart_after_syn();
        }
        classify(packet, &mut own.sender, &mut peer.sender, round_trip_ns)
    }

    #[inline]
    fn learn_handshake(&mut self, packet: &Packet<'_>, direction: Direction) {
        if packet.flags.has(Flags::SYN) {
            // Only SYNs carry the window scale (RFC 7323 section 2.2).
            let announced = SynOptions::parse(packet.options);
            self.directions[direction as usize].window_shift = announced.window_shift;
            if !packet.flags.has(Flags::ACK) {
                self.syn_at_ns = Some(packet.at_ns);
            }
        } else if packet.flags.has(Flags::ACK) && self.round_trip_ns.is_none() {
            let since_ns = self.syn_at_ns.map(|syn| packet.at_ns.saturating_sub(syn));
            // Wireshark's iRTT: from the SYN to the acknowledgment that completes the
            // handshake. Equal timestamps show no round trip.
            self.round_trip_ns = since_ns.filter(|ns| *ns > 0);
        }
    }

    /// Of the first payload byte, behind a SYN.
    #[inline]
    fn payload_offset(&self, packet: &Packet<'_>, direction: Direction) -> i64 {
        let syn = u32::from(packet.flags.has(Flags::SYN));
        let numbers = &self.directions[direction as usize].numbers;
        numbers.offset(packet.sequence.wrapping_add(syn))
    }

    #[inline]
    fn segment(
        &self,
        packet: &Packet<'_>,
        direction: Direction,
        offset: i64,
        verdict: Verdict,
    ) -> Segment {
        let headers = [
            packet.link_header_bytes,
            packet.ip_header_bytes,
            packet.tcp_header_bytes,
        ];
        let own = &self.directions[direction as usize].numbers;
        let peer = &self.directions[direction.opposite() as usize].numbers;
        let acknowledged = if packet.flags.has(Flags::ACK) && peer.base().is_some() {
            peer.bytes_below(peer.offset(packet.acknowledgment))
        } else {
            0
        };
        Segment {
            packet: packet.number,
            at_ns: packet.at_ns,
            direction,
            kind: verdict.kind(packet),
            flags: packet.flags,
            offset: match packet.payload_bytes {
                // Behind a FIN there is no byte.
                0 => own.bytes_below(offset),
                _ => offset.max(0) as u64,
            },
            bytes: packet.payload_bytes,
            acknowledged,
            window: self.window(packet, direction),
            header_bytes: headers.iter().map(|bytes| u32::from(*bytes)).sum(),
            link_header_bytes: packet.link_header_bytes,
            ip_header_bytes: packet.ip_header_bytes,
            identification: packet.identification,
            reports_duplicate: reports_duplicate(packet.options, packet.acknowledgment),
            options_cut: packet.options_cut(),
            mss: if packet.flags.has(Flags::SYN) {
                SynOptions::parse(packet.options).mss
            } else {
                None
            },
        }
    }

    /// Scaled when both SYNs were seen and had the option (RFC 7323 section 2.2).
    #[inline]
    fn window(&self, packet: &Packet<'_>, direction: Direction) -> u64 {
        let window = u64::from(packet.window);
        let [own, peer] = [direction, direction.opposite()]
            .map(|direction| self.directions[direction as usize].window_shift);
        match (own, peer) {
            // The window of a SYN itself is never scaled (RFC 7323 section 2.2).
            (Some(shift), Some(_)) if !packet.flags.has(Flags::SYN) => window << shift,
            _ => window,
        }
    }

    /// Bytes go on, acknowledgments too; holes may be given up.
    #[inline]
    fn advance(
        &mut self,
        packet: &Packet<'_>,
        offset: i64,
        segment: &Segment,
        memory: &mut Memory<'_>,
        counts: &mut Counts,
        observer: &mut impl Observer,
    ) {
        let flow = self.id;
        let (own, peer) = self.pair(segment.direction);
        let mut out = Output {
            flow,
            direction: segment.direction,
            observer,
            stream_bytes: &mut counts.stream_bytes,
            gap_bytes: &mut counts.gap_bytes,
        };
        if !packet.flags.has(Flags::RST) {
            let end = offset
                .saturating_add(i64::from(packet.payload_bytes))
                .max(0) as u64;
            // The numbers of a RST are not taken over: forged resets and those of
            // closed ports hold arbitrary values (RFC 5961 section 3).
            own.numbers.reach(end);
            if packet.payload_bytes > 0 {
                own.reassembly
                    .take(offset, packet.payload, segment, memory, &mut out);
            }
            if packet.flags.has(Flags::ACK) {
                peer.reassembly.acknowledge(segment.acknowledged);
                peer.numbers.reach(segment.acknowledged);
            }
        }
        // Both directions: this packet may be the one after which a hole in either is
        // given up.
        own.reassembly.check(memory.held, &mut out);
        out.direction = segment.direction.opposite();
        peer.reassembly.check(memory.held, &mut out);
    }

    #[inline]
    fn note_end(&mut self, packet: &Packet<'_>, segment: &Segment) {
        if packet.flags.has(Flags::FIN) {
            let numbers = &mut self.directions[segment.direction as usize].numbers;
            numbers.end(segment.end());
        }
        if self.closing.is_some() {
            return;
        }
        if packet.flags.has(Flags::RST) {
            self.closing = Some(Closing::Reset(segment.direction));
        } else if self.directions.iter().all(|one| one.numbers.is_ended()) {
            self.closing = Some(Closing::Orderly);
        }
        self.closed_at_ns = packet.at_ns;
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct SequenceNumbers {
    /// Of the SYN; the next one has offset 0.
    base: Option<u32>,
    /// Behind the highest byte seen or acknowledged: what wraps is near it.
    highest: u64,
    fin: Option<u64>,
}

impl SequenceNumbers {
    pub(super) fn base(&self) -> Option<u32> {
        self.base
    }

    /// The SYN has this number, unless that is known.
    #[inline]
    pub(super) fn begin(&mut self, base: u32) {
        self.base.get_or_insert(base);
    }

    /// Another number after all, of a stream of which nothing was seen.
    pub(super) fn rebase(&mut self, base: u32) {
        *self = SequenceNumbers {
            base: Some(base),
            ..SequenceNumbers::default()
        };
    }

    /// The offset of a sequence number; negative before the first byte.
    #[inline]
    pub(super) fn offset(&self, sequence: u32) -> i64 {
        let base = self.base.unwrap_or(sequence.wrapping_sub(1));
        // The number is taken to lie within 2^31 of the highest one, so that offsets go
        // on where 32 bits wrap, every 4 GiB.
        let of_highest = base.wrapping_add(1).wrapping_add(self.highest as u32);
        self.highest as i64 + i64::from(sequence.wrapping_sub(of_highest) as i32)
    }

    /// At most a large window away from the highest byte: a number of another connection is there
    /// by chance once in 128 times, and both numbers of a packet once in 16,384.
    fn is_near(&self, sequence: u32) -> bool {
        const NEAR: u64 = 1 << 24;
        self.offset(sequence).abs_diff(self.highest as i64) < NEAR
    }

    /// These bytes, or the number of the next one, are among those seen or acknowledged, the FIN
    /// and the probe of a live connection (RFC 9293 section 3.8.4) included.
    fn covers(&self, sequence: u32, bytes: u32) -> bool {
        let Some(from) = self.base.map(|_| self.offset(sequence)) else {
            return false;
        };
        let fin = i64::from(bytes == 0);
        from >= -1 && from + i64::from(bytes) <= self.highest as i64 + fin
    }

    #[inline]
    pub(super) fn reach(&mut self, offset: u64) {
        self.highest = self.highest.max(offset);
    }

    pub(super) fn end(&mut self, offset: u64) {
        // The first FIN counts: one that is sent again may follow other data in the
        // packet.
        self.fin.get_or_insert(offset);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.fin.is_some()
    }

    /// Bytes below an offset that was acknowledged: the FIN is none.
    #[inline]
    pub(super) fn bytes_below(&self, offset: i64) -> u64 {
        let offset = offset.max(0) as u64;
        self.fin.map_or(offset, |fin| offset.min(fin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_continue_where_sequence_numbers_wrap() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(u32::MAX - 10);
        let mut sequence = u32::MAX - 9;
        for expected in (0..20_000_000_000u64).step_by(1_000_000_000) {
            assert_eq!(numbers.offset(sequence), expected as i64);
            numbers.reach(expected);
            sequence = sequence.wrapping_add(1_000_000_000);
        }
        assert_eq!(
            numbers.offset(sequence.wrapping_sub(2_000_000_000)),
            18_000_000_000
        );
    }

    #[test]
    fn offsets_before_the_first_byte_are_negative() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(99);
        assert_eq!(numbers.offset(99), -1);
        assert_eq!(numbers.offset(0), -100);
        assert_eq!(numbers.bytes_below(-5), 0);
    }

    #[test]
    fn an_acknowledged_fin_is_not_counted_as_a_byte() {
        let mut numbers = SequenceNumbers::default();
        numbers.begin(0);
        numbers.end(7);
        assert_eq!(numbers.bytes_below(8), 7);
        assert_eq!(numbers.bytes_below(6), 6);
    }
}
