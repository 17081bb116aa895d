//! What a session reports about its calls, turned into stamps, verdicts and records.

use std::io;

use wirelab_wire::{CallId, End, Failure, Head, Replies};

use crate::call::calls::Calls;
use crate::call::clock::now_ns;
use crate::call::error::{ErrorCode, ErrorKind, code_of};
use crate::call::rejection::Rejection;
use crate::call::span::Span;
use crate::call::stream::Arrival;
use crate::connection::session_io::Listener;
use crate::connection::tokens::Tokens;
use crate::record::message_times::StreamEnd;
use crate::record::recorder::{Recorder, Time, Totals};
use crate::request::forward::Forward;
use crate::validate::step::Step;
use crate::validate::stream::StreamRule;

/// How often one call is sent again at most.
const RESENT_MAX: u8 = 3;

/// Listens to one connection's session during one receive.
pub(crate) struct Events<'a> {
    pub(crate) calls: &'a mut Calls,
    pub(crate) steps: &'a [Step],
    /// One record per operation.
    pub(crate) operations: &'a mut [Recorder],
    /// Calls that ended, in order; their ids are still taken.
    pub(crate) ended: &'a mut Vec<CallId>,
    pub(crate) totals: &'a mut Totals,
    pub(crate) forward: &'a mut Forward,
    /// The connection's, with token-xml, while it is being read.
    pub(crate) tokens: Option<Box<Tokens>>,
    pub(crate) span: Span,
    /// When the bytes were read.
    pub(crate) read_at: u64,
    /// The kind in which calls fail when the connection ends.
    pub(crate) kind_of_closed: ErrorKind,
    /// Why the connection ended, where the kernel reported it.
    pub(crate) cause: Option<&'a io::Error>,
    /// The protocol that the server uses instead, where its first bytes show it.
    pub(crate) other_protocol: Option<ErrorCode>,
    /// A reply has come whole, right or wrong.
    pub(crate) answered: bool,
    /// Streams that are to be ended from our side.
    pub(crate) stopped: Vec<CallId>,
}

impl Replies for Events<'_> {
    #[inline]
    fn first(&mut self, call: CallId) {
        self.calls.get(call).first_byte = self.read_at;
    }

    fn field(&mut self, call: CallId, name: &str, value: &[u8]) {
        let call = self.calls.get(call);
        let validator = &self.steps[call.step].validator;
        validator.field(&mut call.reply, name, value);
    }

    #[cold]
    fn framing_conflict(&mut self, call: CallId) {
        let call = self.calls.get(call);
        if self.span.contains(call.waiting.arrival) {
            self.operations[self.steps[call.step].operation].framing += 1;
        }
    }

    #[inline]
    fn head(&mut self, call: CallId, head: &Head) {
        let call = self.calls.get(call);
        self.steps[call.step].validator.head(&mut call.reply, head);
    }

    #[inline]
    fn body(&mut self, call: CallId, chunk: &[u8]) {
        let id = call;
        let call = self.calls.get(call);
        let step = &self.steps[call.step];
        if let Some(rule) = &step.validator.stream {
            let (reply, row) = (&mut call.reply, call.row);
            let validator = &step.validator;
            let arrival = validator.stream_body(rule, reply, chunk, self.read_at, row);
            return self.stream_arrived(id, arrival);
        }
        let messages = step
            .validator
            .body(&mut call.reply, chunk, self.tokens.as_deref_mut());
        if messages > 0 && self.span.contains(call.waiting.arrival) {
            let recorder = &mut self.operations[step.operation];
            recorder.messages += messages;
            let since_sent = self.read_at.saturating_sub(call.sent);
            (0..messages).for_each(|_| recorder.time(Time::Message, since_sent));
        }
    }

    #[inline]
    fn end(&mut self, call: CallId, end: End) {
        // A reply that ends with its connection is complete only where that
        // ended without an error (RFC 9112 section 8).
        if self.cause.is_some() {
            return self.failed(call, Failure::Truncated);
        }
        self.answered = true;
        if self.take_stopped(call) {
            return;
        }
        let state = self.calls.get(call);
        if state.first_byte == 0 {
            // A one-way call ends with the report, and nothing before.
            state.first_byte = self.read_at;
        }
        let validator = &self.steps[state.step].validator;
        if let Some(rule) = &validator.stream
            && let Some(arrival) = validator.take_last_line(rule, &mut state.reply)
        {
            self.record_arrival(call, &arrival);
        }
        let state = self.calls.get(call);
        let validator = &self.steps[state.step].validator;
        let verdict = validator.end(&mut state.reply, end, self.tokens.as_deref_mut());
        self.finish(call, verdict);
    }

    fn failed(&mut self, call: CallId, failure: Failure) {
        if self.take_stopped(call) {
            return;
        }
        if let Failure::Forwarded { ior, .. } = &failure {
            return self.forward_call(call, ior);
        }
        if failure.is_unprocessed() && self.send_again(call) {
            return;
        }
        let kind = match &failure {
            Failure::Reset(_) => ErrorKind::Reset,
            Failure::Protocol(_) | Failure::Forwarded { .. } | Failure::AddressingMode(_) => {
                ErrorKind::Protocol
            }
            // The session knows that its connection ended, its caller knows why.
            Failure::Unprocessed | Failure::Truncated | Failure::Closed => self.kind_of_closed,
            Failure::ClosedWith { .. } => ErrorKind::Closed,
        };
        let reason = match (kind, self.cause) {
            (ErrorKind::Timeout, None) => {
                "no complete reply when the connection ended with a call that timed out".into()
            }
            (ErrorKind::Refused | ErrorKind::Protocol, Some(error)) => error.to_string(),
            (ErrorKind::Reset | ErrorKind::Closed | ErrorKind::Timeout, Some(error)) => {
                format!("{failure}: {error}")
            }
            _ => failure.to_string(),
        };
        let reason = match self.calls.get(call).waiting.resent {
            0 => reason,
            times => format!("{reason}, after {times} further attempts"),
        };
        let code = match (&failure, self.cause) {
            (Failure::Unprocessed, _) => ErrorCode::NotProcessed,
            (Failure::Protocol(_), _) => self.other_protocol.unwrap_or(kind.code()),
            (_, Some(error)) => code_of(kind, error),
            (_, None) => kind.code(),
        };
        self.finish(call, Err(Rejection::new(kind, reason).coded(code)));
    }
}

impl Listener for Events<'_> {
    #[inline]
    fn note_protocol(&mut self, other: Option<ErrorCode>) {
        self.other_protocol = other;
    }
}

impl Events<'_> {
    /// Bytes of a stream came; None: they no longer count.
    fn stream_arrived(&mut self, id: CallId, arrival: Option<Arrival>) {
        let Some(arrival) = arrival else { return };
        self.record_arrival(id, &arrival);
        let stream = self.calls.get(id).reply.stream.as_ref();
        if stream.is_some_and(|stream| stream.is_stopped) {
            self.stopped.push(id);
        }
    }

    fn record_arrival(&mut self, id: CallId, arrival: &Arrival) {
        let call = self.calls.get(id);
        let step = &self.steps[call.step];
        let recorder = &mut self.operations[step.operation];
        if self.span.contains(arrival.at) {
            recorder.messages_in_window(arrival);
        }
        if self.span.contains(call.waiting.arrival) {
            let rule = step.validator.stream.as_ref();
            let is_chat = rule.is_some_and(StreamRule::is_chat);
            recorder.messages_arrived(arrival, call.waiting.intended, is_chat);
        }
        // Freed with every read, so that a stream keeps no memory for them.
        let items = call.reply.items.as_mut();
        let times = items.map_or_else(Vec::new, |items| std::mem::take(&mut items.times));
        if self.span.contains(call.waiting.arrival) {
            recorder.items_arrived(&times);
        }
    }

    /// The call ends that was to be ended from our side anyway.
    fn take_stopped(&mut self, id: CallId) -> bool {
        let Some(at) = self.stopped.iter().position(|stopped| *stopped == id) else {
            return false;
        };
        self.stopped.swap_remove(at);
        self.stop(id);
        true
    }

    /// Ends a stream from our side.
    pub(crate) fn stop(&mut self, id: CallId) {
        let call = self.calls.get(id);
        let validator = &self.steps[call.step].validator;
        let verdict = match &validator.stream {
            Some(rule) => validator.check_stopped(rule, &mut call.reply),
            None => Ok(()),
        };
        self.finish(id, verdict);
    }

    /// The call goes on at another address, if it may.
    fn forward_call(&mut self, id: CallId, ior: &str) {
        self.answered = true;
        let call = self.calls.get(id);
        match self.forward.follow(ior, call.waiting.hops) {
            Ok(()) => {
                call.waiting.hops += 1;
                call.again = true;
                self.ended.push(id);
            }
            Err(reason) => self.finish(id, Err(Rejection::new(ErrorKind::Protocol, reason))),
        }
    }

    /// A call that was not processed goes out again, if it may; its times go on from
    /// `intended`.
    #[cold]
    fn send_again(&mut self, id: CallId) -> bool {
        let call = self.calls.get(id);
        // Whoever has begun to answer a call has processed it.
        if call.waiting.resent == RESENT_MAX || call.first_byte > 0 {
            return false;
        }
        let sent = if call.sent == 0 { now_ns() } else { call.sent };
        let is_first = call.waiting.resent == 0 && call.sent > 0;
        if is_first && self.span.contains(call.waiting.arrival) {
            self.operations[self.steps[call.step].operation].resent += 1;
        }
        call.waiting = call.waiting.again(sent);
        call.again = true;
        self.ended.push(id);
        true
    }

    /// The call is over. Its times are recorded when it was intended within the
    /// window; its end is counted when its user goes on.
    #[inline]
    pub(crate) fn finish(&mut self, id: CallId, verdict: Result<(), Rejection>) {
        // Read again, after the reply was decoded and compared: only then has a client
        // its answer.
        let done = now_ns();
        self.totals.ended += 1;
        self.totals.errors += u64::from(verdict.is_err());
        self.totals.last_done = done;
        self.ended.push(id);
        let call = self.calls.get(id);
        call.done = done;
        call.failed = verdict.is_err();
        self.totals.sent += u64::from(call.sent > 0);
        let arrival = call.waiting.arrival;
        if self.span.contains(arrival) {
            self.record(id, done, verdict);
        } else if arrival < self.span.start {
            self.totals.warmup += 1;
        }
    }

    #[inline]
    fn record(&mut self, id: CallId, done: u64, verdict: Result<(), Rejection>) {
        let call = self.calls.get(id);
        let intended = call.waiting.intended;
        let recorder = &mut self.operations[self.steps[call.step].operation];
        let sent = if call.sent == 0 { done } else { call.sent };
        let response = done.saturating_sub(intended);
        if let Some(rule) = &self.steps[call.step].validator.stream {
            let stamps = call.reply.stream.as_ref().map(|stream| stream.stamps);
            let end = StreamEnd::of(call, done, verdict.is_err(), rule.is_chat());
            recorder.stream_ended(&stamps.unwrap_or_default(), end);
            let items = call.reply.items.as_ref().filter(|_| verdict.is_err());
            if let Some(overdue_ns) = items.and_then(|items| items.overdue_ns(done)) {
                recorder.time(Time::Lateness, overdue_ns);
            }
        }
        if let Err(rejection) = verdict {
            let cause = (rejection.kind, rejection.code);
            return recorder.failure(cause, response, || rejection.reason);
        }
        recorder.time(Time::Response, response);
        // A reply may overtake the stamp of its own request's last byte.
        let first = call.first_byte.max(sent);
        let flushed = if call.flushed == 0 {
            first
        } else {
            call.flushed.min(first)
        };
        // Queueing, write, wait and read add up to the response time: each stamp has been put
        // between its neighbours.
        recorder.time(Time::Service, done - sent);
        recorder.time(Time::Queueing, sent.saturating_sub(intended));
        recorder.time(Time::Write, flushed.saturating_sub(sent));
        recorder.time(Time::Wait, first - flushed);
        recorder.time(Time::Read, done.saturating_sub(first));
        recorder.ok += 1;
        if self.steps[call.step].validator.counts_replies() {
            recorder.reply(&call.reply);
        }
    }
}
