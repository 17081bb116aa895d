//! One connection: detects its protocol, and hands its bytes to the parser of it. TLS is
//! not a protocol in this sense: what it encrypts goes the same way once it is decrypted.

use super::calls::{Call, Calls};
use super::cursor::{Cursor, Edge, Pending, Place};
use super::detect::{Detection, REQUEST_LINE_MAX, Role, detect, detect_cut, websocket};
use super::exchange::{Ending, ExchangeObserver, MessageFraming, Pdu, Protocol};
use super::giop::Giop;
use super::http1::{Http1, Next};
use super::http2::Http2;
use super::layer::Kind;
use super::messages::{Follower, Source};
use super::raw::Raw;
use super::tls::keylog::KeyLog;
use super::tls::{Report, Tls, Upper};
use super::turn_names::{TLS_REQUEST, requests_mysql_tls, turn_name};
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
    Unknown(Unknown),
}

/// First bytes that were too few to detect a protocol.
#[derive(Debug, Default)]
struct Undetected {
    early: Vec<(Place, Vec<u8>)>,
    tries: u32,
}

#[derive(Debug)]
pub(super) struct Conversation {
    flow: FlowId,
    pub(super) calls: Calls,
    /// Below the parser, where there is TLS.
    tls: Option<Box<Tls>>,
    /// What became of that, where it was given up.
    given_up: Option<Report>,
    parser: Parser,
    pending: [Pending; 2],
    /// By direction: the next byte is the first that its side sent in this protocol.
    beginning: [bool; 2],
    /// HTTP/1.1 gave way to another protocol.
    is_switched: bool,
    /// To WebSocket, at that time, ns.
    websocket_since_ns: Option<u64>,
    /// Its TLS began within MySQL.
    is_within_mysql: bool,
    /// By direction: bytes handed out so far, gaps among them.
    reached: [u64; 2],
    /// By direction: the last packet that has brought any of them.
    latest: [Edge; 2],
    pub(super) fin: [Option<u64>; 2],
    pub(super) last: [Option<Segment>; 2],
    pub(super) state_bytes: usize,
}

impl Conversation {
    pub(super) fn new(flow: FlowId, opening: &Opening) -> Conversation {
        Conversation {
            flow,
            calls: Calls::new(flow),
            tls: None,
            given_up: None,
            parser: Parser::Undetected(Undetected::default()),
            pending: Default::default(),
            beginning: [opening.from_syn; 2],
            is_switched: false,
            websocket_since_ns: None,
            is_within_mysql: false,
            reached: [0; 2],
            latest: [Edge::default(); 2],
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
            Parser::Undetected(undetected) => undetected.state_bytes(),
            Parser::Http1(http1) => http1.state_bytes(),
            Parser::Http2(http2) => http2.state_bytes(),
            Parser::Giop(giop) => giop.state_bytes(),
            _ => 0,
        };
        let pending: usize = self.pending.iter().map(Pending::state_bytes).sum();
        let tls = self.tls.as_ref().map_or(0, |tls| tls.state_bytes());
        parser + pending + self.calls.state_bytes() + tls
    }

    /// What became of its TLS, where it is TLS.
    pub(super) fn tls_report(&self) -> Option<Report> {
        self.tls.as_ref().map(|tls| tls.report()).or(self.given_up)
    }

    pub(super) fn bytes(
        &mut self,
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        let way = place.segment.direction as usize;
        self.reached[way] = place.offset + bytes.len() as u64;
        let segment = &place.segment;
        if segment.packet > self.latest[way].packet {
            self.latest[way] = Edge {
                offset: 0,
                packet: segment.packet,
                at_ns: segment.at_ns,
            };
        }
        self.take(place, bytes, keys, listener);
    }

    fn take(
        &mut self,
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        let Some(mut tls) = self.tls.take() else {
            return self.read(place, bytes, keys, listener);
        };
        let upper = &mut Decrypted {
            conversation: self,
            keys,
            listener,
        };
        tls.take(&place.segment, place.offset, bytes, upper);
        self.tls = Some(tls);
    }

    /// Takes bytes in plain text.
    fn read(
        &mut self,
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        if matches!(self.parser, Parser::Undetected(_)) {
            self.detect(place, bytes, keys, listener);
        } else {
            self.parse(place, bytes, keys, listener);
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
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        let direction = place.segment.direction;
        let side = self.side(direction);
        self.beginning[direction as usize] = false;
        let calls = &mut self.calls;
        let cursor = &mut Cursor {
            flow: self.flow,
            segment: &place.segment,
            offset: place.offset,
            record: place.record.as_ref(),
            pending: &mut self.pending[direction as usize],
            latest: self.latest[direction as usize],
            listener,
        };
        match &mut self.parser {
            Parser::Undetected(_) => cursor.label(Kind::Unknown, bytes.len()),
            Parser::Http1(http1) => {
                // After 101 the connection uses another protocol from the next byte on
                // (RFC 9110 section 7.8).
                if let Next::Switched(used, is_websocket) = http1.take(side, bytes, calls, cursor) {
                    // What comes next is the first of another protocol.
                    self.parser = Parser::Undetected(Undetected::default());
                    self.beginning = [true; 2];
                    self.is_switched = true;
                    self.websocket_since_ns = is_websocket.then_some(place.segment.at_ns);
                    if used < bytes.len() {
                        let offset = place.offset + used as u64;
                        let place = &Place { offset, ..*place };
                        self.detect(place, &bytes[used..], keys, listener);
                    }
                }
            }
            Parser::Http2(http2) => http2.take(side, bytes, calls, cursor),
            Parser::Giop(giop) => giop.take(side, bytes, calls, cursor),
            Parser::Raw(raw) => raw.take(side, bytes, calls, cursor),
            Parser::Unknown(unknown) => {
                unknown.take(side, bytes, calls, cursor);
                if accepts_tls(side, bytes, calls) || begins_tls(side, bytes, calls) {
                    calls.finish(0, Ending::Framed, cursor.listener);
                    self.parser = Parser::Undetected(Undetected::default());
                    self.beginning = [true; 2];
                }
            }
        }
    }

    fn detect(
        &mut self,
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        let Parser::Undetected(undetected) = &mut self.parser else {
            return;
        };
        let segment = &place.segment;
        let beginning = self.beginning[segment.direction as usize];
        let mut first = undetected.first_bytes(segment.direction);
        let detection = if first.is_empty() {
            detect(bytes, beginning)
        } else {
            first.extend_from_slice(&bytes[..bytes.len().min(REQUEST_LINE_MAX)]);
            detect(&first, beginning)
        };
        let detection = match detection {
            // TLS is not decrypted twice.
            Detection::Is(Protocol::Tls, _) if place.record.is_some() => Detection::None,
            _ if self.websocket_since_ns.is_some() => websocket(whole(&first, bytes), true),
            Detection::None if self.is_switched => websocket(whole(&first, bytes), false),
            Detection::None if self.is_within_mysql && place.record.is_some() => {
                Detection::Is(Protocol::Mysql, Role::Either)
            }
            other => other,
        };
        match detection {
            // Kept with its segment: once the protocol is known, these bytes are parsed
            // with their own times.
            Detection::NeedMore => {
                undetected.early.push((*place, bytes.to_vec()));
                return;
            }
            Detection::None if !beginning && undetected.tries < ATTEMPTS_MAX => {
                // In the middle of something: perhaps the next segment begins with a head.
                undetected.tries += 1;
                undetected.drop_early(self.flow, listener);
                let bytes = bytes.len() as u32;
                listener.layer(self.flow, Kind::Unknown.into(), bytes, segment);
                return;
            }
            _ => {}
        }
        self.take_early(detection, segment.direction, keys, listener);
        self.take_detected(place, bytes, keys, listener);
    }

    /// The protocol is known: takes what came before.
    fn take_early(
        &mut self,
        detection: Detection,
        sender: Direction,
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        let Parser::Undetected(undetected) = &mut self.parser else {
            return;
        };
        let early = std::mem::take(&mut undetected.early);
        self.decide(detection, sender);
        for (place, bytes) in &early {
            self.take_detected(place, bytes, keys, listener);
        }
    }

    /// Takes bytes once it is known whether they are TLS.
    fn take_detected(
        &mut self,
        place: &Place,
        bytes: &[u8],
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        if self.tls.is_some() {
            self.take(place, bytes, keys, listener);
        } else {
            self.parse(place, bytes, keys, listener);
        }
    }

    fn decide(&mut self, detection: Detection, sender: Direction) {
        let Detection::Is(protocol, role) = detection else {
            self.parser = Parser::Unknown(Unknown::default());
            return;
        };
        self.is_within_mysql |= self.calls.protocol == Protocol::Mysql;
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
            Protocol::Tls => {
                self.tls = Some(Box::default());
                // What it holds begins with its first byte.
                self.beginning = [true; 2];
                Parser::Undetected(Undetected::default())
            }
            Protocol::Websocket => Parser::Unknown(Unknown::websocket(self.websocket_since_ns)),
            Protocol::Postgresql
            | Protocol::Mysql
            | Protocol::Mongodb
            | Protocol::Redis
            | Protocol::Mqtt
            | Protocol::Thrift
            | Protocol::Unknown => Parser::Unknown(Unknown::default()),
        };
    }

    pub(super) fn gap(
        &mut self,
        direction: Direction,
        offset: u64,
        bytes: u64,
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        self.reached[direction as usize] = offset.saturating_add(bytes);
        let Some(mut tls) = self.tls.take() else {
            self.detect_cut(direction, keys, listener);
            return self.lose(direction, offset, bytes, listener);
        };
        if let Some(last) = self.last_segment() {
            let segment = Segment { direction, ..last };
            let upper = &mut Decrypted {
                conversation: self,
                keys,
                listener,
            };
            tls.gap(&segment, offset, bytes, upper);
        }
        self.tls = Some(tls);
    }

    /// What was captured of a first line may show what it was.
    fn detect_cut(
        &mut self,
        direction: Direction,
        keys: &KeyLog,
        listener: &mut impl ExchangeObserver,
    ) {
        if let Parser::Undetected(undetected) = &self.parser
            && let detection = detect_cut(&undetected.first_bytes(direction))
            && matches!(detection, Detection::Is(..))
        {
            self.take_early(detection, direction, keys, listener);
        }
    }

    /// What follows a gap, or ends before it, was reported after a segment.
    fn last_segment(&self) -> Option<Segment> {
        let [request, reply] = self.last;
        request.or(reply)
    }

    /// Bytes in plain text are missing.
    fn lose(
        &mut self,
        direction: Direction,
        offset: u64,
        bytes: u64,
        listener: &mut impl ExchangeObserver,
    ) {
        let place = direction as usize;
        self.beginning[place] = false;
        let Some(last) = self.last_segment() else {
            return;
        };
        let side = self.side(direction);
        let calls = &mut self.calls;
        let pending = &mut self.pending[place];
        let cursor = &mut Cursor {
            flow: self.flow,
            segment: &last,
            offset,
            record: None,
            pending,
            latest: self.latest[place],
            listener,
        };
        match &mut self.parser {
            Parser::Undetected(undetected) => undetected.drop_early(self.flow, cursor.listener),
            Parser::Http1(http1) => http1.gap(side, bytes, calls, cursor.listener),
            Parser::Http2(http2) => http2.gap(side, bytes, calls, cursor),
            Parser::Giop(giop) => giop.gap(side, bytes, calls, cursor),
            Parser::Raw(raw) => raw.gap(side, bytes, calls, cursor.listener),
            Parser::Unknown(unknown) => unknown.gap(side, bytes, calls, cursor.listener),
        }
    }

    /// A stream is over when its FIN and all before it have come.
    pub(super) fn end_if_reached(
        &mut self,
        direction: Direction,
        listener: &mut impl ExchangeObserver,
    ) {
        if !self.is_over(direction) {
            return;
        }
        let side = self.side(direction);
        if let Parser::Http1(http1) = &mut self.parser {
            http1.end_of_stream(side, &mut self.calls, listener);
        }
        if side == 1 {
            listener.replies_over(self.flow);
        }
    }

    /// Its FIN and all before it have come.
    fn is_over(&self, direction: Direction) -> bool {
        let place = direction as usize;
        self.fin[place].is_some_and(|fin| fin <= self.reached[place])
    }

    pub(super) fn closed(&mut self, closing: Closing, listener: &mut impl ExchangeObserver) {
        self.finish_tls(listener);
        self.drop_waiting(listener);
        // Where only one direction was captured, a missing reply says nothing about the
        // server.
        let both_directions_seen = self.last.iter().all(Option::is_some);
        let one_way =
            both_directions_seen && matches!(&self.parser, Parser::Raw(raw) if raw.is_one_way());
        let unknown = matches!(self.parser, Parser::Unknown(_));
        let replies_over = self.is_over(self.calls.caller.opposite());
        if !one_way && self.is_ambiguous() {
            self.calls.abandon_unanswered(listener);
        }
        // In order of certainty: what the messages show, then what the end of the
        // connection shows.
        let ending = |call: &Call| match closing {
            _ if one_way && call.request_done => Ending::Framed,
            _ if unknown && call.exchange.reply.is_some() => Ending::UntilClose,
            Closing::Orderly | Closing::Reset(_) if both_directions_seen => Ending::Broken,
            // A server may have closed, and its client not, when the capture ends.
            Closing::Unseen if both_directions_seen && replies_over => Ending::Broken,
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
            undetected.drop_early(self.flow, listener);
        }
    }

    /// A record that is not whole will never be.
    fn finish_tls(&mut self, listener: &mut impl ExchangeObserver) {
        if let Some(mut tls) = self.tls.take() {
            self.given_up = Some(tls.report());
            tls.finish(&mut Decrypted {
                conversation: self,
                keys: &KeyLog::default(),
                listener,
            });
        }
    }

    /// There is no room for this connection's state.
    pub(super) fn discard_state(&mut self, listener: &mut impl ExchangeObserver) {
        self.finish_tls(listener);
        self.drop_waiting(listener);
        self.calls.finish_all(|_| Ending::Unseen, listener);
        // The unknown protocol needs no buffers, so this connection cannot exceed the
        // limit again.
        self.calls = Calls::new(self.flow);
        self.pending = Default::default();
        self.parser = Parser::Unknown(Unknown::default());
    }
}

impl Undetected {
    /// Both directions may wait at once; each is detected by its own bytes.
    fn first_bytes(&self, direction: Direction) -> Vec<u8> {
        let own = |piece: &&(Place, Vec<u8>)| piece.0.segment.direction == direction;
        let early = self.early.iter().filter(own);
        early.flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    }

    fn state_bytes(&self) -> usize {
        let bytes: usize = self.early.iter().map(|(_, bytes)| bytes.capacity()).sum();
        bytes + self.early.capacity() * size_of::<(Place, Vec<u8>)>()
    }

    /// The bytes that waited are of no protocol.
    fn drop_early(&mut self, flow: FlowId, listener: &mut impl ExchangeObserver) {
        for (place, bytes) in self.early.drain(..) {
            let bytes = bytes.len() as u32;
            listener.layer(flow, Kind::Unknown.into(), bytes, &place.segment);
        }
    }
}

/// What has come of a first frame, in several segments or in one.
fn whole<'a>(first: &'a [u8], bytes: &'a [u8]) -> &'a [u8] {
    if first.is_empty() { bytes } else { first }
}

/// A server of PostgreSQL agrees to TLS (PostgreSQL documentation, "SSL Session Encryption").
fn accepts_tls(side: usize, bytes: &[u8], calls: &mut Calls) -> bool {
    let is_answer = side == 1 && bytes == b"S" && calls.protocol == Protocol::Postgresql;
    is_answer && (calls.get(0)).is_some_and(|call| &*call.exchange.name == TLS_REQUEST)
}

/// A client of MySQL speaks TLS from its next byte on. What was encrypted is MySQL again,
/// which only its first packet shows.
fn begins_tls(side: usize, bytes: &[u8], calls: &Calls) -> bool {
    side == 0 && calls.protocol == Protocol::Mysql && requests_mysql_tls(bytes)
}

/// What TLS has decrypted goes to the parsers of its conversation.
struct Decrypted<'a, E> {
    conversation: &'a mut Conversation,
    keys: &'a KeyLog,
    listener: &'a mut E,
}

impl<E: ExchangeObserver> Upper for Decrypted<'_, E> {
    fn keys(&self) -> &KeyLog {
        self.keys
    }

    fn label(&mut self, kind: Kind, bytes: usize, segment: &Segment) {
        if bytes > 0 {
            let flow = self.conversation.flow;
            self.listener
                .layer(flow, kind.into(), bytes as u32, segment);
        }
    }

    fn pdu(&mut self, pdu: Pdu, segment: &Segment) {
        self.listener.pdu(self.conversation.flow, pdu, segment);
    }

    fn content(&mut self, place: &Place, bytes: &[u8]) {
        self.conversation
            .read(place, bytes, self.keys, self.listener);
    }

    fn gap(&mut self, direction: Direction, offset: u64, bytes: u64) {
        self.conversation
            .lose(direction, offset, bytes, self.listener);
    }
}

/// An unknown protocol: a request is what one side sends until the other begins. The
/// client asks.
#[derive(Debug, Default)]
struct Unknown {
    answering: bool,
    /// By side, in WebSocket: what finds its messages.
    followers: [Option<Box<Follower>>; 2],
}

impl Unknown {
    /// WebSocket. `since_ns`: when it began, where that was agreed on.
    fn websocket(since_ns: Option<u64>) -> Unknown {
        let follower = || {
            since_ns.map(|_| {
                Box::new(Follower::new(Source {
                    framing: MessageFraming::Websocket,
                    exchange: None,
                    stream: 0,
                    since_ns,
                }))
            })
        };
        Unknown {
            answering: false,
            followers: [follower(), follower()],
        }
    }

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
        if let Some(follower) = &mut self.followers[side] {
            follower.take(input, cursor);
        }
        let call = calls.get(0);
        let extent = call.map(|call| {
            call.request_done |= side == 1;
            call.extent(side)
        });
        cursor.assign_to(Kind::Unknown, input.len(), extent);
    }

    /// Bytes are missing, perhaps whole messages.
    fn gap(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        self.answering = false;
        if let Some(follower) = &mut self.followers[side] {
            follower.miss(bytes);
        }
        calls.lose_track(listener);
        calls.finish_all(|_| Ending::Unseen, listener);
    }

    fn end(&mut self, calls: &mut Calls, listener: &mut impl ExchangeObserver) {
        self.answering = false;
        if !calls.is_empty() {
            calls.finish(0, Ending::Framed, listener);
        }
    }
}
