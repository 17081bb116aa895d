//! Bytes come in.

use std::io;

use super::{Group, events};
use crate::call::clock::{now_ns, realtime_offset_ns};
use crate::call::error::ErrorKind;
use crate::call::span::Span;
use crate::connection::report::REPORT_SLOT;
use crate::connection::session_io::Received;
use crate::connection::socket::Read;
use crate::reactor::poll::Ready;
use crate::reactor::turn::TurnContext;
use crate::record::recorder::Time;

/// Reads of one connection before the others get their turn.
const READS_MAX: usize = 16;

impl Group {
    /// A socket of this group is ready.
    #[inline]
    pub(super) fn serve_ready(&mut self, ready: Ready, turn: &mut TurnContext) -> io::Result<()> {
        let slot = ready.token as u32;
        if slot == REPORT_SLOT {
            return self.on_report(ready, turn);
        }
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        // EPOLLOUT on a socket that connects: the attempt is over, and SO_ERROR has its
        // result (connect(2), EINPROGRESS).
        if ready.write && !connection.open {
            if let Some(error) = connection.socket.take_error() {
                self.fail_connection(slot, &error, turn.span);
                return Ok(());
            }
            let started = connection.started;
            if let Some(ns) = connection.opened(now_ns()) {
                self.note_connected(started, ns, turn.span);
            }
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

    fn read(&mut self, slot: u32, turn: &mut TurnContext) -> io::Result<()> {
        for _ in 0..READS_MAX {
            let Some(connection) = self.connections.get(slot) else {
                return Ok(());
            };
            let read = connection.read(turn.input);
            // After the read. What the kernel held the bytes for is measured apart (`backlog`).
            let at = now_ns();
            match read {
                Ok((Read::Empty, _)) => return Ok(()),
                Ok((Read::Bytes(0), _)) => {
                    self.end_by_peer(slot, turn.span);
                    return Ok(());
                }
                Err(error) => {
                    self.fail_connection(slot, &error, turn.span);
                    return Ok(());
                }
                Ok((Read::Bytes(length), stamp)) => {
                    self.record_read(length, at, stamp, turn.span)?;
                    self.receive(slot, length, at, turn)?;
                    // A short read has emptied the socket: another would only return EAGAIN.
                    // Level-triggered epoll reports what comes after it.
                    if length < turn.input.len() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// The peer sends nothing more.
    fn end_by_peer(&mut self, slot: u32, span: Span) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        match connection.truncation_error() {
            Some(error) => self.fail_connection(slot, &error, span),
            None => self.close(slot, ErrorKind::Closed, None, span),
        }
    }

    #[inline]
    fn record_read(
        &mut self,
        length: usize,
        at: u64,
        stamp: Option<u64>,
        span: Span,
    ) -> io::Result<()> {
        if !span.costs(at) {
            return Ok(());
        }
        self.recorder.bytes_received += length as u64;
        if let Some(stamp) = stamp
            && self.stamps.take()?
        {
            // Two clocks are read one after the other, so that the difference may be a
            // little below 0.
            let arrived = stamp as i64 - realtime_offset_ns();
            self.recorder
                .time(Time::Backlog, (at as i64 - arrived).max(0) as u64);
        }
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        slot: u32,
        length: usize,
        at: u64,
        turn: &mut TurnContext,
    ) -> io::Result<()> {
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        let mut events = events!(self, turn.span, at, ErrorKind::Closed, None);
        // Moved out and back, since the session and the token caches are borrowed at
        // the same time.
        events.tokens = connection.tokens.take();
        let mut received = connection.receive(&turn.input[..length], &mut events);
        connection.tokens = events.tokens.take();
        if connection.out_of_sync() {
            received = Received::Broken;
        }
        if let Some(negotiated) = connection.session.take_negotiated() {
            *self.extensions.entry(negotiated.to_string()).or_default() += 1;
        }
        let whole = matches!(received, Received::Fine | Received::Ended);
        let stopped = std::mem::take(&mut events.stopped);
        connection.served |= whole && events.answered;
        let (started, connect_ns) = (connection.started, connection.handshake_done(at));
        if let Some(ns) = connect_ns {
            self.totals.resumed += u64::from(connection.is_resumed());
            self.note_connected(started, ns, turn.span);
        }
        let goes_on = self.stop_streams(slot, &stopped, turn.span);
        self.settle(turn.span);
        match received {
            Received::Fine if !goes_on => self.close_gracefully(slot, turn),
            Received::Fine => self.proceed(slot, turn),
            Received::Broken => self.close_gracefully(slot, turn),
            Received::Ended => {
                self.close(slot, ErrorKind::Closed, None, turn.span);
                Ok(())
            }
            Received::Insecure(error) => {
                self.fail_connection(slot, &error, turn.span);
                Ok(())
            }
        }
    }

    #[inline]
    fn proceed(&mut self, slot: u32, turn: &mut TurnContext) -> io::Result<()> {
        let Some(connection) = self.connections.get(slot) else {
            return Ok(());
        };
        // After a reply that said `Connection: close`, after GOAWAY, or without keep-alive.
        if connection.is_spent(self.spec.keep) {
            return self.close_gracefully(slot, turn);
        }
        connection.socket.rearm_quickack()?;
        self.serve(slot, turn)
    }

    /// Ends a connection from our side. What the session still wants to say
    /// (GOAWAY) goes out if it can.
    fn close_gracefully(&mut self, slot: u32, turn: &mut TurnContext) -> io::Result<()> {
        self.flush(slot, turn)?;
        self.close(slot, ErrorKind::Closed, None, turn.span);
        Ok(())
    }
}
