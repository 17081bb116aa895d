//! One connection: detects its protocol, and hands its bytes to the parser of it.

use super::calls::{Call, Calls};
use super::cursor::{Cursor, Pending};
use super::detect::{DETECTION_BYTES_MAX, Detection, Role, detect, websocket};
use super::exchange::{Ending, ExchangeObserver, Protocol};
use super::giop::Giop;
use super::http1::{Http1, Next};
use super::http2::Http2;
use super::layer::Kind;
use super::raw::Raw;
use super::tls::Tls;
use super::turn_names::turn_name;
use crate::flow::event::{Closing, Direction, FlowId, Opening, Segment};

/// Segments without a protocol that are looked at in a connection seen from its middle.
const ATTEMPTS_MAX: u32 = 64;

#[derive(Debug)]
enum Parser {
    Undetected(Undetected),
    Http1(Box<Http1>),
    Http2(Box<Http2>),
    Giop(Box<Giop>),
    Raw(Box<Raw>),
    Tls(Box<Tls>),
    Unknown(Unknown),
}

/// First bytes that were too few to detect a protocol.
#[derive(Debug, Default)]
struct Undetected {
    early: Vec<(Segment, Vec<u8>)>,
    tries: u32,
}

#[derive(Debug)]
pub(super) struct Conversation {
    flow: FlowId,
    pub(super) calls: Calls,
    parser: Parser,
    pending: [Pending; 2],
    /// By direction: the next byte is the first that its side sent in this protocol.
    beginning: [bool; 2],
    /// HTTP/1.1 gave way to another protocol.
    is_switched: bool,
    /// By direction: bytes handed out so far, gaps among them.
    reached: [u64; 2],
    pub(super) fin: [Option<u64>; 2],
    pub(super) last: [Option<Segment>; 2],
    pub(super) state_bytes: usize,
}

impl Conversation {
    pub(super) fn new(flow: FlowId, opening: &Opening) -> Conversation {
        Conversation {
            flow,
            calls: Calls::new(flow),
            parser: Parser::Undetected(Undetected::default()),
            pending: Default::default(),
            beginning: [opening.from_syn; 2],
            is_switched: false,
            reached: [0; 2],
            fin: [None; 2],
            last: [None; 2],
            state_bytes: 0,
        }
    }

    fn side(&self, direction: Direction) -> usize {
        usize::from(direction != self.calls.caller)
    }

    pub(super) fn state_bytes(&self) -> usize {
        let parser = match &self.parser {
            Parser::Undetected(undetected) => {
                undetected.early.capacity() * size_of::<(Segment, Vec<u8>)>() + DETECTION_BYTES_MAX
            }
            Parser::Http1(http1) => http1.state_bytes(),
            Parser::Http2(http2) => http2.state_bytes(),
            Parser::Giop(giop) => giop.state_bytes(),
            _ => 0,
        };
        let pending: usize = self.pending.iter().map(Pending::state_bytes).sum();
        parser + pending + self.calls.state_bytes()
    }

    pub(super) fn bytes(
        &mut self,
        offset: u64,
        bytes: &[u8],
        segment: &Segment,
        listener: &mut impl ExchangeObserver,
    ) {
        self.reached[segment.direction as usize] = offset + bytes.len() as u64;
        if matches!(self.parser, Parser::Undetected(_)) {
            self.detect(offset, bytes, segment, listener);
        } else {
            self.parse(offset, bytes, segment, listener);
        }
    }

    /// Messages are missing: a call without a reply may have had one.
    fn is_ambiguous(&self) -> bool {
        match &self.parser {
            Parser::Http1(http1) => http1.pairing.is_ambiguous(),
            Parser::Raw(raw) => raw.pairing.is_ambiguous(),
            Parser::Http2(http2) => http2.is_ambiguous,
            Parser::Giop(giop) => giop.is_ambiguous,
            _ => false,
        }
    }

    fn parse(
        &mut self,
        offset: u64,
        bytes: &[u8],
        segment: &Segment,
        listener: &mut impl ExchangeObserver,
    ) {
        let side = self.side(segment.direction);
        self.beginning[segment.direction as usize] = false;
        let calls = &mut self.calls;
        let cursor = &mut Cursor {
            flow: self.flow,
            segment,
            offset,
            pending: &mut self.pending[segment.direction as usize],
            listener,
        };
        match &mut self.parser {
            Parser::Undetected(_) => cursor.label(Kind::Unknown, bytes.len()),
            Parser::Http1(http1) => {
                // After 101 the connection uses another protocol from the next byte on
                // (RFC 9110 section 7.8).
                if let Next::Switched(used) = http1.take(side, bytes, calls, cursor) {
                    // What comes next is the first of another protocol.
                    self.parser = Parser::Undetected(Undetected::default());
                    self.beginning = [true; 2];
                    self.is_switched = true;
                    if used < bytes.len() {
                        let offset = offset + used as u64;
                        self.detect(offset, &bytes[used..], segment, listener);
                    }
                }
            }
            Parser::Http2(http2) => http2.take(side, bytes, calls, cursor),
            Parser::Giop(giop) => giop.take(side, bytes, calls, cursor),
            Parser::Raw(raw) => raw.take(side, bytes, calls, cursor),
            Parser::Tls(tls) => tls.take(segment.direction as usize, bytes, cursor),
            Parser::Unknown(unknown) => unknown.take(side, bytes, calls, cursor),
        }
    }

    fn detect(
        &mut self,
        offset: u64,
        bytes: &[u8],
        segment: &Segment,
        listener: &mut impl ExchangeObserver,
    ) {
        let Parser::Undetected(undetected) = &mut self.parser else {
            return;
        };
        let beginning = self.beginning[segment.direction as usize];
        // Both directions may wait at once; each is detected by its own bytes.
        let own = |piece: &&(Segment, Vec<u8>)| piece.0.direction == segment.direction;
        let mut first: Vec<u8> = Vec::new();
        let early = undetected.early.iter().filter(own);
        early.for_each(|(_, bytes)| first.extend_from_slice(bytes));
        let detection = if first.is_empty() {
            detect(bytes, beginning)
        } else {
            first.extend_from_slice(&bytes[..bytes.len().min(DETECTION_BYTES_MAX)]);
            detect(&first, beginning)
        };
        let detection = match detection {
            Detection::None if self.is_switched => websocket(bytes),
            other => other,
        };
        match detection {
            // Kept with its segment: once the protocol is known, these bytes are parsed
            // with their own times.
            Detection::NeedMore => {
                undetected.early.push((*segment, bytes.to_vec()));
                return;
            }
            Detection::None if !beginning && undetected.tries < ATTEMPTS_MAX => {
                // In the middle of something: perhaps the next segment begins with a head.
                undetected.tries += 1;
                let early = std::mem::take(&mut undetected.early);
                for (segment, bytes) in &early {
                    let bytes = bytes.len() as u32;
                    listener.layer(self.flow, Kind::Unknown.into(), bytes, segment);
                }
                let bytes = bytes.len() as u32;
                listener.layer(self.flow, Kind::Unknown.into(), bytes, segment);
                return;
            }
            _ => {}
        }
        let early = std::mem::take(&mut undetected.early);
        self.decide(detection, segment.direction);
        for (segment, bytes) in &early {
            self.parse(segment.offset, bytes, segment, listener);
        }
        self.parse(offset, bytes, segment, listener);
    }

    fn decide(&mut self, detection: Detection, sender: Direction) {
        let Detection::Is(protocol, role) = detection else {
            self.parser = Parser::Unknown(Unknown::default());
            return;
        };
        self.calls.protocol = protocol;
        self.calls.caller = match role {
            Role::Client => sender,
            Role::Server => sender.opposite(),
            // Ports have decided (`flow::table`). HTTP/2 and GIOP correct it by the
            // first message that shows the caller.
            Role::Either => Direction::Request,
        };
        let caller = self.calls.caller;
        let beginning = [caller, caller.opposite()].map(|side| self.beginning[side as usize]);
        self.parser = match protocol {
            Protocol::Http1 => Parser::Http1(Box::new(Http1::new(beginning))),
            Protocol::Http2 => Parser::Http2(Box::new(Http2::new(beginning))),
            Protocol::Giop => Parser::Giop(Box::new(Giop::new(beginning))),
            Protocol::Raw => Parser::Raw(Box::new(Raw::new(beginning))),
            Protocol::Tls => Parser::Tls(Box::default()),
            Protocol::Postgresql
            | Protocol::Redis
            | Protocol::Mqtt
            | Protocol::Websocket
            | Protocol::Thrift
            | Protocol::Unknown => Parser::Unknown(Unknown::default()),
        };
    }

    pub(super) fn gap(
        &mut self,
        direction: Direction,
        offset: u64,
        bytes: u64,
        listener: &mut impl ExchangeObserver,
    ) {
        let place = direction as usize;
        self.reached[place] = offset.saturating_add(bytes);
        self.beginning[place] = false;
        // What follows a gap, or ends before it, was reported after a segment.
        let [request, reply] = self.last;
        let Some(last) = request.or(reply) else {
            return;
        };
        let side = self.side(direction);
        let calls = &mut self.calls;
        let pending = &mut self.pending[place];
        let cursor = &mut Cursor {
            flow: self.flow,
            segment: &last,
            offset,
            pending,
            listener,
        };
        match &mut self.parser {
            Parser::Undetected(undetected) => {
                for (segment, bytes) in undetected.early.drain(..) {
                    let bytes = bytes.len() as u32;
                    cursor
                        .listener
                        .layer(self.flow, Kind::Unknown.into(), bytes, &segment);
                }
            }
            Parser::Http1(http1) => http1.gap(side, bytes, calls, cursor.listener),
            Parser::Http2(http2) => http2.gap(side, bytes, calls, cursor),
            Parser::Giop(giop) => giop.gap(side, bytes, calls, cursor),
            Parser::Raw(raw) => raw.gap(side, bytes, calls, cursor.listener),
            Parser::Tls(tls) => tls.gap(place, bytes, cursor),
            Parser::Unknown(unknown) => unknown.gap(calls, cursor.listener),
        }
    }

    /// A stream is over when its FIN and all before it have come.
    pub(super) fn end_if_reached(
        &mut self,
        direction: Direction,
        listener: &mut impl ExchangeObserver,
    ) {
        let place = direction as usize;
        if self.fin[place].is_none_or(|fin| fin > self.reached[place]) {
            return;
        }
        let side = self.side(direction);
        if let Parser::Http1(http1) = &mut self.parser {
            http1.end_of_stream(side, &mut self.calls, listener);
        }
    }

    pub(super) fn closed(&mut self, closing: Closing, listener: &mut impl ExchangeObserver) {
        self.drop_waiting(listener);
        // Where only one direction was captured, a missing reply says nothing about the
        // server.
        let both_directions_seen = self.last.iter().all(Option::is_some);
        let one_way =
            both_directions_seen && matches!(&self.parser, Parser::Raw(raw) if raw.is_one_way());
        let unknown = matches!(self.parser, Parser::Unknown(_));
        if !one_way && self.is_ambiguous() {
            self.calls.abandon_unanswered(listener);
        }
        // In order of certainty: what the messages show, then what the end of the
        // connection shows.
        let ending = |call: &Call| match closing {
            _ if one_way && call.request_done => Ending::Framed,
            _ if unknown && call.exchange.reply.is_some() => Ending::UntilClose,
            Closing::Orderly | Closing::Reset(_) if both_directions_seen => Ending::Broken,
            _ => Ending::Unseen,
        };
        self.calls.finish_all(ending, listener);
        self.calls.report_finished(listener);
    }

    /// Bytes that wait for others will wait for ever.
    fn drop_waiting(&mut self, listener: &mut impl ExchangeObserver) {
        let kind = match &self.parser {
            Parser::Http2(_) => Kind::H2Other,
            Parser::Giop(_) => Kind::GiopHeaders,
            _ => Kind::Unknown,
        };
        for pending in &mut self.pending {
            pending.discard_as(self.flow, kind, listener);
        }
        if let Parser::Undetected(undetected) = &mut self.parser {
            for (segment, bytes) in undetected.early.drain(..) {
                let bytes = bytes.len() as u32;
                listener.layer(self.flow, Kind::Unknown.into(), bytes, &segment);
            }
        }
    }

    /// There is no room for this connection's state.
    pub(super) fn discard_state(&mut self, listener: &mut impl ExchangeObserver) {
        self.drop_waiting(listener);
        self.calls.finish_all(|_| Ending::Unseen, listener);
        // The unknown protocol needs no buffers, so this connection cannot exceed the
        // limit again.
        self.calls = Calls::new(self.flow);
        self.pending = Default::default();
        self.parser = Parser::Unknown(Unknown::default());
    }
}

/// An unknown protocol: a request is what one side sends until the other begins. The
/// client asks.
#[derive(Debug, Default)]
struct Unknown {
    answering: bool,
}

impl Unknown {
    fn take<E: ExchangeObserver>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        // Without a parser the change of sender is the only structure there is.
        if side == 0 && (self.answering || calls.is_empty()) {
            self.end(calls, cursor.listener);
            let name = turn_name(calls.protocol, input);
            calls.begin(0, cursor).exchange.name = name.into();
        }
        self.answering |= side == 1;
        let call = calls.get(0);
        let extent = call.map(|call| {
            call.request_done |= side == 1;
            call.extent(side)
        });
        cursor.assign_to(Kind::Unknown, input.len(), extent);
    }

    /// Bytes are missing, perhaps whole messages.
    fn gap(&mut self, calls: &mut Calls, listener: &mut impl ExchangeObserver) {
        self.answering = false;
        calls.finish_all(|_| Ending::Unseen, listener);
    }

    fn end(&mut self, calls: &mut Calls, listener: &mut impl ExchangeObserver) {
        self.answering = false;
        if !calls.is_empty() {
            calls.finish(0, Ending::Framed, listener);
        }
    }
}
