//! One group of calls in one thread: its users, its connections, its calls.

use std::io;
use std::sync::Arc;

use wirelab_wire::{CallId, Request, http1, http2};

use crate::calls::Calls;
use crate::clock::{now_ns, realtime_offset_ns};
use crate::connection::{AnySession, Connection, Flushed};
use crate::connections::Connections;
use crate::events::Events;
use crate::judge::{Judge, Rejection};
use crate::poll::{Poll, Ready};
use crate::recorder::{ErrorKind, Recorder, Time};
use crate::shared::Span;
use crate::socket::{Read, Socket, SocketOptions};
use crate::target::Target;
use crate::users::{Users, Waiting};

/// Reads of one connection before the others get their turn.
const READS_MAX: usize = 16;

/// Every how many connections one asks for the kernel's arrival stamps.
const STAMPED_EVERY: u32 = 16;

/// How a group's sessions are made.
#[derive(Debug, Clone)]
pub(crate) enum Speaks {
    Http1(http1::Options),
    Http2(http2::Options),
}

impl Speaks {
    fn session(&self) -> AnySession {
        match self {
            Speaks::Http1(options) => {
                AnySession::Http1(http1::Http1::new(*options).expect("the spec checked them"))
            }
            Speaks::Http2(options) => {
                AnySession::Http2(Box::new(http2::Client::new(options.clone())))
            }
        }
    }
}

/// What does not change while a group runs.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) target: Target,
    pub(crate) socket: SocketOptions,
    pub(crate) speaks: Speaks,
    pub(crate) request: Arc<Request>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) connections_max: usize,
    pub(crate) in_flight_max: usize,
    /// Connections are made before they are needed, and again when they end.
    pub(crate) keep: bool,
    pub(crate) timeout_ns: u64,
}

/// What a turn of the reactor lends to the group at work.
pub(crate) struct Turn<'a> {
    pub(crate) poll: &'a Poll,
    pub(crate) span: Span,
    /// What reads go into.
    pub(crate) input: &'a mut [u8],
    /// What writes come from.
    pub(crate) scratch: &'a mut Vec<u8>,
}

/// Counters of a whole run, warm-up and drain included.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) ended: u64,
    pub(crate) errors: u64,
    pub(crate) warmup: u64,
    pub(crate) opened: u64,
    pub(crate) peak: usize,
    pub(crate) last_done: u64,
}

/// One group in one thread.
pub(crate) struct Group {
    spec: Spec,
    index: u32,
    pub(crate) users: Users,
    calls: Calls,
    connections: Connections,
    ended: Vec<CallId>,
    pub(crate) recorder: Recorder,
    pub(crate) totals: Totals,
}

impl Group {
    pub(crate) fn new(spec: Spec, index: u32, users: Users) -> Group {
        Group {
            spec,
            index,
            users,
            calls: Calls::default(),
            connections: Connections::default(),
            ended: Vec::new(),
            recorder: Recorder::new(),
            totals: Totals::default(),
        }
    }

    /// No call of the window is under way or waiting, and none will come.
    pub(crate) fn finished(&self, now: u64, span: Span) -> bool {
        let over = now >= span.end || (now >= span.start && self.users.exhausted());
        over && self.calls.in_flight() == 0 && self.users.queue.is_empty()
    }

    /// When this group wants to act though no socket is ready.
    pub(crate) fn next_due(&self, span: Span) -> u64 {
        self.users.next_due(span).min(self.connections.next_due())
    }

    /// Takes what is due, begins calls, opens connections as needed.
    pub(crate) fn advance(&mut self, now: u64, turn: &mut Turn) -> io::Result<()> {
        let (recorder, span) = (&mut self.recorder, turn.span);
        self.users.arrive(now, span, |intended, lag| {
            if span.contains(intended) {
                recorder.time(Time::Lag, lag);
            }
        });
        if now >= span.end || self.users.exhausted() {
            self.users.send_home(span);
        }
        self.begin_waiting(turn)?;
        self.connections.end_pause(now);
        self.open_more(now, turn)?;
        self.users.note_waiting();
        Ok(())
    }

    /// Begins waiting calls on connections with room.
    fn begin_waiting(&mut self, turn: &mut Turn) -> io::Result<()> {
        while !self.users.queue.is_empty() && self.calls.in_flight() < self.spec.in_flight_max {
            let Some(slot) = self.connections.next_with_room() else {
                break;
            };
            self.serve(slot, turn)?;
        }
        Ok(())
    }

    /// Opens as many connections as the policy wants now: kept ones all and
    /// at once, others for calls that wait. Past the window only the latter.
    fn open_more(&mut self, now: u64, turn: &mut Turn) -> io::Result<()> {
        let ahead = self.spec.keep && now < turn.span.end && !self.users.exhausted();
        while self.connections.may_connect()
            && self.connections.open() < self.spec.connections_max
            && (ahead || self.lacks_a_connection(turn.span))
        {
            self.open_one(turn)?;
        }
        Ok(())
    }

    /// A call waits that the window will admit and the plan lets begin.
    fn lacks_a_connection(&mut self, span: Span) -> bool {
        if self.users.exhausted() {
            self.users.send_home(span);
        }
        !self.users.queue.is_empty() && self.calls.in_flight() < self.spec.in_flight_max
    }

    fn open_one(&mut self, turn: &mut Turn) -> io::Result<()> {
        let started = now_ns();
        let socket = match Socket::connect(&self.spec.target, self.spec.socket) {
            Ok(socket) => socket,
            Err(error) if is_limit(&error) => return Err(error),
            Err(error) => {
                self.refuse_waiting(turn.span, &error);
                return Ok(());
            }
        };
        let slot = self.connections.vacancy();
        let stamped =
            slot.is_multiple_of(STAMPED_EVERY) && matches!(self.spec.target, Target::Tcp(_));
        if stamped {
            socket.stamp_arrivals()?;
        }
        let connection = Connection::new(socket, self.spec.speaks.session(), started, stamped);
        connection.register(turn.poll, self.token(slot))?;
        self.connections.insert(slot, connection);
        self.totals.opened += 1;
        self.totals.peak = self.totals.peak.max(self.connections.open());
        self.serve(slot, turn)
    }

    fn token(&self, slot: u32) -> u64 {
        u64::from(self.index) << 32 | u64::from(slot)
    }

    /// A connection could not be made: one waiting call fails with it.
    fn refuse_waiting(&mut self, span: Span, error: &io::Error) {
        self.connections.back_off();
        let Some(waiting) = self.users.next(span) else {
            return;
        };
        let now = self.fail_unsent(&waiting, ErrorKind::Refused, span, || error.to_string());
        self.users.call_ended(waiting.user, now);
    }

    /// Begins calls on this connection while it has room, writes, and lists
    /// it when room is left.
    #[inline]
    fn serve(&mut self, slot: u32, turn: &mut Turn) -> io::Result<()> {
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        let mut room = connection.room(self.spec.keep);
        while room > 0 && self.calls.in_flight() < self.spec.in_flight_max {
            let Some(waiting) = self.users.next(turn.span) else {
                break;
            };
            let id = self.calls.begin(slot, waiting.user, waiting.intended);
            connection.submit(id, &self.spec.request);
            room = connection.room(self.spec.keep);
        }
        if room > 0 {
            self.connections.list(slot);
        }
        self.flush(slot, turn)
    }

    #[inline]
    fn flush(&mut self, slot: u32, turn: &mut Turn) -> io::Result<()> {
        let token = self.token(slot);
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        let mut flushed = Flushed::default();
        let written = connection.flush(&mut self.calls, turn.scratch, &mut flushed);
        if written.is_ok() {
            connection.update_interest(turn.poll, token)?;
        }
        let started = connection.started;
        if turn.span.contains(flushed.at) {
            self.recorder.bytes_sent += flushed.bytes as u64;
        }
        if let Some(ns) = flushed.connect_ns {
            self.connected(started, ns, turn.span);
        }
        if let Err(error) = written {
            self.broken(slot, &error, turn.span);
        }
        Ok(())
    }

    fn connected(&mut self, started: u64, ns: u64, span: Span) {
        self.connections.established();
        if span.contains(started) {
            self.recorder.time(Time::Connect, ns);
        }
    }

    /// A socket of this group is ready.
    #[inline]
    pub(crate) fn on_ready(&mut self, ready: Ready, turn: &mut Turn) -> io::Result<()> {
        let slot = ready.token as u32;
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        if ready.write && !connection.established {
            if let Some(error) = connection.socket.take_error() {
                self.broken(slot, &error, turn.span);
                return Ok(());
            }
            connection.established = true;
            let (started, ns) = (connection.started, now_ns() - connection.started);
            self.connected(started, ns, turn.span);
        }
        if ready.write {
            self.flush(slot, turn)?;
        }
        if ready.read {
            self.read(slot, turn)
        } else {
            Ok(())
        }
    }

    fn read(&mut self, slot: u32, turn: &mut Turn) -> io::Result<()> {
        for _ in 0..READS_MAX {
            let Some(connection) = self.connections.get(slot) else {
                return Ok(());
            };
            let read = connection.read(turn.input);
            let at = now_ns();
            match read {
                Ok((Read::Empty, _)) => return Ok(()),
                Ok((Read::Bytes(0), _)) => {
                    self.close(slot, ErrorKind::Closed, None, turn.span);
                    return Ok(());
                }
                Err(error) => {
                    self.broken(slot, &error, turn.span);
                    return Ok(());
                }
                Ok((Read::Bytes(length), stamp)) => {
                    self.record_read(length, at, stamp, turn.span);
                    self.receive(slot, length, at, turn)?;
                    if length < turn.input.len() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn record_read(&mut self, length: usize, at: u64, stamp: Option<u64>, span: Span) {
        if !span.contains(at) {
            return;
        }
        self.recorder.bytes_received += length as u64;
        if let Some(stamp) = stamp {
            let arrived = stamp as i64 - realtime_offset_ns();
            self.recorder
                .time(Time::Backlog, (at as i64 - arrived).max(0) as u64);
        }
    }

    #[inline]
    fn receive(&mut self, slot: u32, length: usize, at: u64, turn: &mut Turn) -> io::Result<()> {
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        let mut events = Events {
            calls: &mut self.calls,
            judge: &self.spec.judge,
            recorder: &mut self.recorder,
            ended: &mut self.ended,
            totals: &mut self.totals,
            span: turn.span,
            read_at: at,
            kind_of_closed: ErrorKind::Closed,
            cause: None,
            answered: false,
        };
        let verdict = connection
            .session
            .receive(&turn.input[..length], &mut events);
        connection.served |= verdict.is_ok() && events.answered;
        self.settle();
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        if verdict.is_err() || connection.spent(self.spec.keep) {
            // What the session still wants to say (GOAWAY) goes out if it can.
            self.flush(slot, turn)?;
            self.close(slot, ErrorKind::Closed, None, turn.span);
            return Ok(());
        }
        connection.socket.rearm_quickack()?;
        self.serve(slot, turn)
    }

    /// Ended calls free their places, and their users go on.
    #[inline]
    fn settle(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        for id in ended.drain(..) {
            let call = self.calls.get(id);
            // `done` is intended for the next call of the user.
            let (slot, user, done) = (call.connection, call.user, call.done);
            if let Some(connection) = self.connections.get(slot) {
                connection.forget(id);
            }
            self.calls.release(id);
            self.users.call_ended(user, done);
        }
        self.ended = ended;
    }

    /// The socket failed: a refused handshake, a reset, …
    fn broken(&mut self, slot: u32, error: &io::Error, span: Span) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        let kind = match (error.kind(), connection.established) {
            (io::ErrorKind::TimedOut, _) => ErrorKind::Timeout,
            (_, false) => ErrorKind::Refused,
            (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, true) => ErrorKind::Reset,
            (_, true) => ErrorKind::Closed,
        };
        if !connection.established && connection.in_flight == 0 {
            self.refuse_waiting(span, error);
        }
        self.close(slot, kind, Some(error), span);
    }

    /// Closes a connection; calls still on it fail as `kind`.
    fn close(&mut self, slot: u32, kind: ErrorKind, cause: Option<&io::Error>, span: Span) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        let mut events = Events {
            calls: &mut self.calls,
            judge: &self.spec.judge,
            recorder: &mut self.recorder,
            ended: &mut self.ended,
            totals: &mut self.totals,
            span,
            read_at: now_ns(),
            kind_of_closed: kind,
            cause,
            answered: false,
        };
        connection.session.closed(&mut events);
        // The end of the connection may have been the end of the reply.
        connection.served |= events.answered;
        self.settle();
        self.connections.remove(slot);
    }

    /// Gives up calls that have been under way for too long, and handshakes.
    pub(crate) fn expire(&mut self, now: u64, turn: &mut Turn) -> io::Result<()> {
        let limit = self.spec.timeout_ns;
        // Handshakes first: a call begun below must not fail with one.
        for slot in self.connections.stuck(now, limit) {
            self.broken(slot, &io::Error::from(io::ErrorKind::TimedOut), turn.span);
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

    fn give_up(&mut self, id: CallId, turn: &mut Turn) -> io::Result<()> {
        let slot = self.calls.get(id).connection;
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        // A session forgets a cancelled call: nobody else would end it.
        let goes_on = connection.session.cancel(id);
        self.fail(
            &[id],
            ErrorKind::Timeout,
            "no complete reply in time",
            turn.span,
        );
        if goes_on {
            return self.serve(slot, turn);
        }
        // The other calls of a pipeline cannot be answered any more either.
        self.close(slot, ErrorKind::Timeout, None, turn.span);
        Ok(())
    }

    fn fail(&mut self, ids: &[CallId], kind: ErrorKind, words: &str, span: Span) {
        let mut events = Events {
            calls: &mut self.calls,
            judge: &self.spec.judge,
            recorder: &mut self.recorder,
            ended: &mut self.ended,
            totals: &mut self.totals,
            span,
            read_at: now_ns(),
            kind_of_closed: kind,
            cause: None,
            answered: false,
        };
        for id in ids {
            events.finish(
                *id,
                Err(Rejection {
                    kind,
                    words: words.into(),
                }),
            );
        }
        self.settle();
    }

    /// The drain is over: what is still under way is counted as unfinished.
    pub(crate) fn abandon(&mut self, span: Span) {
        let ids = self.calls.all();
        self.fail(
            &ids,
            ErrorKind::Unfinished,
            "still under way when the drain ended",
            span,
        );
        while let Some(waiting) = self.users.next(span) {
            self.fail_unsent(&waiting, ErrorKind::Unfinished, span, || {
                "never sent: it still waited when the drain ended".into()
            });
        }
    }

    /// A call that no connection was given to is over.
    fn fail_unsent(
        &mut self,
        waiting: &Waiting,
        kind: ErrorKind,
        span: Span,
        words: impl FnOnce() -> String,
    ) -> u64 {
        let now = now_ns();
        self.totals.ended += 1;
        self.totals.errors += 1;
        self.totals.last_done = now;
        if span.contains(waiting.intended) {
            self.recorder
                .time(Time::Response, now.saturating_sub(waiting.intended));
            self.recorder.failure(kind, words);
        } else if waiting.intended < span.start {
            self.totals.warmup += 1;
        }
        now
    }
}

/// EMFILE and its kin are failures of the lab, not of what it measures.
fn is_limit(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM | libc::EADDRNOTAVAIL)
    )
}
