//! One raw connection's client side.

use std::collections::VecDeque;
use std::sync::Arc;

use super::framing::Prefix;
use super::framing::{Frames, Piece};
use super::options::{Options, OptionsError};
use crate::ProtocolError;
use crate::excerpt::excerpt;
use crate::send_queue::SendQueue;
use crate::session::{CallId, End, Failure, Head, Replies, Request, Session};

/// One raw connection's client side. [`Request::body`] is sent as it is; every
/// request must pass [`super::check_request`]. A reply's head has status 200
/// and the content's length; its content is decoded by the codec.
#[derive(Debug)]
pub struct Raw {
    options: Options,
    send_queue: SendQueue<Prefix>,
    /// Calls that have not ended, in the order of their requests.
    pending: VecDeque<CallId>,
    // Without numbers in the format, order alone assigns replies to calls.
    frames: Frames,
    /// One-way calls that the service has processed.
    processed: u64,
    /// The reply under way has shown a byte.
    first_byte_reported: bool,
    used: bool,
    /// No further request.
    closing: bool,
    /// Further input is ignored.
    input_ignored: bool,
}

impl Raw {
    /// A session on a fresh connection.
    ///
    /// # Errors
    /// When the options contradict each other.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Raw {
            options,
            send_queue: SendQueue::new(options.split_writes),
            pending: VecDeque::new(),
            frames: Frames::default(),
            processed: 0,
            first_byte_reported: false,
            used: false,
            closing: false,
            input_ignored: false,
        })
    }

    /// The service has processed `count` messages of this connection: one-way
    /// calls end, in their order, by [`Replies::end`] alone.
    ///
    /// # Errors
    /// When that is less than before, or more than was sent, or the session
    /// expects replies; the connection must be closed, and calls in flight
    /// have been reported by [`Replies::failed`].
    pub fn processed(
        &mut self,
        count: u64,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        // The report arrives on another connection, so that it may come after this one
        // has failed.
        if self.input_ignored {
            return Ok(());
        }
        // Calls whose message is still queued cannot have been processed.
        let sent = self.pending.len() - self.send_queue.len();
        // Counts are cumulative: a report that is lost or merged with the next one does
        // no harm.
        let ended = count.checked_sub(self.processed);
        let Some(ended) = ended.filter(|ended| self.options.one_way && *ended <= sent as u64)
        else {
            let error = ProtocolError {
                rule: "a one-way service counts what it was sent (contracts/README.md, Raw)",
                found: format!("{count} after {} with {sent} in flight", self.processed),
            };
            self.fail_session(&error, replies);
            return Err(error);
        };
        self.processed = count;
        for call in self.pending.drain(..ended as usize) {
            // Neither `first` nor `head` before it: a one-way call has no reply to
            // time.
            replies.end(call, End::default());
        }
        Ok(())
    }

    fn take(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        let mut rest = input;
        // A message without content ends without a byte of its own.
        while !rest.is_empty() || !self.frames.is_idle() {
            let call = self.current_call(rest)?;
            if !self.first_byte_reported && !rest.is_empty() {
                self.first_byte_reported = true;
                replies.first(call);
            }
            match self.frames.next(&mut rest)? {
                None => return Ok(()),
                Some(Piece::Start(length)) => self.head(call, length, replies),
                Some(Piece::Content(bytes)) => replies.body(call, bytes),
                Some(Piece::End) => self.complete(replies),
            }
        }
        Ok(())
    }

    fn head(&self, call: CallId, length: usize, replies: &mut impl Replies) {
        let head = Head {
            // The common head of all protocols needs a status; raw has none.
            status: 200,
            content_length: Some(length as u64),
            ..Head::default()
        };
        replies.head(call, &head);
    }

    /// The call that the next byte answers.
    fn current_call(&self, rest: &[u8]) -> Result<CallId, ProtocolError> {
        match self.pending.front() {
            Some(call) if !self.options.one_way && !self.send_queue.is_unstarted(*call) => {
                Ok(*call)
            }
            _ => Err(ProtocolError {
                rule: "one reply to each two-way request (contracts/README.md, Raw)",
                found: format!("{} more bytes: {}", rest.len(), excerpt(rest)),
            }),
        }
    }

    /// The reply under way is complete.
    fn complete(&mut self, replies: &mut impl Replies) {
        let Some(call) = self.pending.pop_front() else {
            return;
        };
        self.first_byte_reported = false;
        // A reply that overtakes its own request: the rest is still sent.
        // The body of a request that was answered early is still sent, for the boundaries.
        self.send_queue.cancel(call);
        replies.end(call, End::default());
        self.closing |= self.options.close;
    }

    fn fail_session(&mut self, error: &ProtocolError, replies: &mut impl Replies) {
        self.input_ignored = true;
        self.abandon(&Failure::Protocol(error.clone()), replies);
    }

    fn abandon(&mut self, first: &Failure, replies: &mut impl Replies) {
        self.send_queue.clear();
        self.closing = true;
        // Only the oldest call can have had a part of its reply; the others got nothing
        // and were merely closed.
        let mut failure = first.clone();
        for call in self.pending.drain(..) {
            replies.failed(call, std::mem::replace(&mut failure, Failure::Closed));
        }
    }
}

impl Session for Raw {
    fn capacity(&self) -> usize {
        if self.finished() {
            return 0;
        }
        (self.options.pipeline as usize).saturating_sub(self.pending.len())
    }

    fn finished(&self) -> bool {
        self.closing || self.input_ignored || (self.options.close && self.used)
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        debug_assert!(self.capacity() > 0, "send beyond capacity");
        self.used = true;
        self.pending.push_back(call);
        let content = Arc::clone(&request.body);
        self.send_queue
            .push(Some(call), Prefix::new(content.len()), content);
    }

    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        self.send_queue.pump(out)
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
            self.fail_session(error, replies);
        }
        taken
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        self.input_ignored = true;
        let failure = if self.first_byte_reported {
            Failure::Truncated
        } else {
            Failure::Closed
        };
        self.abandon(&failure, replies);
    }

    /// Replies have no names: a connection cannot go on without one of them.
    fn cancel(&mut self, call: CallId) -> bool {
        let Some(place) = self.pending.iter().position(|pending| *pending == call) else {
            return true;
        };
        self.pending.remove(place);
        self.send_queue.clear();
        self.input_ignored = true;
        if place == 0 {
            // Those behind it have not been answered by a single byte.
            self.first_byte_reported = false;
        }
        false
    }
}
