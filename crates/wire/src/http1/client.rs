//! One HTTP/1.x connection's client side.

use std::collections::VecDeque;
use std::sync::Arc;

use super::chunked::Chunked;
use super::head::{self, Framing, HEAD_BYTES_MAX, Parsed};
use super::options::{Options, OptionsError};
use super::request::Heads;
use crate::excerpt::excerpt;
use crate::send_queue::SendQueue;
use crate::session::{CallId, End, Failure, ProtocolError, Replies, Request, Session};

/// One HTTP/1.x connection's client side.
#[derive(Debug)]
pub struct Http1 {
    options: Options,
    heads: Heads,
    send_queue: SendQueue<Arc<[u8]>>,
    /// Calls whose replies are due, in the order of their requests.
    awaited: VecDeque<Awaited>,
    state: State,
    /// The reply under way has shown a byte.
    first_told: bool,
    /// A head that has not arrived whole.
    partial: Vec<u8>,
    /// A call has been sent.
    used: bool,
    /// No further request after the reply under way.
    closing: bool,
    /// Input means nothing any more.
    deaf: bool,
}

#[derive(Debug, Clone, Copy)]
struct Awaited {
    call: CallId,
    /// A reply to HEAD has fields that describe a body, and none.
    head_only: bool,
}

/// What the next byte of input belongs to.
#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

impl Http1 {
    /// A session on a fresh connection.
    ///
    /// # Errors
    /// When the options contradict each other.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Http1 {
            options,
            heads: Heads::default(),
            send_queue: SendQueue::new(options.split_writes),
            awaited: VecDeque::new(),
            state: State::Head,
            first_told: false,
            partial: Vec::new(),
            used: false,
            closing: false,
            deaf: false,
        })
    }

    fn take(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        let mut rest = input;
        while !rest.is_empty() {
            let awaited = self.awaited_now(rest)?;
            let used = match &mut self.state {
                State::Head => self.take_head(awaited, rest, replies)?,
                State::Length(left) => {
                    let used = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= used as u64;
                    let complete = *left == 0;
                    replies.body(awaited.call, &rest[..used]);
                    if complete {
                        self.complete(replies);
                    }
                    used
                }
                State::Chunked(chunked) => {
                    let step = chunked.decode(rest, |data| replies.body(awaited.call, data))?;
                    if step.complete {
                        self.complete(replies);
                    }
                    step.used
                }
                State::UntilClose => {
                    replies.body(awaited.call, rest);
                    rest.len()
                }
            };
            rest = &rest[used..];
        }
        Ok(())
    }

    /// The call that the next byte answers.
    fn awaited_now(&self, rest: &[u8]) -> Result<Awaited, ProtocolError> {
        match self.awaited.front() {
            Some(awaited) if self.awaited.len() > self.send_queue.untouched() => Ok(*awaited),
            _ => Err(ProtocolError {
                rule: "no reply without a request (RFC 9112 section 9.2)",
                found: format!("{} more bytes: {}", rest.len(), excerpt(rest)),
            }),
        }
    }

    /// Takes what belongs to a head; returns how much of `rest` that was.
    fn take_head(
        &mut self,
        awaited: Awaited,
        rest: &[u8],
        replies: &mut impl Replies,
    ) -> Result<usize, ProtocolError> {
        if !self.first_told {
            self.first_told = true;
            replies.first(awaited.call);
        }
        if !self.partial.is_empty() {
            return self.take_head_in_pieces(awaited, rest, replies);
        }
        match head::parse(rest, awaited.head_only)? {
            Some(parsed) => {
                self.begin_body(awaited, &parsed, replies);
                Ok(parsed.bytes)
            }
            None => {
                self.partial.extend_from_slice(rest);
                Ok(rest.len())
            }
        }
    }

    fn take_head_in_pieces(
        &mut self,
        awaited: Awaited,
        rest: &[u8],
        replies: &mut impl Replies,
    ) -> Result<usize, ProtocolError> {
        let before = self.partial.len();
        // One byte more than allowed, so that the parser sees the excess.
        let taken = rest.len().min(HEAD_BYTES_MAX + 1 - before);
        self.partial.extend_from_slice(&rest[..taken]);
        // Parsed only when it can be whole, or a head that comes byte by byte
        // would cost the square of its length.
        let whole = head::has_empty_line(&self.partial, before);
        if !whole && self.partial.len() <= HEAD_BYTES_MAX {
            return Ok(taken);
        }
        match head::parse(&self.partial, awaited.head_only)? {
            Some(parsed) => {
                self.partial.clear();
                self.begin_body(awaited, &parsed, replies);
                Ok(parsed.bytes - before)
            }
            None => Ok(taken),
        }
    }

    fn begin_body(&mut self, awaited: Awaited, parsed: &Parsed, replies: &mut impl Replies) {
        if parsed.is_informational() {
            return;
        }
        self.closing |= !parsed.persistent;
        replies.head(awaited.call, &parsed.head);
        match parsed.framing {
            Framing::Absent | Framing::Length(0) => self.complete(replies),
            Framing::Length(bytes) => self.state = State::Length(bytes),
            Framing::Chunked => self.state = State::Chunked(Chunked::default()),
            Framing::UntilClose => self.state = State::UntilClose,
        }
    }

    /// The reply under way is complete.
    fn complete(&mut self, replies: &mut impl Replies) {
        // A reply that overtakes its own request leaves the rest of the body
        // unsent, and the connection without a boundary (RFC 9112 section 9.3).
        let overtaken = self.awaited.len() == self.send_queue.len();
        self.state = State::Head;
        self.first_told = false;
        if let Some(awaited) = self.awaited.pop_front() {
            replies.end(awaited.call, End::default());
        }
        self.closing |= overtaken || self.options.close;
        if self.closing {
            self.abandon(Failure::Closed, replies);
        }
    }

    /// Fails the call under way with `failure` and those behind it with
    /// [`Failure::Closed`].
    fn abandon(&mut self, failure: Failure, replies: &mut impl Replies) {
        self.send_queue.clear();
        self.closing = true;
        let mut failure = Some(failure);
        for awaited in self.awaited.drain(..) {
            replies.failed(awaited.call, failure.take().unwrap_or(Failure::Closed));
        }
    }

    /// What the end of the connection means for the call under way.
    fn failure_at_close(&self) -> Failure {
        if !self.first_told {
            return Failure::Closed;
        }
        let head_only = self
            .awaited
            .front()
            .is_some_and(|awaited| awaited.head_only);
        match head::parse(&self.partial, head_only) {
            Err(error) if !self.partial.is_empty() => Failure::Protocol(error),
            _ => Failure::Truncated,
        }
    }
}

impl Session for Http1 {
    fn capacity(&self) -> usize {
        if self.closing || self.deaf || (self.options.close && self.used) {
            return 0;
        }
        let in_flight_max = if self.options.close {
            1
        } else {
            self.options.pipeline as usize
        };
        in_flight_max - self.awaited.len()
    }

    fn finished(&self) -> bool {
        self.closing || self.deaf || (self.options.close && self.used)
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        debug_assert!(self.capacity() > 0, "send beyond capacity");
        self.used = true;
        self.awaited.push_back(Awaited {
            call,
            head_only: request.method == "HEAD",
        });
        let head = self.heads.of(request, &self.options);
        let body = Arc::clone(&request.body);
        self.send_queue.push(Some(call), head, body);
    }

    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        self.send_queue.pump(out)
    }

    fn started(&self, call: CallId) -> bool {
        !self.send_queue.has_untouched(call)
    }

    fn flushed(&self, call: CallId) -> bool {
        !self.send_queue.holds(call)
    }

    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        if self.deaf {
            return Ok(());
        }
        let taken = self.take(input, replies);
        if let Err(error) = &taken {
            self.deaf = true;
            self.abandon(Failure::Protocol(error.clone()), replies);
        }
        taken
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        if !self.deaf && matches!(self.state, State::UntilClose) {
            self.complete(replies);
        }
        let failure = self.failure_at_close();
        self.deaf = true;
        self.abandon(failure, replies);
    }

    fn cancel(&mut self, call: CallId) -> bool {
        let Some(place) = self.awaited.iter().position(|awaited| awaited.call == call) else {
            return true;
        };
        self.awaited.remove(place);
        self.send_queue.clear();
        self.deaf = true;
        if place == 0 {
            // The calls behind it have not been answered by a single byte.
            self.state = State::Head;
            self.first_told = false;
            self.partial.clear();
        }
        false
    }
}
