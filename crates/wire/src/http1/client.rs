//! One HTTP/1.x connection's client side.

use std::collections::VecDeque;
use std::sync::Arc;

use super::chunked::Chunked;
use super::head::{self, Framing, HeadLimits, Parsed};
use super::options::{Options, OptionsError};
use super::request::HeaderCache;
use crate::excerpt::excerpt;
use crate::send_queue::SendQueue;
use crate::session::{CallId, End, Failure, ProtocolError, Replies, Request, Session};

/// One HTTP/1.x connection's client side.
#[derive(Debug)]
pub struct Http1 {
    options: Options,
    heads: HeaderCache,
    /// Names of fields that are reported, in lower case; mostly none.
    watched: Option<Arc<Vec<Box<str>>>>,
    send_queue: SendQueue<Arc<[u8]>>,
    /// Calls whose replies are due, in the order of their requests.
    pending: VecDeque<Pending>,
    state: State,
    /// The reply under way has shown a byte.
    first_byte_reported: bool,
    /// A head that has not arrived whole.
    partial: Vec<u8>,
    /// A call has been sent.
    used: bool,
    /// No further request after the reply under way.
    closing: bool,
    /// Input means nothing any more.
    input_ignored: bool,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
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
            heads: HeaderCache::default(),
            watched: None,
            send_queue: SendQueue::new(options.split_writes),
            pending: VecDeque::new(),
            state: State::Head,
            first_byte_reported: false,
            partial: Vec::new(),
            used: false,
            closing: false,
            input_ignored: false,
        })
    }

    /// Reports fields of these names, which are in lower case ([`Replies::field`]).
    #[must_use]
    pub fn watching(self, names: Option<Arc<Vec<Box<str>>>>) -> Self {
        Http1 {
            watched: names,
            ..self
        }
    }

    fn take(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        let mut rest = input;
        while !rest.is_empty() {
            let pending = self.current_call(rest)?;
            let used = match &mut self.state {
                State::Head => self.take_head(pending, rest, replies)?,
                State::Length(left) => {
                    let used = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= used as u64;
                    let complete = *left == 0;
                    replies.body(pending.call, &rest[..used]);
                    if complete {
                        self.complete(replies);
                    }
                    used
                }
                State::Chunked(chunked) => {
                    let step = chunked.decode(rest, |data| replies.body(pending.call, data))?;
                    if step.complete {
                        self.complete(replies);
                    }
                    step.used
                }
                State::UntilClose => {
                    replies.body(pending.call, rest);
                    rest.len()
                }
            };
            rest = &rest[used..];
        }
        Ok(())
    }

    /// The call that the next byte answers.
    fn current_call(&self, rest: &[u8]) -> Result<Pending, ProtocolError> {
        match self.pending.front() {
            // A reply before the first byte of its request cannot be a reply to it.
            Some(pending) if self.pending.len() > self.send_queue.unstarted() => Ok(*pending),
            _ => Err(ProtocolError {
                rule: "no reply without a request (RFC 9112 section 9.2)",
                found: format!("{} more bytes: {}", rest.len(), excerpt(rest)),
            }),
        }
    }

    /// Takes what belongs to a head; returns how much of `rest` that was.
    fn take_head(
        &mut self,
        pending: Pending,
        rest: &[u8],
        replies: &mut impl Replies,
    ) -> Result<usize, ProtocolError> {
        // Distinguishes a server that closed an idle connection from one that broke off.
        if !self.first_byte_reported {
            self.first_byte_reported = true;
            replies.first(pending.call);
        }
        // Once a head is split, the rest is appended until its empty line has come.
        if !self.partial.is_empty() {
            return self.take_partial_head(pending, rest, replies);
        }
        match head::parse(rest, pending.head_only, self.options.head_limits)? {
            Some(parsed) => {
                self.begin_body(pending, &parsed, &rest[..parsed.bytes], replies);
                Ok(parsed.bytes)
            }
            None => {
                self.partial.extend_from_slice(rest);
                Ok(rest.len())
            }
        }
    }

    fn take_partial_head(
        &mut self,
        pending: Pending,
        rest: &[u8],
        replies: &mut impl Replies,
    ) -> Result<usize, ProtocolError> {
        let before = self.partial.len();
        let limits = self.options.head_limits;
        let most = limits.bytes as usize;
        // One byte beyond the limit makes the parser report the excess.
        let taken = rest.len().min((most + 1).saturating_sub(before));
        self.partial.extend_from_slice(&rest[..taken]);
        // Parsed only when it can be whole, or a head that comes byte by byte
        // would cost the square of its length.
        let whole = head::has_empty_line(&self.partial, before);
        if !whole && self.partial.len() <= most {
            return Ok(taken);
        }
        match head::parse(&self.partial, pending.head_only, limits)? {
            Some(parsed) => {
                // Taken out, because the whole session is borrowed.
                let mut head = std::mem::take(&mut self.partial);
                self.begin_body(pending, &parsed, &head[..parsed.bytes], replies);
                head.clear();
                self.partial = head;
                Ok(parsed.bytes - before)
            }
            None => Ok(taken),
        }
    }

    fn begin_body(
        &mut self,
        pending: Pending,
        parsed: &Parsed,
        head: &[u8],
        replies: &mut impl Replies,
    ) {
        // RFC 9110 section 15.2: any number of 1xx may precede the final reply.
        if parsed.is_informational() {
            return;
        }
        self.closing |= !parsed.persistent;
        if let Some(names) = &self.watched {
            report_watched(names, pending.call, head, self.options.head_limits, replies);
        }
        if parsed.is_conflicting {
            replies.framing_conflict(pending.call);
        }
        replies.head(pending.call, &parsed.head);
        match parsed.framing {
            // No byte follows, so the end must be reported here.
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
        let overtaken = self.pending.len() == self.send_queue.len();
        self.state = State::Head;
        self.first_byte_reported = false;
        if let Some(pending) = self.pending.pop_front() {
            replies.end(pending.call, End::default());
        }
        // RFC 9112 section 9.6: no request may follow one with `Connection: close`.
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
        // Only the first call has begun to be answered; the others were not touched.
        let mut failure = Some(failure);
        for pending in self.pending.drain(..) {
            replies.failed(pending.call, failure.take().unwrap_or(Failure::Closed));
        }
    }

    /// What the end of the connection means for the call under way.
    fn failure_at_close(&self) -> Failure {
        if !self.first_byte_reported {
            return Failure::Closed;
        }
        let head_only = self
            .pending
            .front()
            .is_some_and(|pending| pending.head_only);
        match head::parse(&self.partial, head_only, self.options.head_limits) {
            // The partial head may already show the broken rule, which is more specific.
            Err(error) if !self.partial.is_empty() => Failure::Protocol(error),
            _ => Failure::Truncated,
        }
    }
}

/// Parses the head a second time: its fields were not kept, and few are ever watched.
#[cold]
fn report_watched(
    names: &[Box<str>],
    call: CallId,
    head: &[u8],
    limits: HeadLimits,
    replies: &mut impl Replies,
) {
    head::each_field(head, limits, |name, value| {
        let watched = names.iter().find(|own| own.eq_ignore_ascii_case(name));
        if let Some(own) = watched {
            replies.field(call, own, value);
        }
    });
}

impl Session for Http1 {
    fn capacity(&self) -> usize {
        if self.closing || self.input_ignored || (self.options.close && self.used) {
            return 0;
        }
        let in_flight_max = if self.options.close {
            1
        } else {
            self.options.pipeline as usize
        };
        in_flight_max - self.pending.len()
    }

    fn finished(&self) -> bool {
        self.closing || self.input_ignored || (self.options.close && self.used)
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        debug_assert!(self.capacity() > 0, "send beyond capacity");
        self.used = true;
        self.pending.push_back(Pending {
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

    fn is_drained(&self) -> bool {
        self.send_queue.is_empty()
    }

    fn started(&self, call: CallId) -> bool {
        !self.send_queue.is_unstarted(call)
    }

    fn flushed(&self, call: CallId) -> bool {
        !self.send_queue.contains(call)
    }

    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        if self.input_ignored {
            return Ok(());
        }
        let taken = self.take(input, replies);
        if let Err(error) = &taken {
            self.input_ignored = true;
            self.abandon(Failure::Protocol(error.clone()), replies);
        }
        taken
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        // RFC 9112 section 6.3, rule 8: the end of the connection is the end of this body.
        if !self.input_ignored && matches!(self.state, State::UntilClose) {
            self.complete(replies);
        }
        let failure = self.failure_at_close();
        self.input_ignored = true;
        self.abandon(failure, replies);
    }

    fn cancel(&mut self, call: CallId) -> bool {
        let Some(position) = self.pending.iter().position(|pending| pending.call == call) else {
            return true;
        };
        // HTTP/1.x cannot name a reply, so that the rest of the stream loses its meaning.
        self.pending.remove(position);
        self.send_queue.clear();
        self.input_ignored = true;
        if position == 0 {
            // The calls behind it have not been answered by a single byte.
            self.state = State::Head;
            self.first_byte_reported = false;
            self.partial.clear();
        }
        false
    }
}
