//! HTTP/1.0 and 1.1, both directions (RFC 9112).

use wirelab_wire::ContentType;
use wirelab_wire::codec::Codec;
use wirelab_wire::http1::passive::{
    self, Chunked, Framing, HEAD_BYTES_MAX, ReplyHead, RequestHead, has_empty_line,
};

use super::body::{StreamBody, take_body};
use super::calls::{Call, Calls, name};
use super::cursor::Cursor;
use super::detect::{Detection, Role, detect};
use super::messages::framing_of;
use super::pairing::Pairing;
use crate::protocol::exchange::{
    ContinueWait, Ending, ExchangeObserver, Extent, MessageFraming, Pdu, Protocol,
};
use crate::protocol::layer::{Content, Kind, Layer};

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
    /// Bytes are missing, or were not HTTP: until a head begins a segment.
    Lost,
}

#[derive(Debug)]
struct Side {
    state: State,
    partial: Vec<u8>,
    content: Content,
}

/// Both sides of a connection: 0 asks, 1 answers.
#[derive(Debug)]
pub(super) struct Http1 {
    sides: [Side; 2],
    pub(super) pairing: Pairing,
    /// Time and packet of the end of a head whose body may wait for a permission.
    expects_at: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Same,
    /// Another protocol: 101, or the tunnel of CONNECT. The number of bytes that were used, and
    /// whether it is WebSocket.
    Switched(usize, bool),
}

impl Http1 {
    /// `beginning` by side: its first byte is the first of the connection.
    pub(super) fn new(beginning: [bool; 2]) -> Http1 {
        let side = |beginning| Side {
            state: if beginning { State::Head } else { State::Lost },
            partial: Vec::new(),
            content: Content::Other,
        };
        Http1 {
            sides: beginning.map(side),
            pairing: Pairing::default(),
            expects_at: None,
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.sides.iter().map(|side| side.partial.capacity()).sum()
    }

    pub(super) fn take<E: ExchangeObserver>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> Next {
        self.resynchronize(side, input);
        let mut rest = input;
        while !rest.is_empty() {
            if side == 0 && self.expects_at.is_some() {
                self.end_continue_wait(calls, cursor);
            }
            let used = match self.sides[side].state {
                State::Head if side == 0 => self.request_head(rest, calls, cursor),
                State::Head => match self.reply_head(rest, calls, cursor) {
                    (used, Next::Same) => used,
                    (used, Next::Switched(_, is_websocket)) => {
                        let used = input.len() - rest.len() + used;
                        return Next::Switched(used, is_websocket);
                    }
                },
                State::Lost => {
                    cursor.label(Kind::Unknown, rest.len());
                    rest.len()
                }
                _ => self.body(side, rest, calls, cursor),
            };
            rest = &rest[used..];
        }
        Next::Same
    }

    /// The first byte behind a head with an expectation: of its body, if that is known.
    #[cold]
    fn end_continue_wait<E: ExchangeObserver>(
        &mut self,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let is_body = matches!(self.sides[0].state, State::Length(_) | State::Chunked(_));
        let Some((from_ns, packet)) = self.expects_at.take().filter(|_| is_body) else {
            return;
        };
        let segment = cursor.segment;
        if let Some(call) = calls.newest().filter(|_| packet < segment.packet) {
            let wait = ContinueWait {
                ordinal: call.exchange.ordinal,
                from_ns,
                to_ns: segment.at_ns,
                packets: [packet, segment.packet],
            };
            cursor.listener.continue_waited(cursor.flow, wait);
        }
    }

    /// Begins again where a head begins a segment.
    fn resynchronize(&mut self, side: usize, input: &[u8]) {
        if !matches!(self.sides[side].state, State::Lost) {
            return;
        }
        // A request head on the reply side means that the roles are not what they were
        // taken for; then nothing is parsed rather than guessed.
        let expected = [Role::Client, Role::Server][side];
        if detect(input, false) == Detection::Is(Protocol::Http1, expected) {
            self.sides[side].state = State::Head;
        }
    }

    /// Finds a whole head at the front of `rest`, or keeps what there is of it.
    /// Returns the bytes that belong to the head.
    fn head<'a, T>(
        partial: &'a mut Vec<u8>,
        rest: &'a [u8],
        parse: impl FnOnce(&'a [u8]) -> Result<Option<(T, usize)>, ()>,
    ) -> (usize, Result<Option<T>, ()>) {
        let before = partial.len();
        // The common case: a head inside one segment is parsed in place, without a
        // copy.
        if before == 0 && has_empty_line(rest, 0) {
            return match parse(rest) {
                Ok(Some((head, bytes))) => (bytes, Ok(Some(head))),
                _ => (rest.len(), Err(())),
            };
        }
        // One byte above the limit, so that exceeding it is seen.
        let taken = rest.len().min(HEAD_BYTES_MAX + 1 - before);
        partial.extend_from_slice(&rest[..taken]);
        if partial.len() > HEAD_BYTES_MAX {
            return (taken, Err(()));
        }
        if !has_empty_line(partial, before) {
            return (taken, Ok(None));
        }
        match parse(partial) {
            Ok(Some((head, bytes))) => (bytes.saturating_sub(before), Ok(Some(head))),
            _ => (taken, Err(())),
        }
    }

    fn request_head<E: ExchangeObserver>(
        &mut self,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let [side, _] = &mut self.sides;
        if side.partial.is_empty() {
            // With the first byte of the head, even when its end comes later: the
            // call's time begins with that packet.
            calls.begin(0, cursor);
        }
        let parse = |bytes| match passive::request(bytes) {
            Ok(head) => Ok(head.map(|head| ((head, expects_continue(&head, bytes)), head.bytes))),
            Err(_) => Err(()),
        };
        let (used, head) = Http1::head(&mut side.partial, rest, parse);
        let Some(call) = calls.newest() else {
            side.partial.clear();
            side.state = State::Lost;
            cursor.label(Kind::Unknown, used);
            return used;
        };
        cursor.assign(Kind::HttpHeads, used, &mut call.exchange.request);
        let known = match head {
            Ok(None) => return used,
            Ok(Some((head, expects))) => {
                side.state = begin_body(&head.framing);
                side.content = content_of(head.content_type);
                describe(call, &head);
                let segment = cursor.segment;
                if head.closes {
                    cursor
                        .listener
                        .end_announced(cursor.flow, segment.direction);
                }
                self.expects_at = expects.then_some((segment.at_ns, segment.packet));
                true
            }
            Err(()) => {
                side.state = State::Lost;
                false
            }
        };
        side.partial.clear();
        if known {
            cursor.pdu(Pdu::HttpRequest);
            // No body (RFC 9112 section 6.3): the request ends with its head.
            if matches!(side.state, State::Head) {
                self.end(0, calls, cursor);
            }
        } else {
            self.desynchronize(0, calls, cursor.listener);
        }
        used
    }

    fn reply_head<E: ExchangeObserver>(
        &mut self,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> (usize, Next) {
        let [_, side] = &mut self.sides;
        if side.partial.is_empty() {
            self.pairing.answer(calls, cursor);
        }
        let mut call = self.pairing.find_answered_call(calls);
        let head_only = call.as_ref().is_some_and(|call| call.head_only);
        let parse = |bytes: &[u8]| match passive::reply(bytes, head_only) {
            Ok(head) => Ok(head.map(|head| ((head, Follows::of(&head, bytes)), head.bytes))),
            Err(_) => Err(()),
        };
        let (used, head) = Http1::head(&mut side.partial, rest, parse);
        let Ok(Some((head, follows))) = head else {
            let extent = call.map(Call::reply);
            cursor.assign_to(Kind::HttpHeads, used, extent);
            if head.is_err() {
                self.desynchronize(1, calls, cursor.listener);
            }
            return (used, Next::Same);
        };
        side.partial.clear();
        cursor.pdu(Pdu::HttpReply(head.status));
        // Interim replies precede the final one (RFC 9110 section 15.2).
        if head.status < 200 && head.status != 101 {
            // An interim head is not part of the reply: a client that waits for the
            // reply waits on.
            if let Some(call) = call {
                call.exchange.reply = None;
            }
            cursor.label(Kind::HttpHeads, used);
            return (used, Next::Same);
        }
        if follows == Follows::Http2
            && let Some(call) = call
        {
            upgrade(call);
            calls.last_stream = 1;
            cursor.label(Kind::HttpHeads, used);
            return (used, Next::Switched(used, false));
        }
        if call.is_none() {
            // The capture lacks the request of this reply.
            self.pairing.orphan(cursor);
        }
        if head.closes && head.status != 101 {
            let by = cursor.segment.direction;
            cursor.listener.end_announced(cursor.flow, by);
        }
        side.state = begin_body(&head.framing);
        side.content = content_of(head.content_type);
        let switches = match &mut call {
            Some(call) => {
                call.exchange.status = Some((head.status, None));
                if let Follows::Messages(framing, is_encoded) = follows {
                    call.begin_stream(framing, is_encoded);
                }
                // RFC 9110 sections 15.2.2 and 9.3.6.
                head.status == 101 || call.tunnel && head.status < 300
            }
            None => head.status == 101,
        };
        cursor.assign_to(Kind::HttpHeads, used, call.map(Call::reply));
        if switches {
            self.sides[0].state = State::Head;
            if let Some(call) = self.pairing.find_answered_call(calls) {
                call.request_done = true;
            }
            self.end(1, calls, cursor);
            return (used, Next::Switched(used, follows == Follows::Websocket));
        }
        if matches!(self.sides[1].state, State::Head) {
            self.end(1, calls, cursor);
        }
        (used, Next::Same)
    }

    fn body<E: ExchangeObserver>(
        &mut self,
        side: usize,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let (extent, stream) = self.pairing.body(side, calls);
        let own = &mut self.sides[side];
        let content = Layer::from(own.content);
        let (used, complete) = match &mut own.state {
            State::Length(left) => {
                let used = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                take_body(stream, &rest[..used], cursor);
                cursor.assign_to(content, used, extent);
                (used, *left == 0)
            }
            State::Chunked(chunked) => {
                match chunks(chunked, rest, content, (extent, stream), cursor) {
                    Some(done) => done,
                    None => {
                        self.desynchronize(side, calls, cursor.listener);
                        return rest.len();
                    }
                }
            }
            _ => {
                take_body(stream, rest, cursor);
                cursor.assign_to(content, rest.len(), extent);
                (rest.len(), false)
            }
        };
        if complete {
            self.end(side, calls, cursor);
        }
        used
    }

    fn end<E: ExchangeObserver>(
        &mut self,
        side: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        self.sides[side].state = State::Head;
        self.pairing
            .finish(side, Ending::Framed, calls, cursor.listener);
    }

    pub(super) fn end_of_stream(
        &mut self,
        side: usize,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        if side == 1 && matches!(self.sides[1].state, State::UntilClose) {
            self.sides[1].state = State::Lost;
            self.pairing.finish(1, Ending::UntilClose, calls, listener);
        }
    }

    /// The thread is lost: until a head begins a segment.
    fn desynchronize(
        &mut self,
        side: usize,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        self.sides[side].state = State::Lost;
        self.sides[side].partial.clear();
        self.pairing.desynchronize(side, calls, listener);
    }

    /// Bytes are missing. Inside a body of known end the thread is kept.
    pub(super) fn gap(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        let complete = match &mut self.sides[side].state {
            State::Length(left) if *left >= bytes => {
                *left -= bytes;
                *left == 0
            }
            // The length is not known in any case; what is missing counts to it.
            State::UntilClose => false,
            _ => return self.desynchronize(side, calls, listener),
        };
        let (extent, stream) = self.pairing.body(side, calls);
        if let Some(extent) = extent {
            extent.miss(bytes);
        }
        if let Some(stream) = stream {
            stream.miss(bytes);
        }
        if complete {
            self.sides[side].state = State::Head;
            self.pairing.finish(side, Ending::Framed, calls, listener);
        }
    }
}

/// Takes what belongs to a chunked body: bytes used, and whether it is
/// complete; None when it is none.
fn chunks<E: ExchangeObserver>(
    chunked: &mut Chunked,
    rest: &[u8],
    content: Layer,
    (mut extent, mut stream): (Option<&mut Extent>, Option<&mut StreamBody>),
    cursor: &mut Cursor<'_, E>,
) -> Option<(usize, bool)> {
    let mut done = 0;
    let step = chunked.decode(rest, |data| {
        // Data are slices of the input; what lies before them is framing.
        let at = data.as_ptr() as usize - rest.as_ptr() as usize;
        cursor.assign_to(Kind::HttpChunks, at - done, extent.as_deref_mut());
        take_body(stream.as_deref_mut(), data, cursor);
        cursor.assign_to(content, data.len(), extent.as_deref_mut());
        done = at + data.len();
    });
    match step {
        Ok(step) => {
            cursor.assign_to(Kind::HttpChunks, step.used - done, extent);
            Some((step.used, step.complete))
        }
        Err(_) => {
            cursor.label(Kind::Unknown, rest.len() - done);
            None
        }
    }
}

/// The client may hold the body back until the server permits it (RFC 9110 section 10.1.1).
fn expects_continue(head: &RequestHead<'_>, bytes: &[u8]) -> bool {
    let has_body = !matches!(head.framing, Framing::Absent | Framing::Length(0));
    // Behind a client that waits there is nothing yet.
    has_body && bytes.len() == head.bytes && has_field(bytes, b"expect:", b"100-continue")
}

/// A line of a head with that name, colon included, and value, both in any case.
fn has_field(head: &[u8], name: &[u8], value: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let (own, rest) = line.split_at_checked(name.len()).unwrap_or_default();
        own.eq_ignore_ascii_case(name) && rest.trim_ascii().eq_ignore_ascii_case(value)
    })
}

/// What comes behind the head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    Body,
    /// A stream of messages, and whether that is encoded.
    Messages(MessageFraming, bool),
    Http2,
    Websocket,
}

impl Follows {
    fn of(head: &ReplyHead, bytes: &[u8]) -> Follows {
        if head.status == 101 {
            let bytes = &bytes[..head.bytes];
            return match () {
                () if upgrades_to_http2(head, bytes) => Follows::Http2,
                () if has_field(bytes, b"upgrade:", b"websocket") => Follows::Websocket,
                () => Follows::Body,
            };
        }
        let framing = match head.content_type {
            ContentType::EventStream => Some(MessageFraming::Sse),
            ContentType::ConnectProto | ContentType::ConnectJson => Some(MessageFraming::Connect),
            ContentType::Other => {
                field(&bytes[..head.bytes], b"content-type:").and_then(framing_of)
            }
            _ => None,
        };
        framing.map_or(Follows::Body, |framing| {
            Follows::Messages(framing, is_encoded(&bytes[..head.bytes]))
        })
    }
}

/// The value of the first line of a head with that name, colon included, in any case.
fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let (own, rest) = line.split_at_checked(name.len())?;
        own.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
    })
}

/// The body is compressed (RFC 9110 section 8.4).
fn is_encoded(head: &[u8]) -> bool {
    let encoding = field(head, b"content-encoding:");
    encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case(b"identity"))
}

/// An upgrade to HTTP/2 without TLS (RFC 7540 section 3.2), as some clients still ask for it.
fn upgrades_to_http2(head: &ReplyHead, bytes: &[u8]) -> bool {
    head.status == 101 && has_field(bytes, b"upgrade:", b"h2c")
}

/// Stream 1 answers the request that asked for HTTP/2 (RFC 7540 section 3.2); the head with
/// 101 is not part of that.
fn upgrade(call: &mut Call) {
    call.request_done = true;
    call.exchange.reply = None;
    call.exchange.stream = 1;
    call.exchange.protocol = Protocol::Http2;
}

fn begin_body(framing: &Framing) -> State {
    match framing {
        Framing::Absent | Framing::Length(0) => State::Head,
        Framing::Length(bytes) => State::Length(*bytes),
        Framing::Chunked => State::Chunked(Chunked::default()),
        Framing::UntilClose => State::UntilClose,
    }
}

fn describe(call: &mut Call, head: &RequestHead<'_>) {
    // Without the query, which holds ids: calls are grouped by name.
    let path = head.target.split(['?', '#']).next().unwrap_or_default();
    call.exchange.name = name([head.method, path]);
    // A reply to HEAD announces a length and has no body (RFC 9110 section 9.3.2); a
    // reply to CONNECT opens a tunnel (section 9.3.6).
    call.head_only = head.method == "HEAD";
    call.tunnel = head.method == "CONNECT";
}

pub(super) fn content_of(named: ContentType) -> Content {
    match named {
        ContentType::Body(Codec::Json) => Content::Json,
        ContentType::Body(Codec::Xml) | ContentType::SoapXml => Content::Xml,
        ContentType::Body(Codec::Protobuf)
        | ContentType::Proto
        | ContentType::ConnectProto
        | ContentType::Grpc => Content::Protobuf,
        ContentType::Body(Codec::Text) | ContentType::EventStream => Content::Text,
        // No name of a content that the diagnosis distinguishes.
        ContentType::Absent
        | ContentType::Body(_)
        | ContentType::ConnectJson
        | ContentType::Other => Content::Other,
    }
}
