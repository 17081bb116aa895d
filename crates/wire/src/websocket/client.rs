//! One WebSocket connection's client side.

use std::sync::Arc;

use super::deframer::{Deframer, Piece};
use super::extension::{DeflateOffer, Negotiated};
use super::frame::{Kind, Opcode, violation};
use super::handshake::{Answer, Handshake, SWITCHING_PROTOCOLS};
use super::requests::Requests;
use crate::excerpt::excerpt;
use crate::http1::HeadLimits;
use crate::session::{CallId, End, Failure, Head, ProtocolError, Replies, Request, Session};

/// The status that a reply is given which is an application error, as in REST.
pub const BAD_REQUEST: u16 = 400;

/// How the message of an error begins (contracts/README.md, WebSocket).
const ERROR: &[u8] = br#"{"error":"#;

/// The status of a connection that ends as it should (RFC 6455 section 7.4.1).
const NORMAL_CLOSURE: u16 = 1000;

/// The status of a connection on which the server broke the protocol.
const PROTOCOL_ERROR: u16 = 1002;

/// What ends a reply, which WebSocket itself does not mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// An empty text message (contracts/README.md, WebSocket), which is not reported.
    EmptyText,
    /// This number of messages, 1 or more.
    Messages(u64),
}

/// How a connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What ends a reply.
    pub ending: Ending,
    /// What the messages of replies are; None: either. Errors of the contracts are text in any
    /// case (contracts/README.md, WebSocket).
    pub kind: Option<Kind>,
    /// One call per connection.
    pub close: bool,
    /// The largest head of a reply that is accepted.
    pub head_limits: HeadLimits,
    /// Bytes of the longest message that is accepted, decompressed.
    pub message_bytes_max: u32,
    /// Compression is offered: permessage-deflate (RFC 7692).
    pub deflate: Option<DeflateOffer>,
}

/// One WebSocket connection's client side. The first request's path and fields begin the
/// connection, and its time is part of the first call. A request's body is a list of messages
/// ([`super::append_message`]); every request must pass [`super::check_request`]. Of a reply,
/// each [`Replies::body`] is one whole message. Its status is 101, or 400 where an error of the
/// contracts is the first message. One call is in flight at most.
#[derive(Debug)]
pub struct WebSocket {
    options: Options,
    state: State,
    requests: Requests,
    deframer: Deframer,
    pending: Option<CallId>,
    /// The call that began the handshake, until it ends.
    opening: Option<CallId>,
    /// Messages of the reply under way.
    messages: u64,
    /// The reply under way has shown a byte.
    first_byte_reported: bool,
    used: bool,
    /// No further request.
    closing: bool,
    /// Input means nothing any more.
    input_ignored: bool,
    /// How the server answered the offer, until it is asked for.
    negotiated: Option<Negotiated>,
}

#[derive(Debug)]
enum State {
    /// Nothing has been sent.
    New,
    /// The handshake of that call waits to be sent.
    HandshakeQueued {
        handshake: Box<Handshake>,
        head: Vec<u8>,
    },
    /// It has been sent.
    HandshakeSent(Box<Handshake>),
    /// The server has switched.
    Open,
}

impl WebSocket {
    /// A session on a fresh connection.
    #[must_use]
    pub fn new(options: Options) -> WebSocket {
        WebSocket {
            options,
            state: State::New,
            requests: Requests::new(),
            deframer: Deframer::new(options.message_bytes_max as usize),
            pending: None,
            opening: None,
            messages: 0,
            first_byte_reported: false,
            used: false,
            closing: false,
            input_ignored: false,
            negotiated: None,
        }
    }

    /// How the server answered the offer of an extension, once after the handshake.
    pub fn take_negotiated(&mut self) -> Option<Negotiated> {
        self.negotiated.take()
    }

    fn agree(&mut self, negotiated: Option<Negotiated>) {
        self.negotiated = negotiated;
        if let Some(Negotiated::Deflate(agreed)) = negotiated {
            self.deframer.accept_deflate(agreed);
            self.requests.accept_deflate();
        }
    }

    fn take(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        let mut rest = input;
        match &mut self.state {
            State::Open => {}
            State::HandshakeSent(handshake) => {
                let answer = handshake.take(input, self.options.head_limits)?;
                let Answer::Complete {
                    head,
                    rest: left,
                    negotiated,
                } = answer
                else {
                    return Ok(());
                };
                if head.status != SWITCHING_PROTOCOLS {
                    self.refuse(&head, replies);
                    return Ok(());
                }
                // The head is not the first byte of the reply.
                self.state = State::Open;
                self.agree(negotiated);
                rest = &input[input.len() - left..];
            }
            State::New | State::HandshakeQueued { .. } => {
                return Err(violation(
                    "a server sends nothing before a request (RFC 9112 section 9.2)",
                    excerpt(rest),
                ));
            }
        }
        // Taken out, because a piece borrows it while the reply is reported.
        let mut deframer = std::mem::replace(&mut self.deframer, Deframer::new(0));
        let taken = self.take_frames(&mut deframer, &mut rest, replies);
        self.deframer = deframer;
        taken
    }

    fn take_frames(
        &mut self,
        deframer: &mut Deframer,
        rest: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        while !self.input_ignored {
            let Some(piece) = deframer.next(rest)? else {
                if deframer.is_within() && self.answered_call().is_some() {
                    self.report_first(replies);
                }
                return Ok(());
            };
            match piece {
                Piece::Message(kind, message) => {
                    // A control frame may follow a reply, and a message may not.
                    let is_last = !matches!(**rest, [first, ..] if matches!(first & !0x40, 0x01 | 0x02 | 0x81 | 0x82));
                    self.take_message(kind, message, is_last, replies)?;
                }
                Piece::Control(Opcode::Ping, payload) => {
                    self.requests.push_control(Opcode::Pong, payload);
                }
                Piece::Control(Opcode::Close, payload) => self.take_close(payload, replies)?,
                Piece::Control(..) => {}
            }
        }
        Ok(())
    }

    fn take_message(
        &mut self,
        kind: Kind,
        message: &[u8],
        is_last: bool,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        let Some(call) = self.answered_call() else {
            return Err(violation(
                "no message without a request: messages that a server sends by itself are not \
                 supported",
                excerpt(message),
            ));
        };
        self.report_first(replies);
        let is_end = message.is_empty() && kind == Kind::Text;
        let is_error = message.starts_with(ERROR) && kind == Kind::Text;
        let is_expected = self.options.kind.is_none_or(|expected| expected == kind);
        if !(is_expected || is_end || is_error) {
            return Err(violation(
                "messages of a codec are all text or all binary (contracts/README.md, WebSocket)",
                format!("{kind:?} of {} bytes", message.len()),
            ));
        }
        if self.messages == 0 {
            let is_refusal = is_error && self.options.ending == Ending::EmptyText;
            let status = match is_refusal {
                true => BAD_REQUEST,
                false => SWITCHING_PROTOCOLS,
            };
            // WebSocket has none of its own.
            let head = Head {
                status,
                ..Head::default()
            };
            replies.head(call, &head);
        }
        self.messages += 1;
        let ends = match self.options.ending {
            Ending::EmptyText if is_end => true,
            Ending::EmptyText => {
                replies.body(call, message);
                false
            }
            Ending::Messages(count) => {
                replies.body(call, message);
                self.messages >= count
            }
        };
        if ends && !is_last {
            return Err(violation(
                "a reply has the expected number of messages",
                "more of them in one read: expect more messages per call".to_owned(),
            ));
        }
        if ends {
            self.complete(call, replies);
        }
        Ok(())
    }

    /// The call that the next message answers.
    fn answered_call(&self) -> Option<CallId> {
        self.pending
            .filter(|call| !self.requests.is_unstarted(*call))
    }

    /// The first byte of the reply under way has come.
    fn report_first(&mut self, replies: &mut impl Replies) {
        if let Some(call) = self.pending.filter(|_| !self.first_byte_reported) {
            self.first_byte_reported = true;
            replies.first(call);
        }
    }

    fn complete(&mut self, call: CallId, replies: &mut impl Replies) {
        self.pending = None;
        self.first_byte_reported = false;
        self.messages = 0;
        self.opening = None;
        // A reply that overtakes its own request leaves the rest of it unsent.
        let overtaken = self.requests.contains(call);
        self.closing |= self.options.close || overtaken;
        if self.closing {
            self.close_with(NORMAL_CLOSURE);
        }
        replies.end(call, End::default());
    }

    /// Sends a close, which is the last frame (RFC 6455 section 5.5.1).
    fn close_with(&mut self, status: u16) {
        self.requests.clear();
        self.requests
            .push_control(Opcode::Close, &status.to_be_bytes());
    }

    /// The server stays with HTTP: its status is the reply, and the connection ends.
    fn refuse(&mut self, head: &Head, replies: &mut impl Replies) {
        self.input_ignored = true;
        self.closing = true;
        self.requests.clear();
        self.report_first(replies);
        if let Some(call) = self.pending.take() {
            replies.head(call, head);
            replies.end(call, End::default());
        }
    }

    /// RFC 6455 sections 5.5.1 and 7.4.
    fn take_close(
        &mut self,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        let status = match payload {
            [] => None,
            [high, low, ..] => Some(u16::from_be_bytes([*high, *low])),
            [_] => {
                return Err(violation(
                    "a close has no status of one byte (RFC 6455 section 5.5.1)",
                    excerpt(payload),
                ));
            }
        };
        // 1012 to 1014 are in IANA's registry of such statuses.
        let is_status = |status| matches!(status, 1000..=1003 | 1007..=1014 | 3000..=4999);
        if let Some(status) = status.filter(|status| !is_status(*status)) {
            return Err(violation(
                "the status of a close is one that may be sent (RFC 6455 section 7.4)",
                status.to_string(),
            ));
        }
        let reason = payload.get(2..).unwrap_or_default();
        if std::str::from_utf8(reason).is_err() {
            return Err(violation(
                "the reason of a close is UTF-8 (RFC 6455 section 5.5.1)",
                excerpt(reason),
            ));
        }
        self.closing = true;
        self.input_ignored = true;
        self.requests.clear();
        let answer = &payload[..payload.len().min(2)];
        self.requests.push_control(Opcode::Close, answer);
        if let Some(call) = self.pending.take() {
            let failure = match status {
                None if !self.first_byte_reported => Failure::Closed,
                None => Failure::Truncated,
                Some(status) => Failure::ClosedWith {
                    status,
                    reason: excerpt(reason).into(),
                },
            };
            replies.failed(call, failure);
        }
        Ok(())
    }

    fn abandon(&mut self, failure: Failure, replies: &mut impl Replies) {
        self.input_ignored = true;
        self.closing = true;
        self.requests.clear();
        if let Some(call) = self.pending.take() {
            replies.failed(call, failure);
        }
    }
}

impl Session for WebSocket {
    fn capacity(&self) -> usize {
        match self.finished() {
            true => 0,
            false => usize::from(self.pending.is_none()),
        }
    }

    fn finished(&self) -> bool {
        self.closing || self.input_ignored || (self.options.close && self.used)
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        debug_assert!(self.capacity() > 0, "send beyond capacity");
        self.used = true;
        self.pending = Some(call);
        self.requests.push(call, request);
        if let State::New = self.state {
            let keys = self.requests.keys();
            let random = u128::from(keys.next_word()) << 64 | u128::from(keys.next_word());
            let handshake = Handshake::new(random.to_ne_bytes(), self.options.deflate);
            let mut head = Vec::new();
            handshake.write(request, &mut head);
            let handshake = Box::new(handshake);
            self.state = State::HandshakeQueued { handshake, head };
            self.opening = Some(call);
        }
    }

    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        match std::mem::replace(&mut self.state, State::Open) {
            State::HandshakeQueued { handshake, head } => {
                out.extend(head);
                self.state = State::HandshakeSent(handshake);
                return false;
            }
            State::Open => {}
            waiting => {
                self.state = waiting;
                return false;
            }
        }
        self.requests.pump(out)
    }

    fn is_drained(&self) -> bool {
        match self.state {
            State::New | State::HandshakeSent(_) => true,
            State::HandshakeQueued { .. } => false,
            State::Open => self.requests.is_empty(),
        }
    }

    fn started(&self, call: CallId) -> bool {
        match self.state {
            State::New | State::HandshakeQueued { .. } => false,
            State::HandshakeSent(_) | State::Open => {
                self.opening == Some(call) || !self.requests.is_unstarted(call)
            }
        }
    }

    fn flushed(&self, call: CallId) -> bool {
        !self.requests.contains(call)
    }

    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        if self.input_ignored {
            return Ok(());
        }
        let taken = self.take(input, replies);
        if let Err(error) = &taken {
            self.abandon(Failure::Protocol(error.clone()), replies);
            self.close_with(PROTOCOL_ERROR);
        }
        taken
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        let failure = match self.first_byte_reported {
            true => Failure::Truncated,
            false => Failure::Closed,
        };
        self.abandon(failure, replies);
    }

    /// Replies have no names: a connection cannot go on without one of them.
    fn cancel(&mut self, call: CallId) -> bool {
        if self.pending != Some(call) {
            return true;
        }
        self.pending = None;
        self.requests.clear();
        self.input_ignored = true;
        false
    }
}
