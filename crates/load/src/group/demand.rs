//! Who calls next, and on which connection.

use std::io;

use super::Group;
use crate::call::span::Span;
use crate::connection::session_io::Flushed;
use crate::reactor::turn::TurnContext;
use crate::record::recorder::Time;

impl Group {
    /// Takes what is due, begins calls, opens connections as needed.
    pub(super) fn make_calls(&mut self, now: u64, turn: &mut TurnContext) -> io::Result<()> {
        self.stamps.advance(now)?;
        let (recorder, span) = (&mut self.recorder, turn.span);
        self.demand.arrive(now, span, |intended, lag| {
            if span.contains(intended) {
                recorder.time(Time::Lag, lag);
            }
        });
        if now >= span.end {
            self.demand.discard_late(span);
        }
        // Open connections first, then new ones for what still waits.
        self.begin_waiting(turn)?;
        self.connections.end_pause(now);
        self.open_more(now, turn)?;
        self.demand.note_waiting();
        Ok(())
    }

    /// Begins waiting calls on connections with room.
    fn begin_waiting(&mut self, turn: &mut TurnContext) -> io::Result<()> {
        while self.demand.waiting() && self.calls.in_flight() < self.spec.in_flight_max {
            let Some(slot) = self.connections.next_with_room() else {
                break;
            };
            self.serve(slot, turn)?;
        }
        Ok(())
    }

    /// Begins calls on this connection while it has room, writes, and lists
    /// it when room is left.
    #[inline]
    pub(super) fn serve(&mut self, slot: u32, turn: &mut TurnContext) -> io::Result<()> {
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        let mut room = connection.room(self.spec.keep);
        while room > 0 && self.calls.in_flight() < self.spec.in_flight_max {
            let Some(waiting) = self.demand.next(turn.span) else {
                break;
            };
            let id = self.calls.begin(slot, waiting);
            let call = self.calls.get(id);
            call.ordinal = connection.next_ordinal();
            let tokens = connection.tokens.as_deref_mut();
            let request = self.spec.script.request(call, &mut self.sequences, tokens);
            connection.submit(id, request);
            // Asked again: the call may have been the connection's only one.
            room = connection.room(self.spec.keep);
        }
        let quiet = connection.is_quiet();
        if room > 0 {
            self.connections.list(slot);
        }
        // A user pauses, or nobody wants to call.
        if quiet {
            return Ok(());
        }
        // Also when no call began: the session may owe frames of its own (SETTINGS
        // acknowledgement, WINDOW_UPDATE), and TLS its handshake.
        self.flush(slot, turn)
    }

    #[inline]
    pub(super) fn flush(&mut self, slot: u32, turn: &mut TurnContext) -> io::Result<()> {
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
        if turn.span.costs(flushed.at) {
            self.recorder.bytes_sent += flushed.bytes as u64;
        }
        if let Some(ns) = flushed.connect_ns {
            self.note_connected(started, ns, turn.span);
        }
        // Last: what was written, and that the connection was made, count all the same.
        if let Err(error) = written {
            self.fail_connection(slot, &error, turn.span);
        }
        Ok(())
    }

    pub(super) fn note_connected(&mut self, started: u64, ns: u64, span: Span) {
        self.connections.established();
        if span.contains(started) {
            self.recorder.time(Time::Connect, ns);
        }
    }
}
