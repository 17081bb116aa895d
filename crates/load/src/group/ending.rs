//! Calls and connections end.

use std::io;

use wirelab_wire::CallId;

use super::{Group, events};
use crate::call::calls::CallOrigin;
use crate::call::clock::{now_ns, seconds};
use crate::call::error::{ErrorCode, ErrorKind};
use crate::call::rejection::Rejection;
use crate::call::span::Span;
use crate::call::waiting::Waiting;
use crate::reactor::turn::TurnContext;
use crate::record::periods::EndedCall;
use crate::request::sequences::Next;

impl Group {
    /// Ended calls free their places, and their users go on.
    #[inline]
    pub(super) fn settle(&mut self, span: Span) {
        // Taken out because the loop needs all of `self`, and put back to keep its memory.
        // Nothing below ends another call.
        let mut ended = std::mem::take(&mut self.ended);
        for id in ended.drain(..) {
            let call = self.calls.get(id);
            let mut origin = CallOrigin::default();
            if let Some(connection) = self.connections.get(call.connection) {
                // Before the id is released: the call that gets it next would be
                // stamped by old bytes.
                connection.forget(id);
                origin = connection.origin;
            }
            if let Some(lines) = &mut self.lines
                && !call.again
            {
                let operation = &self.spec.steps[call.step].name;
                lines.add(call, origin, operation);
            }
            // The same arrival again: neither its user nor the quota is touched.
            if call.again {
                self.spec.script.take_back(call);
                self.demand.requeue(call.waiting);
                self.calls.release(id);
                continue;
            }
            if let Some(periods) = &mut self.periods {
                let over = EndedCall {
                    waiting: call.waiting,
                    sent: call.sent,
                    done: call.done,
                    failed: call.failed,
                };
                periods.add_ended(over, self.demand.own(span));
            }
            if let Some(first) = &mut self.first_calls {
                let intended = call.waiting.intended;
                let response = call.done.saturating_sub(intended);
                first.add_ended(intended, call.sent, (!call.failed).then_some(response));
            }
            // `done` is intended for the next call of the user.
            let (user, done) = (call.waiting.user, call.done);
            match self.spec.script.find_next(call, &mut self.sequences) {
                Next::Another(waiting) => self.demand.requeue(waiting),
                Next::Arrival => self.user_goes_on(user, done, span),
                Next::Over { arrival, failed } => {
                    self.record_sequence(arrival, done, failed, span);
                    self.user_goes_on(user, done, span);
                }
            }
            // Its user's next call may be the one that closes the window.
            self.count_end(id, self.demand.own(span));
            self.count_slow(id, origin, self.demand.own(span));
            self.calls.release(id);
        }
        self.ended = ended;
        if self.forward.next.is_some() {
            self.follow_forward(span);
        }
    }

    /// The user makes its next call, at once or after a pause.
    #[inline]
    fn user_goes_on(&mut self, user: u32, done: u64, span: Span) {
        let pause_end = self.demand.call_ended(user, done, span);
        if let Some(periods) = &mut self.periods
            && pause_end > done
        {
            periods.busy(done, pause_end, self.demand.own(span));
        }
    }

    /// What of a call that is over lies within the window.
    #[inline]
    fn count_end(&mut self, id: CallId, span: Span) {
        let call = self.calls.get(id);
        let recorder = &mut self.operations[self.spec.steps[call.step].operation];
        if span.contains(call.done) {
            let offset = span.offset(call.done);
            recorder.add_ended(offset, !call.failed);
            let response = call.done.saturating_sub(call.waiting.intended);
            self.recorder.over_time.record(offset, response);
            if let Some(watched) = &self.watched {
                watched.record(response);
            }
            if let (Some(stream), false) = (&call.reply.stream, call.failed) {
                recorder.tokens_in_window(stream.stamps.tokens);
            }
        } else if span.costs(call.done) {
            recorder.ended += 1;
        }
        if call.sent > 0 {
            recorder.under_way_ns += u128::from(span.share_of(call.sent, call.done));
        }
    }

    /// Keeps a call of the window that is over, if it is one of the slowest.
    #[inline]
    fn count_slow(&mut self, id: CallId, origin: CallOrigin, span: Span) {
        let Some(slow) = &mut self.slow_calls else {
            return;
        };
        let call = self.calls.get(id);
        if call.sent > 0 && span.contains(call.waiting.arrival) {
            let operation = &self.spec.steps[call.step].name;
            slow.add_ended(call, origin, operation, span.offset(call.waiting.intended));
        }
    }

    /// Calls go elsewhere from now on, and connections to where they went end.
    #[cold]
    fn follow_forward(&mut self, span: Span) {
        let Some((target, key)) = self.forward.next.take() else {
            return;
        };
        let sessions = self.spec.sessions.to_object(&key);
        // Only where calls went at first is remembered, not the stations between.
        let sessions = std::mem::replace(&mut self.spec.sessions, sessions);
        let target = std::mem::replace(&mut self.spec.target, target);
        self.forward.origin.get_or_insert((target, sessions));
        self.retire(span);
    }

    /// Nobody is where calls were sent: they go where they went at first
    /// (CORBA 3.3 part 2, section 9.4.3.2).
    #[cold]
    pub(super) fn return_to_origin(&mut self, span: Span) {
        if let Some((target, sessions)) = self.forward.origin.take() {
            (self.spec.target, self.spec.sessions) = (target, sessions);
            self.retire(span);
        }
    }

    fn retire(&mut self, span: Span) {
        for slot in self.connections.retire() {
            self.close(slot, ErrorKind::Closed, None, span);
        }
    }

    fn record_sequence(&mut self, arrival: u64, done: u64, failed: bool, span: Span) {
        if span.contains(arrival) {
            self.recorder.sequence(done.saturating_sub(arrival), failed);
        }
    }

    /// The socket failed: a refused handshake, a reset, …
    pub(super) fn fail_connection(&mut self, slot: u32, error: &io::Error, span: Span) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        let kind = match (error.kind(), connection.established) {
            (io::ErrorKind::TimedOut, _) => ErrorKind::Timeout,
            // TLS on one side only.
            (io::ErrorKind::Unsupported, _) => ErrorKind::Protocol,
            (_, false) => ErrorKind::Refused,
            (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, true) => ErrorKind::Reset,
            // A server of TLS 1.3 validates our certificate when we think all is well.
            (io::ErrorKind::InvalidData, true) if !connection.served => ErrorKind::Refused,
            (io::ErrorKind::InvalidData, true) => ErrorKind::Protocol,
            (_, true) => ErrorKind::Closed,
        };
        // Read now: `close` removes the connection.
        let connection_was_made = connection.is_usable();
        // Calls may begin before the handshake has ended, and then fail with it. If
        // none had, one that waits fails instead, or calls would wait for ever for a
        // service that is down.
        if !connection_was_made && connection.in_flight == 0 {
            // The pause before the next attempt begins when the connection is removed.
            self.fail_waiting(kind, span, error);
        }
        self.close(slot, kind, Some(error), span);
        if !connection_was_made {
            self.return_to_origin(span);
        }
    }

    /// Closes a connection; calls still on it fail as `kind`.
    pub(super) fn close(
        &mut self,
        slot: u32,
        kind: ErrorKind,
        cause: Option<&io::Error>,
        span: Span,
    ) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        let mut events = events!(self, span, now_ns(), kind, cause);
        connection.session.closed(&mut events);
        // The end of the connection may have been the end of the reply.
        connection.served |= events.answered;
        connection.close_notify();
        // Before the connection is removed: its calls take their origin for the log from it.
        self.settle(span);
        self.connections.remove(slot);
    }

    /// Gives up calls that have been under way for too long, and handshakes.
    pub(super) fn expire_overdue(&mut self, now: u64, turn: &mut TurnContext) -> io::Result<()> {
        let limit = self.spec.timeout_ns;
        self.expire_report(now, turn.span);
        // Handshakes first: a call begun below must not fail with one.
        for slot in self.connections.list_stuck(now, limit) {
            self.fail_connection(slot, &io::Error::from(io::ErrorKind::TimedOut), turn.span);
        }
        if self.spec.stop_ns < u64::MAX {
            self.stop_lasting(now, turn)?;
        }
        for id in self.calls.overdue(now, limit) {
            // An earlier one may have taken its whole connection along, and
            // a new call may be in its place.
            if self.calls.get(id).is_overdue(now, limit) {
                self.give_up(id, turn)?;
            }
        }
        Ok(())
    }

    /// Ends streams of one connection from our side; false where the connection ends with them.
    pub(super) fn stop_streams(&mut self, slot: u32, ids: &[CallId], span: Span) -> bool {
        let mut goes_on = true;
        for id in ids {
            if let Some(connection) = self.connections.get(slot) {
                goes_on &= connection.session.cancel(*id);
                // The server is not at fault when the connection is closed.
                connection.served = true;
            }
            self.events(ErrorKind::Closed, span).stop(*id);
        }
        goes_on
    }

    /// Ends streams that have lasted as long as the plan says.
    fn stop_lasting(&mut self, now: u64, turn: &mut TurnContext) -> io::Result<()> {
        let steps = &self.spec.steps;
        let lasted = self.calls.list_sent_before(now, |step| {
            let rule = steps[step].validator.stream.as_ref();
            rule.map_or(u64::MAX, |rule| rule.stop_ns)
        });
        for (id, slot) in lasted {
            // An earlier one may have taken its whole connection along.
            if !self.calls.get(id).live || self.calls.get(id).connection != slot {
                continue;
            }
            let call = self.calls.get(id);
            if let Some(rule) = &self.spec.steps[call.step].validator.stream {
                // Also where nothing of it has come yet.
                let stream = call
                    .reply
                    .stream
                    .get_or_insert_with(|| rule.begin(call.reply.head.encoding));
                stream.is_stopped = true;
            }
            let goes_on = self.stop_streams(slot, &[id], turn.span);
            self.settle(turn.span);
            match goes_on {
                true => self.serve(slot, turn)?,
                false => self.close(slot, ErrorKind::Closed, None, turn.span),
            }
        }
        Ok(())
    }

    /// Why a call that is given up has failed.
    fn overdue_reason(&mut self, id: CallId) -> String {
        let seconds = seconds(self.spec.timeout_ns);
        match &self.calls.get(id).reply.stream {
            Some(stream) => format!(
                "the stream did not end within {seconds} s; {} messages had come",
                stream.stamps.counts.messages
            ),
            None => format!("no complete reply within {seconds} s"),
        }
    }

    fn give_up(&mut self, id: CallId, turn: &mut TurnContext) -> io::Result<()> {
        let slot = self.calls.get(id).connection;
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        // A session forgets a cancelled call: nobody else would end it.
        // HTTP/2 can reset one stream and GIOP can cancel one request; HTTP/1.x and raw cannot
        // name a call, so that their connection is lost.
        let usable = connection.session.cancel(id);
        let reason = self.overdue_reason(id);
        // What has come may be wrong already, however the rest would be.
        let rejection = self.calls.get(id).reply.bad.take();
        let rejection = rejection
            .filter(|bad| bad.kind == ErrorKind::Wrong)
            .map_or_else(|| Rejection::new(ErrorKind::Timeout, reason), |bad| *bad);
        self.events(rejection.kind, turn.span)
            .finish(id, Err(rejection));
        self.settle(turn.span);
        if usable {
            return self.serve(slot, turn);
        }
        // The other calls of a pipeline cannot be answered any more either.
        self.close(slot, ErrorKind::Timeout, None, turn.span);
        Ok(())
    }

    fn fail(&mut self, ids: &[CallId], kind: ErrorKind, reason: &str, span: Span) {
        let mut events = self.events(kind, span);
        for id in ids {
            events.finish(*id, Err(Rejection::new(kind, reason)));
        }
        self.settle(span);
    }

    /// The drain is over: calls still under way are counted as unfinished.
    pub(super) fn fail_unfinished(&mut self, span: Span) {
        let ids = self.calls.all();
        let reason = "still under way when the drain ended";
        self.fail(&ids, ErrorKind::Unfinished, reason, span);
        // `Demand::next` drops arrivals past the window, which were never to be made.
        while let Some(waiting) = self.demand.next(span) {
            let cause = (ErrorKind::Unfinished, ErrorCode::Unfinished);
            self.fail_unsent(waiting, cause, span, || {
                "never sent: it still waited when the drain ended".into()
            });
        }
    }

    /// A call that no connection was given to is over; when.
    pub(super) fn fail_unsent(
        &mut self,
        mut waiting: Waiting,
        cause: (ErrorKind, ErrorCode),
        span: Span,
        reason: impl FnOnce() -> String,
    ) -> u64 {
        let now = now_ns();
        self.totals.ended += 1;
        self.totals.errors += 1;
        self.totals.last_done = now;
        let script = &mut self.spec.script;
        let (step, in_sequence) = script.unsent(&mut waiting, &self.sequences);
        let recorder = &mut self.operations[self.spec.steps[step].operation];
        if span.contains(now) {
            recorder.add_ended(span.offset(now), false);
            let response = now.saturating_sub(waiting.intended);
            self.recorder.over_time.record(span.offset(now), response);
        } else if span.costs(now) {
            recorder.ended += 1;
        }
        if span.contains(waiting.arrival) {
            recorder.failure(cause, now.saturating_sub(waiting.intended), reason);
        } else if waiting.arrival < span.start {
            self.totals.warmup += 1;
        }
        if let Some(first) = &mut self.first_calls {
            first.add_ended(waiting.intended, now, None);
        }
        if let Some(periods) = &mut self.periods {
            let call = EndedCall {
                waiting,
                sent: 0,
                done: now,
                failed: true,
            };
            periods.add_ended(call, span);
        }
        if in_sequence {
            self.record_sequence(waiting.arrival, now, true, span);
        }
        self.sequences.end(waiting.sequence);
        now
    }
}
