//! HTTP/2, both directions (RFC 9113), and gRPC in it.

use wirelab_wire::http2::frame::PREFACE;
use wirelab_wire::http2::frame::{FrameHead, flag, kind, setting};

use super::body::take_body;
use super::calls::{Call, Calls, source_of};
use super::cursor::Cursor;
use super::detect::is_frame;
use super::fields::{Block, FieldReader};
use crate::protocol::exchange::{
    Ending, ExchangeHalf, ExchangeObserver, MessageFraming, Pdu, StreamBytes,
};
use crate::protocol::layer::{Kind, Layer};

/// Payload of SETTINGS, WINDOW_UPDATE and padding lengths that is kept, bytes.
const SMALL_MAX: usize = 240;

#[derive(Debug, Clone, Copy)]
enum Reading {
    /// The number of bytes of the preface that have come.
    Preface(usize),
    Head,
    Payload(Payload),
    /// Bytes are missing: until a frame begins a segment.
    Lost,
}

#[derive(Debug, Clone, Copy)]
struct Payload {
    head: FrameHead,
    /// Bytes of it to come, all in all.
    left: u32,
    /// DATA: the next byte is the length of the padding.
    pad_due: bool,
    /// DATA: of the bytes to come, padding.
    padding: u32,
}

#[derive(Debug)]
struct Side {
    reading: Reading,
    raw: [u8; FrameHead::LEN],
    filled: usize,
    small: Vec<u8>,
    fields: FieldReader,
    /// Of all frames so far that carry no part of a message, bytes.
    control_bytes: u64,
}

/// Both sides of a connection: 0 asks, 1 answers.
#[derive(Debug)]
pub(super) struct Http2 {
    sides: [Side; 2],
    /// Not known yet which side asks.
    may_turn: bool,
    /// Frames are missing, perhaps whole messages.
    pub(super) is_ambiguous: bool,
}

impl Http2 {
    /// `beginning`: the connection is seen from its first byte on.
    pub(super) fn new(beginning: [bool; 2]) -> Http2 {
        let side = |reading, beginning| Side {
            reading,
            raw: [0; FrameHead::LEN],
            filled: 0,
            small: Vec::new(),
            fields: FieldReader::new(beginning),
            control_bytes: 0,
        };
        let [asks, answers] = beginning;
        let first = if asks {
            Reading::Preface(0)
        } else {
            Reading::Lost
        };
        let second = if answers {
            Reading::Head
        } else {
            Reading::Lost
        };
        Http2 {
            sides: [side(first, asks), side(second, answers)],
            may_turn: !asks,
            is_ambiguous: false,
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        let side = |side: &Side| side.small.capacity() + side.fields.state_bytes();
        self.sides.iter().map(side).sum()
    }

    pub(super) fn take<E: ExchangeObserver>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        self.resynchronize(side, input);
        let mut rest = input;
        while !rest.is_empty() {
            let used = match self.sides[side].reading {
                Reading::Preface(seen) => self.preface(side, seen, rest, cursor),
                Reading::Head => self.head(side, rest, calls, cursor),
                Reading::Payload(payload) => self.payload(side, payload, rest, calls, cursor),
                Reading::Lost => {
                    cursor.label(Kind::Unknown, rest.len());
                    rest.len()
                }
            };
            rest = &rest[used..];
        }
    }

    fn resynchronize(&mut self, side: usize, input: &[u8]) {
        let own = &mut self.sides[side];
        if !matches!(own.reading, Reading::Lost) {
            return;
        }
        if input.starts_with(PREFACE) {
            own.reading = Reading::Preface(0);
        } else if is_frame(input) {
            own.reading = Reading::Head;
        }
    }

    fn preface<E: ExchangeObserver>(
        &mut self,
        side: usize,
        seen: usize,
        rest: &[u8],
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let used = rest.len().min(PREFACE.len() - seen);
        let own = &mut self.sides[side];
        // After a hole, or another protocol that begins alike.
        if PREFACE[seen..][..used] != rest[..used] {
            own.reading = Reading::Lost;
            cursor.label(Kind::Unknown, rest.len());
            return rest.len();
        }
        own.reading = match seen + used {
            seen if seen == PREFACE.len() => Reading::Head,
            seen => Reading::Preface(seen),
        };
        cursor.label(Kind::H2Preface, used);
        used
    }

    fn head<E: ExchangeObserver>(
        &mut self,
        side: usize,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let own = &mut self.sides[side];
        let taken = rest.len().min(FrameHead::LEN - own.filled);
        own.raw[own.filled..][..taken].copy_from_slice(&rest[..taken]);
        own.filled += taken;
        cursor.hold(taken);
        if own.filled < FrameHead::LEN {
            return taken;
        }
        own.filled = 0;
        let head = FrameHead::parse(&own.raw);
        self.begin(side, head, calls, cursor);
        taken
    }

    /// A frame's head is whole; it waits for its layer.
    fn begin<E: ExchangeObserver>(
        &mut self,
        side: usize,
        head: FrameHead,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        if !matches!(head.kind, kind::SETTINGS | kind::WINDOW_UPDATE) {
            cursor.pdu(pdu(head, &[]));
        }
        // Stream 0 is the connection itself (RFC 9113 section 5.1.1).
        let mut place = calls.find(head.stream).filter(|_| head.stream > 0);
        let own = &mut self.sides[side];
        own.small.clear();
        match head.kind {
            kind::HEADERS => {
                own.fields.begin(head);
                // Stream ids only grow (RFC 9113 section 5.1.1): on a lower one these
                // are trailers of a call that is over.
                if place.is_none() && side == 0 && head.stream > calls.last_stream {
                    calls.begin(head.stream, cursor);
                    place = calls.find(head.stream);
                }
            }
            kind::CONTINUATION => own.fields.begin_continuation(head),
            _ => {}
        }
        let carries = matches!(head.kind, kind::HEADERS | kind::CONTINUATION | kind::DATA);
        if !carries {
            let bytes = FrameHead::LEN as u64 + u64::from(head.length);
            own.control_bytes += bytes + cursor.framing(bytes);
        }
        let mut call = place.filter(|_| carries).and_then(|at| calls.get(at));
        if let Some(call) = &mut call {
            let before = std::mem::replace(&mut call.control_bytes[side], own.control_bytes);
            let extent = call.extent(side);
            if extent.segments > 0 {
                let more = u32::try_from(own.control_bytes - before).unwrap_or(u32::MAX);
                extent.between_bytes = extent.between_bytes.saturating_add(more);
            }
        }
        if carries {
            let place = StreamBytes {
                direction: cursor.segment.direction,
                stream: head.stream,
                packet: cursor.segment.packet,
                start: cursor.offset.saturating_sub(FrameHead::LEN as u64),
                end: cursor.offset.saturating_add(head.length.into()),
            };
            cursor.listener.stream_bytes(cursor.flow, place);
        }
        // The nine bytes of the head were held until its type was known.
        cursor.release_all(layer_of(head.kind), call.map(|call| call.extent(side)));
        let payload = Payload {
            head,
            left: head.length,
            pad_due: head.kind == kind::DATA && head.has(flag::PADDED) && head.length > 0,
            padding: 0,
        };
        own.reading = Reading::Payload(payload);
        // An empty DATA frame with END_STREAM has no payload byte that would trigger
        // its end.
        if head.length == 0 {
            self.end(side, head, calls, cursor);
        }
    }

    fn payload<E: ExchangeObserver>(
        &mut self,
        side: usize,
        mut payload: Payload,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let head = payload.head;
        let used = rest.len().min(payload.left as usize);
        let input = &rest[..used];
        let own = &mut self.sides[side];
        let place = calls.find(head.stream).filter(|_| head.stream > 0);
        let call = place.and_then(|place| calls.get(place));
        match head.kind {
            kind::DATA => data(&mut payload, input, side, call, cursor),
            kind::HEADERS | kind::CONTINUATION => {
                own.fields.take(input);
                let extent = call.map(|call| call.extent(side));
                cursor.assign_to(Kind::H2Headers, used, extent);
            }
            _ => {
                // Only SETTINGS and WINDOW_UPDATE are read.
                let room = SMALL_MAX.saturating_sub(own.small.len()).min(used);
                own.small.extend_from_slice(&input[..room]);
                cursor.label(layer_of(head.kind), used);
            }
        }
        payload.left -= used as u32;
        own.reading = Reading::Payload(payload);
        if payload.left == 0 {
            self.end(side, head, calls, cursor);
        }
        used
    }

    fn end<E: ExchangeObserver>(
        &mut self,
        side: usize,
        head: FrameHead,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        own.reading = Reading::Head;
        match head.kind {
            kind::SETTINGS | kind::WINDOW_UPDATE => cursor.pdu(pdu(head, &own.small)),
            kind::RST_STREAM => self.reset(head.stream, calls, cursor),
            kind::GOAWAY => {
                let by = cursor.segment.direction;
                cursor.listener.end_announced(cursor.flow, by);
            }
            kind::HEADERS | kind::CONTINUATION => {
                if let Some(block) = own.fields.end(head) {
                    self.section(side, block, calls, cursor);
                }
            }
            kind::DATA if head.has(flag::END_STREAM) => {
                calls.end(side, head.stream, cursor.listener);
            }
            _ => {}
        }
    }

    /// A section of fields is whole.
    fn section<E: ExchangeObserver>(
        &mut self,
        side: usize,
        block: Block,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let fields = self.sides[side].fields.decode();
        let place = calls.find(block.stream);
        if self.may_turn {
            // Only the answering side sends a status, only the asking side a method.
            let turned = [fields.status.is_some(), !fields.method.is_empty()][side];
            self.may_turn = fields.status.is_none() && fields.method.is_empty();
            if turned {
                self.turn(place, calls, cursor.listener);
                return;
            }
        }
        if let Some(call) = place.and_then(|place| calls.get(place)) {
            fields.describe(side, call);
        } else if fields.status.is_some_and(|status| status >= 200)
            && block.stream % 2 == 1 // else it was pushed (RFC 9113 section 5.1.1)
            && (self.is_ambiguous || block.stream > calls.last_stream)
        {
            // Not the late reply to a call that was reset.
            cursor
                .listener
                .message_unpaired(cursor.flow, ExchangeHalf::Reply);
        }
        if block.end_stream {
            calls.end(side, block.stream, cursor.listener);
        }
    }

    /// It is the other side that asks. What was taken for a call is forgotten.
    fn turn(
        &mut self,
        place: Option<usize>,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        if let Some(place) = place {
            calls.forget(place, listener);
        }
        self.sides.swap(0, 1);
        calls.caller = calls.caller.opposite();
    }

    fn reset<E: ExchangeObserver>(
        &mut self,
        stream: u32,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let Some(place) = calls.find(stream) else {
            return;
        };
        // A server may reset the request's side once its reply is complete, with
        // NO_ERROR (RFC 9113 section 8.1).
        let answered = calls.get(place).is_some_and(|call| call.reply_done);
        let ending = if answered {
            Ending::Framed
        } else {
            Ending::Broken
        };
        calls.finish(place, ending, cursor.listener);
    }

    /// Bytes are missing. Inside a payload the thread is kept; what it held is not known.
    pub(super) fn gap<E: ExchangeObserver>(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        // What is missing may have been HEADERS, which would have inserted entries.
        own.fields.miss();
        let Reading::Payload(mut payload) = own.reading else {
            return self.desynchronize(side, calls, cursor);
        };
        let head = payload.head;
        // Beyond this payload it is not known where the next head begins.
        if bytes > u64::from(payload.left) || payload.pad_due {
            return self.desynchronize(side, calls, cursor);
        }
        payload.left -= bytes as u32;
        own.reading = Reading::Payload(payload);
        if head.kind == kind::DATA
            && let Some(call) = calls.find(head.stream).and_then(|at| calls.get(at))
        {
            // The position inside gRPC's messages is lost; what follows counts as
            // message.
            call.grpc[side] = None;
            call.grpc_messages[side].give_up();
            if let Some(stream) = call.stream_body.as_deref_mut().filter(|_| side == 1) {
                stream.miss(bytes);
            }
            call.extent(side).miss(bytes);
        }
        if payload.left == 0 {
            self.end(side, head, calls, cursor);
        }
    }

    fn desynchronize<E: ExchangeObserver>(
        &mut self,
        side: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        own.reading = Reading::Lost;
        own.filled = 0;
        cursor.release_all(Kind::Unknown, None);
        calls.lose_track(cursor.listener);
        calls.abandon_all(cursor.listener);
        self.is_ambiguous = true;
    }
}

/// Takes bytes of DATA: the length of the padding, content, padding.
fn data<E: ExchangeObserver>(
    payload: &mut Payload,
    mut input: &[u8],
    side: usize,
    mut call: Option<&mut Call>,
    cursor: &mut Cursor<'_, E>,
) {
    let mut left = payload.left;
    if payload.pad_due
        && let Some((&padding, rest)) = input.split_first()
    {
        payload.pad_due = false;
        input = rest;
        left -= 1;
        payload.padding = u32::from(padding).min(left);
        let extent = call.as_deref_mut().map(|call| call.extent(side));
        cursor.assign_to(Kind::H2Data, 1, extent);
    }
    let content = input.len().min((left - payload.padding) as usize);
    let (content, padding) = input.split_at(content);
    match call.as_deref_mut() {
        Some(call) => message(content, side, call, cursor),
        None => cursor.label(Kind::Message, content.len()),
    }
    let extent = call.map(|call| call.extent(side));
    cursor.assign_to(Kind::H2Data, padding.len(), extent);
    // What is left of the padding stays behind the content.
    payload.padding -= padding.len() as u32;
}

/// Takes content, and of gRPC the prefixes in it.
fn message<E: ExchangeObserver>(
    mut content: &[u8],
    side: usize,
    call: &mut Call,
    cursor: &mut Cursor<'_, E>,
) {
    let layer = Layer::from(call.content[side]);
    if let Some(mut deframer) = call.grpc[side].take() {
        loop {
            let before = content.len();
            let Ok(piece) = deframer.next(&mut content) else {
                // Whatever it is, it is not gRPC.
                cursor.assign(Kind::Message, before - content.len(), call.extent(side));
                break;
            };
            let kind = match piece {
                Some(wirelab_wire::grpc::Piece::Data(_)) => layer,
                _ => Kind::GrpcPrefixes.into(),
            };
            let source = || source_of(&call.exchange, MessageFraming::Grpc);
            let taken = before - content.len();
            call.grpc_messages[side].take(piece, taken, source, cursor);
            cursor.assign(kind, before - content.len(), call.extent(side));
            if matches!(piece, Some(wirelab_wire::grpc::Piece::Start { .. })) {
                call.messages[side] = call.messages[side].saturating_add(1);
                call.exchange.is_stream |= side == 1 && call.messages[side] > 1;
            }
            if piece.is_none() {
                call.grpc[side] = Some(deframer);
                return;
            }
        }
    }
    if side == 1 {
        take_body(call.stream_body.as_deref_mut(), content, cursor);
    }
    cursor.assign(layer, content.len(), call.extent(side));
}

/// `payload`: of SETTINGS and WINDOW_UPDATE.
fn pdu(head: FrameHead, payload: &[u8]) -> Pdu {
    let is_settings = head.kind == kind::SETTINGS;
    let announced = |name| setting_of(payload, name).filter(|_| is_settings);
    Pdu::Http2 {
        kind: head.kind,
        stream: head.stream,
        length: head.length,
        window: if head.kind == kind::WINDOW_UPDATE {
            // The highest bit is reserved (RFC 9113 section 6.9).
            let raw = payload.first_chunk();
            raw.map(|raw| u32::from_be_bytes(*raw) & (u32::MAX >> 1))
        } else {
            announced(setting::INITIAL_WINDOW_SIZE)
        },
        flags: head.flags,
        streams_max: announced(setting::MAX_CONCURRENT_STREAMS),
    }
}

/// The value that SETTINGS announce.
fn setting_of(payload: &[u8], name: u16) -> Option<u32> {
    let (settings, _) = payload.as_chunks::<6>();
    // Settings are applied in order, so the last one holds (RFC 9113 section 6.5.3).
    let mut values = settings.iter().rev().filter_map(|&[a, b, c, d, e, f]| {
        let is_named = u16::from_be_bytes([a, b]) == name;
        is_named.then(|| u32::from_be_bytes([c, d, e, f]))
    });
    values.next()
}

fn layer_of(frame: u8) -> Kind {
    match frame {
        kind::DATA => Kind::H2Data,
        kind::HEADERS | kind::CONTINUATION => Kind::H2Headers,
        kind::SETTINGS => Kind::H2Settings,
        kind::WINDOW_UPDATE => Kind::H2WindowUpdate,
        kind::PING => Kind::H2Ping,
        kind::GOAWAY => Kind::H2Goaway,
        kind::RST_STREAM => Kind::H2RstStream,
        _ => Kind::H2Other,
    }
}
