//! Whose turn it was: divides the time of one connection.

mod payload;

use super::dead_ends::DeadEnds;
use super::part::Part;
use super::pending::{Pending, SendLimits};
use super::race::Race;
use super::ring::{Wait, WaitRing};
use super::sums::Sink;
use super::tls::TlsTurns;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::names::Lookup;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::layer::{Kind, Layer};

/// A request that waited shorter may be answered behind the end of the capture, ns.
const UNANSWERED_MIN_NS: u64 = 100_000_000;
/// A lookup that takes longer is a finding, ns.
const SLOW_LOOKUP_NS: u64 = 100_000_000;

/// Pauses of one side without an answer that show a stream of messages one way, where nothing
/// shows the ends of messages.
const ONE_WAY_MIN: u32 = 2;
/// A side that pauses longer has ended its message, where nothing shows that, ns.
const BETWEEN_MESSAGES_NS: u64 = 1_000_000_000;

/// How far the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// By a RST in answer to the SYN. Its client may try again with the same ports.
    Refused,
    Open,
    Closing,
}

/// The time of one connection.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) ring: WaitRing,
    /// Of the server's name, until the first packet.
    pub(crate) lookup: Option<Lookup>,
    began: Option<u64>,
    /// The first SYN since the last refusal, ns.
    attempt_at: u64,
    /// Until when time is divided, and the last packet before.
    mark: u64,
    mark_packet: u64,
    last: (u64, u64),
    stage: Stage,
    from_syn: bool,
    tls: TlsTurns,
    is_reset: bool,
    turn: Option<Direction>,
    /// When each side sent payload last.
    payload_at: [u64; 2],
    /// The packet of the client's last payload.
    asked_packet: u64,
    has_sent: [bool; 2],
    has_closed: [bool; 2],
    race: Race,
    calls: u32,
    has_calls: bool,
    is_lost: bool,
    /// The last bytes are of a protocol that is not parsed: nothing shows where its messages
    /// end.
    is_unframed: bool,
    /// Pauses of the side whose turn it is, since it began, and those of them between messages.
    pauses: u32,
    pauses_between: u32,
    /// The client's message came at once after one that the server sent unasked: it is an answer
    /// to that, as far as nothing shows what messages are.
    is_answer: bool,
    /// The last payload of the server ended a call.
    ended_call: bool,
    /// The sender of the packet that is judged.
    speaker: Direction,
    /// And that packet carries payload.
    speaks: bool,
    dead_ends: DeadEnds,
    pending: Option<Pending>,
    evidence: Vec<Stall>,
}

impl Turns {
    pub(crate) fn new(from_syn: bool) -> Turns {
        Turns {
            ring: WaitRing::default(),
            lookup: None,
            began: None,
            attempt_at: 0,
            mark: 0,
            mark_packet: 0,
            last: (0, 0),
            stage: Stage::Open,
            from_syn,
            tls: TlsTurns::default(),
            is_reset: false,
            turn: None,
            payload_at: [0; 2],
            asked_packet: 0,
            has_sent: [false; 2],
            has_closed: [false; 2],
            race: Race::default(),
            calls: 0,
            has_calls: false,
            is_lost: false,
            is_unframed: false,
            pauses: 0,
            pauses_between: 0,
            is_answer: false,
            ended_call: false,
            speaker: Direction::Request,
            speaks: false,
            dead_ends: DeadEnds::default(),
            pending: None,
            evidence: Vec::new(),
        }
    }

    /// A packet; `gap` is what its sender could have done before it.
    #[inline]
    pub(crate) fn take(
        &mut self,
        segment: &Segment,
        gap: SendLimits,
        path: &Path,
        sink: &mut Sink,
    ) {
        let at = segment.at_ns;
        if self.began.is_none() {
            self.begin(segment, sink);
        }
        self.last = (at, segment.packet);
        self.dead_ends.take(segment);
        self.has_sent[segment.direction as usize] = true;
        let is_edge = segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0) != 0;
        let ends_wait = segment.bytes > 0
            || is_edge
            || segment.kind == SegmentKind::KeepAlive
            || self.is_opening() && self.is_still_opening(path, sink);
        if !ends_wait {
            return;
        }
        self.settle(path, sink);
        self.pending = Some(Pending::new(segment, gap, self.calls));
        // Payload is judged behind its bytes, also where it completes the handshake (RFC 9293
        // section 3.5) or comes with the SYN (RFC 7413): it is what the client asks.
        if segment.bytes == 0 && self.is_opening() {
            self.settle(path, sink);
        }
    }

    /// The packet that waits to be judged.
    pub(crate) fn unjudged(&self) -> Option<u64> {
        self.pending.as_ref().map(|pending| pending.segment.packet)
    }

    fn is_opening(&self) -> bool {
        matches!(self.stage, Stage::Connecting | Stage::Refused)
    }

    /// The same, behind the packet that waits to be judged.
    #[cold]
    fn is_still_opening(&mut self, path: &Path, sink: &mut Sink) -> bool {
        self.settle(path, sink);
        self.is_opening()
    }

    /// Of one side nothing was captured.
    fn is_one_sided(&self) -> bool {
        self.has_sent.contains(&false)
    }

    /// Why some of the time passed, as is known now.
    pub(crate) fn explain(&mut self, stall: &Stall) {
        self.evidence.push(*stall);
    }

    /// Whether a loss without an answer is that of a path on which nothing gets through.
    pub(crate) fn is_dead_end(&self, loss: &Stall) -> bool {
        self.dead_ends.explain(loss)
    }

    /// A call was given up: calls under way show nothing any more.
    pub(crate) fn lose_calls(&mut self) {
        self.is_lost = true;
        self.has_calls = false;
    }

    pub(crate) fn call_started(&mut self) {
        self.calls += 1;
        self.has_calls = !self.is_lost;
        if let Some(pending) = &mut self.pending {
            pending.starts_call = true;
        }
    }

    pub(crate) fn call_ended(&mut self) {
        self.calls = self.calls.saturating_sub(1);
        if let Some(pending) = &mut self.pending {
            pending.ends_call = true;
        }
    }

    #[inline]
    pub(crate) fn layer(&mut self, layer: Layer) {
        self.is_unframed = layer.kind == Kind::Unknown;
        if let Some(pending) = &mut self.pending {
            pending.layer(layer.kind);
        }
    }

    /// The head of an interim reply of HTTP/1.
    pub(crate) fn interim(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.interim();
        }
    }

    /// A record of TLS; `content`: what is in it, where it was decrypted.
    pub(crate) fn record(&mut self, kind: u8, length: u16, content: Option<u8>) {
        if let Some(pending) = &mut self.pending {
            pending.record(kind, length, content);
        }
    }

    /// Judges the segment that waits to be judged.
    #[inline]
    pub(crate) fn settle(&mut self, path: &Path, sink: &mut Sink) {
        if let Some(pending) = self.pending.take() {
            self.judge(&pending, path, sink);
            self.note(&pending, path);
            self.tls.note(&pending, path, sink);
        }
        if !self.evidence.is_empty() {
            self.apply_evidence();
        }
    }

    /// The connection is over: what passed after the last wait, and all that is kept.
    /// `closed`: by the direction of the sender, when its receiver's window was closed last.
    pub(crate) fn finish(
        &mut self,
        path: &Path,
        closed_since: [Option<u64>; 2],
        closed: [Option<(u64, u64)>; 2],
        sink: &mut Sink,
    ) {
        self.settle(path, sink);
        self.speaks = false;
        if self.is_one_sided() {
            let all = (self.began.unwrap_or(0), self.last.0);
            self.ring
                .replace(all, Part::Unattributed, Part::needs_both_sides, false);
        }
        if !self.dead_ends.finish(self.is_one_sided(), sink) {
            self.report_unanswered(sink);
        }
        let (at, packet) = self.last;
        let has_nothing_to_send = self.has_calls && self.calls == 0;
        if self.stage == Stage::Open && !has_nothing_to_send {
            self.assign_closed_window(closed_since, at, packet, sink);
        }
        let part = match (self.stage, self.turn) {
            (Stage::Connecting, _) => Part::Connecting,
            (Stage::Closing | Stage::Refused, _) => Part::Closing,
            _ if self.tls.is_open() => Part::TlsHandshake,
            (_, Some(Direction::Request)) if self.is_one_way() => Part::BeforeClosing,
            (_, Some(Direction::Request)) if self.calls > 0 || !self.has_calls => Part::Server,
            (_, Some(Direction::Request)) => Part::RequestTransfer,
            (_, Some(Direction::Reply)) => Part::ReplyTransfer,
            (_, None) => Part::ClientBeforeRequest,
        };
        self.assign_until(part, at, packet, sink);
        if self.turn.is_none() && self.stage == Stage::Open {
            // Nobody sent: a closed window is all that there was to see.
            for times in closed.into_iter().flatten() {
                self.ring
                    .replace(times, Part::WindowClosed, Part::is_by_turn, false);
            }
        }
        for wait in self.ring.drain() {
            sink.take(&wait);
        }
    }

    /// From the first packet to the last, ns.
    pub(crate) fn elapsed(&self) -> u64 {
        self.began.map_or(0, |began| self.last.0 - began)
    }

    fn begin(&mut self, segment: &Segment, sink: &mut Sink) {
        self.began = Some(segment.at_ns);
        self.attempt_at = segment.at_ns;
        self.mark = segment.at_ns;
        self.mark_packet = segment.packet;
        let is_syn = segment.flags.has(Flags::SYN);
        if is_syn && segment.direction == Direction::Request {
            self.stage = Stage::Connecting;
        }
        if let Some(lookup) = self.lookup.take() {
            self.begin_with(&lookup, segment, sink);
        }
    }

    /// The connection begins with the lookup of its server's name.
    fn begin_with(&mut self, lookup: &Lookup, segment: &Segment, sink: &mut Sink) {
        let (asked, answered) = (lookup.asked, lookup.answered);
        // Times of segments never go back, those of datagrams may.
        let [began, until] = [asked.0, answered.0].map(|at| at.min(segment.at_ns));
        self.began = Some(began);
        self.mark = began;
        self.mark_packet = asked.1;
        self.assign_until(Part::NameResolution, until, answered.1, sink);
        self.mark_packet = answered.1;
        self.assign_until(Part::Connecting, segment.at_ns, segment.packet, sink);
        self.mark_packet = segment.packet;
        if lookup.ns() >= SLOW_LOOKUP_NS {
            sink.find(Occurrence {
                cause: Cause::SlowDns,
                flow: sink.flow,
                exchange: None,
                direction: Direction::Reply,
                packets: vec![asked.1, answered.1],
                ns: lookup.ns(),
            });
        }
    }

    /// Calls were seen, and none was given up.
    pub(crate) fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// The time up to `at` belongs to `part`.
    #[inline]
    fn assign_until(&mut self, part: Part, at: u64, packet: u64, sink: &mut Sink) {
        if at <= self.mark {
            return;
        }
        let part = if part.needs_both_sides() && self.is_one_sided() {
            Part::Unattributed
        } else {
            part
        };
        let wait = Wait {
            part,
            from: self.mark,
            to: at,
            packets: [self.mark_packet, packet],
            direction: self.speaker,
            ends_with_payload: self.speaks,
            is_found: false,
        };
        self.mark = at;
        self.ring.push(wait);
        while let Some(oldest) = self.ring.overflow() {
            sink.take(&oldest);
        }
    }

    fn judge(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let segment = &pending.segment;
        let (at, packet) = (segment.at_ns, segment.packet);
        self.speaker = segment.direction;
        self.speaks = segment.bytes > 0;
        if segment.flags.has(Flags::RST) {
            self.reset(pending, sink);
            self.is_reset = true;
        }
        if self.is_opening() {
            self.connect(segment, sink);
        } else if self.tls.is_open() {
            self.assign_until(Part::TlsHandshake, at, packet, sink);
        } else if self.stage == Stage::Closing && (self.is_over(segment) || pending.is_control()) {
            self.assign_until(Part::Closing, at, packet, sink);
        } else if segment.bytes == 0 || segment.kind == SegmentKind::KeepAlive {
            self.take_bare_segment(pending, path, sink);
        } else {
            self.take_payload(pending, path, sink);
        }
        // What a packet ends is named by it.
        self.mark = self.mark.max(at);
        self.mark_packet = packet;
    }

    /// A RST is a finding where it refuses, or where something was under way.
    fn reset(&self, pending: &Pending, sink: &mut Sink) {
        let segment = &pending.segment;
        if !self.is_reset
            && let Some(met) = self.race.find(segment, sink.flow)
        {
            return sink.find(met);
        }
        let is_busy = if self.knows_ends() {
            pending.calls_before > 0
        } else {
            self.turn == Some(Direction::Request) && !self.is_one_way()
        };
        let (cause, since) = match self.stage {
            Stage::Connecting if segment.direction == Direction::Reply => {
                (Cause::ConnectionRefused, self.attempt_at)
            }
            Stage::Open if is_busy && !self.is_one_sided() => (Cause::ConnectionReset, self.mark),
            _ => return,
        };
        sink.find(Occurrence {
            cause,
            flow: sink.flow,
            exchange: None,
            direction: segment.direction,
            packets: vec![self.mark_packet, segment.packet],
            ns: segment.at_ns.saturating_sub(since),
        });
    }

    /// The request that the connection ended without an answer to.
    fn report_unanswered(&self, sink: &mut Sink) {
        let asked_at = self.payload_at[Direction::Request as usize];
        let ns = self.last.0.saturating_sub(asked_at);
        let is_unanswered = self.turn == Some(Direction::Request)
            && self.has_sent == [true; 2]
            && !self.is_reset
            && !self.is_one_way();
        if is_unanswered && ns >= UNANSWERED_MIN_NS {
            sink.find(Occurrence {
                cause: Cause::Unanswered,
                flow: sink.flow,
                exchange: None,
                direction: Direction::Reply,
                packets: vec![self.asked_packet, self.last.1],
                ns,
            });
        }
    }

    /// Nothing but the end can follow of that side.
    fn is_over(&self, segment: &Segment) -> bool {
        segment.bytes == 0 || self.has_closed[segment.direction as usize]
    }

    fn connect(&mut self, segment: &Segment, sink: &mut Sink) {
        let is_syn = segment.flags.has(Flags::SYN);
        let is_again = is_syn && segment.kind == SegmentKind::Retransmission;
        let part = match self.stage {
            _ if is_again => Part::SynRetransmission,
            Stage::Refused => Part::Closing,
            _ => Part::Connecting,
        };
        self.assign_until(part, segment.at_ns, segment.packet, sink);
        if segment.flags.has(Flags::RST) {
            self.stage = Stage::Refused;
        } else if is_syn && self.stage == Stage::Refused {
            self.stage = Stage::Connecting;
            self.attempt_at = segment.at_ns;
            (self.has_closed, self.is_reset) = ([false; 2], false);
        } else if !is_syn
            && segment.direction == Direction::Request
            && self.stage == Stage::Connecting
        {
            self.stage = Stage::Open;
            self.tls.open((segment.at_ns, segment.packet));
        }
    }

    /// A FIN, a RST, or a probe.
    fn take_bare_segment(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let segment = &pending.segment;
        let (at, packet, direction) = (segment.at_ns, segment.packet, segment.direction);
        let is_probe = segment.kind == SegmentKind::KeepAlive;
        let is_prompt = at.saturating_sub(self.mark) < path.slack(direction);
        let is_closed = !self.is_idle(pending)
            && self.assign_closed_window(pending.gap.closed_since, at, packet, sink);
        if is_closed {
            return;
        }
        match self.turn {
            Some(Direction::Request) if is_prompt && direction == Direction::Request => {
                self.assign_until(Part::RequestTransfer, at, packet, sink);
            }
            Some(Direction::Request) if self.is_one_way() => {
                self.assign_until(Part::BeforeClosing, at, packet, sink);
            }
            Some(Direction::Request) if !self.is_idle(pending) => {
                self.wait_for(Direction::Reply, Part::Server, pending, path, sink);
            }
            Some(Direction::Reply) if self.knows_ends() && pending.calls_before > 0 => {
                self.assign_until(Part::ServerStall, at, packet, sink);
            }
            None if self.is_unclear() => self.assign_until(Part::Unattributed, at, packet, sink),
            None => self.assign_until(Part::ClientBeforeRequest, at, packet, sink),
            Some(_) if is_probe => self.assign_until(Part::ClientBetweenRequests, at, packet, sink),
            Some(turn) if turn != direction => {
                self.wait_for(direction, Part::BeforeClosing, pending, path, sink);
            }
            Some(_) if is_prompt => self.assign_until(Part::Closing, at, packet, sink),
            Some(_) => self.assign_until(Part::BeforeClosing, at, packet, sink),
        }
    }

    /// The side whose turn it was had a closed window before it, until `at`.
    fn assign_closed_window(
        &mut self,
        closed_since: [Option<u64>; 2],
        at: u64,
        packet: u64,
        sink: &mut Sink,
    ) -> bool {
        let Some(turn) = self.turn else {
            return false;
        };
        let Some(since) = closed_since[turn as usize] else {
            return false;
        };
        let transfer = match turn {
            Direction::Request => Part::RequestTransfer,
            Direction::Reply => Part::ReplyTransfer,
        };
        self.assign_until(transfer, since.min(at), packet, sink);
        self.assign_until(Part::WindowClosed, at, packet, sink);
        true
    }

    /// What the segment changes for those behind it.
    fn note(&mut self, pending: &Pending, path: &Path) {
        let segment = &pending.segment;
        let way = segment.direction as usize;
        self.race.note(pending);
        let is_silent = pending.is_control() || self.tls.is_ticket(pending, path);
        if segment.bytes > 0 && segment.kind != SegmentKind::KeepAlive && !is_silent {
            if self.turn != Some(segment.direction) {
                let told_at = self.payload_at[Direction::Reply as usize];
                self.is_answer = segment.direction == Direction::Request
                    && !self.knows_ends()
                    && self.pauses_between > 0
                    && segment.at_ns.saturating_sub(told_at)
                        < path.sender_rtt(Direction::Request) + path.slack(Direction::Request);
                (self.pauses, self.pauses_between) = (0, 0);
                self.turn = Some(segment.direction);
            }
            self.payload_at[way] = segment.at_ns;
            if segment.direction == Direction::Request {
                self.asked_packet = segment.packet;
            }
            self.ended_call = pending.ends_call;
        }
        if segment.flags.has(Flags::FIN) || segment.flags.has(Flags::RST) {
            self.has_closed[way] = true;
            if self.stage != Stage::Refused {
                self.stage = Stage::Closing;
            }
        }
    }

    fn apply_evidence(&mut self) {
        for stall in std::mem::take(&mut self.evidence) {
            let part = match stall.cause {
                Cause::TailLoss | Cause::DataRetransmission => Part::LossRecovery,
                Cause::ClientNotReading => Part::WindowClosed,
                Cause::TcpWindowExhausted | Cause::H2WindowExhausted => Part::WindowLimited,
                Cause::NagleDelayedAck => Part::NagleDelayedAck,
                Cause::IdleRestart | Cause::SlowStart => Part::CongestionLimited,
                _ => continue,
            };
            let weaker = match part {
                Part::LossRecovery => Part::is_by_turn,
                // Whose turn it was shows nothing where a window held the message back.
                _ if stall.cause == Cause::H2WindowExhausted => Part::is_waiting,
                Part::WindowClosed | Part::WindowLimited => Part::is_window_or_sender,
                _ => Part::is_of_sender,
            };
            let times = (stall.from, stall.to);
            self.ring.replace(times, part, weaker, true);
        }
    }
}
